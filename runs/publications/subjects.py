"""What a publication is about: itself with what it states, machines, DBMSs, configurations, workloads, metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from benchagent.catalog import DBMSS
from benchagent.configfiles.units import GIB
from django.db.models import Model, QuerySet

from runs.dbms import version_of
from runs.models import (
    Config,
    ConfigParameter,
    Dbms,
    DbmsVersion,
    HardwareProfile,
    Metric,
    Publication,
    StorageDevice,
    Workload,
)
from runs.models.base import NamedModel
from runs.models.choices import Provenance
from runs.publications.document import ConfigRow, DbmsRow, MetricRow, ParameterRow, VersionRow
from runs.publications.folder import Folder, FolderError, stable_id
from runs.results import resolve_metric_rows

M = TypeVar("M", bound=Model)


class Sync:
    """Brings rows to what they should be, and writes only what differs.

    `changes` counts created, updated, restored and deleted rows by (model name, verb).
    """

    def __init__(self) -> None:
        self.changes: Counter[tuple[str, str]] = Counter()

    @property
    def rows_changed(self) -> int:
        return sum(self.changes.values())

    def note(self, model: type[Model], verb: str, count: int = 1) -> None:
        if count:
            self.changes[str(model._meta.verbose_name), verb] += count

    def rows(self, model: type[M], wanted: Mapping[str, dict[str, Any]]) -> dict[str, M]:
        """Rows of `model` with these column values, by the same keys.

        The slug of a named row is set when it is made (a free one, if somebody has it) and left alone afterwards.
        """
        is_named = issubclass(model, NamedModel)
        known = model._default_manager.in_bulk([values["id"] for values in wanted.values()])
        rows, new = {}, []
        for key, values in wanted.items():
            if row := known.get(values["id"]):
                self.correct(row, {name: value for name, value in values.items() if not (is_named and name == "slug")})
            else:
                free = {"slug": model.free_slug(values["slug"])} if issubclass(model, NamedModel) else {}
                new.append(row := model(**values | free))
            rows[key] = row
        model._default_manager.bulk_create(new)
        self.note(model, "created", len(new))
        return rows

    def delete(self, stale: QuerySet[Any]) -> None:
        self.note(stale.model, "deleted", stale.count())
        stale.delete()

    def correct(self, row: Model, values: dict[str, Any]) -> None:
        different = {name: value for name, value in values.items() if getattr(row, name) != value}
        if different:
            for name, value in different.items():
                setattr(row, name, value)
            row.save(update_fields=list(different))
            self.note(type(row), "updated")


@dataclass(frozen=True)
class Subjects:
    """Rows by the ids of results.json; metrics by name."""

    publication: Publication
    hardware: Mapping[str, HardwareProfile]
    devices: Mapping[str, StorageDevice]
    versions: Mapping[str, DbmsVersion]
    configs: Mapping[str, Config]
    workloads: Mapping[str, Workload]
    metrics: Mapping[str, Metric]


def sync_subjects(sync: Sync, folder: Folder) -> Subjects:
    """Raises FolderError where another publication has given a version of a DBMS another id."""
    data, slug = folder.results, folder.slug
    publication = _publication(sync, folder)

    def named(subject: str, row: Any, **columns: Any) -> dict[str, Any]:
        """Columns that a machine, configuration or workload of the publication has."""
        own = {"id": stable_id(subject, slug, row.id), "slug": row.id, "name": row.name, "source_id": row.id}
        return own | {"publication_id": publication.id, "details": row.details} | columns

    hardware, devices = {}, {}
    for row in data.hardware:
        hardware[row.id] = named(
            "hardware", row, note=row.note, os=row.os or "", cpu_model=row.cpu or "", motherboard=row.motherboard or "",
            provenance=Provenance.PRINTED, ram_bytes=None if row.ram_gb is None else int(row.ram_gb * GIB),
        )  # fmt: skip
        for disk in row.storage:
            stated = disk.model_dump(exclude={"id"}, exclude_unset=True, exclude_none=True)
            devices[disk.id] = stated | {
                "id": stable_id("storage", slug, disk.id), "slug": disk.id, "hardware_id": hardware[row.id]["id"],
                "provenance": Provenance.PRINTED,
            }  # fmt: skip
    workloads = {
        row.id: named("workload", row, kind=row.kind, summary=row.summary, primary_metric=row.primary_metric)
        for row in data.workloads
    }
    versions = _versions(sync, data.versions, _dbms(sync, data.dbms))
    configs = {}
    for config in data.configs:
        owners = {versions[version].dbms_id for version in config.applies_to}
        # None of one that an article gives for several DBMSs.
        dbms_id = owners.pop() if len(owners) == 1 else None
        configs[config.id] = named("config", config, file_name=config.file, note=config.note, dbms_id=dbms_id)
    subjects = Subjects(
        publication=publication,
        hardware=sync.rows(HardwareProfile, hardware),
        devices=sync.rows(StorageDevice, devices),
        versions=versions,
        configs=sync.rows(Config, configs),
        workloads=sync.rows(Workload, workloads),
        metrics=_metrics(sync, data.metrics),
    )
    for config in data.configs:
        _fill_config(sync, config, subjects)
    return subjects


def _publication(sync: Sync, folder: Folder) -> Publication:
    row = folder.results.publication
    page = folder.page.model_dump(mode="json", exclude_unset=True)
    content: dict[str, Any] = {"page": page, "statements": folder.results.statements()}
    if folder.article:
        content["article"] = folder.article.model_dump(mode="json")
    columns = row.model_dump(exclude={"date"}) | {
        "id": stable_id("publication", row.slug, row.slug), "published_on": row.date, "content": content,
    }  # fmt: skip
    return sync.rows(Publication, {row.slug: columns})[row.slug]


def _dbms(sync: Sync, rows: Sequence[DbmsRow]) -> dict[str, Dbms]:
    """Shared with everything else in the repository: made where missing, never renamed."""
    by_slug = {dbms.slug: dbms for dbms in Dbms.objects.filter(slug__in=[row.slug for row in rows])}
    for row in rows:
        if row.slug not in by_slug:
            entry = DBMSS.get(row.slug)
            vendor = entry.vendor if entry else row.vendor
            by_slug[row.slug] = Dbms.objects.create(slug=row.slug, name=row.name, vendor=vendor, aliases=row.aliases)
            sync.note(Dbms, "created")
        dbms = by_slug[row.slug]
        if missing := [alias for alias in row.aliases if alias not in dbms.aliases]:
            sync.correct(dbms, {"aliases": [*dbms.aliases, *missing]})
    return by_slug


def _versions(sync: Sync, rows: Sequence[VersionRow], dbms: Mapping[str, Dbms]) -> dict[str, DbmsVersion]:
    """Shared too: the first publication that names a version gives it its id and note."""
    known = set(DbmsVersion.objects.values_list("pk", flat=True))
    versions = {}
    for at, row in enumerate(rows):
        version = version_of(dbms[row.dbms], row.version, row.architecture, aliases=row.aliases)
        if version.source_id not in ("", row.id):
            raise FolderError([
                f"results.json: versions[{at}].id: {version} is {version.source_id!r} in another publication; "
                "call it the same here"
            ])  # fmt: skip
        if version.pk not in known:
            known.add(version.pk)
            DbmsVersion.objects.filter(pk=version.pk).update(source_id=row.id, note=row.note)
            sync.note(DbmsVersion, "created")
        else:
            sync.correct(version, {"source_id": row.id, "note": version.note or row.note})
        versions[row.id] = version
    return versions


def _fill_config(sync: Sync, row: ConfigRow, subjects: Subjects) -> None:
    """Its parameters, and the versions that it is of."""
    config = subjects.configs[row.id]
    wanted = [
        {"position": position, "provenance": str(Provenance.PRINTED), **parameter.model_dump()}
        for position, parameter in enumerate(row.parameters, 1)
    ]
    columns = ("position", "provenance", *ParameterRow.model_fields)
    if list(config.parameters.order_by("position").values(*columns)) != wanted:
        config.parameters.all().delete()
        ConfigParameter.objects.bulk_create(ConfigParameter(config=config, **values) for values in wanted)
        sync.note(ConfigParameter, "created", len(wanted))
    applies_to = {subjects.versions[version] for version in row.applies_to}
    if set(config.applies_to.all()) != applies_to:
        config.applies_to.set(applies_to)
        sync.note(Config, "updated")


def _metrics(sync: Sync, rows: Sequence[MetricRow]) -> dict[str, Metric]:
    """The metrics by name; a label is set when the metric is new."""
    known = set(Metric.objects.filter(name__in=[row.name for row in rows]).values_list("name", "unit"))
    metrics = resolve_metric_rows({(row.name, row.unit): row.better for row in rows})
    for row in rows:
        if (row.name, row.unit) not in known:
            Metric.objects.filter(pk=metrics[row.name, row.unit].pk).update(label=row.label)
            sync.note(Metric, "created")
    return {name: metric for (name, _), metric in metrics.items()}
