"""Tables and indexes as the catalogue and the planner's statistics know them, without any extension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.statistics import IndexStatistics, TableStatistics

TABLE_COLUMNS = ("table", "rows", "row_bytes", "pages", "size_bytes", "index_bytes")
INDEX_COLUMNS = ("index", "table", "depth", "keys", "key_bytes", "unique_keys", "size_bytes")
# The first page of a B-tree says on which level its root is, 0 being the leaves: a four byte number, lowest byte first,
# after the page's header (24 bytes), a magic number, a version and the root's page number.
LEVEL_OFFSET = 36

# Without the header of a row (24 bytes) and its pointer (4): what the columns hold, in the mean of a sample.
_ROW_BYTES = (
    "(SELECT sum(s.avg_width * (1 - s.null_frac)) FROM pg_stats s"
    " WHERE s.schemaname = n.nspname AND s.tablename = c.relname)"
)
# Counted by the sessions themselves since the last ANALYZE; nought for a table with pages means that they were lost.
_ROWS = (
    "CASE WHEN pg_relation_size(c.oid) = 0 OR pg_stat_get_live_tuples(c.oid) > 0"
    " THEN pg_stat_get_live_tuples(c.oid) END"
)
_TABLES = f"""SELECT c.relname, {_ROWS}, {_ROW_BYTES},
 pg_relation_size(c.oid) / current_setting('block_size')::bigint, pg_table_size(c.oid), pg_indexes_size(c.oid)
 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND lower(c.relname) IN ({{names}})
 ORDER BY c.relname"""  # noqa: S608

_LEVEL = (
    "CASE WHEN m.amname = 'btree' THEN"
    f" get_byte(pg_read_binary_file(pg_relation_filepath(i.oid), {LEVEL_OFFSET}, 1), 0) + 1 END"
)
# Of columns of the table; an expression has no statistics under a name of its own.
_KEY_STATS = (
    "FROM pg_stats s JOIN pg_attribute a ON a.attname = s.attname AND a.attrelid = c.oid"
    " WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND a.attnum = ANY (x.indkey::int2[])"
)
_DISTINCT = "CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END"
_INDEXES = f"""SELECT i.relname, c.relname, {{level}}, CASE WHEN i.relpages > 1 THEN i.reltuples END,
 (SELECT sum(s.avg_width) {_KEY_STATS}),
 CASE WHEN c.relpages = 0 THEN NULL WHEN x.indisunique THEN i.reltuples
  WHEN x.indnatts = 1 THEN (SELECT {_DISTINCT} {_KEY_STATS}) END,
 pg_relation_size(i.oid)
 FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
 JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am m ON m.oid = i.relam
 WHERE i.relkind = 'i' AND pg_table_is_visible(c.oid) AND lower(c.relname) IN ({{names}})
 ORDER BY c.relname, i.relname"""  # noqa: S608


def table_query(tables: Sequence[str]) -> str:
    return _TABLES.format(names=listed(tables))


def index_query(tables: Sequence[str], *, with_depth: bool) -> str:
    """`with_depth` reads the first page of each index, as it is on disk: true after a checkpoint."""
    return _INDEXES.format(names=listed(tables), level=_LEVEL if with_depth else "NULL")


def listed(tables: Sequence[str]) -> str:
    """Names as SQL texts; never empty."""
    return ", ".join("'{}'".format(name.lower().replace("'", "''")) for name in tables) or "''"


def table_of(row: Mapping[str, Any]) -> TableStatistics:
    return TableStatistics(
        table=str(row["table"]),
        rows=_whole(row["rows"]),
        row_bytes=_number(row["row_bytes"]),
        pages=_whole(row["pages"]),
        size_bytes=_whole(row["size_bytes"]),
        index_bytes=_whole(row["index_bytes"]),
    )


def index_of(row: Mapping[str, Any]) -> IndexStatistics:
    return IndexStatistics(
        index=str(row["index"]),
        table=str(row["table"]),
        depth=_whole(row["depth"]),
        keys=_whole(row["keys"]),
        key_bytes=_number(row["key_bytes"]),
        unique_keys=_whole(row["unique_keys"]),
        size_bytes=_whole(row["size_bytes"]),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _whole(value: Any) -> int | None:
    """None also for -1, with which newer versions say that they have not counted yet."""
    return None if value is None or float(value) < 0 else round(float(value))
