"""TPC-C-like: nine tables and five transactions of the TPC-C standard, without terminals that think or wait.

It is no TPC-C benchmark in the sense of the standard, and its figures are no tpmC results: there is no think time, each
transaction chooses its warehouse among all, Delivery is not deferred, and nothing was audited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchagent.catalog.space import warehouse_bytes
from benchagent.dbms import probes
from benchagent.dbms.base import JobError, first_value
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.workloads import steps
from benchagent.workloads.base import Bench, Factors, SessionResult, Workload, is_used, require_one_session
from benchagent.workloads.tpcc import conditions, queries, tables, transactions
from benchagent.workloads.tpcc.queries import memory_curve

MEGABYTE = 1_000_000
# The items are shared by all warehouses.
BYTES_OF_ITEMS = 12_000_000
# The article's loader: the first 70 % of the data fast, up to 35 MB/s, the rest slowly, down to 1 MB/s. Here 30 % of
# the rows; most are of `stock` with 300 bytes each, so this is 1.2 MB/s: below what the slowest engine loads.
SLOW_PART = {"slow_share": 0.3, "slow_rows_per_s": 4_000}
# Before the run the numbers that orders were given, which a look at the districts tells; after it the orders.
BEFORE_RUN = {
    "orders": "SELECT SUM(CAST(d_next_o_id - 1 AS DECIMAL(18))) FROM district",
    "payments": "SELECT COUNT(*) FROM history",
}
AFTER_RUN = {**BEFORE_RUN, "orders": "SELECT COUNT(*) FROM orders"}
LOADED, RUN = "after the load", "after the run"
BEFORE, AFTER = "before", "after"
WARM_UP = "warm-up"


class Tpcc(Workload):
    slug = "tpcc"
    data_factors = ("warehouses", "warehouse_rows", "loader_threads", "loader_profile")

    def factors(self, given: Mapping[str, int | float | str], dbms: str = "") -> Factors:
        """A target size becomes a number of warehouses."""
        factors = super().factors(given, dbms)
        target_mb, divisor = factors.number("target_size_mb"), tables.divisor(factors)
        if not target_mb:
            return factors
        wanted = target_mb * MEGABYTE - BYTES_OF_ITEMS / divisor
        nearest = round(wanted / (warehouse_bytes(dbms) / divisor))
        return factors.replaced(warehouses=max(1, nearest))

    def tables(self, factors: Factors) -> Sequence[str]:
        return tables.NAMES

    def reading(self, factors: Factors) -> frozenset[str]:
        return frozenset({"order_status", "stock_level"})

    def loaded(self, factors: Factors) -> dict[str, Any]:
        warehouses, divisor = factors.number("warehouses"), tables.divisor(factors)
        rows = {table.name: tables.rows(table, warehouses, divisor) for table in tables.TABLES}
        return {"warehouses": warehouses, "rows": rows}

    def disk_bytes(self, factors: Factors) -> int:
        return factors.needed_bytes(self.slug)

    def perform(self, bench: Bench) -> None:
        _Performance(bench).perform()


WORKLOAD = Tpcc()


# The steps of the load generator: create and load, the conditions, the run


@dataclass(frozen=True)
class Plan:
    dialect: Dialect
    factors: Factors
    seed: int

    @property
    def divisor(self) -> int:
        return tables.divisor(self.factors)

    @property
    def warehouses(self) -> int:
        return self.factors.number("warehouses")

    def loaded(self) -> dict[str, int]:
        """What `BEFORE_RUN` asks for, of data that no run has changed: each customer has an order and a payment."""
        customers = next(table for table in tables.TABLES if table.name == "customer")
        return dict.fromkeys(BEFORE_RUN, tables.rows(customers, self.warehouses, self.divisor))

    @property
    def parameters(self) -> dict[str, Any]:
        scale = {"scale_divisor": self.divisor} if self.divisor > 1 else {}
        return {"warehouses": self.warehouses, "seed": self.seed, **scale}


def prepare(plan: Plan) -> list[Step]:
    """Create, load, build indexes, and let the engine gather its statistics."""
    dialect, factors = plan.dialect, plan.factors
    profile: Step = {"profile": SLOW_PART} if factors.text("loader_profile") == "fast_slow" else {}
    loaded = [
        steps.filled(
            dialect,
            table.name,
            table.types(dialect),
            program=f"tpcc.{table.name}",
            rows=tables.rows(table, plan.warehouses, plan.divisor),
            parameters=plan.parameters,
        )
        for table in tables.TABLES
    ]
    load = steps.load(loaded, threads=factors.number("loader_threads"), seed=plan.seed, **profile)
    return steps.prepare(dialect, tables.NAMES, create=tables.create(dialect), load=load, index=tables.indexes(dialect))


def run(plan: Plan) -> Step:
    return steps.run(plan.factors, plan.seed, transactions.programs(plan.dialect, plan.parameters))


def ask(when: str, queries: Mapping[str, str]) -> list[Step]:
    """A query that fails says so in its answer: one that an engine cannot do must not hide the others."""
    return probes.steps(f"{when}:", queries, optional=True)


class _Performance:
    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._counters = bench.instance.engine_counters
        self._plan = Plan(bench.instance.dialect, bench.factors, bench.seed)
        warehouses, divisor = self._plan.warehouses, self._plan.divisor
        self._conditions = {
            when: conditions.queries(warehouses, bench.seed, loaded=when == LOADED, divisor=divisor)
            for when in (LOADED, RUN)
        }
        self._with_queries = bench.factors.text("queries") == "yes"
        self._warm = queries.warm(self._plan.dialect, self._plan.warehouses) if self._with_queries else []
        self._consistency: list[dict[str, Any]] = []

    def perform(self) -> None:
        load = [*prepare(self._plan), *ask(LOADED, self._conditions[LOADED])]
        if self._bench.instance.in_memory:
            require_one_session(self._bench)
            before = self._before()
            result = self._bench.session([*load, *self._warm_up(), *self._run()])
            self._loaded(result)
            self._describe_warm_up(result)
        else:
            if self._bench.data_missing:
                self._loaded(self._bench.session(load))
                self._bench.data_loaded()
            before = self._before()
            self._bench.before_run()
            result = self._bench.session([*self._warmed_up(), *self._run()])
            self._describe_warm_up(result)
        self._ran(result, before)
        if self._with_queries:
            self._describe_queries(result)

    # Load

    def _loaded(self, result: SessionResult) -> None:
        """A database that is wrong from the start is not worth a run."""
        size = 0 if self._bench.instance.in_memory else self._bench.instance.size_bytes()
        if size:  # not of a server of others
            # As in the article, the load rate is this size by the time of load and index build.
            load_s = sum(result.phases[phase]["elapsed_s"] for phase in ("load", "index"))
            self._bench.metric("db_size_bytes", size, "load")
            self._bench.metric("load_size_mb_per_s", size / load_s / MEGABYTE, "load")
        statements = tables.indexes(self._plan.dialect)
        for sql, elapsed_s in zip(statements, result.phases["index"]["elapsed"], strict=True):
            self._bench.log(f"{elapsed_s:.2f} s: {sql}")
        self._check_consistency(LOADED, result)

    def _check_consistency(self, when: str, result: SessionResult) -> None:
        asked = {
            name: conditions.only_in(name, self._plan.warehouses, self._bench.seed) for name in self._conditions[when]
        }
        events = {name: result.queries.get(f"{when}:{name}", {}) for name in asked}
        for name, event in events.items():
            facts = {"condition": name, "when": when, "violations": conditions.violations(event.get("rows"))}
            facts |= {"elapsed_s": event.get("elapsed_s")} | ({"only_in": asked[name]} if asked[name] else {})
            self._consistency.append(facts | ({"error": event["error"]} if "error" in event else {}))
        self._bench.describe("consistency", self._consistency)
        check = conditions.check(when, asked, {name: event.get("rows", []) for name, event in events.items()})
        self._bench.check(check)
        if when == LOADED and not check["ok"]:
            raise JobError(check["detail"])

    # Run

    def _warm_up(self) -> list[Step]:
        queries_by_table = queries.warm_up(self._plan.dialect) if self._with_queries else {}
        return [queries.timed(f"{WARM_UP}:{name}", sql) for name, sql in queries_by_table.items()]

    def _warmed_up(self) -> list[Step]:
        """Steps still to be done in the session of the run: an embedded engine starts anew with each session."""
        warm_up = self._warm_up()
        if not warm_up or not self._bench.instance.server_pids():
            return warm_up
        with memory_curve(self._bench.instance.server_pids) as curve:
            result = self._bench.session(warm_up)
        self._describe_warm_up(result, curve)
        return []

    def _describe_warm_up(self, result: SessionResult, memory: Sequence[tuple[float, int]] = ()) -> None:
        """The five queries, if this session had them: from the first sample of `memory` on, or from the first query."""
        answers = {name: event for name, event in result.queries.items() if name.startswith(f"{WARM_UP}:")}
        begins = [at for at, _ in memory] or [event["at"] for event in answers.values() if "at" in event]
        if answers and begins:
            ran = [_ended(name, event, begins[0]) for name, event in answers.items()]
            curve = [{"t": at - begins[0], "bytes": size} for at, size in memory]
            self._bench.describe("warm_up_queries", {"memory": curve, "queries": ran})

    def _run(self) -> list[Step]:
        executions = [step for execution in self._warm for step in execution.steps(self._counters)]
        return [
            run(self._plan),
            *executions,
            *queries.plan_steps(self._counters, self._warm),
            *ask(AFTER, AFTER_RUN),
            *ask(RUN, self._conditions[RUN]),
        ]

    def _before(self) -> QueryRows:
        """Orders and payments that the run starts with. Asked for before the caches are made what they shall be."""
        if is_used(self._bench):
            return self._bench.session(ask(BEFORE, BEFORE_RUN)).rows
        return {f"{BEFORE}:{name}": [[count]] for name, count in self._plan.loaded().items()}

    def _ran(self, result: SessionResult, before: QueryRows) -> None:
        self._check_consistency(RUN, result)
        if result.summary is None:
            return
        summary, rows = result.summary, {**before, **result.rows}
        # The database has grown by exactly what was reported as committed, from the warm-up to the tail.
        for name, kind in (("orders", "new_order"), ("payments", "payment")):
            first, last = (first_value(rows.get(f"{when}:{name}")) for when in (BEFORE, AFTER))
            committed = summary["per_type"].get(kind, {"committed": 0})["committed"]
            grown = None if first is None or last is None else int(Decimal(last) - Decimal(first))
            detail = f"{grown} {name} more than before the run, the load generator committed {committed}"
            self._bench.check({"name": f"{name}_committed", "ok": grown == committed, "detail": detail})
        if duration_s := summary["duration_s"]:
            # Beside operations of all five types a second, never in their place, committed new orders a minute.
            new_orders = summary["per_type"].get("new_order", {"transactions": 0, "rolled_back": 0})
            per_minute = 60 * (new_orders["transactions"] - new_orders["rolled_back"]) / duration_s
            self._bench.metric("ops_per_s", summary["transactions"] / duration_s, "run")
            self._bench.metric("tpmc", per_minute, "run")
            self._bench.metric("rolled_back", summary["rolled_back"], "run")

    # The six queries

    def _describe_queries(self, ran: SessionResult) -> None:
        plans = queries.plans(self._counters, self._warm, ran)
        answers: list[dict[str, Any]] = []
        instance = self._bench.instance
        if instance.in_memory or instance.no_restart:
            answers += queries.gaps(self._warm, queries.COLD, instance.no_restart or queries.IN_MEMORY)
        else:
            for execution in queries.cold(self._plan.dialect, self._plan.warehouses):
                self._bench.restart(cold=True, before=execution.name)
                result = self._bench.session(execution.steps(self._counters))
                answers.append(execution.answer(self._counters, result, plans[execution.sql]))
        answers += [execution.answer(self._counters, ran, plans[execution.sql]) for execution in self._warm]
        answers += queries.gaps(self._warm, queries.OTHER, queries.ONE_WAREHOUSE)
        self._bench.describe("queries", answers)


def _ended(name: str, event: Mapping[str, Any], begun: float) -> dict[str, Any]:
    """A query of the warm-up; `t` is when it ended, in seconds after `begun`, unless it failed."""
    if "error" in event:
        return {"name": name, "error": event["error"]}
    return {"name": name, "t": event["at"] + event["elapsed_s"] - begun, "elapsed_s": event["elapsed_s"]}
