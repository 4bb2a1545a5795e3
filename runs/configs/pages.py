"""Configurations that a reader may see, and what their pages show: rows of the list, the table of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from benchagent.configfiles.settings import Promise
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from runs.access.rules import nameable
from runs.configs.diff import Difference, DiffRow, across_engines, diff
from runs.configs.facts import dbms_of, durability_of
from runs.models import Config, ConfigParameter, Dbms, DbmsVersion, Run
from runs.models.visible import Reader

MOST_STATED = 4
# Side by side.
MOST_COMPARED = 8
# A configuration may be in force for years.
LOOKED_AT = 5_000
MEANING, NAME = "meaning", "name"


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
    """(class, reason) that the newest runs state themselves: what was in force, or what an article says."""
    newest = runs.order_by("-created_at").values("pk")[:LOOKED_AT]
    rows = Run.objects.filter(pk__in=newest).exclude(durability="").order_by()
    return list(rows.values_list("durability", "durability_reason").distinct()[:MOST_STATED])


def family_of(config: Config, user: Reader) -> list[Config]:
    """All revisions that this reader may see, the first first."""
    root = config.revision_of_id or config.pk
    return list(readable_configs(user).filter(Q(pk=root) | Q(revision_of=root)).order_by("revision", "created_at"))


def versions_for(config: Config, user: Reader) -> QuerySet[DbmsVersion]:
    """Versions of its DBMS that it may have been written for."""
    rows = nameable(DbmsVersion.objects.filter(dbms=dbms_of(config)), user) | config.applies_to.all()
    return rows.distinct().order_by("name")


class ConfigRow:
    """A configuration of the list; reads prefetched rows only."""

    def __init__(self, config: Config, runs: int) -> None:
        self.config = config
        self.runs = runs

    @cached_property
    def dbms(self) -> str:
        dbms = dbms_of(self.config)
        names = sorted({version.dbms.name for version in self.config.applies_to.all()})
        return dbms.name if dbms else ", ".join(names)

    @cached_property
    def versions(self) -> str:
        return ", ".join(version.version for version in self.config.applies_to.all())

    @cached_property
    def promise(self) -> Promise:
        return durability_of(self.config)

    @cached_property
    def parameters(self) -> int:
        return len(self.config.parameters.all())


def matching(rows: QuerySet[Config], words: str, dbms: str) -> QuerySet[Config]:
    """Every word in the name, the slug or the note, or in the name or value of a parameter."""
    for word in words.split():
        parameters = ConfigParameter.objects.filter(config=OuterRef("pk"))
        named = parameters.filter(Q(name__icontains=word) | Q(value__icontains=word))
        rows = rows.filter(Q(name__icontains=word) | Q(slug__icontains=word) | Q(note__icontains=word) | Exists(named))
    if dbms:
        through = Config.applies_to.through.objects.filter(config=OuterRef("pk"), dbmsversion__dbms__slug=dbms)
        rows = rows.filter(Q(dbms__slug=dbms) | Exists(through))
    return rows


def choices_of(rows: QuerySet[Config]) -> list[tuple[str, str]]:
    """Slug and name of every DBMS that has one of these configurations."""
    own, applied = rows.order_by().values("dbms"), rows.order_by().values("applies_to__dbms")
    dbmss = Dbms.objects.filter(Q(pk__in=own.exclude(dbms=None)) | Q(pk__in=applied.exclude(applies_to=None)))
    return list(dbmss.order_by("name").values_list("slug", "name"))


@dataclass(frozen=True)
class DiffTable:
    """Configurations side by side. `all_rows`: also those in which they are alike."""

    configs: Sequence[Config]
    rows: Sequence[DiffRow]
    by_meaning: bool
    show_all: bool
    promises: Sequence[Promise]

    @property
    def shown(self) -> list[DiffRow]:
        return [row for row in self.rows if self.show_all or row.status != Difference.EQUAL]

    @property
    def counts(self) -> list[tuple[str, int]]:
        words = {"changed": "changed", "only_in": "only in some", "unknown": "cannot be told", "equal": "equal"}
        numbers = [(label, sum(row.status == key for row in self.rows)) for key, label in words.items()]
        return [(label, number) for label, number in numbers if number]

    @property
    def promise_status(self) -> Difference:
        """How what a commit promises differs."""
        classes = {promise.durability for promise in self.promises if promise.durability}
        if len(classes) > 1:
            return Difference.CHANGED
        all_known = all(promise.durability for promise in self.promises)
        return Difference.EQUAL if all_known else Difference.UNKNOWN

    @property
    def links(self) -> dict[str, str]:
        """Address of this table by each word of `by` and `show`."""
        configs = [("config", config.slug) for config in self.configs]
        now = {"by": MEANING if self.by_meaning else NAME, "show": "all" if self.show_all else "differences"}
        choices = {MEANING: "by", NAME: "by", "all": "show", "differences": "show"}
        return {word: f"?{urlencode([*configs, *(now | {choice: word}).items()])}" for word, choice in choices.items()}


def diff_table(slugs: Sequence[str], user: Reader, params: QueryDict) -> tuple[DiffTable, list[str]]:
    """-> (the configurations of these slugs that this person may see side by side, the slugs of the others).

    `by` is meaning or name (by itself: meaning where engines differ), `show` all or differences.
    """
    by_slug = {config.slug: config for config in for_pages(readable_configs(user)).filter(slug__in=slugs)}
    configs = [by_slug[slug] for slug in slugs if slug in by_slug]
    by_meaning = {MEANING: True, NAME: False}.get(params.get("by", ""), across_engines(configs))
    rows = diff(configs, by_meaning=by_meaning) if configs else []
    promises = [durability_of(config) for config in configs]
    table = DiffTable(configs, rows, by_meaning, params.get("show") == "all", promises)
    return table, [slug for slug in slugs if slug not in by_slug]
