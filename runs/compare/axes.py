"""What varies decides the chart: which fact is its x axis, which names its series, which cuts it into panels.

The rule for what a reader leaves open (`arrange`) is told in docs/use/compare.md.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain

from django.http import QueryDict
from django.utils.text import slugify

from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, FACTOR, NEVER_TAKEN, Columns, Fact, key_of, value_of
from runs.compare.groups import NO_FACT, CommonFact, Group, VaryingFact
from runs.compare.guard import bare_field, stated
from runs.compare.percentiles import of_together
from runs.run.memory import MB, buffer_bytes, memory_bytes
from runs.run.number import values_of
from runs.stats import geometric_mean_interval, summarise

BARS, CURVE, HEAT_MAP, TABLE, TIME, LATENCY, TRADE_OFF = VIEWS = (
    "bars", "curve", "heatmap", "table", "time", "latency", "tradeoff",
)  # fmt: skip
# What a select says to have no fact on this axis.
NONE = "none"
# For a value, of a fact that is pooled; and what its groups then have for it.
POOL, POOLED = "*", "pooled"
X_AS = {"value": "as it was asked for", "size": "size", "of_ram": "size ÷ RAM", "of_buffer": "size ÷ buffer pool"}
Y_AS = {"absolute": "absolute", "first": "% of the first level", "baseline": "% of the baseline series"}
SCALES = ("linear", "log")
# Which of the added-up sets a run was chosen by.
SET_FACT = "set"
SIZES = (
    "size_gb", "size_mb", "target_size_mb", "warehouses", "scale_factor", "dataset_mb", "rows_per_table", "rows",
)  # fmt: skip
CLIENTS = ("terminals", "threads", "clients", "connections")
LEAST_LEVELS, MOST_PANELS, MOST_BARS = 3, 12, 20
# In this order facts with as many levels take series and panels.
_KINDS = ("dbms", "storage", "factor", "hardware", "config", "tested", "workload", "batch")
# What a date tells already.
_OF_A_DATE = frozenset({"batch", "tested"})
SIZE_METRIC = "db_size_bytes"
# Sizes in GB are those of articles, of 1024 MB of 1024 kB as their memory is; what was measured is in MB of 1,000 kB.
_MB_EACH = {"size_gb": 1024**3 / MB, "size_mb": 1, "target_size_mb": 1, "dataset_mb": 1}


@dataclass(frozen=True)
class Point:
    """`group` may stand for several that a reader pools. Without dots it is a gap."""

    x: float
    label: str
    group: Group


@dataclass(frozen=True)
class Curve:
    """`color`: index of the series, the same in all panels. `points` in the order of x, each x once."""

    label: str
    key: str
    color: int
    points: list[Point]


@dataclass(frozen=True)
class Panel:
    label: str
    key: str
    curves: list[Curve]


@dataclass(frozen=True)
class Axes:
    """The fields of `facts` that take x, series and panels, empty where none does.

    `fixed`: field -> the one value that is drawn. `pooled`: fields that the reader pools. `facts`: all that vary, by
    field. `follow`: fields that say nothing beyond the chosen ones. `problems`: parameter -> what there is not.
    """

    view: str
    x: str = ""
    series: tuple[str, ...] = ()
    panels: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)
    pooled: tuple[str, ...] = ()
    x_as: str = "value"
    y_as: str = "absolute"
    x_scale: str = ""
    y_scale: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    follow: tuple[str, ...] = ()
    problems: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def x_fact(self) -> Fact | None:
        return self.facts.get(self.x)

    def along_x(self, groups: Sequence[Group]) -> set[str]:
        """What only says where a group stands on x, as differences name it: x, and a number of the tests along it."""
        counted = (name for name in NEVER_TAKEN & self.facts.keys() if name.startswith(FACTOR))
        columns = Columns(groups)
        along = (name for name in counted if columns.follow([name], [self.x]))
        return {bare_field(name) for name in (self.x, *along)} if self.x else set()

    def drawn(self, comparison: Comparison) -> list[Group]:
        return _held(asked(comparison), self.fixed)


def arrange(comparison: Comparison, params: QueryDict | None = None, others: Sequence[Comparison] = ()) -> Axes:
    """What `params` ask for; what they leave open by the rule. `others`: the same groups by further metrics.

    A numeric factor with three levels or more becomes x: a size first, then terminals or threads, then what has most
    levels, then the date. Of the other facts the one with most levels names the series, the next cuts panels (twelve
    at most), and what is left over names series too. Facts that follow from the chosen ones take no part.
    """
    params, comparisons = params if params is not None else QueryDict(), [comparison, *others]
    problems: dict[str, list[str]] = {}
    everything = _facts([one.whole or one for one in comparisons], {})
    fixed, pooled = _fixed(params, everything, problems)
    groups = list({group.key: group for one in comparisons for group in _held(asked(one), fixed)}.values())
    columns = Columns(groups)
    is_whole = not fixed and all(one.whole is None for one in comparisons)
    facts = everything if is_whole else _facts(comparisons, fixed)
    pooled += _known(params.getlist("pool"), everything, "pool", problems)
    view = _choice(params, "view", VIEWS, problems)
    free = [name for name in facts if name not in pooled]
    facts = everything | facts
    x = _asked_for(params, "x", everything, problems)
    if x is None:
        x = _x_by_rule(facts, columns, [name for name in free if name not in _taken(params)])
    series = tuple(name for name in _known(params.getlist("series"), everything, "series", problems) if name in free)
    series = tuple(name for name in series if name != x)
    if not series and params.get("base_set") and SET_FACT in free and NONE not in params.getlist("series"):
        series = (SET_FACT,)
    panels = _asked_for(params, "panels", everything, problems)
    if panels and len(facts[panels].values) > MOST_PANELS:
        problems["panels"] = [f"{facts[panels].label} has {len(facts[panels].values)} levels: {MOST_PANELS} at most."]
        panels = None
    panels = None if panels and (panels in (x, *series) or panels not in free) else panels
    chosen = [name for name in (x, *series, panels or "") if name]
    open_ones = _by_levels([name for name in free if name not in chosen and name not in NEVER_TAKEN], facts)
    along = _along_x(x, free, columns)
    open_ones = [name for name in open_ones if name not in along]
    tabular = view in (HEAT_MAP, TABLE) or (not x and not view and sum(map(bool, (g.dots for g in groups))) > MOST_BARS)
    if not x and tabular and open_ones and params.get("x") != NONE:
        x = open_ones.pop(0)
        view = view or (HEAT_MAP if open_ones or series else BARS)
    left: list[str] = []
    for name in open_ones:
        if columns.follow([name], [*series, *left, *filter(None, [panels])]):
            continue
        if not series and NONE not in params.getlist("series"):
            series = (name,)
        elif panels is None and view != BARS and (x or view) and 1 < len(facts[name].values) <= MOST_PANELS:
            panels = name
        else:
            left.append(name)
    if NONE not in params.getlist("series"):
        series = _with_dbms((*series, *left), [x, panels or ""], facts)
    used = {x, panels, *series, *pooled, *fixed}
    return Axes(
        view=view or (CURVE if x and facts[x].is_number else BARS),
        x=x if x in facts else "",
        series=series,
        panels=panels if panels in facts else "",
        fixed=fixed,
        pooled=tuple(pooled),
        x_as=_choice(params, "x_as", X_AS, problems) or _x_as_by_rule(x, groups),
        y_as=_choice(params, "y_as", Y_AS, problems) or "absolute",
        x_scale=_choice(params, "x_scale", SCALES, problems),
        y_scale=_choice(params, "y_scale", SCALES, problems),
        facts=facts,
        follow=tuple(name for name in facts if name not in used and name not in NEVER_TAKEN),
        problems=problems,
    )


def asked(comparison: Comparison) -> list[Group]:
    """Groups that have the metric or could have it: a load has no transactions, which is no gap."""
    with_dots = {group.all_runs[0].workload_id for group in comparison.groups if group.dots}
    return [group for group in comparison.groups if not with_dots or group.all_runs[0].workload_id in with_dots]


def panels_of(comparison: Comparison, axes: Axes) -> list[Panel]:
    """The curves of each panel; of groups at the same place, as what is pooled leaves them, all repeats together."""
    fact = axes.x_fact
    drawn = axes.drawn(comparison)
    xs = _xs(drawn, axes)
    names = [name for name in axes.series if name in axes.facts]
    colours = _ordered(drawn, names, axes.facts)
    panels: list[Panel] = []
    for heading, of_panel in panel_groups(drawn, axes):
        places: dict[tuple[str, ...], dict[float, list[Group]]] = {}
        for group, key in zip(of_panel, Columns(of_panel).rows(names), strict=True):
            if (x := xs.get(group.key)) is not None:
                places.setdefault(key, {}).setdefault(x, []).append(group)
        curves = []
        for index, series in enumerate(colours):
            points = [
                Point(x, fact.words.get(value_of(groups[0], fact.field), "") if fact else "", merged(groups))
                for x, groups in sorted(places.get(series, {}).items())
            ]
            label = " · ".join(axes.facts[name].said(value) for name, value in zip(names, series, strict=True))
            if points:
                curves.append(Curve(label, panel_key(label), index, points))
        if curves:
            panels.append(Panel(heading, panel_key(heading), curves))
    return panels


def narrowed(comparison: Comparison, params: QueryDict) -> Comparison:
    """Without the groups that a reader fixes away, and with those taken together that differ in what is pooled.

    Groups of two classes of durability are never pooled.
    """
    axes = arrange(comparison, params)
    if not axes.fixed and not axes.pooled:
        return comparison
    names = [name for name in axes.facts if name not in axes.pooled and name not in NEVER_TAKEN and name != DATE]
    alike: dict[tuple[str, ...], list[Group]] = {}
    for group in _held(comparison.groups, axes.fixed):
        key = (group.durability_words, *key_of(group, names)) if axes.pooled else (group.key,)
        alike.setdefault(key, []).append(group)
    headings = {fact.label for fact in comparison.varying if fact.field in axes.pooled}
    groups = []
    for several in alike.values():
        group = merged(several)
        if len(several) > 1:
            shown = [name for name in names if name not in axes.fixed and name not in axes.follow]
            label = " · ".join(axes.facts[name].said(value_of(group, name)) for name in shown)
            group = replace(group, label=label or "all", stated=stated(group.runs or group.all_runs))
        facts = {**group.facts, **dict.fromkeys(axes.pooled, POOLED)}
        groups.append(replace(group, facts=facts, factors={**group.factors, **dict.fromkeys(headings, POOLED)}))
    facts_now = [
        replace(fact, values=tuple(group.facts[fact.field] for group in groups), words={**fact.words, POOLED: POOLED})
        for fact in comparison.varying
    ]
    alone = [fact for fact in facts_now if len(set(fact.values)) == 1]
    common = [CommonFact(fact.label, fact.values[0], fact.words[fact.values[0]]) for fact in alone]
    return replace(
        comparison, groups=groups, varying=[fact for fact in facts_now if fact not in alone],
        common=[*comparison.common, *common], whole=comparison,
    )  # fmt: skip


def unlike_words(comparison: Comparison) -> str:
    """A warning where pooled groups hold the levels of what is pooled in unlike shares; else empty."""
    of = {run.id: group for group in (comparison.whole.groups if comparison.whole else []) for run in group.runs}
    unlike = []
    for fact in comparison.whole.varying if comparison.whole else []:
        if any(group.facts.get(fact.field) == POOLED for group in comparison.groups):
            counts = [Counter(of[run.id].facts[fact.field] for run in group.runs) for group in comparison.groups]
            shares = [{level: count / len(group) for level, count in group.items()} for group in counts if group]
            unlike += [fact.label] if any(each != shares[0] for each in shares) else []
    if not unlike:
        return ""
    return f"Pooled, but not repeated alike in all groups: {', '.join(unlike)}. Ratios lean to what was repeated more."


def panel_groups(groups: Sequence[Group], axes: Axes) -> list[tuple[str, list[Group]]]:
    """What the panels are called, and their groups; all groups under "" without panels."""
    names = [axes.panels] if axes.panels else []
    return [
        (axes.facts[axes.panels].said(key[0]) if key else "", [one for one in groups if key_of(one, names) == key])
        for key in _ordered(groups, names, axes.facts)
    ]


def panel_key(label: str) -> str:
    """As a part of an id."""
    return slugify(label.replace(".", "-")) or "all"


def merged(groups: Sequence[Group]) -> Group:
    """All repeats of these as those of one group; what is said of it beyond its numbers is the first one's."""
    if len(groups) == 1:
        return groups[0]
    dots, gaps = list(chain(*(group.dots for group in groups))), list(chain(*(group.gaps for group in groups)))
    values = [dot.value for dot in dots]
    summary = summarise(values)
    pooled = replace(
        groups[0], dots=dots, gaps=gaps, printed=[], values=values, n=len(values), summary=summary,
        median=summary.median if summary else None, interval=geometric_mean_interval(values),
        gap=None if dots else "; ".join(dict.fromkeys(group.gap for group in groups if group.gap)),
        runs=list(chain(*(group.runs for group in groups))),
        all_runs=list(chain(*(group.all_runs for group in groups))),
        provenances=list(dict.fromkeys(chain(*(group.provenances for group in groups)))),
        merged_percentile=None, against=None, compared=(), percentile="",
    )  # fmt: skip
    names = {group.percentile for group in groups if group.n > 1}
    return of_together(pooled, names.pop()) if len(names) == 1 else pooled


