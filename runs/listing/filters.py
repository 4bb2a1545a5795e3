"""One FilterSet for the HTML list and the REST list of runs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from typing import Any, cast
from uuid import UUID

import django_filters
from benchagent.catalog import DBMSS, WORKLOADS
from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.db.models.lookups import Exact
from django.http import QueryDict

from runs.access.rules import nameable
from runs.formatting import natural
from runs.listing.cursor import COUNTED_TO, LAST_COLUMNS, NEWEST_ONLY, Column, bounded_count, distinct, newest
from runs.models import (
    Batch,
    Config,
    ConfigParameter,
    Dbms,
    DbmsVersion,
    Experiment,
    HardwareProfile,
    Measurement,
    Metric,
    Publication,
    Run,
    RunFactor,
    RunStorage,
    StorageDevice,
    User,
    Workload,
)
from runs.models.choices import DURABILITY_CHOICES, Provenance, RunState, StorageRole, Visibility
from runs.models.runs import RunQuerySet, unindexed
from runs.models.subjects import versioned
from runs.models.visible import Reader, listed
from runs.results import present_slug

FACTOR_PREFIX = "factor."
SETTING_PREFIX = "setting."
# Bounds of a metric: `above.p99_ms=5`; without a name, of the primary one.
ABOVE_PREFIX, BELOW_PREFIX = "above.", "below."
_PREFIXES = (FACTOR_PREFIX, SETTING_PREFIX, ABOVE_PREFIX, BELOW_PREFIX)
# Words, settings and what was tested stand in no index: of more runs than this that match all else, the newest are
# read for them.
MOST_READ = 20_000
_READ = frozenset({"q", "build", "commit", "branch", "dbms_build"})
# Where other rows are read for each run, counting goes no further: two database pages a run take their time.
MOST_READ_TO_COUNT = 500
# Options of a select; what is beyond is found by words or named in the address.
MOST_OFFERED = 100
Choices = list[tuple[str, str]]
# Of what a reader may see, given the values that the address has.
Offer = Callable[[Reader, Sequence[str]], Any]

# Columns that begin an index, and of which many runs may have one value.
_INDEXED = frozenset(
    {"workload", "dbms_version", "hardware", "config", "owner", "state", "provenance", "primary_value", "measured_at"}
)
ORDERINGS: dict[str, str] = {
    "created_at": "created_at",
    "measured_at": "measured_at",
    "started_at": "started_at",
    "finished_at": "finished_at",
    "workload": "workload__name",
    "dbms": "dbms_version__name",
    "hardware": "hardware__name",
    "status": "state",
    "provenance": "provenance",
    "order_index": "order_index",
    "repeat": "repeat",
    "value": "primary_value",
}
_ORDERING_LABELS = {"dbms": "DBMS", "value": "value of the primary metric"}
_NULLABLE = frozenset({"measured_at", "started_at", "finished_at", "hardware__name", "order_index", "primary_value"})
# Orderings by a column with an index, and what no value of it is below.
_FIRST = datetime.min.replace(tzinfo=UTC)
_LEAST = {"measured_at": _FIRST, "started_at": _FIRST, "primary_value": -sys.float_info.max}
# By these the newest are sorted, as words are looked for: who sorts by a state wants to see what others there are.
_SORTED_NEWEST = frozenset({"finished_at", "status", "provenance", "order_index", "repeat"})


def not_looked_through(runs: QuerySet[Run]) -> str:
    """What of such a list is not whole, in words; "" where nothing is."""
    if not getattr(runs.query, NEWEST_ONLY, False):
        return ""
    subject = "Words, settings, versions tested and orders without an index"
    return f"{subject}: only the newest {MOST_READ:,} runs that match all else were looked through."


def columns_of(ordering: str) -> tuple[Column, ...]:
    """The columns of an ordering such as `-value`; empty or unknown is newest first."""
    path = ORDERINGS.get(ordering.removeprefix("-"))
    if path is None:
        return LAST_COLUMNS
    first = Column(path, falling=ordering.startswith("-"), nullable=path in _NULLABLE, least=_LEAST.get(path))
    return (first, *(column for column in LAST_COLUMNS if column.path != path))


def ordering_choices() -> Choices:
    labels = {name: _ORDERING_LABELS.get(name, name.replace("_", " ")) for name in ORDERINGS}
    return [
        (sign + name, label + after) for name, label in labels.items() for sign, after in (("", ""), ("-", ", falling"))
    ]


def _offered(rows: QuerySet[Any], given: Sequence[str]) -> Choices:
    """Slug and name of the first of them, and of those that the address names: a site may have thousands."""
    first = rows.values_list("slug", "name")[:MOST_OFFERED]
    return list(dict.fromkeys([*first, *(rows.filter(slug__in=given).values_list("slug", "name") if given else ())]))


def hardware_choices(user: Reader, given: Sequence[str]) -> Choices:
    return _offered(nameable(HardwareProfile.objects.order_by("name"), user), given)


def config_choices(user: Reader, given: Sequence[str]) -> Choices:
    """No form shows them; an address may name one."""
    return list(nameable(Config.objects.filter(slug__in=given), user).values_list("slug", "name")) if given else []


def workload_choices(user: Reader, given: Sequence[str]) -> Choices:
    """Those that have runs and those that can be scheduled: asking for the latter early is no mistake."""
    names = {present_slug(entry): versioned(entry.name, entry.version) for entry in WORKLOADS.values()}
    names |= {row.slug: str(row) for row in nameable(Workload.objects.all(), user)}
    return _by_name(names)


def _by_name(names: Mapping[str, str]) -> Choices:
    return sorted(names.items(), key=lambda choice: natural(choice[1]))


def dbms_choices(user: Reader, given: Sequence[str]) -> list[tuple[str, Any]]:
    """Every DBMS, and under its name its versions."""
    versions: dict[str, Choices] = {}
    rows = nameable(DbmsVersion.objects.all(), user).order_by("name")
    for slug, name, dbms in rows.values_list("slug", "name", "dbms__name"):
        versions.setdefault(dbms, []).append((slug, name))
    for rows_of in versions.values():
        rows_of.sort(key=lambda choice: natural(choice[1]))
    names = {slug: entry.name for slug, entry in DBMSS.items()}
    names |= dict(nameable(Dbms.objects.all(), user).values_list("slug", "name"))
    return [("any version", _by_name(names)), *sorted(versions.items())]


def medium_choices(user: Reader, given: Sequence[str]) -> Choices:
    machines = nameable(HardwareProfile.objects.all(), user)
    rows = StorageDevice.objects.exclude(medium="").filter(hardware__in=machines).order_by("medium")
    media = rows.values_list("medium", flat=True).distinct()[:MOST_OFFERED]
    return [(medium, StorageDevice(medium=medium).medium_label) for medium in media]


def publication_choices(user: Reader, given: Sequence[str]) -> Choices:
    return list(Publication.objects.order_by("title_en").values_list("slug", "title_en"))


def experiment_choices(user: Reader, given: Sequence[str]) -> Choices:
    """The newest ones, and unlisted ones that are named by their address."""
    newest = _offered(Experiment.objects.listed_for(user).order_by("-created_at"), ())
    named = Experiment.objects.readable_by(user).filter(slug__in=given) if given else Experiment.objects.none()
    return list(dict.fromkeys([*newest, *named.values_list("slug", "name")]))


class FactorField(forms.Field):
    """One or more values of a factor; numbers are compared as numbers."""

    widget = forms.MultipleHiddenInput

    def __init__(self, *, factor: str, user: Reader, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor
        self.user = user

    def clean(self, value: Any) -> list[str]:
        texts = [str(item) for item in value or []]
        if any("\x00" in text or len(text) > 300 for text in texts) or "\x00" in self.factor:
            raise ValidationError("A value has at most 300 characters, none of them NUL.")
        rows = RunFactor.objects.filter(listed(self.user, prefix="run__"), run__deleted_at=None, name=self.factor)
        if texts and not rows.exists():
            raise ValidationError("No run has a factor of this name.")
        return texts


class FactorFilter(django_filters.Filter):  # type: ignore[misc]  # untyped base
    field_class = FactorField

    def filter(self, qs: QuerySet[Run], value: list[str]) -> QuerySet[Run]:
        if not value:
            return qs
        numbers = [number for number in map(_number, value) if number is not None]
        name = self.extra["factor"]
        wanted = [Q(text__in=value, number=None), *([Q(number__in=numbers)] if numbers else [])]
        # One after the other: for the two at once SQLite would read all rows of this factor.
        ids = [RunFactor.objects.filter(condition, name=name).values("run") for condition in wanted]
        return _found_by(qs, ids, _of_run(RunFactor.objects.filter(reduce(or_, wanted), name=name)))


class SettingFilter(django_filters.CharFilter):  # type: ignore[misc]  # untyped base
    """As the DBMS said it was in force; where it said nothing of this setting, as its configuration gives it."""

    def __init__(self, setting: str) -> None:
        super().__init__("effective_settings", label=setting, max_length=200)
        self.setting = setting

    def filter(self, qs: QuerySet[Run], value: str) -> QuerySet[Run]:
        if not value:
            return qs
        name = self.setting
        given = ConfigParameter.objects.filter(name__iexact=name, value__iexact=value).values("config")
        qs = qs.annotate(in_force=Cast("effective_settings", TextField()))
        reported = Q(in_force__icontains=json.dumps([name, value], ensure_ascii=False))
        silent = ~Q(in_force__icontains=json.dumps([name], ensure_ascii=False)[:-1] + ",")
        return qs.filter(reported | Q(config__in=given) & silent)


class BoundFilter(django_filters.NumberFilter):  # type: ignore[misc]  # untyped base
    """Of a metric that the address names; the bound belongs to it."""

    def __init__(self, metric: str, lookup: str, label: str) -> None:
        super().__init__("measurements", lookup, label=label)
        self.metric = metric

    def filter(self, qs: QuerySet[Run], value: Decimal | None) -> QuerySet[Run]:
        if value is None:
            return qs
        # Ids, not a join: the values then stand in an index in their order.
        metrics = list(Metric.objects.filter(name=self.metric).values_list("pk", flat=True))
        rows = Measurement.objects.filter(metric__in=metrics)
        few = rows.filter(**{f"value__{self.lookup_expr}": float(value)})
        # Of one run: SQLite would look through all that are in the bounds.
        of_run = rows.alias(bounded=unindexed("value")).filter(**{f"bounded__{self.lookup_expr}": float(value)})
        return _found_by(qs, [few.values("run")], _of_run(of_run))


class AnyOf(django_filters.MultipleChoiceFilter):  # type: ignore[misc]  # untyped base
    """Any of the values that are given. A run has one value of each: nothing is found twice."""

    def __init__(self, field_name: str | None = None, **kwargs: Any) -> None:
        messages = {"invalid_choice": "There is no “%(value)s”."}
        super().__init__(field_name, distinct=False, error_messages=messages, **kwargs)

    def filter(self, qs: QuerySet[Run], value: list[str]) -> QuerySet[Run]:
        return by_field(qs, self.field_name, "in", value) if value else qs


class _Bound:
    """A bound of a column."""

    field_name: str
    lookup_expr: str

    def filter(self, qs: QuerySet[Run], value: Any) -> QuerySet[Run]:
        return qs if value is None else by_field(qs, self.field_name, self.lookup_expr, value)


class ValueBound(_Bound, django_filters.NumberFilter):  # type: ignore[misc]  # untyped base
    pass


class DayBound(_Bound, django_filters.DateFilter):  # type: ignore[misc]  # untyped base
    """Of a time in UTC: from the begin of the day, or to before the next."""

    def filter(self, qs: QuerySet[Run], value: date | None) -> QuerySet[Run]:
        if value is None:
            return qs
        day = min(value, date.max - timedelta(days=1)) + timedelta(days=self.lookup_expr == "lt")
        return super().filter(qs, datetime.combine(day, time.min, UTC))


class NamedFilter(AnyOf):
    """Its choices are names that the reader may see; until one is known, those that a stranger may."""

    def __init__(self, offer: Offer, field_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(field_name, choices=lambda: offer(AnonymousUser(), ()), **kwargs)
        self.offer = offer
        self.keys: list[UUID] | None = None

    def filter(self, qs: QuerySet[Run], value: list[str]) -> QuerySet[Run]:
        """By ids, not by a join: the list then reads its rows from an index, in their order."""
        if not value:
            return qs
        link = self.field_name.removesuffix("__slug")
        model: Any = Run._meta.get_field(link).related_model
        # Facets ask again and again; a FilterSet has filters of its own.
        if self.keys is None:
            self.keys = list(model.objects.filter(slug__in=value).values_list("pk", flat=True))
        return qs.filter(**{f"{link}__in": self.keys}) if self.parent.is_alone else by_field(qs, link, "in", self.keys)


def by_field(runs: QuerySet[Run], field: str, lookup: str, value: Any) -> QuerySet[Run]:
    """Few are looked up in the field's index; of many the newest are soon met by going through all in their order.

    PostgreSQL, which counts, chooses itself.
    """
    condition = {f"{field}__{lookup}": value}
    if connection.vendor != "sqlite" or field not in _INDEXED:
        return runs.filter(**condition)
    if bounded_count(Run.objects.filter(**condition), field)[1]:
        return runs.filter(**condition)
    kind: Any = Run._meta.get_field(field)
    name = f"any_{field}"
    rows = runs.alias(**{name: unindexed(field, kind.target_field if kind.is_relation else kind)})
    rows = rows.filter(**{f"{name}__{lookup}": value})
    return rows if lookup == "in" else _slow(rows)


def _found_by(runs: QuerySet[Run], ids: Sequence[QuerySet[Any]], otherwise: Q | Exists | Exact) -> QuerySet[Run]:
    """The same of both: `ids` find runs by indexes, `otherwise` tells of one run whether it is meant.

    Few are looked up by their ids; of many the newest are soon met by going through the runs in their order.
    """
    first, *others = (rows.order_by() for rows in ids)
    matching = first.union(*others, all=True) if others else first
    if bounded_count(matching)[1]:
        return runs.filter(pk__in=matching)
    return _slow(runs.filter(otherwise))


def _of_run(rows: QuerySet[Any]) -> Exists:
    return Exists(rows.filter(run=OuterRef("pk")))


def _slow(runs: QuerySet[Run]) -> QuerySet[Run]:
    setattr(runs.query, COUNTED_TO, MOST_READ_TO_COUNT)
    return runs


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def without_blanks(data: QueryDict) -> QueryDict:
    """A form sends every field it has; `workload=` asks for nothing."""
    kept = QueryDict(mutable=True)
    for name, values in data.lists():
        if filled := [value for value in values if value.strip()]:
            kept.setlist(name, filled)
    return kept


def without(params: QueryDict, *names: str) -> QueryDict:
    kept = params.copy()
    for name in names:
        kept.pop(name, None)
    return kept


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]  # untyped base
    """`factor.NAME=value` filters by any factor. A parameter given twice means either value, an empty one none."""

    workload = NamedFilter(workload_choices, "workload__slug", help_text="slug of the workload")
    dbms = NamedFilter(
        dbms_choices, method="filter_dbms", label="DBMS", help_text="slug of a DBMS or of one version of it"
    )
    hardware = NamedFilter(hardware_choices, "hardware__slug", help_text="slug of the machine")
    config = NamedFilter(config_choices, "config__slug", help_text="slug of the configuration")
    provenance = AnyOf(choices=Provenance.choices)
    status = AnyOf("state", choices=RunState.choices)
    state = AnyOf("state", choices=RunState.choices, help_text="the same as status")
    publication = NamedFilter(publication_choices, "publication__slug")
    experiment = NamedFilter(experiment_choices, "experiment__slug")
    durability = AnyOf(choices=DURABILITY_CHOICES)
    demonstration = django_filters.BooleanFilter()
    valid = django_filters.BooleanFilter(
        field_name="invalid_at",
        lookup_expr="isnull",
        label="Valid",
        help_text="false: those that somebody marked invalid",
    )
    visibility = AnyOf(choices=Visibility.choices)
    owner = django_filters.CharFilter(method="filter_owner", max_length=150, help_text="whose runs: a user name, or me")
    architecture = django_filters.CharFilter(
        field_name="dbms_version__architecture", lookup_expr="iexact", max_length=60, help_text="of the DBMS version"
    )
    measured_from = DayBound(field_name="measured_at", lookup_expr="gte", help_text="first day")
    measured_to = DayBound(field_name="measured_at", lookup_expr="lt", help_text="last day")
    batch = django_filters.UUIDFilter(field_name="batch", help_text="runs that were measured together")
    label = django_filters.CharFilter(method="filter_label", max_length=120, help_text="of the run, else of its batch")
    tag = django_filters.CharFilter(method="filter_tag", max_length=200, label="Tag", help_text="all of these words")
    medium = NamedFilter(
        medium_choices, method="filter_medium", label="Storage", help_text="what the data lay on: hdd, ssd, …"
    )
    above = ValueBound("primary_value", "gte", label="At least", help_text="of the primary metric")
    below = ValueBound("primary_value", "lte", label="At most", help_text="of the primary metric")
    lost = django_filters.BooleanFilter(
        method="filter_lost", label="Lost values", help_text="false: without what a source has lost"
    )
    build = django_filters.CharFilter(
        method="filter_tested", max_length=120, label="Build", help_text="that was tested"
    )
    commit = django_filters.CharFilter(
        method="filter_tested", max_length=120, label="Commit", help_text="its beginning"
    )
    branch = django_filters.CharFilter(method="filter_tested", max_length=120, label="Branch")
    dbms_build = django_filters.CharFilter(
        method="filter_tested", max_length=200, label="DBMS build", help_text="as the DBMS tells it"
    )
    cell_key = django_filters.CharFilter(max_length=64, help_text="all repeats of one cell")
    q = django_filters.CharFilter(
        method="filter_text", max_length=200, label="Search", help_text="words in names, notes and messages"
    )
    ordering = django_filters.ChoiceFilter(
        choices=ordering_choices, method="order", label="Sort by", help_text="a minus sign sorts falling"
    )

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, data: Any = None, *args: Any, user: Reader | None = None, **kwargs: Any) -> None:
        """Choices are names that `user` may see; without one the request's user, else a stranger."""
        given = without_blanks(data) if isinstance(data, QueryDict) else data
        super().__init__(given, *args, **kwargs)
        # Whether there is one value to look up: its runs then stand in an index in their order.
        self.is_alone = False
        self.user: Reader = user or getattr(self.request, "user", None) or AnonymousUser()
        for name, named in self.filters.items():
            if isinstance(named, NamedFilter):
                named.extra["choices"] = self._offering(name, named.offer)
        for key in given or ():
            if key in self.filters or not key.startswith(_PREFIXES) or "\x00" in key:
                continue
            extra = _filter_named(key, self.user)
            extra.parent, extra.model = self, Run
            self.filters[key] = extra

    def filter_queryset(self, queryset: QuerySet[Run]) -> QuerySet[Run]:
        return self.without(())

    def lost_values(self) -> QuerySet[Run]:
        """Those of them that a source has lost: only articles lose values, so that the index of states finds few."""
        rows: QuerySet[Run] = self.qs
        if self.is_alone:
            rows = self.without((), looked_up=False)
        return rows.filter(state=RunState.VALUE_MISSING)

    def without(self, names: Collection[str], *, looked_up: bool = True) -> QuerySet[Run]:
        """What all filters but these choose; of a valid one."""
        rows: QuerySet[Run] = self.queryset.all()
        given = {name: value for name, value in self.form.cleaned_data.items() if name not in names}
        wanted = [value for name, value in given.items() if value not in (None, "", []) and name != "ordering"]
        self.is_alone = looked_up and len(wanted) == 1 and len(wanted[0] if isinstance(wanted[0], list) else "1") == 1
        read = [name for name, value in given.items() if value and (name in _READ or name.startswith(SETTING_PREFIX))]
        is_sorted = str(given.get("ordering") or "").removeprefix("-") in _SORTED_NEWEST
        for name in [name for name in given if name not in read]:
            rows = self.filters[name].filter(rows, given[name])
        if read or is_sorted:
            rows = newest(cast(RunQuerySet, rows), MOST_READ)
        for name in read:
            rows = self.filters[name].filter(rows, given[name])
        return rows

    def in_words(self) -> list[tuple[str, str, str]]:
        """(parameter, value, in words) of each value that is set; of a valid one."""
        rows = []
        for name, values in self.data.lists() if isinstance(self.data, QueryDict) else ():
            if name == "ordering" or name not in self.filters:
                continue
            label = str(self.filters[name].label or name.replace("_", " ").capitalize())
            texts = dict(_flat(getattr(self.form.fields[name], "choices", ())))
            rows += [(name, value, texts.get(value) or f"{label} {value}") for value in values]
        return rows

    def _offering(self, name: str, offer: Offer) -> Callable[[], Any]:
        """A closure: a form copies its fields, and must not copy this object with its request."""
        values = self.data.getlist(name) if isinstance(self.data, QueryDict) else []
        # PostgreSQL refuses NUL even in a question.
        given = [value for value in values if "\x00" not in value]
        user = self.user
        # A form asks for them several times.
        return cache(lambda: offer(user, given))

    def filter_dbms(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        if not value:
            return queryset
        versions = DbmsVersion.objects.filter(Q(slug__in=value) | Q(dbms__slug__in=value))
        # Ids, not a join: the list then reads its rows from an index, in their order.
        keys = list(versions.values_list("pk", flat=True))
        if self.is_alone and len(keys) == 1:
            return queryset.filter(dbms_version__in=keys)
        return by_field(queryset, "dbms_version", "in", keys)

    def filter_label(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        own = Exact(unindexed("label"), "")
        said_by_batch = Run.objects.filter(own, batch__in=Batch.objects.filter(label=value).values("pk"))
        either = Q(Exact(unindexed("label"), value)) | Q(own, Exact(unindexed("batch__label"), value))
        ids = [Run.objects.filter(label=value).values("pk"), said_by_batch.values("pk")]
        return _found_by(queryset, ids, either)

    def filter_tag(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        words = Concat(Value(" "), "tags", Value(" "), "batch__tags", Value(" "), output_field=TextField())
        queryset = queryset.annotate(said_words=words)
        every, every_of_batches = distinct(Run, "tags"), distinct(Batch, "tags")
        for tag in value.lower().replace(",", " ").split()[:10]:
            either = Q(said_words__contains=f" {tag} ")
            if every is None or every_of_batches is None:
                queryset = _slow(queryset.filter(either))
                continue
            own = [tags for tags in every if tag in tags.split()]
            batches = Batch.objects.filter(tags__in=[tags for tags in every_of_batches if tag in tags.split()])
            ids = [Run.objects.filter(batch__in=batches.values("pk")).values("pk")]
            ids += [Run.objects.filter(tags__in=own).values("pk")] if own else []
            queryset = _found_by(queryset, ids, either)
        return queryset

    def filter_medium(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        if not value:
            return queryset
        devices = list(StorageDevice.objects.filter(medium__in=value).values_list("pk", flat=True))
        rows = RunStorage.objects.filter(role=StorageRole.DATA, device__in=devices)
        return _found_by(queryset, [rows.values("run")], _of_run(rows))

    def filter_lost(self, queryset: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        lost = Q(state=RunState.VALUE_MISSING)
        return queryset.filter(lost if value else ~lost)

    def filter_tested(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """What the run says, else what its batch says."""
        how = "startswith" if name == "commit" else "exact"
        own = Q(**{f"tested__{name}__{how}": value})
        return queryset.filter(own | Q(**{f"batch__tested__{name}__{how}": value}) & ~Q(tested__has_key=name))

    def filter_owner(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        owners = [self.user] if value == "me" else User.objects.filter(username=value)
        return by_field(queryset, "owner", "in", [owner.pk for owner in owners if owner.pk])

    def filter_text(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """Every word must be found somewhere."""
        columns = (
            "workload__name", "dbms_version__name", "hardware__name", "config__name", "experiment__name",
            "publication__title_en", "note", "message", "label", "tags", "batch__label", "batch__tags", "batch__note",
        )  # fmt: skip
        for word in value.split()[:10]:
            anywhere = Q()
            for column in columns:
                anywhere |= Q(**{f"{column}__icontains": word})
            queryset = queryset.filter(anywhere)
        return queryset

    def order(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """Runs without a value of that column come last, whichever way it is sorted."""
        return queryset.order_by(*(column.ordering(backward=False) for column in columns_of(value)))


def _filter_named(key: str, user: Reader) -> Any:
    """The filter of a parameter that itself names a factor, a setting or a metric."""
    kind, _, name = key.partition(".")
    if kind == "factor":
        return FactorFilter("factors", label=name, factor=name, user=user)
    if kind == "setting":
        return SettingFilter(name)
    lookup, word = {"above": ("gte", "from"), "below": ("lte", "to")}[kind]
    return BoundFilter(name, lookup, f"{name} {word}")


def _flat(choices: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Without the headings."""
    for value, text in choices:
        yield from text if isinstance(text, list) else [(str(value), str(text))]


def unknown(params: Iterable[str], *others: str) -> list[str]:
    """Names that are neither filters nor `others`: one that is misspelt and ignored would show the wrong runs."""
    names = {*RunFilter.base_filters, *others}
    return [name for name in params if name not in names and (not name.startswith(_PREFIXES) or "\x00" in name)]
