"""Logs of the threads of one run put together, and joined to the run's report where they prove to be of it."""

from __future__ import annotations

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchagent.importers.pgbench.logs import Log, is_log, log_of, together
from benchagent.importers.report import (
    Metric,
    Report,
    Series,
    Status,
    as_part_of,
    as_they_are,
    measured,
    not_understood,
    unit_of,
)
from benchagent.importers.source import NotUnderstood, SourceFile

TOOL = "pgbench"
_NAME = re.compile(r"(?P<stem>.*?\.\d+)(?:\.(?P<thread>\d{1,4}))?(?:\.(?:txt|log|gz))*")
_OF_THE_LOGS = "latencies and seconds are those of the logs: same transactions"


def report(logs: Sequence[Log], numbers: Sequence[int] = ()) -> Report:
    """One report of the logs of one run's threads. `numbers`: those in the files' names."""
    log, complete = together(logs)
    partial = ""
    if numbers and sorted(numbers) != list(range(len(numbers))):
        partial = "the logs of some threads are missing"
    elif log.per_transaction and log.clients != set(range(len(log.clients))) and not log.sampled:
        partial = "the logs of some clients are missing"
    warnings = []
    if partial:
        warnings.append(f"{partial}: what is counted per second is left out, for it would be a part only")
    elif len(logs) == 1:
        warnings.append("the log of one thread: with -j pgbench writes one per thread; drop them together")
    if log.sampled:
        warnings.append("a sample (--sampling-rate): what is counted per second is left out")
    if log.per_transaction:
        warnings.append("the first and the last second are not whole seconds of the run: they are gaps")
    return Report(
        tool=TOOL, status=Status.ABORTED if log.cut else Status.COMPLETE,
        reason="the log's last line is cut" if log.cut else "",
        parameters={} if log.per_transaction else {"aggregate_interval_s": log.interval_s},
        series=_series(log, complete, counted=not (partial or log.sampled)), warnings=tuple(warnings),
        started_at=datetime.datetime.fromtimestamp(math.floor(log.began), tz=datetime.UTC).isoformat(),
    )  # fmt: skip


def _series(log: Log, complete: set[int], *, counted: bool) -> tuple[Series, ...]:
    starts = range(min(log.buckets), max(log.buckets) + 1, log.interval_s)
    if len(starts) > 20 * len(log.buckets) + 3600:
        raise NotUnderstood("the log's times are too far apart")
    if any(start not in starts for start in log.buckets):
        raise NotUnderstood("the threads' intervals do not begin at the same time")
    columns: dict[str, list[float | None]] = defaultdict(list)
    for start in starts:
        bucket = log.buckets.get(start)
        known = start in complete and not (log.per_transaction and start in (starts[0], starts[-1]))
        if counted:
            columns["tps"].append((bucket.transactions / log.interval_s if bucket else 0.0) if known else None)
        done = bucket if bucket and bucket.transactions and known else None
        columns["latency_avg_ms"].append(round(done.latency_sum / done.transactions / 1000, 6) if done else None)
        columns["latency_max_ms"].append(done.latency_max / 1000 if done else None)
    return tuple(
        Series(name, unit_of(name)[0], float(log.interval_s), tuple(values)) for name, values in columns.items()
    )


def combined(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    result = as_they_are(read)
    logs = {
        position: log_of(file)
        for position, (file, reports) in enumerate(result)
        if len(reports) == 1 and reports[0].status is not Status.NOT_UNDERSTOOD and is_log(file)
    }
    for family in _families(result, logs):
        first, *others = family
        if others:
            try:
                numbers = [_thread(result[position][0]) for position in family]
                result[first][1][0] = report([logs[position] for position in family], numbers)
            except NotUnderstood as error:
                result[first][1][0] = not_understood(f"not understood: {error}", tool=TOOL)
        for position in others:
            result[position][1][0] = as_part_of(result[position][1][0], result[first][0])
        _join(result, family, logs)
    return result


def _families(result: Sequence[tuple[SourceFile, list[Report]]], logs: dict[int, Log]) -> Iterator[list[int]]:
    """The positions of the threads of one run: one name stem, one kind, at the same time by different clients."""
    stems: dict[Any, list[int]] = defaultdict(list)
    for position, log in logs.items():
        name = _NAME.fullmatch(result[position][0].name)
        stems[(name["stem"], log.per_transaction, log.columns, log.interval_s) if name else position].append(position)
    for positions in stems.values():
        own = [logs[position] for position in positions]
        began, ended = max(log.began for log in own), min(log.ended for log in own)
        clients = [client for log in own for client in log.clients]
        overlap = ended - began >= 0.5 * min(log.ended - log.began for log in own)
        if overlap and len(clients) == len(set(clients)):
            yield sorted(positions, key=lambda position: _thread(result[position][0]))
        else:
            yield from ([position] for position in positions)


def _thread(file: SourceFile) -> int:
    name = _NAME.fullmatch(file.name)
    return int(name["thread"] or 0) if name else 0


def _join(result: list[tuple[SourceFile, list[Report]]], family: Sequence[int], logs: dict[int, Log]) -> None:
    """The logs' series into the report of their run, where both counted the same transactions; else as they are."""
    log = together([logs[position] for position in family])[0]
    if not log.latencies_us or log.sampled:
        return
    candidates = [
        (position, number)
        for position, (_, reports) in enumerate(result)
        for number, run in enumerate(reports)
        if position not in logs and run.metric("transactions") == log.transactions
        and (run.metric("failed_transactions") or 0) == log.failed
        and run.parameters.get("terminals") == len(log.clients)
    ]  # fmt: skip
    if len(candidates) != 1:
        return
    ((position, number),) = candidates
    run_file, reports = result[position]
    run, of_log = reports[number], result[family[0]][1][0]
    reports[number] = replace(
        run, series=run.series or of_log.series, started_at=run.started_at or of_log.started_at,
        metrics=run.metrics + tuple(metric for metric in _metrics(log) if run.metric(metric.name) is None),
        warnings=(*run.warnings, *of_log.warnings, _OF_THE_LOGS),
    )  # fmt: skip
    for other in family:
        result[other][1][0] = as_part_of(result[other][1][0], run_file)


def _metrics(log: Log) -> list[Metric]:
    """What the logs say of the whole run; only for logs that hold it all, for a log has no end that would show it."""
    ordered = sorted(log.latencies_us)
    values: dict[str, float] = {"min": ordered[0], "max": ordered[-1], "avg": sum(ordered) / len(ordered)}
    if len(ordered) >= 100:
        values |= {f"p{rank}": ordered[math.ceil(len(ordered) * rank / 100) - 1] for rank in (50, 95, 99)}
    return [measured(f"latency_{name}_ms", round(value / 1000, 6)) for name, value in values.items()]