def _held(groups: Iterable[Group], fixed: Mapping[str, str]) -> list[Group]:
    return [group for group in groups if all(value_of(group, field) == fixed[field] for field in fixed)]


def _facts(comparisons: Sequence[Comparison], fixed: Mapping[str, str]) -> dict[str, Fact]:
    """Those that differ among the groups of one of the metrics: loads and transactions need not be told apart."""
    facts: dict[str, Fact] = {}
    sets = [Columns(_held(asked(comparison), fixed)) for comparison in comparisons]
    every = Columns(list({group.key: group for columns in sets for group in columns.groups}.values()))
    days = list(dict.fromkeys(every[DATE]))
    for varying in (*comparisons[0].varying, VaryingFact(DATE, "Date", tuple(days), {day: day for day in days})):
        if any(len(set(columns[varying.field])) > 1 for columns in sets):
            values = dict.fromkeys(every[varying.field])
            numbers = _numbers(every, varying.field)
            ordered = sorted(values, key=lambda value: (value not in numbers, numbers.get(value, 0.0)))
            facts[varying.field] = Fact(varying.field, varying.label, ordered, varying.words, numbers)
    return facts


def _numbers(columns: Columns, field: str) -> dict[str, float]:
    """By stored value."""
    if field == DATE:
        return {day: float(date.fromisoformat(day).toordinal()) for day in set(columns[DATE])}
    name = field.removeprefix(FACTOR)
    # One group of each value is asked: its rows of factors are read for it.
    first = dict(zip(columns[field], columns.groups, strict=True)) if name != field else {}
    known = ((value, group.all_runs[0].factor(name)) for value, group in first.items())
    return {value: float(number) for value, number in known if isinstance(number, int | float)}


