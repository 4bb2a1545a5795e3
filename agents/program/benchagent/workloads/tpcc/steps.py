"""The steps of the load generator: create and load, the conditions, the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.questions import Step, query_steps
from benchagent.workloads import base
from benchagent.workloads.base import Factors, filled, load_step, run_step
from benchagent.workloads.tpcc import tables, transactions

# The article's loader: the first 70 % of the data fast, up to 35 MB/s, the rest slowly, down to 1 MB/s. Here 30 % of
# the rows; most are of `stock` with 300 bytes each, so this is 1.2 MB/s: below what the slowest engine loads.
SLOW_PART = {"slow_share": 0.3, "slow_rows_per_s": 4_000}
# Before the run the numbers that orders were given, which a look at the districts tells; after it the orders.
BEFORE_RUN = {
    "orders": "SELECT SUM(CAST(d_next_o_id - 1 AS DECIMAL(18))) FROM district",
    "payments": "SELECT COUNT(*) FROM history",
}
AFTER_RUN = {**BEFORE_RUN, "orders": "SELECT COUNT(*) FROM orders"}


@dataclass(frozen=True)
class Plan:
    """What to make steps of."""

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
        filled(
            dialect,
            table.name,
            table.types(dialect),
            program=f"tpcc.{table.name}",
            rows=tables.rows(table, plan.warehouses, plan.divisor),
            parameters=plan.parameters,
        )
        for table in tables.TABLES
    ]
    load = load_step(loaded, threads=factors.number("loader_threads"), seed=plan.seed, **profile)
    return base.prepare(dialect, tables.NAMES, create=tables.create(dialect), load=load, index=tables.indexes(dialect))


def run(plan: Plan) -> Step:
    return run_step(plan.factors, plan.seed, transactions.programs(plan.dialect, plan.parameters))


def ask(when: str, queries: Mapping[str, str]) -> list[Step]:
    """A query that fails says so in its answer: one that an engine cannot do must not hide the others."""
    return query_steps(f"{when}:", queries, optional=True)
