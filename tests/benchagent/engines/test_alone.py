"""Every engine that can be installed runs with what it brought along: the leg `alone` hides what the machine has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.dbms.base import EngineContext
from benchagent.engines import catalogue
from benchagent.engines.install import check_programs
from benchagent.java import JavaToolchain

from tests.benchagent.live import LiveAgent, live_agent
from tests.benchagent.small import RATE_PER_S, make_no_archives

pytestmark = pytest.mark.engines
FACTORS = {"scale_factor": 1, "terminals": 2, "warm_up_s": 0, "duration_s": 1, "rate_per_s": RATE_PER_S}


@pytest.fixture(scope="module")
def agent(repository: Path, toolchain: JavaToolchain) -> Iterator[LiveAgent]:
    with live_agent(repository, toolchain, *catalogue()) as made, pytest.MonkeyPatch.context() as patch:
        make_no_archives(patch)
        yield made


@pytest.mark.parametrize("name", catalogue())
def test_an_installed_engine_runs(name: str, agent: LiveAgent, toolchain: JavaToolchain):
    engine, dirs = catalogue()[name], agent.dirs
    check_programs(engine, dirs.engines / name)
    offered = dbms.adapter(engine.dbms).discover(EngineContext(toolchain, frozenset(), dirs.jobs, dirs.engines))
    (facts,) = (facts for facts in offered if Path(facts["path"]).is_relative_to(dirs.engines / name))
    assert (facts["available"], facts["reason"]) == (True, "")
    item = agent.run(engine.dbms, "tpcb", version=facts["version"], **FACTORS)
    assert (item["outcome"], item["message"]) == ("finished", "")
    assert {metric["name"]: metric["value"] for metric in item["result"]["metrics"]}["tps"] > 0
