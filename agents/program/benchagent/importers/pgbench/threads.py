"""Logs of the threads of one run put together, and joined to the run's report where they prove to be of it."""

from __future__ import annotations

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Series,
    SourceFile,
    Status,
    Subject,
    as_part_of,
    not_understood,
)  # fmt: skip
from benchagent.importers.pgbench.logs import Log, is_log, parse, together

TOOL = "pgbench"
_NAME = re.compile(r"(?P<stem>.*?\.\d+)(?:\.(?P<thread>\d{1,4}))?(?:\.(?:txt|log|gz))*")
Read = list[tuple[SourceFile, list[Report]]]


def report(logs: list[Log], numbers: list[int] | None = None) -> Report:
    """One report of the logs of one run's threads. `numbers`: those in the files' names."""
    log, complete = together(logs)
    warnings = _warnings(log, logs, numbers)
    partial = _partial(log, numbers)
    parameters: dict[str, Scalar] = {"aggregate_interval_s": log.interval_s} if not log.per_transaction else {}
    return Report(
        tool=TOOL,
        status=Status.ABORTED if log.cut else Status.COMPLETE,
        reason="the log's last line is cut" if log.cut else "",
        parameters=parameters,
        series=tuple(_series(log, complete, counted=not (partial or log.sampled))),
        warnings=tuple(warnings),
        started_at=datetime.datetime.fromtimestamp(math.floor(log.began), tz=datetime.UTC).isoformat(),
        subject=Subject(),
    )


def _warnings(log: Log, logs: list[Log], numbers: list[int] | None) -> list[str]:
    found = []
    if partial := _partial(log, numbers):
        found.append(f"{partial}: what is counted per second is left out, for it would be a part only")
    elif len(logs) == 1:
        found.append("the log of one thread: with -j pgbench writes one per thread; drop them together")
    if log.sampled:
        found.append("a sample (--sampling-rate): what is counted per second is left out")
    if log.per_transaction:
        found.append("the first and the last second are not whole seconds of the run: they are gaps")
    return found


def _partial(log: Log, numbers: list[int] | None) -> str:
    """Why the logs are not those of all threads, empty where nothing shows that."""
    if numbers and sorted(numbers) != list(range(len(numbers))):
        return "the logs of some threads are missing"
    if log.per_transaction and log.clients != set(range(len(log.clients))) and not log.sampled:
        return "the logs of some clients are missing"
    return ""


def _metrics(log: Log) -> list[Metric]:
    """What the logs say of the whole run; only for logs that hold it all, for a log has no end that would show it."""
    ordered = sorted(log.latencies_us)
    values: dict[str, float] = {"min": ordered[0], "max": ordered[-1], "avg": sum(ordered) / len(ordered)}
    if len(ordered) >= 100:
        values |= {f"p{rank}": ordered[math.ceil(len(ordered) * rank / 100) - 1] for rank in (50, 95, 99)}
    return [
        Metric(f"latency_{name}_ms", "ms", round(value / 1000, 6), better="lower") for name, value in values.items()
    ]


def _series(log: Log, complete: set[int], *, counted: bool) -> list[Series]:
    starts = range(min(log.buckets), max(log.buckets) + 1, log.interval_s)
    if len(starts) > 20 * len(log.buckets) + 3600:
        raise NotUnderstood("the log's times are too far apart")
    if any(start not in starts for start in log.buckets):
        raise NotUnderstood("the threads' intervals do not begin at the same time")
    columns: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for start in starts:
        bucket = log.buckets.get(start)
        known = start in complete and not (log.per_transaction and start in (starts[0], starts[-1]))
        if counted:
            columns["tps", "TPS"].append((bucket.transactions / log.interval_s if bucket else 0.0) if known else None)
        done = bucket.transactions if bucket and known else 0
        columns["latency_avg_ms", "ms"].append(round(bucket.latency_sum / done / 1000, 6) if bucket and done else None)
        columns["latency_max_ms", "ms"].append(bucket.latency_max / 1000 if bucket and done else None)
    return [Series(name, unit, float(log.interval_s), tuple(values)) for (name, unit), values in columns.items()]


