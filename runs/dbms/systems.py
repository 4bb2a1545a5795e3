"""The DBMSs: their versions, what ran on them and how well, as far as a reader may see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchagent.catalog import DBMSS
from django.db.models import Q, QuerySet

from runs.access.visibility import nameable
from runs.machines.usage import BestResult, best_of
from runs.models import Config, Dbms, DbmsVersion, Run
from runs.models.visible import Reader


@dataclass(frozen=True)
class SystemRow:
    dbms: Dbms
    versions: int
    configs: int
    runs: int
    measured_here: bool
    unverified: str


@dataclass(frozen=True)
class VersionRow:
    version: DbmsVersion
    runs: int


@dataclass(frozen=True)
class Ranking:
    """Best results of one workload in one durability class, best first: only these may be ranked."""

    workload: str
    workload_slug: str
    durability: str
    unit: str
    metric: str
    results: Sequence[BestResult]


def system_rows(rows: QuerySet[Dbms], user: Reader) -> list[SystemRow]:
    """In a fixed number of queries."""
    runs = Run.objects.present().listed_for(user).counts_by("dbms_version__dbms")
    versions = Counter(nameable(DbmsVersion.objects.all(), user).values_list("dbms", flat=True))
    configs = Counter(nameable(Config.objects.exclude(dbms=None), user).values_list("dbms", flat=True))
    return [
        SystemRow(
            dbms, versions[dbms.pk], configs[dbms.pk], runs.get(dbms.pk, 0), dbms.slug in DBMSS, unverified(dbms.slug)
        )
        for dbms in rows.order_by("name")
    ]


def unverified(slug: str) -> str:
    """Why what an agent measures on this DBMS is not verified against a live server; empty where it is."""
    return DBMSS[slug].unverified if slug in DBMSS else ""


def version_rows(dbms: Dbms, user: Reader) -> list[VersionRow]:
    runs = Run.objects.present().listed_for(user).filter(dbms_version__dbms=dbms).counts_by("dbms_version")
    rows = nameable(DbmsVersion.objects.filter(dbms=dbms), user, by_address=True).order_by("name")
    return [VersionRow(version, runs.get(version.pk, 0)) for version in rows]


def rankings(dbms: Dbms, user: Reader) -> list[Ranking]:
    """Per workload and durability class; an unknown class stands for itself."""
    best = best_of(Run.objects.rankable().listed_for(user).filter(dbms_version__dbms=dbms))
    groups: dict[tuple[str, str, str, str, str], list[BestResult]] = {}
    for result in best:
        key = (result.workload, result.workload_slug, result.durability, result.unit, result.metric)
        groups.setdefault(key, []).append(result)
    return [
        Ranking(*key, sorted(results, key=lambda result: result.value if result.lower_is_better else -result.value))
        for key, results in groups.items()
    ]


def words_filter(rows: QuerySet[Dbms], words: str) -> QuerySet[Dbms]:
    for word in words.split():
        rows = rows.filter(Q(name__icontains=word) | Q(vendor__icontains=word) | Q(versions__version__icontains=word))
    return rows.distinct()
