"""What an engine declares is what its runs deliver: one short TPC-B run of each engine that can be had here.

That of each engine's instance is tested with the engine, in dbms; here it has come through a job into a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.counters import COUNTERS, EFFORT, PARTS, PLANS, EngineCounters
from benchagent.java import JavaToolchain
from benchagent.workloads import tpcb
from benchagent.workloads.base import Bench
from benchagent.workloads.tpcb import Tpcb
from benchagent.workloads.tpcc.queries import WARM, Execution

from tests.benchagent.live import ENGINES, LiveAgent, live_agent
from tests.benchagent.small import RATE_PER_S
from tests.whole import whole_but

pytestmark = pytest.mark.engines
FACTORS = {"scale_factor": 1, "terminals": 2, "warm_up_s": 0, "duration_s": 2, "rate_per_s": RATE_PER_S}
# An engine in the load generator, and a server.
HELD = ("sqlite", "postgresql")
NO_COUNTER = "the engine does not count checkpoints: "
PLANNED = "SELECT abalance FROM accounts WHERE aid = 1"


class TpcbWithQuery(Tpcb):
    """Executes one query after the run, as `tpcc` does, asks for its plan and keeps what the engine declared."""

    declared: EngineCounters

    def perform(self, bench: Bench) -> None:
        super().perform(bench)
        self.declared = source = bench.instance.engine_counters
        names = {f"plan:{number}": sql for number, sql in enumerate(source.plan_queries(PLANNED))}
        query = Execution("1", WARM, PLANNED)
        asked = [{"op": "query", "name": name, "sql": sql} for name, sql in names.items()]
        found = bench.session([*query.steps(source), *asked])
        plan = source.plan([row for name in names for row in found.rows[name]]) if names else ""
        bench.describe("queries", [query.answer(source, found, plan)])


@pytest.fixture(scope="module")
def agent(repository: Path, toolchain: JavaToolchain) -> Iterator[LiveAgent]:
    with live_agent(repository, toolchain) as made:
        yield made


@pytest.mark.parametrize("slug", whole_but(HELD, ENGINES))
def test_it_delivers_what_it_declares_and_nothing_else(slug: str, agent: LiveAgent, monkeypatch: pytest.MonkeyPatch):
    workload = TpcbWithQuery()
    monkeypatch.setattr(tpcb, "WORKLOAD", workload)
    item = agent.run(slug, "tpcb", **FACTORS)
    assert (item["outcome"], item["message"]) == ("finished", "")
    told: dict[str, Any] = dict(item["result"]["statistics"])
    assert delivered(told) == set(workload.declared.sources)
    assert told["none"] == dict(workload.declared.none)
    assert set(told["none"]) == set(PARTS) - delivered(told)

    result = item["result"]
    assert result["effective_settings"]
    assert {metric["name"]: metric["value"] for metric in result["metrics"]}["db_size_bytes"] > 80 * tpcb.ACCOUNTS
    assert told["conditions"]["checkpoints"].startswith(NO_COUNTER) == ("checkpoints" in told["none"])


def delivered(told: dict[str, Any]) -> set[str]:
    """Waits may be none in two seconds: that they were sampled is what counts."""
    found = {name for name in told.get("counters", {}) if name in COUNTERS}
    found |= {part for part in ("tables", "indexes", "maintenance") if told.get(part)}
    found |= {"waits"} if "waits" in told else set()
    (query,) = told["queries"]
    found |= {part for part in EFFORT if part.removeprefix("query_") in query}
    return found | ({PLANS} if query["plan"] else set())
