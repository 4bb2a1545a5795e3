"""firebird-terabyte-2015: statistics of the tables of the largest database."""

from __future__ import annotations

import math

from runs.models import IndexStat, TableStat
from runs.publications.checks.model import (
    Check,
    Input,
    MissingInputError,
    Result,
    Shape,
    Stated,
    all_of,
    compute,
    judge,
    judge_bounds,
)
from runs.publications.checks.rows import Rows, Rule, number_of

TOPIC = "Tables of the largest database"
# Sizes cut after one decimal may be a tenth of a MB too small.
CUT_MB = 0.1
_WORDS = {"records": "records", "data_pages": "data pages", "table_size_mb": "data", "indices_size_mb": "indexes"}


def tables_of(rows: Rows) -> list[TableStat]:
    if not rows.material.table_stats:
        raise MissingInputError("the table statistics")
    return rows.material.table_stats


def indexes_of(rows: Rows) -> list[IndexStat]:
    if not rows.material.index_stats:
        raise MissingInputError("the index statistics")
    return rows.material.index_stats


def amount(row: TableStat, column: str, unit: str) -> Input:
    return Input(f"{_WORDS[column]} of {row.table}", number_of(getattr(row, column), f"{column} of {row.table}"), unit)


def page_size(rows: Rows) -> Input:
    return Input("page size", rows.database("cfg-firebird", "page_size_bytes"), "bytes")


def _column(rows: Rows, column: str, what: str, unit: str = "MB") -> Input:
    return Input(what, [number_of(getattr(row, column), f"{column} of {row.table}") for row in tables_of(rows)], unit)


def _sizes(rows: Rows) -> tuple[Input, Input]:
    data = _column(rows, "table_size_mb", "data of every table")
    return data, _column(rows, "indices_size_mb", "indexes of every table")


def _index_sizes(rows: Rows, table: str = "") -> Input:
    found = [number_of(row.size_mb, f"size of {row.index}") for row in indexes_of(rows) if table in ("", row.table)]
    return Input(f"index sizes{' of ' + table if table else ''}", found, "MB")


def pages(rows: Rows) -> Check:
    page, computed, worst = page_size(rows), [], 0.0
    for row in tables_of(rows):
        one = compute(
            "pages × page / 1024 ^ 2",
            Shape("MB", 2, label=row.table),
            pages=amount(row, "data_pages", "pages"),
            page=page,
        )
        computed.append(one)
        worst = max(worst, abs(one.value - number_of(row.table_size_mb, "size")))
    agrees = worst <= CUT_MB
    return Check(
        "Data pages and table sizes", Result.AGREES if agrees else Result.DISAGREES,
        "Pages times page size is the printed size; the three largest are cut after one decimal."
        if agrees else "Pages times page size is not the printed size everywhere.",
        [Stated(f"sizes of {len(computed)} tables", "table statistics")], computed,
    )  # fmt: skip


def sums(rows: Rows) -> Check:
    data, indexes = _sizes(rows)
    big = rows.points("performance")[-1]
    file = Input("size of the file", big.size_gb, "GB")
    left = compute(
        "file × 1024 − sum(data) − sum(indexes)", Shape("MB", 2, label="left for other pages"), file=file, data=data,
        indexes=indexes,
    )  # fmt: skip
    share = compute(
        "1 − (sum(data) + sum(indexes)) / (file × 1024)", Shape("%", 3, label="of the file"), file=file, data=data,
        indexes=indexes,
    )  # fmt: skip
    return Check(
        "Tables and indexes against the file", judge_bounds(share.value, low=0, high=1),
        "What is left is room for system, pointer and inventory pages.",
        [Stated(f"{big.size_gb:.10g} GB", "table of the load", big.size_gb, "GB")],
        [
            compute("sum(data)", Shape("MB", 2, label="data"), data=data),
            compute("sum(data) / 1024", Shape("GB", 3, label="data"), data=data),
            compute("sum(indexes)", Shape("MB", 2, label="indexes"), indexes=indexes),
            compute("sum(indexes) / 1024", Shape("GB", 3, label="indexes"), indexes=indexes),
            compute("(sum(data) + sum(indexes)) / 1024", Shape("GB", 3, label="together"), data=data, indexes=indexes),
            left, share,
        ],
    )  # fmt: skip


def index_sums(rows: Rows) -> Check:
    computed, verdicts = [compute("sum(sizes)", Shape("MB", 2, label="all indexes"), sizes=_index_sizes(rows))], []
    for row in tables_of(rows):
        sizes = _index_sizes(rows, row.table)
        if isinstance(sizes.value, float) or not sizes.value:
            continue
        one = compute("sum(sizes)", Shape("MB", 2, label=row.table), sizes=sizes)
        computed.append(one)
        printed = number_of(row.indices_size_mb, "index size")
        verdicts.append(Result.AGREES if abs(one.value - printed) <= CUT_MB else Result.DISAGREES)
    return Check(
        "Index sizes in both tables", all_of(*verdicts),
        "The rows of the index statistics add up to the index column of the table statistics.",
        [Stated("index column", "table statistics")], computed,
    )  # fmt: skip


