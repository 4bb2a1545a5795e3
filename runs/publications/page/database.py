"""Statistics of one large database: its tables, its indexes, queries with their plans."""

from __future__ import annotations

from collections.abc import Sequence

from runs.charts.base import Figure, StackedSpec, bars, single_bar
from runs.publications.document import QueryRow, TableRow
from runs.publications.material import Material
from runs.publications.page.parts import (
    Amount,
    NamedTable,
    Section,
    TextCell,
    Words,
    computed,
    number_cell,
    origin_of,
    shown,
    text,
    word_columns,
)
from runs.tables import Column, Table, TableCell

RECOMMENDED_DEPTH = 3
NOT_PRINTED = "not printed"
BIGGEST = 3


def _cell(value: float | None, printed: str = "", mark: str = "") -> TableCell:
    amount = None if value is None else Amount(float(value), printed=printed)
    return number_cell(amount, gap=NOT_PRINTED, mark=mark)


# Tables


def tables(material: Material) -> Section:
    rows = material.statements.table_stats
    if not rows:
        return Section("tables", "Tables")
    data, of_indexes = ([getattr(row, name) or 0.0 for row in rows] for name in ("table_size_mb", "indices_size_mb"))
    spec: StackedSpec = {
        "type": "stacked", "y": {"label": "Size", "unit": "MB"}, "rows": [row.table for row in rows],
        "parts": [
            {"label": "Data", "color": 0, "values": data, "origin": "printed"},
            {"label": "Indexes", "color": 1, "values": of_indexes, "origin": "printed"},
        ],
    }  # fmt: skip
    columns = [
        Column("Table", numeric=False), Column("Records"), Column("Record length", "B"), Column("Data pages"),
        Column("Data", "MB"), Column("Indexes", "MB"), Column("Share as printed", "%"),
        Column("Share of the data, worked out", "%"), Column("Indexes of the table", "%"),
    ]  # fmt: skip
    whole = sum(data)
    figure = Figure(
        "tables-chart", "Data and indexes per table, MB", spec,
        Table(columns, [_table_row(row, whole) for row in rows]),
        f"Stacked bars of {', '.join(row.table for row in rows)}: data and indexes.",
    )  # fmt: skip
    return Section(
        id="tables", title="Tables", lead=_tables_lead(rows, whole), figures=[figure],
    )  # fmt: skip


def _table_row(row: TableRow, whole: float) -> list[TableCell]:
    data, indexes = row.table_size_mb or 0.0, row.indices_size_mb or 0.0
    printed = (
        _cell(row.total_percent, row.total_percent_as_printed)
        if row.total_percent is not None
        else text(row.total_percent_as_printed)
    )
    share = computed(100 * data / whole, f"100 × {data:.10g} / {whole:.10g}", digits=2) if whole else None
    of_table = computed(100 * indexes / data, f"100 × {indexes:.10g} / {data:.10g}", digits=2) if data else None
    return [
        text(row.table), _cell(row.records), _cell(row.record_length_bytes), _cell(row.data_pages),
        _cell(row.table_size_mb), _cell(row.indices_size_mb), printed, number_cell(share), number_cell(of_table),
    ]  # fmt: skip


def _tables_lead(rows: Sequence[TableRow], whole: float) -> Words:
    biggest = sorted(rows, key=lambda row: -(row.table_size_mb or 0.0))[:BIGGEST]
    parts = " + ".join(f"{row.table_size_mb:.10g}" for row in biggest)
    indexes = sum(row.indices_size_mb or 0.0 for row in rows)
    share = sum(row.table_size_mb or 0.0 for row in biggest) / whole if whole else 0.0
    return (
        f"{', '.join(row.table for row in biggest)} hold ",
        computed(100 * share, f"({parts}) / {whole:.10g}", unit="%", digits=0),
        " of the data; the indexes add ",
        computed(100 * indexes / whole if whole else 0.0, f"{indexes:.10g} / {whole:.10g}", unit="%", digits=1),
        ".",
    )


# Indexes


