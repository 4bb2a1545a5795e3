"""pgbench's own log files: a line per transaction (`-l`) or per interval (`--aggregate-interval`), a file per thread.

Per transaction: client, number, latency in µs (or skipped, failed, serialization, deadlock), script, seconds, µs,
then the schedule lag with -R and the retries with --max-tries. Per interval: start, transactions, sum, sum of squares,
least and greatest latency; with -R four figures of the lag, with -L too the skipped; from 15 always all 15 columns.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchagent.histogram import encode
from benchagent.importers.report import ReadFile, Report, all_measured, as_part_of, latencies_of, not_understood, utc
from benchagent.importers.series import sampled
from benchagent.importers.source import NotUnderstood, SourceFile, once
from benchagent.latency_map import MOST_BUCKETS, LatencyMap

TOOL = "pgbench"
# 2001 to 2036: what can be a clock reading, and no count.
_SECOND = r"(?:1[0-9]{9}|20[0-9]{8})"
_TRANSACTION = re.compile(
    rf"(\d{{1,6}}) (\d{{1,15}}) (\d{{1,15}}|skipped|failed|serialization|deadlock) (\d{{1,3}}) ({_SECOND}) (\d{{1,6}})"
    r"((?: \d+){0,2})"
)
_INTERVAL = re.compile(rf"{_SECOND}(?: \d+){{5}}(?:(?: \d+){{4,5}}|(?: \d+){{9}})?")


@dataclass
class Bucket:
    """What ended in one interval; latencies in µs."""

    transactions: int = 0
    latency_sum: int = 0
    latency_max: int = 0
    failed: int = 0

    def add(self, other: Bucket) -> None:
        self.transactions += other.transactions
        self.latency_sum += other.latency_sum
        self.latency_max = max(self.latency_max, other.latency_max)
        self.failed += other.failed


@dataclass
class Log:
    """One thread's log, or those of all threads. Latencies and `clients` only for a log per transaction."""

    per_transaction: bool = False
    columns: int = 0
    interval_s: int = 1
    buckets: dict[int, Bucket] = field(default_factory=dict)
    # How many transactions took so long.
    latencies_us: Counter[int] = field(default_factory=Counter)
    over_time: LatencyMap = field(default_factory=LatencyMap)
    clients: set[int] = field(default_factory=set)
    sampled: bool = False
    began: float = 0.0
    ended: float = 0.0
    cut: bool = False


def is_log(head: SourceFile) -> bool:
    lines = [line.strip() for line in head.text.split("\n", 20)[:-1] if line.strip()]
    return bool(lines) and any(all(map(form.fullmatch, lines)) for form in (_TRANSACTION, _INTERVAL))


@once
def log_of(file: SourceFile) -> Log:
    """Read once for a file. Raises NotUnderstood for any line that is no log's, lost, doubled or out of order."""
    log = Log()

    def whole_lines() -> Iterator[tuple[int, str]]:
        for number, line, is_whole in file.streamed():
            if text := line.strip():
                log.cut = not is_whole
                if is_whole:
                    yield number, text

    lines = whole_lines()
    # What is a log (`is_log`) begins with a whole line.
    first = next(lines)
    log.columns = len(first[1].split())
    log.per_transaction = _TRANSACTION.fullmatch(first[1]) is not None
    (_read_transactions if log.per_transaction else _read_intervals)(log, itertools.chain([first], lines))
    return log


def _end_second(log: Log, second: int, counts: dict[int, int]) -> None:
    if counts:
        log.over_time.put(max(0, second - int(log.began)), counts)
        counts.clear()


def _read_transactions(log: Log, lines: Iterator[tuple[int, str]]) -> None:
    last: dict[int, int] = {}
    count, gaps, first_gap = 0, 0, 0
    before, bucket, bucket_start = 0.0, Bucket(), -1
    # How many latencies of the second lie in each bucket of the map.
    of_second = defaultdict[int, int](int)
    latencies_us = defaultdict[int, int](int)
    columns, matched = log.columns, _TRANSACTION.fullmatch
    for line, text in lines:
        count += 1
        match = matched(text)
        if match is None:
            raise NotUnderstood(f"line {line}: no line of a transaction log: {text[:80]!r}")
        client_text, number_text, latency, _, second_text, micros, more = match.groups()
        if 6 + more.count(" ") != columns:
            raise NotUnderstood(f"line {line}: {6 + more.count(' ')} columns, before {columns}")
        client, number, second = int(client_text), int(number_text), int(second_text)
        at = second + int(micros) / 1e6
        if at < before - 0.001:
            raise NotUnderstood(f"line {line}: the time goes back: lines are out of order")
        if number <= last.get(client, -1):
            raise NotUnderstood(f"line {line}: transaction {number} of client {client} comes twice or too late")
        if number > last.get(client, 0) + 1:
            gaps, first_gap = gaps + 1, first_gap or line
        before, last[client] = max(at, before), number
        log.began = log.began or at
        if second != bucket_start:
            _end_second(log, bucket_start, of_second)
            bucket_start, bucket = second, log.buckets.setdefault(second, Bucket())
        if latency.isdigit():
            value = int(latency)
            latencies_us[value] += 1
            of_second[min((value * value or 1).bit_length(), MOST_BUCKETS) - 1] += 1
            bucket.transactions += 1
            bucket.latency_sum += value
            bucket.latency_max = max(value, bucket.latency_max)
        elif latency != "skipped":
            bucket.failed += 1
    _end_second(log, bucket_start, of_second)
    log.ended, log.clients, log.latencies_us = before, set(last), Counter(latencies_us)
    # Fewer gaps in the numbers of the clients' transactions are lines that got lost, more are --sampling-rate.
    log.sampled = gaps > max(0.02 * count, 2 + len(last))
    if gaps and not log.sampled:
        raise NotUnderstood(f"line {first_gap}: transactions before it are missing")


