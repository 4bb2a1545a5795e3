"""Figures that follow from what a run has stored: series, metrics, factors and statistics. Nothing is measured here.

What the run lacks the inputs of is left out. Means and shares of the series are those of the measured window: the
seconds after the warm-up, for as long as the run was to last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from runs import stats
from runs.incoming.values import finite
from runs.models import Run
from runs.run.engine_report import NOT_TOLD
from runs.run.memory import MB, limit_bytes, memory_bytes
from runs.run.quality import MOST_OTHERS_PERCENT, others_percent, own_cores
from runs.run.series import Series, measured_window, read, within, without_gaps
from runs.run.steadiness import stalls
from runs.tables import Column, Table, TableCell

CPU_BOUND_FROM, DISK_BUSY_FROM = 97.0, 90.0
# The INSERT runs of 2011 lasted 30 minutes; their first five are set against their last five.
TREND_PARTS, LEAST_IN_A_PART = 6, 2
# The throughput is lower for a moment, as while a checkpoint writes, and does not stall.
DIP_SHARE = 0.75
LEAST_SHARE, MOST_TABLES = 0.01, 12
RATE, LOAD_RATE = "tps", "load_mb_per_s"
Statistic = Mapping[str, Any]
# Label, value (None where it is not known), unit, and how it is got.
Figure = tuple[str, float | str | None, str, str]


@dataclass(frozen=True)
class LoadParts:
    """The parts of a load whose second part was slow on purpose. `fast_share` is a share of all rows, of 1."""

    fast_s: float
    slow_s: float
    fast_rows: float | None
    slow_rows: float | None

    @property
    def fast_share(self) -> float | None:
        if self.fast_rows is None or self.slow_rows is None:
            return None
        return self.fast_rows / (self.fast_rows + self.slow_rows)


@dataclass(frozen=True)
class Derived:
    """`figures` and `shares` as tables of the page; None where there are none."""

    figures: Table | None
    shares: Table | None


def of_run(run: Run, series: Sequence[Series]) -> Derived:
    """What is derived of a run that has ended."""
    if run.is_open:
        return Derived(None, None)
    by_name = {item.name: item for item in series}
    tables = run.statistics.get("tables", [])
    figures = [*_load(run, by_name), *_window(run, by_name), *_sizes(run), *_queries(run.statistics.get("queries", []))]
    rows = [
        [
            TableCell(text=label), TableCell(text=value) if isinstance(value, str) else TableCell(value),
            TableCell(text=unit), TableCell(text=how),
        ]
        for label, value, unit, how in figures
        if value is not None
    ]  # fmt: skip
    columns = [Column(label, numeric=label == "Value") for label in ("Figure", "Value", "Unit", "How")]
    return Derived(Table(columns, rows) if rows else None, _shares(table_shares(tables)))


# Formulas


def cpu_bound(cpu_percent: float, disk_util_percent: float) -> bool:
    """The machine's CPU is busy for 97 % or more, and the disk of the data for less than 90 %; means of the window."""
    return cpu_percent >= CPU_BOUND_FROM and disk_util_percent < DISK_BUSY_FROM


def variation_percent(values: Sequence[float | None]) -> float | None:
    """Coefficient of variation: standard deviation (n - 1) of the known values in % of their mean."""
    measured = without_gaps(values)
    centre, spread = stats.mean(measured) if measured else 0.0, stats.stdev(measured)
    return 100 * spread / centre if spread is not None and centre > 0 else None


def trend_percent(values: Sequence[float | None]) -> float | None:
    """How many % the mean of the last sixth of the values lies off that of the first sixth."""
    count = len(values) // TREND_PARTS
    if count < LEAST_IN_A_PART:
        return None
    first, last = without_gaps(values[:count]), without_gaps(values[-count:])
    if not first or not last or stats.mean(first) <= 0:
        return None
    return 100 * (stats.mean(last) / stats.mean(first) - 1)


