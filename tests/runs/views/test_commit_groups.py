"""A sweep of commit groups: how many commits shared a flush, beside the throughput."""

from __future__ import annotations

import pytest

from runs.charts.experiment import commit_group_rows
from runs.compare.compare import compare
from runs.models import Experiment
from tests.runs.cells import add_number, all_runs, make_run

pytestmark = pytest.mark.django_db
# Throughput and commits per flush of each repeat, by the size of the groups.
SWEEP = {"off": [(100, 1.0), (120, 1.2)], "2": [(150, 1.8), (160, 1.9)], "3": [(180, None), (170, 2.6)]}


def sweep(factor: str = "group_commit", *, counted: bool = True) -> Experiment:
    experiment = Experiment.objects.create(slug="groups", name="Commit groups")
    for size, repeats in SWEEP.items():
        for repeat, (tps, shared) in enumerate(repeats, 1):
            run = make_run("PostgreSQL 15", tps, factors={factor: size}, experiment=experiment, repeat=repeat)
            if counted and shared is not None:
                add_number(run, shared, name="commits_per_flush", unit="commits")
    return experiment


def test_a_sweep_shows_how_many_commits_shared_a_flush(client):
    html = client.get(sweep().get_absolute_url()).content.decode()
    assert 'id="commit-groups"' in html
    found = [(median, commits) for _, median, commits in commit_group_rows(compare(all_runs()))]
    assert found == [(110, pytest.approx(1.1)), (155, pytest.approx(1.85)), (175, 2.6)]


def test_an_engine_that_counts_no_flushes_has_no_such_table():
    sweep(counted=False)
    assert commit_group_rows(compare(all_runs())) == []


def test_where_something_else_varies_there_is_no_such_table():
    sweep("terminals")
    assert commit_group_rows(compare(all_runs())) == []
