"""`make bench-truth`: every sentence about numbers against worlds whose truth is known.

Worlds of many kinds are written to an empty site as tools write them. Each question that fits one is asked by API, on
the page and as CSV, and every claim is judged (benchmarks/bench_truth/judge.py). `--only N` asks one world again and
prints what is wrong with it; `--keep FILE` adds each world to a file as soon as it was asked, and asks none again that
stands there; `--write` puts the table into docs/method/truth.md. A small part goes over HTTP.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.bench_truth.judge import UNJUDGED
from benchmarks.bench_truth.parts import Part, Tallies, kept_worlds, tallies_of
from benchmarks.bench_truth.table import Tally, markdown
from benchmarks.bench_truth.worlds import KINDS, kind_of

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


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="N", help="this world, and all that is wrong with it")
    parser.add_argument("--kind", choices=list(KINDS), help="worlds of this kind only")
    parser.add_argument("--http", type=int, default=6, metavar="N", help="the first N worlds over HTTP as well")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N", help="no further world after these")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many processes, each with its own site")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="marks by world; what stands there is not asked again"
    )
    parser.add_argument("--write", action="store_true", help="the table into docs/method/truth.md")
    return parser.parse_args()


def main() -> None:
    given = options()
    with tempfile.TemporaryDirectory(prefix="benchsite-") as folder:
        kept = given.keep or Path(folder, "marks")
        ask(given, kept)
        tallies = tallies_of(kept, given.seed)
    claims = sum(tallies.by_question.every.values())
    lines = [
        *report(tallies, f"{tallies.worlds} worlds of seed {given.seed}, {tallies.runs:,} runs, {claims:,} marks.")
    ]
    print("\n".join(lines))
    _print_wrong(tallies.by_question, all_of_them=given.only is not None)
    if given.write:
        write(lines)
    sys.exit(1 if list(tallies.by_question.misses()) else 0)


def ask(given: argparse.Namespace, kept: Path) -> None:
    """What the file does not hold yet, in so many processes as asked for."""
    numbers = range(given.worlds) if given.only is None else [given.only]
    numbers = [number for number in numbers if given.kind in (None, kind_of(number))]
    done = {(line["world"], line["http"]) for line in kept_worlds(kept, given.seed)}
    http = numbers[: given.http] if given.only is None else []
    left, left_http = ([n for n in some if (n, by) not in done] for some, by in ((numbers, False), (http, True)))
    parts = [
        Part(given.seed, left[at :: given.jobs], [] if at else left_http, given.minutes, kept)
        for at in range(given.jobs)
    ]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        list(pool.map(Part.ask, parts))


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
