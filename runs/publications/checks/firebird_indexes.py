"""firebird-terabyte-2015: statistics of the indexes of the largest database, and its rows per warehouse."""

from __future__ import annotations

import math
from itertools import pairwise

from runs.publications.checks.firebird_tables import amount, indexes_of, page_size, tables_of
from runs.publications.checks.model import (
    Check,
    Computed,
    Input,
    Result,
    Shape,
    Stated,
    all_of,
    compute,
    judge,
    judge_bounds,
)
from runs.publications.checks.rows import Rows, Rule, number_of

TOPIC = "Indexes and cardinalities"
# Rows of a warehouse in TPC-C; those that grow while the benchmark runs may be a thousandth off.
TPC_C = {
    "CUSTOMER": 30_000, "STOCK": 100_000, "ORDERS": 30_000, "NEW_ORDER": 9_000, "DISTRICT": 10, "ORDER_LINE": 300_000,
    "HISTORY": 30_000,
}  # fmt: skip
TPC_C_ITEMS = 100_000


def keys(rows: Rows) -> Check:
    records = {row.table: row.records for row in tables_of(rows)}
    found = indexes_of(rows)
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
    deep = [float(row.depth or 0) for row in indexes_of(rows) if (row.depth or 0) > limit]
    lengths = Input("key lengths", [float(row.key_length_bytes or 0) for row in indexes_of(rows)], "bytes")
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
    warehouses = amount(rows.table("WAREHOUSE"), "records", "records")
    computed, verdicts = [], []
    for row in tables_of(rows):
        if row.table not in TPC_C:
            continue
        one = compute(
            "records / warehouses", Shape("", 1, label=row.table), records=amount(row, "records", "records"),
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
            records=amount(rows.table(table), "records", "records"), warehouses=warehouses,
        )
        for table in ("ORDERS", "HISTORY", "NEW_ORDER")
    ]  # fmt: skip


def warehouses(rows: Rows) -> Check:
    points = rows.points("performance")
    count = amount(rows.table("WAREHOUSE"), "records", "warehouses")
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
    data = amount(rows.table("ORDER_LINE"), "data_pages", "pages")
    each = compute("pages / pointers", Shape("", 1, label="data pages per pointer page"), pages=data, pointers=seen)
    # A pointer page holds 4-byte page numbers and two bits of state each, less its head.
    room = compute("page / 4", Shape("", 0, label="page numbers that fit"), page=page_size(rows))
    return Check(
        "Pointer pages of ORDER_LINE", judge_bounds(each.value, low=room.value / 2, high=room.value),
        "Plausible: nearly as many as page numbers of four bytes fit.",
        [Stated(f"{seen.number:,.0f} pointer pages", "text")], [each, room],
    )  # fmt: skip


CHECKS = {
    "2.25": Rule(keys),
    "2.26": Rule(depth, Result.AGREES),
    "2.27": Rule(cardinalities, Result.AGREES),
    "2.28": Rule(warehouses),
    "2.29": Rule(pointer_pages, Result.AGREES),
}