def _read_intervals(log: Log, lines: Iterator[tuple[int, str]]) -> None:
    starts: list[int] = []
    for line, text in lines:
        if not _INTERVAL.fullmatch(text):
            raise NotUnderstood(f"line {line}: no line of an aggregated log: {text[:80]!r}")
        start, count, total, squares, least, greatest, *more = map(int, text.split())
        if 6 + len(more) != log.columns:
            raise NotUnderstood(f"line {line}: {6 + len(more)} columns, before {log.columns}")
        if starts and start <= starts[-1]:
            raise NotUnderstood(f"line {line}: the time does not rise: lines are doubled or out of order")
        starts.append(start)
        # Before 15 the count holds the skipped transactions, which have no latency.
        count -= more[4] if len(more) == 5 else 0
        if count < 0 or not count * least <= total + count + 1 or not total <= count * greatest + count + 1:
            raise NotUnderstood(f"line {line}: the latencies do not fit {count} transactions")
        if count and not 0.98 * (total / count) * total <= squares + 1 <= 1.02 * greatest * total + 3:
            raise NotUnderstood(f"line {line}: the squares of the latencies do not fit their sum")
        log.buckets[start] = Bucket(count, total, greatest, failed=sum(more[7:9]))
    if len(starts) < 3:
        raise NotUnderstood("fewer than three intervals: how long they are, the log does not show")
    steps = Counter(later - earlier for earlier, later in itertools.pairwise(starts))
    log.interval_s = min(steps)
    if any(step % log.interval_s for step in steps) or steps[log.interval_s] * 2 < len(starts) - 1:
        raise NotUnderstood("the intervals are not evenly spaced")
    log.began, log.ended = starts[0], starts[-1] + log.interval_s


def together(logs: Sequence[Log]) -> Log:
    """The threads' logs as one."""
    whole = Log(
        logs[0].per_transaction, logs[0].columns, logs[0].interval_s, sampled=any(log.sampled for log in logs),
        began=min(log.began for log in logs), ended=max(log.ended for log in logs), cut=any(log.cut for log in logs),
    )  # fmt: skip
    for log in logs:
        for start, bucket in log.buckets.items():
            whole.buckets.setdefault(start, Bucket()).add(bucket)
        whole.latencies_us.update(log.latencies_us)
        whole.clients |= log.clients
        whole.over_time.merge(log.over_time, int(log.began) - int(whole.began))
    return whole


# Logs of the threads of one run put together, and joined to the run's report where they prove to be of it.

_NAME = re.compile(r"(?P<stem>.*?\.\d+)(?:\.(?P<thread>\d{1,4}))?(?:\.(?:txt|log|gz))*")
_OF_THE_LOGS = "latencies and seconds are those of the logs: same transactions"
_OF_THE_INTERVALS = "the seconds are those of the aggregated logs, which leave out the interval in which the run ends"


def report(logs: Sequence[Log], numbers: Sequence[int] = ()) -> Report:
    """One report of the logs of one run's threads. `numbers`: those in the files' names."""
    log, partial = together(logs), ""
    if numbers and sorted(numbers) != list(range(len(numbers))):
        partial = "the logs of some threads are missing"
    elif log.per_transaction and log.clients != set(range(len(log.clients))) and not log.sampled:
        partial = "the logs of some clients are missing"
    columns = _columns(log, logs, counted=not (partial or log.sampled))
    ends = [float(log.interval_s * (at + 1)) for at in range(len(columns["latency_avg_ms"]))]
    is_alone = len(logs) == 1 and not partial
    warnings = (
        f"{partial}: what is counted per second is left out, for it would be a part only" if partial else "",
        "the log of one thread: with -j pgbench writes one per thread; drop them together" if is_alone else "",
        "a sample (--sampling-rate): what is counted per second is left out" if log.sampled else "",
        "the first and the last second are not whole seconds of the run: they are gaps" if log.per_transaction else "",
    )
    return Report(
        tool=TOOL, reason="the log's last line is cut" if log.cut else "",
        parameters={} if log.per_transaction else {"aggregate_interval_s": log.interval_s},
        series=sampled(ends, columns, float(log.interval_s)), warnings=warnings,
        latency_map={} if partial or log.sampled else log.over_time.as_json(),
        started_at=utc(math.floor(log.began)),
    )  # fmt: skip


