"""Two agents as processes of their own, one at the load, one at the server, against the real site."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from benchagent.dbms.external.connections import Connections
from benchagent.java import JavaToolchain
from benchagent.machine.observations import Observation, Observations
from benchagent.paths import AgentDirs, agent_dirs

from agents.jobs import dispatch
from agents.machines import Engine
from agents.models import Agent, EnrolmentCode
from agents.models import ObserverOrder as Order
from agents.plans import schedule
from agents.plans.plan import Plan
from runs.models import Run
from runs.models.choices import RunState
from runs.run import series
from tests.benchagent.conftest import dirs, toolchain
from tests.benchagent.dbms.conftest import make_trial
from tests.benchagent.dbms.external.conftest import NAME, connect_to
from tests.benchagent.dbms.postgresql.conftest import engines_dir, make_postgresql
from tests.benchagent.fake_server import wait_until

__all__ = ["dirs", "engines_dir", "make_postgresql", "make_trial", "toolchain"]
pytestmark = [pytest.mark.engines, pytest.mark.django_db(transaction=True)]
WARM_UP_S, DURATION_S = 4, 8
# What a server is seen to be busy with; as fast as it goes would take the machine from the tests beside this one.
RATE_PER_S = 200
# The same for whoever waits: each look is some queries.
EVERY_S = 0.25
Start = Callable[[AgentDirs, str], None]


@pytest.fixture
def start(live_server: Any, tmp_path: Path, toolchain: JavaToolchain) -> Iterator[Start]:
    """Start an agent that is approved at once, and wait until it is registered."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(state: AgentDirs, name: str) -> None:
        code = tmp_path / f"{name}.code"
        code.touch(mode=0o600)
        code.write_text(EnrolmentCode.issue())
        state.cache.rmdir()
        state.cache.symlink_to(toolchain.folder)
        words = ["run", "--server", live_server.url, "--name", name, "--code-file", str(code)]
        started.append(
            subprocess.Popen([sys.executable, "-m", "benchagent", *words, "--state", str(state.root)], stderr=-3)
        )

    yield begin
    for child in started:
        child.kill()
        child.wait()


def handed_out(done: Callable[[], Any]) -> Callable[[], Any]:
    """As the worker does: give runs to agents until `done`."""

    def look() -> Any:
        dispatch.assign_queued()
        return done()

    return look


def test_its_samples_are_series_of_the_run_with_the_offset_of_the_clocks(
    start: Start, dirs: AgentDirs, make_postgresql: Any, tmp_path: Path, client: Any
):
    trial = make_postgresql()
    connect_to(trial, dirs)
    Connections(dirs.root).pair(NAME, "db1/pg")
    beside = agent_dirs(tmp_path / "observer").create()
    pid_file = tmp_path / "server.pid"
    pid_file.write_text(f"{trial.instance.server_pids()[0]}\n/some/data\n")
    Observations(beside.root).add(Observation("pg", pid_file=str(pid_file), data_dir=str(tmp_path)))
    start(beside, "db1")
    start(dirs, "load1")
    wait_until(lambda: Agent.objects.filter(last_seen_at__isnull=False).count() == 2, 120, EVERY_S)

    window = {"warm_up_s": WARM_UP_S, "duration_s": DURATION_S, "rate_per_s": RATE_PER_S}
    factors = {"scale_factor": 1, "terminals": 2, **window}
    plan = Plan("tpcb", (Engine("postgresql", trial.version, NAME),), factors)
    wait_until(
        lambda: [engine for agent in Agent.objects.all() for engine in agent.engines if "observed_by" in engine],
        120,
        EVERY_S,
    )
    run = schedule.start(plan, user=None).runs.get()
    wait_until(handed_out(lambda: Order.objects.filter(pk=run.pk, closed_at__isnull=False).exists()), 120, EVERY_S)
    wait_until(lambda: Run.objects.get(pk=run.pk).state in (RunState.FINISHED, RunState.FAILED), 120, EVERY_S)

    run.refresh_from_db()
    assert run.state == RunState.FINISHED, run.message
    assert run.hardware is not None
    cpu = dict(series.read(run, "server_cpu_cores").points())
    seconds = list(range(WARM_UP_S, WARM_UP_S + DURATION_S))
    measured = [cpu[second] for second in seconds if cpu.get(second) is not None]
    assert measured, cpu
    assert max(measured) > 0.02, cpu
    assert max(cpu) <= seconds[-1]
    # A second that a busy machine was late for is a gap and said, never a number.
    part = f"the server was sampled in {len(measured)} of {DURATION_S} measured seconds"
    warnings = [warning for warning in run.warnings if "sampled" in warning]
    assert warnings == ([] if len(measured) == DURATION_S else [part])
    assert all(value is None or value > 2**20 for value in series.read(run, "server_rss_bytes").values)
    assert {"server_machine_cpu_percent", "disk_write_iops"} <= {sampled.name for sampled in series.read_all(run)}
    assert run.measurements.get(metric__name="server_cpu_cores").value == pytest.approx(fmean(measured))

    told = run.statistics["observer"]
    assert (told["agent"], told["observation"]) == ("db1", "pg")
    assert 0 < told["clock_uncertainty_s"] < 0.5
    # Both agents have one clock, this machine's.
    assert abs(told["clock_offset_s"]) <= told["clock_uncertainty_s"]
    page = client.get(run.get_absolute_url()).content.decode()
    assert "agent db1 on its machine (pg)" in page
    agents = client.get("/agents/").content.decode()
    assert "observed by db1/pg" in agents
