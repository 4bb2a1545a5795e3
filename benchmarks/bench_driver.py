"""`make bench-driver`: the load generator against pgbench, on the same tables of the same server.

    make bench-driver ARGS="--pairs 5 --seconds 10 --warm-up 10"

Both run the same TPC-B transaction, prepared, from 4 connections; pairs are interleaved and their order alternates,
with synchronous_commit off (the client's CPU decides) and on (the disk decides). What is compared is the time after
the warm-up. Needs a PostgreSQL installation with pgbench; the server is a private one that is gone afterwards.

The last line begins with the smaller of the two medians of the ratios, `ratio to pgbench: 0.93 (…)`.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.java import JavaToolchain

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # started as a file, it sees only its own folder

from benchmarks.clients import SCALE, Measurement, Server, loadgen, pgbench  # noqa: E402
from scripts.private_postgresql import PrivatePostgreSQL  # noqa: E402

COMMIT_MODES = ("off", "on")
CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or ROOT / "var" / "test-cache")
# Checkpoints and autovacuum would hit one client and spare the other: both are done before each measurement.
SETTINGS = {
    "fsync": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
}


Client = Callable[[], Measurement]


@dataclass(frozen=True)
class Pair:
    commit: str
    pgbench: Measurement
    ours: Measurement

    @property
    def ratio(self) -> float:
        return self.ours.tps / self.pgbench.tps


def measure(server: Server, clients: tuple[Client, Client], pairs: int) -> list[Pair]:
    """`clients` are pgbench and ours."""
    done = []
    for number in range(pairs):
        for commit in COMMIT_MODES:
            found: dict[int, Measurement] = {}
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                server.prepare(commit)
                found[which] = clients[which]()
            done.append(Pair(commit, found[0], found[1]))
            print_pair(number, done[-1])
    return done


def print_header(server: Server, options: argparse.Namespace) -> None:
    machine = f"scale {SCALE}, {os.cpu_count()} cores, {platform.machine()}"
    print(
        f"{server.version()}, {machine}; {options.warm_up} s warm-up, {options.seconds} s measured; CPU of the client"
    )
    print("\n                           TPS          CPU ms per 1000 transactions")
    print("pair  sync commit  pgbench    ours  ratio  pgbench     ours", flush=True)


def print_pair(number: int, pair: Pair) -> None:
    ours, theirs = pair.ours, pair.pgbench
    rates = f"{theirs.tps:>8.0f}  {ours.tps:>6.0f}  {pair.ratio:>5.2f}"
    cpu = f"{theirs.cpu_ms_per_1000:>7.1f}  {ours.cpu_ms_per_1000:>7.1f}"
    print(f"{number + 1:>4}  {pair.commit:<11} {rates}  {cpu}", flush=True)


def print_summary(pairs: Sequence[Pair], count: int) -> None:
    ratios, costs = {}, []
    print()
    for commit in COMMIT_MODES:
        chosen = [pair for pair in pairs if pair.commit == commit]
        ratios[commit] = statistics.median(pair.ratio for pair in chosen)
        theirs, ours = median([pair.pgbench for pair in chosen]), median([pair.ours for pair in chosen])
        low, high = min(pair.ratio for pair in chosen), max(pair.ratio for pair in chosen)
        rates = f"pgbench {theirs.tps:.0f} TPS, ours {ours.tps:.0f} TPS"
        print(f"median, sync {commit}: {rates}, ratio {ratios[commit]:.2f} ({low:.2f} to {high:.2f})")
        costs.append(f"sync {commit} {ours.cpu_ms_per_1000:.0f} ms, pgbench {theirs.cpu_ms_per_1000:.0f} ms")
    each = ", ".join(f"{commit} {ratio:.2f}" for commit, ratio in ratios.items())
    words = f"sync {each}; {count} pairs each; client CPU per 1000 tx: {', '.join(costs)}"
    print(f"ratio to pgbench: {min(ratios.values()):.2f} ({words})")


def median(runs: Sequence[Measurement]) -> Measurement:
    tps, cpu = ([getattr(run, name) for run in runs] for name in ("tps", "cpu_ms_per_1000"))
    return Measurement(statistics.median(tps), statistics.median(cpu))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5, help="interleaved pairs for each commit mode")
    parser.add_argument("--seconds", type=int, default=10, help="measured seconds of each run")
    parser.add_argument("--warm-up", type=int, default=10, help="seconds before them")
    options = parser.parse_args()
    toolchain = JavaToolchain(CACHE)
    toolchain.prepare([group for group in toolchain.engine_groups() if group.dbms == "postgresql"], print)
    with PrivatePostgreSQL(SETTINGS) as private, tempfile.TemporaryDirectory(prefix="benchsite-driver-") as scratch:
        server = Server(private)
        server.create_tables()
        clients = (
            lambda: pgbench(server, options.seconds, options.warm_up),
            lambda: loadgen(server, toolchain, options.seconds, options.warm_up, Path(scratch)),
        )
        print_header(server, options)
        pairs = measure(server, clients, options.pairs)
    print_summary(pairs, options.pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
