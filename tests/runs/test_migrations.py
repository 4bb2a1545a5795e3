"""Databases of earlier versions, with what stood in them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from uuid import UUID

from benchagent.catalog import METRICS
from django.apps import apps
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from runs.models import Measurement, Metric, Run
from runs.publications.document import Statements
from runs.publications.page.page import PageFile
from tests.runs.cells import make_run

# What stands in a database of one version, and what became of it in a later one, whose models it is sent.
Story = Generator[None, Any, None]


class Steps(MigrationLoader):
    """As databases of earlier versions were made, and not all tables at once."""

    def load_disk(self) -> None:
        super().load_disk()
        self.disk_migrations = {key: each for key, each in self.disk_migrations.items() if not each.replaces}


def migrate(*to: tuple[str, str]) -> Any:
    """To these, or to the latest; the models as they are then."""
    executor = MigrationExecutor(connection)
    executor.loader = Steps(connection)
    targets = [*to] or executor.loader.graph.leaf_nodes()
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


def drop_all_tables() -> None:
    with connection.schema_editor() as editor:
        for model in apps.get_models():
            editor.delete_model(model)
    MigrationRecorder(connection).flush()


def test_a_database_of_long_ago_comes_to_today_with_what_stood_in_it(transactional_db: None, monkeypatch):
    """One database goes all the way, since its steps take long."""
    monkeypatch.setattr(import_module("runs.migrations.0010_batches_of_stored_runs"), "AT_ONCE", 2)
    statements = ("runs", "0034_without_tables_of_statements")
    drop_all_tables()
    try:
        for story, before, after in (
            (every_stored_run_gets_the_batch_of_what_made_it,
             [("runs", "0008_login_tries")], [("runs", "0011_every_run_has_a_batch")]),
            (what_an_article_states_moves_into_its_row_and_is_read_as_before,
             [("runs", "0032_notices")], [statements]),
            (pauses_of_agents_and_of_the_queue_are_reservations, [("agents", "0012_bisections"), statements], []),
        ):  # fmt: skip
            told = story(migrate(*before))
            next(told)
            with suppress(StopIteration):
                told.send(migrate(*after))
    finally:
        migrate()


def every_stored_run_gets_the_batch_of_what_made_it(before: Any) -> Story:
    model = lambda name: before.get_model("runs", name)  # noqa: E731
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

    after = yield
    stored = after.get_model("runs", "Run").objects.all()
    assert {run.pk: run.batch_id for run in stored} == made
    batches = {batch.pk: batch for batch in after.get_model("runs", "Batch").objects.all()}
    assert set(batches) == set(made.values()), "none without a run"
    assert [batches[pk].label for pk in (night.pk, unnamed.pk)] == ["Night", ""], "a name that nobody gave is no label"
    assert [batches[pk].owner_id for pk in (night.pk, sent.pk, article.pk)] == [person.pk, person.pk, None]


def what_an_article_states_moves_into_its_row_and_is_read_as_before(before: Any) -> Story:
    model = lambda name: before.get_model("runs", name)  # noqa: E731
    formulas = ("tps / first_tps − 1", "tps × 60 / load_s", "median(tps)")
    columns = [{"label": "X", "formula": formula, "shown": "%"} for formula in formulas]
    table = {"title": "T", "columns": [{"label": "Y", "of": "#"}, *columns]}
    part = {"part": "curves", "id": "c", "workload_kind": "oltp", "figures": [], "table": table}
    article = model("Publication").objects.create(
        slug="stating", title_original="A", title_en="A", language="en", content={"page": {"parts": [part]}}
    )
    workload = model("Workload").objects.create(slug="w-2", name="W", source_id="w", publication=article)
    own = {"publication": article, "position": 1}
    sides = {"side_a": {"dbms": "x"}, "side_b": {"dbms": ["y", "z"]}, "summary": "more", "sense": "A faster"}
    model("Claim").objects.create(**own, source_id="c", metric="tps", details={"percent_range": [2, 4]}, **sides)
    model("Observation").objects.create(
        **own, metric="CPU", unit="%", value_text="2–4", details={"value_min": 2, "value_max": 4}, workload=workload
    )
    for position in (2, 1):
        model("MissingItem").objects.create(
            publication=article, position=position, source_id=f"m{position}", is_document=position == 2, content="it"
        )
    model("TableStat").objects.create(**own, table="stock", records=5)
    model("IndexStat").objects.create(**own, index="pk", table="stock", depth=3)
    number = {"name": "elapsed", "unit": "s", "value": 1.5, "as_printed": "1.5"}
    model("QueryStat").objects.create(**own, number=1, sql="SELECT 1", metrics=[number])
    model("Fact").objects.create(**own, provenance="inferred", title="t", how="h", details={"values": [{"a": 1}]})
    model("DataSchema").objects.create(**own, tables="t", columns=[{"name": "id"}], primary_key=["id"])

    after = yield
    content = after.get_model("runs", "Publication").objects.get(slug="stating").content
    (of_page,) = PageFile.model_validate(content["page"]).parts
    assert [(column.of, column.against, column.per, column.times) for column in of_page.table.columns] == [
        ("#", "", "", 1), ("tps", "first", "", 1), ("tps", "", "load_s", 60)
    ]  # fmt: skip
    stated = content["statements"]
    read = Statements.model_validate(stated)
    assert [(claim.id, claim.side_b, claim.details) for claim in read.claims] == [
        ("c", {"dbms": ["y", "z"]}, {"percent_range": [2, 4]})
    ]
    (seen,) = read.observations
    assert (seen.workload, seen.value_text, seen.value) == ("w", "2–4", None)
    assert [(item.id, item.document) for item in read.missing] == [("m1", False), ("m2", True)]
    assert (read.table_stats[0].records, read.index_stats[0].depth) == (5, 3)
    assert (read.query_stats[0].metrics[0].value, read.facts[0].how, read.schemas[0].primary_key) == (1.5, "h", ["id"])


def pauses_of_agents_and_of_the_queue_are_reservations(before: Any) -> Story:
    by = before.get_model("runs", "User").objects.create(username="bob")
    agent, more = before.get_model("agents", "Agent").objects, {"paused_by": by, "pause_reason": "fan"}
    agent.create(slug="a", token_digest="a")
    paused = agent.create(slug="b", token_digest="b", paused_at=datetime(2026, 1, 1, tzinfo=UTC), **more)
    before.get_model("agents", "QueuePause").objects.create(by=by, reason="move")

    after = yield
    rows = after.get_model("agents", "Reservation").objects.order_by("reason")
    assert list(rows.values_list("agent", "reason", "by", "ends_at")) == [
        (paused.pk, "fan", by.pk, None), (None, "move", by.pk, None),
    ]  # fmt: skip


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


def test_one_metric_that_two_sources_write_with_two_units_is_one(db):
    """Seen: YCSB's operations a second had no better side, and those of JSON stood beside them as another metric."""
    join = import_module("runs.migrations.0042_units_of_the_catalogue").join
    metric = lambda name, unit, better: Metric.objects.create(name=name, unit=unit, label=unit, better=better)  # noqa: E731
    run, other = make_run("SQLite 3", 1), make_run("SQLite 3", 1)
    own, written = metric("ops_per_s", "operations/s", "higher"), metric("ops_per_s", "ops/s", "none")
    alone = metric("tpmc", "tpmC", "none")
    for which in (written, alone):
        Measurement.objects.create(run=run, metric=which, value=7)
    Measurement.objects.create(run=other, metric=own, value=8)

    join(apps, None)

    assert {(row.run, row.metric.unit, row.metric.better) for row in Measurement.objects.filter(value__in=(7, 8))} == {
        (run, "operations/s", "higher"), (other, "operations/s", "higher"), (run, "new orders/min", "higher"),
    }  # fmt: skip


