"""The value that lists sort by is kept true by everything that changes it."""

from __future__ import annotations

import pytest
from benchagent.catalog import headline_metrics

from runs.models import Run, Workload
from runs.results import editing
from runs.run.number import headline_numbers, refresh_primary
from tests.runs.builders import document, store_upload
from tests.runs.cells import add_number, make_run

pytestmark = pytest.mark.django_db


def stored() -> list[float | None]:
    return list(Run.objects.order_by("repeat").values_list("primary_value", flat=True))


def is_kept() -> bool:
    """To compute it anew changes nothing."""
    before = dict(Run.objects.values_list("pk", "primary_value"))
    refresh_primary(Run.objects.all())
    return dict(Run.objects.values_list("pk", "primary_value")) == before


def test_an_upload_brings_it():
    store_upload(document=document())
    assert stored() == [100.5, 102]
    assert is_kept()


def test_the_literature_brings_it_and_only_where_there_is_a_number(published):
    assert is_kept()
    assert not Run.objects.filter(state="value_missing").exclude(primary_value=None).exists()
    assert Run.objects.filter(publication__slug="tpcb-2010", state="finished").exclude(primary_value=None).count() == 33


def test_an_invalid_run_has_none_until_it_counts_again(operator):
    run = make_run("SQLite 3.53", 5)
    editing.invalidate(run, reason="wrong disk", by=operator)
    assert stored() == [None]
    editing.validate(run, by=operator)
    assert stored() == [5]


def test_it_follows_the_workload():
    make_run("SQLite 3.53", 5)
    Workload.objects.update(primary_metric="latency_p95_ms")
    refresh_primary(Run.objects.all())
    assert stored() == [None]


def test_the_result_of_a_backup_is_its_seconds_then_its_rate_never_its_bytes():
    run = make_run("Firebird 5.0", 12.5, number="backup_s")
    Workload.objects.update(kind="backup", primary_metric="backup_s")
    add_number(run, 100_474_880, name="backup_bytes")
    add_number(run, 8, name="backup_mb_per_s")
    add_number(run, 3.5, name="restore_s", phase="restore")
    said = [(row.metric.name, row.value) for row in headline_numbers(Run.objects.for_lists().get())]
    assert said == [("backup_s", 12.5), ("backup_mb_per_s", 8), ("restore_s", 3.5)]
    assert headline_metrics("backup") == ("backup_s", "backup_mb_per_s", "restore_s")


def test_the_result_of_another_workload_is_its_primary_metric_with_p99():
    add_number(make_run("SQLite 3.53", 5), 2.5, name="latency_p99_ms")
    assert [row.value for row in headline_numbers(Run.objects.for_lists().get())] == [5, 2.5]


def test_a_run_that_did_not_finish_shows_no_other_number_in_the_place_of_its_result():
    run = make_run("SQLite 3.53", 74_366_976, number="db_size_bytes")
    assert [number.metric.name for number in headline_numbers(run)] == ["db_size_bytes"]
    run.state = "lost"
    assert not headline_numbers(run)


def test_of_a_run_without_the_primary_metric_its_throughput_is_shown():
    """Seen: "45.21 ms" beside "2,890 TPS" in rows of one table, as latency_p99_ms comes before tps."""
    of_rates = Workload.objects.create(
        slug="own", kind="own", name="own", version="1", primary_metric="backup_mb_per_s"
    )
    make_run("MySQL 8", 2500, of=of_rates, beside={"latency_p99_ms": 45.21, "queries_per_s": 9.0})
    make_run("Redis 7", None, of=of_rates, beside={"latency_p99_ms": 1.5, "ops_per_s": 9000.0})
    shown = [headline_numbers(run)[0].metric.name for run in Run.objects.for_lists().order_by("pk")]
    assert sorted(shown) == ["ops_per_s", "tps"]
