"""The best results of a machine: what is ranked against each other is one question."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from runs.dbms import rankings
from runs.machines import best_results
from runs.models import Run
from tests.runs.cells import machine, make_run

pytestmark = pytest.mark.django_db
VISITOR = AnonymousUser()


def test_sizes_of_a_workload_are_not_ranked_against_each_other():
    for system, size, tps in (("SQLite 3", 1, 9000), ("SQLite 3", 100, 500), ("MySQL 8", 100, 800)):
        make_run(system, tps, on=machine(), factors={"scale_factor": size, "terminals": 4})
    best = best_results(machine(), VISITOR)
    assert [(row.factors, row.dbms, row.value) for row in best] == [
        ((("scale_factor", "1"),), "SQLite 3", 9000),
        ((("scale_factor", "100"),), "MySQL 8", 800),
        ((("scale_factor", "100"),), "SQLite 3", 500),
    ]


def test_a_dbms_ranks_its_versions_at_each_size():
    for version, size, tps in (("8.0", 1, 9000), ("8.4", 100, 500), ("8.0", 100, 800)):
        make_run(f"MySQL {version}", tps, factors={"scale_factor": size})
    ranked = rankings(Run.objects.listed_for(VISITOR))
    assert [[(row.dbms, row.value) for row in results] for results in ranked] == [
        [("MySQL 8.0", 9000)], [("MySQL 8.0", 800), ("MySQL 8.4", 500)],
    ]  # fmt: skip


def test_a_condition_that_differs_is_told_of_the_best():
    for terminals, tps in ((4, 100), (16, 300), (64, 200)):
        make_run("SQLite 3", tps, on=machine(), factors={"scale_factor": 1, "terminals": terminals})
    (best,) = best_results(machine(), VISITOR)
    assert (best.value, best.runs, best.conditions) == (300, 3, "16 terminals")


def test_windows_of_lengths_without_a_ratio_are_not_ranked():
    for duration_s, tps in ((1, 900), (60, 100)):
        make_run("SQLite 3", tps, on=machine(), factors={"scale_factor": 1, "duration_s": duration_s})
    assert [(row.value, row.runs) for row in best_results(machine(), VISITOR)] == [(900, 1), (100, 1)]


def test_a_row_leads_to_its_own_runs(client):
    for size in (1, 100):
        make_run("SQLite 3", 1000 / size, on=machine(), factors={"scale_factor": size})
    small = best_results(machine(), VISITOR)[0]
    assert client.get(f"/api/v1/runs/?{small.query}").json()["count"] == 1
    assert small.query.replace("&", "&amp;") in client.get("/hardware/bench-one/").content.decode()


def test_a_best_result_that_must_not_be_trusted_is_marked_as_in_lists_and_leads_to_its_run(client):
    for system, tps in (("SQLite 3", 900), ("SQLite 3", 800), ("MySQL 8", 700)):
        run = make_run(system, tps, on=machine(), factors={"scale_factor": 1})
        if tps == 900:
            run.checks = [{"name": "machine_alone", "ok": False, "detail": "Others took 3 of 8 cores."}]
            run.save()
    best = best_results(machine(), VISITOR)
    assert [(row.value, [word for word, _ in row.run.doubts]) for row in best] == [(900, ["disturbed"]), (700, [])]
    for url in ("/hardware/bench-one/", "/dbms/sqlite/"):
        (cell,) = (
            cell
            for cell in client.get(url).content.decode().split("<td")
            if 'data-label="Best"' in cell and ">900" in cell
        )
        assert 'data-doubt="disturbed"' in cell and best[0].run.get_absolute_url() in cell
