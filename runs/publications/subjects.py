"""What the publications are about: themselves, machines, DBMSs, configurations, workloads, schemas, metrics."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from benchagent.catalog import DBMSS

from runs.dbms.versions import version_of
from runs.models import (
    Config,
    ConfigParameter,
    DataSchema,
    Dbms,
    DbmsVersion,
    HardwareProfile,
    Metric,
    Publication,
    StorageDevice,
    Workload,
)
from runs.models.choices import Provenance
from runs.publications.source import Row, stable_id
from runs.publications.sync import Sync
from runs.results import resolve_metric_rows

GIB = 1024**3
M = TypeVar("M")


@dataclass(frozen=True)
class Subjects:
    """Rows by the ids of the data file; metrics by name."""

    publications: Mapping[str, Publication]
    hardware: Mapping[str, HardwareProfile]
    devices: Mapping[str, StorageDevice]
    versions: Mapping[str, DbmsVersion]
    configs: Mapping[str, Config]
    workloads: Mapping[str, Workload]
    metrics: Mapping[str, Metric]


def sync_subjects(sync: Sync, data: Mapping[str, list[Row]]) -> Subjects:
    publications = _publications(sync, data["publications"])
    hardware = _hardware(sync, data["hardware"], publications)
    versions = _versions(sync, data["versions"], _dbms(sync, data["dbms"]))
    subjects = Subjects(
        publications=publications,
        hardware=hardware,
        devices=_devices(sync, data["hardware"], hardware),
        versions=versions,
        configs=_configs(sync, data["configs"], publications, versions),
        workloads=_workloads(sync, data["workloads"], publications),
        metrics=_metrics(sync, data["metrics"]),
    )
    _schemas(sync, data["schemas"], publications)
    return subjects


def _publications(sync: Sync, rows: list[Row]) -> dict[str, Publication]:
    wanted: list[dict[str, Any]] = [
        {
            "id": stable_id("publication", row["id"], row["id"]),
            "slug": row["id"],
            "title_original": row["title_original"],
            "title_en": row["title_en"],
            "author": row["author"],
            "publisher": row["publisher"],
            "language": row["language"],
            "published_on": date.fromisoformat(row["date"]),
            "details": row["details"],
        }
        for row in rows
    ]
    return _by_id(rows, sync.rows(Publication, wanted))


def _hardware(sync: Sync, rows: list[Row], publications: Mapping[str, Publication]) -> dict[str, HardwareProfile]:
    wanted = [
        {
            "id": stable_id("hardware", row["publication"], row["id"]),
            "slug": row["id"],
            "name": row["name"],
            "publication_id": publications[row["publication"]].id,
            "source_id": row["id"],
            "provenance": Provenance.PRINTED,
            "os": row["os"] or "",
            "cpu_model": row["cpu"] or "",
            "ram_bytes": None if row["ram_gb"] is None else row["ram_gb"] * GIB,
            "motherboard": row["motherboard"] or "",
            "details": row.get("details", {}),
            "note": row["note"],
        }
        for row in rows
    ]
    return _by_id(rows, sync.rows(HardwareProfile, wanted))


def _devices(
    sync: Sync, machines: list[Row], hardware: Mapping[str, HardwareProfile]
) -> dict[str, StorageDevice]:  # fmt: skip
    rows, wanted = [], []
    for machine in machines:
        for row in machine["storage"]:
            facts = {name: value for name, value in row.items() if name != "id" and value is not None}
            rows.append(row)
            wanted.append(
                {
                    "id": stable_id("storage", machine["publication"], row["id"]),
                    "slug": row["id"],
                    "hardware_id": hardware[machine["id"]].id,
                    "provenance": Provenance.PRINTED,
                    **facts,
                }
            )
    return _by_id(rows, sync.rows(StorageDevice, wanted))


def _dbms(sync: Sync, rows: list[Row]) -> dict[str, Dbms]:
    """Shared with everything else in the repository: made where missing, never renamed."""
    found = {dbms.slug: dbms for dbms in Dbms.objects.filter(slug__in=[row["slug"] for row in rows])}
    for row in rows:
        entry = DBMSS.get(row["slug"])
        if row["slug"] not in found:
            vendor = entry.vendor if entry else row["vendor"]
            found[row["slug"]] = Dbms.objects.create(
                slug=row["slug"], name=row["name"], vendor=vendor, aliases=row["aliases"]
            )
            sync.note(Dbms, "created")
        dbms = found[row["slug"]]
        missing = [alias for alias in row["aliases"] if alias not in dbms.aliases]
        if missing:
            sync.correct(dbms, {"aliases": [*dbms.aliases, *missing]})
    return found


def _versions(sync: Sync, rows: list[Row], dbms: Mapping[str, Dbms]) -> dict[str, DbmsVersion]:
    known = set(DbmsVersion.objects.values_list("pk", flat=True))
    found = {}
    for row in rows:
        aliases = row.get("aliases", [])
        version = version_of(dbms[row["dbms"]], row["version"], row["architecture"], aliases=aliases)
        if version.pk not in known:
            known.add(version.pk)
            DbmsVersion.objects.filter(pk=version.pk).update(source_id=row["id"], note=row["note"])
            sync.note(DbmsVersion, "created")
        else:
            sync.correct(version, {"source_id": row["id"], "note": row["note"]})
        found[row["id"]] = version
    return found


def _configs(
    sync: Sync, rows: list[Row], publications: Mapping[str, Publication], versions: Mapping[str, DbmsVersion]
) -> dict[str, Config]:
    wanted = [
        {
            "id": stable_id("config", row["publication"], row["id"]),
            "slug": row["id"],
            "name": row["name"],
            "publication_id": publications[row["publication"]].id,
            "source_id": row["id"],
            "dbms_id": _only_dbms(versions[version] for version in row["applies_to"]),
            "file_name": row["file"],
            "details": row.get("details", {}),
            "note": row["note"],
        }
        for row in rows
    ]
    configs = _by_id(rows, sync.rows(Config, wanted))
    for row in rows:
        config = configs[row["id"]]
        _parameters(sync, config, row["parameters"])
        applies_to = {versions[version] for version in row["applies_to"]}
        if set(config.applies_to.all()) != applies_to:
            config.applies_to.set(applies_to)
            sync.note(Config, "updated")
    return configs


def _only_dbms(versions: Iterable[DbmsVersion]) -> uuid.UUID | None:
    """The DBMS of a configuration; None for one that an article gives for several."""
    found = {version.dbms_id for version in versions}
    return found.pop() if len(found) == 1 else None


def _parameters(sync: Sync, config: Config, rows: list[Row]) -> None:
    columns = ("position", "section", "name", "value", "unit", "comment", "provenance")
    wanted = [
        (
            position, row.get("section", ""), row["name"], row["value"], row.get("unit", ""), row.get("comment", ""),
            str(Provenance.PRINTED),
        )
        for position, row in enumerate(rows, 1)
    ]  # fmt: skip
    if list(config.parameters.order_by("position").values_list(*columns)) == wanted:
        return
    config.parameters.all().delete()
    ConfigParameter.objects.bulk_create(
        ConfigParameter(config=config, **dict(zip(columns, values, strict=True))) for values in wanted
    )
    sync.note(ConfigParameter, "created", len(wanted))


def _workloads(sync: Sync, rows: list[Row], publications: Mapping[str, Publication]) -> dict[str, Workload]:
    wanted = [
        {
            "id": stable_id("workload", row["publication"], row["id"]),
            "slug": row["id"],
            "name": row["name"],
            "kind": row["kind"],
            "summary": row["summary"],
            "publication_id": publications[row["publication"]].id,
            "source_id": row["id"],
            "primary_metric": row["primary_metric"],
            "details": row["details"],
        }
        for row in rows
    ]
    return _by_id(rows, sync.rows(Workload, wanted))


def _metrics(sync: Sync, rows: list[Row]) -> dict[str, Metric]:
    """By name; a label is set when the metric is new."""
    keys = {(row["name"], row["unit"]): row["better"] for row in rows}
    known = set(Metric.objects.filter(name__in=[row["name"] for row in rows]).values_list("name", "unit"))
    found = resolve_metric_rows(dict(keys))
    for row in rows:
        if (row["name"], row["unit"]) not in known:
            Metric.objects.filter(pk=found[row["name"], row["unit"]].pk).update(label=row["label"])
            sync.note(Metric, "created")
    return {name: metric for (name, _), metric in found.items()}


def _schemas(sync: Sync, rows: list[Row], publications: Mapping[str, Publication]) -> None:
    wanted = [
        {
            "id": stable_id("schema", row["publication"], str(position)),
            "publication_id": publications[row["publication"]].id,
            "position": position,
            "tables": row["tables"],
            "columns": row["columns"],
            "primary_key": row["primary_key"],
            "indexes": row["indexes"],
            "details": row["details"],
        }
        for position, row in enumerate(rows, 1)
    ]
    among = DataSchema.objects.filter(publication__in=[publication.id for publication in publications.values()])
    sync.rows(DataSchema, wanted, among=among)


def _by_id(rows: list[Row], made: list[M]) -> dict[str, M]:
    return {row["id"]: one for row, one in zip(rows, made, strict=True)}
