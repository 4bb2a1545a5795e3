"""One FilterSet for the HTML list and the REST list of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from typing import Any

import django_filters
from benchagent.catalog import DBMSS, WORKLOADS
from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.http import QueryDict
from django.utils.choices import flatten_choices

from runs.access.rules import nameable
from runs.formatting import natural
from runs.listing.cursor import LAST_COLUMNS, Column
from runs.machines.facts import names_apart
from runs.models import (
    Batch,
    Config,
    ConfigParameter,
    Dbms,
    DbmsVersion,
    Experiment,
    HardwareProfile,
    Measurement,
    Publication,
    Run,
    RunFactor,
    RunStorage,
    StorageDevice,
    User,
    Workload,
)
from runs.models.choices import DURABILITY_CHOICES, Provenance, RunState, StorageRole, Visibility
from runs.models.subjects import versioned
from runs.models.visible import Reader, listed
from runs.results import present_slug

FACTOR_PREFIX = "factor."
SETTING_PREFIX = "setting."
# Bounds of a metric: `above.p99_ms=5`; without a name, of the primary one.
ABOVE_PREFIX, BELOW_PREFIX = "above.", "below."
_PREFIXES = (FACTOR_PREFIX, SETTING_PREFIX, ABOVE_PREFIX, BELOW_PREFIX)
# Options of a select; what is beyond is found by words or named in the address.
MOST_OFFERED = 100
Choices = list[tuple[str, str]]
# What is offered of what a reader may see, given the values that the address has.
Offer = Callable[[Reader, Sequence[str]], Any]

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
# Where words are looked for: columns of a run, the tool that measured it among them, and of what it refers to.
_OWN_WORDS = ("note", "message", "label", "tags", "driver__name")
_LINKED_WORDS = {
    "workload": ("name",), "dbms_version": ("name",), "hardware": ("name",), "config": ("name",),
    "experiment": ("name",), "publication": ("title_en",), "batch": ("label", "tags", "note"),
}  # fmt: skip
_NULLABLE = frozenset({"measured_at", "started_at", "finished_at", "hardware__name", "order_index", "primary_value"})


def columns_of(ordering: str) -> tuple[Column, ...]:
    """The columns of an ordering such as `-value`; empty or unknown is newest first."""
    path = ORDERINGS.get(ordering.removeprefix("-"))
    if path is None:
        return LAST_COLUMNS
    first = Column(path, falling=ordering.startswith("-"), nullable=path in _NULLABLE)
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
    """A machine that was merged is offered no more; an old address may name it."""
    rows = HardwareProfile.objects.filter(Q(merged_into=None) | Q(slug__in=given)).order_by("name")
    return [*names_apart(dict(_offered(nameable(rows, user), given))).items()]


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
    """Every DBMS, and under its name its versions: of many the last, and those that the address names."""
    every: dict[str, Choices] = {}
    rows = nameable(DbmsVersion.objects.all(), user).select_related("dbms")
    for version in sorted(rows, key=lambda version: version.place):
        every.setdefault(version.dbms.name, []).append((version.slug, version.name))
    versions: dict[str, Choices] = {}
    for dbms, choices in every.items():
        versions[dbms] = [choice for choice in choices[:-MOST_OFFERED] if choice[0] in given] + choices[-MOST_OFFERED:]
    names = {slug: entry.name for slug, entry in DBMSS.items()}
    names |= dict(nameable(Dbms.objects.all(), user).values_list("slug", "name"))
    return [("any version", _by_name(names)), *sorted(versions.items())]


def named_dbms(user: Reader, given: Sequence[str]) -> Choices:
    """Of those that an address names, without the thousands that a form offers."""
    names = {slug: DBMSS[slug].name for slug in given if slug in DBMSS}
    names |= dict(nameable(Dbms.objects.filter(slug__in=given), user).values_list("slug", "name"))
    if versions := [slug for slug in given if slug not in names]:
        names |= dict(nameable(DbmsVersion.objects.filter(slug__in=versions), user).values_list("slug", "name"))
    return list(names.items())


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
        numbers = [number for number in map(finite_number, value) if number is not None]
        wanted = RunFactor.objects.filter(
            Q(text__in=value, number=None) | Q(number__in=numbers), name=self.extra["factor"]
        )
        return qs.filter(pk__in=wanted.values("run"))


class _Each:
    """All values of a parameter that is given several times, each of them cleaned."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[Any]:
        return [super(_Each, self).clean(item) for item in value or []]  # type: ignore[misc]  # of the field beside it


class TextsField(_Each, forms.CharField):
    pass


class UuidsField(_Each, forms.UUIDField):
    pass


class AnyText(django_filters.CharFilter):  # type: ignore[misc]  # untyped base
    field_class = TextsField


class AnyUuid(django_filters.UUIDFilter):  # type: ignore[misc]  # untyped base
    field_class = UuidsField


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
    """A bound of a metric that the address names."""

    def __init__(self, metric: str, lookup: str, label: str) -> None:
        super().__init__("measurements", lookup, label=label)
        self.metric = metric

    def filter(self, qs: QuerySet[Run], value: Decimal | None) -> QuerySet[Run]:
        if value is None:
            return qs
        bound = {f"value__{self.lookup_expr}": float(value)}
        return qs.filter(pk__in=Measurement.objects.filter(metric__name=self.metric, **bound).values("run"))


