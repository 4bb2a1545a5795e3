"""Claims set against the truth of their world. Nothing here asks a site: answers come in as the API sends them.

What a claim is about follows from the runs that it names: the judge knows of each run its cell, and of each cell the
mean in truth and what was measured. Ratios and means are computed again from what was measured.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np

from benchmarks.bench_truth.worlds import AXES, NIGHT_SIGMA, RAM_GB, UNLIKE, Cell, World, series_of

Json = Mapping[str, Any]
# Question, metric and runs: the same page, whatever address leads to it.
Page = tuple[str, str, frozenset[str]]
# The cells of two sides that are alike in all else.
Level = tuple[list[Cell], list[Cell]]
WINNERS = ("better", "worse", "different")
ALIKE = ("equivalent", "too_small")
# What is said of a difference of at least so many standard errors of the mean should be sure, where it is so many above
# the threshold: of one at the threshold it is chance whether it was measured above it.
LARGE, ABOVE = 5.0, 2.0
CLOSE = 1e-6
# From so many repeats of each side on there is a verdict.
LEAST_REPEATS = 3
# As far beside the memory a knee is told to be there: how often its interval holds the place is coverage.
NEAR = 1.1
# What names a cell and is no level of anything.
_NOT_COMPARED = frozenset({"medium", "commit"})
# Conditions (docs/method/comparability.md): a ratio stands, and what differs is named beside it.
_CONDITIONS = frozenset({"isolation", "tool", "buffer"})
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
FACT_OF = {"dbms": "dbms", "storage:data": "disk", "hardware": "machine"}

FALSE_WINNER, SIGN, ALIKE_CLAIM, COUNT, PLACE, NUMBER = (
    "false winner", "sign", "alike", "count", "place", "number",
)  # fmt: skip
COVERAGE, DECIDED, ANSWERED, OMISSION, CONTRADICTION, POOLED, UNJUDGED = (
    "coverage", "decided", "answered", "omission", "contradiction", "pooled", "not judged",
)  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """One thing that was looked at in an answer of `kind`: whether it is `right`, and what is wrong with it."""

    what: str
    kind: str
    right: bool
    words: str = ""


@dataclass(frozen=True)
class Pair:
    """Levels at which two sides have cells that are alike in all but what tells the sides apart."""

    levels: Sequence[Level]

    def above_zero(self, metric: str) -> Pair:
        """Those that have a ratio."""
        return Pair([level for level in self.levels if not _has_zero(metric, [*level[0], *level[1]])])

    def counting(self, metric: str) -> Pair:
        """Those that a ratio over all is of: of enough repeats, where two of them are, or one of two that both point to
        one side by 3 % or more; else all.
        """
        enough = [
            level for level in self.levels
            if all(sum(len(cell.values(metric)) for cell in side) >= LEAST_REPEATS for side in level)
        ]  # fmt: skip
        ratios = [Pair([level]).measured(metric) or 0.0 for level in self.levels]
        is_clear = any(min(sign * each for each in ratios) > math.log(1.03) for sign in (1, -1)) if ratios else False
        is_one_of_two = len(enough) == 1 and len(ratios) == 2 and is_clear
        return Pair(enough) if len(enough) > 1 or is_one_of_two else self

    def truth(self, metric: str) -> float | None:
        """The ratio of the first side to the second, as a logarithm, in the mean over the levels."""
        logs = [_true_log(one, metric) - _true_log(other, metric) for one, other in self.levels]
        return _mean(logs) if logs and all(map(math.isfinite, logs)) else None

    def measured(self, metric: str) -> float | None:
        """The same of what was measured; None where batches differ within a level, but for sides of several nights."""
        logs = []
        for one, other in self.levels:
            are_pooled = all(_are_nights(side) for side in (one, other))
            if not are_pooled and len({*map(_batch_of, (*one, *other))}) > 1:
                return None
            logs.append(_measured_log(one, metric) - _measured_log(other, metric))
        return _mean(logs) if logs and all(map(math.isfinite, logs)) else None

    def standard_error(self, metric: str, sigma: float) -> float:
        """Of the mean over the levels: by the noise of the world, or by the repeats where these scatter more."""
        variances = [sum(_variance_of_mean(side, metric, sigma) for side in level) for level in self.levels]
        return math.sqrt(sum(variances)) / max(1, len(variances))

    @property
    def fewest(self) -> int:
        return min(
            (
                sum(len(cell.runs) - len(cell.failed) for cell in side if not cell.is_copy)
                for level in self.levels
                for side in level
            ),
            default=0,
        )


def _is_large(truth: float, error: float, limit: float) -> bool:
    return abs(truth) > max(LARGE * error, limit + ABOVE * error)


def _has_zero(metric: str, cells: Iterable[Cell]) -> bool:
    return any(value <= 0 for cell in cells for value in cell.values(metric).values())


def _is_nothing(metric: str, cells: Iterable[Cell]) -> bool:
    """Whether all that was measured of them is 0."""
    values = [value for cell in cells for value in cell.values(metric).values()]
    return bool(values) and not any(values)


def _off_smooth(metric: str, axis: str, cells: Sequence[Cell], sigma: float) -> float:
    """How far a bent curve lies in truth off the line and the smooth curve that are next to it, in standard errors:
    the root of the squares that they leave of all repeats, as a difference of two means is that off their mean.
    """
    cells = [cell for cell in cells if not _has_zero(metric, [cell])]
    logs = [[_log(value) for value in cell.values(metric).values()] for cell in cells]
    counts = [len(values) for values in logs]
    x = np.repeat([math.log2(float(cell.facts[axis])) for cell in cells], counts)
    y = np.repeat([_log(cell.means.get(metric)) for cell in cells], counts)
    left = []
    for columns in ([x, x**2], [2 ** (x - x.max())]):
        design = np.column_stack([np.ones_like(x), *columns])
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        left.append(float(rest @ rest))
    return math.sqrt(min(left)) / _scatter(logs, sigma)


def _error_of_step(metric: str, cells: Sequence[Cell], at: date, sigma: float) -> float:
    """Of the change from the mean of the days before to that of the days from `at` on, each of which counts once."""
    values = [(cell.day, [_log(value) for value in cell.values(metric).values()]) for cell in cells]
    dated = [(day, _mean(logs)) for day, logs in values if day and logs]
    sides = [[mean for day, mean in dated if (day < at) == is_before] for is_before in (True, False)]
    repeats = statistics.fmean(len(logs) for _, logs in values if logs)
    return _scatter(sides, sigma / math.sqrt(repeats)) * math.sqrt(sum(1 / len(side) for side in sides))


def _scatter(sides: Sequence[Sequence[float]], sigma: float) -> float:
    """The standard deviation within these, or `sigma` where that is more."""
    squares = sum(statistics.variance(side) * (len(side) - 1) for side in sides if len(side) > 1)
    return max(sigma, math.sqrt(squares / max(1, sum(len(side) - 1 for side in sides if side))))


def _variance_of_mean(side: Sequence[Cell], metric: str, sigma: float) -> float:
    logs = [_log(value) for cell in side for value in cell.values(metric).values()]
    if len(logs) < 2 or not all(map(math.isfinite, logs)):
        return math.inf
    if _are_nights(side):
        return max(sigma, NIGHT_SIGMA, statistics.stdev(logs)) ** 2 / len(side)
    return max(sigma, statistics.stdev(logs)) ** 2 / len(logs)


def _batch_of(cell: Cell) -> str:
    """Machines have a batch each of a night, which are called the same."""
    return str(cell.day) if cell.night else cell.batch


def _are_nights(cells: Sequence[Cell]) -> bool:
    """Whether they are so many batches of a night each that each counts once, when a reader pools them."""
    return len({*map(_batch_of, cells)}) >= LEAST_REPEATS and all(cell.night for cell in cells)


def _true_log(cells: Sequence[Cell], metric: str) -> float:
    """The logarithm of their mean: of many nights of what is true of all, of one or two of these themselves."""
    logs = [_log(cell.means.get(metric)) + (0.0 if _are_nights(cells) else cell.night) for cell in cells]
    return _mean(logs)


def _measured_log(cells: Sequence[Cell], metric: str) -> float:
    of_cells = [[_log(value) for value in cell.values(metric).values()] for cell in cells]
    if _are_nights(cells):
        return _mean([_mean(logs) for logs in of_cells if logs])
    return _mean([log for logs in of_cells for log in logs])


def _log(value: float | None) -> float:
    return math.log(value) if value is not None and value > 0 else math.nan


def _mean(logs: Sequence[float]) -> float:
    return sum(logs) / len(logs) if logs else math.nan


def pair_of(ones: Sequence[Cell], others: Sequence[Cell], over: str = "") -> Pair:
    """By what both sides have in common: facts of which they share no value tell them apart. Of nights each is a level
    of its own where the ratio is `over` batches or days.
    """
    are_nights = any(cell.night for cell in ones)
    return matched(ones, others, _apart(ones, others), over=over if are_nights else "")


def _apart(ones: Sequence[Cell], others: Sequence[Cell]) -> set[str]:
    """The facts of which the two have no value in common."""
    names = {name for cell in (*ones, *others) for name in cell.facts} - _NOT_COMPARED
    return {
        name
        for name in names
        if not {cell.facts.get(name) for cell in ones} & {cell.facts.get(name) for cell in others}
    }


def matched(ones: Sequence[Cell], others: Sequence[Cell], apart: Iterable[str], *, over: str = "") -> Pair:
    return Pair([level for level in _levels(ones, others, apart, over=over) if all(level)])


def _levels(ones: Sequence[Cell], others: Sequence[Cell], apart: Iterable[str], *, over: str = "") -> list[Level]:
    """The cells of both sides by all facts but those `apart`, and by batch or day where the ratio is `over` them. What
    is alone there is one level with the only cell of the other side that differs from it in conditions: where that has
    another of a shorter window besides, none is the only one.
    """
    exact = _by_facts(ones, others, {*apart}, over=over)
    ones, others = ([cell for level in exact if not all(level) for cell in level[side]] for side in (0, 1))
    levels = [level for level in exact if all(level)]
    for one, other in _by_facts(ones, others, {*apart, *_CONDITIONS, "duration_s"}, over=over):
        is_pair = len(one) == len(other) == 1 and one[0].facts.get("duration_s") == other[0].facts.get("duration_s")
        levels += [(one, other)] if is_pair else _by_facts(one, other, {*apart}, over=over)
    return levels


def _by_facts(ones: Iterable[Cell], others: Iterable[Cell], apart: Collection[str], *, over: str) -> list[Level]:
    levels: dict[tuple[Any, ...], Level] = {}
    for at, side in enumerate((ones, others)):
        for cell in side:
            facts = ((name, str(value)) for name, value in cell.facts.items() if name not in {*apart, *_NOT_COMPARED})
            together = (_batch_of(cell) if "batch" in over else "", str(cell.day) if "day" in over else "")
            levels.setdefault((*together, *sorted(facts)), ([], []))[at].append(cell)
    return [*levels.values()]


@dataclass
class Judge:
    """Of one world; `told` collects what is said of each pair over all answers, `labels` what values are called.

    `pages`: those that were counted as pages without a difference.
    """

    world: World
    pages: set[Page] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.cells = self.world.by_run
        # The facts that have a value, of those that vary.
        self.names: dict[str, set[str]] = {}
        facts = [(name, str(value)) for cell in self.world.cells for name, value in cell.facts.items()]
        for name, value in dict.fromkeys(facts):
            if name not in _NOT_COMPARED and facts.count((name, value)) < len(self.world.cells):
                self.names.setdefault(value, set()).add(name)
        self.labels: dict[str, str] = {}
        self.told: dict[tuple[str, int, frozenset[str], frozenset[str]], tuple[float, str, str]] = {}

    def answer(self, body: Json, *, expected: bool = False) -> Iterator[Mark]:
        """All marks of one answer of /api/v1/answers/."""
        kind = str(body["question"]["kind"]) or "best"
        claims = body["claims"]
        marks = list(self._claims(kind, body, claims))
        yield from marks
        yield from self._pages_without_a_difference(kind, body, marks)
        yield from self._counted(kind, body)
        yield from self._named(kind, body)
        yield from self._levels_without_ratio(kind, body)
        yield from _agreeing(kind, body)
        yield from self._best_at(kind, body)
        yield from self._as_asked(kind, body)
        yield from self._each_is_ranked(kind, body)
        if expected:
            said = bool(claims)
            yield Mark(ANSWERED, kind, said or not self._could_be_answered(kind), f"nothing but {body['missing']}")

    # What is claimed

    def _claims(self, kind: str, body: Json, claims: Sequence[Json]) -> Iterator[Mark]:
        metric, axis = body["metric"], str(body["question"].get("x", "")).removeprefix("factor:")
        standings = [claim for claim in claims if claim["kind"] == "standing"]
        for claim in claims:
            cells = self._cells(claim["runs"])
            match claim["kind"]:
                case "standing":
                    yield from self._standing(kind, body, claim)
                    first = next((each for each in standings if each["label"] == claim.get("than")), standings[0])
                    if claim is not first:
                        yield from self._change(
                            kind, body, claim["ratio"], pair_of(self._cells(first["runs"]), cells, body["over"]), claim
                        )
                case "level":
                    yield from self._level(kind, body, claim)
                case "loss":
                    ends = [[cell for cell in cells if cell.facts.get(axis) == claim[end]] for end in ("end", "start")]
                    if _is_nothing(metric, ends[0]) and not _has_zero(metric, ends[1]):
                        yield Mark(NUMBER, kind, claim["change"]["value"] == -1.0, f"{claim['label']}: not all is lost")
                    yield from self._change(
                        kind, body, claim["change"], matched(ends[0], ends[1], [axis]), claim, less=1.0
                    )
                    curve = self._cells(claim["falls_off"]["runs"])
                    yield from self._falls_off(kind, body, axis, claim["falls_off"], curve)
                case "falls_off":
                    yield from self._falls_off(kind, body, axis, claim, cells)
                case "scales":
                    yield from self._scales(kind, body, axis, claim, cells)
                case "effect":
                    yield from self._effect(kind, body, claim, cells)
                case "step":
                    yield from self._step(kind, body, claim, cells)
                case "newer":
                    yield from self._newer(kind, body, claim, cells)
                case "published":
                    yield from self._published(kind, body, claim, cells)

    def _cells(self, runs: Iterable[str]) -> list[Cell]:
        """Each once, in the order of the runs."""
        return list({id(cell): cell for run in runs if (cell := self.cells.get(run))}.values())

    def _standing(self, kind: str, body: Json, claim: Json) -> Iterator[Mark]:
        cells, metric = self._cells(claim["runs"]), body["metric"]
        values = [value for cell in cells for run, value in cell.values(metric).items() if run in claim["runs"]]
        if claim["n"] is None:
            return
        unlike = {name for cell in cells for name, value in cell.facts.items() if value != cells[0].facts.get(name)}
        yield Mark(POOLED, kind, not unlike, f"{claim['label']}: one number of runs that differ in {unlike}")
        yield Mark(COUNT, kind, claim["n"] == len(values), f"{claim['label']}: n {claim['n']} of {len(values)}")
        centre = math.exp(_measured_log(cells, metric)) if values else math.nan
        if claim["centre"] is not None and math.isfinite(centre):
            yield Mark(
                NUMBER, kind, _close(claim["centre"], centre), f"{claim['label']}: {claim['centre']}, not {centre}"
            )
        are_alike = len({cell.means.get(metric) for cell in cells}) == 1
        if claim["interval"] and are_alike and math.isfinite(truth := _true_log(cells, metric)):
            low, high = claim["interval"]
            yield Mark(COVERAGE, kind, low <= math.exp(truth) * (1 + 1e-9) and math.exp(truth) <= high * (1 + 1e-9),
                       f"{claim['label']}: {low}–{high} without {math.exp(truth)}")  # fmt: skip

    def _level(self, kind: str, body: Json, claim: Json) -> Iterator[Mark]:
        cells = self._cells(claim["runs"])
        ones, others = ([cell for cell in cells if self._is_named(cell, body[side])] for side in ("first", "second"))
        both = [cell for cell in ones if cell in others]
        if not ones or not others or both:
            yield Mark(UNJUDGED, kind, True)
            return
        yield from self._change(kind, body, claim["ratio"], pair_of(ones, others, body["over"]), claim)

    def _is_named(self, cell: Cell, label: str) -> bool:
        """Whether all that the label says and the world knows is true of the cell."""
        # A disk is called with its medium, a setting with its name, and a number with its unit or its heading.
        parts = [part.partition(" (")[0].rpartition("=")[2] for part in label.split(" · ")]
        parts = [word for part in parts for word in ([part] if part in self.names else part.split())]
        known = [(word, self.names[word]) for word in parts if word in self.names]
        if cell.night and any(_DAY.fullmatch(word) and word != str(cell.day) for word in parts):
            return False
        return bool(known) and all(any(str(cell.facts.get(name)) == word for name in names) for word, names in known)

    def _change(
        self, kind: str, body: Json, change: Json, pair: Pair, claim: Json, *, less: float = 0.0
    ) -> Iterator[Mark]:
        """A ratio, or with `less` a share: its side, its size, its interval, and whether it is said at all."""
        metric, verdict = body["metric"], change["verdict"]
        pair = pair.above_zero(metric).counting(metric)
        truth, measured = pair.truth(metric), pair.measured(metric)
        words = f"{claim['label']}: {verdict} {change['value']} ({change['low']} to {change['high']})"
        if truth is None or not pair.levels:
            yield Mark(UNJUDGED, kind, True, words)
            return
        value = None if change["value"] is None else change["value"] + less
        self._remember(metric, pair, value, verdict)
        if value is not None and measured is not None:
            yield Mark(NUMBER, kind, _close(value, math.exp(measured)), f"{words}, measured {math.exp(measured)}")
        if change["low"] is not None:
            low, high = change["low"] + less, change["high"] + less
            covered = low <= math.exp(truth) * (1 + CLOSE) and math.exp(truth) <= high * (1 + CLOSE)
            yield Mark(COVERAGE, kind, covered, f"{words}, in truth {math.exp(truth) - less}")
            yield from self._consistent(kind, body, change, less)
        higher = truth > 0
        side = "better" if higher == (body["better"] == "higher") else "worse"
        limit = math.log1p(body["threshold"])
        if abs(truth) < 1e-9:
            yield Mark(FALSE_WINNER, kind, verdict not in WINNERS, words)
        elif verdict in WINNERS and body["better"] in ("higher", "lower"):
            yield Mark(SIGN, kind, verdict == side, f"{words}, in truth {side} {math.exp(truth) - less}")
        if verdict in ALIKE:
            yield Mark(
                ALIKE_CLAIM, kind, abs(truth) <= limit * (1 + CLOSE), f"{words}, in truth {math.exp(truth) - less}"
            )
        if self._is_far(body, pair) and pair.fewest >= LEAST_REPEATS and verdict != "refused":
            yield Mark(
                DECIDED, kind, verdict in (*WINNERS, "mixed", "") and bool(verdict or change["low"] is not None), words
            )

    def _consistent(self, kind: str, body: Json, change: Json, less: float) -> Iterator[Mark]:
        """Its value lies in its interval, and its verdict is what the interval says."""
        value, low, high = (change[name] + less for name in ("value", "low", "high"))
        verdict, words = change["verdict"], f"{change}"
        yield Mark(
            CONTRADICTION, kind, low * (1 - CLOSE) <= value <= high * (1 + CLOSE), f"{words}: not in its interval"
        )
        if verdict in ("better", "worse"):
            upward = (verdict == "better") == (body["better"] == "higher")
            yield Mark(CONTRADICTION, kind, low > 1 if upward else high < 1, f"{words}: not what its interval says")

    def _remember(self, metric: str, pair: Pair, value: float | None, verdict: str) -> None:
        sides = [frozenset(run for level in pair.levels for cell in level[at] for run in cell.runs) for at in (0, 1)]
        if value is None or (metric, len(pair.levels), *sides) in self.told:
            return
        self.told[metric, len(pair.levels), sides[0], sides[1]] = (value, verdict, "")

    def contradictions(self) -> Iterator[Mark]:
        """Between what was said of a pair and of the same pair turned round."""
        for (metric, levels, one, other), (value, verdict, _) in self.told.items():
            turned = self.told.get((metric, levels, other, one))
            if turned and one != other:
                opposite = {"better": "worse", "worse": "better"}
                agrees = _close(value, 1 / turned[0]) if turned[0] else False
                sides = verdict not in opposite or turned[1] != verdict
                yield Mark(
                    CONTRADICTION, "any two", agrees and sides, f"{verdict} {value} and turned {turned[1]} {turned[0]}"
                )

    # Curves

    def _falls_off(self, kind: str, body: Json, axis: str, claim: Json, cells: Sequence[Cell]) -> Iterator[Mark]:
        metric, truth, shape = body["metric"], self._of_series(cells, self.world.knees), claim["shape"]
        if truth is None or shape == "too_few":
            yield Mark(UNJUDGED, kind, True)
            return
        words = f"{claim['label']}: {shape} {claim['turn']} at {claim['at']} {claim['interval']}, in truth {truth}"
        if claim["memory"] is not None:
            yield Mark(PLACE, kind, _close(claim["memory"], RAM_GB), f"memory at {claim['memory']}, not {RAM_GB}")
        turns = truth[0] in ("highest", "lowest")
        if shape == "turn":
            # Noise may raise the level next to it above it.
            is_near = turns and 0.5 <= claim["turns_at"] / truth[1] <= 2
            yield Mark(PLACE, kind, claim["turn"] == truth[0] and is_near, f"{words}, turns at {claim['turns_at']}")
            at_turn = [cell for cell in cells if cell.facts.get(axis) == claim["turns_at"]]
            mean = math.exp(_mean([_log(value) for cell in at_turn for value in cell.values(metric).values()]))
            yield Mark(NUMBER, kind, _close(claim["turns_to"], mean), f"{words}: {claim['turns_to']}, not {mean}")
        elif shape == "knee":
            low, high = claim["interval"] or (claim["at"], claim["at"])
            is_bent = truth[0] in ("knee", "highest", "lowest", "step")
            # What steps behind a level may be told to bend up to the next.
            last = 2 * truth[1] if truth[0] == "step" else truth[1]
            yield Mark(PLACE, kind, is_bent and low <= NEAR * last and NEAR * high >= truth[1], words)
            if truth[0] == "knee" and claim["interval"]:
                yield Mark(COVERAGE, kind, low <= truth[1] <= high, words)
        elif shape == "step":
            after, before = claim["interval"]
            # A level with a repeat of 0 has no logarithm: the step lies around it.
            levels = [float(cell.facts[axis]) for cell in cells if not _has_zero(metric, [cell])]
            last = max((level for level in levels if truth[1] and level <= truth[1]), default=None)
            yield Mark(PLACE, kind, truth[0] == "step" and after == last, words)
            sides = ([cell for cell in cells if cell.facts.get(axis) == level] for level in (after, before))
            ends = [_mean([_log(value) for cell in side for value in cell.values(metric).values()]) for side in sides]
            change = math.expm1(ends[1] - ends[0])
            yield Mark(NUMBER, kind, _close(claim["step"]["value"], change), f"{words}: {claim['step']}, not {change}")
        elif shape == "smooth":
            yield Mark(PLACE, kind, truth[0] == "smooth", words)
        if truth[0] == "knee" and _off_smooth(metric, axis, cells, self.world.sigma) > LARGE:
            yield Mark(DECIDED, kind, shape == "knee", words)
        if turns and self._is_seen(body, axis, cells, truth[1]):
            yield Mark(DECIDED, kind, shape == "turn", words)

    def _is_seen(self, body: Json, axis: str, cells: Sequence[Cell], at: float) -> bool:
        """Whether the level differs by far from the first and from the last that have a value above zero."""
        metric = body["metric"]
        valued = [cell for cell in cells if cell.values(metric) and not _has_zero(metric, [cell])]
        levels = [float(cell.facts[axis]) for cell in valued]
        at_level = {level: [cell for cell in valued if cell.facts[axis] == level] for level in levels}
        pairs = [matched(at_level.get(at, []), at_level[end], [axis]) for end in (min(levels), max(levels))]
        return all(pair.levels and self._is_far(body, pair) and pair.fewest >= LEAST_REPEATS for pair in pairs)

    def _is_far(self, body: Json, pair: Pair) -> bool:
        metric, limit = body["metric"], math.log1p(body["threshold"])
        truth = pair.truth(metric)
        return truth is not None and _is_large(truth, pair.standard_error(metric, self.world.sigma), limit)

    def _of_series(self, cells: Sequence[Cell], truths: Mapping[str, Any]) -> Any:
        """Of the one series that these cells are of; None where they are of several."""
        series = {series_of(cell.facts) for cell in cells}
        return truths.get(series.pop()) if len(series) == 1 else None

    def _scales(self, kind: str, body: Json, axis: str, claim: Json, cells: Sequence[Cell]) -> Iterator[Mark]:
        metric, series = body["metric"], {series_of(cell.facts) for cell in cells}
        by_level: dict[float, list[float]] = {}
        for cell in cells:
            by_level.setdefault(float(cell.facts[axis]), []).extend(map(_log, cell.values(metric).values()))
        means = {
            level: math.exp(_mean(logs)) for level, logs in by_level.items() if logs and all(map(math.isfinite, logs))
        }
        if len(series) != 1 or not means or len({cell.batch for cell in cells}) > 1:
            yield Mark(UNJUDGED, kind, True)
            return
        most_at = (min if body["better"] == "lower" else max)(means, key=lambda level: means[level])
        yield Mark(
            PLACE, kind, claim["most_at"] == most_at, f"{claim['label']}: most at {claim['most_at']}, not {most_at}"
        )
        yield Mark(
            NUMBER,
            kind,
            _close(claim["most"], means[most_at]),
            f"{claim['label']}: {claim['most']}, not {means[most_at]}",
        )
        peak, last = self.world.peaks.get(series.pop()), max(means)
        grows = "still grows" if claim["still_grows"] else f"peak {claim['peak_at']} {claim['peak_interval']}"
        words = f"{claim['label']}: {grows}, in truth {peak}"
        if claim["peak_measured"]:
            yield Mark(PLACE, kind, peak is not None, words)
        if claim["peak_interval"] and peak is not None:
            low, high = claim["peak_interval"]
            yield Mark(COVERAGE, kind, low <= peak <= high, words)
        if claim["still_grows"]:
            collapses = any(_is_nothing(metric, [cell]) for cell in cells)
            yield Mark(PLACE, kind, not collapses and (peak is None or peak >= last / 2), words)

    # Settings and dates

    def _effect(self, kind: str, body: Json, claim: Json, cells: Sequence[Cell]) -> Iterator[Mark]:
        name = f"setting {claim['label']}"
        ends = [
            [cell for cell in cells if _spelt(cell.facts.get(name)) == _spelt(claim[end])] for end in ("end", "start")
        ]
        pair = matched(ends[0], ends[1], [name])
        if not pair.levels:
            yield Mark(UNJUDGED, kind, True, f"{name}: {claim['start']} → {claim['end']}")
            return
        if len({cell.batch for cell in cells}) == 1:
            with_ratio = pair.above_zero(body["metric"]).counting(body["metric"]).levels
            counted = len(with_ratio or pair.levels)
            yield Mark(COUNT, kind, claim["pairs"] == counted, f"{name}: {claim['pairs']} pairs, not {counted}")
        yield from self._change(kind, body, claim["ratio"], pair, claim)

    def _step(self, kind: str, body: Json, claim: Json, cells: Sequence[Cell]) -> Iterator[Mark]:
        metric, limit = body["metric"], math.log1p(body["threshold"])
        truth = self._of_series(cells, self.world.steps)
        # Whether a suspicion or what is not yet sure is true further batches will tell: nothing is asserted. No series
        # here leaves zero.
        is_open = claim["is_suspected"] or claim["change"]["verdict"] == "undecided"
        if truth is None or is_open or claim["zero"]:
            yield Mark(UNJUDGED, kind, True)
            return
        days = sorted({cell.day for cell in cells if cell.day and cell.values(metric)})
        said = f"{claim['day'] or 'none'} {claim['change']['value']}"
        words = f"{claim['label']}: {said}, in truth {[(str(day), change) for day, change in truth]}"
        for day, change in truth:
            if _is_large(change, _error_of_step(metric, cells, day, self.world.sigma), limit):
                yield Mark(DECIDED, kind, bool(claim["day"]), words)
        if not claim["day"]:
            yield Mark(COUNT, kind, claim["batches"] == len(days), f"{claim['batches']} batches, not {len(days)}")
            span = (days[-1] - days[0]).days + 1
            yield Mark(COUNT, kind, claim["days"] == span, f"{claim['days']} days, not {span}")
            least = math.log1p(claim["threshold"])
            yield Mark(ALIKE_CLAIM, kind, all(abs(change) <= least for _, change in truth), words)
            if not truth:
                yield Mark(FALSE_WINNER, kind, True)
            return
        if not truth:
            yield Mark(FALSE_WINNER, kind, False, words)
            return
        said_day = date.fromisoformat(claim["day"])
        day, change = min(truth, key=lambda each: abs(each[0] - said_day))
        first, last = claim["days_near"]
        yield Mark(COVERAGE, kind, first <= str(day) <= last, f"{words}, told {first} to {last}")
        # How often its days hold the true one is coverage: the place is wrong where it is not next to them.
        known = [str(each) for each in days]
        near = known[max(0, known.index(first) - 1) : known.index(last) + 2]
        yield Mark(PLACE, kind, str(day) in near, words)
        if first <= str(day) <= last and any("upgraded" in cell.facts for cell in cells):
            is_told = any(each.startswith("DBMS ") for each in claim["besides"])
            yield Mark(OMISSION, kind, is_told, f"{words}: an upgrade, and told is {claim['besides']}")
        yield Mark(SIGN, kind, (claim["change"]["value"] > 0) == (change > 0), words)
        if claim["change"]["low"] is not None:
            yield Mark(COVERAGE, kind, claim["change"]["low"] <= math.expm1(change) <= claim["change"]["high"], words)
        if claim["day"] == str(day):
            begun = max((each for each, _ in truth if each < day), default=days[0])
            before = sum(begun <= each < day for each in days)
            yield Mark(
                COUNT,
                kind,
                claim["batches_before"] == before,
                f"{claim['batches_before']} batches before, not {before}",
            )
            commit = next((str(cell.facts.get("commit", "")) for cell in cells if cell.day == day), "")
            if claim["tested"]:
                yield Mark(
                    PLACE,
                    kind,
                    any(commit.startswith(part) for part in claim["tested"].split() if len(part) > 6),
                    claim["tested"],
                )

    def _newer(self, kind: str, body: Json, claim: Json, cells: Sequence[Cell]) -> Iterator[Mark]:
        dated = sorted(
            (cell for cell in cells if cell.day and cell.values(body["metric"])), key=lambda cell: str(cell.day)
        )
        if len(dated) < 2:
            yield Mark(UNJUDGED, kind, True)
            return
        newest, before = dated[-1], dated[:-1]
        yield Mark(COUNT, kind, claim["batches"] == len(before), f"{claim['batches']} batches, not {len(before)}")
        yield Mark(PLACE, kind, claim["newest"].startswith(str(newest.day)), f"{claim['newest']}, not {newest.day}")
        truth = _log(newest.means[body["metric"]]) - _mean([_log(cell.means[body["metric"]]) for cell in before])
        words = f"{claim['label']}: {claim['ratio']}, in truth {math.exp(truth)}"
        if abs(truth) < 1e-9:
            yield Mark(FALSE_WINNER, kind, claim["ratio"]["verdict"] not in WINNERS, words)
        elif claim["ratio"]["verdict"] in ("better", "worse"):
            side = "better" if (truth > 0) == (body["better"] == "higher") else "worse"
            yield Mark(SIGN, kind, claim["ratio"]["verdict"] == side, words)
        if claim["ratio"]["low"] is not None:
            yield Mark(COVERAGE, kind, claim["ratio"]["low"] <= math.exp(truth) <= claim["ratio"]["high"], words)

    def _published(self, kind: str, body: Json, claim: Json, cells: Sequence[Cell]) -> Iterator[Mark]:
        """A number beside the printed one; no ratio over another promise or a window ten times as long."""
        ours, printed = ([cell for cell in cells if cell.is_printed == side] for side in (False, True))
        for name, side in (("here", ours), ("mean", printed)):
            mean = math.exp(_mean([_log(value) for cell in side for value in cell.values(body["metric"]).values()]))
            yield Mark(NUMBER, kind, _close(claim[name], mean), f"{claim['label']}: {name} {claim[name]}, not {mean}")
        windows = [float(cell.facts["duration_s"]) for cell in cells]
        is_forbidden = "unlike durability" in self.world.features or max(windows) > 10 * min(windows)
        words = f"{claim['label']}: {claim['ratio']} over windows of {windows} s"
        is_refused = claim["ratio"]["verdict"] == "refused"
        yield Mark(CONTRADICTION, kind, is_forbidden == is_refused == (claim["ratio"]["value"] is None), words)
        if not is_refused:
            yield from self._change(kind, body, claim["ratio"], matched(ours, printed, ["duration_s", "set"]), claim)

    # The page as a whole

    def _pages_without_a_difference(self, kind: str, body: Json, marks: Sequence[Mark]) -> Iterator[Mark]:
        """One for a page of which all that it sets against each other is alike, however many addresses lead to it."""
        equal = [mark for mark in marks if mark.what == FALSE_WINNER]
        page = (kind, str(body["metric"]), frozenset(run for claim in body["claims"] for run in claim["runs"]))
        if equal and page not in self.pages and not any(mark.what in (SIGN, DECIDED) for mark in marks):
            self.pages.add(page)
            yield Mark(
                "page without a difference",
                kind,
                all(mark.right for mark in equal),
                "; ".join(m.words for m in equal if not m.right),
            )

    def _counted(self, kind: str, body: Json) -> Iterator[Mark]:
        counts, runs = body["counts"], set(self.cells)
        parts = counts["drawn"] + counts["unnumbered"] + counts["left_out"]
        yield Mark(OMISSION, kind, parts == counts["selected"], f"{counts} do not add up")
        yield Mark(OMISSION, kind, counts["selected"] == len(runs), f"{counts['selected']} selected of {len(runs)}")
        left_out = [each["run"] for each in body["left_out"]]
        yield Mark(
            OMISSION,
            kind,
            len(set(left_out)) == counts["left_out"],
            f"{len(left_out)} named, {counts['left_out']} left out",
        )
        numbered = sum(len(cell.values(body["metric"])) for cell in self.world.cells)
        counted = counts["selected"] - counts["unnumbered"]
        yield Mark(COUNT, kind, counted == numbered, f"{counted} runs with a number, not {numbered}")
        foreign = [run for claim in body["claims"] for run in claim["runs"] if run not in runs]
        yield Mark(COUNT, kind, not foreign, f"{len(foreign)} runs of others")

    def _named(self, kind: str, body: Json) -> Iterator[Mark]:
        """Whether each value of what is ranked, or each curve, has a claim or a word why it has none."""
        if not body["claims"]:
            return
        told = " ".join([body["words"], *body["missing"], *(claim["label"] for claim in body["claims"])])
        metric, fact = body["metric"], FACT_OF.get(body["question"]["fact"], "dbms" if kind in ("best", "load") else "")
        first = body["claims"][0]["kind"]
        cells = [cell for cell in self.world.cells if cell.values(metric)]
        if first == "standing" and fact and len({cell.facts.get(fact) for cell in cells}) > 1:
            wanted = {str(cell.facts[fact]) for cell in cells if fact in cell.facts}
        elif first == "published":
            # As far as both have a number.
            sides = ({str(cell.facts["dbms"]) for cell in cells if cell.is_printed == side} for side in (False, True))
            wanted = set.intersection(*sides)
        elif first in ("loss", "falls_off", "scales"):
            wanted = {part for cell in cells for part in series_of(cell.facts).split(" · ")}
            wanted = wanted if len({series_of(cell.facts) for cell in cells}) > 1 else set()
            wanted -= {str(cells[0].facts[name]) for name in FACT_OF.values()
                       if name in cells[0].facts and len({cell.facts.get(name) for cell in cells}) == 1}  # fmt: skip
        else:
            return
        absent = [words for words in wanted if words not in told]
        yield Mark(OMISSION, kind, not absent, f"nothing is said of {', '.join(absent)}")

    def _levels_without_ratio(self, kind: str, body: Json) -> Iterator[Mark]:
        """Whether what is said over levels counts those that have a ratio, and names those that have none."""
        if not body["over"]:
            return
        of_levels = (claim for claim in body["claims"] if claim["kind"] == "level" and claim["label"])
        told = {run for claim in of_levels if claim["ratio"]["value"] is not None for run in claim["runs"]}
        first, second = (
            [cell for cell in self.world.cells if self._is_named(cell, body[side]) and not cell.is_copy]
            for side in ("first", "second")
        )
        if not first or not second:
            yield Mark(UNJUDGED, kind, True)
            return
        apart = _apart(first, second)
        levels = _levels(first, second, apart, over=body["over"])
        with_ratio = [
            (ones, others) for ones, others in levels if told & {run for cell in (*ones, *others) for run in cell.runs}
        ]
        counting = Pair(with_ratio).counting(body["metric"]).levels
        facts_of = [[*ones, *others][0].facts for ones, others in levels]
        # What is the same at each of them, as the one machine that has both disks, tells no level.
        tells = {name for name, value in facts_of[0].items() if any(facts.get(name) != value for facts in facts_of)}
        untold = [
            {name: value for name, value in facts.items() if name in tells.difference(apart, _NOT_COMPARED)}
            for level, facts in zip(levels, facts_of, strict=True)
            if level not in counting
        ]
        count = len(counting)
        # One whose only group is not ranked is named with it.
        words = "".join(body["words"].partition(begin)[2] for begin in ("Left out: ", "No ratio at ", "Not ranked: "))
        is_counted = body["over"].partition(" ")[0] == str(count)
        yield Mark(COUNT, kind, is_counted, f"over {body['over']}, in truth {count} have a ratio")
        for facts in untold:
            values = [f"{value:g}" if isinstance(value, int | float) else value for value in self._varying(facts)]
            # Of many the first are named, and the others counted.
            is_named = bool(words) and (" more (" in words or all(value in words for value in values))
            yield Mark(OMISSION, kind, is_named, f"no ratio at {', '.join(values)}, and of those: {words}")
        for ones, others in _levels(first, second, apart, over=body["over"]):
            nothing = [body[side] for side, cells in (("first", ones), ("second", others))
                       if _is_nothing(body["metric"], cells)]  # fmt: skip
            if ones and others and nothing:
                is_told = " more" in words or all(side in words for side in nothing)
                yield Mark(OMISSION, kind, is_told, f"{' and '.join(nothing)} came to nothing, and of that: {words}")

    def _varying(self, facts: Mapping[str, str | float]) -> list[str | float]:
        """Of these the values that not all cells have; durability and its like have words of the site's own."""
        return [
            value
            for name, value in facts.items()
            if name not in {*UNLIKE, "set"} and any(cell.facts.get(name) != value for cell in self.world.cells)
        ]

    def _best_at(self, kind: str, body: Json) -> Iterator[Mark]:
        """What is called the best at a level is so in truth; and where it depends on the level by far, it is told."""
        metric, told = body["metric"], body["best_at"]
        sign = -1 if body["better"] == "lower" else 1
        for best, level in ((best, level) for best, levels in told.items() for level in levels):
            yield Mark(CONTRADICTION, kind, not body["words"] or best in body["words"], f"{best}, not: {body['words']}")
            here = [cell for cell in self.world.cells if self._is_named(cell, level)]
            sides = [[sign * cell.means[metric] for cell in here if self._is_named(cell, best) == is_best]
                     for is_best in (True, False)]  # fmt: skip
            if not all(sides):
                yield Mark(UNJUDGED, kind, True)
                continue
            one, other = map(max, sides)
            alike = math.isclose(one, other)
            yield Mark(FALSE_WINNER if alike else SIGN, kind, one > other and not alike,
                       f"{best} is best at {level}, in truth {one} and {other}")  # fmt: skip
        if self.world.kind == "reversed" and kind in ("best", "rank") and body["question"]["fact"] in ("", "dbms"):
            winners = [*self._winners(body)]
            for system, disk in winners if len({system for system, _ in winners}) > 1 else ():
                is_told = any(disk in level for level in told.get(system, []))
                yield Mark(DECIDED, kind, is_told, f"{system} is best by far on {disk}, and told is {told}")

    def _winners(self, body: Json) -> Iterator[tuple[str, str]]:
        """Which system is by far better than each other at a level, and the disk there."""
        sign = -1 if body["better"] == "lower" else 1
        for level, _ in _by_facts(self.world.cells, (), ["dbms"], over=""):
            by_system: dict[str, list[Cell]] = {}
            for cell in level:
                by_system.setdefault(str(cell.facts["dbms"]), []).append(cell)
            for system, own in by_system.items():
                pairs = [Pair([(own, other)]) for name, other in by_system.items() if name != system]
                better = [sign * (pair.truth(body["metric"]) or 0.0) > 0 and self._is_far(body, pair) for pair in pairs]
                if pairs and all(better) and min(pair.fewest for pair in pairs) >= LEAST_REPEATS:
                    yield system, str(own[0].facts["disk"])

    def _as_asked(self, kind: str, body: Json) -> Iterator[Mark]:
        """Whether it is the asked one that is set against the other one that was asked for, by values of a fact."""
        self.labels |= {claim["value"]: claim["label"] for claim in body["claims"] if claim["kind"] == "standing"}
        question = body["question"]
        if body["claims"] and question.get("fact") and question.get("a") and question.get("b"):
            asked = [self.labels.get(question[side], question[side]) for side in ("a", "b")]
            is_asked = asked[0] in body["first"] and asked[1] in body["second"]
            words = f"asked {' against '.join(asked)}, answered {body['first']} against {body['second']}"
            yield Mark(ANSWERED, kind, is_asked, words)

    def _each_is_ranked(self, kind: str, body: Json) -> Iterator[Mark]:
        """Whether each system has a ratio, whatever it alone is configured with, and each disk beside those of its
        machine: all of them are measured at the same levels.
        """
        fact, standings = body["question"]["fact"], [each for each in body["claims"] if each["kind"] == "standing"]
        is_of_own = self.world.kind in ("configurations", "own disks") and kind in ("best", "rank")
        if is_of_own and fact in ("dbms", "storage:data") and standings and self._could_be_answered(kind):
            values = {cell.facts[FACT_OF[fact]] for cell in self.world.cells}
            leaders = len({cell.facts["machine"] for cell in self.world.cells}) if fact == "storage:data" else 1
            with_ratio = [claim["label"] for claim in standings if claim["ratio"]["value"] is not None]
            is_whole = len(with_ratio) == len(values) - leaders
            yield Mark(ANSWERED, kind, is_whole, f"of {len(values)} only {with_ratio} have a ratio: {body['words']}")

    def _could_be_answered(self, kind: str) -> bool:
        """Three repeats of each cell, none of which is zero, one window and one batch. Latencies of survivors in every
        cell rank nothing.
        """
        metric = self.world.metric
        if metric.startswith("latency") and all(cell.starved for cell in self.world.cells):
            return False
        few = any(len(cell.values(metric)) < 3 for cell in self.world.cells if not cell.is_copy)
        unlike = {"mixed windows", "several batches", "zeros", "a cell missing"} & self.world.features
        return not few and not unlike and self.world.kind != "zeros"


