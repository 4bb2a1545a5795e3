"""Names turned into rows: metrics, workloads, DBMS versions, configurations. From the catalogue, or made on demand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from benchagent.catalog import DBMSS, METRICS, WORKLOADS, DbmsEntry
from django.utils.text import slugify

from runs.choices import Better
from runs.ingest.text import clean, redact
from runs.models import Config, ConfigParameter, Dbms, DbmsVersion, Metric, Workload

Settings = Sequence[tuple[str, str]]


class UnknownName(ValueError):
    """A workload or DBMS that the catalogue does not have."""


def resolve_metrics(names: Iterable[str]) -> dict[str, Metric]:
    """Metric rows of the names an agent sends. What the catalogue does not know is descriptive, without unit."""
    wanted = dict.fromkeys(names)
    keys = {name: (name, METRICS[name].unit if name in METRICS else "") for name in wanted}
    found = resolve_metric_rows(dict.fromkeys(keys.values()))
    return {name: found[key] for name, key in keys.items()}


def resolve_metric_rows(wanted: dict[tuple[str, str], str | None]) -> dict[tuple[str, str], Metric]:
    """Metric rows by (name, unit); the value says which direction is better, where the source tells.

    The catalogue's label and direction win for its own metrics; who names any other first sets its direction.
    """
    names = {name for name, _ in wanted}
    rows = {(metric.name, metric.unit): metric for metric in Metric.objects.filter(name__in=names)}
    for (name, unit), better in wanted.items():
        if (name, unit) not in rows:
            rows[name, unit] = _make_metric(name, unit, better)
    return {key: rows[key] for key in wanted}


def _make_metric(name: str, unit: str, better: str | None) -> Metric:
    entry = METRICS.get(name)
    if entry is not None and entry.unit == unit:
        defaults = {"label": entry.label, "better": entry.better}
    else:
        defaults = {"label": clean(name.replace("_", " ").capitalize(), 200), "better": better or Better.NONE}
    return Metric.objects.get_or_create(name=name, unit=unit, defaults=defaults)[0]


def resolve_workload(slug: str) -> Workload:
    """The row of a catalogue workload in its present version. Raises UnknownName.

    `version` breaks comparability, so that another version is another row; the first keeps the plain slug.
    """
    entry = WORKLOADS.get(slug)
    if entry is None:
        raise UnknownName(f"unknown workload {slug!r}; known: {', '.join(sorted(WORKLOADS))}")
    row_slug = entry.slug if entry.version == "1" else f"{entry.slug}-v{entry.version}"
    return Workload.objects.get_or_create(
        slug=row_slug,
        defaults={
            "name": entry.name,
            "version": entry.version,
            "kind": entry.slug,
            "summary": entry.summary,
            "primary_metric": entry.primary_metric,
        },
    )[0]


def resolve_dbms_version(dbms_slug: str, version: str) -> DbmsVersion:
    """A version of a catalogue DBMS. Raises UnknownName for a DBMS that the catalogue does not have."""
    entry = _dbms_entry(dbms_slug)
    dbms, _ = Dbms.objects.get_or_create(slug=entry.slug, defaults={"name": entry.name, "vendor": entry.vendor})
    return version_of(dbms, version)


def version_of(dbms: Dbms, version: str, architecture: str = "") -> DbmsVersion:
    """The row of a DBMS's version, made on first use with a slug such as `postgresql-15-8`."""
    version, architecture = clean(version, 120), clean(architecture, 60)
    found = DbmsVersion.objects.filter(dbms=dbms, version=version, architecture=architecture).first()
    if found is not None:
        return found
    name = " ".join(part for part in (dbms.name, version, architecture) if part)
    slug = DbmsVersion.free_slug(_version_slug(dbms.slug, version, architecture))
    return DbmsVersion.objects.create(
        dbms=dbms, version=version, architecture=architecture, slug=slug, name=clean(name, 200)
    )


def _version_slug(dbms_slug: str, version: str, architecture: str) -> str:
    parts = (dbms_slug, version.replace(".", "-"), architecture)
    return slugify("-".join(part for part in parts if part))


def _dbms_entry(slug: str) -> DbmsEntry:
    entry = DBMSS.get(slug)
    if entry is None:
        raise UnknownName(f"unknown DBMS {slug!r}; known: {', '.join(sorted(DBMSS))}")
    return entry


def resolve_config(dbms_slug: str, settings: Settings) -> Config:
    """The configuration row of a DBMS's settings: ordered, duplicates kept, secrets redacted.

    Equal settings are one row. Raises UnknownName for a DBMS that the catalogue does not have.
    """
    entry = _dbms_entry(dbms_slug)
    parameters = [(clean(name, 200), redact(name, clean(value, 100_000))) for name, value in settings]
    digest = hashlib.sha256(json.dumps([dbms_slug, parameters]).encode()).hexdigest()
    found = Config.objects.filter(digest=digest).first()
    if found is not None:
        return found
    standard = list(settings) == list(entry.settings)
    suffix = "standard" if standard else digest[:8]
    name = f"{entry.name}, standard" if standard else f"{entry.name}: {_differences(entry, settings)}"
    config = Config.objects.create(slug=Config.free_slug(f"{dbms_slug}-{suffix}"), name=clean(name, 200), digest=digest)
    ConfigParameter.objects.bulk_create(
        ConfigParameter(config=config, position=position, name=name, value=value)
        for position, (name, value) in enumerate(parameters, 1)
    )
    return config


def _differences(entry: DbmsEntry, settings: Settings) -> str:
    """What sets these settings apart from the standard ones, for a name that people can tell apart."""
    standard, given = dict(entry.settings), dict(settings)
    changed = [f"{name}={redact(name, value)}" for name, value in settings if standard.get(name) != value]
    left_out = [f"no {name}" for name in standard if name not in given]
    return ", ".join(dict.fromkeys(changed + left_out)) or "same settings in another order"
