"""What SQLite does for each list: it has no statistics on a site either, so that an empty table shows the plan.

A list goes through the runs in an index's order and stops, or looks up what is rare; it reads and sorts no table.
"""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Batch, Run, User
from runs.models.choices import RunState
from tests.runs.cells import machine, make_run

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.any_database,  # of SQLite's leg alone
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL plans by what it has counted"),
]
# Small tables are read whole, whatever their aliases.
TABLES = r"(runs_run|runs_measurement|runs_runfactor|runs_runstorage)\b"
SORTS = re.compile(r"USE TEMP B-TREE FOR ORDER BY")


def plans(client, address: str) -> list[tuple[str, list[str]]]:
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    asked = [query["sql"] for query in queries.captured_queries if 'FROM "runs_run"' in query["sql"]]
    told = []
    with connection.cursor() as cursor:
        for statement in asked:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
            told.append((statement, [row[-1] for row in cursor.fetchall()]))
    return told


@pytest.mark.parametrize(
    "address",
    [
        "/", "/runs/", "/runs/?hardware=bench-one", "/runs/?dbms=sqlite", "/runs/?ordering=-value",
        "/runs/?ordering=value", "/runs/?ordering=-started_at", "/runs/?ordering=started_at", "/runs/?above=5",
        "/hardware/", "/api/v1/runs/", "/api/v1/runs/?ordering=-value",
        "/api/v1/runs/?ordering=value&page=2&page_size=1",
    ],
)  # fmt: skip
def test_a_list_reads_an_index_in_its_order(client, address):
    for repeat in (1, 2):
        make_run("SQLite 3.53", 1, on=machine(), repeat=repeat)
    for statement, plan in plans(client, address):
        scans = [line for line in plan if re.match(rf"SCAN {TABLES}", line)]
        assert all("USING" in line for line in scans), (statement, plan)
        assert not (scans and any(map(SORTS.match, plan))), (statement, plan)


@pytest.mark.parametrize(
    "address",
    ["/runs/?label=tuned", "/runs/?tag=rare", "/runs/?factor.scale_factor=10", "/runs/?above.tps=1",
     "/runs/?measured_from=2026-01-01&measured_to=2026-01-02"],
)  # fmt: skip
def test_a_rare_thing_is_looked_up(client, address):
    run = make_run("SQLite 3.53", 1)
    Batch.objects.filter(pk=run.batch_id).update(label="tuned", tags="rare")
    for statement, plan in plans(client, address):
        assert not [line for line in plan if re.match(rf"SCAN {TABLES}", line)], (statement, plan)


@pytest.mark.parametrize(
    "query",
    ["workload=made&dbms=sqlite", "dbms=sqlite&dbms=postgresql", "hardware=bench-one&dbms=sqlite", "status=finished",
     "provenance=measured", "owner=somebody", "above=0&below=9", "measured_from=2000-01-01"],
)  # fmt: skip
def test_what_many_have_is_read_from_the_list_s_own_index(client, monkeypatch, query):
    """SQLite would look up and sort all that have it."""
    monkeypatch.setattr("runs.listing.cursor.COUNT_LIMIT", 1)
    owner = User.objects.create(username="somebody")
    for repeat in (1, 2, 3):
        run = make_run("SQLite 3.53", repeat, on=machine(), repeat=repeat, measured_on="2026-01-01", owner=owner)
    Run.objects.update(primary_value=1)
    page = [plan for statement, plan in plans(client, f"/runs/?{query.replace('made', run.workload.slug)}")
            if 'ORDER BY "runs_run"."created_at" DESC' in statement and "LIMIT" in statement]  # fmt: skip
    assert page
    assert all(plan[0] == "SCAN runs_run USING COVERING INDEX run_newest" for plan in page), page


def test_one_machine_s_runs_are_read_in_their_order(client, monkeypatch):
    """Those of one that is long gone too: going through all would pass every newer run."""
    monkeypatch.setattr("runs.listing.cursor.COUNT_LIMIT", 1)
    for repeat in (1, 2, 3):
        make_run("SQLite 3.53", repeat, on=machine(), repeat=repeat)
    page = next(plan for statement, plan in plans(client, "/runs/?hardware=bench-one")
                if 'ORDER BY "runs_run"."created_at" DESC' in statement and "LIMIT" in statement)  # fmt: skip
    assert page == [
        "SEARCH runs_run USING INDEX run_newest_of_hardware (hardware_id=?)",
        "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY",
    ]


@pytest.mark.parametrize("query", ["above.tps=0", "factor.scale_factor=10"])
def test_of_what_many_have_each_run_s_own_rows_are_looked_up(client, monkeypatch, query):
    """SQLite would go through all values above a bound for every run."""
    monkeypatch.setattr("runs.listing.cursor.COUNT_LIMIT", 1)
    for repeat in (1, 2, 3):
        make_run("SQLite 3.53", repeat, repeat=repeat)
    looked_up = [line for _, plan in plans(client, f"/runs/?{query}") for line in plan if "SEARCH U0" in line]
    assert looked_up
    assert all("(run_id=?" in line for line in looked_up if "_run" in line), looked_up


def test_a_rare_level_of_a_factor_is_looked_up(client):
    make_run("SQLite 3.53", 1)
    with CaptureQueriesContext(connection) as queries:
        client.get("/runs/?factor.scale_factor=10")
    counted = [query["sql"] for query in queries if "COUNT(*)" in query["sql"] and "runfactor" in query["sql"]]
    for statement in counted[:2]:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
            plan = [row[-1] for row in cursor.fetchall()]
        assert any("(name=? AND" in line for line in plan), plan


def test_the_finished_runs_are_no_rare_thing():
    """SQLite took the index of their state, and sorted them all."""
    newest = Run.objects.with_values().order_by("-created_at").values("pk")[:10]
    statement, params = newest.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}", params)
        plan = [row[-1] for row in cursor.fetchall()]
    assert RunState.FINISHED in params
    assert plan == ["SCAN runs_run USING COVERING INDEX run_newest"]


def test_a_cell_is_found_by_the_beginning_of_its_key(client):
    run = make_run("SQLite 3.53", 1)
    for statement, plan in plans(client, f"/compare/?cell={run.cell_key[:12]}"):
        if "cell_key" in statement.partition("WHERE")[2]:
            assert any("runs_run_cell_key" in line for line in plan), (statement, plan)
