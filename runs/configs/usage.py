"""Configurations as lists show them, and what ran with them, as far as a reader may see it."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from runs.access.visibility import nameable
from runs.configs.facts import dbms_of
from runs.models import Config, DbmsVersion, Run
from runs.models.visible import Reader

MOST_STATED = 4


def for_pages(rows: QuerySet[Config]) -> QuerySet[Config]:
    """With everything that `runs.configs.facts` reads, in a fixed number of queries."""
    return rows.select_related("dbms", "publication", "revision_of").prefetch_related(
        "parameters__file", "applies_to__dbms", "files"
    )


def listed_configs(user: Reader) -> QuerySet[Config]:
    return nameable(Config.objects.all(), user)


def readable_configs(user: Reader) -> QuerySet[Config]:
    return nameable(Config.objects.all(), user, by_address=True)


def stated_by(runs: QuerySet[Run]) -> list[tuple[str, str]]:
    """(class, reason) that runs state themselves: what was in force, or what an article says."""
    rows = runs.exclude(durability="").order_by().values_list("durability", "durability_reason")
    return list(rows.distinct()[:MOST_STATED])


def family_of(config: Config, user: Reader) -> list[Config]:
    """All revisions that this reader may see, the first first."""
    root = config.revision_of_id or config.pk
    return list(readable_configs(user).filter(Q(pk=root) | Q(revision_of=root)).order_by("revision", "created_at"))


def versions_for(config: Config, user: Reader) -> QuerySet[DbmsVersion]:
    """Versions of its DBMS that it may have been written for."""
    rows = nameable(DbmsVersion.objects.filter(dbms=dbms_of(config)), user) | config.applies_to.all()
    return rows.distinct().order_by("name")
