"""`manage.py experiments`, with a test in the part of the agent: it works whenever the command waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from agents.jobs import dispatch
from agents.models import Job
from benchsite.management.commands import experiments as command
from runs.models import Experiment
from tests.agents.conftest import Machine, facts_of, finish_item

pytestmark = pytest.mark.django_db
GROUP_COMMIT = ("tpcb-2010", "--part=group-commit")
SIZES = ("firebird-terabyte-2015", "--part=sizes", "--dry-run")
SLOW = {
    "name": "slow", "device": "loop7", "disks": ["vda"], "medium": "virtual", "model": None, "bus": None,
    "capacity_bytes": 1, "free_bytes": 1, "emulated": "emulated: 80 MB/s", "problem": "",
}  # fmt: skip


@pytest.fixture
def waits(monkeypatch) -> Callable[[Callable[[], object]], None]:
    """`waits(work)`: where the command would sleep, `work` is done."""

    def instead(work: Callable[[], object]) -> None:
        sleepless = SimpleNamespace(sleep=lambda _seconds: work(), monotonic=time.monotonic)
        monkeypatch.setattr(command, "time", sleepless)

    return instead


def told(*arguments: str) -> str:
    screen = StringIO()
    call_command("experiments", *arguments, stdout=screen)
    return screen.getvalue()


def one_run(bench: Machine, end: Callable[[dict[str, object]], dict[str, object]]) -> None:
    """Fetch the next run and end it by what `end` makes of its factors."""
    dispatch.assign_queued()
    run_id = bench.poll().json()["job"]
    token = bench.claim(run_id).json()["job_token"]
    answer = bench.batch(run_id, token, 1, end(Job.objects.get(pk=run_id).spec["factors"]))
    assert answer.status_code == 200


def measured(name: str, value: float) -> dict[str, object]:
    return finish_item(metrics=[{"name": name, "value": value, "phase": "run"}])


def test_a_dry_run_tells_parts_gaps_and_times_and_starts_nothing(machine):
    machine("bench1", "postgresql:15.20", "sqlite:3.50.1")
    said = told("tpcb-2010", "--quick", "--dry-run")
    assert "engines: engines of then and now: 2 runs, about " in said
    assert "    gap: MySQL 5.5: " in said
    assert "    gap: DB2 9.7: " in said
    assert "memory: in memory: a class of its own: nothing can be run" in said
    assert "all together about " in said
    assert not Experiment.objects.exists()


def test_it_knows_its_publications():
    with pytest.raises(CommandError, match="no experiment of tpcb-2011; there are: gbak-backup-2007, tpcb-2010"):
        told("tpcb-2010", "tpcb-2011")


def test_it_waits_for_the_runs_and_names_each_cell_by_all_in_which_cells_differ(machine, waits):
    bench = machine("bench1", "postgresql:15.20")
    rates = {"on": 900.0, "off": 5_000.0}
    waits(lambda: one_run(bench, lambda factors: measured("tps", rates[str(factors["background_maintenance"])])))
    said = told(*GROUP_COMMIT)
    without, medians = said.partition("\nmedians\n")[::2]
    name = "TPC-B: group commit, and background maintenance"
    base, apart = (f"PostgreSQL 15.20 · maintenance {state} · no commit group" for state in ("on", "off"))
    assert without.count(f"/12] {name}: {base}: finished 900\n") == 3
    assert without.count(f"/12] {name}: {apart}: finished 5000\n") == 3
    lines = medians.splitlines()
    assert lines[0] == f"{name}  {Experiment.objects.get().get_absolute_url()}"
    assert sorted(lines[1:]) == [
        f"    {apart}: 5000 TPS (3 of 3 runs)",
        "    PostgreSQL 15.20 · maintenance on · commit group 2: 900 TPS (3 of 3 runs)",
        "    PostgreSQL 15.20 · maintenance on · commit group 3: 900 TPS (3 of 3 runs)",
        f"    {base}: 900 TPS (3 of 3 runs)",
    ]


def test_a_run_that_fails_is_told_and_fails_the_command(machine, waits):
    bench = machine("bench1", "postgresql:15.20")

    def end(factors: dict[str, object]) -> dict[str, object]:
        full = factors["group_commit"] == "3"
        return finish_item("failed", "the disk is full", metrics=[]) if full else measured("tps", 900.0)

    waits(lambda: one_run(bench, end))
    screen = StringIO()
    with pytest.raises(CommandError, match="not every run has finished"):
        call_command("experiments", *GROUP_COMMIT, "--quick", stdout=screen)
    cell = "PostgreSQL 15.20 · maintenance on · commit group 3"
    assert f"{cell}: failed the disk is full\n" in screen.getvalue()
    assert f"    {cell}: no value: failed: the disk is full\n" in screen.getvalue()


def test_it_says_which_backups_were_measured_for_less_than_ten_seconds(machine, waits):
    bench = machine("bench1", "firebird:3.0.13")
    taken_s = {"gbak_tcp": 9.4, "gbak_local": 10.0}
    waits(lambda: one_run(bench, lambda factors: measured("backup_s", taken_s.get(str(factors["method"]), 12.0))))
    said = told("gbak-backup-2007", "--part=methods-superclassic", "--quick")
    short = [line for line in said.splitlines() if line.endswith("measured for less than 10 s: raise dataset_mb")]
    assert short == [
        "    Firebird 3.0.13 · gbak over TCP: 9.4 s (1 of 1 runs); measured for less than 10 s: raise dataset_mb"
    ]


def test_it_waits_until_an_agent_has_reported_what_was_made(machine, waits):
    bench = machine("bench1", "sqlite:3.50.1")
    reports = iter([{"places": [SLOW]}, {"engines": [facts_of("sqlite:3.50.1"), facts_of("firebird:3.0.13")]}])
    waits(lambda: bench.poll(**next(reports)))
    said = told(*SIZES, "--expect-engine=firebird:3.0.13", "--expect-storage=slow")
    assert "waiting up to 300 s: no agent has reported engine firebird:3.0.13, storage slow yet" in said
    assert "waiting up to 300 s: no agent has reported engine firebird:3.0.13 yet" in said
    assert "SuperServer: 18 runs, " in said
    assert not list(reports)


def test_it_gives_up_on_what_no_agent_reports(machine, monkeypatch):
    machine("bench1", "firebird:3.0.13")
    clock = iter(range(0, 1_000, 100))
    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=lambda _seconds: None, monotonic=lambda: next(clock)))
    with pytest.raises(CommandError, match="no agent has reported storage slow yet; one that works on a run"):
        told(*SIZES, "--expect-storage=slow")
