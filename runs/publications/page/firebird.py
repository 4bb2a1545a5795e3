"""firebird-terabyte-2015: load and throughput from 9 GB to 1.77 TB, SATA printed and SSD lost."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from runs.charts.base import BandSpec, BarGroup, Cell, Column, Figure, LineGap, Table, YAxis, bars
from runs.formatting import exact
from runs.models import Metric, Run
from runs.publications.page import database, sizes
from runs.publications.page.amounts import Amount, Words, computed, number_cell, origin_of, plain, stored
from runs.publications.page.material import Material
from runs.publications.page.parts import NamedTable, Section, Tile

MB_PER_GB = 1024
SMALL_AGAINST_BIG = 10
LOAD, SCORE = "load", "oltp"


def sections(material: Material) -> list[Section]:
    return [
        _database_sizes(material), _load(material), _performance(material), _against_ssd(material),
        database.tables(material), database.indexes(material), database.queries(material),
    ]  # fmt: skip


def _of_kind(material: Material, kind: str) -> list[Run]:
    return [run for run in material.runs if run.workload.kind == kind and sizes.size_of(run) is not None]


def _metrics(runs: Sequence[Run]) -> list[Metric]:
    """Those with a direction upwards first."""
    found = list(dict.fromkeys(one.metric for run in runs for one in run.measurements.all()))
    return sorted(found, key=lambda metric: metric.better != "higher")


def _axis(metric: Metric) -> YAxis:
    """Without saying a thing twice: "Business operations" in "business operations/s" are one."""
    label, unit = metric.label.partition(" (")[0], metric.unit.partition(" (")[0]
    if unit.lower().startswith(label.lower()):
        label, unit = unit[:1].upper() + unit[1:], ""
    return {"label": label, "unit": unit, "zero": True}


def _compare(runs: Sequence[Run]) -> str:
    publication = runs[0].publication
    return urlencode({"publication": publication.slug if publication else "", "workload": runs[0].workload.slug})


# Sizes


def _database_sizes(material: Material) -> Section:
    runs = _of_kind(material, LOAD)
    found = sorted({size for run in runs if (size := sizes.size_of(run)) is not None})
    if not found:
        return Section("database-sizes", "Database sizes")
    small = [size for size in found if size * SMALL_AGAINST_BIG < found[-1]] or found
    listed = _size_bars(
        runs, small, id="database-sizes-chart", title="The databases of the first series, GB", log=False
    )
    whole = _size_bars(runs, found, id="perf5", title="All databases, GB, log axis", log=True)
    terabytes = computed(found[-1] / MB_PER_GB, f"{found[-1]:.10g} / {MB_PER_GB}", unit="TB", digits=2)
    return Section(
        id="database-sizes", title="Database sizes",
        tiles=[
            Tile("Size of the large database", Amount(found[-1], "GB")), Tile("the same in TB of 1024 GB", terabytes),
        ],
        figures=[listed, whole],
    )  # fmt: skip


def _size_bars(runs: Sequence[Run], found: Sequence[float], *, id: str, title: str, log: bool) -> Figure:
    groups: list[BarGroup] = [
        {
            "label": f"test {number}", "color": 0, "value": size, "interval": None, "dots": [], "gap": None,
            "ranked": True, "text": exact(size), "origin": origin_of([Amount(size)]),
        }
        for number, size in enumerate(found, start=1)
    ]  # fmt: skip
    spec = bars(label="Size", unit="GB", better="none", groups=groups, scale="log" if log else "linear")
    spec["marks"] = sizes.ram_mark(runs)
    rows = [[number_cell(Amount(number)), number_cell(Amount(size))] for number, size in enumerate(found, start=1)]
    alt = f"Bars of the database sizes from {exact(found[0])} to {exact(found[-1])} GB, the RAM as a line."
    note = "1 GB = 1024 MB." + (" Logarithmic axis." if log else "")
    return Figure(id, title, spec, Table([Column("Test"), Column("Size", "GB")], rows), alt, note=note)


# Load


def _load(material: Material) -> Section:
    runs = _of_kind(material, LOAD)
    metrics = _metrics(runs)
    if not metrics:
        return Section("load", "Loading")
    marks = sizes.ram_mark(runs)
    figures = []
    for metric in metrics:
        rate = metric.better == "higher"
        y: YAxis = _axis(metric) if rate else {**_axis(metric), "zero": False, "scale": "log"}
        figures.append(
            sizes.figure(
                sizes.curves(runs, metric), id="perf10" if rate else "perf10-time",
                title=f"{y['label']}, {y['unit']}, SSD against SATA", y=y, marks=marks,
                note="Logarithmic size axis." if rate else "Both axes logarithmic.",
            )
        )  # fmt: skip
    return Section(
        id="load", title="Loading the databases", lead=_load_lead(sizes.curves(runs, metrics[0])), figures=figures,
        tables=[_load_table(runs)], frames=("carrega_database",), compare=_compare(runs),
    )  # fmt: skip


def _load_lead(found: Sequence[sizes.Curve]) -> Words:
    whole = next(one for one in found if one.amounts)
    ordered = sorted(whole.amounts.values(), key=lambda one: one.value)
    at = list(whole.amounts)
    return (
        f"{whole.label}: between ", ordered[0], " and ", ordered[-1], " MB/s at every size from ", Amount(at[0]),
        " to ", Amount(at[-1], "GB"), ".",
    )  # fmt: skip


def _load_table(runs: Sequence[Run]) -> NamedTable:
    """The article's table, and its last column worked out again from the two before it."""
    valued = [run for run in runs if run.measurements.all()]
    rows = []
    for number, run in enumerate(valued, start=1):
        by_name = {one.metric.name: one for one in run.measurements.all()}
        size, time = sizes.size_of(run) or 0.0, by_name["load_time"]
        again = computed(
            size * MB_PER_GB / time.value, f"{size:.10g} × {MB_PER_GB} / {time.value:.10g}"
        )  # fmt: skip
        rows.append([
            number_cell(Amount(number)), number_cell(Amount(size)), number_cell(stored(time)),
            number_cell(stored(by_name["load_speed"])), number_cell(again),
        ])  # fmt: skip
    columns = [
        Column("Test"), Column("Size", "GB"), Column("Time", "s"), Column("Speed as printed", "MB/s"),
        Column("Speed worked out", "MB/s"),
    ]  # fmt: skip
    return NamedTable("Load on SATA RAID1, as printed", Table(columns, rows))


