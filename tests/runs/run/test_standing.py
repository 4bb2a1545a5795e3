"""A run against the other repeats of its batch."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from runs.models import Run
from runs.run.number import primary_number
from runs.run.standing import of_run, run_before, standing
from tests.runs.cells import make_run


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
