"""Any set of runs as groups that can be compared: one group per cell, every repeat kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from benchagent.catalog import Durability

from runs.compare.groups import Against, Comparison, Dot, Gap, Group, Printed, apart_by_class
from runs.compare.guard import differences, refusal
from runs.compare.labels import name_cells
from runs.models import Aggregate, Metric, Run
from runs.run.facets import DURABILITY_ORDER, doubt, facets, weakest_durability
from runs.run.number import number_of, why_no_number
from runs.stats import judge

__all__ = ["Against", "Comparison", "Dot", "Gap", "Group", "Printed", "compare"]


# A warning names groups up to this many; beyond, it counts them.
MOST_NAMED = 4


def compare(runs: Iterable[Run], *, metric: str = "", baseline: str | None = None, order: str = "") -> Comparison:
    """Groups the runs by cell and sets each group against the baseline's.

    `runs` come from `Run.objects.present().for_lists()`. `metric` is a name; empty or unknown takes the workload's
    primary metric, else the most common one. `baseline` is a group's key; empty or unknown takes the first group
    with values. `order` "best" sorts by median, best first; else the order is that of the experiment or source.
    """
    chosen = [run for run in runs if run.deleted_at is None]
    metrics = _metrics(chosen)
    picked = _pick_metric(chosen, metrics, metric)
    cells = _cells(chosen)
    naming = name_cells([facets(_telling(cell)) for cell in cells])
    printed = _printed(chosen, picked)
    groups = [
        _group(key, label, cell, picked, printed, {fact.label: fact.values[index] for fact in naming.varying})
        for index, (key, label, cell) in enumerate(zip(naming.keys, naming.labels, cells, strict=True))
    ]
    groups = _ordered(_ranked(groups), picked, order)
    base = _baseline(groups, baseline)
    groups = [replace(group, against=_against(group, base, picked)) for group in groups]
    return Comparison(
        metric=picked,
        metrics=metrics,
        groups=groups,
        baseline=next((group for group in groups if base and group.key == base.key), None),
        common=naming.common,
        varying=naming.varying,
        warnings=_warnings(groups, chosen, picked),
    )


def _metrics(runs: Sequence[Run]) -> list[Metric]:
    """All metrics that any of the runs has a number of, the most common first."""
    counts = Counter(found.metric for run in runs if run.counts for found in run.measurements.all())
    return sorted(counts, key=lambda metric: (-counts[metric], metric.better == "none", metric.name, metric.unit))


def _pick_metric(runs: Sequence[Run], metrics: Sequence[Metric], wanted: str) -> Metric | None:
    primary = Counter(run.workload.primary_metric for run in runs if run.workload.primary_metric).most_common()
    for name in (wanted, *(name for name, _ in primary)):
        found = next((metric for metric in metrics if name and metric.name == name), None)
        if found is not None:
            return found
    return metrics[0] if metrics else None


def _cells(runs: Sequence[Run]) -> list[list[Run]]:
    """Repeats together, in the order of experiment or source.

    A run that has not ended knows its storage only later, so that its key still changes: it joins the cell that is
    alike in everything else.
    """
    cells: dict[str, list[Run]] = {}
    alike: dict[tuple[object, ...], str] = {}
    for run in sorted(runs, key=lambda run: (not run.counts, _place(run))):
        key = run.cell_key or str(run.id)
        if not run.counts and not run.storage.all():
            key = alike.get(_identity(run), key)
        alike.setdefault(_identity(run), key)
        cells.setdefault(key, []).append(run)
    in_place = [sorted(cell, key=_place) for cell in cells.values()]
    return sorted(in_place, key=lambda cell: (_scale_place(cell[0]), _place(cell[0])))


def _telling(cell: Sequence[Run]) -> Run:
    """The run that names the cell: one that ended knows more, such as that its database was in memory."""
    return next((run for run in cell if run.durability), cell[0])


def _place(run: Run) -> tuple[bool, int, object, int, str]:
    unplaced = run.order_index is None
    return (unplaced, run.order_index or 0, run.created_at, run.repeat, run.source_id or str(run.id))


def _scale_place(run: Run) -> tuple[float, ...]:
    """Along a size axis the order is that of the sizes, whatever was run first."""
    return tuple(
        facet.number for name, facet in facets(run).items() if name == "factor:size_gb" and facet.number is not None
    )


def _identity(run: Run) -> tuple[object, ...]:
    factors = tuple(sorted((factor.name, str(factor.value)) for factor in run.factors.all()))
    return (run.workload_id, run.dbms_version_id, run.config_id, run.hardware_id, factors)


def _group(  # noqa: PLR0917
    key: str,
    label: str,
    cell: Sequence[Run],
    metric: Metric | None,
    printed: Sequence[tuple[Aggregate, set[object]]],
    factors: dict[str, str],
) -> Group:
    dots: list[Dot] = []
    gaps: list[Gap] = []
    for run in cell:
        number = number_of(run, metric.name, metric.unit) if metric and run.counts else None
        if number is not None:
            dots.append(Dot(run, number.value, number.as_printed, number.provenance))
        else:
            gaps.append(Gap(run, why_no_number(run, metric.label if metric else "")))
    ids = {run.id for run in cell}
    return Group(
        key=key,
        label=label,
        factors=factors,
        dots=dots,
        gaps=gaps,
        printed=[
            Printed(aggregate.statistic, aggregate.value, aggregate.as_printed or f"{aggregate.value:g}", len(of))
            for aggregate, of in printed
            if of & ids
        ],
        durability=weakest_durability([dot.run for dot in dots] or cell),
        doubt=doubt([dot.run for dot in dots]),
    )


def _printed(runs: Sequence[Run], metric: Metric | None) -> list[tuple[Aggregate, set[object]]]:
    if metric is None or not any(run.publication_id for run in runs):
        return []
    publications = {run.publication_id for run in runs if run.publication_id}
    rows = Aggregate.objects.filter(publication__in=publications, metric=metric).prefetch_related("of")
    return [(aggregate, {run.id for run in aggregate.of.all()}) for aggregate in rows]


def _ranked(groups: Sequence[Group]) -> list[Group]:
    """Those of the strongest class, and those that state none: what is in memory is ranked with its like only."""
    sound = [group for group in groups if not group.doubt]
    strongest = min((DURABILITY_ORDER[group.durability] for group in sound if group.durability), default=0)
    unstated = any(group.dots and not group.durability for group in sound)

    def is_ranked(group: Group) -> bool:
        if group.doubt or (group.durability == Durability.MEMORY and unstated):
            return False
        return not group.durability or DURABILITY_ORDER[group.durability] <= strongest

    return [replace(group, ranked=is_ranked(group)) for group in groups]


def _ordered(groups: Sequence[Group], metric: Metric | None, order: str) -> list[Group]:
    """Unranked groups stand apart, at the end, class by class; groups without a value last when sorted by value."""

    def apart(group: Group) -> tuple[bool, int, bool]:
        place = 0 if group.ranked else DURABILITY_ORDER.get(group.durability, 0)
        return (not group.ranked, place, bool(group.doubt))

    if order != "best" or metric is None:
        return sorted(groups, key=apart)
    sign = 1 if metric.better == "lower" else -1
    return sorted(groups, key=lambda group: (apart(group), group.median is None, sign * (group.median or 0.0)))


def _baseline(groups: Sequence[Group], wanted: str | None) -> Group | None:
    named = next((group for group in groups if group.key == wanted and group.dots), None)
    return named or next((group for group in groups if group.dots), None)


def _against(group: Group, base: Group | None, metric: Metric | None) -> Against | None:
    if base is None or metric is None or group.key == base.key or not group.dots:
        return None
    found = differences(group.runs, base.runs)
    refused = refusal(found)
    if refused:
        return Against(None, None, found, refused)
    verdict = judge(group.values, base.values, better=metric.better)
    return Against(verdict.ratio, verdict, found)


def _warnings(groups: Sequence[Group], runs: Sequence[Run], metric: Metric | None) -> list[str]:
    found: list[str] = []
    if any(run.demonstration for run in runs):
        found.append("Demonstration, short windows: these runs show the product at work and rank nothing.")
    found += [_apart_words(words, apart) for words, apart in apart_by_class(groups).items()]
    if metric is not None:
        others = {
            number.metric.unit
            for run in runs
            for number in run.measurements.all()
            if number.metric.name == metric.name and number.metric.unit != metric.unit
        }
        if others:
            found.append(f"Left out: numbers of the same name in another unit ({', '.join(sorted(others))}).")
    few = [group.label for group in groups if 0 < group.n < 3]
    if few and len(groups) > 1:
        which = ", ".join(few) if len(few) <= MOST_NAMED else f"{len(few)} of {len(groups)} groups"
        found.append(f"Fewer than 3 repeats, so no verdict: {which}.")
    return found


def _apart_words(words: str, apart: Sequence[Group]) -> str:
    if apart[0].doubt:
        named = "; ".join(f"{group.label} ({group.doubt})" for group in apart)
        return f"Shown apart, not ranked: {named}."
    named = "; ".join(group.label for group in apart)
    return f"Shown apart, not ranked: {named} ({words}). A commit there promises less than in the ranked groups."
