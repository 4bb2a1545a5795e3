"""Rows of figures -> one report for each run of a log."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchagent.importers.gotpc.rows import Event, command_of
from benchagent.importers.report import Metric, Report, Series, Subject, all_measured, entries, measured, rising
from benchagent.importers.source import NotUnderstood
from benchagent.importers.tables import Told, parts_of, reports_of
from benchagent.redaction import redact_text

_DEFAULT_INTERVALS_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600)


def series_of(current: Sequence[Event], summary: Mapping[str, Event]) -> tuple[Series, ...]:
    """tpm and tpmc for each interval of `--interval`.

    The rows carry no time: an interval is a group of rows in the order of their names. One in which a type is missing
    is a gap for the total. Raises NotUnderstood where the groups do not add up to the run.
    """
    # Rows by their operations.
    blocks: list[dict[str, Event]] = []
    before: Event | None = None
    for row in current:
        is_twice = before is not None and (before.operation, before.values) == (row.operation, row.values)
        if is_twice or not row.values.keys() >= _OF_A_RATE:
            continue
        if not before or row.operation <= before.operation:
            blocks.append({})
        blocks[-1][row.operation] = before = row
    if len(blocks) < 2:
        return ()
    # Takes runs from a type's first transaction in the interval to its end: a bit less than the interval.
    takes = sorted(max(row.values["takes_s"] for row in block.values()) for block in blocks)
    usual = takes[len(takes) // 2]
    interval_s = next((s for s in _DEFAULT_INTERVALS_S if s * 0.95 - 0.1 <= usual <= s * 1.02 + 0.05), 0)
    if not interval_s or takes[-1] > interval_s * 1.05 + 0.1:
        raise NotUnderstood("the [Current] rows are of intervals of different length")
    rates = [{name: row.values["tpm"] for name, row in block.items() if not name.endswith("_ERR")} for block in blocks]
    types = {operation for block in rates for operation in block}
    if not {"NEW_ORDER", "PAYMENT"} <= types or (not summary and len(types) < 5):
        raise NotUnderstood("the [Current] rows lack transaction types")
    # No interval of a run that moves is without these two: one gap is a lost line, more are lines out of order.
    if any(sum(common not in block for block in rates) > 1 for common in ("NEW_ORDER", "PAYMENT")):
        raise NotUnderstood("the [Current] rows are out of order")
    _check_counts(blocks, summary, interval_s)
    total = [round(sum(block.values()), 1) if set(block) == types else None for block in rates]
    if total.count(None) > len(total) / 4:
        raise NotUnderstood("too many intervals lack a transaction type")
    new_orders = [block.get("NEW_ORDER") for block in rates]
    return Series.called("tpm", float(interval_s), total), Series.called("tpmc", float(interval_s), new_orders)


def _check_counts(blocks: Sequence[Mapping[str, Event]], summary: Mapping[str, Event], interval_s: float) -> None:
    takes_s = max((row.values.get("takes_s", 0.0) for row in summary.values()), default=0.0)
    least, most = int((takes_s - 0.5) / interval_s), (takes_s + 1) / interval_s + 0.5
    if takes_s and not least <= len(blocks) <= most:
        raise NotUnderstood(f"{len(blocks)} intervals of {interval_s:g} s do not fit into {takes_s:g} s")
    for operation, row in summary.items():
        counts = [block[operation].values["count"] for block in blocks if operation in block]
        total = row.values.get("count", sum(counts))
        if sum(counts) > total:
            raise NotUnderstood(f"the [Current] rows count more of {operation} than the summary")
        if operation == "NEW_ORDER" and total - sum(counts) > 2 * max(counts, default=0) + 2:
            raise NotUnderstood("the [Current] rows are not all there")


# Clause 4.1 of TPC-C: no more than 12.86 tpmC per warehouse; go-tpc's "efficiency" is the share of it.
TPMC_PER_WAREHOUSE = 12.86

_SIGNAL = re.compile(r"Got signal \[.*\] (?:to exit|again to exit)|Wait .* for closed, force exit|^signal: |^\^C$")
_CRASH = re.compile(r"^panic: |^fatal error: |a fatal occurred|Failed to (?:init work loader|connect|open)|^Error: ")
_ERROR = re.compile(r"^(?P<stamp>\[[\d: -]+\] )?execute run failed, err (?P<message>.*)$")
# What workers say when their time is over.
_TIME_OVER = re.compile(
    r"deadline exceeded|context canceled|due to user request|connection is already closed|bad connection|busy buffer"
)
_NO_RUN = re.compile(r"\s(?:prepare|check|cleanup)\b")
_ALL_TYPES = frozenset({"DELIVERY", "NEW_ORDER", "ORDER_STATUS", "PAYMENT", "STOCK_LEVEL"})
_QUERY = re.compile(r"Q\d+(?:_ERR)?$")
_OF_A_RATE = {"takes_s", "count", "tpm"}
_RISING = ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")


@dataclass
class Run(Told):
    """What stands in a log between the end of one run and the end of the next."""

    current: list[Event] = field(default_factory=list)
    summary: dict[str, Event] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    # Whether their line stands there, be its last number cut.
    has_totals: bool = False
    notes: list[Event] = field(default_factory=list)
    finished: bool = False
    # The line of its last figure.
    last: int = 0

    @property
    def has_figures(self) -> bool:
        return bool(self.current or self.summary or self.totals)

    @property
    def transactions(self) -> dict[str, Event]:
        """A row whose name ends in _ERR counts failures: they are never transactions."""
        return {name: row for name, row in self.summary.items() if not name.endswith("_ERR") and not _QUERY.match(name)}

    def is_over(self, event: Event) -> bool:
        """Whether the event is of a next run."""
        if event.kind in ("note", "command", "broken"):
            return event.kind == "command" and self.has_figures
        if event.kind == "total":
            return any(self.totals.get(key, value) != value for key, value in event.values.items())
        if event.is_summary:
            seen = self.summary.get(event.operation)
            return seen is not None and seen.values != event.values and bool(self.totals)
        if self.finished and not self.summary:
            raise NotUnderstood("a [Current] row after the end of the run")
        if "NEW_ORDER" in self.summary and not self.totals:
            raise NotUnderstood("a [Current] row amid the summary")
        return bool(self.summary)

    def add(self, event: Event) -> None:
        if event.kind in ("note", "command"):
            self.finished = self.finished or event.text == "Finished"
            self.notes.append(event)
            return
        self.last = event.number
        if event.kind == "broken":
            raise NotUnderstood(event.text)
        if event.kind == "total":
            self.totals |= event.values
            self.has_totals = True
        elif not event.is_summary:
            self.current.append(event)
        else:
            seen = self.summary.setdefault(event.operation, event)
            if seen is event and "tpmc" in self.totals and event.operation in self.transactions:
                raise NotUnderstood(f"{event.operation} is summed up after the result")
            if seen.values != event.values:
                raise NotUnderstood(f"{event.operation} is summed up twice with different figures")


def reports(events: Sequence[Event]) -> list[Report]:
    runs = [run for run in parts_of(events, Run(), _of_run) if run.has_figures or run.refusal]
    return reports_of(runs, _report, "go-tpc")


def _of_run(run: Run, event: Event) -> Run:
    """The run that the event is of: a new one where it begins one."""
    if run.is_over(event):
        # What stands behind the figures of the run before may be how the next one starts.
        run = Run(notes=[note for note in run.notes if note.number > run.last])
    run.add(event)
    return run


def _report(run: Run) -> Report:
    failure, reason = _outcome(run)
    calls = filter(None, [command_of(note.text) for note in reversed(run.notes) if note.kind == "command"])
    line, workload, parameters = next((call for call in calls if not _NO_RUN.search(call[0])), ("", "", {}))
    for row in (*run.current, *run.summary.values()):
        _check_rate(row)
    metrics = _metrics(run) if run.summary or run.totals else []
    if metrics and (failure or reason):
        run.warnings.append("the figures are of the part that ran")
    if warehouses := _warehouses(run.totals, parameters.get("warehouses")):
        parameters["warehouses"] = warehouses
    try:
        series = series_of(run.current, run.summary)
    except NotUnderstood as error:
        series = ()
        run.warnings.append(f"{error}: not read as a series")
    return Report(
        "go-tpc", failure=failure, reason=reason, parameters=parameters, metrics=tuple(metrics), series=series,
        warnings=tuple(run.warnings), subject=_subject(run, workload), command_lines=(line,),
    )  # fmt: skip


def _outcome(run: Run) -> tuple[str, str]:
    """Why a run failed, and why it was aborted."""
    texts = [note.text for note in run.notes]
    errors = [match for text in texts if (match := _ERROR.match(text)) and not _TIME_OVER.search(match["message"])]
    if errors:
        first = redact_text(errors[0]["message"])[:200]
        run.warnings.append(f"{len(errors)} messages of failed transactions, the first: {first}")
    if crash := next(filter(_CRASH.search, texts), ""):
        return f"go-tpc stopped: {redact_text(crash)[:200]}", ""
    if signal := next(filter(_SIGNAL.search, texts), ""):
        return "", f"stopped before its end: {redact_text(signal)[:200]}"
    if not run.summary and not run.totals:
        return "", "the log ends before the summary"
    if run.transactions and "tpmc" not in run.totals:
        # A whole summary of the versions that printed neither the median nor tpmC: all types, and something after them.
        old = run.summary.keys() >= _ALL_TYPES and all("p50_ms" not in row.values for row in run.summary.values())
        if run.has_totals:
            run.warnings.append("tpmC is left out: its line has no end, and perhaps its number neither")
        elif old and any(note.number > run.last and note.text for note in run.notes):
            run.warnings.append("tpmC is missing: the first versions do not print it")
        else:
            return "", "the log ends within the summary"
    stamped = {match["message"] for match in errors if match["stamp"]}
    died = sum(not match["stamp"] and match["message"] in stamped for match in errors)
    if died:
        return f"{died} workers ended with an error before the others", ""
    if not run.finished:
        run.warnings.append("the log shows the result without go-tpc's word that it finished")
    return "", ""


def _check_rate(row: Event) -> None:
    """TPM is Count per minute of Takes; both are printed with one decimal."""
    if not row.values.keys() >= _OF_A_RATE:
        return
    takes_s, count, tpm = (row.values[name] for name in ("takes_s", "count", "tpm"))
    if count != int(count):
        raise NotUnderstood(f"line {row.number}: {row.operation} counts parts of a transaction")
    expected, relative = (count * 60 / takes_s, 0.06 / takes_s) if takes_s > 0 else (0.0, 1.0)
    if not math.isclose(expected, tpm, rel_tol=relative, abs_tol=0.11):
        raise NotUnderstood(
            f"line {row.number}: {row.operation} says {tpm:g} TPM, but {count:g} in {takes_s:g} s are {expected:.1f}"
        )


def _check_totals(run: Run) -> None:
    done, tpmc, tpm = run.transactions, run.totals.get("tpmc"), run.totals.get("tpm")
    new_order = done["NEW_ORDER"].values.get("tpm") if "NEW_ORDER" in done else None
    if tpmc is not None and new_order is not None and not math.isclose(tpmc, new_order, rel_tol=0.002, abs_tol=0.2):
        raise NotUnderstood(f"tpmC {tpmc:g} is not NEW_ORDER's {new_order:g} TPM")
    total = sum(row.values.get("tpm", 0.0) for row in done.values())
    if tpm is not None and done and not math.isclose(tpm, total, rel_tol=0.005, abs_tol=0.5):
        missing = _ALL_TYPES - done.keys()
        if len(missing) != 1 or new_order is None or tpmc is None or tpm <= total:
            raise NotUnderstood(f"tpmTotal {tpm:g} is not the sum of the transaction types, {total:.1f}")
        # A document quotes some of the rows; those and tpmC stay what they are.
        del run.totals["tpm"]
        run.warnings.append(f"the row of {min(missing)} is missing, and with it the proof of tpmTotal: left out")
    elif tpmc is not None and tpm is not None and tpmc > tpm * 1.001:
        raise NotUnderstood(f"tpmC {tpmc:g} is more than tpmTotal {tpm:g}")


def _metrics(run: Run) -> list[Metric]:
    _check_totals(run)
    totals = entries(run.totals, "tpmc", "tpm", "qphh", "efficiency_pct")
    metrics = [measured(name, value, "query" if name == "qphh" else "run") for name, value in totals.items()]
    if "tpm" in run.totals and run.transactions:
        # Checked against the sum of the types, so no type is missing.
        metrics.append(measured("transactions", sum(row.values.get("count", 0) for row in run.transactions.values())))
    latencies = _latencies(run)
    for operation, row in run.summary.items():
        metrics += _of_operation(row, latencies[operation])
    new_order = run.summary.get("NEW_ORDER")
    if new_order and "takes_s" in new_order.values and run.totals:
        # The time since the first new order, where the summary came to its end. A figure, not a parameter: it differs
        # a little from repeat to repeat.
        metrics.append(measured("elapsed_s", new_order.values["takes_s"]))
    return metrics


def _of_operation(row: Event, latencies: Mapping[str, float]) -> tuple[Metric, ...]:
    operation, count = row.operation.removesuffix("_ERR"), row.values.get("count", 0.0)
    phase, name = "run", operation.lower().replace("-", "_")
    if _QUERY.match(operation):
        phase, name = "query", f"query_{operation[1:]}"
    figures: dict[str, float | None]
    if row.operation.endswith("_ERR"):
        figures = {f"{name}_errors": count}
    elif phase == "run":
        figures = {f"{name}_transactions": count, f"{name}_tpm": row.values.get("tpm")}
        figures |= {f"{name}_latency_{rank}": value for rank, value in latencies.items()}
    elif "avg_s" in row.values:
        figures = {f"{name}_s": row.values["avg_s"]}
    else:
        figures = {f"{name}_queries": count, f"{name}_latency_avg_ms": latencies.get("avg_ms")}
    return all_measured(figures, phase)


def _latencies(run: Run) -> dict[str, dict[str, float]]:
    """Trustworthy latencies by operation, checked against Sum and Count.

    The histogram behind Avg and the percentiles has one significant figure, starts at 1 ms and ends at 16 s; Sum is
    exact. A build of 2021 printed averages and percentiles a thousand times too small: where most rows disagree, Sum
    and Count are right; where one does, nobody knows which of its figures is wrong.
    """
    exact = {
        name: row.values["sum_ms"] / row.values["count"]
        for name, row in run.summary.items()
        if {"sum_ms", "avg_ms"} <= row.values.keys() and row.values.get("count")
    }
    doubtful = [name for name, average in exact.items() if not _fits(average, run.summary[name].values)]
    checkable = [name for name, row in run.summary.items() if "sum_ms" in row.values and not name.endswith("_ERR")]
    systematic = sum(name in checkable for name in doubtful) > max(1, len(checkable) // 2)
    latencies: dict[str, dict[str, float]] = {}
    for name, row in run.summary.items():
        if name in doubtful:
            latencies[name] = {"avg_ms": round(exact[name], 3)} if systematic else {}
        else:
            latencies[name] = entries(row.values, "avg_ms", *_RISING)
            rising(latencies[name], *_RISING, of=f"line {row.number}: {name}")
    if systematic:
        run.warnings.append(
            "Avg and the percentiles contradict Sum and Count (a defect of some builds of 2021): "
            "averages computed from Sum / Count, percentiles left out"
        )
    elif doubtful:
        run.warnings.append(f"latencies of {', '.join(doubtful)} left out: Avg is not Sum / Count")
    return latencies


def _fits(exact_ms: float, values: Mapping[str, float]) -> bool:
    # Latencies over the histogram's end (16 s, or --max-measure-latency) count as its end.
    if values.get("max_ms", values.get("p999_ms", 0.0)) >= 15_000 and values["avg_ms"] <= exact_ms:
        return True
    return math.isclose(exact_ms, values["avg_ms"], rel_tol=0.12, abs_tol=1.1)


def _warehouses(totals: Mapping[str, float], set_by_option: object) -> int | None:
    """The number of warehouses, which go-tpc's own efficiency tells: tpmC / (12.86 × warehouses)."""
    tpmc, efficiency = totals.get("tpmc"), totals.get("efficiency_pct")
    if not tpmc or not efficiency:
        return None
    low = 100 * (tpmc - 0.06) / (TPMC_PER_WAREHOUSE * (efficiency + 0.06))
    high = 100 * (tpmc + 0.06) / (TPMC_PER_WAREHOUSE * max(efficiency - 0.06, 1e-9))
    fitting = range(max(1, math.ceil(low)), min(int(high), 10_000_000) + 1)
    if not fitting or (isinstance(set_by_option, int) and set_by_option not in fitting):
        raise NotUnderstood(f"tpmC {tpmc:g} and efficiency {efficiency:g} % fit no number of warehouses")
    return fitting[0] if len(fitting) == 1 else None


_WORKLOADS = {"ch": "CH-benCHmark", "rawsql": "SQL files", "tpch": "TPC-H queries", "tpcc": "TPC-C"}


def _subject(run: Run, workload: str) -> Subject:
    """The subject by the run's figures, which are the benchmark's whatever the command line says."""
    queries = [_QUERY.match(operation) for operation in (*run.summary, *(row.operation for row in run.current))]
    if "qphh" in run.totals or (any(queries) and ("tpmc" in run.totals or not all(queries))):
        workload = "ch"
    elif workload not in ("ch", "rawsql"):
        workload = "tpch" if any(queries) else "tpcc"
    return Subject(f"{workload}-go-tpc", f"{_WORKLOADS[workload]} (go-tpc)")
