"""Re-runs beside what was published: a table per experiment, with the reproduction ratio of each matched figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchagent.configfiles.units import GIB

from runs.compare.groups import SIZE_METRIC
from runs.compare.published import matches_of
from runs.models import Experiment, Run
from runs.models.shapes import CellFacts, Match, PlanGap
from runs.publications.document import ClaimRow
from runs.publications.material import Material
from runs.publications.page.claims import claimed_ratio, figure_words, reading_bounds
from runs.publications.page.parts import Amount, Bound, Content, NamedTable, Rows, TextCell, Words, cell, computed
from runs.publications.page.parts import table as make_table
from runs.publications.page.sides import Relation, Side, refusal
from runs.run.memory import MB
from runs.tables import TableCell

HEAD = ("What", "Published", "Here", "Here / published", "What differs")
NOTE = (
    "Here / published is the reproduction ratio: 1 is the same. A relation says how many times as fast one is as the "
    "other. Here: geometric means, with their interval from three repeats on. Published: medians, as printed."
)
COUNT = ", n\u00a0=\u00a0"
SIZE_FACTORS = frozenset({"warehouses"})


def tables(experiments: Sequence[Experiment], material: Material) -> dict[object, NamedTable]:
    """A table for each latest experiment of a name that has matches or gaps: two re-runs are never taken together."""
    latest = latest_of_each([experiment for experiment in experiments if is_told(experiment)])
    runs: dict[object, list[Run]] = {experiment.pk: [] for experiment in latest}
    for run in Run.objects.present().filter(experiment__in=latest).for_lists():
        runs[run.experiment_id].append(run)
    return {experiment.pk: table(experiment, runs[experiment.pk], material) for experiment in latest}


def latest_of_each(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The latest experiment of each name: the same part, run again. They come the latest first."""
    latest: dict[str, Experiment] = {}
    for experiment in experiments:
        latest.setdefault(str(experiment.plan.get("name") or experiment.name), experiment)
    return list(latest.values())


def gaps_of(experiment: Experiment) -> list[PlanGap]:
    return [PlanGap(*gap) for gap in experiment.plan.get("gaps", [])]


def is_told(experiment: Experiment) -> bool:
    """Whether there is anything to set beside what was published."""
    return bool(matches_of(experiment) or gaps_of(experiment))


def table(experiment: Experiment, runs: Sequence[Run], material: Material) -> NamedTable:
    rows: Rows = []
    # What has no number on either side, by the reason of ours: several of one reason are one line.
    empty: dict[str, list[list[TableCell]]] = {}
    for match in matches_of(experiment):
        row = list(map(cell, _row(match, runs, material)))
        if row[1].gap and row[2].gap:
            empty.setdefault(row[2].gap, []).append(row)
        else:
            rows.append([*row])
    for gap in gaps_of(experiment):  # an engine that could not be run, beside what the article claims of it
        on_it = [claim for claim in material.statements.claims if gap.version and gap.version in claim.versions]
        claims = "; ".join(_summary_of(material, claim) for claim in on_it)
        row = list(map(cell, [gap.label, claims or TableCell(gap="no claim of it alone"), TableCell(gap=gap.reason)]))
        if claims:
            rows.append([*row, None, None])
        else:
            empty.setdefault(gap.reason, []).append([*row, TableCell(), TableCell()])
    for alike in empty.values():
        rows.append([", ".join(row[0].text for row in alike), *alike[0][1:]])
    note = f"{NOTE}{_machines('Here', runs)}{_machines('There', material.runs)}"
    return NamedTable(experiment.name, make_table(HEAD, rows), note, href=experiment.get_absolute_url())


def _summary_of(material: Material, claim: ClaimRow) -> str:
    """With the load and the two disks that its sides name: beside another claim it needs them."""
    loads = {run.workload.source_id: run.workload.name for run in material.runs}
    load = loads.get(str(claim.side_a.get("workload", "")), "")
    disks = [str(side["disk"]) for side in (claim.side_a, claim.side_b) if "disk" in side]
    context = ", ".join(part for part in (load, " against ".join(dict.fromkeys(disks))) if part)
    return f"{context}: {claim.summary}" if context else claim.summary


def _row(match: Match, runs: Sequence[Run], material: Material) -> list[Content]:
    theirs = _quantity(material.runs, match.theirs, match.their_base, match.their_metric, published=True)
    there, readings = _published(match, theirs, material)
    ours = _quantity(runs, match.ours, match.base, match.metric)
    here, gap = ours.amount, match.gap or ours.gap
    if here is None or gap:
        return [match.label, there, TableCell(gap=gap), None, match.differs]
    against = theirs.counted if match.theirs else []
    if claim := material.statements.claim(match.claim):
        # All that the article measured with a claim's DBMSs speaks for the claim.
        named = [run for run in material.runs if run.dbms_version.source_id in claim.versions]
        against = Side(named, claim.metric, published=True).counted
    words = [part for reading in readings for part in ("; ", *_ratio(here, reading))][1:]
    ratios: Content = words or TableCell(gap="no amount is published")
    if words and (refused := refusal(ours.counted, against)):
        ratios = TableCell(gap=f"no ratio: {refused}")
    products = f"{_names(ours)} here"
    if match.theirs and not match.claim and (named_there := _names(theirs)):
        products += f", {named_there} there"
    measured = (here, *_in_percent(match, ours), *ours.interval, COUNT + ours.count)
    differs = "; ".join(part for part in (products, match.differs, *ours.notes, _sizes(match, ours)) if part)
    return [match.label, there, measured, ratios, differs]


