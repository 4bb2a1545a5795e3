"""tpcb-2010: six systems, five repeats each, and DB2's commit groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from runs.charts import compare as charts
from runs.charts.base import BarGroup, Cell, Column, Figure, Table, bars, format_number
from runs.charts.publications.parts import Material, NamedTable, Section, TextCell, text
from runs.compare import compare
from runs.groups import Comparison, Group
from runs.models import Claim, Run
from runs.selection import cell_parameter

KNOB = "commit_group"


def sections(material: Material) -> list[Section]:
    return [_systems(material), _commit_groups(material)]


def _systems(material: Material) -> Section:
    comparison = compare([run for run in material.runs if run.factor(KNOB) is None])
    if comparison.metric is None:
        return Section("systems", "Systems")
    return Section(
        id="systems",
        title=f"{comparison.metric.label} of {len(comparison.groups)} systems",
        lead=charts.headline(comparison),
        figures=[charts.bars_figure(comparison, id="systems-chart", note=charts.BARS_NOTE)],
        tables=[NamedTable("Every repeat, as printed", repeats_table(comparison))],
        compare=compare_query(comparison.groups),
    )


def compare_query(groups: Iterable[Group]) -> str:
    cells = dict.fromkeys(cell_parameter(run) for group in groups for run in group.all_runs)
    return urlencode([("cell", cell) for cell in cells])


def repeats_table(comparison: Comparison) -> Table:
    """The article's own table: a column per system, a row per repeat, then the medians, printed and ours."""
    groups = comparison.groups
    height = max((len(group.all_runs) for group in groups), default=0)
    columns_of_cells = [charts.repeat_cells(group, height) for group in groups]
    unit = comparison.metric.unit if comparison.metric else ""
    rows = [[text(f"run {place + 1}"), *(column[place] for column in columns_of_cells)] for place in range(height)]
    rows.append([TextCell(text="median", badge="printed"), *(_printed_median(group) for group in groups)])
    rows.append([TextCell(text="median", badge="computed"), *(Cell(group.median) for group in groups)])
    return Table([Column(unit, numeric=False), *(Column(group.label) for group in groups)], rows)


def _printed_median(group: Group) -> Cell:
    found = next((one for one in group.printed if one.statistic == "median"), None)
    return Cell(found.value, text=found.as_printed) if found else Cell(gap="not printed")


def _commit_groups(material: Material) -> Section:
    turned = {run.dbms_version_id for run in material.runs if run.factor(KNOB) is not None}
    comparison = compare([run for run in material.runs if run.dbms_version_id in turned])
    if comparison.metric is None:
        return Section("commit-groups", "Commit groups")
    figure = charts.bars_figure(comparison, id="commit-groups-chart", note=charts.BARS_NOTE)
    lost = _claimed_only(material, comparison)
    return Section(
        id="commit-groups",
        title="Commit groups",
        lead=_gain(comparison.groups),
        figures=[_with_gaps(figure, comparison, lost)],
        compare=compare_query(comparison.groups),
    )


def _gain(groups: Sequence[Group]) -> str:
    base = groups[0]
    said = []
    for group in groups[1:]:
        if base.median and group.median and group.against:
            change = (group.median / base.median - 1) * 100
            name = group.label[:1].upper() + group.label[1:]
            said.append(
                f"{name}: median {format_number(group.median)} against {format_number(base.median)}, "
                f"{change:+.1f} %; {group.against.words}."
            )
    return " ".join(said)


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
        return figure
    drawn = [charts.bar(group, index) for index, group in enumerate(comparison.groups)]
    spec = bars(label=metric.label, unit=metric.unit, better=metric.better, groups=[*drawn, *gaps])
    width = len(figure.table.columns) - 3
    rows = [[text(label), Cell(0.0), Cell(gap=_reason(claim)), *[Cell()] * width] for label, claim in lost]
    return Figure(
        id=figure.id, title=figure.title, spec=spec, table=Table(figure.table.columns, figure.table.rows + rows),
        alt=f"{figure.alt} {' '.join(f'{label}: not known.' for label, _ in lost)}", note=figure.note,
    )  # fmt: skip


def _reason(claim: Claim) -> str:
    return f"no number printed, only: {claim.summary}"
