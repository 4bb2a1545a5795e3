"""pgbench as the other client: its built-in TPC-B script, and what its log of transactions says of a window."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.pairs import PERCENTILES, ClientFailed, Measurement, finished

PROCESSED = re.compile(r"transactions actually processed: (\d+)")
# A log that is written to the disk of the server would delay its commits.
MEMORY = Path("/dev/shm")


def run(command: Sequence[str], environment: Mapping[str, str], seconds: int, warm_up: int) -> Measurement:
    """`command` is pgbench with its connections. One second more, so that the last measured one is never cut off."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="benchsite-pgbench-", dir=folder) as logs:
        length = ["-T", str(warm_up + seconds + 1), "-l", f"--log-prefix={logs}/log"]
        text, cpu_s = finished([*command, *length], {**os.environ, **environment})
        processed = PROCESSED.search(text)
        if processed is None:
            raise ClientFailed(f"pgbench told no result: {text}")
        lines = (line for path in Path(logs).iterdir() for line in path.read_text().splitlines())
        latencies = sorted(in_window(lines, warm_up, seconds))
    p50, p95, p99 = (percentile(latencies, percent) / 1000 for percent in PERCENTILES)
    # What a transaction costs it hardly changes after the start: the whole run's stands for the window's.
    transactions = int(processed[1])
    return Measurement(len(latencies) / seconds, p50, p95, p99, cpu_s * 1e6 / transactions, transactions)


def in_window(lines: Iterable[str], warm_up: int, seconds: int) -> list[int]:
    """Latencies in µs of the transactions that ended in the window, which is counted from the first one's begin.

    A line: client, number, latency in µs, script, end as seconds and µs since 1970.
    """
    ended = []
    for line in lines:
        fields = line.split()
        ended.append((int(fields[4]) * 1_000_000 + int(fields[5]), int(fields[2])))
    begin = min(end - latency for end, latency in ended) + warm_up * 1_000_000
    return [latency for end, latency in ended if begin <= end < begin + seconds * 1_000_000]


def percentile(values: Sequence[int], percent: float) -> int:
    """Of sorted values: the smallest that so many percent do not exceed, as HdrHistogram defines it."""
    return values[max(0, math.ceil(percent / 100 * len(values)) - 1)]
