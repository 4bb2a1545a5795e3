"""A run against the other repeats of its batch."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from runs.models import Experiment, Run
from runs.run.number import primary_number
from runs.run.standing import cell_keys, of_run, run_before, standing
from tests.runs.cells import machine, make_run, make_runs


@pytest.mark.parametrize(
    ("value", "others", "better", "kind", "words"),
    [
        (500, [], "higher", "alone", "in its batch"),
        (500, [498], "higher", "few", "1 other repeat: 498 TPS"),
        (500, [498, 512, 505], "higher", "alike", "−1.0\u202f% from 3 other repeats: 498–512 TPS"),
        (412, [498, 512, 505], "higher", "worse", "−18.4\u202f% from 3 other repeats: 498–512 TPS"),
        (412, [498, 512, 505], "lower", "better", "−18.4\u202f% from 3 other repeats: 498–512 TPS"),
        (412, [498, 512, 505], "none", "apart", "−18.4\u202f% from 3 other repeats: 498–512 TPS"),
        (0, [498, 512, 505], "higher", "few", "3 other repeats: 498–512 TPS"),
        (500, [500, 500, 500], "higher", "alike", "0.0\u202f% from 3 other repeats: 500 TPS"),
    ],
)
def test_a_repeat_is_unlike_its_batch_only_beyond_where_the_next_one_would_fall(value, others, better, kind, words):
    said = standing(value, others, unit="TPS", better=better)
    assert (said.kind, said.words) == (kind, words)


@pytest.mark.django_db
def test_it_tells_nothing_of_repeats_that_are_less_public():
    run = make_run("SQLite 3.53", 500, repeat=1)
    for repeat in (2, 3, 4):
        make_run("SQLite 3.53", 505, repeat=repeat, visibility="unlisted")
    run = Run.objects.for_lists().get(pk=run.pk)
    assert of_run(run, primary_number(run), AnonymousUser()).kind == "alone"
    assert run_before(Run.objects.get(repeat=4), AnonymousUser()) == run
    Run.objects.filter(pk=run.pk).update(visibility="unlisted")
    assert run_before(Run.objects.get(repeat=4), AnonymousUser()) is None


@pytest.mark.django_db
def test_repeats_of_a_plan_are_found_under_the_keys_of_all_of_them():
    """Seen: "No run has a number of this" of repeat 2, which never began, beside repeat 1 with 355 TPS."""
    vm, other, plan = machine("vm"), machine("other"), Experiment.objects.create(slug="plan", name="Plan")
    begun, never, elsewhere, at_one = make_runs(
        {"system": "MariaDB 11.4", "experiment": plan, "state": state, "on": on, "factors": {"terminals": terminals}}
        for state, on, terminals in (
            ("finished", vm, 4), ("cancelled", None, 4), ("finished", other, 4), ("finished", vm, 1),
        )
    )  # fmt: skip
    assert len({run.cell_key for run in (begun, never, elsewhere, at_one)}) == 4
    assert cell_keys(begun) == [begun.cell_key, never.cell_key]
    assert {*cell_keys(never)} == {never.cell_key, begun.cell_key, elsewhere.cell_key}
