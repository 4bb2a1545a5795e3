from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from benchagent import workloads
from benchagent.catalog import WORKLOADS
from django.utils import timezone

from agents.machines import Engine
from agents.plans import estimate, schedule
from agents.plans.estimate import about
from agents.plans.plan import Plan
from runs.models import Run
from runs.models.choices import RunState
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
A, B = "sqlite:3.50.1", "derby:10.16.1.1"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2, "about 5 seconds"),
        (52, "about 50 seconds"),
        (100, "about 2 minutes"),
        (290, "about 5 minutes"),
        (3600, "about 60 minutes"),
        (7200, "about 2 hours"),
        (9100, "about 2 hours 30 minutes"),
        (3 * 86_400, "about 3 days"),
    ],
)
def test_it_says_times_as_people_do(seconds, words):
    assert about(seconds) == words


def test_it_guesses_by_a_stated_rate_where_nothing_has_run():
    """Scale 1 is 100,000 rows: 2 s at 50,000 rows/s, 4 s around, 2 s warm-up, 5 s window."""
    found = estimate.estimate(plan_of(A, B, repeats=2))
    assert (found.runs, found.seconds) == (4, 4 * (2 + 4 + 2 + 5))
    assert found.words == "4 runs, about 50 seconds"
    assert (
        found.basis == "Load time guessed at 50,000 rows/s for SQLite 3.50.1, Apache Derby 10.16.1.1: "
        "no earlier run of this workload at this size."
    )


def test_it_tells_the_space_of_a_large_plan_in_gb_as_the_agent_asks_for_it():
    """10,000 branches of 15.4 MB, and 1.5 times as much for logs and copies: as the agent asks for."""
    plan = plan_of("postgresql:15.18")
    factors = {**plan.factors, "scale_factor": 10_000}
    found = estimate.estimate(replace(plan, factors=factors))
    assert found.words.endswith(", about 386 GB of space, of which the data take 154 GB")
    asked = workloads.workload("tpcb", "1")
    assert found.space_bytes == asked.disk_bytes(asked.factors(factors, "postgresql"))


@pytest.mark.parametrize(("warm_up_s", "warned"), [(1, True), (10, False)])
def test_a_warm_up_that_is_short_is_warned_of(warm_up_s, warned):
    """Was: the help of the form says 10 s, and its preview nothing of 1 s."""
    plan = plan_of(A)
    found = estimate.estimate(replace(plan, factors={**plan.factors, "warm_up_s": warm_up_s}))
    assert ["A warm-up of 1 s is short" in line for line in found.warnings] == [True] * warned
    swept = {name: value for name, value in plan.factors.items() if name != "warm_up_s"}
    assert estimate.estimate(replace(plan, factors=swept, sweep={"warm_up_s": (30, warm_up_s)})).warnings == (
        found.warnings
    )


def test_it_counts_each_backup_and_one_restore_of_a_cell():
    """300 MB: 36 s for the first load, then for each of two repeats 5 s of backup and 4 s around; 6 s of restore."""
    factors = {"dataset_mb": 300, "data_origin": "restored"}
    plan = Plan(workload="backup", engines=(Engine("firebird", "3.0"),), factors=factors, repeats=2)
    found = estimate.estimate(plan)
    assert found.seconds == 36 + 2 * (5 + 4) + 6
    assert "backups at 60 MB/s, one restore at 50 MB/s for Firebird 3.0: no earlier run of this workload" in found.basis


def test_it_learns_from_earlier_runs_of_the_same_engine_and_scale(machine):
    machine()
    started = timezone.now() - timedelta(hours=1)
    for taken_s in (27, 37, 97):
        run = schedule.start(plan_of(A), user=None).runs.get()
        Run.objects.filter(pk=run.pk).update(
            state=RunState.FINISHED, started_at=started, finished_at=started + timedelta(seconds=taken_s)
        )
    found = estimate.estimate(plan_of(A))
    assert (found.words, found.seconds) == ("1 run, about 35 seconds", 37)
    assert found.basis == "From earlier runs of the same engines at this scale."
    other_scale = Plan(**{**plan_of(A).__dict__, "factors": {**plan_of(A).factors, "scale_factor": 2}})
    assert estimate.estimate(other_scale).guessed == ("SQLite 3.50.1",)
    assert estimate.estimate(plan_of(B)).guessed == ("Apache Derby 10.16.1.1",)
    Run.objects.update(invalid_at=timezone.now(), invalid_reason="the disk was full")
    assert estimate.estimate(plan_of(A)).guessed == ("SQLite 3.50.1",)


def test_a_run_of_another_size_takes_as_long_around_its_load_as_its_siblings(machine):
    """Seen: "about 45 seconds left" of three runs of twice the data, where three of the smaller took two minutes."""
    machine()
    started = timezone.now() - timedelta(hours=1)
    sizes = replace(plan_of(A), sweep={"scale_factor": (1, 10)})
    first, second = schedule.start(sizes, user=None).runs.order_by("order_index").select_related("job", "owner")
    of_nothing = estimate.before_window_s(second)
    Run.objects.filter(pk=first.pk).update(
        state=RunState.FINISHED, started_at=started,
        finished_at=started + timedelta(seconds=40 + estimate.window_s(first.job.spec["factors"])),
    )  # fmt: skip
    assert estimate.before_window_s(first) == 40
    nine_more_s = 9 * WORKLOADS["tpcb"].size_factor.rows_each / estimate.LOAD_ROWS_PER_S
    assert estimate.before_window_s(second) == pytest.approx(40 + nine_more_s)
    assert of_nothing < 40