def combined(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> Read:
    found: Read = [(file, list(reports)) for file, reports in read]
    logs = {
        place: parse(file)
        for place, (file, reports) in enumerate(found)
        if len(reports) == 1 and reports[0].status is not Status.NOT_UNDERSTOOD and is_log(file)
    }
    for places in _groups(found, logs):
        found = _grouped(found, places, logs)
    for place in logs:
        if not found[place][1][0].part_of:
            found = _joined(found, place, logs)
    return found


def _groups(read: Read, logs: dict[int, Log]) -> list[list[int]]:
    """Places of logs with one name stem, of one kind, that were written at the same time by different clients."""
    stems: dict[tuple[str, bool, int, int], list[int]] = defaultdict(list)
    for place, log in logs.items():
        if name := _NAME.fullmatch(read[place][0].name):
            stems[name["stem"], log.per_transaction, log.columns, log.interval_s].append(place)
    return [places for places in stems.values() if len(places) > 1 and _one_run([logs[place] for place in places])]


def _one_run(logs: list[Log]) -> bool:
    began, ended = max(log.began for log in logs), min(log.ended for log in logs)
    shortest = min(log.ended - log.began for log in logs)
    clients = [client for log in logs for client in log.clients]
    return ended - began >= 0.5 * shortest and len(clients) == len(set(clients))


def _grouped(read: Read, places: list[int], logs: dict[int, Log]) -> Read:
    order = sorted(places, key=lambda place: _thread(read[place][0]))
    first = read[order[0]][0]
    try:
        whole_report = report([logs[place] for place in order], [_thread(read[place][0]) for place in order])
    except NotUnderstood as error:
        whole_report = not_understood(f"not understood: {error}", tool=TOOL)
    found = list(read)
    for place in places:
        file, reports = found[place]
        part = replace(as_part_of(reports[0], first), warnings=())
        found[place] = (file, [whole_report if place == order[0] else part])
    return found


def _thread(file: SourceFile) -> int:
    name = _NAME.fullmatch(file.name)
    return int(name["thread"] or 0) if name else 0


def _joined(read: Read, place: int, logs: dict[int, Log]) -> Read:
    """The log's series in the report of its run, where both counted the same transactions; else as they are."""
    log_file, (log_report,) = read[place][0], read[place][1]
    family = [at for at, (_, reports) in enumerate(read) if reports and reports[0].part_of == log_file.name]
    log = together([logs[at] for at in (place, *family)])[0]
    if not log.latencies_us or log.sampled:
        return read
    failed = sum(bucket.failed for bucket in log.buckets.values())
    candidates = [
        (at, number)
        for at, (_, reports) in enumerate(read)
        for number, one in enumerate(reports)
        if at not in logs and one.metric("transactions") == log.transactions
        and (one.metric("failed_transactions") or 0) == failed and one.parameters.get("terminals") == len(log.clients)
    ]  # fmt: skip
    if len(candidates) != 1:
        return read
    at, number = candidates[0]
    run_file, reports = read[at]
    found = list(read)
    found[at] = (run_file, [*reports[:number], _with_log(reports[number], log_report, log), *reports[number + 1 :]])
    for other in (place, *family):
        file, of_file = found[other]
        found[other] = (file, [replace(as_part_of(of_file[0], run_file), warnings=())])
    return found


def _with_log(own: Report, log_report: Report, log: Log) -> Report:
    return replace(
        own,
        series=own.series or log_report.series,
        metrics=own.metrics + tuple(one for one in _metrics(log) if own.metric(one.name) is None),
        started_at=own.started_at or log_report.started_at,
        warnings=(
            *own.warnings,
            *log_report.warnings,
            "latencies and seconds are those of the logs: same transactions",
        ),
    )
