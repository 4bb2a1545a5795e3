"""`make bench-truth`: every sentence about numbers against worlds whose truth is known.

Worlds of many kinds are written to an empty site as tools write them. Each question that fits one is asked by API, on
the page and as CSV, and every claim is judged (benchmarks/bench_truth/judge.py). `--only N` asks one world again and
prints what is wrong with it; `--write` puts the table into docs/method/truth.md. A small part goes over HTTP.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.bench_truth.judge import UNJUDGED
from benchmarks.bench_truth.parts import Part, Tallies
from benchmarks.bench_truth.table import Tally, markdown
from benchmarks.bench_truth.worlds import KINDS

DOC = Path(__file__).resolve().parents[2] / "docs" / "method" / "truth.md"
BEGIN, END = "<!-- begin: make bench-truth -->", "<!-- end: make bench-truth -->"
EXAMPLES = 3


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
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many processes, each with its own site")
    parser.add_argument("--write", action="store_true", help="the table into docs/method/truth.md")
    options = parser.parse_args()
    numbers = range(options.worlds) if options.only is None else [options.only]
    http = options.http if options.only is None else 0
    parts = [
        Part(options.seed, numbers[at :: options.jobs], options.kind, 0 if at else http, options.minutes)
        for at in range(options.jobs)
    ]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        done = [*pool.map(Part.asked, parts)]
    tallies, worlds, runs = Tallies(Tally(), Tally(), Tally()), 0, 0
    for part, its_worlds, its_runs in done:
        tallies.take(part)
        worlds, runs = worlds + its_worlds, runs + its_runs
    claims = sum(tallies.by_question.every.values())
    lines = list(report(tallies, f"{worlds} worlds of seed {options.seed}, {runs:,} runs, {claims:,} marks."))
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
