"""firebird-terabyte-2015: load and throughput from 9 GB to 1.77 TB, and what lies in the big database."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from runs.charts.base import BarGroup, Cell, Column, Figure, Mark, StackedSpec, Table, YAxis, bars, format_number
from runs.charts.numbers import exact
from runs.charts.publications import sizes
from runs.charts.publications.parts import Material, NamedTable, Section, TextCell, text, word_columns
from runs.models import Metric, QueryStat, Run

MB_PER_GB = 1024
RECOMMENDED_DEPTH = 3
SMALL_AGAINST_BIG = 10


def sections(material: Material) -> list[Section]:
    by_workload: dict[object, list[Run]] = {}
    for run in material.runs:
        if sizes.size_of(run) is not None:
            by_workload.setdefault(run.workload_id, []).append(run)
    curves = [section for runs in by_workload.values() for section in _curves(runs)]
    return [*curves, _database_sizes(material.runs), _tables(material), _indexes(material), _queries(material)]


def _curves(runs: Sequence[Run]) -> list[Section]:
    """A section per workload, a figure per metric; throughput also in per cent of the smallest size."""
    metrics = list(dict.fromkeys(one.metric for run in runs for one in run.measurements.all()))
    metrics.sort(key=lambda metric: metric.better != "higher")
    if not metrics:
        return []
    figures = [one for metric in metrics for one in _metric_figures(runs, metric)]
    main, workload = metrics[0], runs[0].workload
    return [
        Section(
            id=f"size-{workload.slug}", title=f"{_axis(main)[0]} over size", lead=_lead(runs, main),
            figures=figures, compare=urlencode({"publication": _publication(runs), "workload": workload.slug}),
        )
    ]  # fmt: skip


def _publication(runs: Sequence[Run]) -> str:
    return runs[0].publication.slug if runs[0].publication else ""


def _axis(metric: Metric) -> tuple[str, str]:
    """Label and unit without saying a thing twice: "Business operations" in "business operations/s" are one."""
    label = metric.label.partition(" (")[0]
    unit = metric.unit.partition(" (")[0]
    return (unit[:1].upper() + unit[1:], "") if unit.lower().startswith(label.lower()) else (label, unit)


def _metric_figures(runs: Sequence[Run], metric: Metric) -> list[Figure]:
    found, marks = sizes.curves(runs, metric), sizes.ram_mark(runs)
    label, unit = _axis(metric)
    y: YAxis = {"label": label, "unit": unit, "zero": True}
    stem, name = f"{runs[0].workload.slug}-{metric.name}", f"{label}, {unit}" if unit else label
    if metric.better != "higher":
        y["scale"], y["zero"] = "log", False
        return [sizes.figure(found, id=stem, title=name, y=y, marks=marks, note="Both axes logarithmic.")]
    drawn = [sizes.figure(found, id=stem, title=name, y=y, marks=marks, note="All sizes, logarithmic size axis.")]
    return drawn + _closer(found, stem=stem, name=name, y=y, marks=marks) if _falls(found) else drawn


def _closer(found: Sequence[sizes.Curve], *, stem: str, name: str, y: YAxis, marks: list[Mark]) -> list[Figure]:
    """Of a throughput that falls: the dense series alone, and all of it in per cent of the smallest size."""
    percent: YAxis = {"label": "Of the smallest size", "unit": "%", "zero": True}
    relative = sizes.figure(
        sizes.relative(found), id=f"{stem}-relative", title=f"{name} in % of the smallest size", y=percent,
        marks=marks, note="Computed from the printed values.", y_text=lambda value: f"{value:.2f}",
    )  # fmt: skip
    small = _small(found)
    if small is None:
        return [relative]
    near = sizes.only_up_to(found, small)
    title = f"{name}, up to {format_number(small)} GB"
    return [sizes.figure(near, id=f"{stem}-small", title=title, y=y, marks=marks, note="Linear size axis."), relative]


def _small(found: Sequence[sizes.Curve]) -> float | None:
    """The largest size of the dense series, when one size stands far outside of it."""
    xs = sorted({x for one in found for x, _ in one.points})
    return xs[-2] if len(xs) > 2 and xs[-1] / xs[-2] >= SMALL_AGAINST_BIG else None


def _falls(found: Sequence[sizes.Curve]) -> bool:
    """A degradation worth a picture of its own: a fifth lost at the largest size."""
    return any(one.points and one.points[-1][1] < 0.8 * one.points[0][1] for one in found)


def _lead(runs: Sequence[Run], metric: Metric) -> str:
    found = sizes.curves(runs, metric)
    whole = next((one for one in found if one.points), None)
    if whole is None:
        return ""
    values, unit = [y for _, y in whole.points], metric.unit
    if not _falls(found):
        return (
            f"{whole.label}: between {format_number(min(values))} and {format_number(max(values))} {unit} at every "
            f"size from {exact(whole.points[0][0])} to {format_number(whole.points[-1][0])} GB."
        )
    small = _small(found)
    stops = [x for x, _ in whole.points if x in (small, whole.points[-1][0])]
    by_size = dict(whole.points)
    lost = [f"{(by_size[x] / values[0] - 1) * 100:+.1f} % at {format_number(x)} GB".replace("-", "−") for x in stops]
    return f"{whole.label}: {', '.join(lost)} against {exact(whole.points[0][0])} GB."


def _database_sizes(runs: Sequence[Run]) -> Section:
    """The sizes of the loaded databases, the machine's memory as a mark."""
    found = sorted({size for run in runs if (size := sizes.size_of(run)) is not None})
    if not found:
        return Section("database-sizes", "Database sizes")
    groups: list[BarGroup] = [
        {
            "label": f"database {number}", "color": 0, "value": size, "interval": None, "dots": [], "gap": None,
            "ranked": True,
        }
        for number, size in enumerate(found, start=1)
    ]  # fmt: skip
    spec = bars(label="Size", unit="GB", better="none", groups=groups, scale="log")
    marks: list[Mark] = sizes.ram_mark(runs)
    spec["marks"] = marks
    table = Table(
        [Column("Database", numeric=False), Column("Size", "GB")],
        [[text(number), Cell(size, text=exact(size))] for number, size in enumerate(found, start=1)],
    )
    title = "Database sizes, GB"
    alt = f"Bars of {len(found)} database sizes from {exact(found[0])} to {exact(found[-1])} GB."
    return Section(
        id="database-sizes", title=title,
        figures=[Figure("database-sizes-chart", title, spec, table, alt, note="Logarithmic axis. 1 GB = 1024 MB.")],
    )  # fmt: skip