# What home offers


def part_of(made: World, selects: Mapping[str, str], runs: Sequence[str], *, selected: int) -> World | None:
    """The cells of a world that a link of home selects: a batch, an article, a day or a cell; None of another, and of
    a day on which another world was measured as well: its runs are among the `selected`.
    """
    if "publication" in selects:
        cells = [cell for cell in made.cells if cell.is_printed and selects["publication"] == made.slug]
    elif "batch" in selects:
        cells = [cell for cell in made.cells if cell.batch == selects["batch"] and not cell.is_printed]
    elif "run" in selects:
        return None
    elif "measured_from" in selects:
        cells = [cell for cell in made.cells if str(cell.day) == selects["measured_from"]]
        if selected > sum(len(cell.runs) for cell in cells):
            return None
    else:
        series = {series_of(made.by_run[run].facts) for run in runs if run in made.by_run}
        cells = [cell for cell in made.cells if series_of(cell.facts) in series]
    is_whole = all(run in made.by_run for run in runs)
    return replace(made, cells=cells) if cells and is_whole else None


def offered_words(part: World, kind: str, words: str) -> Iterator[Mark]:
    """What a link of home says of its runs: from which size to which, since when."""
    sizes = [float(cell.facts[name]) for cell in part.cells for name in AXES if name in cell.facts]
    days = [cell.day for cell in part.cells if cell.day]
    wanted = {
        # What has no unit has a heading: "from scale factor 1 to 16".
        "loss": rf"from (\D+ )?{min(sizes):g} to {max(sizes):g}" if sizes else "",
        "since": f"since {min(days)}" if days else "",
    }
    if kind in wanted:
        is_right = re.search(wanted[kind], words) is not None
        yield Mark(COUNT, kind, is_right, f"home: {words}, in truth {wanted[kind]}")


