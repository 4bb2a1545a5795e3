"""Names turned into rows: metrics, workloads, DBMS versions, configurations. From the catalogue, or made on demand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchagent.catalog import DBMSS, METRICS, WORKLOADS, DbmsEntry, WorkloadEntry
from django.utils.text import slugify

from runs.models import Config, ConfigParameter, Dbms, DbmsVersion, Metric, Workload
from runs.models.choices import Better, Provenance
from runs.models.text import clean, redact, redact_line

Settings = Sequence[tuple[str, str]]
NAME_LIMIT = 200
_SAME_UNIT = {"TPS": ("1/s", "tx/s", "transactions/s")}


class UnknownName(ValueError):
    """A workload or DBMS that the catalogue does not have."""


def canonical_unit(name: str, unit: str) -> str:
    """The catalogue's spelling of a unit: transactions per second are TPS, also where a source writes 1/s."""
    entry = METRICS.get(name)
    if entry is None:
        return unit
    spellings = {entry.unit.casefold(), *_SAME_UNIT.get(entry.unit, ())}
    return entry.unit if unit.casefold() in spellings else unit


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
            rows[name, unit] = make_metric(name, unit, better)
    return {key: rows[key] for key in wanted}


def make_metric(name: str, unit: str, better: str | None) -> Metric:
    """A new metric, or the one that somebody made meanwhile. The catalogue knows label and direction of its own."""
    entry = METRICS.get(name)
    if entry is not None and entry.unit == unit:
        defaults = {"label": entry.label, "better": entry.better}
    else:
        defaults = {"label": clean(name.replace("_", " ").capitalize(), 200), "better": better or Better.NONE}
    return Metric.objects.get_or_create(name=name, unit=unit, defaults=defaults)[0]


def present_slug(entry: WorkloadEntry) -> str:
    """Of the row that a catalogue workload has in its present version."""
    return entry.slug if entry.version == "1" else f"{entry.slug}-v{entry.version}"


