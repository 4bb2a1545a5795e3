"""`make bench-truth`: every sentence about numbers against worlds whose truth is known.

Worlds of many kinds are written to an empty site as tools write them. Each question that fits one is asked by API, on
the page and as CSV, and every claim is judged (benchmarks/bench_truth/judge.py). `--only N` asks one world again and
prints what is wrong with it; `--write` puts the table into docs/method/truth.md. A small part goes over HTTP.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_truth.asking import Site, ask, send
from benchmarks.bench_truth.judge import UNJUDGED
from benchmarks.bench_truth.sites import in_process, over_http
from benchmarks.bench_truth.table import Tally, markdown
from benchmarks.bench_truth.worlds import KINDS, World, world
from scripts.private import set_up_here

DOC = Path(__file__).resolve().parents[2] / "docs" / "method" / "truth.md"
BEGIN, END = "<!-- begin: make bench-truth -->", "<!-- end: make bench-truth -->"
EXAMPLES = 3


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
            self.by_question.add(mark.kind, mark, request)
            self.by_world.add(made.noise, mark, request)
            for name in made.features or {"nothing"}:
                self.by_feature.add(name, mark, request)


def report(tallies: Tallies, heading: str) -> Iterator[str]:
    yield heading
    yield ""
    yield from markdown(tallies.by_question, "question")
    yield ""
    yield from markdown(tallies.by_world, "noise of one repeat")
    yield ""
    yield from markdown(tallies.by_feature, "what went wrong in the world")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="N", help="this world, and all that is wrong with it")
    parser.add_argument("--kind", choices=list(KINDS), help="worlds of this kind only")
    parser.add_argument("--http", type=int, default=6, metavar="N", help="the first N worlds over HTTP as well")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N", help="no further world after these")
    parser.add_argument("--write", action="store_true", help="the table into docs/method/truth.md")
    options = parser.parse_args()
    numbers = range(options.worlds) if options.only is None else [options.only]
    worlds = [made for number in numbers for made in [world(options.seed, number)] if options.kind in (None, made.kind)]
    tallies, begin = Tallies(Tally(), Tally(), Tally()), time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="benchsite-") as state,
        tempfile.TemporaryDirectory(prefix="benchsite-") as other,
    ):
        set_up_here(state)
        site = in_process()
        for at, made in enumerate(worlds, 1):
            if time.monotonic() - begin > options.minutes * 60:
                del worlds[at - 1 :]
                break
            tallies.judge(site, made)
            print(
                f"\r{at} of {len(worlds)} worlds, {time.monotonic() - begin:.0f} s", end="", file=sys.stderr, flush=True
            )
        print(file=sys.stderr)
        if options.http and options.only is None:
            with over_http(other) as http:
                for made in worlds[: options.http]:
                    tallies.judge(http, made)
    runs = sum(len(made.by_run) for made in worlds)
    claims = sum(tallies.by_question.every.values())
    lines = list(report(tallies, f"{len(worlds)} worlds of seed {options.seed}, {runs:,} runs, {claims:,} marks."))
    print("\n".join(lines))
    _print_wrong(tallies.by_question, all_of_them=options.only is not None)
    if options.write:
        write(lines)
    sys.exit(1 if list(tallies.by_question.misses()) else 0)


def _print_wrong(tally: Tally, *, all_of_them: bool) -> None:
    for (row, what), examples in sorted(tally.wrong.items(), key=lambda entry: (entry[0][1], entry[0][0])):
        if what == UNJUDGED:
            continue
        print(f"\n{what}, {row}: {len(examples)} of {tally.every[row, what]:,}")
        for words in examples if all_of_them else examples[:EXAMPLES]:
            print(f"  {words}")
    print()
    for words in tally.misses():
        print(f"missed: {words}")


def write(lines: list[str]) -> None:
    """Between the two marks of the document."""
    text = DOC.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOC.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]))


if __name__ == "__main__":
    main()