def shares(rows: Rows) -> Check:
    data, indexes = _sizes(rows)
    alone, together, apart = [], [], []
    for row in tables_of(rows):
        own, extra = amount(row, "table_size_mb", "MB"), amount(row, "indices_size_mb", "MB")
        printed = number_of(row.total_percent, f"share of {row.table}")
        if not printed:
            continue
        alone.append(
            compute("own / sum(data)", Shape("%", 2, label=f"{row.table}, of the table data"), own=own, data=data)
        )
        together.append(
            compute("(own + index) / (sum(data) + sum(indexes))", Shape("%", 2, label=f"{row.table}, with indexes"),
                    own=own, index=extra, data=data, indexes=indexes)
        )  # fmt: skip
        apart.append((judge(printed, alone[-1].value), judge(printed, together[-1].value)))
    as_data = all(one == Result.AGREES for one, _ in apart)
    as_all = all(one == Result.AGREES for _, one in apart)
    said = [rows.stated(one) for one in ("order_line_share", "stock_share", "customer_share")]
    return Check(
        "Shares of the database", Result.AGREES if as_all else Result.DISAGREES,
        "The printed column is the share of the table data alone; the text calls it a share of the database, which "
        "with indexes is about a point off." if as_data else "The printed column is neither share.",
        said, [*alone, *together],
    )  # fmt: skip


def order_line(rows: Rows) -> Check:
    row = rows.table("ORDER_LINE")
    stated, within = rows.stated("order_line_gb"), rows.stated("order_line_index_gb")
    data, index = amount(row, "table_size_mb", "MB"), amount(row, "indices_size_mb", "MB")
    alone = compute("data / 1024", Shape("GB", 1, label="data alone"), data=data)
    both = compute("(data + index) / 1024", Shape("GB", 1, label="data and indexes"), data=data, index=index)
    said = stated.number
    inside = abs(both.value - said) < abs(alone.value - said)
    return Check(
        "Are the indexes of ORDER_LINE within its 600 GB?", Result.AGREES if inside else Result.DISAGREES,
        "The table has them on top; another page of the same tests has them apart too, so the slip is a translator's.",
        [stated, within], [alone, both, compute("index / 1024", Shape("GB", 1, label="indexes"), index=index)],
    )  # fmt: skip


def index_share(rows: Rows) -> Check:
    low, high = rows.bounds("index size relative to table size in this database")
    data, indexes = _sizes(rows)
    each = [
        compute("index / own", Shape("%", 2, label=row.table), index=amount(row, "indices_size_mb", "MB"),
                own=amount(row, "table_size_mb", "MB"))
        for row in tables_of(rows)
    ]  # fmt: skip
    bounds = low.number, high.number
    indexed = [one for one in each if one.value > 0]
    inside = [one for one in indexed if bounds[0] <= one.value <= bounds[1]]
    whole = compute("sum(indexes) / sum(data)", Shape("%", 2, label="all tables"), indexes=indexes, data=data)
    return Check(
        "Index size against table size",
        Result.AGREES if len(inside) == len(indexed) else Result.DISAGREES,
        f"{len(indexed) - len(inside)} of {len(indexed)} indexed tables lie outside of the stated range.",
        [Stated(f"{low.value:g} to {high.value:g} %", "line 413")], [*each, whole],
    )  # fmt: skip


def unit_base(rows: Rows) -> Check:
    """Sizes of the text in GB: MB over 1000 or over 1024?"""
    pairs = [
        ("stock_gb", amount(rows.table("STOCK"), "table_size_mb", "MB")),
        ("customer_gb", amount(rows.table("CUSTOMER"), "table_size_mb", "MB")),
        ("stock_index_gb", amount(rows.table("STOCK"), "indices_size_mb", "MB")),
    ]
    computed, bases = [], set()
    for key, size in pairs:
        stated = rows.stated(key).number
        options = [
            compute(f"size / {base}", Shape("GB", 1, label=f"{size.what}, / {base}"), size=size)
            for base in (1000, 1024)
        ]
        computed += options
        distances = [abs(math.floor(one.value) - stated) for one in options]
        bases |= {base for base, one in zip((1000, 1024), distances, strict=True) if one == min(distances)}
    mixed = 1000 in bases
    return Check(
        "GB of the text", Result.DISAGREES if mixed else Result.AGREES,
        "The text divides MB by 1000, the size of the file by 1024: mixed units."
        if mixed else "The text divides by 1024, as the size of the file does.",
        [rows.stated(key) for key, _ in pairs], computed,
    )  # fmt: skip


CHECKS = {
    "2.18": Rule(pages),
    "2.19": Rule(sums, Result.AGREES),
    "2.20": Rule(index_sums, Result.AGREES),
    "2.21": Rule(shares),
    "2.22": Rule(order_line, Result.DISAGREES),
    "2.23": Rule(index_share),
    "2.24": Rule(unit_base),
}
