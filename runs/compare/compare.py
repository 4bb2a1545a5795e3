"""Any set of runs as groups that can be compared: one per cell, every repeat kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from uuid import UUID

from benchagent.catalog import Durability, threshold_of
from django.http import QueryDict

from runs.compare.axes import CLIENTS, LEAST_LEVELS, Axes, arrange
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, SET, Naming, fact_values, name_cells
from runs.compare.grouping import BATCH, GROUPINGS, Cell, batch_facets, cells_of, day_of, pooled_words
from runs.compare.groups import Group, Printed, by_histograms, measured
from runs.compare.guard import bare_field, conditions_of, fetch_settings
from runs.compare.levels import NO_LEVELS, asks_different_questions, level_by_level
from runs.compare.panels import at_chosen_levels, uneven_pooling_words
from runs.compare.select import Selection
from runs.compare.sweep import sweeps
from runs.compare.verdicts import family_size, headline, judged_against, no_step_words, ratio_words, step_words
from runs.formatting import mid_sentence
from runs.models import Aggregate, Metric, Run
from runs.run.facets import DURABILITY_ORDER, FACTOR, Facet, claim_words, facets, tested_words
from runs.stats import MIN_REPEATS, PRACTICAL_THRESHOLD
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
    controls = controls if controls is not None else QueryDict()
    present = [run for run in runs if run.deleted_at is None]
    fetch_settings(present)
    metrics = _metrics(present)
    chosen = _chosen_metric(present, metrics, metric)
    if threshold is None:
        threshold = threshold_of(chosen.name, chosen.unit) if chosen else PRACTICAL_THRESHOLD

    cells = cells_of(present, {run.id for run in present if run.counts}, grouping, set_of)
    groups, naming = _groups(cells, chosen, grouping, set_of)
    groups = _ranked(by_histograms(groups, chosen), chosen, order)
    pooled = pooled_words(cells, grouping)
    comparison = Comparison(
        chosen, metrics, groups, None, naming.common, naming.varying, warnings=[],
        named=[bare_field(field) for field in naming.fields], threshold=threshold, grouping=grouping, pooled=pooled,
    )  # fmt: skip
    if "fix" in controls or "pool" in controls:
        comparison = at_chosen_levels(comparison, controls)

    with_values = [group for group in comparison.groups if group.dots]
    of_base = [group for group in with_values if any(run.id in base_runs for run in group.runs)]
    by_key = [group for group in with_values if group.key == baseline]
    base = next(iter([*by_key, *of_base, *with_values]), None)
    comparison = _judged(replace(comparison, baseline=base), controls)
    words = " ".join(filter(None, (comparison.headline, pooled)))
    return replace(comparison, headline=words, warnings=_warnings(comparison))


def _metrics(runs: Sequence[Run]) -> list[Metric]:
    """All that any of the runs has a number of, the most common first."""
    counts = Counter(row.metric for run in runs if run.counts for row in run.measurements.all())
    return sorted(counts, key=lambda metric: (-counts[metric], metric.better == "none", metric.name, metric.unit))


def _chosen_metric(runs: Sequence[Run], metrics: Sequence[Metric], wanted: str) -> Metric | None:
    primary = Counter(run.workload.primary_metric for run in runs).most_common()
    names = filter(None, (wanted, *(name for name, _ in primary)))
    chosen = (metric for name in names for metric in metrics if metric.name == name)
    return next(chain(chosen, metrics), None)


def _groups(
    cells: Sequence[Cell], metric: Metric | None, grouping: str, set_of: Mapping[UUID, tuple[str, str]]
) -> tuple[list[Group], Naming]:
    """One for each cell, named by as few facts as tell them apart."""
    # A run that ended knows more, such as that its database was in memory: it names its cell.
    naming_runs = [next((run for run in cell if run.durability), cell[0]) for cell in cells]
    facets_read = {run.id: facets(run) for run in naming_runs}
    of_batches = batch_facets(cells, grouping)
    of_cells = []
    for cell, run, of_batch in zip(cells, naming_runs, of_batches, strict=True):
        of_set = {}
        if cell[0].id in set_of:
            number, words = set_of[cell[0].id]
            of_set = {SET: Facet(SET, "Set", number, words, words, f"set-{number}")}
        of_cells.append(facets_read[run.id] | of_batch | of_set)
    naming = name_cells(of_cells)
    printed = _printed([run for cell in cells for run in cell], metric)
    groups = []
    for at, cell in enumerate(cells):
        numbers = measured(cell, metric)
        conditions = conditions_of(numbers["runs"] or cell, facets_read)
        doubt = conditions.doubt if numbers["dots"] else ""
        group = Group(
            key=naming.keys[at],
            label=naming.labels[at],
            factors={fact.label: naming.values[at][fact.field] for fact in naming.varying},
            facts=naming.values[at],
            printed=[row for run_ids, row in printed if any(run.id in run_ids for run in cell)],
            demonstration=any(run.demonstration for run in cell),
            conditions=conditions,
            durability=conditions.durability,
            durability_words=claim_words(conditions.durability, doubt),
            doubt=doubt,
            **numbers,
        )
        groups.append(group)
    return groups, naming


def _printed(runs: Sequence[Run], metric: Metric | None) -> list[tuple[set[UUID], Printed]]:
    """What their publications print of these runs, each with the ids of its runs."""
    publications = {run.publication_id for run in runs if run.publication_id}
    if metric is None or not publications:
        return []
    printed = []
    for row in Aggregate.objects.filter(publication__in=publications, metric=metric).prefetch_related("of"):
        run_ids = {run.id for run in row.of.all()}
        words = row.as_printed or f"{row.value:g}"
        printed.append((run_ids, Printed(row.statistic, row.value, words, len(run_ids))))
    return printed


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


def _judged(comparison: Comparison, controls: QueryDict) -> Comparison:
    """Each group against the baseline; in a sweep against the group of the baseline's series at its level.

    A sweep is where the curves of a chart share an axis, where some groups ask another question than others (another
    scale), or where a reader wants one.
    """
    groups, base, metric = comparison.groups, comparison.baseline, comparison.metric
    fact, held = controls.get("compared", ""), controls.getlist("held") or None
    levels, axes = None, arrange(comparison, controls)
    if metric and fact != NO_LEVELS:
        wanted = [fact, *controls.getlist("series"), *([SET] if controls.get("base_set") else [])]
        if possible := sweeps(axes.groups(comparison), axes.facts, axes.series, wanted, held):
            levels = level_by_level(possible, base, metric, comparison.threshold)
    is_sweep = levels and (axes.x in levels.sweep.held or asks_different_questions(levels))
    if levels and not fact and not is_sweep:
        levels = None
    if levels:
        against, base_keys = levels.against, levels.base_keys
    else:
        axis = axes.along_x(groups)
        against = judged_against(groups, base, metric, comparison.threshold, axis) if base and metric else {}
        base_keys = {base.key} if base else set()
    groups = [replace(group, is_baseline=group.key in base_keys, against=against.get(group.key)) for group in groups]
    base = next((group for group in groups if base and group.key == base.key), None)
    best = _best_of_curves(axes, groups, metric)
    if levels:
        family = levels.family
        # Over terminals the first question is which system comes to most, wherever.
        asks_for_most = metric and metric.better == "higher" and axes.x.removeprefix(FACTOR) in CLIENTS
        at_their_best = ""
        if asks_for_most and not axes.panels and len(best) < len(groups):
            at_their_best = headline(best, metric, comparison.threshold, conditions=False)
        words = " ".join(filter(None, (at_their_best, levels.headline)))
    else:
        family = family_size(group.against.ratio for group in groups if group.against)
        words = _change_words(comparison, axes, groups, base)
        words = words or headline(best, metric, comparison.threshold, comparison.named)
    return replace(comparison, groups=groups, baseline=base, levels=levels, headline=words, family=family)


def _best_of_curves(axes: Axes, groups: Sequence[Group], metric: Metric | None) -> Sequence[Group]:
    """Of each curve its best group, so that a system is set against the others and not against itself."""
    if not axes.x or metric is None:
        return groups
    names = [*axes.series, *filter(None, [axes.panels])]
    best: dict[tuple[str, ...], Group] = {}
    for group in sorted(groups, key=lambda group: group.centre or 0.0, reverse=metric.better == "higher"):
        if group.ranked and group.dots:
            best.setdefault(fact_values(group, names), group)
    return groups if len(best) < 2 else [*best.values()]


def _change_words(comparison: Comparison, axes: Axes, groups: Sequence[Group], base: Group | None) -> str:
    """Of what was measured on many days: the newest step of any curve; without any how the newest batch of the
    baseline's curve stands to the baseline. Nobody asks which day wins.
    """
    metric = comparison.metric
    if base is None or metric is None or not (axes.x == DATE or {*comparison.named} == {"batch"}):
        return ""
    names = [name for name in (*axes.series, axes.panels) if name and axes.x == DATE]
    curves: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        if group.dots:
            curves.setdefault(fact_values(group, names), []).append(group)
    own = fact_values(base, names)
    of_base = curves.get(own, [])
    if len(of_base) < LEAST_LEVELS:
        return ""
    newest_steps = []
    for key, of_curve in curves.items():
        days, tested = _days(of_curve)
        for step in steps(days, comparison.threshold)[-1:]:
            newest_steps.append((step.at, key == own, key, step_words(step, tested[step.at], metric.better)))
    if newest_steps:
        *_, key, words = max(newest_steps)
        return f"{' · '.join(key)}: {mid_sentence(metric.label)} {words}" if key else f"{metric.label} {words}"
    day_count = len(_days(of_base)[0])
    unchanged = f"{no_step_words(day_count)} " if day_count >= 2 * LEAST_DAYS else ""
    newest = max(of_base, key=lambda group: day_of(group.runs[0]))
    if not newest.against or not newest.against.ratio:
        return unchanged
    ratio, verdict = ratio_words(newest.against.ratio), newest.against.words
    return f"{unchanged}{newest.label} has {ratio} the {mid_sentence(metric.label)} of {base.label}: {verdict}."


def _days(groups: Sequence[Group]) -> tuple[list[tuple[float, Sequence[float]]], dict[float, str]]:
    """What was measured on each day of one curve, and which version was tested on it."""
    by_day: dict[float, list[float]] = {}
    tested: dict[float, str] = {}
    for group in groups:
        day = day_of(group.runs[0]).toordinal()
        by_day.setdefault(day, []).extend(group.judged)
        tested.setdefault(day, tested_words(group.runs[0]))
    return measurable([*by_day.items()]), tested


def with_metric(comparison: Comparison, metric: Metric) -> Comparison:
    """The same groups with their values of another metric, to be drawn beside: without verdicts and headline."""
    groups = by_histograms(
        [
            replace(group, **measured(group.all_runs, metric), printed=[], against=None, percentile="", compared=())
            for group in comparison.groups
        ],
        metric,
    )
    base = next((group for group in groups if comparison.baseline and group.key == comparison.baseline.key), None)
    return replace(
        comparison, metric=metric, groups=groups, baseline=base, headline="", warnings=[], family=0,
        levels=None, whole=with_metric(comparison.whole, metric) if comparison.whole else None,
    )  # fmt: skip


def by_each_metric(comparison: Comparison, params: QueryDict) -> list[Comparison]:
    """The comparison by each metric that an address names, four at most, the first of them first."""
    by_name = {metric.name: metric for metric in reversed(comparison.metrics)}
    wanted = [by_name[name] for name in dict.fromkeys(params.getlist("metric")) if name in by_name]
    others = [metric for metric in wanted if metric != comparison.metric]
    return [comparison, *(with_metric(comparison, metric) for metric in others[: MOST_METRICS - 1])]


# By the check that does not hold: what is said of the repeats of a group, and what it does to them.
_FAILED_CHECKS = {
    "steady_state": ("Not steady", "see the pages of the runs"),
    "no_stalls": ("Stalls", "see the pages of the runs"),
    "machine_alone": ("Disturbed by other programs", "they took CPU of the machine"),
    "branches_enough": ("Fewer branches than terminals", "terminals wait for each other"),
}


def _failures(group: Group) -> Counter[str]:
    """How many of its repeats failed each check."""
    failed = ({str(check.get("name")) for check in run.checks if not check.get("ok")} for run in group.runs)
    return Counter(chain.from_iterable(failed))


def failed_checks_words(group: Group) -> list[str]:
    """What was seen of how many of its repeats: "not steady (1 of 3)"."""
    counts = _failures(group)
    return [
        f"{mid_sentence(words)} ({counts[check]} of {group.n})"
        for check, (words, _) in _FAILED_CHECKS.items()
        if counts[check]
    ]


def _warnings(comparison: Comparison) -> list[str]:
    warnings: list[str] = []
    groups, runs, metric = comparison.groups, comparison.all_runs, comparison.metric

    def which(concerned: Sequence[Group]) -> str:
        """A warning is one line: it names few groups with short names, and counts others; their rows say it of each."""
        if len(concerned) == len(groups) > 1:
            return "all groups"
        names = ", ".join(group.label for group in concerned)
        return names if len(names) <= MOST_LETTERS else f"{len(concerned)} of {len(groups)} groups"

    if any(run.demonstration for run in runs):
        warnings.append("Demonstration, short windows: these runs show the product at work and rank nothing.")
    for words, apart in comparison.apart.items():
        why = "" if apart[0].doubt else " A commit there promises less than in the ranked groups."
        if len(apart) > MOST_APART:
            names = f"{len(apart)} of {len(groups)} groups ({words})"
        elif apart[0].doubt:
            names = "; ".join(f"{group.label} ({group.doubt})" for group in apart)
        else:
            names = f"{'; '.join(group.label for group in apart)} ({words})"
        warnings.append(f"Shown apart, not ranked: {names}.{why}")
    blocking = (each for group in groups for each in group.differences if each.severity == "blocks")
    if questions := {difference.label for difference in blocking if difference.field != "durability"}:
        names = ", ".join(sorted(questions))
        warnings.append(f"No ratio between groups that differ in {names}: they only stand side by side.")
    if metric is not None:
        rows = (row for run in runs for row in run.measurements.all() if row.metric.name == metric.name)
        if other_units := sorted({row.metric.unit for row in rows} - {metric.unit}):
            warnings.append(f"Left out: numbers of the same name in another unit ({', '.join(other_units)}).")
    failures = [(group, _failures(group)) for group in groups]
    for check, (words, why) in _FAILED_CHECKS.items():
        if concerned := [group for group, counts in failures if counts[check]]:
            warnings.append(f"{words}: {which(concerned)}; {why}.")
    if uneven := uneven_pooling_words(comparison):
        warnings.append(uneven)
    few = [group for group in groups if 0 < group.n < MIN_REPEATS]
    if few and len(groups) > 1:
        warnings.append(f"Fewer than {MIN_REPEATS} repeats, so no verdict: {which(few)}.")
    return warnings
