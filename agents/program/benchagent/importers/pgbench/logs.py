"""pgbench's own log files: a line per transaction (`-l`) or per interval (`--aggregate-interval`), a file per thread.

Per transaction: client, number, latency in µs (or skipped, failed, serialization, deadlock), script, seconds, µs,
then the schedule lag with -R and the retries with --max-tries. Per interval: start, transactions, sum, sum of squares,
least and greatest latency; with -R four figures of the lag, with -L too the skipped; from 15 always all 15 columns.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood, SourceFile, whole

# 2001 to 2036: what can be a clock reading, and no count.
_SECOND = r"(?:1[0-9]{9}|20[0-9]{8})"
TRANSACTION = re.compile(
    rf"(\d{{1,6}}) (\d{{1,15}}) (\d{{1,15}}|skipped|failed|serialization|deadlock) (\d{{1,3}}) ({_SECOND}) (\d{{1,6}})"
    r"((?: \d+){0,2})"
)
INTERVAL = re.compile(rf"({_SECOND}) (\d+) (\d+) (\d+) (\d+) (\d+)((?: \d+){{0,9}})")
INTERVAL_COLUMNS = {6, 10, 11, 15}
# Fewer gaps in the numbers of the clients' transactions are lines that got lost, more are --sampling-rate.
SAMPLED_GAPS = 0.02


@dataclass
class Bucket:
    """What ended in one interval; latencies in µs."""

    transactions: int = 0
    latency_sum: int = 0
    latency_min: int | None = None
    latency_max: int = 0
    square_sum: float = 0.0
    skipped: int = 0
    failed: int = 0

    def add(self, other: Bucket) -> None:
        self.transactions += other.transactions
        self.latency_sum += other.latency_sum
        self.square_sum += other.square_sum
        self.skipped += other.skipped
        self.failed += other.failed
        self.latency_max = max(self.latency_max, other.latency_max)
        if other.latency_min is not None:
            self.latency_min = min(other.latency_min, self.latency_min or other.latency_min)


@dataclass
class Log:
    """One thread's log. `latencies_us` only for a log per transaction, `clients` likewise."""

    per_transaction: bool
    interval_s: int
    columns: int
    buckets: dict[int, Bucket] = field(default_factory=dict)
    latencies_us: list[int] = field(default_factory=list)
    clients: set[int] = field(default_factory=set)
    sampled: bool = False
    began: float = 0.0
    ended: float = 0.0
    cut: bool = False

    @property
    def transactions(self) -> int:
        return sum(bucket.transactions for bucket in self.buckets.values())


def is_log(file: SourceFile) -> bool:
    first = [line.strip() for line in file.lines[:20] if line.strip()]
    if len(file.lines) <= 20 and not file.last_line_is_whole:
        first = first[:-1]
    if not first or not all(line[0].isdigit() for line in first):
        return False
    return all(TRANSACTION.fullmatch(line) for line in first) or all(
        (match := INTERVAL.fullmatch(line)) and 6 + match[7].count(" ") in INTERVAL_COLUMNS for line in first
    )


def parse(file: SourceFile) -> Log:
    """Raises NotUnderstood for any line that is none of the log's, lost, doubled or out of order."""
    lines = [(number, line.strip()) for number, line in enumerate(file.lines, start=1) if line.strip()]
    cut = not file.last_line_is_whole
    if cut:
        lines.pop()
    if not lines:
        raise NotUnderstood("no whole line in the log")
    log = _transactions(lines) if TRANSACTION.fullmatch(lines[0][1]) else _intervals(lines)
    log.cut = cut
    return log


def _transactions(lines: list[tuple[int, str]]) -> Log:
    log = Log(per_transaction=True, interval_s=1, columns=0)
    last: dict[int, int] = {}
    gaps: list[int] = []
    before = 0.0
    for number, text in lines:
        match = TRANSACTION.fullmatch(text)
        if match is None:
            raise NotUnderstood(f"line {number}: no line of a transaction log: {text[:80]!r}")
        columns = 6 + match[7].count(" ")
        if log.columns not in (0, columns):
            raise NotUnderstood(f"line {number}: {columns} columns, before {log.columns}")
        log.columns = columns
        client, place, at = int(match[1]), int(match[2]), int(match[5]) + int(match[6]) / 1e6
        if at < before - 0.001:
            raise NotUnderstood(f"line {number}: the time goes back: lines are out of order")
        if place <= last.get(client, -1):
            raise NotUnderstood(f"line {number}: transaction {place} of client {client} comes twice or too late")
        if place > last.get(client, 0) + 1:
            gaps.append(number)
        before, last[client] = max(at, before), place
        _count(log, match[3], int(match[5]))
        log.began = log.began or at
    log.ended, log.clients = before, set(last)
    log.sampled = len(gaps) > max(SAMPLED_GAPS * len(lines), 2 + len(last))
    if gaps and not log.sampled:
        raise NotUnderstood(f"line {gaps[0]}: transactions before it are missing")
    return log


