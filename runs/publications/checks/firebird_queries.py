"""firebird-terabyte-2015: counts, fetches and buffers of the six queries."""

from __future__ import annotations

import math
import re

from runs.publications.checks.model import (
    Check,
    Computed,
    Input,
    MissingInputError,
    Result,
    Shape,
    Stated,
    all_of,
    compute,
    judge_bounds,
)
from runs.publications.checks.rows import Rows, Rule, number_of

TOPIC = "Queries"
CUSTOMERS_PER_WAREHOUSE, ORDER_LINES_PER_WAREHOUSE = 30_000, 300_000
# Two fetches a record, and a few for the way down the index.
FETCHES_BEYOND = 1000


def _count(rows: Rows, number: int) -> Input:
    return Input(f"count of query {number}", number_of(rows.query(number).count_result, f"count of query {number}"))


def _fetches(rows: Rows, number: int) -> Computed:
    return compute(
        "fetches − 2 × count", Shape("", 0, label="fetches beyond two a record"),
        fetches=rows.query_number(number, "fetches"), count=_count(rows, number),
    )  # fmt: skip


def customers(rows: Rows) -> Check:
    rest, count = _fetches(rows, 2), _count(rows, 2)
    exact = Result.AGREES if count.value == CUSTOMERS_PER_WAREHOUSE else Result.DISAGREES
    return Check(
        "Query 2: customers of a warehouse",
        all_of(exact, judge_bounds(rest.value, low=0, high=FETCHES_BEYOND)),
        "The count is TPC-C's customers of one warehouse, and every record costs two fetches.",
        [Stated(f"{count.value:,.0f} records", "query 2")], [rest],
    )  # fmt: skip


def order_lines(rows: Rows) -> Check:
    rest, count = _fetches(rows, 4), _count(rows, 4)
    near = math.isclose(count.number, ORDER_LINES_PER_WAREHOUSE, rel_tol=0.01)
    share = compute(
        "count / expected", Shape("%", 2, label="of TPC-C's mean"), count=count,
        expected=Input("order lines of a warehouse, TPC-C", float(ORDER_LINES_PER_WAREHOUSE), provenance=""),
    )  # fmt: skip
    return Check(
        "Query 4: order lines of a warehouse",
        all_of(Result.AGREES if near else Result.DISAGREES, judge_bounds(rest.value, low=0, high=FETCHES_BEYOND)),
        "Near the mean of TPC-C, whose orders have five to fifteen lines; every record costs two fetches.",
        [Stated(f"{count.value:,.0f} records", "query 4")], [rest, share],
    )  # fmt: skip


def pointer_reads(rows: Rows) -> Check:
    reads, pointers = rows.query_number(3, "reads"), rows.observed("ORDER_LINE pointer pages")
    buffers = rows.query_number(3, "buffers")
    beyond = compute("reads − pointers", Shape("pages", 0, label="reads beyond the pointer pages"), reads=reads,
                     pointers=pointers)  # fmt: skip
    above = compute("pointers − buffers", Shape("pages", 0, True, label="pointer pages beyond the buffers"),
                    pointers=pointers, buffers=buffers)  # fmt: skip
    near = 0 <= beyond.value <= 0.05 * pointers.number
    return Check(
        "Query 3: many reads for ten rows", Result.DERIVED if near else Result.UNCLEAR,
        "About as many reads as the table has pointer pages: they were read then, after the warm-up, and cannot all "
        "stay in the buffers. Our remark, not the article's.",
        [Stated(f"{reads.number:,.0f} reads", "query 3")], [beyond, above],
    )  # fmt: skip


def memory(rows: Rows) -> Check:
    page = Input("page size", rows.database("cfg-firebird", "page_size_bytes"), "bytes")
    buffers = Input("page buffers", float(rows.parameters("cfg-firebird", "page buffers")[0]))
    memories = [rows.query_number(query.number, "current_memory").number for query in rows.material.query_stats]
    held = Input("current memory of every query", memories, "bytes")
    size = compute("buffers × page", Shape("bytes", 0, label="buffers"), buffers=buffers, page=page)
    rest = compute(
        "median(memory) / (buffers × page) − 1", Shape("%", 2, True, label="memory beyond the buffers"), memory=held,
        buffers=buffers, page=page,
    )  # fmt: skip
    return Check(
        "Buffers and memory", judge_bounds(rest.value, low=0, high=5),
        "The memory in use is the page buffers and a little more.",
        [Stated(f"{buffers.number:,.0f} page buffers", "firebird.conf")], [size, rest],
    )  # fmt: skip


def odd_buffers(rows: Rows) -> Check:
    values = {one.number: rows.query_number(one.number, "buffers").number for one in rows.material.query_stats}
    if not values:
        raise MissingInputError("the queries")
    numbers = Input("buffers of every query", list(values.values()), "pages")
    span = compute("max(buffers) − min(buffers)", Shape("pages", 0, label="largest difference"), buffers=numbers)
    odd = [str(number) for number, value in values.items() if value != max(values.values())]
    return Check(
        "Buffers of every query", Result.UNCLEAR if span.value else Result.AGREES,
        f"Query {', '.join(odd)} shows another number; odd and not explained." if odd else "All show the same.",
        [], [span],
    )  # fmt: skip


def plans(rows: Rows) -> Check:
    first, second = rows.query(1), rows.query(2)
    differ = first.plan != second.plan
    return Check(
        "Plans of query 1 and its count", Result.DERIVED if differ else Result.AGREES,
        "The same join with two plans, as printed." if differ else "The same plan for both.",
        [Stated(first.plan, "query 1"), Stated(second.plan, "query 2")], [],
    )  # fmt: skip


def ids(rows: Rows) -> Check:
    """Every warehouse id that a query names exists."""
    warehouses = Input("warehouses", number_of(rows.table("WAREHOUSE").records, "warehouses"))
    found = [
        float(number)
        for query in rows.material.query_stats
        for number in re.findall(r"w_id\s*[=<>]+\s*(\d+)", query.sql, re.IGNORECASE)
    ]
    if not found:
        raise MissingInputError("a warehouse id in the queries")
    largest = compute("max(ids)", Shape("", 0, label="largest id"), ids=Input("warehouse ids of the queries", found))
    count = compute("warehouses", Shape("", 0, label="warehouses"), warehouses=warehouses)
    return Check(
        "Warehouse ids of the queries", judge_bounds(largest.value, low=1, high=count.value),
        "All ids exist in the database.", [], [largest, count],
    )  # fmt: skip


CHECKS = {
    "2.30": Rule(customers, Result.AGREES),
    "2.31": Rule(order_lines, Result.AGREES),
    "2.32": Rule(pointer_reads, Result.DERIVED),
    "2.33": Rule(memory, Result.AGREES),
    "2.34": Rule(odd_buffers),
    "2.35": Rule(plans),
    "2.36": Rule(ids, Result.AGREES),
}