def resolve_workload(slug: str) -> Workload:
    """The row of a catalogue workload in its present version. Raises UnknownName.

    `version` breaks comparability, so that another version is another row; the first keeps the plain slug.
    """
    entry = WORKLOADS.get(slug)
    if entry is None:
        raise UnknownName(f"unknown workload {slug!r}; known: {', '.join(sorted(WORKLOADS))}")
    return Workload.objects.get_or_create(
        slug=present_slug(entry),
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


def version_of(dbms: Dbms, version: str, architecture: str = "", *, aliases: Sequence[str] = ()) -> DbmsVersion:
    """The row of a DBMS's version, made on first use with a slug such as `postgresql-15-8`.

    `aliases` are other names of the same version: a row that has one of them is taken, and keeps all of them.
    """
    rows = list(DbmsVersion.objects.filter(dbms=dbms).select_related("dbms"))
    named = (matching_version(rows, name, architecture) for name in (version, *aliases))
    found = next(filter(None, named), None) or make_version(dbms, version, architecture)
    known = {found.version, *found.aliases}
    if missing := [name for name in (version, *aliases) if name not in known]:
        found.aliases = [*found.aliases, *dict.fromkeys(missing)]
        found.save(update_fields=["aliases"])
    return found


def matching_version(rows: Iterable[DbmsVersion], version: str, architecture: str) -> DbmsVersion | None:
    """The row of this version and architecture; its other names count after every row's own."""
    version, architecture = clean(version, 120), clean(architecture, 60)
    alike = [row for row in rows if row.architecture == architecture]
    for row in alike:
        if row.version == version:
            return row
    wanted = version.casefold()
    return next((row for row in alike if wanted in (str(alias).casefold() for alias in row.aliases)), None)


def make_version(dbms: Dbms, version: str, architecture: str) -> DbmsVersion:
    version, architecture = clean(version, 120), clean(architecture, 60)
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


@dataclass(frozen=True)
class Parameter:
    """One line of a configuration; value None is a flag."""

    name: str
    value: str | None
    section: str = ""
    comment: str = ""

    def key(self) -> list[str | None]:
        return (
            [self.name, self.value, self.section, self.comment]
            if self.section or self.comment
            else [self.name, self.value]
        )


def resolve_config(dbms_slug: str, settings: Settings, *, called: str = "") -> Config:
    """The configuration row of a scheduled run's settings. Raises UnknownName for an unknown DBMS.

    `called`: what people call these settings, as "printed my.cnf"; it takes the place of a made name.
    """
    entry = _dbms_entry(dbms_slug)
    parameters = [Parameter(name, value) for name, value in settings]
    config = config_of(entry.slug, entry.name, parameters, provenance=Provenance.MEASURED)
    if called and config.created_by_id is None and config.name.startswith(_made_name(entry.name, "")):
        config.name = _free_name(f"{entry.name}, {called}", config.digest)
        config.save(update_fields=["name"])
    return config


def config_of(dbms_slug: str, dbms_name: str, parameters: Sequence[Parameter], *, provenance: str) -> Config:
    """The row of these parameters: ordered, duplicates and flags kept, secrets redacted. Equal ones are one row."""
    return config_row(dbms_slug, dbms_name, parameters, provenance=provenance)[0]


def config_row(
    dbms_slug: str, dbms_name: str, parameters: Sequence[Parameter], *, provenance: str
) -> tuple[Config, bool]:
    """The same, and whether it is new."""
    kept = [_storable(parameter) for parameter in parameters]
    digest = hashlib.sha256(json.dumps([dbms_slug, [parameter.key() for parameter in kept]]).encode()).hexdigest()
    found = Config.objects.filter(digest=digest).first()
    if found is not None:
        return found, False
    standard = dict(DBMSS[dbms_slug].settings) if dbms_slug in DBMSS else {}
    is_standard = [(parameter.name, parameter.value) for parameter in kept] == list(standard.items())
    suffix = "standard" if is_standard else digest[:8]
    name = f"{dbms_name}, standard" if is_standard else _made_name(dbms_name, _differences(standard, kept))
    config = Config.objects.create(
        slug=Config.free_slug(f"{dbms_slug}-{suffix}"), name=_free_name(name, digest), digest=digest,
        dbms=Dbms.objects.filter(slug=dbms_slug).first(),
    )  # fmt: skip
    ConfigParameter.objects.bulk_create(
        ConfigParameter(
            config=config, position=position, name=parameter.name, value=parameter.value, section=parameter.section,
            comment=parameter.comment, provenance=provenance,
        )
        for position, parameter in enumerate(kept, 1)
    )  # fmt: skip
    return config, True


def _storable(parameter: Parameter) -> Parameter:
    value = None if parameter.value is None else redact(parameter.name, clean(parameter.value, 100_000))
    return Parameter(
        clean(parameter.name, 200), value if value is None else redact_line(value), clean(parameter.section, 120),
        redact_line(clean(parameter.comment, 10_000)),
    )  # fmt: skip


def _differences(standard: dict[str, str], parameters: Sequence[Parameter]) -> str:
    """What sets these settings apart from the standard ones, for a name that people can tell apart."""
    given = {parameter.name for parameter in parameters}
    changed = [
        parameter.name if parameter.value is None else f"{parameter.name}={parameter.value}"
        for parameter in parameters
        if parameter.value is None or standard.get(parameter.name) != parameter.value
    ]
    left_out = [f"{name} not given" for name in standard if name not in given]
    return ", ".join(dict.fromkeys(changed + left_out)) or "the standard settings in another order"


def _made_name(dbms_name: str, differences: str) -> str:
    return f"{dbms_name}: {differences}"


def _free_name(name: str, digest: str) -> str:
    """With a piece of the digest where the name alone does not tell: cut short, or that of another configuration."""
    if len(name) <= NAME_LIMIT and not Config.objects.filter(name=name).exclude(digest=digest).exists():
        return name
    mark = f" ({digest[:8]})"
    return shorten(name, NAME_LIMIT - len(mark)) + mark


def shorten(text: str, limit: int = NAME_LIMIT) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