def dips(values: Sequence[float | None], interval_s: float) -> tuple[float | None, str]:
    """The share in % of the known values that lie below three quarters of their median, and in how many stretches, how
    far apart, as those of checkpoints are; None of fewer than two.
    """
    found = stalls(values, DIP_SHARE)
    if len(found) < 2:
        return None, ""
    apart_s = interval_s * median(after.start - before.start for before, after in pairwise(found))
    share = 100 * sum(map(len, found)) / len(without_gaps(values))
    how = f"of the {interval_s:g}-s values, in {len(found):,} stretches, {apart_s:g} s from begin to begin (median)"
    return share, how


def table_shares(tables: Sequence[Statistic]) -> list[tuple[str, float, float | None]]:
    """(table, its % of the bytes of all tables without indexes, its indexes in % of itself), largest first."""
    sized = [
        (str(table.get("table", "")), _number(table.get("size_bytes")), _number(table.get("index_bytes")))
        for table in tables
    ]
    with_size = [(name, size, index) for name, size, index in sized if size]
    total = stats.mean([size for _, size, _ in with_size]) * len(with_size) if with_size else 0.0
    shares = [
        (name, 100 * size / total, None if index is None else 100 * index / size) for name, size, index in with_size
    ]
    return sorted(shares, key=lambda table: -table[1])


def fetches_per_row(answer: Statistic) -> float | None:
    """Pages that one execution of a query asked the buffer for, by the rows that it counted, or else returned."""
    rows, fetches = _number(answer.get("count")) or _number(answer.get("row_count")), _number(answer.get("fetches"))
    return fetches / rows if rows and fetches is not None else None


def load_parts(run: Run) -> LoadParts | None:
    """Seconds and rows before and after the mark of the load's slow part; None where the load had no such part."""
    mark = next((mark for mark in run.statistics.get("marks", []) if mark.get("name") == "slow_part"), None)
    metrics = _metrics(run)
    fast_s, total_s = _number(mark.get("t")) if mark else None, metrics.get("load_s")
    if mark is None or fast_s is None or total_s is None or not 0 < fast_s < total_s:
        return None
    fast_rows, rate = _number(mark.get("rows")), metrics.get("load_rows_per_s")
    slow_rows = round(rate * total_s) - fast_rows if rate and fast_rows else None
    return LoadParts(fast_s, total_s - fast_s, fast_rows if slow_rows else None, slow_rows)


# Rows of the table


def _load(run: Run, series: Mapping[str, Series]) -> list[Figure]:
    parts, rate = load_parts(run), series.get(LOAD_RATE)
    figures: list[Figure] = []
    if parts:
        for name, took_s, count in (("fast", parts.fast_s, parts.fast_rows), ("slow", parts.slow_s, parts.slow_rows)):
            figures.append((f"Load, {name} part", took_s, "s", "from the mark between the two parts"))
            figures.append((f"Load, {name} part: rate", count / took_s if count else None, "rows/s", "rows by seconds"))
    spread = variation_percent(rate.values) if rate else None
    how = f"coefficient of variation of the {rate.interval_s:g}-s values in MB/s" if rate else ""
    return [*figures, ("Spread of the load rate", spread, "%", how)]


def _window(run: Run, series: Mapping[str, Series]) -> list[Figure]:
    rate = series.get(RATE)
    rates = _measured(run, rate)
    values = f"{rate.interval_s:g}-s values" if rate else ""
    steady = f"coefficient of variation of the throughput's {values}; lower is steadier"
    sixths = f"of means of {len(rates) // TREND_PARTS} values each; above 0 it ended faster"
    figures: list[Figure] = [
        ("Steadiness", variation_percent(rates), "%", steady),
        ("Last sixth of the window against its first", trend_percent(rates), "%", sixths),
    ]
    if rate:
        share, how = dips(rates, rate.interval_s)
        figures.append(("Throughput below three quarters of its median", share, "%", how))
    # On a server of others the machine is the server's, where a second agent sampled it.
    machine = "server_machine_cpu_percent" if run.context.get("connection") else "machine_cpu_percent"
    cpu, disk = (_mean(_measured(run, series.get(name))) for name in (machine, "disk_util_percent"))
    if cpu is not None and disk is not None:
        how = f"CPU {cpu:.1f} % busy (97 % or more is bound), disk of the data {disk:.1f} % (less than 90 %)"
        figures.append(("Bound by the CPU", _bound_words(run) if cpu_bound(cpu, disk) else "no", "", how))
    return figures


