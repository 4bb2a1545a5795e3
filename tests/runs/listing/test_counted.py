"""Lists of what runs are about count them as far as a reader can use, however many are stored."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Config
from tests.runs.cells import machine, make_runs

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path", ["/dbms/", "/dbms/postgresql/", "/configs/", "/configs/ours/", "/hardware/", "/hardware/bench-one/"]
)
def test_it_counts_no_further_than_it_says(client, monkeypatch, path):
    ours = Config.objects.create(slug="ours", name="Ours")
    make_runs(
        {"system": f"PostgreSQL {16 + at % 2}", "value": 100 + at, "config": ours, "on": machine()} for at in range(8)
    )

    with CaptureQueriesContext(connection) as asked:
        exact = client.get(path).content.decode()
    counts = [query["sql"] for query in asked if "COUNT(*)" in query["sql"] and 'FROM "runs_run"' in query["sql"]]
    monkeypatch.setattr("runs.templatetags.show.MOST_COUNTED", 3)
    monkeypatch.setattr("runs.listing.cursor.COUNT_LIMIT", 3)
    beyond = client.get(path).content.decode()

    assert counts and all("LIMIT" in statement for statement in counts)
    assert "3+" in beyond and "3+" not in exact