def indexes(material: Material) -> Section:
    deep = [row.index for row in material.statements.index_stats if (row.depth or 0) > RECOMMENDED_DEPTH]
    columns = [
        Column("Index", numeric=False), Column("Table", numeric=False), Column("Depth"), Column("Keys"),
        Column("Key length", "B"), Column("Unique keys"), Column("Size", "MB"),
    ]  # fmt: skip
    rows = [
        [
            text(row.index), text(row.table),
            _cell(row.depth, mark="deep" if (row.depth or 0) > RECOMMENDED_DEPTH else ""), _cell(row.keys),
            _cell(row.key_length_bytes), _cell(row.unique_keys), _cell(row.size_mb),
        ]
        for row in material.statements.index_stats
    ]  # fmt: skip
    limit = Amount(RECOMMENDED_DEPTH)
    lead: Words = ("Deeper than the recommended ", limit, f" levels: {', '.join(deep)}.") if deep else ""
    return Section.of_table("indexes", "Indexes", columns, rows, lead=lead)


# Queries

WORK = ("elapsed", "reads", "fetches", "writes")
MEMORY = ("buffers", "current_memory", "delta_memory", "max_memory")


def queries(material: Material) -> Section:
    stats = material.statements.query_stats
    if not stats:
        return Section("queries", "Queries")
    work = Table(
        [Column("No."), *word_columns("Query and plan"), Column("Rows"), *_columns(stats, WORK)],
        [[*_query(row), *_numbers(row, WORK)] for row in stats],
    )
    memory = Table(
        [Column("No."), *_columns(stats, MEMORY)], [[_cell(row.number), *_numbers(row, MEMORY)] for row in stats]
    )
    return Section(
        id="queries", title="Queries", lead=_lead(stats), figures=[_figure(stats)],
        tables=[
            *_warm_up(material), NamedTable("Queries, plans and counters", work),
            NamedTable("Buffers and memory of these queries", memory),
        ],
    )  # fmt: skip


def _warm_up(material: Material) -> list[NamedTable]:
    """The statements before the queries, in their order."""
    rows: list[list[TableCell]] = [
        [TextCell(text=str(sql), code=True)]
        for workload in material.workloads if workload.kind == "warm-up"
        for sql in workload.details.get("sql", [])
    ]  # fmt: skip
    table = Table(word_columns("Warm-up query, in this order"), rows)
    return [NamedTable("Warm-up before the queries", table)] if rows else []


def _columns(stats: Sequence[QueryRow], names: Sequence[str]) -> list[Column]:
    units = {metric.name: metric.unit for row in stats for metric in row.metrics}
    named = [(name.replace("_", " ").capitalize(), units.get(name, "")) for name in names]
    return [Column(label, "" if unit == "count" else unit) for label, unit in named]


def _numbers(row: QueryRow, names: Sequence[str]) -> list[TableCell]:
    return [number_cell(_number(row, name), gap=NOT_PRINTED) for name in names]


def _number(row: QueryRow, name: str) -> Amount | None:
    return next((Amount(each.value, printed=each.as_printed) for each in row.metrics if each.name == name), None)


def _query(row: QueryRow) -> list[TableCell]:
    """Its number, its text with plan and description, and how many rows it returned."""
    note = " · ".join(part for part in (row.plan, row.description) if part)
    rows = None if row.count_result is None else Amount(float(row.count_result))
    return [_cell(row.number), TextCell(text=row.sql, code=True, note=note), number_cell(rows)]


def _lead(stats: Sequence[QueryRow]) -> Words:
    elapsed = sorted((amount for row in stats if (amount := _number(row, "elapsed"))), key=lambda amount: amount.value)
    return ("From ", elapsed[0], " s to ", elapsed[-1], " s, with the plans as printed.") if elapsed else ""


def _figure(stats: Sequence[QueryRow]) -> Figure:
    elapsed = [(row, _number(row, "elapsed")) for row in stats]
    groups = [
        single_bar(f"query {row.number}", amount.value, text=shown(amount), origin=origin_of([amount]))
        if amount else single_bar(f"query {row.number}", None, gap=NOT_PRINTED)
        for row, amount in elapsed
    ]  # fmt: skip
    rows = [[_cell(row.number), number_cell(amount, gap=NOT_PRINTED)] for row, amount in elapsed]
    spec = bars(label="Elapsed", unit="s", better="lower", groups=groups, scale="log")
    return Figure(
        "queries-chart", "Elapsed time, s", spec, Table([Column("Query"), Column("Elapsed", "s")], rows),
        "Bars of the elapsed time of each query.", note="Logarithmic axis.",
    )  # fmt: skip