def _x_by_rule(facts: Mapping[str, Fact], columns: Columns, free: Sequence[str]) -> str:
    """Of the numeric facts that have three levels while all else is alike the first in the rule's order."""

    def position(name: str) -> tuple[int, int]:
        bare = name.removeprefix(FACTOR)
        order = (*SIZES, *CLIENTS)
        return (order.index(bare) if bare in order else len(order) + (name == DATE), -len(facts[name].values))

    for name in sorted(free, key=position):
        if name not in NEVER_TAKEN and facts[name].is_number and len(facts[name].numbers) >= LEAST_LEVELS:
            beside = NEVER_TAKEN | _along_x(name, free, columns) | {name}
            levels: dict[tuple[str, ...], set[str]] = {}
            keys = columns.rows([other for other in free if other not in beside])
            for key, value in zip(keys, columns[name], strict=True):
                levels.setdefault(key, set()).add(value)
            if max(map(len, levels.values())) >= LEAST_LEVELS:
                return name
    return ""


def _x_as_by_rule(x: str, groups: Sequence[Group]) -> str:
    """An article's GB and somebody's scale factors stand on one axis by the sizes that they came to."""
    if x.removeprefix(FACTOR) not in SIZES:
        return "value"
    return "value" if all(_level(group, x) == value_of(group, x) for group in groups) else "size"


