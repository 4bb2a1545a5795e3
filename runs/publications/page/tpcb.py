"""tpcb-2010: six systems, five repeats each, their ratios, and DB2's commit groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from runs.charts import compare as charts
from runs.charts.base import BarGroup, Cell, Column, Figure, Table, bars
from runs.compare.compare import compare
from runs.compare.groups import Comparison, Group
from runs.compare.select import cell_parameter
from runs.models import Claim, Measurement, Run
from runs.publications.page.amounts import Amount, TextCell, Words, computed, number_cell, origin_of, text
from runs.publications.page.claim_words import printed_bound
from runs.publications.page.material import Material
from runs.publications.page.parts import Choice, NamedTable, Section

KNOB = "commit_group"
BASELINE = "baseline"
# In words, as every number of these pages is one of the data or computed from them.
BARS_NOTE = "Bar: median. Dots: every repeat. Whisker: interval of the geometric mean, ninety-five per cent confidence."
INTERVAL = "exp(mean of ln ± t × s / √n) of"


def sections(material: Material) -> list[Section]:
    return [_systems(material), _ratios(material), _commit_groups(material), _over_time()]


def _six(material: Material) -> Comparison:
    return compare([run for run in material.runs if run.factor(KNOB) is None])


def _systems(material: Material) -> Section:
    comparison = _six(material)
    if comparison.metric is None:
        return Section("systems", "Systems")
    figure = charts.bars_figure(comparison, id="systems-chart", note=BARS_NOTE)
    return Section(
        id="systems",
        title=f"{comparison.metric.label} of the systems",
        lead=_extremes(comparison),
        figures=[replace(_with_origins(figure, comparison), table=groups_table(comparison))],
        tables=[NamedTable("Every repeat, as printed", repeats_table(comparison))],
        compare=compare_query(comparison.groups),
    )


def _with_origins(figure: Figure, comparison: Comparison) -> Figure:
    """The bars, each with the provenance of its repeats."""
    groups = [{**charts.bar(one, place), "origin": _origin(one)} for place, one in enumerate(comparison.groups)]
    return replace(figure, spec={**figure.spec, "groups": groups})  # type: ignore[arg-type]


def _origin(group: Group) -> str:
    repeats = origin_of(Amount(dot.value, provenance=dot.provenance) for dot in group.dots)
    return f"repeats {repeats}, median computed" if repeats else ""


def _extremes(comparison: Comparison) -> Words:
    ranked = sorted((one for one in comparison.groups if one.median), key=lambda one: -(one.median or 0))
    if len(ranked) < 2 or comparison.metric is None:
        return ""
    unit = comparison.metric.unit
    first, second, last = ranked[0], ranked[1], ranked[-1]
    return (
        f"First {first.label} with ", median_of(first, unit), f", second {second.label} with ", median_of(second, unit),
        f", last {last.label} with ", median_of(last, unit), ".",
    )  # fmt: skip


def values_text(group: Group) -> str:
    return ", ".join(f"{value:.10g}" for value in group.values)


def median_of(group: Group, unit: str = "") -> Amount:
    """Of a group that has values."""
    return computed(group.median or 0.0, f"median({values_text(group)})", unit=unit)


def groups_table(comparison: Comparison) -> Table:
    """Every number of the bars: median, interval, and each repeat in its place, gaps with their reasons."""
    unit = comparison.metric.unit if comparison.metric else ""
    height = max((len(group.all_runs) for group in comparison.groups), default=0)
    columns = [
        Column("System", numeric=False), Column("Median", unit), Column("Interval from", unit),
        Column("to", unit), *(Column(f"Repeat {place}", unit) for place in range(1, height + 1)),
    ]  # fmt: skip
    rows = [
        [text(group.label), *_median_cells(group), *_repeats(group, comparison, height)] for group in comparison.groups
    ]
    return Table(columns, rows)


def _median_cells(group: Group) -> list[Cell]:
    if group.median is None:
        return [Cell(gap=group.gap or "not known"), Cell(), Cell()]
    formula = f"{INTERVAL} {values_text(group)}"
    ends = (group.interval.low, group.interval.high) if group.interval else ()
    return [number_cell(median_of(group)), *(number_cell(computed(end, formula, digits=1)) for end in ends),
            *[Cell()] * (2 - len(ends))]  # fmt: skip


def _repeats(group: Group, comparison: Comparison, height: int) -> list[Cell]:
    cells = [_repeat(run, comparison) for run in sorted(group.all_runs, key=lambda run: run.repeat)]
    return [*cells, *[Cell()] * (height - len(cells))]


def _repeat(run: Run, comparison: Comparison) -> Cell:
    number = _measured(run, comparison)
    if number is None:
        return Cell(gap=run.missing_reason or "not known", href=run.get_absolute_url())
    amount = Amount(number.value, "", number.provenance, number.as_printed, note=number.note or run.note)
    return number_cell(amount, href=run.get_absolute_url())


def _measured(run: Run, comparison: Comparison) -> Measurement | None:
    metric = comparison.metric
    return next((one for one in run.measurements.all() if metric and one.metric_id == metric.id), None)


def compare_query(groups: Iterable[Group]) -> str:
    cells = dict.fromkeys(cell_parameter(run) for group in groups for run in group.all_runs)
    return urlencode([("cell", cell) for cell in cells])


def repeats_table(comparison: Comparison) -> Table:
    """The article's own table: a column per system, a row per repeat, then the medians, printed and ours."""
    groups = comparison.groups
    height = max((len(group.all_runs) for group in groups), default=0)
    columns_of_cells = [_repeats(group, comparison, height) for group in groups]
    unit = comparison.metric.unit if comparison.metric else ""
    rows = [[text(f"run {place + 1}"), *(column[place] for column in columns_of_cells)] for place in range(height)]
    rows.append([TextCell(text="median", badge="printed"), *(_printed_median(group) for group in groups)])
    rows.append([TextCell(text="median", badge="computed"), *(number_cell(median_of(group)) for group in groups)])
    return Table([Column(unit, numeric=False), *(Column(group.label) for group in groups)], rows)