def _tables(material: Material) -> Section:
    rows = material.table_stats
    if not rows:
        return Section("tables", "Tables")
    data = [row.table_size_mb or 0.0 for row in rows]
    indexes = [row.indices_size_mb or 0.0 for row in rows]
    spec: StackedSpec = {
        "type": "stacked",
        "y": {"label": "Size", "unit": "MB"},
        "rows": [row.table for row in rows],
        "parts": [
            {"label": "Data", "color": 0, "values": data},
            {"label": "Indexes", "color": 1, "values": indexes},
        ],
    }
    columns = [
        Column("Table", numeric=False), Column("Records"), Column("Record length", "B"), Column("Data pages"),
        Column("Data", "MB"), Column("Indexes", "MB"), Column("Share as printed", "%"),
    ]  # fmt: skip
    body = [
        [
            text(row.table), _number(row.records), _number(row.record_length_bytes), _number(row.data_pages),
            _number(row.table_size_mb), _number(row.indices_size_mb),
            Cell(row.total_percent, text=row.total_percent_as_printed or "") if row.total_percent is not None
            else text(row.total_percent_as_printed),
        ]
        for row in rows
    ]  # fmt: skip
    biggest = sorted(rows, key=lambda row: -(row.table_size_mb or 0.0))[:3]
    whole = sum(data) or 1.0
    share, extra = (100 * part / whole for part in (sum(row.table_size_mb or 0.0 for row in biggest), sum(indexes)))
    lead = f"{', '.join(row.table for row in biggest)} hold {share:.0f} % of the data; indexes add {extra:.1f} %."
    title = "Tables of the largest database"
    figure = Figure(
        "tables-chart", "Data and indexes per table, MB", spec, Table(columns, body), f"Stacked bars. {lead}"
    )
    return Section(id="tables", title=title, lead=lead, figures=[figure])


def _number(value: float | None) -> Cell:
    return Cell(float(value), text=exact(float(value))) if value is not None else Cell(gap="not printed")


