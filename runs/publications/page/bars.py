"""Bars of measured systems with every repeat, and their medians as ratios to a baseline that the reader chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast
from urllib.parse import urlencode

from runs.answers.ask import answer_of
from runs.answers.words import articles as words
from runs.charts import compare as charts
from runs.charts.base import BarGroup, Figure, bars, single_bar
from runs.compare.compare import compare
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.compare.select import CELL_PREFIX
from runs.formatting import exact
from runs.models import Metric
from runs.publications.document import ClaimRow
from runs.publications.material import Material
from runs.publications.page.claims import bound_of
from runs.publications.page.parts import (
    INTERVAL,
    Amount,
    Content,
    NamedTable,
    PartSpec,
    Rows,
    Section,
    TextCell,
    Words,
    cell,
    change,
    computed,
    listed,
    origin_of,
    quotient,
    stored,
    table,
)
from runs.run.number import number_of
from runs.tables import Column, Table, TableCell

BASELINE = "baseline"
BARS_NOTE = (
    "Bar and number: median of the repeats. Dots: every repeat. Geometric means with their intervals, and verdicts: in "
    "the comparison of these runs."
)
RATIOS_NOTE = (
    "Ratios of medians, as the article makes them. The comparison of these runs gives ratios of geometric means with "
    "their intervals, which differ a little."
)


class Bars(PartSpec):
    """A bar per cell. `vary` takes the systems that were run with several values of a factor; claims on values without
    a number stand as gaps. `without` leaves out runs that have one of these factors. `say` is the sentence above it.
    """

    part: Literal["bars"] = "bars"
    workload: str = ""
    without: list[str] = []
    vary: str = ""
    say: Literal["", "extremes", "gain"] = ""
    # The article's own table, a column per system.
    repeats: bool = False

    def section(self, material: Material) -> Section:
        comparison = _comparison(material, self.workload, self.without, self.vary)
        metric = comparison.metric
        if metric is None:
            return Section(self.id, self.title)
        cells = dict.fromkeys(run.cell_key[:CELL_PREFIX] for group in comparison.groups for run in group.all_runs)
        lead: Words = self.lead
        if self.say:
            lead = _extremes(comparison, metric.unit) if self.say == "extremes" else _gain(comparison.groups)
        return Section(
            id=self.id,
            title=self.title or f"{metric.label} of the systems",
            lead=lead,
            figures=[self._figure(material, comparison, metric)],
            tables=[NamedTable("Every repeat, as printed", _repeats_table(comparison, metric))] if self.repeats else [],
            compare=urlencode([("cell", each) for each in cells]),
        )

    def _figure(self, material: Material, comparison: Comparison, metric: Metric) -> Figure:
        """Bars to the medians, as the article has them, with the repeats' provenance; what is only claimed is a gap."""
        bars_of: list[BarGroup] = []
        for color, group in enumerate(comparison.groups):
            repeats = origin_of(Amount(0.0, provenance=provenance) for provenance in group.provenances)
            median = {} if group.median is None else {"value": group.median, "statistic": "median", "interval": None}
            origin = {"origin": f"repeats {repeats}, median computed" if repeats else ""}
            bars_of.append(cast(BarGroup, {**charts.group_bar(replace(group, color=color)), **median, **origin}))
        numbers = groups_table(comparison, metric)
        blank = [TableCell()] * (len(numbers.columns) - 2)
        for label, claim in _claimed_only(material, comparison, self.vary):
            reason = f"no number printed, only: {claim.summary}"
            bars_of.append(single_bar(label, None, color=len(bars_of), gap=reason))
            numbers.rows.append([TableCell(text=label), TableCell(gap=reason), *blank])
        spec = bars(label=metric.label, unit=metric.unit, better=metric.better, groups=bars_of)
        values = ", ".join(
            f"{bar['label']} {'not known' if bar['value'] is None else exact(bar['value'])}" for bar in bars_of
        )
        title = f"{metric.label}, {metric.unit}" if metric.unit else metric.label
        alt = f"Bars of the medians of {metric.label.lower()}: {values}."
        return Figure(f"{self.id}-chart", title, spec, numbers, alt, BARS_NOTE)


class Medians(PartSpec):
    """Ratios of the medians; the article sets one against another, the reader may set all against any."""

    part: Literal["medians"] = "medians"
    workload: str = ""
    without: list[str] = []

    def section(self, material: Material) -> Section:
        comparison = _comparison(material, self.workload, self.without)
        groups = [group for group in comparison.groups if group.median]
        if not groups or comparison.metric is None:
            return Section(self.id, self.title)
        names: dict[str, Group] = {}
        for at, group in enumerate(groups, 1):
            slug = group.runs[0].dbms_version.slug
            names[f"{slug}-{at}" if slug in names else slug] = group
        chosen = material.chosen.get(BASELINE, "")
        baseline = chosen if chosen in names else next(iter(names))
        base, unit = names[baseline], comparison.metric.unit
        top = base.median or 1.0
        rows: Rows = [[group.label, median_of(group), quotient(group.median or 0.0, top)] for group in groups]
        # What the article says of the medians in one ratio.
        summaries = [
            claim.summary for claim in material.statements.claims
            if claim.metric == comparison.metric.name and bound_of(claim) and "percent_range" not in claim.details
            and not claim.details.get("general_statement") and not set(self.without) & set(claim.side_a)
        ]  # fmt: skip
        columns: list[str | Column] = ["System", Column("Median", unit), Column(f"Ratio of medians to {base.label}")]
        return Section(
            id=self.id,
            title=self.title or "Ratios of the medians",
            lead=f"The article claims: {'; '.join(summaries)}." if summaries else "",
            tables=[NamedTable(f"Median {unit} against {base.label}", table(columns, rows), RATIOS_NOTE)],
            baselines=[(slug, group.label) for slug, group in names.items()],
            baseline=baseline,
        )