def _bound_words(run: Run) -> str:
    """What a busy CPU means for the run: what had the lesser part of it was not bound by it, but kept from it."""
    metrics, threads = _metrics(run), (run.hardware.cpu_threads or 0) if run.hardware else 0
    own, others = own_cores(metrics), others_percent(metrics, threads)
    # Or disturbed by what others wrote.
    is_alone = all(check["ok"] for check in run.checks if check["name"] == "machine_alone")
    if is_alone or (others is not None and others < MOST_OTHERS_PERCENT):
        return "yes"
    if own is None or not threads or own >= threads / 2:
        return "yes, and other programs used it too"
    return f"no: other programs had it, the run {100 * own / threads:.0f} %"


def _sizes(run: Run) -> list[Figure]:
    size = _metrics(run).get("db_size_bytes")
    if not size:
        return []
    warehouses = _number(run.dataset.get("warehouses")) or _number(run.factor("warehouses"))
    memory = memory_bytes(run)
    name = "memory limit" if limit_bytes(run) else "machine's memory"
    each = size / MB / warehouses if warehouses else None
    return [
        ("Size of a warehouse", each, "MB", "size of the database by its warehouses, after the run"),
        ("Size against memory", size / memory if memory else None, "×", f"size of the database by the {name}"),
    ]


def _queries(answers: Sequence[Statistic]) -> list[Figure]:
    """The figures of the first execution of each query after the run."""
    how = "of the warm execution, by rows counted or returned"
    return [
        (f"Query {answer.get('query')}: fetches per row", fetches_per_row(answer), "pages", how)
        for answer in answers
        if answer.get("state") == "warm"
    ]


def _shares(shares: Sequence[tuple[str, float, float | None]]) -> Table | None:
    """The largest tables that take one per cent or more."""
    shown = [share for share in shares if share[1] >= 100 * LEAST_SHARE][:MOST_TABLES]
    if not shown:
        return None
    columns = [
        Column("Table", numeric=False), Column("Share of all tables, without indexes", "%"),
        Column("Indexes against the table", "%"),
    ]  # fmt: skip
    return Table(
        columns,
        [
            [TableCell(text=name), TableCell(share), TableCell(index, hint=NOT_TOLD if index is None else "")]
            for name, share, index in shown
        ],
    )


# What is stored


def so_far(run: Run) -> list[tuple[str, float]]:
    """(words, TPS) of the latest second of a run that goes on, and on average since the measured window began."""
    rate = read(run, RATE) if run.is_open else None
    if rate is None or not (known := without_gaps(rate.values)):
        return []
    mean = _mean(within(rate, *run.window_s))
    return [("now", known[-1]), *([("average so far", mean)] if mean is not None else [])]


def _measured(run: Run, series: Series | None) -> list[float | None]:
    """Values of the measured window; of a run without one all."""
    return within(series, *measured_window(run.factor_values, series)) if series else []


def _mean(values: Sequence[float | None]) -> float | None:
    measured = without_gaps(values)
    return stats.mean(measured) if measured else None


def _metrics(run: Run) -> dict[str, float]:
    """The measurements by name; if several phases have one, that of the run."""
    ordered = sorted(run.measurements.all(), key=lambda row: row.phase == "run")
    return {row.metric.name: row.value for row in ordered}


def _number(value: Any) -> float | None:
    """None for what is no number: an agent or an upload may have stored anything."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return finite(value)
