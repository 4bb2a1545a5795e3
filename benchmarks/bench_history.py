"""How often changes are found, and how often wrongly: made-up series through the functions of the product, and through
the rules of others.

`make bench-history ARGS="--series 40 --seed 1 --otava --write"`. Each series has 200 batches of 3 repeats without a
change, or 75 with a step at the 61st; days differ by half of what repeats do. `--otava` installs it into an
environment of its own, and gives it the first 4 series of each kind: it is slow.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.other_rules import Alarms, Otava, all_alarms
from runs.stats import mean, stdev
from runs.stats.watch import CONFIRMING, Watched, band, changes_of_noise, is_confirmed, places, watch
from runs.stats.watch import watched as told_at_once

REPEATS, UNCHANGED, CHANGED, AT, FIRST = 3, 200, 75, 60, 10
THRESHOLD = 0.03
# A batch that is measured again comes so many days later in a series whose days hang together.
DISTANCE = 1
OF_OTAVA = 4
# Batches of a series that is asked once, how much alike its neighbours are, and by how much batches differ.
ASKED, ALIKE, BETWEEN = 62, (0.0, 0.5, 0.7), 0.035
# Batches between the steps of two series.
APART = (0, 1, 2, 5)
SPREADS, STEPS = (0.02, 0.05), (-0.03, -0.05, -0.10)
DRIFTS, DRIFTING = (-0.001, -0.002, -0.005), 100
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
    """A series that can be measured again at any of its places. `drift`: of a batch; `louder`: from `AT` on."""

    rng: random.Random
    kind: Kind
    spread: float
    step: float = 0.0
    drift: float = 0.0
    louder: float = 1.0
    day: float = 0.0

    def repeats(self, number: int, distance: int = 1) -> list[float]:
        """Logs."""
        for _ in range(distance):
            self.day = self.kind.day(self.rng, self.spread, number, self.day)
        level = number * self.drift + (math.log1p(self.step) if self.step and number >= AT else 0.0)
        spread = self.spread * (self.louder if number >= AT else 1.0)
        return [level + self.day + self.kind.repeat(self.rng, spread) for _ in range(REPEATS)]

    def batch(self, number: int, distance: int = 1) -> float:
        return mean(self.repeats(number, distance))


def watched(world: World, count: int) -> Iterator[Watched]:
    """After each batch what the next batches have told, as of what is uploaded."""
    logs: list[float] = []
    state = Watched()
    for number in range(count):
        logs.append(world.batch(number))
        state = watch(logs, state, THRESHOLD)
        yield state


def found_by_waiting(world: World, count: int) -> Alarms:
    """(when, where) of what is confirmed."""
    return [(number, each.at) for number, state in enumerate(watched(world, count)) for each in state.confirmed]


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


@dataclass(frozen=True)
class Detection:
    """Shares of 1: found within 3 batches when measured again, within 3 and 10 by waiting, and placed within one."""

    again: float
    within_3: float
    within_10: float
    placed: float


def detection(kind: Kind, spread: float, step: float, series: int, seed: int) -> Detection:
    again, waited = 0, []
    for number in range(series):
        found, _ = found_by_measuring_again(_world(kind, spread, seed, number, step=step), AT + 3)
        again += any(when >= AT for when, _ in found)
        waited.append(found_by_waiting(_world(kind, spread, seed, number, step=step), CHANGED))
    placed = sum(bool(near := _near(alarms)) and abs(near[0][1] - AT) <= 1 for alarms in waited)
    return Detection(again / series, _within(waited, 3), _within(waited, 10), placed / series)


def commits_told(world: World, shifted: int, every: int = 1) -> list[int]:
    """With which commits the step of a series that began so many commits later may have begun, once it is confirmed;
    else nothing. `every`: only each second, or third, is measured.
    """
    logs: list[float] = []
    state = Watched()
    skipped = world.rng.randrange(every) if every > 1 else 0
    commits = range(AT - AT * every - skipped, CHANGED * every + shifted, every)
    for commit in commits:
        logs.append(world.batch(commit - shifted))
        state = watch(logs, state, THRESHOLD)
        for found in state.confirmed:
            if abs(commits[found.at] - AT - shifted) <= 2 * CONFIRMING * every:
                may_be = places(logs, found.at, found.at - found.before)
                return [commits[place] - before for place in may_be for before in range(every)]
    return []


def told_as_one(
    spread: float, step: float, apart: int, series: int, seed: int, *, every: int = 1
) -> tuple[float, float]:
    """Of pairs of steps so many commits apart: the shares that are placed at one commit, and that may have begun so.
    `every`: so many commits are one batch of the second series.
    """
    pairs = []
    for number in range(0, 2 * series, 2):
        one, other = (_world(KINDS[0], spread, seed, number + which, step=step) for which in (0, 1))
        pairs.append((commits_told(one, 0), commits_told(other, apart, every)))
    found = [(one, other) for one, other in pairs if one and other]
    alike, common = sum(one[0] == other[0] for one, other in found), sum(bool({*a} & {*b}) for a, b in found)
    return alike / max(1, len(found)), common / max(1, len(found))


def _near(alarms: Alarms) -> Alarms:
    return [(when, at) for when, at in alarms if when >= AT and (abs(at - AT) <= CONFIRMING or when == at)]


def _within(series: Sequence[Alarms], batches: int) -> float:
    return sum(any(when < AT + batches for when, _ in _near(alarms)) for alarms in series) / len(series)


@dataclass(frozen=True)
class DriftTold:
    """Of series that drift from their first batch on, shares of 1: told as a drift, in the median by batch `batch`; as
    a step before that; and with a step that stands in the end. Once it is known: suspicions in 1,000 batches.
    """

    drift: float
    batch: float
    step_before: float
    step_left: float
    suspicions: float


def drift_told(series: int, seed: int, drift: float) -> DriftTold:
    at, before, left, suspected, known = [], 0, 0, 0, 0
    for number in range(series):
        states = [*watched(_world(KINDS[0], 0.02, seed, number, drift=drift), DRIFTING)]
        for old, new in pairwise(states):
            known += bool(old.drifts)
            suspected += len({*new.suspects} - {*old.suspects}) if old.drifts else 0
        found = [(batch, each.kind) for batch, state in enumerate(states, 1) for each in state.confirmed]
        told = min((batch for batch, kind in found if kind == "drift"), default=None)
        at += [told] if told else []
        before += any(kind == "step" and batch <= (told or DRIFTING) for batch, kind in found)
        left += len(states[-1].starts) > len(states[-1].drifts)
    rate = 1000 * suspected / known if known else math.nan
    return DriftTold(len(at) / series, median(at) if at else math.nan, before / series, left / series, rate)


def steps_told_on_drift(step: float, series: int, seed: int, drift: float) -> float:
    """The share told within 6 batches."""
    worlds = [_world(KINDS[0], 0.02, seed, number, step=step, drift=drift) for number in range(series)]
    return _within([found_by_waiting(world, AT + 6) for world in worlds], 6)


def steps_taken_for_drifts(step: float, series: int, seed: int) -> float:
    """Of steps at 2 % noise: the share of series of which a drift is told though none of them drifts."""
    worlds = [_world(KINDS[0], 0.02, seed, number, step=step) for number in range(series)]
    return sum(any(state.drifts for state in watched(world, DRIFTING)) for world in worlds) / series


def noise_told(series: int, seed: int, louder: float) -> float:
    """Of series whose repeats scatter so many times as much from `AT` on: the share that is told to be noisier."""
    told = 0
    for number in range(series):
        world = _world(KINDS[0], 0.02, seed, number, louder=louder)
        told += bool(changes_of_noise([stdev(world.repeats(at)) or 0.0 for at in range(100)]))
    return told / series


def told_by_an_answer(alike: float, series: int, seed: int, step: float = 0.0) -> float:
    """Of series that are asked once since when they changed, with a step at the 56th batch or none: the share that is
    told one. Neighbours are alike by so much (AR(1)).
    """
    told, at = 0, ASKED - 7
    for number in range(series):
        rng, day, logs = random.Random(f"{seed} answer {alike} {number}"), 0.0, list[float]()
        for batch in range(ASKED):
            day = alike * day + rng.gauss(0, BETWEEN) * math.sqrt(1 - alike**2) if batch else rng.gauss(0, BETWEEN)
            logs.append(day + (math.log1p(step) if batch >= at else 0.0))
        found = [each.at for each in told_at_once(logs, THRESHOLD).confirmed if each.kind == "step"]
        told += any(abs(place - at) <= CONFIRMING for place in found) if step else bool(found)
    return told / series


def _world(kind: Kind, spread: float, seed: int, number: int, **more: float) -> World:
    return World(random.Random(f"{seed} {kind.name} {spread} {more.get('step', 0.0)} {number}"), kind, spread, **more)


def _arrays(worlds: Sequence[World], length: int) -> list[np.ndarray]:
    return [np.array([world.repeats(at) for at in range(length)]) for world in worlds]


# Rule -> a cell of each column.
Rows = dict[str, list[str]]
WAITING, AGAIN = "**Benchsite**, waiting", "**Benchsite**, measuring again"


def rows_of_errors(series: int, seed: int, otava: Otava | None) -> Rows:
    """False alarms in 1,000 batches of each kind, at 2 % · 5 %."""
    cells: dict[str, list[list[str]]] = {}
    for kind in KINDS:
        column: dict[str, list[str]] = {}
        for spread in SPREADS:
            waiting, again, more = false_alarms(kind, spread, series, seed)
            column.setdefault(WAITING, []).append(f"{waiting:.1f}")
            column.setdefault(AGAIN, []).append(f"{again:.1f}")
            worlds = [_world(kind, spread, seed, number) for number in range(series)]
            others = all_alarms(_arrays(worlds, UNCHANGED), otava, OF_OTAVA)
            for name, alarms in others.items():
                rate = 1000 * sum(map(len, alarms)) / len(alarms) / (UNCHANGED - FIRST)
                column.setdefault(name, []).append(f"{rate:.1f}")
        for name, told in column.items():
            cells.setdefault(name, []).append(told)
        print(kind.name, column, f"{more:.1%} more", flush=True)
    return {name: [" · ".join(told) for told in columns] for name, columns in cells.items()}


def rows_of_detection(series: int, seed: int, otava: Otava | None) -> tuple[Rows, list[str]]:
    """Shares found within 3 / 10 batches; and of each column how many steps were placed within one batch."""
    rows: Rows = {}
    placed = []
    for spread in SPREADS:
        for step in STEPS:
            own = detection(KINDS[0], spread, step, series, seed)
            column = {WAITING: f"{own.within_3:.0%} / {own.within_10:.0%}", AGAIN: f"{own.again:.0%}"}
            worlds = [_world(KINDS[0], spread, seed, number, step=step) for number in range(series)]
            others = all_alarms(_arrays(worlds, CHANGED), otava, OF_OTAVA)
            for name, alarms in others.items():
                column[name] = f"{_within(alarms, 3):.0%} / {_within(alarms, 10):.0%}"
            for name, text in column.items():
                rows.setdefault(name, []).append(text)
            placed.append(f"{own.placed:.0%}")
            print(spread, step, column, placed[-1], flush=True)
    return rows, placed


def tables(series: int, seed: int, otava: Otava | None = None) -> str:
    command = f'`make bench-history ARGS="--series {series} --seed {seed}{" --otava" if otava else ""} --write"`'
    errors, (found, placed) = rows_of_errors(series, seed, otava), rows_of_detection(series, seed, otava)
    steps = [f"{spread:.0%}: {_signed(step)}" for spread in SPREADS for step in STEPS]
    of_otava = f"; Otava {OF_OTAVA} series" if otava else ""
    lines = [
        f"{command}:", f"{series} series of each kind, {UNCHANGED} batches of {REPEATS} repeats{of_otava}.", "",
        "False alarms in 1,000 batches, at 2 % · at 5 % noise:", "",
        *_table(["rule", *(kind.name for kind in KINDS)], errors), "",
        "Steps found within 3 / within 10 batches, of plain noise (measured again: within 3):", "",
        *_table(["rule", *steps], found | {"placed within one, waiting": placed}), "",
        *_of_drifts(series, seed), "",
        f"Repeats that scatter 2.5 times as much from the {AT + 1}st of 100 batches on are told in "
        f"{noise_told(series, seed, 2.5):.0%}, without a change in {noise_told(series, seed, 1.0):.0%}.",
    ]  # fmt: skip
    return "\n".join(lines)


def _of_drifts(series: int, seed: int) -> list[str]:
    told = [(drift, drift_told(series, seed, drift)) for drift in DRIFTS]
    taken = ", ".join(f"{steps_taken_for_drifts(step, series, seed):.0%} of {_signed(step)}" for step in STEPS)
    return [
        f"Drifts at 2 % noise, {DRIFTING} batches from the first on:", "",
        "| a batch | told as a drift | by batch (median) | a step was told before | a step is left "
        "| suspicions in 1,000 batches of a known drift | steps on it told within 6: −5% · −10% |",
        f"|{'---|' * 7}",
        *(
            f"| {_signed(drift, 1)} | {each.drift:.0%} | {each.batch:.0f} | {each.step_before:.0%} "
            f"| {each.step_left:.0%} | {each.suspicions:.0f} "
            f"| {' · '.join(f'{steps_told_on_drift(step, series, seed, drift):.0%}' for step in STEPS[1:])} |"
            for drift, each in told
        ),
        "", f"Steps that are taken for drifts in the {DRIFTING - AT} batches after them: {taken}.",
    ]  # fmt: skip


def goals(series: int, seed: int) -> None:
    """What is aimed at, at 2 % noise: so many series that chance is small, and the product's own rule alone."""
    for kind in KINDS[:3]:
        waiting, again, _ = false_alarms(kind, SPREADS[0], series, seed)
        print(
            f"{kind.name}: {waiting:.2f} false alarms in 1,000 batches waiting, {again:.2f} measured again", flush=True
        )
    found = detection(KINDS[0], SPREADS[0], -0.05, series, seed)
    print(f"−5 %: within 3 {found.within_3:.1%} waiting, {found.again:.1%} measured again; placed {found.placed:.1%}")
    for alike in ALIKE:
        false, right = (told_by_an_answer(alike, series, seed, step) for step in (0.0, -0.10))
        print(
            f"asked once of {ASKED} batches that differ by {BETWEEN:.1%}, neighbours alike by {alike}: a step is told "
            f"in {false:.1%} without one, in {right:.1%} with −10 %", flush=True,
        )  # fmt: skip
    of_each = [(0.02, -0.05, 1), (0.02, -0.10, 1), (0.05, -0.10, 1)]
    for spread, step, every in (*of_each, (0.02, -0.10, 2), (0.02, -0.10, 3)):
        told = {apart: told_as_one(spread, step, apart, series, seed, every=every) for apart in APART}
        words = [f"{apart} apart {common:.0%} (at one batch {alike:.0%})" for apart, (alike, common) in told.items()]
        print(
            f"two steps of {_signed(step)} at {spread:.0%} noise, each commit and one of {every}, one alert: "
            f"{', '.join(words)}", flush=True,
        )  # fmt: skip


def _signed(share: float, digits: int = 0) -> str:
    return f"{share:+.{digits}%}".replace("-", "−")


def _table(head: Sequence[str], rows: Rows) -> list[str]:
    return [
        f"| {' | '.join(head)} |", f"|{'---|' * len(head)}",
        *(f"| {' | '.join([name, *cells])} |" for name, cells in rows.items()),
    ]  # fmt: skip


def write(text: str, document: Path = DOCUMENT) -> None:
    begin, end = MARKS
    before, _, rest = document.read_text().partition(begin)
    document.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--goals", action="store_true", help="what is aimed at alone, of our own rule")
    parser.add_argument("--otava", action="store_true", help="beside the other rules, in an environment of its own")
    parser.add_argument("--write", action="store_true", help="into docs/method/history.md")
    options = parser.parse_args(arguments)
    if options.goals:
        goals(options.series, options.seed)
        return
    with tempfile.TemporaryDirectory(prefix="benchsite-otava-") if options.otava else nullcontext() as folder:
        text = tables(options.series, options.seed, Otava(Path(folder)) if folder else None)
    if options.write:
        write(text)


if __name__ == "__main__":
    main()
