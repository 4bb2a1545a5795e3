"""Databases of earlier versions, with what stood in them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from runs.models import Run
from tests.runs.cells import make_run

BEFORE = [("runs", "0008_login_tries")]


class Steps(MigrationLoader):
    """As databases of earlier versions were made, and not all tables at once."""

    def load_disk(self) -> None:
        super().load_disk()
        self.disk_migrations = {key: each for key, each in self.disk_migrations.items() if not each.replaces}


def migrate(to: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.loader = Steps(connection)
    executor.migrate(to)
    return executor.loader.project_state(to).apps


@pytest.fixture
def before_batches(transactional_db: None) -> Iterator[Any]:
    latest = Steps(connection).graph.leaf_nodes()
    yield migrate(BEFORE)
    migrate(latest)


def test_every_stored_run_gets_the_batch_of_what_made_it(before_batches, monkeypatch):
    filling = import_module("runs.migrations.0010_batches_of_stored_runs")
    monkeypatch.setattr(filling, "AT_ONCE", 2)
    model = lambda name: before_batches.get_model("runs", name)  # noqa: E731
    workload = model("Workload").objects.create(slug="tpcb", name="TPC-B")
    dbms = model("Dbms").objects.create(slug="pg", name="PostgreSQL")
    version = model("DbmsVersion").objects.create(slug="pg-16", name="PostgreSQL 16", dbms=dbms)
    person = model("User").objects.create(username="ann")
    night = model("Experiment").objects.create(slug="night", name="Night", plan={"name": "Night"}, created_by=person)
    unnamed = model("Experiment").objects.create(slug="x", name="TPC-B: PostgreSQL", plan={"name": ""})
    sent = model("FileImport").objects.create(digest="1", parser_version=1, owner=person)
    of_import = [model("Upload").objects.create(digest="1", schema_version=1, file_import=sent) for _ in range(2)]
    upload = model("Upload").objects.create(digest="2", schema_version=1, owner=person)
    article = model("Publication").objects.create(slug="a", title_original="A", title_en="A", language="en")

    made: dict[UUID, UUID | None] = {}

    def runs(expected: UUID | None, count: int = 2, **columns: Any) -> None:
        for _ in range(count):
            run = model("Run").objects.create(workload=workload, dbms_version=version, **columns)
            made[run.pk] = expected or run.pk

    runs(night.pk, experiment=night, owner=person)
    runs(unnamed.pk, experiment=unnamed)
    for part in of_import:
        runs(sent.pk, 1, upload=part, owner=person)
    runs(upload.pk, 3, upload=upload, owner=person)
    runs(article.pk, publication=article)
    runs(None)

    after = migrate([("runs", "0011_every_run_has_a_batch")])
    stored = after.get_model("runs", "Run").objects.all()
    assert {run.pk: run.batch_id for run in stored} == made
    batches = {batch.pk: batch for batch in after.get_model("runs", "Batch").objects.all()}
    assert set(batches) == set(made.values()), "none without a run"
    assert [batches[pk].label for pk in (night.pk, unnamed.pk)] == ["Night", ""], "a name that nobody gave is no label"
    assert [batches[pk].owner_id for pk in (night.pk, sent.pk, article.pk)] == [person.pk, person.pk, None]


def test_stored_runs_at_a_fixed_rate_say_that_their_transactions_came_at_even_distances(db, monkeypatch):
    """Else they would be taken for runs of independent callers, whose queues are longer."""
    naming = import_module("runs.migrations.0014_arrivals_of_stored_runs")
    monkeypatch.setattr(naming, "AT_ONCE", 1)
    rated = [make_run("SQLite 3", 1, factors={"rate_per_s": 50}) for _ in range(3)]
    stated = make_run("SQLite 3", 1, factors={"rate_per_s": 50, "arrivals": "poisson"})
    closed, sent = make_run("SQLite 3", 1), make_run("SQLite 3", 1, factors={"rate_per_s": 5}, provenance="uploaded")
    for _ in range(2):
        naming.name_them(apps, None)
    assert [run.factor("arrivals") for run in Run.objects.filter(pk__in=[run.pk for run in rated])] == ["even"] * 3
    assert [run.factor("arrivals") for run in (stated, closed, sent)] == ["poisson", None, None]


def test_tables_made_step_by_step_are_those_made_at_once():
    """`makemigrations --check` asks the same of what makes them at once."""
    steps = Steps(None)
    detector = MigrationAutodetector(steps.project_state(), ProjectState.from_apps(apps))
    assert not detector.changes(graph=steps.graph)