def _along_x(x: str, free: Sequence[str], columns: Columns) -> set[str]:
    """As queries that are put to the largest size only. Another DBMS or device at each size is no curve over size."""
    if x == DATE:
        return _along_dates(free, columns)
    sizes = set(SIZES) if x.removeprefix(FACTOR) in SIZES else set()
    factors = [name for name in free if x and name != x and name.startswith(FACTOR)]
    return {name for name in factors if name.removeprefix(FACTOR) in sizes or columns.follow([name], [x])}


def _along_dates(free: Sequence[str], columns: Columns) -> set[str]:
    """What names a day of one curve: of two versions that are measured each night each has a batch and a commit."""
    taken = [name for name in free if name not in NEVER_TAKEN and name != DATE]
    of_a_date = [name for name in taken if name.partition(":")[0] in _OF_A_DATE]
    lasting = [name for name in taken if name not in of_a_date]
    along: set[str] = set()
    for name in sorted(of_a_date, key=lambda name: len(set(columns[name]))):
        if columns.follow([name], [DATE, *lasting]):
            along.add(name)
        else:
            lasting.append(name)
    return along


def _by_levels(names: Iterable[str], facts: Mapping[str, Fact]) -> list[str]:
    """The one with most levels first; the date is an axis or nothing."""

    def kind(name: str) -> int:
        kind = name.partition(":")[0]
        return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)

    return sorted((name for name in names if name != DATE), key=lambda name: (-len(facts[name].values), kind(name)))


