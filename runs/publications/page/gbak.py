"""gbak-backup-2007: four backup methods on five servers. The times were in charts that are lost."""

from __future__ import annotations

from collections.abc import Sequence

from runs.charts.base import BarGroup, Cell, Column, Figure, Table, bars
from runs.formatting import exact
from runs.models import Observation, Run
from runs.publications.page import grids
from runs.publications.page.amounts import TextCell, Words, number_cell, origin_of, stored, text, word_columns
from runs.publications.page.material import Material
from runs.publications.page.parts import NamedTable, Section

METHOD = "method"
# Units worth bars: rates and loads of several things side by side.
DRAWN_UNITS = ("MB/s", "%")


def sections(material: Material) -> list[Section]:
    return [_times(material), _methods(material), _perfmon(), _observed(material), _control(material)]


def _times(material: Material) -> Section:
    runs = [run for run in material.runs if run.factor(METHOD) is not None]
    if not runs:
        return Section("times", "Backup times")
    table = grids.grid(
        runs, row=lambda run: material.words({METHOD: run.factor(METHOD)}), column=lambda run: run.dbms_version.name,
        head="Method",
    )  # fmt: skip
    lead = grids.lost_words(runs, "the times were in charts that no longer exist.")
    wanted = ", ".join(dict.fromkeys(material.name(run.missing_metric) for run in runs if run.missing_metric))
    return Section(
        "times", "Backup times", lead, tables=[NamedTable(wanted or "Backup time", table)],
        frames=("gbak-fig1", "gbak-fig2"),
    )  # fmt: skip


def _methods(material: Material) -> Section:
    workloads = material.publication.workloads.all()
    found = [method for workload in workloads for method in workload.details.get("methods") or []]
    rows = [
        [text(one.get("label")), TextCell(text=str(one.get("command", "")), code=True), text(one.get("target_disk"))]
        for one in found
    ]
    table = Table(word_columns("Method", "Command", "Backup on"), rows)
    return Section("methods", "The methods", tables=[NamedTable("Methods", table)] if rows else [])


def _perfmon() -> Section:
    return Section(
        "perfmon",
        "CPU and disks over time",
        "A graph for each of four methods and three servers.",
        frames=("gbak-fig3",),
    )


def _observed(material: Material) -> Section:
    """What the text does say in numbers: disk rates and CPU load."""
    figures = [figure for unit in DRAWN_UNITS if (figure := _bars(material, unit))]
    return Section("observed", "CPU and disks, as the text prints them", _faster(material.observations), figures)


def _faster(seen: Sequence[Observation]) -> Words:
    rates = sorted((one for one in seen if one.unit == "MB/s" and one.value), key=lambda one: one.value or 0.0)
    if len(rates) < 2:
        return ""
    fast, slow = stored(rates[-1], unit="MB/s"), stored(rates[0], unit="MB/s")
    return ("The disks move ", fast, " with the fastest method, ", slow, " with the slowest.")


def _bars(material: Material, unit: str) -> Figure | None:
    seen = [one for one in material.observations if one.unit == unit and one.value is not None]
    if not seen:
        return None
    groups: list[BarGroup] = [
        {
            "label": _label(material, one), "color": 0, "value": one.value, "interval": None, "dots": [],
            "gap": None, "ranked": True, "text": f"{'≈ ' if _roughly(one) else ''}{exact(one.value)}",
            "origin": origin_of([stored(one)]),
        }
        for one in seen
    ]  # fmt: skip
    table = Table(
        [Column("Where", numeric=False), Column("Value", unit), Column("As said", numeric=False)],
        [[text(_label(material, one)), number_cell(stored(one)), text(one.qualifier)] for one in seen],
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
    """Runs outside the grid that do have numbers, or had some until they were marked invalid: the control query."""
    outside = [run for run in material.runs if run.factor(METHOD) is None]
    found = [run for run in outside if run.measurements.all() or run.invalid_at]
    metrics = list(dict.fromkeys(one.metric for run in found for one in run.measurements.all()))
    columns = [Column(one.label, one.unit) for one in metrics] or [Column("Numbers", numeric=False)]
    rows = [[text(_where(run)), *_numbers(run, [metric.pk for metric in metrics])] for run in found]
    table = Table([Column("Server", numeric=False), *columns], rows)
    sql = next((str(run.workload.details.get("sql", "")) for run in found), "")
    return Section(
        "control", "The control query", f"{sql}: the same on every server." if sql else "",
        tables=[NamedTable("The control query", table)] if rows else [],
    )  # fmt: skip


def _numbers(run: Run, metrics: list[int]) -> list[Cell]:
    return [_number(run, metric) for metric in metrics] or [Cell(gap=run.missing_reason)]


def _number(run: Run, metric: object) -> Cell:
    found = next((one for one in run.measurements.all() if one.metric_id == metric), None)
    return number_cell(stored(found) if found else None, gap=run.missing_reason or "not printed")


def _where(run: Run) -> str:
    return "; ".join(str(factor.value) for factor in run.factors.all()) or run.dbms_version.name
