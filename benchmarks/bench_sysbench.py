"""The load generator against sysbench on one MariaDB: point selects, and inserts of one row.

    make bench-sysbench ARGS="--pairs 3 --seconds 10 --warm-up 10"

Ours is the load generator alone, without an agent around it: nobody samples, sends or asks beside the statements. What
that takes, bench_sampling.py tells. Both use sysbench's table over the same number of connections, each statement a
transaction of its own, the selects prepared on the server; sysbench's oltp_insert sends its values as text, the load
generator binds them. Pairs are interleaved and their order alternates. Commits wait for the disk. Percentiles of
sysbench come from its histogram, whose steps are about 2 %. MariaDB is the one of `benchagent engines install
mariadb-10.11`; the server is a private one that is gone afterwards. Needs the program sysbench.

CPU is that of the clients alone. What is told of the pairs: see pairs.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchagent.dbms.backup import SqlCommands
from benchagent.dbms.base import Transaction
from benchagent.dbms.mysql import discovery
from benchagent.engines import catalogue
from benchagent.engines.install import install
from benchagent.java import JavaToolchain

from benchmarks.pairs import (
    CACHE,
    PERCENTILES,
    ClientFailed,
    Measurement,
    finished,
    measured,
    of_summary,
    options,
    report,
)
from tests.benchagent.dbms.trial import Trial

ROWS, CONNECTIONS = 100_000, 4
# The least that the median of the ratios of TPS is to be.
TARGET = 0.95
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


def sysbench(trial: Trial, load: str, seconds: int, warm_up: int) -> Measurement:
    """It has no warm-up of its own, and no compiler that would need one: a run before it warms the server."""
    clean(trial)
    command = [*_sysbench(trial, load), "--histogram=on"]
    finished([*command, f"--time={warm_up}", "run"])
    text, cpu_s = finished([*command, f"--time={seconds}", "run"])
    told = TRANSACTIONS.search(text)
    if told is None:
        raise ClientFailed(f"sysbench told no result: {text}")
    buckets = [(float(value), int(count)) for value, count in BUCKET.findall(text)]
    p50, p95, p99 = (_percentile(buckets, percent / 100) for percent in PERCENTILES)
    transactions = int(told[1])
    return Measurement(float(told[2]), p50, p95, p99, cpu_s * 1e6 / transactions, transactions)


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
    clean(trial)
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
    if session.error:
        raise ClientFailed(f"the load generator failed: {session.error}")
    return of_summary(session.summary)


def clean(trial: Trial) -> None:
    """So that no client meets what the other has left: rows to be purged, pages to be written."""
    trial.act([SqlCommands([f"DELETE FROM sbtest1 WHERE id > {ROWS}", *trial.instance.dialect.after_load])])


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


def main() -> int:
    asked = options(__doc__, rounds="pairs").parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-sysbench-") as folder:
        Path(folder).chmod(0o755)
        trial = prepared(Path(folder))
        try:
            window = (asked.seconds, asked.warm_up)
            clients = {
                load: (partial(sysbench, trial, load, *window), partial(loadgen, trial, load, *window))
                for load in LOADS
            }
            pairs = measured(clients, asked.pairs)
        finally:
            trial.close()
    return report("sysbench", pairs, dict.fromkeys(LOADS, TARGET))


if __name__ == "__main__":
    sys.exit(main())