def _with_dbms(series: tuple[str, ...], elsewhere: Sequence[str], facts: Mapping[str, Fact]) -> tuple[str, ...]:
    """Configurations of several DBMSs are named with theirs."""
    missing = "config" in series and "dbms" in facts and "dbms" not in (*series, *elsewhere)
    return ("dbms", *series) if missing else series


def _xs(groups: Sequence[Group], axes: Axes) -> dict[str, float]:
    """By key of the group where it stands on x; without a fact there all stand at 0. Left out is what has no number."""
    fact = axes.x_fact
    if fact is None:
        return dict.fromkeys((group.key for group in groups), 0.0)
    if axes.x_as != "value":
        sizes = sizes_mb(groups, fact.field)
        whole = {"of_ram": memory_bytes, "of_buffer": buffer_bytes}.get(axes.x_as)
        if whole is None:
            return sizes
        of = {group.key: whole(group.all_runs[0]) for group in groups if group.key in sizes}
        return {key: float(f"{sizes[key] * MB / size:.6g}") for key, size in of.items() if size}
    if fact.is_number:
        return {
            group.key: fact.numbers[value] for group in groups if (value := value_of(group, fact.field)) in fact.numbers
        }
    return {group.key: float(fact.ranks[value_of(group, fact.field)]) for group in groups}


def sizes_mb(groups: Sequence[Group], field: str) -> dict[str, float]:
    """By key of the group: the median over all that were loaded at its level, so that curves share it.

    Without a measured size the one that was asked for, where that is in bytes.
    """
    loaded: dict[str, list[float]] = {}
    for group in groups:
        loaded.setdefault(_level(group, field), []).extend(values_of(group.all_runs, SIZE_METRIC))
    sizes = {}
    for group in groups:
        if measured := loaded[_level(group, field)]:
            sizes[group.key] = round(statistics.median(measured) / MB, 1)
        else:
            wanted = ((group.all_runs[0].factor(name), each) for name, each in _MB_EACH.items())
            known = next((size * each for size, each in wanted if isinstance(size, int | float)), None)
            sizes |= {group.key: round(known, 1)} if known else {}
    return sizes


def _level(group: Group, field: str) -> str:
    """Its value; of one that asked for its size by another factor that one with its value."""
    if (value := value_of(group, field)) != NO_FACT:
        return value
    others = ((name, group.all_runs[0].factor(name)) for name in SIZES)
    return next((f"{name} {size}" for name, size in others if size is not None), value)


def _ordered(groups: Sequence[Group], names: Sequence[str], facts: Mapping[str, Fact]) -> list[tuple[str, ...]]:
    """The combinations of values that occur, each in the order of its fact."""
    ranks = [facts[name].ranks for name in names]
    keys = dict.fromkeys(Columns(groups).rows(names))
    return sorted(keys, key=lambda key: [rank[value] for rank, value in zip(ranks, key, strict=True)])


def _taken(params: QueryDict) -> set[str]:
    return {*params.getlist("series"), *params.getlist("panels")}


def _known(
    names: Iterable[str], facts: Mapping[str, Fact], parameter: str, problems: dict[str, list[str]]
) -> list[str]:
    known = []
    for name in filter(None, names):
        if name in facts:
            known.append(name)
        elif name != NONE:
            problems.setdefault(parameter, []).append(f"“{name}” does not vary. There are: {', '.join(facts) or NONE}.")
    return known


def _asked_for(
    params: QueryDict, parameter: str, facts: Mapping[str, Fact], problems: dict[str, list[str]]
) -> str | None:
    """ "" where none is wanted, None where it is left to the rule."""
    if params.get(parameter) == NONE:
        return ""
    return next(iter(_known([params.get(parameter, "")], facts, parameter, problems)), None)


def _fixed(
    params: QueryDict, facts: Mapping[str, Fact], problems: dict[str, list[str]]
) -> tuple[dict[str, str], list[str]]:
    """Field -> its one value, and the fields that are pooled, as a form says it (`fix=FIELD=*`)."""
    fixed, pooled = {}, []
    for text in filter(None, params.getlist("fix")):
        field, _, value = text.partition("=")
        if field in facts and value == POOL:
            pooled.append(field)
        elif field in facts and value in facts[field].values:
            fixed[field] = value
        else:
            there = ", ".join(facts[field].values) if field in facts else ", ".join(facts)
            problems.setdefault("fix", []).append(f"There is no “{text}”. There are: {there or NONE}.")
    return fixed, pooled


def _choice(params: QueryDict, name: str, choices: Iterable[str], problems: dict[str, list[str]]) -> str:
    text = params.get(name, "")
    if text and text not in choices:
        problems[name] = [f"There is no “{text}”. There are: {', '.join(choices)}."]
        return ""
    return text
