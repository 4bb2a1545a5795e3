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
from benchmarks.bench_truth.judge import ANSWERED, CONTRADICTION, COUNT, NUMBER, OMISSION, PLACE, POOLED, Mark
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

    def count(self, made: World, marks: Sequence[Kept]) -> None:
        for kind, what, right, words in marks:
            for tally, rows in (
                (self.by_question, [kind]),
                (self.by_world, [made.noise]),
                (self.by_feature, sorted(made.features) or ["nothing"]),
            ):
                for row in rows:
                    tally.add(row, Mark(what, kind, right, words))
        self.worlds += 1
        self.runs += len(made.by_run)


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
            begin, marks = time.monotonic(), [*judge(site, world(self.seed, number))]
            line = {"seed": self.seed, "world": number, "http": is_http, "marks": marks}
            with self.kept.open("ab", buffering=0) as file:
                file.write(f"{json.dumps(line)}\n".encode())
            print(f"world {number}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


def kept_worlds(file: Path, seed: int) -> Iterator[tuple[World, bool, list[Kept]]]:
    """Of the lines of a file each world of this seed, whether it was asked over HTTP, and its marks."""
    for line in file.read_text().splitlines() if file.exists() else ():
        row = json.loads(line)
        if row["seed"] == seed:
            yield world(seed, row["world"]), row["http"], row["marks"]


def tallies_of(file: Path, seed: int) -> Tallies:
    tallies = Tallies(Tally(), Tally(), Tally())
    for made, is_http, marks in kept_worlds(file, seed):
        tallies.count(made, marks)
        if is_http:
            tallies.worlds, tallies.runs = tallies.worlds - 1, tallies.runs - len(made.by_run)
    return tallies