def _spelt(value: Any) -> str:
    return str(value).replace(" ", "").lower()


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)


def _agreeing(kind: str, body: Json) -> Iterator[Mark]:
    """Claims of one answer among each other, and its words with them."""
    standings = [claim for claim in body["claims"] if claim["kind"] == "standing"]
    words = body["words"]
    yield Mark(CONTRADICTION, kind, bool(words) or not (body["claims"] or body["missing"]), "claims without words")
    yield Mark(ANSWERED, kind, bool(body["claims"] or body["missing"]), "neither a claim nor what is missing")
    if not standings:
        return
    first, *others = standings
    yield Mark(CONTRADICTION, kind, first["rank"] == 1, f"the first has rank {first['rank']}")
    for claim in others:
        behind = claim["ratio"]["verdict"] in WINNERS
        yield Mark(
            CONTRADICTION,
            kind,
            not behind or claim["rank"] != 1,
            f"{claim['label']}: {claim['ratio']} with rank {claim['rank']}",
        )
        yield Mark(
            CONTRADICTION, kind, claim["ratio"]["verdict"] != "worse", f"{claim['label']} is better than the first"
        )
        if None not in (first["centre"], claim["centre"], claim["ratio"]["value"]) and claim["centre"]:
            told = first["centre"] / claim["centre"]
            yield Mark(
                CONTRADICTION,
                kind,
                _close(told, claim["ratio"]["value"]),
                f"{claim['label']}: {told} and {claim['ratio']['value']}",
            )
    sure = bool(others) and all(claim["ratio"]["verdict"] in WINNERS for claim in others)
    yield Mark(
        CONTRADICTION,
        kind,
        body["sure"] == sure,
        f"sure {body['sure']}: {[claim['ratio']['verdict'] for claim in others]}",
    )
    if others:
        names_one = not words.startswith("No ")
        yield Mark(CONTRADICTION, kind, names_one == sure, f"sure {sure}, but: {words}")
    if sure:
        yield Mark(CONTRADICTION, kind, words.startswith(first["label"]), f"{first['label']} is first, but: {words}")
        yield Mark(CONTRADICTION, kind, others[0]["label"] in words, f"{others[0]['label']} is next, but: {words}")
