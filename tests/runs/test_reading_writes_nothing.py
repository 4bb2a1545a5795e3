"""On SQLite a transaction takes the only write lock, so no GET may open one."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.runs.builders import document, store_upload

WRITING = re.compile(r"^\s*(BEGIN|SAVEPOINT|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b", re.IGNORECASE)


def writing(queries: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in queries.captured_queries if WRITING.match(query["sql"])]


# {…}: of a stored run.
READ = (
    "/", "/runs/", "/runs/{run}/", "/runs/{run}/?part=state", "/runs/{run}/series.csv", "/compare/", "/publications/",
    "/agents/", "/schedule/", "/login/", "/configs/", "/configs/{config}/", "/configs/diff/?config={config}", "/dbms/",
    "/dbms/{dbms}/", "/api/v1/runs/", "/api/v1/runs/?workload=nobody",
    "/api/v1/runs/?workload=pgbench-tpcb&dbms=postgresql&ordering=-value&q=x&factor.disk=nvme",
    "/api/v1/runs/{run}/", "/api/v1/runs/{run}/series/?after=1", "/api/v1/results/", "/api/schema/?format=json",
    "/api/docs/",
)  # fmt: skip


@pytest.fixture
def run(transactional_db):
    return store_upload(document=document(), token=None).runs[0]


@pytest.mark.parametrize("who", ["stranger", "token", "session"])
def test_a_get_opens_no_transaction(client, run, bearer, operator, who):
    headers = bearer("read", "upload") if who == "token" else {}
    if who == "session":
        client.force_login(operator)
    written = {}
    for path in READ:
        address = path.format(run=run.pk, config=run.config.slug, dbms=run.dbms_version.dbms.slug)
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address, headers=headers)
            assert response.status_code not in (404, 500), address
        written[address] = writing(queries)
    assert {address: found for address, found in written.items() if found} == {}


def test_the_watcher_sees_a_transaction(client, run, bearer):
    headers = bearer("upload")
    with CaptureQueriesContext(connection) as queries:
        client.post("/api/v1/results/", document(), content_type="application/json", headers=headers)
        client.post(f"/api/v1/runs/{run.pk}/restore/", headers=headers)
        store_upload(document=document(id="7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a12"), token=None)
        # Uploaded rows go by COPY on PostgreSQL, which is not among the captured statements.
        client.patch(f"/api/v1/runs/{run.pk}/", {"note": "seen"}, content_type="application/json", headers=headers)
    assert any(sql.startswith("BEGIN") for sql in writing(queries))
    assert any(sql.startswith("UPDATE") for sql in writing(queries))


def test_of_all_gets_only_a_long_address_writes_and_once(client, transactional_db):
    """Its list of runs gets a short id (`runs.compare.select.shortened`); whoever asks again only reads."""
    long = "/compare/?" + "&".join(f"run={UUID(int=number)}" for number in range(100))
    written = []
    for path in (long, long, client.get(long)["Location"]):
        with CaptureQueriesContext(connection) as queries:
            client.get(path)
        written.append(bool(writing(queries)))
    assert written == [False, False, False]
    with CaptureQueriesContext(connection) as queries:
        client.get(f"{long}&run={UUID(int=100)}")
    assert [sql.split()[0] for sql in writing(queries)].count("INSERT") == 1
