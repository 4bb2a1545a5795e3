"""A plan and statements of PostgreSQL 15, made here, beside the file of a run: shown on its page, and no runs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.test import Client

from runs import imports
from runs.models import User

pytestmark = pytest.mark.django_db

HERE = Path(__file__).parent
RUN = "query,time_s\n1,0.5\n2,0.25\n3,0.125\n"


def stored(ada: User, **files: bytes):
    sent = [imports.Sent("times.csv", io.BytesIO(RUN.encode()))]
    sent += [imports.Sent(name, io.BytesIO(content)) for name, content in files.items()]
    taken, _ = imports.receive(files=sent, owner=ada)
    subject = {
        "hardware": {"name": "box"}, "dbms": {"name": "PostgreSQL", "version": "15.14"}, "workload": {"slug": "mine"},
    }  # fmt: skip
    runs, _ = imports.store(taken, subject=subject, owner=ada)
    return runs


def test_a_plan_and_statements_are_shown_on_the_page_of_the_run(client: Client):
    ada = User.objects.create_user("ada", password="x", role="contributor")
    plan, statements = (HERE / "explain.json").read_bytes(), (HERE / "pg_stat_statements.csv").read_bytes()
    (run,) = stored(ada, **{"plan.json": plan, "statements.csv": statements, "broken.json": b'[{"Plan": 5}]'})
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Plan: plan.json" in page
    assert "Sort" in page
    assert "· Aggregate" in page
    assert "Statements: statements.csv" in page
    assert "generate_series" in page
    assert "broken.json" not in page.split('id="attachments"')[1].split("</section>")[0]


def test_a_run_without_any_has_no_such_part(client: Client):
    (run,) = stored(User.objects.create_user("ada", password="x", role="contributor"))
    assert 'id="attachments"' not in client.get(run.get_absolute_url()).content.decode()