class AnyOf(django_filters.MultipleChoiceFilter):  # type: ignore[misc]  # untyped base
    """Any of the values that are given. A run has one value of each: nothing is found twice."""

    def __init__(self, field_name: str | None = None, **kwargs: Any) -> None:
        messages = {"invalid_choice": "There is no “%(value)s”."}
        super().__init__(field_name, distinct=False, error_messages=messages, **kwargs)


class DayBound(django_filters.DateFilter):  # type: ignore[misc]  # untyped base
    """A bound of a time in UTC: from the begin of the day, or to before the next."""

    def filter(self, qs: QuerySet[Run], value: date | None) -> QuerySet[Run]:
        if value is None:
            return qs
        day = min(value, date.max - timedelta(days=1)) + timedelta(days=self.lookup_expr == "lt")
        return qs.filter(**{f"{self.field_name}__{self.lookup_expr}": datetime.combine(day, time.min, UTC)})


class NamedFilter(AnyOf):
    """Its choices are names that the reader may see; until one is known, those that a stranger may. `named` tells of
    those that an address names, where no form is shown.
    """

    def __init__(
        self, offer: Offer, field_name: str | None = None, *, named: Offer | None = None, **kwargs: Any
    ) -> None:
        super().__init__(field_name, choices=lambda: offer(AnonymousUser(), ()), **kwargs)
        self.offer = offer
        self.named = named or offer


