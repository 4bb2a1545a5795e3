"""Runs of the publications, with and without values, and the statistics they print of them."""

from __future__ import annotations

from collections.abc import Mapping

from runs.models import Aggregate, Run
from runs.models.choices import Provenance, RunState
from runs.publications.source import Row, stable_id
from runs.publications.subjects import Subjects
from runs.publications.sync import Sync
from runs.results import PublishedNumber, PublishedRun, store_published


def sync_results(sync: Sync, data: Mapping[str, list[Row]], subjects: Subjects, *, keep_deleted: bool = False) -> None:
    configs = {row["id"]: row for row in data["configs"]}
    wanted = [_run(position, row, configs, subjects) for position, row in enumerate(data["runs"], 1)]
    for verb, count in store_published(wanted, keep_deleted=keep_deleted).items():
        sync.note(Run, verb, count)
    stale = Run.objects.exclude(source_id="").exclude(id__in=[one.id for one in wanted])
    stale = stale.filter(publication__in=[publication.id for publication in subjects.publications.values()])
    sync.note(Run, "deleted", stale.count())
    stale.delete()
    _aggregates(sync, data["aggregates"], subjects)


def _run(position: int, row: Row, configs: Mapping[str, Row], subjects: Subjects) -> PublishedRun:
    missing = row.get("missing", {})
    given = configs[row["config"]]
    return PublishedRun(
        id=stable_id("run", row["publication"], row["id"]),
        publication=subjects.publications[row["publication"]],
        source_id=row["id"],
        workload=subjects.workloads[row["workload"]],
        dbms_version=subjects.versions[row["version"]],
        config=subjects.configs[row["config"]],
        hardware=subjects.hardware[row["hardware"]],
        state=RunState.VALUE_MISSING if missing else RunState.FINISHED,
        provenance=Provenance(row["provenance"]),
        repeat=row["repeat"],
        # The order of the source, so that lists and charts show it as printed.
        order_index=position,
        durability=given.get("durability", ""),
        durability_reason=given.get("durability_reason", ""),
        note=row.get("note", ""),
        missing_metric=missing.get("metric", ""),
        missing_reason=missing.get("reason", ""),
        factors={
            name: (value["value"], value["unit"]) if isinstance(value, dict) else (value, "")
            for name, value in row["factors"].items()
        },
        storage={role: subjects.devices[device] for role, device in row.get("storage", {}).items()},
        numbers=[
            PublishedNumber(
                metric=subjects.metrics[number["name"]],
                value=float(number["value"]),
                as_printed=number["as_printed"],
                provenance=Provenance(row["provenance"]),
                note=number.get("note", ""),
            )
            for number in row.get("metrics", [])
        ],
    )


def _aggregates(sync: Sync, rows: list[Row], subjects: Subjects) -> None:
    wanted = [
        {
            "id": stable_id("aggregate", row["publication"], row["id"]),
            "publication_id": subjects.publications[row["publication"]].id,
            "source_id": row["id"],
            "statistic": row["statistic"],
            "workload_id": subjects.workloads[row["workload"]].id,
            "dbms_version_id": subjects.versions[row["version"]].id,
            "metric_id": subjects.metrics[row["metric"]["name"]].id,
            "value": float(row["value"]),
            "as_printed": row["as_printed"],
            "provenance": Provenance.PRINTED,
            "details": row["details"],
        }
        for row in rows
    ]
    among = Aggregate.objects.filter(publication__in=[one.id for one in subjects.publications.values()])
    for row, aggregate in zip(rows, sync.rows(Aggregate, wanted, among=among), strict=True):
        of = {stable_id("run", row["publication"], run) for run in row["of"]}
        if set(aggregate.of.values_list("pk", flat=True)) != of:
            aggregate.of.set(Run.objects.filter(pk__in=of))
            sync.note(Aggregate, "linked")
