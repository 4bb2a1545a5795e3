"""From a filtered list into a comparison: which of its tests is meant, where it holds several."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict

from runs.compare.entering import entry
from tests.runs.cells import machine, make_run, workload

pytestmark = pytest.mark.django_db


def found(query: str) -> Any:
    return entry(QueryDict(query, mutable=True), AnonymousUser())


def test_one_test_leads_straight_to_its_comparison(client):
    for system in ("SQLite 3", "MySQL 8"):
        make_run(system, 100, on=machine(), factors={"scale_factor": 10})
    make_run("SQLite 3", 1, factors={"scale_factor": 20})
    answer = client.get("/compare/which/?hardware=bench-one")
    assert (answer.status_code, answer.url) == (302, f"/compare/?hardware=bench-one&workload={workload().slug}")


def test_workloads_and_sizes_are_counted_and_each_leads_to_its_own_runs(client):
    for size in (1, 1, 10):
        make_run("SQLite 3", 100, on=machine(), factors={"scale_factor": size})
    make_run("SQLite 3", 100, on=machine(), of=workload("TPC-C"), factors={"warehouses": 5})
    make_run("SQLite 3", None, on=machine(), state="failed")
    tests = found("hardware=bench-one").tests
    assert [(test.runs, [size.runs for size in test.sizes]) for test in tests] == [(3, [2, 1]), (1, [1])]
    page = client.get("/compare/which/?hardware=bench-one").content.decode()
    for test in (*tests, *tests[0].sizes):
        assert test.query.replace("&", "&amp;") in page
        assert client.get(f"/api/v1/runs/?{test.query}&status=finished").json()["count"] == test.runs


def test_it_says_what_else_matches_and_counts_nowhere(client):
    """Seen: "Compare all 389 runs", a choice of 386, and not a word of the three that are missing."""
    for size in (1, 10):
        make_run("SQLite 3", 100, on=machine(), factors={"scale_factor": size})
    for state in ("failed", "failed", "cancelled"):
        make_run("SQLite 3", None, on=machine(), state=state)
    make_run("SQLite 3", 90, on=machine(), invalid_at="2026-11-01T00:00:00Z", invalid_reason="a backup ran")
    make_run("SQLite 3", None, state="failed")
    assert found("hardware=bench-one").uncounted == {"failed": 2, "cancelled": 1, "invalid": 1}
    page = client.get("/compare/which/?hardware=bench-one").content.decode()
    assert "Others that match count nowhere: 2 failed, 1 cancelled, 1 invalid." in page


def test_runs_that_state_no_size_have_no_address_of_their_own():
    make_run("SQLite 3", 100, factors={})
    make_run("SQLite 3", 100, factors={"scale_factor": 10})
    (test,) = found("dbms=sqlite").tests
    assert sorted((bool(size.query), size.runs) for size in test.sizes) == [(False, 1), (True, 1)]


def test_it_says_what_was_not_understood_and_that_there_is_nothing(client):
    assert client.get("/compare/which/?nonsense=1").status_code == 400
    assert client.get("/compare/which/?dbms=sqlite").status_code == 200
    assert found("dbms=sqlite").tests == []


def test_lists_and_machines_lead_there(client):
    make_run("SQLite 3", 100, on=machine())
    assert 'href="/compare/which/?dbms=sqlite"' in client.get("/runs/?dbms=sqlite").content.decode()
    assert "data-compare-all" not in client.get("/runs/").content.decode()
    assert 'href="/compare/which/?hardware=bench-one"' in client.get("/hardware/bench-one/").content.decode()


def test_a_comparison_of_several_workloads_offers_to_choose_one(client):
    for name in ("TPC-B", "TPC-C"):
        for system in ("SQLite 3", "MySQL 8"):
            make_run(system, 100, of=workload(name))
    page = page_of(client, "status=finished")
    assert "These runs are of 2 tests" in page and 'href="/compare/which/?status=finished">Which test?' in page
    for name in ("TPC-B", "TPC-C"):
        assert f'href="?status=finished&amp;workload={workload(name).slug}">{workload(name)} (2 runs)</a>' in page
    assert "/compare/which/" not in page_of(client, f"workload={workload('TPC-C').slug}")
    # Two sets were put beside each other by somebody who knows their tests.
    assert "/compare/which/" not in page_of(client, "set=dbms%3Dsqlite&set=dbms%3Dmysql")


def page_of(client, query: str) -> str:
    return client.get(f"/compare/?{query}").content.decode()