def finite_number(text: str) -> float | None:
    """None of what is none."""
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
    """`factor.NAME=value` filters by any factor. A parameter given twice means either value, and where it can have one
    only, as a bound, is refused; an empty one means none.
    """

    workload = NamedFilter(workload_choices, "workload__slug", help_text="slug of the workload")
    dbms = NamedFilter(
        dbms_choices,
        named=named_dbms,
        method="filter_dbms",
        label="DBMS",
        help_text="slug of a DBMS or of one version of it",
    )
    hardware = NamedFilter(
        hardware_choices, method="filter_hardware", label="Hardware", help_text="slug of the machine"
    )
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
    owner = AnyText(method="filter_owner", max_length=150, help_text="whose runs: a user name, or me")
    architecture = django_filters.CharFilter(
        field_name="dbms_version__architecture", lookup_expr="iexact", max_length=60, help_text="of the DBMS version"
    )
    measured_from = DayBound(
        field_name="measured_at", lookup_expr="gte", label="Measured from", help_text="first day, UTC"
    )
    measured_to = DayBound(
        field_name="measured_at", lookup_expr="lt", label="Measured to", help_text="last day, UTC; it is within"
    )
    batch = AnyUuid(field_name="batch", lookup_expr="in", help_text="runs that were measured together")
    label = AnyText(method="filter_label", max_length=120, help_text="of the run, else of its batch")
    tag = AnyText(method="filter_tag", max_length=200, label="Tag", help_text="all of these words")
    medium = NamedFilter(
        medium_choices, method="filter_medium", label="Storage", help_text="what the data lay on: hdd, ssd, …"
    )
    above = django_filters.NumberFilter("primary_value", "gte", label="At least", help_text="of the primary metric")
    below = django_filters.NumberFilter("primary_value", "lte", label="At most", help_text="of the primary metric")
    lost = django_filters.BooleanFilter(
        method="filter_lost", label="Lost values", help_text="false: without what a source has lost"
    )
    build = AnyText(method="filter_tested", max_length=120, label="Build", help_text="that was tested")
    commit = AnyText(method="filter_tested", max_length=120, label="Commit", help_text="its beginning")
    branch = AnyText(method="filter_tested", max_length=120, label="Branch")
    dbms_build = AnyText(method="filter_tested", max_length=200, label="DBMS build", help_text="as the DBMS tells it")
    cell_key = AnyText(lookup_expr="in", max_length=64, help_text="all repeats of one cell")
    q = django_filters.CharFilter(
        method="filter_text", max_length=200, label="Search", help_text="words in names (of tools too), notes, messages"
    )
    ordering = django_filters.ChoiceFilter(
        choices=ordering_choices, method="order", label="Sort by", help_text="a minus sign sorts falling"
    )

    # Made of those above by the base class.
    base_filters: dict[str, django_filters.Filter]

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(
        self, data: Any = None, *args: Any, user: Reader | None = None, is_shown: bool = False, **kwargs: Any
    ) -> None:
        """Choices are names that `user` may see; without one the request's user, else a stranger. `is_shown`: with the
        fields that nobody has filled in; copying and reading forty of them would cost every other request 2 ms.
        """
        given = without_blanks(data) if isinstance(data, QueryDict) else data
        if not is_shown:
            self.base_filters = {name: each for name, each in self.base_filters.items() if name in (given or ())}
        super().__init__(given, *args, **kwargs)
        self.user: Reader = user or getattr(self.request, "user", None) or AnonymousUser()
        for name, named in self.filters.items():
            if isinstance(named, NamedFilter):
                named.extra["choices"] = self._offering(name, named.offer if is_shown else named.named)
        for key in given or ():
            if key in self.filters or not key.startswith(_PREFIXES) or "\x00" in key:
                continue
            extra = _filter_named(key, self.user)
            extra.parent, extra.model = self, Run
            self.filters[key] = extra

    def filter_queryset(self, queryset: QuerySet[Run]) -> QuerySet[Run]:
        return self.without(())

    def is_valid(self) -> bool:
        if isinstance(self.data, QueryDict):
            for name, field in self.form.fields.items():
                takes_several = isinstance(field.widget, (forms.SelectMultiple, forms.MultipleHiddenInput))
                if len(self.data.getlist(name)) > 1 and not takes_several and name not in self.form.errors:
                    self.form.add_error(name, "It takes one value, and is given several.")
        return bool(super().is_valid())

    def problems(self, *others: str) -> dict[str, list[str]]:
        """What is wrong with its parameters, by their names, of which `others` are no filters; empty if it is valid."""
        wrong = {name: ["There is no such filter."] for name in unknown(self.data or (), *others)}
        return wrong | ({} if self.is_valid() else dict(self.errors))

    def without(self, names: Collection[str]) -> QuerySet[Run]:
        """What all filters but these choose; of a valid one."""
        rows: QuerySet[Run] = self.queryset.all()
        for name, value in self.form.cleaned_data.items():
            if name not in names:
                rows = self.filters[name].filter(rows, value)
        return rows

    def in_words(self) -> list[tuple[str, str, str]]:
        """(parameter, value, in words) of each value that is set; of a valid one."""
        rows = []
        for name, values in self.data.lists() if isinstance(self.data, QueryDict) else ():
            if name == "ordering" or name not in self.filters:
                continue
            label = str(self.filters[name].label or name.replace("_", " ").capitalize())
            offered = getattr(self.form.fields[name], "choices", ())
            texts = dict(flatten_choices(iter(offered)))  # a lazy one does not know its length
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
        return queryset.filter(dbms_version__in=list(versions.values_list("pk", flat=True)))

    def filter_hardware(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        """Of a machine that was merged those of the one that it became."""
        if not value:
            return queryset
        machines = HardwareProfile.objects.filter(Q(slug__in=value) | Q(merged__slug__in=value))
        return queryset.filter(hardware__in=list(machines.values_list("pk", flat=True)))

    def filter_label(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        return queryset.filter(Q(label__in=value) | Q(label="", batch__label__in=value))

    def filter_tag(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        words = Concat(Value(" "), "tags", Value(" "), output_field=TextField())
        batches = Batch.objects.alias(words=words)

        def has(tag: str) -> Q:
            tagged = Q(words__contains=f" {tag} ")
            return tagged | Q(batch__in=batches.filter(tagged).values("pk"))

        wanted = [text.lower().replace(",", " ").split()[:10] for text in value]
        return queryset.alias(words=words).filter(reduce(or_, (Q(*map(has, tags)) for tags in wanted)))

    def filter_medium(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        if not value:
            return queryset
        used = RunStorage.objects.filter(role=StorageRole.DATA, device__medium__in=value)
        return queryset.filter(pk__in=used.values("run"))

    def filter_lost(self, queryset: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        lost = Q(state=RunState.VALUE_MISSING)
        return queryset.filter(lost if value else ~lost)

    def filter_tested(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        """What the run says, else what its batch says."""
        how = "startswith" if name == "commit" else "exact"

        def of(said: str) -> Q:
            return reduce(or_, (Q(**{f"{said}__{name}__{how}": text}) for text in value))

        return queryset.filter(of("tested") | of("batch__tested") & ~Q(tested__has_key=name))

    def filter_owner(self, queryset: QuerySet[Run], name: str, value: list[str]) -> QuerySet[Run]:
        named = User.objects.filter(username__in=[name for name in value if name != "me"])
        owners = [*named, *([self.user] if "me" in value else [])]
        return queryset.filter(owner__in=[owner.pk for owner in owners if owner.pk])

    def filter_text(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        """Every word must be found somewhere. Names are looked through once, not for each run that has them."""
        for word in value.split()[:10]:
            anywhere = _holding(word, _OWN_WORDS)
            for link, columns in _LINKED_WORDS.items():
                named: Any = Run._meta.get_field(link).related_model
                rows = named.objects.filter(_holding(word, columns)).values("pk")
                anywhere |= Q(**{f"{link}__in": rows})
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


def _holding(word: str, columns: Iterable[str]) -> Q:
    return reduce(or_, (Q(**{f"{column}__icontains": word}) for column in columns))


def unknown(params: Iterable[str], *others: str) -> list[str]:
    """Names that are neither filters nor `others`: one that is misspelt and ignored would show the wrong runs."""
    names = {*RunFilter.base_filters, *others}
    return [name for name in params if name not in names and (not name.startswith(_PREFIXES) or "\x00" in name)]
