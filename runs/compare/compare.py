"""Any set of runs as groups that can be compared: one per cell, every repeat kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, datetime
from itertools import chain
from typing import Any
from uuid import UUID

from benchagent.catalog import Durability, threshold_of
from django.http import QueryDict

from runs import formatting
from runs.compare.axes import CLIENTS, LEAST_LEVELS, SET_FACT, Axes, arrange, narrowed, unlike_words
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, FACTOR
from runs.compare.facts import key_of as values_in
from runs.compare.grouping import BATCH, GROUPINGS, day_of, key_of, pooled_words, said_of
from runs.compare.groups import Dot, Gap, Group, Naming, Printed, name_cells
from runs.compare.guard import bare_field, fetch_settings, stated
from runs.compare.levels import NO_LEVELS, asks_different_questions, level_by_level
from runs.compare.percentiles import by_histograms, merged_percentile
from runs.compare.select import Selection
from runs.compare.sweep import sweeps
from runs.compare.verdicts import (
    family_size,
    headline,
    in_sentence,
    no_step_words,
    ratio_words,
    set_against,
    step_words,
)
from runs.models import Aggregate, Metric, Run
from runs.run.facets import DURABILITY_ORDER, Facet, claim_words, facets, tested_words
from runs.run.number import number_of, why_no_number
from runs.stats import MIN_REPEATS, PRACTICAL_THRESHOLD, geometric_mean_interval, summarise
from runs.stats.curves import measurable
from runs.stats.steps import LEAST_DAYS, steps

# A warning names groups in so many letters; beyond, it counts them.
MOST_LETTERS = 60
# Of one class; their rows say it of each.
MOST_APART = 6
MOST_METRICS = 4
NO_SETS: Mapping[UUID, tuple[str, str]] = {}


def compare_selection(selection: Selection, params: QueryDict) -> Comparison:
    """With the metric, the baseline, the order and the grouping that an address asks for."""
    comparison = compare(
        selection.runs, metric=next(iter(params.getlist("metric")), ""), baseline=params.get("baseline"),
        order=params.get("order", ""), grouping=params.get("group", ""), threshold=selection.threshold,
        base_runs=selection.base, controls=params, set_of=selection.set_of,
    )  # fmt: skip
    warnings = [*comparison.warnings, *filter(None, [selection.not_looked_through])]
    return replace(comparison, left_out=selection.left_out, warnings=warnings)


def compare(
    runs: Iterable[Run], *, metric: str = "", baseline: str | None = None, order: str = "",
    grouping: str = "", threshold: float | None = None, base_runs: Set[UUID] = frozenset(),
    controls: QueryDict | None = None, set_of: Mapping[UUID, tuple[str, str]] = NO_SETS,
) -> Comparison:  # fmt: skip
    """Groups the runs by cell and batch and sets each group against the baseline's.

    `runs` come from `Run.objects.present().for_lists()`. `metric` is a name; empty or unknown takes the workload's
    primary metric, else the most common one. `baseline` is a group's key; empty or unknown takes the first group
    with values, of those with one of `base_runs` where there are such. `order` "best" sorts by geometric mean, best
    first; else the order is that of the experiment or source. `threshold`, from which a difference matters, is that of
    the metric where none is given. `set_of`: number and words of each run's set, a fact of its group; runs of two sets
    are never pooled. `grouping` is one of `GROUPINGS`: empty or unknown pools within a batch only.
    """
    grouping = grouping if grouping in GROUPINGS else BATCH
    chosen = [run for run in runs if run.deleted_at is None]
    counting = {run.id for run in chosen if run.counts}
    fetch_settings(chosen)
    picked, metrics = _metrics(chosen, counting, metric)
    cells = _cells(chosen, counting, grouping, set_of)
    # A run that ended knows more, such as that its database was in memory: it names its cell.
    naming_runs = [next((run for run in cell if run.durability), cell[0]) for cell in cells]
    known = {run.id: facets(run) for run in naming_runs}
    sets = [_set_fact(*set_of[cell[0].id]) if cell[0].id in set_of else {} for cell in cells]
    naming = name_cells(
        [facts | said | of for facts, said, of in zip(known.values(), said_of(cells, grouping), sets, strict=True)]
    )
    printed = _printed(chosen, picked)
    groups = [_group(cell, counting, picked, printed, naming, known=known, at=at) for at, cell in enumerate(cells)]
    groups = _ranked(by_histograms(groups, picked), picked, order)
    if threshold is None:
        threshold = threshold_of(picked.name, picked.unit) if picked else PRACTICAL_THRESHOLD
    pooled, named = pooled_words(cells, grouping), [bare_field(field) for field in naming.fields]
    comparison = Comparison(
        picked, metrics, groups, None, naming.common, naming.varying, warnings=[], named=named, threshold=threshold,
        grouping=grouping, pooled=pooled,
    )  # fmt: skip
    controls = controls if controls is not None else QueryDict()
    if "fix" in controls or "pool" in controls:
        comparison = narrowed(comparison, controls)
    with_values = [group for group in comparison.groups if group.dots]
    preferred = sorted(with_values, key=lambda group: not any(run.id in base_runs for run in group.runs))
    base = next((group for group in with_values if group.key == baseline), next(iter(preferred), None))
    comparison = _against(replace(comparison, baseline=base), controls)
    said = " ".join(filter(None, (comparison.headline, pooled)))
    return replace(comparison, headline=said, warnings=_warnings(comparison))


def _against(comparison: Comparison, controls: QueryDict) -> Comparison:
    """Each group against the baseline; in a sweep against the group of the baseline's series at its level.

    A sweep is where the curves of a chart share an axis, where some groups ask another question than others (another
    scale), or where a reader wants one.
    """
    groups, base, metric = comparison.groups, comparison.baseline, comparison.metric
    fact, held = controls.get("compared", ""), controls.getlist("held") or None
    levels, axes = None, arrange(comparison, controls)
    if metric and fact != NO_LEVELS:
        wanted = [fact, *controls.getlist("series"), *([SET_FACT] if controls.get("base_set") else [])]
        possible = sweeps(axes.drawn(comparison), axes.facts, axes.series, wanted, held)
        levels = level_by_level(possible, base, metric, comparison.threshold)
    is_sweep = levels and (axes.x in levels.sweep.held or asks_different_questions(levels))
    if levels and not fact and not is_sweep:
        levels = None
    if levels:
        against, bases = levels.against, levels.base_keys
    else:
        axis = axes.along_x(groups)
        against = set_against(groups, base, metric, comparison.threshold, axis) if base and metric else {}
        bases = {base.key} if base else set()
    groups = [replace(group, is_baseline=group.key in bases, against=against.get(group.key)) for group in groups]
    base = next((group for group in groups if base and group.key == base.key), None)
    if levels:
        best = _at_their_best(axes, groups, metric, comparison.threshold)
        said = " ".join(filter(None, (best, levels.headline)))
    else:
        said = _since(comparison, axes, groups, base)
        said = said or headline(_bests(axes, groups, metric), metric, comparison.threshold, comparison.named)
    family = levels.family if levels else family_size(groups)
    return replace(comparison, groups=groups, baseline=base, levels=levels, headline=said, family=family)


def _bests(axes: Axes, groups: Sequence[Group], metric: Metric | None) -> Sequence[Group]:
    """Of each curve its best group, so that a system is set against the others and not against itself."""
    if not axes.x or metric is None:
        return groups
    curve = [*axes.series, *filter(None, [axes.panels])]
    ordered = sorted(groups, key=lambda group: group.centre or 0.0, reverse=metric.better == "higher")
    bests: dict[tuple[str, ...], Group] = {}
    for group in ordered:
        if group.ranked and group.dots:
            bests.setdefault(values_in(group, curve), group)
    return groups if len(bests) < 2 else [*bests.values()]


def _at_their_best(axes: Axes, groups: Sequence[Group], metric: Metric | None, threshold: float) -> str:
    """Over terminals the first question is which system comes to most, wherever; else empty."""
    if metric is None or metric.better != "higher" or axes.x.removeprefix(FACTOR) not in CLIENTS or axes.panels:
        return ""
    bests = _bests(axes, groups, metric)
    return headline(bests, metric, threshold, conditions=False) if len(bests) < len(groups) else ""


def _since(comparison: Comparison, axes: Axes, groups: Sequence[Group], base: Group | None) -> str:
    """Of what was measured on many days: the last step of the baseline's curve, else of another; without any how its
    newest batch stands to the baseline. Nobody asks which day wins.
    """
    metric = comparison.metric
    if base is None or metric is None or not (axes.x == DATE or {*comparison.named} == {"batch"}):
        return ""
    names = [name for name in (*axes.series, axes.panels) if name and axes.x == DATE]
    own, curves = values_in(base, names), dict[tuple[str, ...], list[Group]]()
    for group in groups:
        if group.dots:
            curves.setdefault(values_in(group, names), []).append(group)
    days = curves.get(own, [])
    if len(days) < LEAST_LEVELS:
        return ""
    for key in sorted(curves, key=lambda key: key != own):
        levels, tested = _days(curves[key])
        if found := steps(levels, comparison.threshold):
            of = f"{' · '.join(key)}: " if key else ""
            said = step_words(found[-1], tested[found[-1].at], metric.better)
            return f"{of}{in_sentence(metric.label) if of else metric.label} {said}"
    of_days = len(_days(days)[0])
    unchanged = f"{no_step_words(of_days)} " if of_days >= 2 * LEAST_DAYS else ""
    last = max(days, key=lambda group: day_of(group.runs[0]))
    if not last.against or not last.against.ratio:
        return unchanged
    return (
        f"{unchanged}{last.label} has {ratio_words(last.against.ratio)} the {in_sentence(metric.label)} of "
        f"{base.label}: {last.against.words}."
    )


def _days(groups: Sequence[Group]) -> tuple[list[tuple[float, Sequence[float]]], dict[float, str]]:
    """What was measured on each day of one curve, and which version was tested on it."""
    by_day: dict[float, list[float]] = {}
    tested: dict[float, str] = {}
    for group in groups:
        day = day_of(group.runs[0]).toordinal()
        by_day.setdefault(day, []).extend(group.judged)
        tested.setdefault(day, tested_words(group.runs[0]))
    return measurable([*by_day.items()]), tested


def _metrics(runs: Sequence[Run], counting: Set[UUID], wanted: str) -> tuple[Metric | None, list[Metric]]:
    """The one to compare, and all that any of the runs has a number of, the most common first."""
    counts = Counter(row.metric for run in runs if run.id in counting for row in run.measurements.all())
    metrics = sorted(counts, key=lambda metric: (-counts[metric], metric.better == "none", metric.name, metric.unit))
    primary = Counter(run.workload.primary_metric for run in runs).most_common()
    for name in filter(None, (wanted, *(name for name, _ in primary))):
        for metric in metrics:
            if metric.name == name:
                return metric, metrics
    return next(iter(metrics), None), metrics


def _set_fact(number: str, words: str) -> dict[str, Facet]:
    return {SET_FACT: Facet(SET_FACT, "Set", number, words, words, f"set-{number}")}


def _cells(
    runs: Sequence[Run], counting: Set[UUID], grouping: str, set_of: Mapping[UUID, tuple[str, str]]
) -> list[list[Run]]:
    """Repeats that are pooled together, in the order of experiment or source; along a size axis in that of the sizes.

    A queued run does not know its machine yet, one that has not ended not its storage, and one that was cancelled
    perhaps neither or a part: what has no number joins the cell that is alike in everything that it knows.
    """
    cells: dict[str, list[Run]] = {}
    alike: dict[tuple[object, ...], str] = {}
    began: dict[tuple[date, UUID], datetime] = {}
    for run in runs:
        system = day_of(run), run.dbms_version_id
        began[system] = min(run.created_at, began.get(system, run.created_at))
    ordered = sorted(runs, key=lambda run: _position(run, began[day_of(run), run.dbms_version_id]))
    position = {run.id: at for at, run in enumerate(ordered)}
    all_count = len(counting) == len(runs)
    for run in sorted(ordered, key=lambda run: (run.id not in counting, run.hardware_id is None)):
        together = " ".join([key_of(run, grouping), *set_of.get(run.id, ())[:1]])
        key = f"{run.cell_key or run.id} {together}"
        if all_count:
            cells.setdefault(key, []).append(run)
            continue
        factors = tuple(sorted((factor.name, str(factor.value)) for factor in run.factors.all()))
        context = tuple(sorted((name, str(value)) for name, value in run.context.items()))
        others = (together, run.workload_id, run.dbms_version_id, run.config_id, factors, context)
        if run.id not in counting and key not in cells:
            key = alike.get((*others, run.hardware_id), key)
        # The last of them is asked for by a run without a machine.
        for known in ((*others, run.hardware_id), (*others, None)):
            alike.setdefault(known, key)
        cells.setdefault(key, []).append(run)

    def size_then_position(cell: list[Run]) -> tuple[object, ...]:
        size = cell[0].factor("size_gb")
        return ((size,) if isinstance(size, int | float) else (), position[cell[0].id])

    by_position = (sorted(cell, key=lambda run: position[run.id]) for cell in cells.values())
    return sorted(by_position, key=size_then_position)


def _position(run: Run, began: datetime) -> tuple[object, ...]:
    """As planned or printed; uploads by day, those of one day by system, machine and factors, numbers by size.

    `began`: when the first run of its system of that day was stored. A long request is stored in portions.
    """
    if run.order_index is not None or run.source_id:
        stored = run.created_at
        return (
            run.order_index is None,
            run.order_index or 0,
            stored.date(),
            stored,
            run.repeat,
            run.source_id,
            str(run.id),
        )
    factors = sorted(
        (factor.name, factor.number is None, factor.number or 0.0, factor.text) for factor in run.factors.all()
    )
    devices = sorted((use.role, use.device.name) for use in run.storage.all())
    machine = run.hardware.name if run.hardware else ""
    told = (formatting.natural(str(run.dbms_version)), formatting.natural(machine), devices, factors)
    return (True, 0, day_of(run), began, *told, run.created_at, run.repeat, str(run.id))


def _group(
    cell: Sequence[Run],
    counting: Set[UUID],
    metric: Metric | None,
    printed: Sequence[tuple[Aggregate, set[object]]],
    naming: Naming,
    *,
    known: Mapping[UUID, Mapping[str, Facet]],
    at: int,
) -> Group:
    """`at`: the position of the cell among those that have been named. `known`: facets of some runs, by id."""
    ids = {run.id for run in cell}
    measured = _measured(cell, counting, metric)
    said = stated(measured["runs"] or cell, known)
    doubted = said.doubt if measured["dots"] else ""
    return Group(
        key=naming.keys[at],
        label=naming.labels[at],
        factors={fact.label: fact.values[at] for fact in naming.varying},
        facts={fact.field: fact.values[at] for fact in naming.varying},
        printed=[
            Printed(aggregate.statistic, aggregate.value, aggregate.as_printed or f"{aggregate.value:g}", len(of))
            for aggregate, of in printed
            if of & ids
        ],
        demonstration=any(run.demonstration for run in cell),
        stated=said,
        durability=said.durability,
        durability_words=claim_words(said.durability, doubted),
        doubt=doubted,
        **measured,
    )


def _measured(cell: Sequence[Run], counting: Set[UUID], metric: Metric | None) -> dict[str, Any]:
    """What a group says of one metric, by its field."""
    counted = {run.id: number_of(run, metric.name, metric.unit) for run in cell if metric and run.id in counting}
    numbers = [(run, counted.get(run.id)) for run in cell]
    dots = [Dot(run, number.value, number.as_printed, number.provenance) for run, number in numbers if number]
    label = metric.label if metric else ""
    gaps = [
        Gap(run, why_no_number(run, label), any(row.metric == metric for row in run.measurements.all()))
        for run, number in numbers
        if number is None
    ]
    runs, values = [dot.run for dot in dots], [dot.value for dot in dots]
    summary = summarise(values)
    return {
        "dots": dots,
        "gaps": gaps,
        "values": values,
        "n": len(values),
        "median": summary.median if summary else None,
        "summary": summary,
        "interval": geometric_mean_interval(values),
        "gap": None if dots else "; ".join(dict.fromkeys(gap.reason for gap in gaps)),
        "runs": runs,
        "all_runs": [*runs, *(gap.run for gap in gaps)],
        "provenances": list(dict.fromkeys(dot.provenance for dot in dots)),
        "merged_percentile": merged_percentile(metric, runs),
    }


def with_metric(comparison: Comparison, metric: Metric) -> Comparison:
    """The same groups with their values of another metric, to be drawn beside: without verdicts and headline."""
    groups = []
    for group in comparison.groups:
        counting = {run.id for run in group.all_runs if run.counts}
        measured = _measured(group.all_runs, counting, metric)
        groups.append(replace(group, printed=[], against=None, percentile="", compared=(), **measured))
    groups = by_histograms(groups, metric)
    base = next((group for group in groups if comparison.baseline and group.key == comparison.baseline.key), None)
    return replace(
        comparison, metric=metric, groups=groups, baseline=base, headline="", warnings=[], family=0,
        levels=None, whole=with_metric(comparison.whole, metric) if comparison.whole else None,
    )  # fmt: skip


def beside(comparison: Comparison, params: QueryDict) -> list[Comparison]:
    """The comparison by each metric that an address names, four at most, the first of them first."""
    by_name = {metric.name: metric for metric in reversed(comparison.metrics)}
    wanted = [by_name[name] for name in dict.fromkeys(params.getlist("metric")) if name in by_name]
    others = [metric for metric in wanted if metric != comparison.metric]
    return [comparison, *(with_metric(comparison, metric) for metric in others[: MOST_METRICS - 1])]


def _printed(runs: Sequence[Run], metric: Metric | None) -> list[tuple[Aggregate, set[object]]]:
    """What their publications print of these runs, each with the ids of its runs."""
    publications = {run.publication_id for run in runs if run.publication_id}
    if metric is None or not publications:
        return []
    rows = Aggregate.objects.filter(publication__in=publications, metric=metric).prefetch_related("of")
    return [(aggregate, {run.id for run in aggregate.of.all()}) for aggregate in rows]


def _ranked(groups: Sequence[Group], metric: Metric | None, order: str) -> list[Group]:
    """Ranked are those of the strongest class, and those that state none: what is in memory with its like only.

    The others stand apart, at the end, class by class; groups without a value last when sorted by value.
    """
    strength = {group.key: DURABILITY_ORDER.get(group.durability, 0) for group in groups}
    strongest = min((strength[group.key] for group in groups if group.durability and not group.doubt), default=0)
    unstated = any(group.dots and not group.durability and not group.doubt for group in groups)
    ranked = []
    for group in groups:
        alone = bool(group.doubt) or (group.durability == Durability.MEMORY and unstated)
        ranked.append(replace(group, ranked=not alone and strength[group.key] <= strongest))

    def position(group: Group) -> tuple[object, ...]:
        position = (not group.ranked, 0 if group.ranked else strength[group.key], bool(group.doubt))
        if order != "best" or metric is None:
            return position
        return (*position, group.centre is None, (group.centre or 0.0) * (1 if metric.better == "lower" else -1))

    return sorted(ranked, key=position)


# By the check that does not hold: what is said of the repeats of a group, and what it does to them.
_MARKED = {
    "steady_state": ("Not steady", "see the pages of the runs"),
    "no_stalls": ("Stalls", "see the pages of the runs"),
    "machine_alone": ("Disturbed by other programs", "they took CPU of the machine"),
    "branches_enough": ("Fewer branches than terminals", "terminals wait for each other"),
}


def _failed(run: Run) -> set[str]:
    return {str(check.get("name")) for check in run.checks if not check.get("ok")}


def marks(group: Group) -> list[str]:
    """What was seen of how many of its repeats: "not steady (1 of 3)"."""
    counts = Counter(chain.from_iterable(_failed(run) & _MARKED.keys() for run in group.runs))
    return [
        f"{in_sentence(said)} ({counts[check]} of {group.n})" for check, (said, _) in _MARKED.items() if counts[check]
    ]


def _which(marked: Sequence[Group], groups: Sequence[Group]) -> str:
    """A warning is one line: it names few groups with short names, and counts others; their rows say it of each."""
    if len(marked) == len(groups) > 1:
        return "all groups"
    named = ", ".join(group.label for group in marked)
    return named if len(named) <= MOST_LETTERS else f"{len(marked)} of {len(groups)} groups"


def _warnings(comparison: Comparison) -> list[str]:
    warnings: list[str] = []
    groups, runs, metric = comparison.groups, comparison.all_runs, comparison.metric
    if any(run.demonstration for run in runs):
        warnings.append("Demonstration, short windows: these runs show the product at work and rank nothing.")
    for words, apart in comparison.apart.items():
        why = "" if apart[0].doubt else " A commit there promises less than in the ranked groups."
        if len(apart) > MOST_APART:
            named = f"{len(apart)} of {len(groups)} groups ({words})"
        elif apart[0].doubt:
            named = "; ".join(f"{group.label} ({group.doubt})" for group in apart)
        else:
            named = f"{'; '.join(group.label for group in apart)} ({words})"
        warnings.append(f"Shown apart, not ranked: {named}.{why}")
    questions = {
        one.label
        for group in groups
        for one in group.differences
        if one.severity == "blocks" and one.field != "durability"
    }
    if questions:
        named = ", ".join(sorted(questions))
        warnings.append(f"No ratio between groups that differ in {named}: they only stand side by side.")
    if metric is not None:
        namesakes = {
            row.metric.unit for run in runs for row in run.measurements.all() if row.metric.name == metric.name
        }
        if others := sorted(namesakes - {metric.unit}):
            warnings.append(f"Left out: numbers of the same name in another unit ({', '.join(others)}).")
    for check, (said, why) in _MARKED.items():
        marked = [group for group in groups if any(check in _failed(run) for run in group.runs)]
        if marked:
            warnings.append(f"{said}: {_which(marked, groups)}; {why}.")
    if unlike := unlike_words(comparison):
        warnings.append(unlike)
    few = [group for group in groups if 0 < group.n < MIN_REPEATS]
    if few and len(groups) > 1:
        warnings.append(f"Fewer than {MIN_REPEATS} repeats, so no verdict: {_which(few, groups)}.")
    return warnings