def _comparison(material: Material, workload: str, without: Sequence[str], vary: str = "") -> Comparison:
    runs = [run for run in material.runs if workload in ("", run.workload.source_id)]
    turned = {run.dbms_version_id for run in runs if vary and run.factor(vary) is not None}
    return compare([
        run for run in runs
        if not any(run.factor(name) is not None for name in without) and (not vary or run.dbms_version_id in turned)
    ])  # fmt: skip


def _extremes(comparison: Comparison, unit: str) -> Words:
    ranked = sorted((group for group in comparison.groups if group.median), key=lambda group: -(group.median or 0))
    answer = answer_of(comparison)
    best = answer.claims[0].label if answer.sure and not answer.unranked else ""
    return words.extremes(best, [(group.label, median_of(group, unit)) for group in ranked])


def _gain(groups: Sequence[Group]) -> Words:
    base, said = groups[0], list[str | Amount]()
    for group in groups[1:]:
        if base.median and group.median:
            said += words.gain(
                group.label, median_of(group), median_of(base), change(group.median, base.median),
                values=group.values, base_values=base.values, verdict=group.against.verdict if group.against else None,
            )  # fmt: skip
    return said


def median_of(group: Group, unit: str = "") -> Amount:
    """The median of a group that has values."""
    return computed(group.median or 0.0, f"median({listed(group.values)})", unit=unit)


def groups_table(comparison: Comparison, metric: Metric) -> Table:
    """Every number of the bars, the geometric mean with its interval, and each repeat; gaps with their reasons."""
    unit = metric.unit
    height = max((len(group.all_runs) for group in comparison.groups), default=0)
    heads = ("Median", "Geometric mean", "its interval from", "to", *(f"Repeat {at + 1}" for at in range(height)))
    rows: Rows = []
    for group in comparison.groups:
        centres: list[Content] = [TableCell(gap=group.gap or "not known"), None, None, None]
        if group.summary:
            values, name = listed(group.values), group.summary.centre_name.replace(" ", "_")
            ends = (group.interval.low, group.interval.high) if group.interval else (None, None)
            centres = [median_of(group), computed(group.summary.centre, f"{name}({values})", digits=1)]
            centres += [None if end is None else computed(end, f"{INTERVAL} {values}", digits=1) for end in ends]
        rows.append([group.label, *centres, *_repeats(group, metric, height)])
    return table(["System", *(Column(head, unit) for head in heads)], rows)


def _repeats(group: Group, metric: Metric, height: int) -> list[TableCell]:
    cells: list[TableCell] = []
    for run in sorted(group.all_runs, key=lambda run: run.repeat):
        number = number_of(run, metric.name, metric.unit)
        amount = replace(stored(number), note=number.note or run.note) if number else None
        cells.append(cell(amount, gap=run.missing_reason or "not known", href=run.get_absolute_url()))
    return [*cells, *[TableCell()] * (height - len(cells))]


def _repeats_table(comparison: Comparison, metric: Metric) -> Table:
    """The article's own table: a column per system, a row per repeat, then the medians, printed and ours."""
    groups = comparison.groups
    height = max((len(group.all_runs) for group in groups), default=0)
    columns = zip(*(_repeats(group, metric, height) for group in groups), strict=True)
    rows: Rows = [[f"run {number}", *cells] for number, cells in enumerate(columns, 1)]
    printed: Rows = [[TextCell(text="median", badge="printed")]]
    for group in groups:
        row = next((row for row in group.printed if row.statistic == "median"), None)
        printed[0].append(cell(Amount(row.value, printed=row.as_printed) if row else None, gap="not printed"))
    ours: list[Content] = [TextCell(text="median", badge="computed")]
    ours += [cell(None, gap=group.gap or "not known") if group.median is None else median_of(group) for group in groups]
    return table([metric.unit, *(Column(group.label) for group in groups)], [*rows, *printed, ours])


def _claimed_only(material: Material, comparison: Comparison, vary: str) -> list[tuple[str, ClaimRow]]:
    """Values that the article speaks of without printing a number: (label, claim)."""
    several = len({run.dbms_version_id for group in comparison.groups for run in group.runs}) > 1
    versions = {run.dbms_version.source_id: run.dbms_version.name for group in comparison.groups for run in group.runs}
    settings = {run.factor(vary) for group in comparison.groups for run in group.runs if vary}
    claimed: list[tuple[str, ClaimRow]] = []
    for claim in material.statements.claims:
        setting = claim.side_a.get(vary)
        name = versions.get(str(claim.side_a.get("dbms")))
        if name and isinstance(setting, int | float) and setting not in settings:
            label = f"{vary.replace('_', ' ')} {setting:g}"
            claimed.append((f"{name} · {label}" if several else label, claim))
    return claimed