def _printed_median(group: Group) -> Cell:
    found = next((one for one in group.printed if one.statistic == "median"), None)
    return number_cell(Amount(found.value, printed=found.as_printed)) if found else Cell(gap="not printed")


# Ratios to a baseline


def _ratios(material: Material) -> Section:
    """The article sets DB2 against PostgreSQL; the reader may set all against any."""
    groups = [group for group in _six(material).groups if group.median]
    if not groups:
        return Section("ratios", "Ratios")
    names = {group.runs[0].dbms_version.slug: group for group in groups}
    base = names.get(material.chosen.get(BASELINE, ""), groups[0])
    rows = [[text(group.label), number_cell(median_of(group)), _ratio(group, base)] for group in groups]
    slug = next(slug for slug, group in names.items() if group is base)
    columns = [Column("System", numeric=False), Column("Median", "TPS"), Column(f"Ratio to {base.label}")]
    return Section(
        id="ratios",
        title="Ratios of the medians",
        lead=_claimed(material),
        tables=[NamedTable(f"Median TPS against {base.label}", Table(columns, rows))],
        choices=[Choice(BASELINE, "Baseline", [(slug, group.label) for slug, group in names.items()], slug)],
    )


def _claimed(material: Material) -> str:
    """What the article says of the medians in one ratio."""
    found = [one for one in material.claims if printed_bound(one) and not one.details.get("general_statement")]
    said = [one.summary for one in found if one.metric == "tps" and KNOB not in one.side_a]
    return f"The article claims: {'; '.join(said)}." if said else ""


def _ratio(group: Group, base: Group) -> Cell:
    top, bottom = group.median or 0.0, base.median or 1.0
    return number_cell(computed(top / bottom, f"{top:.10g} / {bottom:.10g}", unit="×", digits=2))


# Commit groups