# Performance


def _performance(material: Material) -> Section:
    runs = _of_kind(material, SCORE)
    metrics = _metrics(runs)
    if not metrics:
        return Section("performance", "Performance")
    curves, marks = sizes.without_lost(sizes.curves(runs, metrics[0])), sizes.ram_mark(runs)
    y = _axis(metrics[0])
    name, whole = y["label"], curves[0]
    at = list(whole.amounts)
    small = at[-2] if len(at) > 2 and at[-1] / at[-2] >= SMALL_AGAINST_BIG else at[-1]
    percent: YAxis = {"label": "Of the smallest size", "unit": "%", "zero": True}
    figures = [
        sizes.figure(sizes.only_up_to(curves, small), id="perf4", title=f"{name}, up to {exact(small)} GB", y=y,
                     marks=marks, note="Linear size axis."),
        sizes.figure(curves, id="perf7", title=f"{name}, all sizes", y=y, marks=marks, note="Logarithmic size axis."),
        sizes.figure(sizes.relative(curves), id="degradation", title=f"{name}, in % of the smallest size", y=percent,
                     marks=marks, bands=_losses(whole, small), note="Computed from the printed values."),
    ]  # fmt: skip
    return Section(
        id="performance", title="Performance over size", lead=_loss_lead(whole, small), figures=figures,
        tables=[_performance_table(whole, y["label"])], compare=_compare(runs),
    )  # fmt: skip


def _losses(curve: sizes.Curve, small: float) -> list[BandSpec]:
    """What is lost from the smallest size to the end of the dense series, and from there to the largest."""
    at = list(curve.amounts)
    stretches = [(at[0], small)] + ([(small, at[-1])] if at[-1] > small else [])
    return [
        {
            "from": left, "to": right, "label": plain((sizes.change(curve, right, left),)), "below": True,
            "clear": place > 0,
        }
        for place, (left, right) in enumerate(stretches)
    ]  # fmt: skip


def _loss_lead(curve: sizes.Curve, small: float) -> Words:
    at = list(curve.amounts)
    stops = [small] + ([at[-1]] if at[-1] > small else [])
    said: list[str | Amount] = [f"{curve.label}: "]
    for place, stop in enumerate(stops):
        said += [", " if place else "", sizes.change(curve, stop, at[0]), " at ", Amount(stop, "GB")]
    return [*said, " against ", Amount(at[0], "GB"), "."]


def _performance_table(curve: sizes.Curve, label: str) -> NamedTable:
    """Both tables of the article in one: the second repeats the first and adds the last row."""
    at = list(curve.amounts)
    rows = [
        [
            number_cell(Amount(number)), number_cell(Amount(size)), number_cell(curve.amounts[size]),
            number_cell(sizes.change(curve, size, at[0])) if number > 1 else Cell(),
            number_cell(sizes.change(curve, size, at[number - 2])) if number > 1 else Cell(),
        ]
        for number, size in enumerate(at, start=1)
    ]  # fmt: skip
    columns = [
        Column("Test"), Column("Size", "GB"), Column(label), Column("Against the smallest"),
        Column("Against the one before"),
    ]  # fmt: skip
    return NamedTable("Performance on SATA RAID1, as printed", Table(columns, rows))


def _against_ssd(material: Material) -> Section:
    """perf11: the SATA line, and where the SSD line and their ratio stood."""
    runs = _of_kind(material, SCORE)
    metrics = _metrics(runs)
    if not metrics:
        return Section("ssd", "SSD against SATA")
    found = sizes.curves(runs, metrics[0])
    gone = [one for one in found if one.lost]
    xs = sorted({x for one in gone for x in one.lost})
    ratio: list[LineGap] = (
        [{"label": "SSD / SATA, second axis", "color": 3, "xs": xs, "reason": "needs the lost values"}] if gone else []
    )
    shown = sizes.only_up_to(found, max(xs)) if xs else found
    y = _axis(metrics[0])
    figure = sizes.figure(
        shown,
        id="perf11",
        title=f"{y['label']}, SSD against SATA",
        y=y,
        marks=sizes.ram_mark(runs),
        lost=ratio,
        note="SATA as printed. The SSD values and their ratio to SATA were in the picture only.",
    )
    claim = next((one for one in material.claims if one.ratio and one.side_a.get("disk") == "SSD"), None)
    lead: Words = (
        ("What is left of the SSD series is one claim: about ", Amount(claim.ratio, "×"), ", at a size not said.")
        if claim and claim.ratio
        else ""
    )
    return Section(id="ssd", title="SSD against SATA", lead=lead, figures=[figure])