def _indexes(material: Material) -> Section:
    columns = [
        Column("Index", numeric=False), Column("Table", numeric=False), Column("Depth"), Column("Keys"),
        Column("Key length", "B"), Column("Unique keys"), Column("Size", "MB"),
    ]  # fmt: skip
    rows = [
        [
            text(row.index), text(row.table), _depth(row.depth), _number(row.keys), _number(row.key_length_bytes),
            _number(row.unique_keys), _number(row.size_mb),
        ]
        for row in material.index_stats
    ]  # fmt: skip
    deep = [row.index for row in material.index_stats if (row.depth or 0) > RECOMMENDED_DEPTH]
    lead = f"Deeper than the recommended {RECOMMENDED_DEPTH} levels: {', '.join(deep)}." if deep else ""
    tables = [NamedTable("Indexes", Table(columns, rows))] if rows else []
    return Section(id="indexes", title="Indexes of the largest database", lead=lead, tables=tables)


def _depth(depth: int | None) -> Cell:
    if depth is None:
        return Cell(gap="not printed")
    return TextCell(float(depth), text=str(depth), mark="deep" if depth > RECOMMENDED_DEPTH else "")


WORK = ("elapsed", "reads", "fetches", "writes")
MEMORY = ("buffers", "current_memory", "delta_memory", "max_memory")


def _queries(material: Material) -> Section:
    stats = material.query_stats
    if not stats:
        return Section("queries", "Queries")
    work = Table(
        [*word_columns("No.", "Query and plan"), Column("Count"), *_query_columns(stats, WORK)],
        [[text(row.number), _query_cell(row), _count(row.count_result), *_query_numbers(row, WORK)] for row in stats],
    )
    memory = Table(
        [*word_columns("No."), *_query_columns(stats, MEMORY)],
        [[text(row.number), *_query_numbers(row, MEMORY)] for row in stats],
    )
    tables = [
        NamedTable("Queries, plans and counters", work),
        NamedTable("Buffers and memory of these queries", memory),
    ]
    return Section(
        id="queries", title=f"{len(stats)} queries on the largest database", lead=_query_lead(stats),
        figures=[_query_figure(stats)], tables=tables,
    )  # fmt: skip


def _query_columns(stats: Sequence[QueryStat], names: Sequence[str]) -> list[Column]:
    units = {str(one["name"]): str(one.get("unit") or "") for row in stats for one in row.metrics}
    shown = {name: "" if units.get(name) == "count" else units.get(name, "") for name in names}
    return [Column(name.replace("_", " ").capitalize(), unit) for name, unit in shown.items()]


def _query_numbers(row: QueryStat, names: Sequence[str]) -> list[Cell]:
    return [_query_number(row, name) for name in names]


def _query_cell(row: QueryStat) -> Cell:
    return TextCell(text=row.sql, code=True, note=" · ".join(part for part in (row.plan, row.description) if part))


def _count(value: int | None) -> Cell:
    return Cell(float(value)) if value is not None else Cell()


def _query_value(row: QueryStat, name: str) -> float | None:
    found = next((one for one in row.metrics if one["name"] == name), None)
    return float(found["value"]) if found and found.get("value") is not None else None


def _query_number(row: QueryStat, name: str) -> Cell:
    value = _query_value(row, name)
    return Cell(value, text=exact(value)) if value is not None else Cell(gap="not printed")


def _query_lead(stats: Sequence[QueryStat]) -> str:
    elapsed = [value for row in stats if (value := _query_value(row, "elapsed")) is not None]
    return f"From {exact(min(elapsed))} s to {exact(max(elapsed))} s, with the plans as printed." if elapsed else ""


def _query_figure(stats: Sequence[QueryStat]) -> Figure:
    values = [(row, _query_value(row, "elapsed")) for row in stats]
    groups: list[BarGroup] = [
        {
            "label": f"query {row.number}", "color": 0, "value": value, "interval": None, "dots": [],
            "gap": None if value is not None else "not printed", "ranked": True,
        }
        for row, value in values
    ]  # fmt: skip
    table = Table(
        [Column("Query", numeric=False), Column("Elapsed", "s")],
        [[text(row.number), _query_number(row, "elapsed")] for row, _ in values],
    )
    spec = bars(label="Elapsed", unit="s", better="lower", groups=groups, scale="log")
    title = "Elapsed time, s"
    return Figure(
        "queries-chart", title, spec, table, f"Bars of the elapsed time. {_query_lead(stats)}", note="Logarithmic axis."
    )