def _count(log: Log, latency: str, second: int) -> None:
    bucket = log.buckets.setdefault(second, Bucket())
    if latency == "skipped":
        bucket.skipped += 1
    elif not latency.isdigit():
        bucket.failed += 1
    else:
        value = int(latency)
        log.latencies_us.append(value)
        bucket.transactions += 1
        bucket.latency_sum += value
        bucket.latency_min = value if bucket.latency_min is None else min(value, bucket.latency_min)
        bucket.latency_max = max(value, bucket.latency_max)


def _intervals(lines: list[tuple[int, str]]) -> Log:
    log = Log(per_transaction=False, interval_s=0, columns=0)
    starts: list[int] = []
    for number, text in lines:
        match = INTERVAL.fullmatch(text)
        columns = 6 + match[7].count(" ") if match else 0
        if match is None or columns not in INTERVAL_COLUMNS:
            raise NotUnderstood(f"line {number}: no line of an aggregated log: {text[:80]!r}")
        if log.columns not in (0, columns):
            raise NotUnderstood(f"line {number}: {columns} columns, before {log.columns}")
        log.columns = columns
        start = int(match[1])
        if starts and start <= starts[-1]:
            raise NotUnderstood(f"line {number}: the time does not rise: lines are doubled or out of order")
        starts.append(start)
        log.buckets[start] = _interval(number, [whole(text) for text in match.group(0).split()[1:]], columns)
    log.interval_s = _interval_length(starts)
    log.began, log.ended = starts[0], starts[-1] + log.interval_s
    return log


def _interval(number: int, figures: list[int], columns: int) -> Bucket:
    count, total, squares, least, greatest = figures[:5]
    # Before 15 the count holds the skipped transactions, which have no latency.
    skipped = figures[9] if columns >= 11 else 0
    count -= skipped if columns == 11 else 0
    if count < 0 or not count * least <= total + count + 1 or not total <= count * greatest + count + 1:
        raise NotUnderstood(f"line {number}: the latencies do not fit {count} transactions")
    if count and not 0.98 * (total / count) * total <= squares + 1 <= 1.02 * greatest * total + 3:
        raise NotUnderstood(f"line {number}: the squares of the latencies do not fit their sum")
    failed = sum(figures[12:14]) if columns == 15 else 0
    return Bucket(count, total, least if count else None, greatest, float(squares), skipped, failed)


def _interval_length(starts: list[int]) -> int:
    if len(starts) < 3:
        raise NotUnderstood("fewer than three intervals: how long they are, the log does not show")
    steps = Counter(later - earlier for earlier, later in itertools.pairwise(starts))
    length = min(steps)
    if any(step % length for step in steps) or steps[length] * 2 < len(starts) - 1:
        raise NotUnderstood("the intervals are not evenly spaced")
    return length


def together(logs: list[Log]) -> tuple[Log, set[int]]:
    """The threads' logs as one, with the starts of the intervals in which every thread has its line."""
    first = logs[0]
    whole_log = Log(first.per_transaction, first.interval_s, first.columns)
    buckets: dict[int, Bucket] = defaultdict(Bucket)
    for log in logs:
        for start, bucket in log.buckets.items():
            buckets[start].add(bucket)
        whole_log.latencies_us += log.latencies_us
        whole_log.clients |= log.clients
    whole_log.buckets = dict(sorted(buckets.items()))
    whole_log.sampled = any(log.sampled for log in logs)
    whole_log.cut = any(log.cut for log in logs)
    whole_log.began, whole_log.ended = min(log.began for log in logs), max(log.ended for log in logs)
    if first.per_transaction:
        return whole_log, set(range(int(whole_log.began), int(whole_log.ended) + 1))
    return whole_log, {start for start in buckets if all(start in log.buckets for log in logs)}
