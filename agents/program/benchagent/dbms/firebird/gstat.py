"""The output of gstat -a -r: of tables and indexes, as Firebird and InterBase print it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.dbms.counters import IndexFacts, TableFacts

PAGE_SIZE = re.compile(r"^\s*Page size\s+(\d+)", re.MULTILINE)
TABLE = re.compile(r"(\S.*) \(\d+\)\s*\Z")
INDEX = re.compile(r"\s+Index (\S.*) \(\d+\)\s*\Z")
PAIR = re.compile(r"([A-Za-z][A-Za-z ]*): (-?\d+(?:\.\d+)?)%?(?=,|\s*\Z)")


@dataclass
class Block:
    """One table or index: what was printed, by its words in lower case."""

    name: str
    values: dict[str, float] = field(default_factory=dict)
    indexes: list[Block] = field(default_factory=list)

    def whole(self, words: str) -> int | None:
        return int(self.values[words]) if words in self.values else None

    def sum(self, *words: str) -> int | None:
        """None when one of them is missing."""
        numbers = [self.whole(word) for word in words]
        return None if None in numbers else sum(number for number in numbers if number is not None)


def blocks(output: str) -> list[Block]:
    """Tables with their indexes, in the order of the output."""
    tables: list[Block] = []
    current: Block | None = None
    _, _, body = output.partition("Analyzing database pages")
    for line in body.splitlines()[1:]:
        if table := TABLE.match(line):
            current = Block(table[1])
            tables.append(current)
        elif (index := INDEX.match(line)) and tables:
            current = Block(index[1])
            tables[-1].indexes.append(current)
        elif current is not None:
            current.values |= {words.lower(): float(number) for words, number in PAIR.findall(line)}
    return tables


def page_size(output: str) -> int | None:
    match = PAGE_SIZE.search(output)
    return int(match[1]) if match else None


def table_facts(table: Block, page: int | None) -> TableFacts:
    """Bytes of the data and pointer pages; of indexes, as far as their leaf pages."""
    pages = table.sum("data pages", "pointer pages") if "pointer pages" in table.values else table.whole("data pages")
    leaves = [index.whole("leaf buckets") or 0 for index in table.indexes]
    return TableFacts(
        table.name,
        rows=table.whole("total records"),
        row_bytes=table.values.get("average record length"),
        pages=table.whole("data pages"),
        size_bytes=pages * page if pages is not None and page else None,
        index_bytes=sum(leaves) * page if page else None,
        fill_percent=table.values.get("average fill"),
    )


def index_facts(table: Block, index: Block, page: int | None) -> IndexFacts:
    nodes, duplicates, leaves = (index.whole(words) for words in ("nodes", "total dup", "leaf buckets"))
    return IndexFacts(
        index.name,
        table.name,
        depth=index.whole("depth"),
        keys=nodes,
        key_bytes=index.values.get("average key length", index.values.get("average data length")),
        unique_keys=nodes - duplicates if nodes is not None and duplicates is not None else None,
        size_bytes=leaves * page if leaves is not None and page else None,
    )
