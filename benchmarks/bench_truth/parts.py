"""Worlds that one process makes, sends to a site of its own and asks about; what it finds of each is kept at once."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_truth.asking import Site, ask, send
from benchmarks.bench_truth.judge import ANSWERED, CONTRADICTION, COUNT, NUMBER, OMISSION, PLACE, POOLED, Json, Mark
from benchmarks.bench_truth.sites import in_process, over_http
from benchmarks.bench_truth.table import Tally
from benchmarks.bench_truth.worlds import World, world
from scripts.private import set_up_here

NEVER_WRONG = (ANSWERED, CONTRADICTION, COUNT, NUMBER, OMISSION, PLACE, POOLED)
# A mark as it is kept: its kind, what was looked at, whether it is right, and of a wrong one its request and words.
Kept = tuple[str, str, bool, str]


@dataclass
class Tallies:
    """The same marks by question, by kind of world and noise, and by what went wrong in the world."""

    by_question: Tally
    by_world: Tally
    by_feature: Tally
    worlds: int = 0
    runs: int = 0

    def count(self, line: Json) -> None:
        """A world as it is kept."""
        for kind, what, right, words in line["marks"]:
            for tally, rows in (
                (self.by_question, [kind]),
                (self.by_world, [line["noise"]]),
                (self.by_feature, line["features"] or ["nothing"]),
            ):
                for row in rows:
                    tally.add(row, Mark(what, kind, right, words))
        if not line["http"]:
            self.worlds += 1
            self.runs += line["runs"]


def judge(site: Site, made: World) -> Iterator[Kept]:
    send(site, made)
    what = ", ".join([made.kind, made.noise, *sorted(made.features)])
    for address, mark in ask(site, made):
        request = "" if mark.right else f"world {made.number} ({what}) {address}: {mark.words}"
        if request and mark.what in NEVER_WRONG:
            print(f"{mark.what}: {request}", file=sys.stderr, flush=True)
        yield mark.kind, mark.what, mark.right, request


@dataclass(frozen=True)
class Part:
    """Worlds that one process makes and asks, then those that it asks over HTTP.

    `kept`: the file to which each world's marks are added as one line, when it was asked.
    """

    seed: int
    numbers: Sequence[int]
    over_http: Sequence[int]
    minutes: float
    kept: Path

    def ask(self) -> None:
        end = time.monotonic() + self.minutes * 60
        with (
            tempfile.TemporaryDirectory(prefix="benchsite-") as state,
            tempfile.TemporaryDirectory(prefix="benchsite-") as other,
        ):
            set_up_here(state)
            self._ask_all(in_process(), self.numbers, end)
            if self.over_http:
                with over_http(other) as site:
                    self._ask_all(site, self.over_http, end, is_http=True)

    def _ask_all(self, site: Site, numbers: Sequence[int], end: float, *, is_http: bool = False) -> None:
        for number in numbers:
            if time.monotonic() > end:
                break
            begin, made = time.monotonic(), world(self.seed, number)
            line = {
                "seed": self.seed, "world": number, "http": is_http, "noise": made.noise,
                "features": sorted(made.features), "runs": len(made.by_run), "marks": [*judge(site, made)],
            }  # fmt: skip
            with self.kept.open("ab", buffering=0) as file:
                file.write(f"{json.dumps(line)}\n".encode())
            print(f"world {number}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


def kept_worlds(file: Path, seed: int) -> list[Json]:
    """The lines of a file that are of this seed."""
    lines = file.read_text().splitlines() if file.exists() else ()
    return [row for row in map(json.loads, lines) if row["seed"] == seed]


def tallies_of(file: Path, seed: int) -> Tallies:
    tallies = Tallies(Tally(), Tally(), Tally())
    for line in kept_worlds(file, seed):
        tallies.count(line)
    return tallies
