"""Worlds that one process makes, sends to a site of its own and asks about, and the marks of all its answers."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.bench_truth.asking import Site, ask, send
from benchmarks.bench_truth.judge import ANSWERED, CONTRADICTION, COUNT, NUMBER, OMISSION, PLACE
from benchmarks.bench_truth.sites import in_process, over_http
from benchmarks.bench_truth.table import Tally
from benchmarks.bench_truth.worlds import World, world
from scripts.private import set_up_here


@dataclass
class Tallies:
    """The same marks by question, by kind of world and noise, and by what went wrong in the world."""

    by_question: Tally
    by_world: Tally
    by_feature: Tally

    def judge(self, site: Site, made: World) -> None:
        send(site, made)
        for address, mark in ask(site, made):
            what = ", ".join([made.kind, made.noise, *sorted(made.features)])
            request = f"world {made.number} ({what}) {address}"
            if not mark.right and mark.what in (ANSWERED, CONTRADICTION, COUNT, NUMBER, OMISSION, PLACE):
                print(f"{mark.what}: {request}: {mark.words}", file=sys.stderr, flush=True)
            self.by_question.add(mark.kind, mark, request)
            self.by_world.add(made.noise, mark, request)
            for name in made.features or {"nothing"}:
                self.by_feature.add(name, mark, request)

    def take(self, other: Tallies) -> None:
        self.by_question.take(other.by_question)
        self.by_world.take(other.by_world)
        self.by_feature.take(other.by_feature)


@dataclass(frozen=True)
class Part:
    """Worlds that one process makes and asks, the first `over_http` of them once more over HTTP."""

    seed: int
    numbers: Sequence[int]
    kind: str | None
    over_http: int
    minutes: float

    def asked(self) -> tuple[Tallies, int, int]:
        """With how many worlds and runs there were."""
        tallies, begin = Tallies(Tally(), Tally(), Tally()), time.monotonic()
        asked: list[World] = []
        with (
            tempfile.TemporaryDirectory(prefix="benchsite-") as state,
            tempfile.TemporaryDirectory(prefix="benchsite-") as other,
        ):
            set_up_here(state)
            site = in_process()
            every = (world(self.seed, number) for number in self.numbers)
            for made in [made for made in every if self.kind in (None, made.kind)]:
                if time.monotonic() - begin > self.minutes * 60:
                    break
                tallies.judge(site, made)
                asked.append(made)
                print(f"world {made.number}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
            if self.over_http:
                with over_http(other) as http:
                    for made in asked[: self.over_http]:
                        tallies.judge(http, made)
        return tallies, len(asked), sum(len(made.by_run) for made in asked)
