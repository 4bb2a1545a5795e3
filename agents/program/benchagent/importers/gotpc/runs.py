"""Rows of figures -> one report for each run of a log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Status,
    Subject,
    agree,
)
from benchagent.importers.gotpc.command import command_of
from benchagent.importers.gotpc.latency import checked_latencies
from benchagent.importers.gotpc.progress import series_of
from benchagent.importers.gotpc.rows import Event, Note, Row, Total
from benchagent.redaction import redact_text

TOOL = "go-tpc"
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
_TYPES = re.compile(r"^Q\d+$")


@dataclass
class Run:
    """What stands in a log between the end of one run and the end of the next."""

    current: list[Row] = field(default_factory=list)
    summary: dict[str, Row] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    finished: bool = False
    # The line of its last figure.
    last: int = 0

    @property
    def has_figures(self) -> bool:
        return bool(self.current or self.summary or self.totals)


def reports(found: Sequence[Event]) -> list[Report]:
    runs: list[Run] = [Run()]
    for event in found:
        run = runs[-1]
        if _begins_another(run, event):
            run = Run(notes=_trailing_notes(run))
            runs.append(run)
        _add(run, event)
    return [_report(run) for run in runs if run.has_figures]


def _begins_another(run: Run, event: Event) -> bool:
    if isinstance(event, Note):
        return bool(run.has_figures and command_of(event.text))
    ended = bool(run.summary)
    if isinstance(event, Row):
        if not event.summary:
            if run.finished and not run.summary:
                raise NotUnderstood(f"line {event.line}: a [Current] row after the end of the run")
            if "NEW_ORDER" in run.summary and not run.totals:
                raise NotUnderstood(f"line {event.line}: a [Current] row amid the summary")
            return ended
        seen = run.summary.get(event.operation)
        return seen is not None and seen.values != event.values and bool(run.totals)
    return bool(run.totals) and any(run.totals.get(name, value) != value for name, value in event.values.items())


def _trailing_notes(run: Run) -> list[Note]:
    """Lines after the figures of the run before belong to the next: its command line, its start."""
    trailing = [note for note in run.notes if note.line > run.last]
    run.notes = [note for note in run.notes if note.line <= run.last or not command_of(note.text)]
    return trailing


def _add(run: Run, event: Event) -> None:
    if isinstance(event, Note):
        run.finished = run.finished or event.text.strip() == "Finished"
        run.notes.append(event)
        return
    run.last = event.line
    if isinstance(event, Total):
        if any(run.totals.get(name, value) != value for name, value in event.values.items()):
            raise NotUnderstood(f"line {event.line}: the result stands twice with different figures")
        run.totals |= event.values
    elif event.summary:
        if "tpmc" in run.totals and _is_transaction(event.operation) and event.operation not in run.summary:
            raise NotUnderstood(f"line {event.line}: {event.operation} is summed up after the result")
        seen = run.summary.setdefault(event.operation, event)
        if seen.values != event.values:
            raise NotUnderstood(f"line {event.line}: {event.operation} is summed up twice with different figures")
    else:
        run.current.append(event)


def _report(run: Run) -> Report:
    status, reason, warnings = _status(run)
    parameters, commands, workload = _told(run)
    for row in (*run.current, *run.summary.values()):
        _check_rate(row)
    metrics: list[Metric] = []
    if run.summary or run.totals:
        warnings += _check_totals(run)
        metrics += _headline(run)
        latencies, more = checked_latencies([*run.summary.values()])
        warnings += more
        for row in run.summary.values():
            metrics += _of_type(row, latencies[row.operation])
        metrics += _elapsed(run)
        if status is not Status.COMPLETE:
            warnings.append("the figures are of the part that ran")
    warehouses = _warehouses(run, parameters)
    if warehouses is not None:
        parameters["warehouses"] = warehouses
    series, problems = series_of(run.current, run.summary)
    return Report(
        tool=TOOL, status=status, reason=reason, parameters=parameters, metrics=tuple(metrics), series=series,
        warnings=(*warnings, *problems), subject=_subject(run, workload), command_lines=commands,
    )  # fmt: skip


def _status(run: Run) -> tuple[Status, str, list[str]]:
    warnings: list[str] = []
    texts = [note.text.strip() for note in run.notes]
    errors = [match for text in texts if (match := _ERROR.match(text)) and not _TIME_OVER.search(match["message"])]
    if errors:
        warnings.append(f"{len(errors)} messages of failed transactions, the first: {_short(errors[0]['message'])}")
    crash = next((text for text in texts if _CRASH.search(text)), None)
    if crash is not None:
        return Status.FAILED, f"go-tpc stopped: {_short(crash)}", warnings
    signal = next((text for text in texts if _SIGNAL.search(text)), None)
    if signal is not None:
        return Status.ABORTED, f"stopped before its end: {_short(signal)}", warnings
    if not run.summary and not run.totals:
        return Status.ABORTED, "the log ends before the summary", warnings
    if any(map(_is_transaction, run.summary)) and "tpmc" not in run.totals and _is_of_2020(run):
        warnings.append("tpmC is missing: the first versions do not print it")
    elif any(map(_is_transaction, run.summary)) and "tpmc" not in run.totals:
        return Status.ABORTED, "the log ends within the summary", warnings
    stamped = {match["message"] for match in errors if match["stamp"]}
    died = sum(1 for match in errors if not match["stamp"] and match["message"] in stamped)
    if died:
        return Status.FAILED, f"{died} workers ended with an error before the others", warnings
    if not run.finished:
        warnings.append("the log shows the result without go-tpc's word that it finished")
    return Status.COMPLETE, "", warnings


def _is_of_2020(run: Run) -> bool:
    """A whole summary of the versions that printed neither the median nor tpmC: all types, and something after them."""
    whole = run.summary.keys() >= _ALL_TYPES
    old = all("p50_ms" not in row.values for row in run.summary.values())
    return whole and old and any(note.line > run.last and note.text.strip() for note in run.notes)


def _short(text: str) -> str:
    return redact_text(text)[:200]


def _told(run: Run) -> tuple[dict[str, Scalar], tuple[str, ...], str]:
    commands = [found for note in run.notes if (found := command_of(note.text)) and not _NO_RUN.search(found[0])]
    if not commands:
        return {}, (), ""
    line, workload, parameters = commands[-1]
    return {name: value for name, value in parameters.items() if name != "interval_s"}, (line,), workload


def _check_rate(row: Row) -> None:
    """TPM is Count per minute of Takes; both are printed with one decimal."""
    values = row.values
    if not {"takes_s", "count", "tpm"} <= set(values):
        return
    if values["count"] != int(values["count"]):
        raise NotUnderstood(f"line {row.line}: {row.operation} counts parts of a transaction")
    expected = values["count"] * 60 / values["takes_s"] if values["takes_s"] > 0 else 0.0
    relative = 0.06 / values["takes_s"] if values["takes_s"] > 0 else 1.0
    if not agree(expected, values["tpm"], relative=relative, absolute=0.11):
        raise NotUnderstood(
            f"line {row.line}: {row.operation} says {values['tpm']:g} TPM, but {values['count']:g} in "
            f"{values['takes_s']:g} s are {expected:.1f}"
        )


def _is_transaction(operation: str) -> bool:
    return not operation.endswith("_ERR") and not _TYPES.match(operation)


def _check_totals(run: Run) -> list[str]:
    good = {operation: row for operation, row in run.summary.items() if _is_transaction(operation)}
    new_order = good.get("NEW_ORDER")
    tpmc, tpm = run.totals.get("tpmc"), run.totals.get("tpm")
    if tpmc is not None and new_order and not agree(tpmc, new_order.values["tpm"], relative=0.002, absolute=0.2):
        raise NotUnderstood(f"tpmC {tpmc:g} is not NEW_ORDER's {new_order.values['tpm']:g} TPM")
    if tpm is not None and good:
        total = sum(row.values.get("tpm", 0.0) for row in good.values())
        if not agree(tpm, total, relative=0.005, absolute=0.5):
            gone = _ALL_TYPES - good.keys()
            if len(gone) == 1 and new_order and tpmc is not None and tpm > total:
                # A document quotes some of the rows; those and tpmC stay what they are.
                del run.totals["tpm"]
                return [f"the row of {min(gone)} is missing, and with it the proof of tpmTotal: left out"]
            raise NotUnderstood(f"tpmTotal {tpm:g} is not the sum of the transaction types, {total:.1f}")
    if tpmc is not None and tpm is not None and tpmc > tpm * 1.001:
        raise NotUnderstood(f"tpmC {tpmc:g} is more than tpmTotal {tpm:g}")
    return []


def _headline(run: Run) -> list[Metric]:
    metrics: list[Metric] = []
    if "tpmc" in run.totals:
        metrics.append(Metric("tpmc", "tpmC", run.totals["tpmc"], better="higher"))
    if "tpm" in run.totals:
        # Checked against the sum of the types, so no type is missing.
        counts = [row.values.get("count", 0.0) for name, row in run.summary.items() if _is_transaction(name)]
        metrics.append(Metric("tpm", "TPM", run.totals["tpm"], better="higher"))
        metrics += [Metric("transactions", "transactions", sum(counts), better="none")] if counts else []
    if "qphh" in run.totals:
        metrics.append(Metric("qphh", "QphH", run.totals["qphh"], phase="query", better="higher"))
    if "efficiency_pct" in run.totals:
        metrics.append(Metric("efficiency_pct", "%", run.totals["efficiency_pct"], better="none"))
    return metrics


def _of_type(row: Row, latencies: dict[str, float]) -> list[Metric]:
    """A row whose name ends in _ERR counts failures: they are never transactions."""
    values = row.values
    if _TYPES.match(row.operation) and "avg_s" in values:
        return [Metric(f"query_{row.operation[1:]}_s", "s", values["avg_s"], phase="query", better="lower")]
    failed = row.operation.endswith("_ERR")
    name = row.operation.removesuffix("_ERR").lower().replace("-", "_")
    if _TYPES.match(row.operation.removesuffix("_ERR")):
        metrics = [
            Metric(f"query_{name[1:]}_{'errors' if failed else 'queries'}", "errors" if failed else "queries",
                   values["count"], phase="query", better="lower" if failed else "none")
        ]  # fmt: skip
        if not failed and "avg_ms" in latencies:
            metrics.append(Metric(f"query_{name[1:]}_latency_avg_ms", "ms", latencies["avg_ms"], "query", "lower"))
        return metrics
    if failed:
        return [Metric(f"{name}_errors", "errors", values["count"], better="lower")]
    metrics = [Metric(f"{name}_transactions", "transactions", values["count"], better="none")]
    if "tpm" in values:
        metrics.append(Metric(f"{name}_tpm", "TPM", values["tpm"], better="higher"))
    metrics += [
        Metric(f"{name}_latency_{field_.removesuffix('_ms')}_ms", "ms", value, better="lower")
        for field_, value in latencies.items()
    ]
    return metrics


def _elapsed(run: Run) -> list[Metric]:
    """The time since the first new order, which the summary tells; only where the summary came to its end.

    A figure, not a parameter: it differs a little from repeat to repeat.
    """
    new_order = run.summary.get("NEW_ORDER")
    if new_order is None or "takes_s" not in new_order.values or not run.totals:
        return []
    return [Metric("elapsed_s", "s", new_order.values["takes_s"], better="none")]


def _warehouses(run: Run, parameters: dict[str, Scalar]) -> int | None:
    """The number of warehouses, which go-tpc's own efficiency tells: tpmC / (12.86 × warehouses)."""
    tpmc, efficiency = run.totals.get("tpmc"), run.totals.get("efficiency_pct")
    if not tpmc or not efficiency:
        return None
    low = 100 * (tpmc - 0.06) / (TPMC_PER_WAREHOUSE * (efficiency + 0.06))
    high = 100 * (tpmc + 0.06) / (TPMC_PER_WAREHOUSE * max(efficiency - 0.06, 1e-9))
    fitting = range(max(1, -int(-low // 1)), min(int(high), 10_000_000) + 1)
    told = parameters.get("warehouses")
    if not fitting or (isinstance(told, int) and told not in fitting):
        raise NotUnderstood(f"tpmC {tpmc:g} and efficiency {efficiency:g} % fit no number of warehouses")
    return fitting[0] if len(fitting) == 1 else None


def _subject(run: Run, workload: str) -> Subject:
    types = [operation.removesuffix("_ERR") for operation in (*run.summary, *(row.operation for row in run.current))]
    queries = any(_TYPES.match(operation) for operation in types)
    transactions = any(not _TYPES.match(operation) for operation in types) or "tpmc" in run.totals
    if workload == "ch" or (queries and transactions) or "qphh" in run.totals:
        return Subject(workload="ch-go-tpc", workload_name="CH-benCHmark (go-tpc)")
    if workload == "rawsql":
        return Subject(workload="rawsql-go-tpc", workload_name="SQL files (go-tpc)")
    if queries:
        return Subject(workload="tpch-go-tpc", workload_name="TPC-H queries (go-tpc)")
    return Subject(workload="tpcc-go-tpc", workload_name="TPC-C (go-tpc)")
