"""Statistics of one large database: its tables, its indexes, queries with their plans."""

from __future__ import annotations

from collections.abc import Sequence

from runs.answers.words import articles as words
from runs.answers.words.drawn import LOG_BARS_NOTE
from runs.charts.base import BarGroup, Figure, StackedSpec, bars, single_bar
from runs.publications.document import QueryRow
from runs.publications.material import Material
from runs.publications.page.parts import (
    Amount,
    NamedTable,
    Rows,
    Section,
    TextCell,
    cell,
    computed,
    origin_of,
    shown,
    table,
)
from runs.tables import Column, TableCell

RECOMMENDED_DEPTH = 3
NOT_PRINTED = "not printed"
BIGGEST = 3


def _number(value: float | None, printed: str = "", mark: str = "") -> TableCell:
    amount = None if value is None else Amount(float(value), printed=printed)
    return cell(amount, gap=NOT_PRINTED, mark=mark)


def _percent(part: float, of: float) -> Amount:
    return computed(100 * part / of if of else 0.0, f"100 × {part:.10g} / {of:.10g}", digits=2)


def tables(material: Material) -> Section:
    stats = material.statements.table_stats
    if not stats:
        return Section("tables", "Tables")
    sizes = [(row.table_size_mb or 0.0, row.indices_size_mb or 0.0) for row in stats]
    whole, of_indexes = sum(data for data, _ in sizes), sum(indexes for _, indexes in sizes)
    spec: StackedSpec = {
        "type": "stacked", "y": {"label": "Size", "unit": "MB"}, "rows": [row.table for row in stats],
        "parts": [
            {"label": "Data", "color": 0, "values": [data for data, _ in sizes], "origin": "printed"},
            {"label": "Indexes", "color": 1, "values": [indexes for _, indexes in sizes], "origin": "printed"},
        ],
    }  # fmt: skip
    rows: Rows = [
        [
            row.table, _number(row.records), _number(row.record_length_bytes), _number(row.data_pages),
            _number(row.table_size_mb), _number(row.indices_size_mb),
            row.total_percent_as_printed if row.total_percent is None
            else _number(row.total_percent, row.total_percent_as_printed),
            _percent(data, whole) if whole else None, _percent(indexes, data) if data else None,
        ]
        for row, (data, indexes) in zip(stats, sizes, strict=True)
    ]  # fmt: skip
    columns: list[str | Column] = [
        "Table", Column("Records"), Column("Record length", "B"), Column("Data pages"), Column("Data", "MB"),
        Column("Indexes", "MB"), Column("Share as printed", "%"), Column("Share of the data, worked out", "%"),
        Column("Indexes of the table", "%"),
    ]  # fmt: skip
    figure = Figure(
        "tables-chart", "Data and indexes per table, MB", spec, table(columns, rows),
        f"Stacked bars of {', '.join(row.table for row in stats)}: data and indexes.",
    )  # fmt: skip
    biggest = sorted(stats, key=lambda row: -(row.table_size_mb or 0.0))[:BIGGEST]
    parts = " + ".join(f"{row.table_size_mb:.10g}" for row in biggest)
    share = sum(row.table_size_mb or 0.0 for row in biggest) / whole if whole else 0.0
    added = 100 * of_indexes / whole if whole else 0.0
    lead = words.largest_tables(
        [row.table for row in biggest], computed(100 * share, f"({parts}) / {whole:.10g}", unit="%", digits=0),
        computed(added, f"{of_indexes:.10g} / {whole:.10g}", unit="%", digits=1),
    )  # fmt: skip
    return Section("tables", "Tables", lead, [figure])


def indexes(material: Material) -> Section:
    deep: list[str] = []
    rows: Rows = []
    for row in material.statements.index_stats:
        is_deep = (row.depth or 0) > RECOMMENDED_DEPTH
        deep += [row.index] if is_deep else []
        numbers = (row.keys, row.key_length_bytes, row.unique_keys, row.size_mb)
        rows.append([row.index, row.table, _number(row.depth, mark="deep" if is_deep else ""), *map(_number, numbers)])
    columns: list[str | Column] = [
        "Index", "Table", Column("Depth"), Column("Keys"), Column("Key length", "B"), Column("Unique keys"),
        Column("Size", "MB"),
    ]  # fmt: skip
    lead = words.deep_indexes(deep, Amount(RECOMMENDED_DEPTH))
    return Section.of_table("indexes", "Indexes", table(columns, rows), lead=lead)


# Queries

WORK = ("elapsed", "reads", "fetches", "writes")
MEMORY = ("buffers", "current_memory", "delta_memory", "max_memory")


def queries(material: Material) -> Section:
    stats = material.statements.query_stats
    if not stats:
        return Section("queries", "Queries")
    work: Rows = []
    memory: Rows = []
    for row in stats:
        note = " · ".join(part for part in (row.plan, row.description) if part)
        returned = None if row.count_result is None else Amount(float(row.count_result))
        query = TextCell(text=row.sql, code=True, note=note)
        work.append([_number(row.number), query, returned, *_counters(row, WORK)])
        memory.append([_number(row.number), *_counters(row, MEMORY)])
    warm_up: Rows = [
        [TextCell(text=str(sql), code=True)]
        for workload in material.workloads if workload.kind == "warm-up"
        for sql in workload.details.get("sql", [])
    ]  # fmt: skip
    times = sorted((time for row in stats if (time := _counter(row, "elapsed"))), key=lambda time: time.value)
    tables = {
        "Warm-up before the queries": table(["Warm-up query, in this order"], warm_up),
        "Queries, plans and counters": table(
            [Column("No."), "Query and plan", Column("Rows"), *_columns(stats, WORK)], work
        ),
        "Buffers and memory of these queries": table([Column("No."), *_columns(stats, MEMORY)], memory),
    }
    return Section(
        id="queries", title="Queries", figures=[_figure(stats)],
        lead=words.query_times(times[0], times[-1]) if times else "",
        tables=[NamedTable(title, shown) for title, shown in tables.items() if shown.rows],
    )  # fmt: skip


def _columns(stats: Sequence[QueryRow], names: Sequence[str]) -> list[Column]:
    units = {metric.name: metric.unit.replace("count", "") for row in stats for metric in row.metrics}
    return [Column(name.replace("_", " ").capitalize(), units.get(name, "")) for name in names]


def _counters(row: QueryRow, names: Sequence[str]) -> list[TableCell]:
    return [cell(_counter(row, name), gap=NOT_PRINTED) for name in names]


def _counter(row: QueryRow, name: str) -> Amount | None:
    return next((Amount(each.value, printed=each.as_printed) for each in row.metrics if each.name == name), None)


def _figure(stats: Sequence[QueryRow]) -> Figure:
    groups: list[BarGroup] = []
    rows: Rows = []
    for row in stats:
        label, time = f"query {row.number}", _counter(row, "elapsed")
        if time is None:
            groups.append(single_bar(label, None, gap=NOT_PRINTED))
        else:
            groups.append(single_bar(label, time.value, text=shown(time), origin=origin_of([time])))
        rows.append([_number(row.number), cell(time, gap=NOT_PRINTED)])
    spec = bars(label="Elapsed", unit="s", better="lower", groups=groups, scale="log")
    return Figure(
        "queries-chart", "Elapsed time, s", spec, table([Column("Query"), Column("Elapsed", "s")], rows),
        "Bars of the elapsed time of each query.", note=LOG_BARS_NOTE,
    )  # fmt: skip
