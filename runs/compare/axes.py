"""What varies decides the chart: which fact is its x axis, which names its series, which cuts it into panels.

The rule for what a reader leaves open (`arrange`) is told in docs/use/compare.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import groupby, pairwise
from operator import itemgetter

from django.http import QueryDict

from runs.compare import asked
from runs.compare.asked import Question
from runs.compare.comparison import Comparison
from runs.compare.facts import (
    CORES,
    DATE,
    MOMENT,
    NEVER_TAKEN,
    NO_FACT,
    RELEASE,
    SET,
    SYSTEM,
    Columns,
    Fact,
    fact_value,
    rank_of_kind,
)
from runs.compare.grouping import position_of
from runs.compare.groups import SIZES, Group
from runs.compare.panels import CLIENTS, COLOURS, RELATIVE, Axes, drawn_groups, size_level
from runs.formatting import grouped, version_order
from runs.listing.filters import finite_number
from runs.run.facets import FACTOR, branch_of
from runs.run.likeness import DAY, SETTING
from runs.stats.steps import LEAST_DAYS

BARS, CURVE, HEAT_MAP, TABLE, TRADE_OFF, TIME, LATENCY = (
    "bars", "curve", "heatmap", "table", "tradeoff", "time", "latency",
)  # fmt: skip
# In the order of the tabs, and what a tab says.
VIEWS = {
    BARS: "Bars", CURVE: "Curve", HEAT_MAP: "Heat map", TABLE: "Table", TRADE_OFF: "Trade-off", TIME: "Over time",
    LATENCY: "Latency",
}  # fmt: skip
# Those that draw points along the axes.
ON_AXES = (CURVE, HEAT_MAP, TABLE)
# What a select says to have no fact on this axis.
NONE = "none"
# For a value, of a fact that is pooled.
POOL = "*"
X_AS = {"value": "as it was asked for", "size": "size", "of_ram": "size ÷ RAM", "of_buffer": "size ÷ buffer pool"}
Y_AS = {"absolute": "absolute", **RELATIVE}
SCALES = ("linear", "log")
LEAST_OF_A_CURVE, MOST_PANELS, MOST_BARS = 3, 12, 20
# In this order facts with as many levels take series and panels.
_SERIES_FIRST = ("dbms", SYSTEM, "hardware", "storage", "factor", "config", "tested", "workload", "batch")
# What a date tells already.
_OF_A_DATE = frozenset({"batch", DAY, "tested"})
# What changes below a curve that goes on.
_MAY_CHANGE = frozenset({"dbms", "config", "context"})
# Where its values come back more often, on average, each is measured beside the others; a commit not where it is
# measured once more.
_MOST_STRETCHES = 1.5


def arrange(
    comparison: Comparison, params: QueryDict | None = None, others: Sequence[Comparison] = (),
    columns: Columns | None = None,
) -> Axes:  # fmt: skip
    """What `params`, else the comparison's own controls, ask for; what they leave open by the rule. `others`: the same
    groups by further metrics. `columns`: of all its groups, where they have been read and nothing is fixed.

    A numeric factor with three levels or more becomes x: a size first, then terminals or threads, then what has most
    levels, then the date. Of the other facts the one that is asked about, else that with most levels, names the series,
    the next cuts panels (twelve at most), and what is left over names series too. Facts that follow from the chosen
    ones take no part.
    """
    params, comparisons = comparison.controls if params is None else params, [comparison, *others]
    wholes = [each.whole or each for each in comparisons]
    by_metric = [Columns(drawn_groups(each.groups, {})) for each in wholes] if columns is None else [columns]
    is_over_dates = params.get("x") == DATE
    varying = everything = _facts(wholes[0], by_metric, with_systems=is_over_dates)
    address = _Address(params, everything)
    fixed, pooled = address.levels()
    if fixed or any(each.whole for each in comparisons):
        by_metric = [Columns(drawn_groups(each.groups, fixed)) for each in comparisons]
        varying = _facts(comparison, by_metric, with_systems=is_over_dates)
    columns = _joined(by_metric)
    facts = everything | varying
    pooled += address.facts("pool")
    view = address.choice("view", VIEWS)
    asked_for = {*params.getlist("series"), *params.getlist("panels"), *pooled}
    # Along dates a reader sees systems, whose versions are what changed, or versions beside each other.
    are_changes = is_over_dates and "dbms" not in asked_for and are_releases(columns)
    hidden = (of_a_release(columns) if are_changes else {SYSTEM}) - asked_for
    free = [name for name in varying if name not in pooled and name not in hidden]

    wants_series = NONE not in params.getlist("series")
    x = address.fact("x")
    if x in pooled:
        address.problems["x"] = [f"“{x}” is pooled: it has no places on x."]
        x = None
    if x is None:
        others_ask = {*params.getlist("series"), *params.getlist("panels")}
        x = _x_by_rule(comparison.question, facts, columns, [name for name in free if name not in others_ask])
    series = tuple(name for name in address.facts("series") if name in free and name != x)
    if not series and params.get("base_set") and SET in free and wants_series:
        series = (SET,)
    panels = address.panels(facts, free, {x, *series})

    # The date is an axis or nothing.
    taken = {x, *series, panels, DATE, *NEVER_TAKEN, *_along_x(x, free, columns)}
    open_names = _most_levels_first([name for name in free if name not in taken], facts, columns, comparison.question)
    many_bars = not view and sum(bool(group.dots) for group in columns.groups) > MOST_BARS
    if not x and open_names and params.get("x") != NONE and (view in (HEAT_MAP, TABLE) or many_bars):
        x = open_names.pop(0)
        view = view or (HEAT_MAP if open_names or series else BARS)
    may_cut = view != BARS and bool(x or view)
    named, panels = _shared_out(
        open_names, facts, columns, x=x, series=series, panels=panels, may_cut=may_cut, wants_series=wants_series
    )
    if wants_series:
        # Configurations of several DBMSs are named with theirs.
        of_several = "config" in named and "dbms" in facts and "dbms" not in (*named, *pooled, x, panels)
        series = ("dbms", *named) if of_several else (*named,)
    used = {x, panels, *series, *pooled, *fixed}
    # An article's GB and somebody's scale factors stand on one axis by the sizes that they came to.
    is_size = x.removeprefix(FACTOR) in SIZES
    sizes_differ_in_kind = is_size and any(size_level(group, x) != fact_value(group, x) for group in columns.groups)
    return Axes(
        view=view or (CURVE if x and facts[x].is_number else BARS),
        x=x,
        series=series,
        panels=panels or "",
        fixed=fixed,
        pooled=tuple(pooled),
        x_as=address.x_as(x) or ("size" if sizes_differ_in_kind else "value"),
        y_as=address.choice("y_as", Y_AS) or "absolute",
        x_scale=address.choice("x_scale", SCALES),
        y_scale=address.choice("y_scale", SCALES),
        facts=facts,
        follow=tuple(name for name in facts if name not in used and name not in NEVER_TAKEN),
        problems=address.problems,
    )


def _shared_out(
    open_names: Sequence[str], facts: Mapping[str, Fact], columns: Columns, *, x: str, series: Sequence[str],
    panels: str | None, may_cut: bool, wants_series: bool,
) -> tuple[list[str], str | None]:  # fmt: skip
    """What names the series, and what cuts panels where it `may_cut` and a reader leaves `panels` open (None)."""
    # Another disk at each size is no curve over sizes; the configuration of each DBMS, where they are x, says no more.
    named_x = [x] if x and not facts[x].is_number else []
    named = [*series]
    for name in open_names:
        if columns.follow([name], [*named_x, *named, *filter(None, [panels])]):
            continue
        # The first names the series, where any may; batches stand in one chart as long as the colours last.
        is_next = bool(named) or not wants_series
        is_next = is_next and (name != "batch" or len(set(columns.rows([*named, name]))) > COLOURS)
        if panels is None and may_cut and is_next and 1 < len(facts[name].values) <= MOST_PANELS:
            panels = name
        else:
            named.append(name)
    return named, panels


class _Address:
    """What an address asks for, of the facts that vary; `problems`: parameter -> what there is not."""

    def __init__(self, params: QueryDict, varying: Mapping[str, Fact]) -> None:
        self.params, self.varying = params, varying
        self.problems: dict[str, list[str]] = {}

    def levels(self) -> tuple[dict[str, str], list[str]]:
        """Field -> its one value, and the fields that are pooled, as a form says it (`fix=FIELD=*`)."""
        fixed, pooled = {}, []
        for text in filter(None, self.params.getlist("fix")):
            name, _, value = text.partition("=")
            if name in self.varying and value == POOL:
                pooled.append(name)
            elif name in self.varying and (stored := _as_stored(value, self.varying[name])):
                fixed[name] = stored
            else:
                there = self.varying[name].values if name in self.varying else self.varying
                words = f"There is no “{text}”. There are: {', '.join(there) or NONE}."
                self.problems.setdefault("fix", []).append(words)
        return fixed, pooled

    def facts(self, parameter: str) -> list[str]:
        """Those that a parameter names and that vary."""
        return [name for name in map(str, self.params.getlist(parameter)) if self._varies(name, parameter)]

    def fact(self, parameter: str) -> str | None:
        """ "" where none is wanted, None where it is left to the rule."""
        name = self.params.get(parameter, "")
        return "" if name == NONE else name if self._varies(name, parameter) else None

    def _varies(self, name: str, parameter: str) -> bool:
        if name not in self.varying and name not in ("", NONE):
            words = f"“{name}” does not vary. There are: {', '.join(self.varying) or NONE}."
            self.problems.setdefault(parameter, []).append(words)
        return name in self.varying

    def panels(self, facts: Mapping[str, Fact], free: Sequence[str], taken: Set[str]) -> str | None:
        """As `fact`; None also where it cannot be."""
        name = self.fact("panels")
        if name and len(facts[name].values) > MOST_PANELS:
            words = f"{facts[name].label} has {len(facts[name].values)} levels: {MOST_PANELS} at most."
            self.problems["panels"] = [words]
            return None
        return None if name and (name in taken or name not in free) else name

    def x_as(self, x: str) -> str:
        """Where a database stands by its bytes, x is what made it so large: groups of one size would share a place."""
        chosen = self.choice("x_as", X_AS)
        if chosen in ("", "value") or not x or x.removeprefix(FACTOR) in SIZES:
            return chosen
        self.problems["x_as"] = [f"“{x}” is no size of the database, which x could stand for."]
        return ""

    def choice(self, parameter: str, choices: Iterable[str]) -> str:
        text = self.params.get(parameter, "")
        if text and text not in choices:
            self.problems[parameter] = [f"There is no “{text}”. There are: {', '.join(choices)}."]
            return ""
        return text


def _as_stored(text: str, fact: Fact) -> str | None:
    """The value of the fact that is meant: a number also without the unit that it is stored with, or with one that its
    heading says.
    """
    number = finite_number(text.partition(" ")[0].replace(",", ""))
    by_number = (value for value in fact.values if number is not None and fact.numbers.get(value) == number)
    of_its_unit = (value for value in by_number if text.partition(" ")[2] in ("", fact.label.lower()))
    return text if text in fact.values else next(of_its_unit, None)


def _joined(by_metric: Sequence[Columns]) -> Columns:
    """Of the groups of all metrics, each once."""
    if len(by_metric) == 1:
        return by_metric[0]
    return Columns(list({group.key: group for columns in by_metric for group in columns.groups}.values()))


def _facts(comparison: Comparison, by_metric: Sequence[Columns], *, with_systems: bool) -> dict[str, Fact]:
    """Those that differ among the groups of one of the metrics: loads and transactions need not be told apart. Asked
    since when, batches of one day differ in their date. `with_systems`: several of which one has several versions, too.
    """
    is_of_dates = comparison.question.kind in asked.OF_DATES
    every = _joined(by_metric)
    days = list(dict.fromkeys(every[DATE]))
    facts: dict[str, Fact] = {}
    systems = list(dict.fromkeys(every[SYSTEM]))
    of_systems = with_systems and len(systems) < len(set(every["dbms"]))
    added = [Fact(SYSTEM, "System", systems, {name: name for name in systems}, {})] if of_systems else []
    for fact in (*comparison.varying, *added, Fact(DATE, "Date", days, {day: day for day in days}, {})):
        told_by = MOMENT if fact.field == DATE and is_of_dates else fact.field
        if any(len(set(columns[told_by])) > 1 for columns in by_metric):
            numbers, there = fact.numbers or _numbers(every, fact.field), {*every[fact.field]}
            # In the order of the cells, whatever comes first on the page.
            values = [value for value in fact.values if value in there]
            if numbers:
                values.sort(key=lambda value: (value not in numbers, numbers.get(value, 0.0)))
            facts[fact.field] = replace(fact, values=values, numbers=numbers)
    return facts


def _numbers(columns: Columns, name: str) -> dict[str, float]:
    """The numbers by stored value."""
    if name == DATE:
        return {day: float(date.fromisoformat(day).toordinal()) for day in set(columns[DATE])}
    if name in CORES:
        return {cores: float(cores) for cores in set(columns[name]) if cores != NO_FACT}
    if not name.startswith(FACTOR):
        return {}
    # One group of each value is enough: its rows of factors are read for it.
    by_value = dict(zip(columns[name], columns.groups, strict=True))
    numbers = ((value, group.all_runs[0].factor(name.removeprefix(FACTOR))) for value, group in by_value.items())
    return {value: float(number) for value, number in numbers if isinstance(number, int | float)}


def _most_levels_first(
    names: Sequence[str], facts: Mapping[str, Fact], columns: Columns, question: Question
) -> list[str]:
    """What is asked about before all: where nobody says, which system is best, as far as there are colours and each has
    one configuration. A device is not known of a run that failed; that it was asked for by name is.
    """
    are_systems = "dbms" in names and len(facts["dbms"].values) <= COLOURS and columns.follow(["config"], ["dbms"])
    asked_about = question.fact or ("dbms" if question.kind in ("", asked.BEST) and are_systems else "")
    return sorted(
        names,
        key=lambda name: (
            name != asked_about,
            -len(facts[name].values),
            NO_FACT in facts[name].values,
            rank_of_kind(name, _SERIES_FIRST),
        ),
    )


def _x_by_rule(question: Question, facts: Mapping[str, Fact], columns: Columns, free: Sequence[str]) -> str:
    """The first in the rule's order of the numeric facts that have three levels while all else is alike; but the date
    where it has more, and enough to tell a step.

    A question of a curve is about clients or a size, of which two levels are enough.
    """
    wanted = CLIENTS if question.kind == asked.SCALES else SIZES if question.kind in asked.OF_CURVES else ()
    for field in (f"{FACTOR}{name}" for name in wanted):
        if field in free and len(facts[field].numbers) > 1:
            return field

    if question.kind in asked.OF_DATES and DATE in free and len(facts[DATE].values) == 1:
        return DATE

    def position(name: str) -> tuple[int, int]:
        bare = name.removeprefix(FACTOR)
        order = (*SIZES, *CLIENTS)
        return (order.index(bare) if bare in order else len(order) + (name == DATE), -len(facts[name].values))

    for name in sorted(free, key=position):
        is_axis = name not in NEVER_TAKEN and facts[name].is_number and len(facts[name].numbers) >= LEAST_OF_A_CURVE
        if is_axis and (levels := most_levels(name, free, columns)) >= LEAST_OF_A_CURVE:
            # What is swept night after night is asked since when it changed.
            days = most_levels(DATE, free, columns) if DATE in free and not wanted else 0
            return DATE if days >= max(2 * LEAST_DAYS, levels + 1) else name
    return ""


def most_levels(x: str, free: Collection[str], columns: Columns) -> int:
    """How many levels of x there are, at most, while all else that is free is alike."""
    return max(map(len, levels_while_alike(x, free, columns)), default=0)


def levels_while_alike(x: str, free: Collection[str], columns: Columns) -> list[set[str]]:
    """The levels of x of what is alike in all else that is free, but for the day: a sweep may take several."""
    not_held = NEVER_TAKEN | _along_x(x, free, columns) | {x, DATE}
    levels: dict[tuple[str, ...], set[str]] = {}
    levels_of_x = columns[MOMENT if x == DATE else x]
    for key, level in zip(columns.rows([name for name in free if name not in not_held]), levels_of_x, strict=True):
        levels.setdefault(key, set()).add(level)
    return [*levels.values()]


def are_days_apart(comparison: Comparison, field: str) -> bool:
    """Whether each value of a fact was measured on days of its own, on each machine, enough of them to tell a step, and
    some on several, as the versions that nightlies went through: the best day of one against that of another compares
    days.
    """
    columns = comparison.columns
    is_own = field in comparison.axes.facts and columns.follow([field], [DATE, "hardware"])
    is_own = is_own and not columns.follow([field], ["hardware"])
    days, values = len(set(columns[DATE])), len(set(columns[field]))
    return is_own and days >= 2 * LEAST_DAYS and days > values > 1


def _along_x(x: str, free: Collection[str], columns: Columns) -> set[str]:
    """As queries that are put to the largest size only. Another DBMS or device at each size is no curve over size; a
    configuration that was made for each level is one (`max_connections` of so many terminals).
    """
    if x == DATE:
        return _along_dates(free, columns)
    sizes = set(SIZES) if x.removeprefix(FACTOR) in SIZES else set()
    factors = [name for name in free if x and name != x and name.startswith(FACTOR)]
    along = {name for name in factors if name.removeprefix(FACTOR) in sizes or columns.follow([name], [x])}
    if x.startswith(SETTING):
        # A configuration is its settings.
        settings = [name for name in free if name.startswith(SETTING)]
        along |= {name for name in settings if name != x and columns.follow([name], [x])}
        return along | {"config"} if columns.follow(["config"], [x, "dbms", *settings]) else along
    of_a_level = x and "config" in free and columns.follow(["config"], [x, "dbms"]) and columns.follow([x], ["config"])
    return along | {"config"} if of_a_level else along


def _goes_on_as_changed(name: str, columns: Columns, groups: Sequence[Group]) -> bool:
    """On each machine by itself, which is upgraded on a day of its own; of releases that are measured beside each other
    within each: 17.1 follows 17.0, whatever 16.4 does.
    """
    places = grouped(zip(columns.rows(["hardware", RELEASE]), columns.groups, strict=True)).values()
    changing = [own for own in map(Columns, places) if len(places) == 1 or len(set(own[name])) > 1]
    return bool(changing) and all(_is_changed(name, own, groups) for own in changing)


def _is_changed(name: str, columns: Columns, groups: Iterable[Group]) -> bool:
    """Whether all `groups` are of one DBMS, of which a fact changes in the midst: a version, configuration or kernel
    may be taken back, but does not alternate with another, and one stays for long enough to be a curve; or there are as
    many versions as a step takes, as releases, in the order in which they came. Three versions on three days are
    compared, as are those measured from new to old.
    """
    lasted = Counter(value for _, value in {*zip(columns[DATE], columns[name], strict=True)})
    order = _succession(name, columns)
    follow = columns.follow([name], [MOMENT]) and len(order) <= _MOST_STRETCHES * len(lasted)
    if not follow or len({group.all_runs[0].dbms_version.dbms_id for group in groups}) > 1:
        return False
    versions = {
        value: version_order(group.all_runs[0].dbms_version.version)
        for value, group in zip(columns[name], columns.groups, strict=True)
    }
    rising = order == sorted(order, key=lambda value: versions[value])
    are_releases = name == "dbms" and len(lasted) >= 2 * LEAST_DAYS and rising
    return are_releases or max(lasted.values()) >= LEAST_OF_A_CURVE


def _succession(name: str, columns: Columns) -> list[str]:
    """The values of a fact in the order of their batches, but for where one comes back once, for fewer days than a step
    takes, as a version for a day.
    """
    batches = {*zip(columns[MOMENT], columns[DATE], columns[name], strict=True)}
    in_order = sorted(batches, key=lambda batch: position_of(batch[0]))
    of_values = groupby(in_order, key=itemgetter(2))
    stretches = [(value, len({day for _, day, _ in of_value})) for value, of_value in of_values]
    counts, known, order = Counter(value for value, _ in stretches), set[str](), list[str]()
    for value, lasted in stretches:
        if value not in known or counts[value] > 2 or lasted >= LEAST_DAYS:
            known.add(value)
            order.append(value)
    return [value for value, _ in groupby(order)]


def are_releases(columns: Columns) -> bool:
    """Whether the versions of each system came one after the other, the older ones first and none beside another on a
    day, and some system has several.
    """
    of_systems: dict[str, set[tuple[str, str]]] = {}
    for group in columns.valued.groups:
        version = version_order(group.all_runs[0].dbms_version.version)
        of_systems.setdefault(fact_value(group, SYSTEM), set()).add((fact_value(group, DATE), version))
    by_day = [sorted(of_system) for of_system in of_systems.values()]
    are_apart = all(one[0] < other[0] for days in by_day for one, other in pairwise(days))
    versions = [[version for _, version in days] for days in by_day]
    return are_apart and all(each == sorted(each) for each in versions) and any(len({*each}) > 1 for each in versions)


def of_a_release(columns: Columns) -> set[str]:
    """What changes with the version, where versions are what changed."""
    return {"dbms", *(["config"] if columns.follow(["config"], ["dbms"]) else [])}


def _stretches(name: str, columns: Columns) -> float:
    """In how many stretches of days a value of a fact is there, on average: 1 where none comes back."""
    days = sorted({*zip(columns[DATE], columns[name], strict=True)})
    return len([*groupby(value for _, value in days)]) / max(1, len(set(columns[name])))


def _along_dates(free: Collection[str], columns: Columns) -> set[str]:
    """What names a day of one curve: of two versions that are measured each night each has a batch and a commit. A
    DBMS that is upgraded or configured anew in the midst goes on as the same curve, as does one below which the kernel
    changes; another branch is another curve. What has no number, as a copy, parts nothing.
    """
    groups = columns.groups
    columns = Columns([group for group in groups if group.dots])
    names = [name for name in free if name not in NEVER_TAKEN and name != DATE]
    is_one_branch = len({branch_of(group.all_runs[0]) for group in columns.groups}) < 2
    of_a_date = [
        name
        for name in names
        if name.partition(":")[0] in _OF_A_DATE and _stretches(name, columns) <= _MOST_STRETCHES
        and (name != "tested:branch" or is_one_branch)
    ]  # fmt: skip
    of_a_date += [
        name for name in names if name.partition(":")[0] in _MAY_CHANGE and _goes_on_as_changed(name, columns, groups)
    ]
    lasting = [name for name in names if name not in of_a_date]
    along: set[str] = set()
    for name in sorted(of_a_date, key=lambda name: len(set(columns[name]))):
        if columns.follow([name], [MOMENT, *lasting]):
            along.add(name)
        else:
            lasting.append(name)
    return along
