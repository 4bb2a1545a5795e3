"""gbak-backup-2007: four backup methods on five servers. The times were in charts that are lost."""

from __future__ import annotations

from collections.abc import Sequence

from runs.charts.base import BarGroup, Cell, Column, Figure, Table, bars
from runs.charts.numbers import exact
from runs.charts.publications import grids
from runs.charts.publications.parts import Facts, Material, NamedTable, Section, TextCell, text, word_columns
from runs.models import Observation, Run

METHOD = "method"
# Units worth bars: rates and loads of several things side by side.
DRAWN_UNITS = ("MB/s", "%")


def sections(material: Material) -> list[Section]:
    return [_times(material), _methods(material), _observed(material), _control(material)]


def _times(material: Material) -> Section:
    runs = [run for run in material.runs if run.factor(METHOD) is not None]
    if not runs:
        return Section("times", "Backup times")
    table = grids.grid(
        runs, row=lambda run: material.words({METHOD: run.factor(METHOD)}), column=lambda run: run.dbms_version.name,
        head="Method",
    )  # fmt: skip
    lead = f"{grids.lost(runs)} of {len(runs)} cells have no value: the times were in charts that no longer exist."
    wanted = ", ".join(dict.fromkeys(material.name(run.missing_metric) for run in runs if run.missing_metric))
    return Section("times", "Backup times", lead, tables=[NamedTable(wanted or "Backup time", table)])


def _methods(material: Material) -> Section:
    workloads = material.publication.workloads.all()
    found = [method for workload in workloads for method in workload.details.get("methods") or []]
    rows = [
        [text(one.get("label")), TextCell(text=str(one.get("command", "")), code=True), text(one.get("target_disk"))]
        for one in found
    ]
    table = Table(word_columns("Method", "Command", "Backup on"), rows)
    return Section("methods", "The methods", tables=[NamedTable("Methods", table)] if rows else [])


def _observed(material: Material) -> Section:
    """What the text does say in numbers: disk rates and CPU load."""
    figures = [figure for unit in DRAWN_UNITS if (figure := _bars(material, unit))]
    return Section("observed", "What the text does print", lead=_faster(material.observations), figures=figures)


def _faster(seen: Sequence[Observation]) -> str:
    rates = sorted(one.value for one in seen if one.unit == "MB/s" and one.value)
    if len(rates) < 2:
        return ""
    return f"The disks move {exact(rates[-1])} MB/s with the fastest method, {exact(rates[0])} MB/s with the slowest."


def _bars(material: Material, unit: str) -> Figure | None:
    seen = [one for one in material.observations if one.unit == unit and one.value is not None]
    if not seen:
        return None
    groups: list[BarGroup] = [
        {
            "label": _label(material, one), "color": 0, "value": one.value, "interval": None, "dots": [],
            "gap": None, "ranked": True, "text": f"{'≈ ' if _roughly(one) else ''}{exact(one.value)}",
        }
        for one in seen
    ]  # fmt: skip
    table = Table(
        [Column("Where", numeric=False), Column("Value", unit), Column("As said", numeric=False)],
        [[text(_label(material, one)), Cell(one.value), text(one.qualifier)] for one in seen],
    )
    name = "Disk transfer" if unit == "MB/s" else "CPU load"
    title = f"{name}, {unit}"
    better = "higher" if unit == "MB/s" else "none"
    said = ", ".join(f"{_label(material, one)} {exact(one.value)}" for one in seen)
    spec = bars(label=name, unit=unit, better=better, groups=groups)
    return Figure(f"observed-{'rate' if unit == 'MB/s' else 'cpu'}", title, spec, table, f"Bars: {said}.")


def _label(material: Material, seen: Observation) -> str:
    where = material.words(seen.factors)
    return f"{where}: {seen.metric}" if seen.unit == "%" else where or seen.metric


def _roughly(seen: Observation) -> bool:
    return any(word in seen.qualifier for word in ("about", "approx"))


def _control(material: Material) -> Section:
    """Runs outside the grid that do have numbers: the control query."""
    found = [run for run in material.runs if run.factor(METHOD) is None and run.measurements.all()]
    return Section("control", "The control", facts=[Facts(_title(run), _numbers(run)) for run in found])


def _numbers(run: Run) -> list[tuple[str, str]]:
    return [(str(one.metric), exact(one.value)) for one in run.measurements.all()]


def _title(run: Run) -> str:
    where = "; ".join(str(factor.value) for factor in run.factors.all()) or run.dbms_version.name
    return f"{run.workload.details.get('sql') or run.workload.name}: {where}"
