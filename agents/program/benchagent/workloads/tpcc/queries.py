"""The six queries of the 2015 article and its five warm-up queries.

The article asked for warehouses 10000, 10050 and 8000 to 10000 of its 21,000: here the same proportions of those that
were loaded. Each query is measured four times: `cold`, after the DBMS was started anew with its files out of the page
cache; `warm`, after the run; `repeated`, the same once more; `other`, with parameters that no query had before.
"""

# ruff: noqa: S608 - every part of a statement is a text of this package
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchagent.dbms.counters import EngineCounters
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.machine.sampling import ProcessTable, repeated
from benchagent.workloads.base import SessionResult

ARTICLE_WAREHOUSES = 21_000
MEMORY_INTERVAL_S = 0.1
COLD, WARM, REPEATED, OTHER = "cold", "warm", "repeated", "other"
BEGIN, END = "begin", "end"
WARM_UP_TABLES = ("order_line", "stock", "customer", "orders", "new_order")
ONE_WAREHOUSE = "one warehouse only: there are no other parameters"
IN_MEMORY = "an engine in memory loses its data when it is started anew"

JOIN = "FROM warehouse, customer WHERE c_w_id = w_id"
CUSTOMER_COLUMNS = "w_id, w_name, c_id, c_last"
LINES = (
    "c1.c_id, c1.c_first, c1.c_last, o1.o_id, o1.o_ol_cnt, i1.i_name, i1.i_price, ol1.ol_amount FROM customer c1 "
    "JOIN orders o1 ON c1.c_w_id = o1.o_w_id AND c1.c_d_id = o1.o_d_id AND c1.c_id = o1.o_c_id "
    "JOIN order_line ol1 ON ol1.ol_w_id = c1.c_w_id AND ol1.ol_d_id = c1.c_d_id AND ol1.ol_o_id = o1.o_id "
    "JOIN item i1 ON ol1.ol_i_id = i1.i_id WHERE o1.o_d_id = 1 AND o1.o_w_id = 1 AND c1.c_id = {customer}"
)


@dataclass(frozen=True)
class Parameters:
    """`first`: warehouse of queries 1 and 2; `lines`: of 3 and 4; `above`, `below`: limits of 5; `customer`: of 6."""

    first: int
    lines: int
    above: int
    below: int
    customer: int