def _commit_groups(material: Material) -> Section:
    turned = {run.dbms_version_id for run in material.runs if run.factor(KNOB) is not None}
    comparison = compare([run for run in material.runs if run.dbms_version_id in turned])
    if comparison.metric is None:
        return Section("commit-groups", "Commit groups")
    figure = charts.bars_figure(comparison, id="commit-groups-chart", note=BARS_NOTE)
    lost = _claimed_only(material, comparison)
    return Section(
        id="commit-groups",
        title="Commit groups",
        lead=_gain(comparison.groups),
        figures=[_with_gaps(figure, comparison, lost)],
        compare=compare_query(comparison.groups),
    )


def _gain(groups: Sequence[Group]) -> Words:
    base = groups[0]
    said: list[str | Amount] = []
    for group in groups[1:]:
        if base.median and group.median:
            change = computed(
                100 * (group.median / base.median - 1), f"{group.median:.10g} / {base.median:.10g} − 1", unit="%",
                digits=2, signed=True,
            )  # fmt: skip
            name = group.label[:1].upper() + group.label[1:]
            said += [f"{name}: median ", median_of(group), " against ", median_of(base), ", ", change, "; ",
                     _overlap(group, base), ". "]  # fmt: skip
    return said


def _overlap(group: Group, base: Group) -> str:
    apart = min(group.values) > max(base.values) or max(group.values) < min(base.values)
    return "the ranges of the repeats do not overlap" if apart else "the ranges of the repeats overlap"


def _over_time() -> Section:
    return Section(
        "over-time", "TPS over time", "The article prints averages only; a re-run adds the course of each run.",
        frames=("tpcb-over-time",),
    )  # fmt: skip


def _claimed_only(material: Material, comparison: Comparison) -> list[tuple[str, Claim]]:
    """Settings that the article speaks of without printing a number: (label, claim)."""
    several = len({run.dbms_version_id for group in comparison.groups for run in group.runs}) > 1
    versions = {run.dbms_version.source_id: run.dbms_version.name for group in comparison.groups for run in group.runs}
    known = {_knob(run) for group in comparison.groups for run in group.runs}
    found: list[tuple[str, Claim]] = []
    for claim in material.claims:
        setting = claim.side_a.get(KNOB)
        name = versions.get(str(claim.side_a.get("dbms")))
        if name and isinstance(setting, int | float) and float(setting) not in known:
            found.append((f"{name} · commit group {setting:g}" if several else f"commit group {setting:g}", claim))
    return found


def _knob(run: Run) -> float | None:
    value = run.factor(KNOB)
    return float(value) if isinstance(value, int | float) else None


def _with_gaps(figure: Figure, comparison: Comparison, lost: Sequence[tuple[str, Claim]]) -> Figure:
    first = len(comparison.groups)
    gaps: list[BarGroup] = [
        {
            "label": label, "color": first + index, "value": None, "interval": None, "dots": [],
            "gap": _reason(claim), "ranked": True,
        }
        for index, (label, claim) in enumerate(lost)
    ]  # fmt: skip
    metric = comparison.metric
    if metric is None or not gaps:
        return replace(_with_origins(figure, comparison), table=groups_table(comparison))
    drawn: list[BarGroup] = [
        {**charts.bar(group, index), "origin": _origin(group)} for index, group in enumerate(comparison.groups)
    ]
    spec = bars(label=metric.label, unit=metric.unit, better=metric.better, groups=[*drawn, *gaps])
    table = groups_table(comparison)
    blank = [Cell()] * (len(table.columns) - 2)
    rows = [[text(label), Cell(gap=_reason(claim)), *blank] for label, claim in lost]
    return replace(
        figure, spec=spec, table=Table(table.columns, table.rows + rows),
        alt=f"{figure.alt} {' '.join(f'{label}: not known.' for label, _ in lost)}",
    )  # fmt: skip


def _reason(claim: Claim) -> str:
    return f"no number printed, only: {claim.summary}"
