"""firebird-terabyte-2015: statistics of tables and indexes of the largest database."""

from __future__ import annotations

import math
from itertools import pairwise

from runs.literature.checks.model import (
    Check,
    Computed,
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
from runs.literature.checks.rows import Rows, number_of
from runs.models import IndexStat, TableStat

TOPIC = "Tables and indexes"
# Sizes cut after one decimal may be a tenth of a MB too small.
CUT_MB = 0.1
# Rows of a warehouse in TPC-C; those that grow while the benchmark runs may be a thousandth off.
TPC_C = {
    "CUSTOMER": 30_000, "STOCK": 100_000, "ORDERS": 30_000, "NEW_ORDER": 9_000, "DISTRICT": 10, "ORDER_LINE": 300_000,
    "HISTORY": 30_000,
}  # fmt: skip
TPC_C_ITEMS = 100_000


def _tables(rows: Rows) -> list[TableStat]:
    if not rows.material.table_stats:
        raise MissingInputError("the table statistics")
    return rows.material.table_stats


def _indexes(rows: Rows) -> list[IndexStat]:
    if not rows.material.index_stats:
        raise MissingInputError("the index statistics")
    return rows.material.index_stats


def _of(row: TableStat, column: str, unit: str) -> Input:
    return Input(
        f"{column.replace('_', ' ')} of {row.table}", number_of(getattr(row, column), f"{column} of {row.table}"), unit
    )


def _page(rows: Rows) -> Input:
    return Input("page size", rows.database("cfg-firebird", "page_size_bytes"), "bytes")


def _column(rows: Rows, column: str, what: str, unit: str = "MB") -> Input:
    return Input(what, [number_of(getattr(row, column), f"{column} of {row.table}") for row in _tables(rows)], unit)


def _sizes(rows: Rows) -> tuple[Input, Input]:
    data = _column(rows, "table_size_mb", "data of every table")
    return data, _column(rows, "indices_size_mb", "indexes of every table")


def _index_sizes(rows: Rows, table: str = "") -> Input:
    found = [number_of(row.size_mb, f"size of {row.index}") for row in _indexes(rows) if table in ("", row.table)]
    return Input(f"index sizes{' of ' + table if table else ''}", found, "MB")


def pages(rows: Rows) -> Check:
    page, computed, worst = _page(rows), [], 0.0
    for row in _tables(rows):
        one = compute(
            "pages × page / 1024 ^ 2", Shape("MB", 2, label=row.table), pages=_of(row, "data_pages", "pages"), page=page
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
    for row in _tables(rows):
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
    for row in _tables(rows):
        own, extra = _of(row, "table_size_mb", "MB"), _of(row, "indices_size_mb", "MB")
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
    data, index = _of(row, "table_size_mb", "MB"), _of(row, "indices_size_mb", "MB")
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
        compute("index / own", Shape("%", 2, label=row.table), index=_of(row, "indices_size_mb", "MB"),
                own=_of(row, "table_size_mb", "MB"))
        for row in _tables(rows)
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
        ("stock_gb", _of(rows.table("STOCK"), "table_size_mb", "MB")),
        ("customer_gb", _of(rows.table("CUSTOMER"), "table_size_mb", "MB")),
        ("stock_index_gb", _of(rows.table("STOCK"), "indices_size_mb", "MB")),
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


def keys(rows: Rows) -> Check:
    records = {row.table: row.records for row in _tables(rows)}
    found = _indexes(rows)
    same = [row for row in found if row.keys == records.get(row.table)]
    unique = [row for row in found if row.keys == row.unique_keys]
    other = ", ".join(row.index for row in found if row.keys != row.unique_keys)
    computed = [
        compute("count(indexes)", Shape("", 0, label=label), indexes=Input(label, [float(row.keys or 0) for row in rs]))
        for label, rs in (("with as many keys as the table has records", same), ("with all keys unique", unique))
    ]
    return Check(
        "Keys and records", Result.AGREES if len(same) == len(found) else Result.DISAGREES,
        f"Every index has a key per record; keys repeat only in {other or 'none'}."
        if len(same) == len(found) else "Not every index has a key per record.",
        [Stated(f"{len(found)} indexes", "index statistics")], computed,
    )  # fmt: skip


def depth(rows: Rows) -> Check:
    limit = rows.stated("recommended_depth").number
    deep = [float(row.depth or 0) for row in _indexes(rows) if (row.depth or 0) > limit]
    lengths = Input("key lengths", [float(row.key_length_bytes or 0) for row in _indexes(rows)], "bytes")
    main = rows.index("ORDER_LINE_PK")
    count = compute("count(deep)", Shape("", 0, label="deeper than recommended"), deep=Input("depths", deep))
    longest = compute("max(lengths)", Shape("bytes", 2, label="largest key length"), lengths=lengths)
    keys_ = compute(
        "keys / 10 ^ 9", Shape("10⁹", 2, label="keys of ORDER_LINE_PK"),
        keys=Input("keys of ORDER_LINE_PK", number_of(main.keys, "keys of ORDER_LINE_PK")),
    )  # fmt: skip
    said = [rows.stated(one) for one in ("deep_indexes", "key_length", "order_line_keys")]
    verdicts = [judge(stated.number, one.value) for stated, one in zip(said, (count, longest, keys_), strict=True)]
    return Check(
        "Depth, key length, keys", all_of(*verdicts), "All three statements follow from the index statistics.",
        said, [count, longest, keys_],
    )  # fmt: skip


def cardinalities(rows: Rows) -> Check:
    warehouses = _of(rows.table("WAREHOUSE"), "records", "records")
    computed, verdicts = [], []
    for row in _tables(rows):
        if row.table not in TPC_C:
            continue
        one = compute(
            "records / warehouses", Shape("", 1, label=row.table), records=_of(row, "records", "records"),
            warehouses=warehouses,
        )  # fmt: skip
        computed.append(one)
        near = math.isclose(one.value, TPC_C[row.table], rel_tol=1e-3)
        verdicts.append(Result.AGREES if near else Result.DISAGREES)
    items = rows.table("ITEM").records
    verdicts.append(Result.AGREES if items == TPC_C_ITEMS else Result.DISAGREES)
    return Check(
        "Records per warehouse", all_of(*verdicts),
        "The cardinalities of TPC-C; orders, history and new orders are a little off the initial load, so a short run "
        "probably went before the statistics (our reading).", [], [*computed, *_moved(rows, warehouses)],
    )  # fmt: skip


def _moved(rows: Rows, warehouses: Input) -> list[Computed]:
    """Records more or fewer than the initial load."""
    return [
        compute(
            f"records − {TPC_C[table]} × warehouses", Shape("", 0, True, label=f"{table} against the initial load"),
            records=_of(rows.table(table), "records", "records"), warehouses=warehouses,
        )
        for table in ("ORDERS", "HISTORY", "NEW_ORDER")
    ]  # fmt: skip


def warehouses(rows: Rows) -> Check:
    points = rows.points("performance")
    count = _of(rows.table("WAREHOUSE"), "records", "warehouses")
    big = Input("size of the largest database", points[-1].size_gb, "GB")
    each = compute("big × 1024 / warehouses", Shape("MB", 2, label="MB a warehouse"), big=big, warehouses=count)
    small = [
        compute(
            "size / big × warehouses", Shape("", 0, label=f"{point.size_gb:.10g} GB"),
            size=Input("database size", point.size_gb, "GB"), big=big, warehouses=count,
        )
        for point in points[:-1]
    ]  # fmt: skip
    steps = [later.rounded - before.rounded for before, later in pairwise(small)]
    return Check(
        "Warehouses of the small databases", Result.DERIVED,
        f"Inferred from the size of a warehouse; they grow by {min(steps):g} to {max(steps):g}, likely the loader's "
        "argument." if steps else "Inferred from the size of a warehouse.", [], [each, *small],
    )  # fmt: skip


def pointer_pages(rows: Rows) -> Check:
    seen = rows.observed("ORDER_LINE pointer pages")
    data = _of(rows.table("ORDER_LINE"), "data_pages", "pages")
    each = compute("pages / pointers", Shape("", 1, label="data pages per pointer page"), pages=data, pointers=seen)
    # A pointer page holds 4-byte page numbers and two bits of state each, less its head.
    room = compute("page / 4", Shape("", 0, label="page numbers that fit"), page=_page(rows))
    return Check(
        "Pointer pages of ORDER_LINE", judge_bounds(each.value, low=room.value / 2, high=room.value),
        "Plausible: nearly as many as page numbers of four bytes fit.",
        [Stated(f"{seen.number:,.0f} pointer pages", "text")], [each, room],
    )  # fmt: skip


CHECKS = {
    "2.18": pages,
    "2.19": sums,
    "2.20": index_sums,
    "2.21": shares,
    "2.22": order_line,
    "2.23": index_share,
    "2.24": unit_base,
    "2.25": keys,
    "2.26": depth,
    "2.27": cardinalities,
    "2.28": warehouses,
    "2.29": pointer_pages,
}