def parameters(warehouses: int) -> Parameters:
    first = max(1, warehouses * 10_000 // ARTICLE_WAREHOUSES)
    lines = max(warehouses * 10_050 // ARTICLE_WAREHOUSES, min(first + 1, warehouses))
    above = warehouses * 8_000 // ARTICLE_WAREHOUSES
    return Parameters(first, lines, above, max(above + 2, warehouses * 10_000 // ARTICLE_WAREHOUSES), customer=10)


def other_parameters(warehouses: int) -> Parameters:
    """The warehouses that follow those of `parameters`, as far as there are others."""
    before = parameters(warehouses)
    above = min(before.below - 1, warehouses - 1)
    return Parameters(
        before.first % warehouses + 1, before.lines % warehouses + 1, above, above + before.below - before.above,
        before.customer + 1,
    )  # fmt: skip


def six(dialect: Dialect, of: Parameters) -> dict[str, str]:
    return {
        "1": dialect.first_rows(f"{CUSTOMER_COLUMNS} {JOIN} AND c_w_id = {of.first}", 10),
        "2": f"SELECT COUNT(*) {JOIN} AND c_w_id = {of.first}",
        "3": dialect.first_rows(f"* FROM order_line WHERE ol_w_id = {of.lines}", 10),
        "4": f"SELECT COUNT(*) FROM order_line WHERE ol_w_id = {of.lines}",
        "5": dialect.first_rows(f"{CUSTOMER_COLUMNS} {JOIN} AND c_w_id > {of.above} AND c_w_id < {of.below}", 10),
        "6": dialect.first_rows(LINES.format(customer=of.customer), 10),
    }


def warm_up(dialect: Dialect) -> dict[str, str]:
    return {table: dialect.first_rows(f"* FROM {table}", 1) for table in WARM_UP_TABLES}


@dataclass(frozen=True)
class Execution:
    """One query, once."""

    query: str
    state: str
    sql: str

    @property
    def name(self) -> str:
        return f"query {self.query}, {self.state}"

    def steps(self, counters: EngineCounters) -> list[Step]:
        """The query, between two looks at what its session has read so far."""
        look = counters.effort_sql
        return [
            *(timed(f"{self.name}, {BEGIN}:{name}", sql) for name, sql in look.items()),
            {**timed(self.name, self.sql), "max_rows": 1},
            *(timed(f"{self.name}, {END}:{name}", sql) for name, sql in look.items()),
        ]

    def answer(self, counters: EngineCounters, result: SessionResult, plan: str) -> dict[str, Any]:
        event = result.queries.get(self.name, {})
        facts: dict[str, Any] = {"query": int(self.query), "state": self.state, "sql": self.sql, "plan": plan}
        if "error" in event:
            return {**facts, "error": event["error"]}
        facts |= {"elapsed_s": event["elapsed_s"], "row_count": event["row_count"]}
        if self.sql.startswith("SELECT COUNT(*)"):
            facts["count"] = event["rows"][0][0]
        return facts | self._effort(counters, result)

    def _effort(self, counters: EngineCounters, result: SessionResult) -> dict[str, float]:
        """Reads and fetches of the query, where the engine tells."""
        looks = []
        for edge in (BEGIN, END):
            names = {name: f"{self.name}, {edge}:{name}" for name in counters.effort_sql}
            rows = {name: result.rows[full] for name, full in names.items() if full in result.rows}
            looks.append(counters.effort(rows) if rows else {})
        return {name: looks[1][name] - value for name, value in looks[0].items() if name in looks[1]}


def cold(dialect: Dialect, warehouses: int) -> list[Execution]:
    return [Execution(number, COLD, sql) for number, sql in six(dialect, parameters(warehouses)).items()]


def warm(dialect: Dialect, warehouses: int) -> list[Execution]:
    """Three executions of each; two where there is no other warehouse to ask for."""
    other = six(dialect, other_parameters(warehouses))
    executions = []
    for number, sql in six(dialect, parameters(warehouses)).items():
        executions += [Execution(number, WARM, sql), Execution(number, REPEATED, sql)]
        if other[number] != sql:
            executions.append(Execution(number, OTHER, other[number]))
    return executions


def gaps(executions: list[Execution], state: str, reason: str) -> list[dict[str, Any]]:
    """An entry with the reason for each query that was not executed in this state."""
    there = {execution.query for execution in executions if execution.state == state}
    queries = dict.fromkeys(execution.query for execution in executions)
    return [{"query": int(query), "state": state, "missing": reason} for query in queries if query not in there]


def plan_steps(counters: EngineCounters, executions: list[Execution]) -> list[Step]:
    """What shows the plan of each query; asked after all of them, since some engines run a query to explain it."""
    return [
        timed(f"plan of {execution.name}:{part}", sql)
        for execution in executions
        for part, sql in enumerate(counters.plan_queries(execution.sql))
    ]


def plans(counters: EngineCounters, executions: list[Execution], result: SessionResult) -> Mapping[str, str]:
    """Plan as text by the SQL of the query."""
    shown = {}
    for execution in executions:
        rows: list[list[Any]] = []
        for part, _ in enumerate(counters.plan_queries(execution.sql)):
            rows += result.rows.get(f"plan of {execution.name}:{part}", [])
        shown[execution.sql] = counters.plan(rows) if rows else ""
    return shown


def timed(name: str, sql: str) -> Step:
    """A query whose time is a result."""
    return {"op": "query", "name": name, "sql": sql, "optional": True}


@contextmanager
def memory_curve(server_pids: Callable[[], Sequence[int]]) -> Iterator[list[tuple[float, int]]]:
    """The server's memory while the warm-up queries run: seconds since the epoch and bytes.

    Sampled while it is entered; pages that processes share count once.
    """
    points: list[tuple[float, int]] = []
    table = ProcessTable()

    def look() -> None:
        table.look()
        size = table.memory_bytes(server_pids())
        if size is not None:
            points.append((time.time(), size))

    look()
    with repeated(look, every_s=MEMORY_INTERVAL_S):
        yield points
