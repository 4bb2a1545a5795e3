"""DBMSs and their versions: rows by name, what ran on them and how well, as far as a reader may see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchagent.catalog import DBMSS
from django.db.models import Q, QuerySet
from django.utils.text import slugify

from runs.access.rules import nameable
from runs.formatting import grouped
from runs.machines.usage import MOST_COUNTED, BestResult, best_of
from runs.models import Config, Dbms, DbmsVersion, Run, UnknownName
from runs.models.base import clean
from runs.models.runs import RunQuerySet
from runs.models.visible import Reader


def resolve_dbms_version(dbms_slug: str, version: str) -> DbmsVersion:
    """A version of a catalogue DBMS. Raises UnknownName for a DBMS that the catalogue does not have."""
    entry = DBMSS.get(dbms_slug)
    if entry is None:
        raise UnknownName(f"unknown DBMS {dbms_slug!r}; known: {', '.join(sorted(DBMSS))}")
    dbms, _ = Dbms.objects.get_or_create(slug=entry.slug, defaults={"name": entry.name, "vendor": entry.vendor})
    return version_of(dbms, version)


def version_of(dbms: Dbms, version: str, architecture: str = "", *, aliases: Sequence[str] = ()) -> DbmsVersion:
    """The row of a DBMS's version, made on first use with a slug such as `postgresql-15-8`.

    `aliases` are other names of the same version: a row that has one of them is taken, and keeps all of them.
    """
    version, architecture = clean(version, 120), clean(architecture, 60)
    rows = list(DbmsVersion.objects.filter(dbms=dbms).select_related("dbms"))
    named = (matching_version(rows, name, architecture) for name in (version, *aliases))
    row = next(filter(None, named), None) or make_version(dbms, version, architecture)
    known = {row.version, *row.aliases}
    if missing := [name for name in (version, *aliases) if name not in known]:
        row.aliases = [*row.aliases, *dict.fromkeys(missing)]
        row.save(update_fields=["aliases"])
    return row


def matching_version(rows: Iterable[DbmsVersion], version: str, architecture: str) -> DbmsVersion | None:
    """The row of this version and architecture; its other names count after every row's own."""
    alike = [row for row in rows if row.architecture == architecture]
    for row in alike:
        if row.version == version:
            return row
    wanted = version.casefold()
    return next((row for row in alike if wanted in (str(alias).casefold() for alias in row.aliases)), None)


def make_version(dbms: Dbms, version: str, architecture: str) -> DbmsVersion:
    name = " ".join(part for part in (dbms.name, version, architecture) if part)
    slug = slugify("-".join(part for part in (dbms.slug, version.replace(".", "-"), architecture) if part))
    return DbmsVersion.objects.create(
        dbms=dbms, version=version, architecture=architecture, slug=DbmsVersion.free_slug(slug), name=name[:200]
    )


# So many results of one question are ranked: who looks for more lists its runs.
MOST_RANKED = 100


@dataclass(frozen=True)
class SystemRow:
    dbms: Dbms
    versions: int
    configs: int
    runs: int
    measured_here: bool
    unverified: str


def system_rows(rows: Iterable[Dbms], user: Reader) -> list[SystemRow]:
    """In a fixed number of queries."""
    counts = Run.objects.present().listed_for(user).counts_up_to(MOST_COUNTED, "dbms_version")
    runs: Counter[Any] = Counter()
    for version, dbms in DbmsVersion.objects.values_list("pk", "dbms"):
        runs[dbms] += counts[version]
    versions = Counter(nameable(DbmsVersion.objects.all(), user).values_list("dbms", flat=True))
    configs = Counter(nameable(Config.objects.exclude(dbms=None), user).values_list("dbms", flat=True))
    return [
        SystemRow(dbms, versions[dbms.pk], configs[dbms.pk], runs[dbms.pk], dbms.slug in DBMSS, unverified(dbms.slug))
        for dbms in rows
    ]


def unverified(slug: str) -> str:
    """Why what an agent measures on this DBMS is not verified against a live server; empty where it is."""
    return DBMSS[slug].unverified if slug in DBMSS else ""


def versions_for(dbms: Dbms, user: Reader) -> list[DbmsVersion]:
    """In their order."""
    rows = nameable(DbmsVersion.objects.filter(dbms=dbms), user, by_address=True)
    return sorted(rows, key=lambda version: version.place)


def version_rows(rows: Sequence[DbmsVersion], user: Reader) -> list[tuple[DbmsVersion, int]]:
    """Each with how many of its runs the reader may see listed, never beyond `MOST_COUNTED` + 1."""
    runs = Run.objects.present().listed_for(user).counts_up_to(MOST_COUNTED, "dbms_version", rows)
    return [(version, runs[version.pk]) for version in rows]


def rankings(runs: RunQuerySet) -> list[list[BestResult]]:
    """Per workload, level of it and durability class the best of these, best first: only these may be ranked. An
    unknown class stands for itself.
    """
    questions = grouped(
        ((best.workload, best.level, best.workload_slug, best.durability, best.unit, best.metric), best)
        for best in best_of(runs.with_values())
    )
    return [results[:MOST_RANKED] for results in questions.values()]


def words_filter(rows: QuerySet[Dbms], words: str) -> QuerySet[Dbms]:
    for word in words.split():
        rows = rows.filter(Q(name__icontains=word) | Q(vendor__icontains=word) | Q(versions__version__icontains=word))
    return rows.distinct()
