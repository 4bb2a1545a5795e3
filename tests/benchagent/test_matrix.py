"""Every workload on every engine that can be had here, as small as it can be.

What other tests run is not repeated: `tpcb` in test_statistics_table, `tpcc` on embedded engines in workloads/tpcc. A
table in docs/reference/engines.md lists all cells; a test compares it with the tests that there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent.java import JavaToolchain

from tests.benchagent.live import EMBEDDED, ENGINES, PROMISED, LiveAgent, live_agent
from tests.benchagent.workloads.script.scripts import BANK
from tests.whole import whole, whole_but

pytestmark = pytest.mark.engines
# At a rate: how fast it goes is nobody's question here.
WINDOW = {"terminals": 2, "warm_up_s": 0, "duration_s": 1, "rate_per_s": 100}
FACTORS: dict[str, dict[str, int | str]] = {
    "tpcc": {"warehouses": 1, "warehouse_rows": "hundredth", **WINDOW},
    "inserts_selects": {"rows_per_table": 100, "loader_threads": 1, **WINDOW},
    "backup": {"dataset_mb": 10},
    "script": {"script_text": BANK, **WINDOW},
}
CELLS = [(workload, slug) for slug in ENGINES for workload in FACTORS if (workload, slug in EMBEDDED) != ("tpcc", True)]
# Each engine and each workload at least once.
HELD = (
    ("inserts_selects", "sqlite"), ("script", "derby"), ("script", "hsqldb"), ("inserts_selects", "h2"),
    ("script", "postgresql"), ("backup", "mysql"), ("script", "mariadb"), ("tpcc", "firebird"), ("backup", "firebird"),
)  # fmt: skip
IN_MEMORY = ("tpcc", "inserts_selects", "script")
# What has to be among the metrics of a run that did something.
FIGURE = {"tpcc": "ops_per_s", "inserts_selects": "tps", "backup": "restore_s", "script": "tps"}

# In force on the connections of the terminals as the agent starts these engines, as their drivers say.
ISOLATION = {
    "sqlite": "serializable", "derby": "read committed", "hsqldb": "read committed", "h2": "read committed",
    "postgresql": "read committed", "mysql": "repeatable read", "mariadb": "repeatable read",
    "firebird": "read committed",
}  # fmt: skip


@pytest.fixture(scope="module")
def agent(repository: Path, toolchain: JavaToolchain) -> Iterator[LiveAgent]:
    with live_agent(repository, toolchain) as made:
        yield made


@pytest.mark.parametrize(("workload", "slug"), whole_but(HELD, CELLS))
def test_it_runs(workload: str, slug: str, agent: LiveAgent):
    item = agent.run(slug, workload, **FACTORS[workload])
    assert (item["outcome"], item["message"]) == ("finished", "")
    assert {metric["name"]: metric["value"] for metric in item["result"]["metrics"]}[FIGURE[workload]] > 0
    assert list(agent.dirs.jobs.iterdir()) == []
    assert (item["result"]["durability"] or {})["promised"]["durability"] == PROMISED[slug]
    driver = item["result"]["driver"]
    assert driver["cpu"] == ("driver + engine" if slug in EMBEDDED else "driver")
    assert driver["transport"] == ("in the engine's process" if slug in EMBEDDED else "TCP, same machine")
    assert driver["isolation"] == ("" if workload == "backup" else ISOLATION[slug])
    assert all(driver[name] for name in ("jdbc_driver", "jdbc_driver_version", "java", "agent") if workload != "backup")


@pytest.mark.parametrize("workload", whole_but(("script",), IN_MEMORY))
@pytest.mark.parametrize("slug", ["hsqldb", *whole("h2")])
def test_it_runs_in_memory(slug: str, workload: str, agent: LiveAgent):
    item = agent.run(slug, workload, in_memory=True, **FACTORS[workload])
    assert (item["outcome"], item["message"]) == ("finished", "")
    durability = item["result"]["durability"]
    assert durability["durability"] == "memory"


@pytest.mark.parametrize("slug", ["hsqldb", *whole("h2")])
def test_a_database_in_memory_leaves_nothing_to_back_up(slug: str, agent: LiveAgent):
    item = agent.run(slug, "backup", in_memory=True, **FACTORS["backup"])
    assert (item["outcome"], item["message"]) == ("failed", "a database in memory leaves nothing to back up")
