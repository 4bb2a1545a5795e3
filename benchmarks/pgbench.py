"""pgbench as the other client: its built-in TPC-B script, and what its log of transactions says of a window."""

from __future__ import annotations

import math
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PROCESSED = re.compile(r"transactions actually processed: (\d+)")
# A log that is written to the disk of the server would delay its commits.
MEMORY = Path("/dev/shm")
PERCENTILES = (50, 95, 99)


class ClientFailed(Exception):
    """A client gave no result; its own words."""


@dataclass(frozen=True)
class Measurement:
    """Of the measured window; `cpu_ms` is the client's CPU time in ms for 1000 transactions.

    `transactions`: all that the client was told is committed, before and after the window too.
    """

    tps: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cpu_ms: float
    transactions: int

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in asdict(self).items()}


def run(command: Sequence[str], environment: Mapping[str, str], seconds: int, warm_up: int) -> Measurement:
    """`command` is pgbench with its connections. One second more, so that the last measured one is never cut off."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="benchsite-pgbench-", dir=folder) as logs:
        length = ["-T", str(warm_up + seconds + 1), "-l", f"--log-prefix={logs}/log"]
        text, cpu_s = _finished([*command, *length], {**os.environ, **environment})
        processed = PROCESSED.search(text)
        if processed is None:
            raise ClientFailed(f"pgbench told no result: {text}")
        lines = (line for path in Path(logs).iterdir() for line in path.read_text().splitlines())
        latencies = sorted(in_window(lines, warm_up, seconds))
    p50, p95, p99 = (percentile(latencies, percent) / 1000 for percent in PERCENTILES)
    # What a transaction costs it hardly changes after the start: the whole run's stands for the window's.
    transactions = int(processed[1])
    return Measurement(len(latencies) / seconds, p50, p95, p99, cpu_s * 1e6 / transactions, transactions)


def _finished(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, float]:
    """What it printed, and its CPU time in seconds."""
    with tempfile.TemporaryFile("w+") as output:
        # In a session of its own, as the agent's children are: the kernel may share out CPU time by sessions.
        child = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode:
        raise ClientFailed(f"pgbench ended with {child.returncode}: {text}")
    return text, usage.ru_utime + usage.ru_stime


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
