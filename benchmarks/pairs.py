"""The load generator beside another client: interleaved pairs whose order alternates, and what is told of them.

What is compared is the ratio within each pair; the median of the pairs is told with its range. The last line begins
with the smallest of the medians of TPS, `ratio to pgbench: 0.93 (…)`. A median below its target is told in the line
before, and ends nothing: pairs differ from each other by more than a median does from its target, so that a failure
would tell of the machine as often as of the load generator.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or Path(__file__).resolve().parent.parent / "var" / "test-cache")
PERCENTILES = (50, 95, 99)
LATENCIES = tuple(f"p{percent}_ms" for percent in PERCENTILES)


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


Client = Callable[[], Measurement]


def of_summary(summary: Mapping[str, Any] | None) -> Measurement:
    """Of the load generator. CPU is that of the window."""
    if summary is None or summary["dead_terminals"] or summary["errors"]:
        raise ClientFailed(f"the load generator failed: {summary and summary['dead_terminals']}")
    p50, p95, p99 = (summary[f"p{percent}_us"] / 1000 for percent in PERCENTILES)
    cpu_ms = summary["cpu_s"] * 1e6 / summary["transactions"]
    return Measurement(summary["tps"], p50, p95, p99, cpu_ms, summary["committed"])


def finished(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[str, float]:
    """What another client printed, and its CPU time in seconds."""
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
        raise ClientFailed(f"{Path(command[0]).name} ended with {child.returncode}: {text}")
    return text, usage.ru_utime + usage.ru_stime


@dataclass(frozen=True)
class Pair:
    """`load`: what both did."""

    load: str
    theirs: Measurement
    ours: Measurement

    def ratio(self, figure: str) -> float:
        """Ours by theirs."""
        return float(getattr(self.ours, figure) / getattr(self.theirs, figure))

    def row(self, number: int) -> str:
        theirs, ours = self.theirs, self.ours
        cells = [f"{number:>4}  {self.load:<24}{theirs.tps:>9.0f} {ours.tps:>8.0f} {self.ratio('tps'):>7.2f}"]
        cells += [f"{getattr(theirs, name):>6.2f} {getattr(ours, name):>6.2f}" for name in LATENCIES]
        cells.append(f"{theirs.cpu_ms:>6.0f} {ours.cpu_ms:>6.0f}")
        return "  ".join(cells)


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
        return f"{self.median / 1000:.4f} s ({self.low / 1000:.4f} to {self.high / 1000:.4f})"

    def percent(self) -> str:
        """A ratio as its difference from 1."""
        return f"{100 * (self.median - 1):+.0f} % ({100 * (self.low - 1):+.0f} to {100 * (self.high - 1):+.0f})"

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def options(description: str | None, *, rounds: str, default: int = 5) -> argparse.ArgumentParser:
    """What each of these benchmarks can be asked. `rounds`: what it calls them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(f"--{rounds}", type=int, default=default)
    parser.add_argument("--seconds", type=int, default=10, help="measured seconds of each run")
    parser.add_argument("--warm-up", type=int, default=10, help="seconds before them")
    return parser


def measured(clients: Mapping[str, tuple[Client, Client]], pairs: int) -> list[Pair]:
    """So many pairs for each load, printed as they come. `clients` by load: the other one, then ours."""
    figures = ("p50 ms", "p95 ms", "p99 ms", "CPU ms / 1000")
    print(f"{'TPS':>39}{'':17}" + "".join(f"  {figure:<13}" for figure in figures))
    print(f"pair  {'load':<24}{'theirs':>9} {'ours':>8} {'ratio':>7}" + f"  {'theirs':>6} {'ours':>6}" * len(figures))
    done: list[Pair] = []
    for number in range(pairs):
        for load, (other, own) in clients.items():
            if number % 2 == 0:
                theirs, ours = other(), own()
            else:
                ours, theirs = own(), other()
            done.append(Pair(load, theirs, ours))
            print(done[-1].row(number + 1), flush=True)
    return done


def report(other: str, pairs: Sequence[Pair], targets: Mapping[str, float]) -> int:
    """The exit status: 1 where a median is below its target. `targets` by load: the least that the median of the ratios
    of TPS is to be."""
    by_load = {load: [pair for pair in pairs if pair.load == load] for load in targets}
    print("\nclient CPU per 1000 transactions, medians of the pairs (range):")
    for load, own in by_load.items():
        theirs, ours = (Spread.of([getattr(pair, side).cpu_ms for pair in own]) for side in ("theirs", "ours"))
        print(f"{load}: {other} {theirs.seconds()}, ours {ours.seconds()}")
    ratios = {
        load: {name: Spread.of([pair.ratio(name) for pair in own]) for name in ("tps", *LATENCIES, "cpu_ms")}
        for load, own in by_load.items()
    }
    print(f"\nours by {other}'s, medians of the pairs (range):")
    for load, figures in ratios.items():
        latencies = ", ".join(f"{name.removesuffix('_ms')} {figures[name].percent()}" for name in LATENCIES)
        print(f"{load}: TPS {figures['tps']}; {latencies}; client CPU {figures['cpu_ms']}")
    below = [load for load, target in targets.items() if ratios[load]["tps"].median < target]
    for load in below:
        print(f"below the target: TPS of {load}, which is to be {targets[load]:.2f} or more")
    words = ", ".join(f"{load} {figures['tps']}" for load, figures in ratios.items())
    print(f"ratio to {other}: {min(figures['tps'].median for figures in ratios.values()):.2f} ({words})")
    return 1 if below else 0
