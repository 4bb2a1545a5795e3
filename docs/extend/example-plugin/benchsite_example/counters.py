"""A workload: each transaction raises one counter of a table, and at the end their sum is what was committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.workloads import steps
from benchagent.workloads.base import Bench, Factors, Workload, load_and_run

ROW_BYTES = 200


class Counters(Workload):
    slug = "counters"
    data_factors = ("counters",)

    def perform(self, bench: Bench) -> None:
        dialect, rows = bench.instance.dialect, bench.factors.number("counters")
        types = {"id": dialect.integer, "n": dialect.bigint}
        columns = [{"kind": "sequence", "start": 1}, {"kind": "constant", "value": 0}]
        prepare = steps.prepare(
            dialect,
            ["counters"],
            create=[dialect.table("counters", [f"{name} {type} NOT NULL" for name, type in types.items()], ["id"])],
            load=steps.load([steps.filled(dialect, "counters", types, rows=rows, columns=columns)]),
            index=[dialect.primary_key("counters", ["id"])],
        )
        update = {"sql": "UPDATE counters SET n = n + 1 WHERE id = ?", "bind": ["id"], "expect_rows": 1}
        variable = {"name": "id", "kind": "uniform", "min": 1, "max": rows}
        transaction = {"name": "raise", "weight": 1, "variables": [variable], "statements": [update]}
        total = {"op": "query", "name": "total", "sql": "SELECT SUM(n) FROM counters"}
        result = load_and_run(bench, prepare, [steps.run(bench.factors, bench.seed, [transaction]), total])
        if result.summary:
            ((counted,),), committed = result.rows["total"], result.summary["committed"]
            detail = f"the counters say {counted}, {committed} were committed"
            bench.check({"name": "counters", "ok": int(counted) == committed, "detail": detail})

    def tables(self, factors: Factors) -> Sequence[str]:
        return ("counters",)

    def loaded(self, factors: Factors) -> dict[str, Any]:
        return {"rows": {"counters": factors.number("counters")}}

    def disk_bytes(self, factors: Factors) -> int:
        return ROW_BYTES * factors.number("counters")


WORKLOAD = Counters()
