"""The load generator against sysbench on one MariaDB: point selects, and inserts of one row.

    .venv/bin/python benchmarks/bench_sysbench.py --pairs 3 --seconds 10 --warm-up 10

Ours is the load generator alone, without an agent around it: nobody samples, sends or asks beside the statements. What
that takes, bench_sampling.py tells. Both use sysbench's table over the same number of connections, each statement a
transaction of its own, the selects prepared on the server; sysbench's oltp_insert sends its values as text, the load
generator binds them. Pairs are interleaved and their order alternates. Commits wait for the disk. Percentiles of
sysbench come from its histogram, whose steps are about 2 %. MariaDB is the one of `benchagent engines install
mariadb-10.11`; the server is a private one that is gone afterwards. Needs the program sysbench.

CPU is that of the clients alone, per 1000 transactions: medians of the pairs with their ranges, before the ratios.

The last line begins with the smaller of the two medians of the ratios, `ratio to sysbench: 0.97 (…)`. A median below
the target is told in the line before, and ends nothing, for the same reason as in bench_driver.py.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent.dbms.backup import SqlCommands
from benchagent.dbms.base import Transaction
from benchagent.dbms.mysql import discovery
from benchagent.engines.catalogue import catalogue
from benchagent.engines.install import install
from benchagent.java import JavaToolchain

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # started as a file, it sees only its own folder

from tests.benchagent.dbms.trial import Trial  # noqa: E402

ROWS, CONNECTIONS = 100_000, 4
# The least that the median of the ratios of TPS is to be.
TARGET = 0.95
CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or ROOT / "var" / "test-cache")
SETTINGS = {"innodb_buffer_pool_size": "512M", "innodb_log_file_size": "512M"}
# Of this server only, which listens on loopback: sysbench takes a password on its command line only.
USER = "sysbench"
PREPARE = (
    f"CREATE USER '{USER}'@'127.0.0.1'",
    f"GRANT ALL PRIVILEGES ON bench.* TO '{USER}'@'127.0.0.1'",
)
# Nothing is sent: each statement is a transaction of its own.
AUTO_COMMIT = Transaction("", "", "")
BUCKET = re.compile(r"^\s*([\d.]+) \|[* ]*\s(\d+)$", re.MULTILINE)
TRANSACTIONS = re.compile(r"transactions:\s+(\d+)\s+\(([\d.]+) per sec")
SELECT = {
    "name": "point_select",
    "variables": [{"name": "id", "kind": "uniform", "min": 1, "max": ROWS}],
    "statements": [{"sql": "SELECT c FROM sbtest1 WHERE id = ?", "bind": ["id"], "fetch": True, "expect_rows": 1}],
}
DIGITS = "0123456789-"
INSERT = {
    "name": "insert",
    "variables": [
        {"name": "k", "kind": "uniform", "min": 1, "max": ROWS},
        {"name": "c", "kind": "text", "min_length": 119, "max_length": 119, "alphabet": DIGITS},
        {"name": "pad", "kind": "text", "min_length": 59, "max_length": 59, "alphabet": DIGITS},
    ],
    "statements": [
        {"sql": "INSERT INTO sbtest1 (id, k, c, pad) VALUES (0, ?, ?, ?)", "bind": ["k", "c", "pad"], "expect_rows": 1}
    ],
}
LOADS = {"oltp_point_select": SELECT, "oltp_insert": INSERT}
THEIRS, OURS = "sysbench", "loadgen"


@dataclass(frozen=True)
class Measurement:
    """Of the measured seconds; latencies in ms, `cpu_ms` of the client per 1000 transactions."""

    tps: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cpu_ms: float

    def words(self) -> str:
        latencies = f"p50/p95/p99 {self.p50_ms:.2f}/{self.p95_ms:.2f}/{self.p99_ms:.2f} ms"
        return f"{self.tps:8.0f} TPS  {latencies}  CPU {self.cpu_ms:.0f} ms per 1000"


def sysbench(trial: Trial, load: str, seconds: int, warm_up: int) -> Measurement:
    """It has no warm-up of its own, and no compiler that would need one: a run before it warms the server."""
    _run(trial, load, warm_up)
    text, cpu_s = _run(trial, load, seconds)
    found = TRANSACTIONS.search(text)
    if found is None:
        raise SystemExit(f"sysbench told no result: {text}")
    buckets = [(float(value), int(count)) for value, count in BUCKET.findall(text)]
    p50, p95, p99 = (_percentile(buckets, share) for share in (0.5, 0.95, 0.99))
    return Measurement(float(found[2]), p50, p95, p99, cpu_s * 1e6 / int(found[1]))


def _run(trial: Trial, load: str, seconds: int) -> tuple[str, float]:
    """What sysbench printed, and its CPU time."""
    command = [*_sysbench(trial, load), f"--time={seconds}", "--histogram=on", "run"]
    with tempfile.TemporaryFile("w+") as output:
        # In a session of its own, as the agent's children are: the kernel may share out CPU time by sessions.
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode:
        raise SystemExit(f"sysbench ended with {child.returncode}: {text}")
    return text, usage.ru_utime + usage.ru_stime


def _sysbench(trial: Trial, load: str) -> list[str]:
    port = trial.instance.connection.url.rpartition(":")[2].partition("/")[0]
    reached = ["--mysql-host=127.0.0.1", f"--mysql-port={port}", f"--mysql-user={USER}", "--mysql-db=bench"]
    shape = ["--tables=1", f"--table-size={ROWS}", f"--threads={CONNECTIONS}", "--rand-type=uniform"]
    return ["sysbench", load, *reached, *shape]


def _percentile(buckets: list[tuple[float, int]], share: float) -> float:
    wanted = share * sum(count for _, count in buckets)
    for value, count in buckets:
        wanted -= count
        if wanted <= 0:
            return value
    return buckets[-1][0]


def loadgen(trial: Trial, load: str, seconds: int, warm_up: int) -> Measurement:
    step: dict[str, Any] = {
        "op": "run",
        "phase": "run",
        "terminals": CONNECTIONS,
        "warm_up_s": warm_up,
        "duration_s": seconds,
        "seed": 42,
        "transactions": [{**LOADS[load], "weight": 1}],
    }
    session = trial.events([step])
    summary = session.summary
    if session.error or summary is None or summary["dead_terminals"]:
        raise SystemExit(f"the load generator failed: {session.error or summary}")
    p50, p95, p99 = (summary[f"p{percent}_us"] / 1000 for percent in (50, 95, 99))
    return Measurement(summary["tps"], p50, p95, p99, summary["cpu_s"] * 1e6 / summary["transactions"])


def prepared(folder: Path) -> Trial:
    engines = CACHE / "engines"
    engines.mkdir(parents=True, exist_ok=True)
    install(catalogue()["mariadb-10.11"], engines, print)
    version = next(iter(discovery.installations("mariadb", engines)))
    trial = Trial(folder / "trial", JavaToolchain(CACHE), "mariadb", version, SETTINGS, engines_dir=engines)
    trial.instance.transaction = AUTO_COMMIT
    trial.act([SqlCommands(PREPARE)])
    subprocess.run([*_sysbench(trial, "oltp_read_write"), "prepare"], check=True, capture_output=True)
    return trial


def measure(trial: Trial, load: str, asked: argparse.Namespace) -> list[dict[str, Measurement]]:
    """Pairs by client, printed as they come."""
    clients = {THEIRS: sysbench, OURS: loadgen}
    pairs = []
    for number in range(asked.pairs):
        found: dict[str, Measurement] = {}
        for name in sorted(clients, reverse=number % 2 == 0):
            # So that no client meets what the other has left: rows to be purged, pages to be written.
            trial.act([SqlCommands([f"DELETE FROM sbtest1 WHERE id > {ROWS}", *trial.instance.dialect.after_load])])
            found[name] = clients[name](trial, load, asked.seconds, asked.warm_up)
            print(f"{load} pair {number + 1} {name:9}{found[name].words()}", flush=True)
        pairs.append(found)
        print(f"{load} pair {number + 1} ratio {ratio(found):.3f}", flush=True)
    return pairs


def ratio(pair: dict[str, Measurement]) -> float:
    """Ours to sysbench's TPS."""
    return pair[OURS].tps / pair[THEIRS].tps


def cpu(pairs: list[dict[str, Measurement]], client: str) -> str:
    """In seconds per 1000 transactions."""
    found = [pair[client].cpu_ms / 1000 for pair in pairs]
    return f"{client} {statistics.median(found):.4f} s ({min(found):.4f} to {max(found):.4f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--warm-up", type=int, default=10)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-sysbench-") as folder:
        Path(folder).chmod(0o755)
        trial = prepared(Path(folder))
        try:
            measured = {load: measure(trial, load, asked) for load in LOADS}
        finally:
            trial.close()
    for load, pairs in measured.items():
        print(f"client CPU per 1000 transactions of {load}: {cpu(pairs, THEIRS)}, {cpu(pairs, OURS)}")
    medians = {load: statistics.median(map(ratio, pairs)) for load, pairs in measured.items()}
    for load, median in medians.items():
        if median < TARGET:
            print(f"below the target: TPS of {load}, which is to be {TARGET:.2f} or more")
    words = ", ".join(f"{load} {median:.2f}" for load, median in medians.items())
    print(f"ratio to sysbench: {min(medians.values()):.2f} (medians: {words})")


if __name__ == "__main__":
    main()
