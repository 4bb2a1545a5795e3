"""What SQLite does for each list: it has no statistics on a site either, so that an empty table shows the plan.

A list goes through the runs in an index's order and stops, or looks up what is rare; it reads and sorts no table.
"""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Batch, Run
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
        "/runs/?ordering=value", "/runs/?above=5", "/hardware/", "/api/v1/runs/",
        "/api/v1/runs/?ordering=-value",
    ],
)  # fmt: skip
def test_a_list_reads_an_index_in_its_order(client, address):
    make_run("SQLite 3.53", 1, on=machine())
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


def test_the_finished_runs_are_no_rare_thing():
    """SQLite took the index of their state, and sorted them all."""
    newest = Run.objects.with_values().order_by("-created_at").values("pk")[:10]
    statement, params = newest.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}", params)
        plan = [row[-1] for row in cursor.fetchall()]
    assert RunState.FINISHED in params
    assert plan == ["SCAN runs_run USING INDEX run_newest"]


def test_a_cell_is_found_by_the_beginning_of_its_key(client):
    run = make_run("SQLite 3.53", 1)
    for statement, plan in plans(client, f"/compare/?cell={run.cell_key[:12]}"):
        if "cell_key" in statement.partition("WHERE")[2]:
            assert any("runs_run_cell_key" in line for line in plan), (statement, plan)
