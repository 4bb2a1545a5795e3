"""How often changes are found, and how often wrongly: made-up series through the functions of the product.

`make bench-history ARGS="--series 150 --seed 1 --write"`. Each series has 200 batches of 3 repeats without a change, or
75 with a step at the 61st; days differ by half of what repeats do.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runs.stats import mean
from runs.stats.watch import CONFIRMING, Watched, band, is_confirmed, watch

REPEATS, UNCHANGED, CHANGED, AT, FIRST = 3, 200, 75, 60, 10
THRESHOLD = 0.03
# A batch that is measured again comes so many days later in a series whose days hang together.
DISTANCE = 1
DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "method" / "history.md"
MARKS = ("<!-- table -->", "<!-- end of table -->")


@dataclass(frozen=True)
class Kind:
    """Of noise: `day(rng, spread, number, before)` shifts a batch, `repeat(rng, spread)` a repeat of it."""

    name: str
    day: Callable[[random.Random, float, int, float], float]
    repeat: Callable[[random.Random, float], float] = lambda rng, spread: rng.gauss(0, spread)


def _plain(rng: random.Random, spread: float, number: int, before: float) -> float:
    return rng.gauss(0, spread / 2)


def _hanging(rng: random.Random, spread: float, number: int, before: float) -> float:
    return 0.5 * before + rng.gauss(0, spread / 2 * math.sqrt(0.75))


def _bad_nights(rng: random.Random, spread: float, number: int, before: float) -> float:
    return rng.gauss(0, spread / 2) - (0.10 if rng.random() < 0.05 else 0.0)


def _seasonal(rng: random.Random, spread: float, number: int, before: float) -> float:
    return rng.gauss(0, spread / 2) + spread / 2 * math.sin(2 * math.pi * number / 7)


def _outlying(rng: random.Random, spread: float) -> float:
    return rng.gauss(0, spread) - (5 * spread if rng.random() < 0.05 else 0.0)


def _heavy(rng: random.Random, spread: float) -> float:
    """Student's t of 3 degrees of freedom, of the same spread."""
    chi = math.fsum(rng.gauss(0, 1) ** 2 for _ in range(3))
    return spread * rng.gauss(0, 1) / math.sqrt(chi / 3) / math.sqrt(3)


KINDS = (
    Kind("plain", _plain), Kind("neighbours hang together (0.5)", _hanging),
    Kind("5 % bad nights (−10 %)", _bad_nights), Kind("weekly season", _seasonal),
    Kind("5 % outlying repeats", _plain, _outlying), Kind("heavy tails (t, 3)", _plain, _heavy),
)  # fmt: skip


@dataclass
class World:
    """A series that can be measured again at any of its places."""

    rng: random.Random
    kind: Kind
    spread: float
    step: float = 0.0
    day: float = 0.0

    def batch(self, number: int, distance: int = 1) -> float:
        """The mean of the logs of its repeats."""
        for _ in range(distance):
            self.day = self.kind.day(self.rng, self.spread, number, self.day)
        level = math.log1p(self.step) if self.step and number >= AT else 0.0
        return level + self.day + mean([self.kind.repeat(self.rng, self.spread) for _ in range(REPEATS)])


def found_by_waiting(world: World, count: int) -> list[tuple[int, int]]:
    """(when, where) of what is confirmed by the next batches, as of what is uploaded."""
    logs: list[float] = []
    watched, found = Watched(), []
    for number in range(count):
        logs.append(world.batch(number))
        watched = watch(logs, watched, THRESHOLD)
        found += [(number, each.at) for each in watched.confirmed]
    return found


def found_by_measuring_again(world: World, count: int) -> tuple[list[tuple[int, int]], int]:
    """The same where each suspicion is measured again at once. -> with how many batches were measured besides."""
    logs: list[float] = []
    starts: list[int] = []
    found, more = [], 0
    for number in range(count):
        batch = world.batch(number)
        expected = band(logs, starts)
        logs.append(batch)
        if expected is None or expected.holds(batch):
            continue
        day = world.day
        further = [world.batch(number, DISTANCE) for _ in range(CONFIRMING)]
        world.day, more = day, more + CONFIRMING
        if is_confirmed(expected, batch, further, THRESHOLD):
            found.append((number, number))
            starts.append(len(logs) - 1)
            logs += further
    return found, more


def false_alarms(kind: Kind, spread: float, series: int, seed: int) -> tuple[float, float, float]:
    """In 1,000 batches: by waiting, by measuring again; and by how much more is measured then, as a share of 1."""
    waiting = again = more = 0
    for number in range(series):
        waiting += len(found_by_waiting(_world(kind, spread, seed, number), UNCHANGED))
        found, besides = found_by_measuring_again(_world(kind, spread, seed, number), UNCHANGED)
        again, more = again + len(found), more + besides
    batches = series * (UNCHANGED - FIRST)
    return 1000 * waiting / batches, 1000 * again / batches, more / batches


def detection(kind: Kind, spread: float, step: float, series: int, seed: int) -> tuple[float, float, float, float]:
    """Shares of 1: found within 3 batches when measured again, within 4 and 10 by waiting, and placed within one."""
    again = within_4 = within_10 = placed = 0
    for number in range(series):
        found, _ = found_by_measuring_again(_world(kind, spread, seed, number, step), AT + 3)
        again += any(when >= AT for when, _ in found)
        waited = [
            (when, at) for when, at in found_by_waiting(_world(kind, spread, seed, number, step), CHANGED)
            if when >= AT and abs(at - AT) <= CONFIRMING
        ]  # fmt: skip
        within_4 += any(when < AT + 4 for when, _ in waited)
        within_10 += any(when < AT + 10 for when, _ in waited)
        placed += bool(waited) and abs(waited[0][1] - AT) <= 1
    return again / series, within_4 / series, within_10 / series, placed / max(1, series)


def _world(kind: Kind, spread: float, seed: int, number: int, step: float = 0.0) -> World:
    return World(random.Random(f"{seed} {kind.name} {spread} {step} {number}"), kind, spread, step)


def tables(series: int, seed: int) -> str:
    lines = [
        f"Seed {seed}, {series} series of {UNCHANGED} batches of {REPEATS} repeats each.", "",
        "| noise | at 2 %: waiting | measured again | more runs | at 5 %: waiting | measured again |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for kind in KINDS:
        quiet, loud = (false_alarms(kind, spread, series, seed) for spread in (0.02, 0.05))
        lines.append(
            f"| {kind.name} | {quiet[0]:.1f} | {quiet[1]:.1f} | {quiet[2]:.1%} | {loud[0]:.1f} | {loud[1]:.1f} |"
        )
        print(lines[-1], flush=True)
    lines += [
        "", "| plain noise, step | measured again: within 3 | waiting: within 4 | within 10 | placed within one |",
        "|---|---|---|---|---|",
    ]  # fmt: skip
    for spread in (0.02, 0.05):
        for step in (-0.03, -0.05, -0.10):
            shares = detection(KINDS[0], spread, step, series, seed)
            told = " | ".join(f"{share:.0%}" for share in shares)
            lines.append(f"| {spread:.0%}, {step:+.0%} | {told} |".replace("-", "−"))
            print(lines[-1], flush=True)
    return "\n".join(lines)


def write(text: str, document: Path = DOCUMENT) -> None:
    begin, end = MARKS
    before, _, rest = document.read_text().partition(begin)
    document.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="into docs/method/history.md")
    options = parser.parse_args(arguments)
    text = tables(options.series, options.seed)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
