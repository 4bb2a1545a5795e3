"""`make bench-driver`: the load generator against pgbench, on the same tables of the same server.

    make bench-driver ARGS="--pairs 5 --seconds 10 --warm-up 10 --json driver.json"

Ours is the session of an agent's job, with its samples and its own queries each second, its heartbeats and what it
sends; pgbench runs its built-in TPC-B script with -M prepared and logs each transaction, into memory. Both use 4
connections to one private PostgreSQL on the same tables. Pairs are interleaved and their order alternates, with
synchronous_commit off (the client's CPU decides) and on (the disk decides). What is compared is the time after the
warm-up. CPU is that of the clients alone: of pgbench over its whole run, of the load generator in the window.

The last line begins with the smaller of the two medians of the ratios, `ratio to pgbench: 0.93 (…)`. A median below
its target is told in the line before, and ends nothing: pairs differ from each other by more than a median does from
its target, so that a failure would tell of the machine as often as of the load generator.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent.java import JavaToolchain

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # started as a file, it sees only its own folder

from benchmarks.clients import Server, postgresql  # noqa: E402
from benchmarks.pgbench import Measurement  # noqa: E402

# By value of synchronous_commit: the least that the median of the ratios of TPS is to be.
TARGETS = {"off": 0.90, "on": 0.95}
CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or ROOT / "var" / "test-cache")
LATENCIES = ("p50_ms", "p95_ms", "p99_ms")
FIGURES = ("tps", *LATENCIES, "cpu_ms")
HEAD = (
    "                       TPS               p50 ms          p95 ms          p99 ms      CPU ms / 1000\n"
    "pair  commit   pgbench  ours   ratio  pgbench ours    pgbench ours    pgbench ours   pgbench ours"
)


@dataclass(frozen=True)
class Pair:
    commit: str
    pgbench: Measurement
    ours: Measurement

    def ratio(self, figure: str) -> float:
        """Ours by pgbench's."""
        return float(getattr(self.ours, figure) / getattr(self.pgbench, figure))

    def as_json(self) -> dict[str, Any]:
        return {"synchronous_commit": self.commit, "pgbench": self.pgbench.as_json(), "ours": self.ours.as_json()}


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def seconds(self) -> str:
        """Milliseconds as seconds."""
        return f"{self.median / 1000:.3f} s ({self.low / 1000:.3f} to {self.high / 1000:.3f})"

    def percent(self) -> str:
        """A ratio as its difference from 1."""
        return f"{100 * (self.median - 1):+.0f} % ({100 * (self.low - 1):+.0f} to {100 * (self.high - 1):+.0f})"

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def measure(server: Server, seconds: int, warm_up: int, pairs: int) -> list[Pair]:
    clients: dict[str, Callable[[int, int], Measurement]] = {"pgbench": server.pgbench, "ours": server.agent}
    done = []
    for number in range(pairs):
        for commit in TARGETS:
            found: dict[str, Measurement] = {}
            for which in sorted(clients, reverse=number % 2 == 0):
                server.prepare(commit)
                found[which] = clients[which](seconds, warm_up)
            done.append(Pair(commit, found["pgbench"], found["ours"]))
            print(row(number, done[-1]), flush=True)
    return done


def row(number: int, pair: Pair) -> str:
    theirs, ours = pair.pgbench, pair.ours
    cells = [f"{number + 1:>4}  {pair.commit:<6}  {theirs.tps:>8.0f}  {ours.tps:>6.0f}  {pair.ratio('tps'):>5.2f}  "]
    cells += [f"{getattr(theirs, name):>6.2f} {getattr(ours, name):>6.2f}  " for name in LATENCIES]
    cells.append(f"{theirs.cpu_ms:>6.0f} {ours.cpu_ms:>6.0f}")
    return " ".join(cells)


def summary(pairs: Sequence[Pair]) -> dict[str, dict[str, Spread]]:
    """By commit mode and figure: ours by pgbench's, the median of the pairs with its range."""
    chosen = {commit: [pair for pair in pairs if pair.commit == commit] for commit in TARGETS}
    return {
        commit: {name: Spread.of([pair.ratio(name) for pair in found]) for name in FIGURES}
        for commit, found in chosen.items()
    }


def print_cpu(pairs: Sequence[Pair]) -> None:
    """Of both clients, which the ratio alone would not tell."""
    print("\nclient CPU per 1000 transactions, medians of the pairs (range):")
    for commit in TARGETS:
        found = [pair for pair in pairs if pair.commit == commit]
        theirs = Spread.of([pair.pgbench.cpu_ms for pair in found])
        ours = Spread.of([pair.ours.cpu_ms for pair in found])
        print(f"synchronous_commit {commit:<3}: pgbench {theirs.seconds()}, ours {ours.seconds()}")


def print_summary(found: dict[str, dict[str, Spread]]) -> None:
    print("\nours by pgbench's, medians of the pairs (range):")
    for commit, ratios in found.items():
        latencies = ", ".join(f"{name.removesuffix('_ms')} {ratios[name].percent()}" for name in LATENCIES)
        print(f"synchronous_commit {commit:<3}: TPS {ratios['tps']}; {latencies}; client CPU {ratios['cpu_ms']}")
    for commit, ratios in found.items():
        if ratios["tps"].median < TARGETS[commit]:
            print(
                f"below the target: TPS with synchronous_commit {commit}, which is to be {TARGETS[commit]:.2f} or more"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5, help="interleaved pairs for each commit mode")
    parser.add_argument("--seconds", type=int, default=10, help="measured seconds of each run")
    parser.add_argument("--warm-up", type=int, default=10, help="seconds before them")
    parser.add_argument("--scale", type=int, default=10, help="branches, of 100,000 accounts each")
    parser.add_argument("--json", type=Path, help="write every pair to this file")
    asked = parser.parse_args()
    toolchain = JavaToolchain(CACHE)
    toolchain.prepare([group for group in toolchain.engine_groups() if group.dbms == "postgresql"], print)
    with (
        tempfile.TemporaryDirectory(prefix="bench-driver-") as folder,
        postgresql(Path(folder), toolchain, asked.scale) as server,
    ):
        machine = f"scale {asked.scale}, {os.cpu_count()} cores, {platform.machine()}"
        about = f"PostgreSQL {server.version}, {machine}; {asked.warm_up} s warm-up, {asked.seconds} s measured"
        print(f"{about}\n\n{HEAD}", flush=True)
        pairs = measure(server, asked.seconds, asked.warm_up, asked.pairs)
    print_cpu(pairs)
    found = summary(pairs)
    print_summary(found)
    if asked.json:
        asked.json.write_text(json.dumps({"about": about, "pairs": [pair.as_json() for pair in pairs]}, indent=1))
    words = ", ".join(f"synchronous_commit {commit} {ratios['tps']}" for commit, ratios in found.items())
    print(f"ratio to pgbench: {min(ratios['tps'].median for ratios in found.values()):.2f} ({words})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