def test_labels_of_times_say_so_and_those_that_somebody_gave_stay(db: None):
    rename = import_module("runs.migrations.0043_labels_of_times").rename
    ours = Metric.objects.create(name="load_s", unit="s", label="Load", better="lower")
    theirs = Metric.objects.create(name="restore_s", unit="s", label="Restore of ours", better="lower")
    rename(apps, None)
    assert [Metric.objects.get(pk=each.pk).label for each in (ours, theirs)] == ["Load time", "Restore of ours"]


def test_the_label_of_the_data_load_rate_is_the_catalogues_and_one_that_somebody_gave_stays(db: None):
    rename = import_module("runs.migrations.0047_label_of_the_data_load_rate").rename
    rows = Metric.objects.filter(name="load_mb_per_s", unit="MB/s")
    rows.get_or_create(defaults={"label": "", "better": "higher", "name": "load_mb_per_s", "unit": "MB/s"})
    for before, after in (("Load rate by bytes of the values", METRICS["load_mb_per_s"].label), ("Ours", "Ours")):
        rows.update(label=before)
        rename(apps, None)
        assert rows.get().label == after


def test_tables_made_step_by_step_are_those_made_at_once():
    """`makemigrations --check` asks the same of what makes them at once."""
    steps = Steps(None)
    detector = MigrationAutodetector(steps.project_state(), ProjectState.from_apps(apps))
    assert not detector.changes(graph=steps.graph)


def test_a_database_of_any_day_lacks_the_steps_since(db: None):
    """Whatever steps were taken together when it was made: those of its day are recorded, too."""
    recorder = MigrationRecorder(connection)
    recorder.record_applied("runs", "0001_squashed_0037_values_of_factors_counted")
    steps = sorted(Steps(None).graph.nodes)
    for last in (
        ("runs", "0051_places_of_steps"),
        ("runs", "0037_values_of_factors_counted"),
        ("agents", "0014_errands"),
    ):
        since = [(app, name) for app, name in steps if app == last[0] and name > last[1]]
        for key in since:
            recorder.record_unapplied(*key)
        executor = MigrationExecutor(connection)
        plan = [(each.app_label, each.name) for each, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
        assert [key for key in plan if key[0] == last[0]] == since