def _columns(log: Log, of_threads: Sequence[Log], *, counted: bool) -> dict[str, list[float | None]]:
    """What is told of each interval of the run."""
    starts = range(min(log.buckets), max(log.buckets) + 1, log.interval_s)
    if len(starts) > 20 * len(log.buckets) + 3600:
        raise NotUnderstood("the log's times are too far apart")
    if any(start not in starts for start in log.buckets):
        raise NotUnderstood("the threads' intervals do not begin at the same time")
    columns: dict[str, list[float | None]] = defaultdict(list)
    for start in starts:
        bucket = log.buckets.get(start, Bucket())
        if log.per_transaction:
            known = starts[0] < start < starts[-1]
        else:  # every thread has its line
            known = all(start in each.buckets for each in of_threads)
        if counted:
            columns["tps"].append(bucket.transactions / log.interval_s if known else None)
        done = bucket if bucket.transactions and known else None
        columns["latency_avg_ms"].append(round(done.latency_sum / done.transactions / 1000, 6) if done else None)
        columns["latency_max_ms"].append(done.latency_max / 1000 if done else None)
    return columns


def combined(files: list[ReadFile]) -> None:
    logs = {
        position: log_of(file)
        for position, (file, reports) in enumerate(files)
        if len(reports) == 1 and reports[0].series and is_log(file.head)
    }
    for family in _families(files, logs):
        first, *others = family
        if others:
            try:
                numbers = [_thread(files[position][0]) for position in family]
                files[first][1][0] = report([logs[position] for position in family], numbers)
            except NotUnderstood as error:
                files[first][1][0] = not_understood(error, tool=TOOL)
        for position in others:
            files[position][1][0] = as_part_of(files[position][1][0], files[first][0])
        _join(files, family, logs)


def _families(files: Sequence[ReadFile], logs: dict[int, Log]) -> Iterator[list[int]]:
    """The positions of the threads of one run: one name stem, one kind, at the same time by different clients."""
    stems: dict[Any, list[int]] = defaultdict(list)
    for position, log in logs.items():
        name = _NAME.fullmatch(files[position][0].name)
        stems[(name["stem"], log.per_transaction, log.columns, log.interval_s) if name else position].append(position)
    for positions in stems.values():
        own = [logs[position] for position in positions]
        began, ended = max(log.began for log in own), min(log.ended for log in own)
        clients = [client for log in own for client in log.clients]
        overlap = ended - began >= 0.5 * min(log.ended - log.began for log in own)
        if overlap and len(clients) == len(set(clients)):
            yield sorted(positions, key=lambda position: _thread(files[position][0]))
        else:
            yield from ([position] for position in positions)


def _thread(file: SourceFile) -> int:
    name = _NAME.fullmatch(file.name)
    return int(name["thread"] or 0) if name else 0


def _join(files: list[ReadFile], family: Sequence[int], logs: dict[int, Log]) -> None:
    """The logs' series into the report of their run, where both counted the same transactions; else as they are."""
    log = together([logs[position] for position in family])
    candidates = [
        (position, number)
        for position, (_, reports) in enumerate(files)
        for number, run in enumerate(reports)
        if position not in logs and _is_of(log, len(family), run)
    ]
    if len(candidates) != 1 or log.sampled:
        return
    ((position, number),) = candidates
    run_file, reports = files[position]
    run, of_log = reports[number], files[family[0]][1][0]
    # The last percentile of fewer is their greatest.
    ranks = (50, 95, 99) if log.latencies_us.total() >= 100 else ()
    latencies = latencies_of(log.latencies_us, ranks, per_ms=1000) if log.latencies_us else {}
    reports[number] = replace(
        run, series=run.series or of_log.series, started_at=run.started_at or of_log.started_at,
        latency_map=of_log.latency_map, histogram=encode(log.latencies_us.items()) if log.latencies_us else "",
        metrics=run.metrics + tuple(metric for metric in all_measured(latencies) if run.metric(metric.name) is None),
        warnings=(*run.warnings, *of_log.warnings, _OF_THE_LOGS if log.per_transaction else _OF_THE_INTERVALS),
    )  # fmt: skip
    for other in family:
        files[other][1][0] = as_part_of(files[other][1][0], run_file)


def _is_of(log: Log, threads: int, run: Report) -> bool:
    """Whether logs are of this run: those of transactions have as many, by as many clients.

    Aggregated ones are of each of its threads, as long, and all but the last interval of it, which pgbench does not
    write.
    """
    done, tps, failed = (run.metric(name) for name in ("transactions", "tps", "failed_transactions"))
    counts = [bucket.transactions for bucket in log.buckets.values()]
    if log.per_transaction:
        counted = (sum(counts), sum(bucket.failed for bucket in log.buckets.values()), len(log.clients))
        return (done, failed or 0, run.parameters.get("terminals")) == counted
    if not done or not tps or run.parameters.get("threads") != threads or log.cut:
        return False
    duration_s = run.parameters.get("duration_s")
    run_s = duration_s if isinstance(duration_s, int) else done / tps
    is_as_long = abs(log.ended - log.began - run_s) <= log.interval_s + 1
    return is_as_long and 0 <= done - sum(counts) <= 1.5 * max(counts)