def _quantity(
    runs: Sequence[Run], facts: CellFacts, base: CellFacts, metric: str, *, published: bool = False
) -> Side | Relation:
    side = Side.of(runs, facts, metric, published=published)
    return Relation(side, Side.of(runs, base, metric, published=published)) if base else side


def _names(quantity: Side | Relation) -> str:
    """The names of the products that have a number; of a relation not those of its baseline."""
    side = quantity.side if isinstance(quantity, Relation) else quantity
    return ", ".join(dict.fromkeys(run.dbms_version.name for run in side.counted))


def _published(match: Match, theirs: Side | Relation, material: Material) -> tuple[Content, list[Bound]]:
    """The claim, the observation, or the median of the published runs that the match names, or their relation."""
    if match.claim:
        claim = material.statements.claim(match.claim)
        if claim is None:
            return TableCell(gap="the claim is not stored"), []
        return TextCell(words=figure_words(claim), note=claim.summary), _readings(claim)
    if match.extra:
        return _published_extra(match, material)
    if not match.theirs:
        return TableCell(gap="not in the article"), []
    if theirs.amount is None:
        return TableCell(gap=theirs.gap), []
    beside = _in_percent(match, theirs) if isinstance(theirs, Relation) else (COUNT + theirs.count,)
    return (theirs.amount, *beside), [_point(theirs.amount)]


def _published_extra(match: Match, material: Material) -> tuple[Content, list[Bound]]:
    """Seconds more on so many: a relation of speeds, from the longest to the shortest time."""
    seen = next((each for each in material.statements.observations if each.metric == match.extra), None)
    if seen is None or seen.value_max is None or seen.value_min is None:
        return TableCell(gap="the observation is not stored"), []
    most, least = (Amount(float(end), seen.unit) for end in (seen.value_max, seen.value_min))
    on_s = match.extra_on_s
    slow, fast = (
        computed(on_s / (on_s + end.value), f"{on_s:g} / ({on_s:g} + {end.value:g})", unit="×", digits=3)
        for end in (most, least)
    )
    words = (least, " to ", most, f" {seen.metric} {seen.qualifier}: ", slow, " to ", fast)
    return words, [Bound("", (slow, " to ", fast), slow.value, fast.value)]


def _readings(claim: ClaimRow) -> list[Bound]:
    """A percentage that says neither time nor speed is read both ways."""
    equal = computed(1.0, "1 + 0 / 100", unit="×", digits=2)
    amount = equal if claim.percent == 0 else claimed_ratio(claim)
    return reading_bounds(claim)[::-1] or ([_point(replace(amount, unit="×"))] if amount else [])


def _point(amount: Amount) -> Bound:
    return Bound("", (amount,), amount.value, amount.value)


def _sizes(match: Match, ours: Side | Relation) -> str:
    """What the databases of two sizes took here: the plan names sizes before they are known."""
    if not isinstance(ours, Relation) or not SIZE_FACTORS & match.ours.keys():
        return ""
    of, base = (replace(side, metric=SIZE_METRIC).centre for side in (ours.side, ours.base))
    if of is None or base is None:
        return ""
    against = "" if of == base else f" against {base / MB:,.0f} MB"
    return f"database of {of / MB:,.0f} MB{against} here"


def _in_percent(match: Match, quantity: Side | Relation) -> Words:
    if not match.percent or not isinstance(quantity, Relation) or quantity.amount is None:
        return ()
    value, formula = quantity.amount.value, quantity.amount.formula
    return (" (", computed(100 * (value - 1), f"{formula} − 1", unit="%", digits=1, signed=True), ")")


def _ratio(here: Amount, there: Bound) -> Words:
    """Here / published, or whether it lies within the range that is published."""
    label = f" {there.label}" if there.label else ""
    low, high = there.low or 0.0, there.high or 0.0
    (amount, *_) = (word for word in there.words if isinstance(word, Amount))
    if here.unit != amount.unit:
        return (f"not comparable: {here.unit} here, {amount.unit} there",)
    if low == high:
        return (computed(here.value / low, f"{here.value:.10g} / {low:.10g}", unit="×", digits=2), label)
    return (f"{'within' if low <= here.value <= high else 'outside'} ", *there.words, label)


def _machines(where: str, runs: Sequence[Run]) -> str:
    machines = []
    for machine in dict.fromkeys(run.hardware for run in runs if run.hardware):
        memory = f"{machine.ram_bytes / GIB:.3g} GB memory" if machine.ram_bytes else ""
        machines.append(", ".join(part for part in (machine.name, machine.cpu_model, memory) if part))
    return f" {where}: {'; '.join(dict.fromkeys(machines))}." if machines else ""
