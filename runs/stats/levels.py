"""Two series at equal levels of all else: one ratio over the levels, where there is one; and letters of many groups."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from runs.stats.noise import Noise
from runs.stats.ratios import Lack, Ratio, holm, ratio
from runs.stats.summaries import ALPHA, CONFIDENCE, MIN_REPEATS, interval_of_logs, mean, t_quantile
from runs.stats.verdicts import PRACTICAL_THRESHOLD, WINNERS, Kind, Verdict, judge_interval, judge_ratio

_OF_FEW = frozenset({Lack.TOO_FEW_REPEATS, Lack.TOO_FEW_LEVELS})


class Pair(NamedTuple):
    """Values and those of the baseline, each with the noise of its machine's cells on the page."""

    values: Sequence[float]
    baseline: Sequence[float]
    noise: Noise[float] | None = None
    base_noise: Noise[float] | None = None

    @property
    def alone(self) -> Pair:
        """Without the noise of any other cell."""
        return Pair(self.values, self.baseline)

    @property
    def fewest(self) -> int:
        return min(len(self.values), len(self.baseline))

    @property
    def ratio(self) -> Ratio | None:
        return ratio(self.values, self.baseline, noise=self.noise, base_noise=self.base_noise)


# What is averaged at one level, mostly a single pair.
Level: TypeAlias = Sequence[Pair]


@dataclass(frozen=True)
class Overall:
    """The geometric mean of the ratios of several levels, each weighted alike.

    `of_repeats`: its interval is of these very levels, from the spread of the repeats at each. Else it comes from how
    the ratios of the levels differ, as some level has too few repeats, or levels that only the time tells apart are
    surely not alike: that of levels like these.
    `p_alike` is of the hypothesis that every level has the same ratio; None where that cannot be asked.
    """

    ratio: Ratio
    of_repeats: bool
    p_alike: float | None


def overall_ratio(
    ratios: Sequence[Ratio], *, confidence: float = CONFIDENCE, with_noise: Sequence[Ratio] = (), in_time: bool = False
) -> Overall | None:
    """None for fewer than two levels: one speaks for itself.

    `with_noise`: the same ratios with the noise of the page, for asking whether they are alike. `in_time`: levels are
    of several batches or days. What shifts from one to the next is more than the repeats of one show.
    """
    if len(ratios) < 2:
        return None
    logs = [math.log(each.value) for each in ratios]
    centre = mean(logs)
    errors = [each.error for each in ratios if each.error]
    freedoms = [each.degrees_of_freedom or 1.0 for each in ratios]
    of_repeats = len(errors) == len(ratios)
    p_alike = None
    if of_repeats:
        shares = [(error / len(errors)) ** 2 for error in errors]
        error = math.sqrt(math.fsum(shares))
        # As with two sides: Satterthwaite, of as many.
        df = error**4 / math.fsum(share**2 / of for share, of in zip(shares, freedoms, strict=True))
        doubts = [(each.error, each.degrees_of_freedom) for each in with_noise or ratios]
        p_alike = alike(logs, [error or 0.0 for error, _ in doubts], [of or 1.0 for _, of in doubts])
        of_repeats = not (in_time and len(logs) >= MIN_REPEATS and p_alike < ALPHA)
    if not of_repeats:
        error, df = statistics.stdev(logs) / math.sqrt(len(logs)), len(logs) - 1.0
        if len(logs) < MIN_REPEATS or not error:
            lack = Lack.LEVELS_ALIKE if len(logs) >= MIN_REPEATS else Lack.TOO_FEW_LEVELS
            return Overall(Ratio(math.exp(centre), None, None, lack), of_repeats, None)
    half = t_quantile(0.5 + confidence / 2, df) * error
    interval = interval_of_logs(centre, half)
    from scipy import special

    p = float(2 * special.stdtr(df, -abs(centre) / error)) if interval else None
    beyond = None if interval else Lack.LEVELS_VARY
    return Overall(Ratio(math.exp(centre), interval, df, beyond, p, confidence, error), of_repeats, p_alike)


def alike(logs: Sequence[float], errors: Sequence[float], freedoms: Sequence[float]) -> float:
    """p of the hypothesis that all these have one mean: Cochran's Q, with the errors taken for what they are, guesses.

    B. L. Welch, Biometrika 38 (1951). Cochran's own p takes them as known: of three repeats that calls levels unlike
    in 13 % of cases where 5 % are promised (simulated), Welch's in 6 % at most.
    """
    from scipy import special

    count, weights = len(logs), [error**-2 for error in errors]
    total = math.fsum(weights)
    centre = math.fsum(weight * log for weight, log in zip(weights, logs, strict=True)) / total
    q = math.fsum(weight * (log - centre) ** 2 for weight, log in zip(weights, logs, strict=True))
    doubt = math.fsum((1 - weight / total) ** 2 / of for weight, of in zip(weights, freedoms, strict=True))
    f = q / (count - 1) / (1 + 2 * (count - 2) / (count**2 - 1) * doubt)
    return float(special.fdtrc(count - 1, (count**2 - 1) / (3 * doubt), f))


@dataclass(frozen=True)
class SeriesVerdicts:
    """The verdicts of one series against the baseline's: at each level, and over all; None if one level speaks for
    itself.
    """

    levels: list[Verdict]
    overall: Verdict | None
    of_repeats: bool = True
    p_alike: float | None = None


def judge_levels(
    series: Sequence[Sequence[Level]], *, better: str, threshold: float = PRACTICAL_THRESHOLD,
    in_time: bool = False,
) -> list[SeriesVerdicts]:  # fmt: skip
    """For each series a verdict at every level, and one of all of them together: all of these are judged as one family.

    The noise of the page is for each level. The ratio over all is of the spread of many cells already. `in_time`:
    levels are of several batches or days.
    """
    estimates = [[_of_level(level) for level in levels] for levels in series]
    counted = [levels_that_count(each) for each in estimates]
    overalls = [
        overall_ratio(
            [*filter(None, (_of_level([pair.alone for pair in levels[at]]) for at in places))],
            with_noise=[*filter(None, (each[at] for at in places))], in_time=in_time,
        ) if len(levels) > 1 else None
        for levels, each, places in zip(series, estimates, counted, strict=True)
    ]  # fmt: skip
    ps = [estimate.p if estimate else None for each in estimates for estimate in each]
    ps += [over.ratio.p if over else None for over in overalls]
    testable = [at for at, p in enumerate(ps) if p is not None]
    alphas = [ALPHA] * len(ps)
    for at, alpha in zip(testable, holm([p for p in ps if p is not None]).tolist(), strict=True):
        alphas[at] = alpha
    left = iter(alphas)
    judged = []
    of_overalls = alphas[len(alphas) - len(series) :]
    for levels, each, places, over, alpha in zip(series, estimates, counted, overalls, of_overalls, strict=True):
        verdicts = [
            _judge_level(level, estimate, better=better, threshold=threshold, confidence=1 - next(left))
            for level, estimate in zip(levels, each, strict=True)
        ]
        if over is None:
            is_one_of_several = len(places) == 1 and sum(map(bool, each)) > 1
            judged.append(SeriesVerdicts(verdicts, verdicts[places[0]] if is_one_of_several else None))
            continue
        told = replace(over, ratio=over.ratio.at(1 - alpha, beyond=Lack.LEVELS_VARY))
        fewest = min(pair.fewest for at in places for pair in levels[at])
        of_counted = [verdicts[at] for at in places]
        overall = _over_all(told, of_counted, better=better, threshold=threshold, fewest=fewest)
        judged.append(SeriesVerdicts(verdicts, overall, over.of_repeats, over.p_alike))
    return judged


def levels_that_count(ratios: Sequence[Ratio | None]) -> list[int]:
    """The places of the levels that a ratio over all is of: those of enough repeats, where two of them are, or one of
    two, if both point clearly to one side. What was measured once has no spread, and takes none from the others. Else
    all that have a ratio.
    """
    every = [at for at, each in enumerate(ratios) if each]
    enough = [at for at, each in enumerate(ratios) if each and each.lack not in _OF_FEW]
    values = [each.value for each in ratios if each]
    is_clear = bool(values) and (min(values) > 1 + PRACTICAL_THRESHOLD or max(values) < 1 / (1 + PRACTICAL_THRESHOLD))
    is_one_of_two = len(enough) == 1 and len(every) == 2 and is_clear
    return enough if len(enough) > 1 or is_one_of_two else every


def judge_family(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], *, better: str, threshold: float = PRACTICAL_THRESHOLD,
    noise: Noise[float] | None = None,
) -> list[Verdict]:  # fmt: skip
    """Verdicts of pairs that a page makes together."""
    alone = [[[Pair(*pair, noise)]] for pair in pairs]
    return [each.levels[0] for each in judge_levels(alone, better=better, threshold=threshold)]


def judge_pairs(
    pairs: Sequence[tuple[float, float]], *, better: str, threshold: float = PRACTICAL_THRESHOLD,
    confidence: float = CONFIDENCE,
) -> Verdict:  # fmt: skip
    """Values above 0 and those of the baseline that were measured next to each of them, by how the ratios of the pairs
    differ: what disturbed both of a pair, or made the machine slower from one pair on, is in neither.

    Of six pairs whose noise is their own the interval is 6 % wider than that of `judge`, of twelve 5 %; where the
    machine became 20 % slower in their midst it has 0.6 and 0.35 of that width (simulated).
    """
    ratios = [each for value, base in pairs if (each := ratio([value], [base]))]
    over = overall_ratio(ratios, confidence=confidence)
    estimate = over.ratio if over else next(iter(ratios), None)
    if estimate is None or estimate.interval is None:
        is_alike = estimate is not None and estimate.lack == Lack.LEVELS_ALIKE and estimate.value == 1
        return Verdict(Kind.EQUIVALENT if is_alike else Kind.TOO_FEW, estimate, fewest=len(ratios))
    return judge_interval(estimate, estimate.interval, better=better, threshold=threshold, fewest=len(ratios))


def _of_level(level: Level) -> Ratio | None:
    ratios = [each for each in (pair.ratio for pair in level) if each]
    over = overall_ratio(ratios)
    return over.ratio if over else next(iter(ratios), None)


def ratios_of_levels(levels: Sequence[Level]) -> tuple[list[Ratio], float | None]:
    """The ratio of each level, and p of the hypothesis that all of them are alike: None of a single level, and where
    not every ratio has a spread.
    """
    ratios = [*filter(None, map(_of_level, levels))]
    over = overall_ratio(ratios) if len(ratios) == len(levels) else None
    return ratios, over.p_alike if over else None


def _judge_level(level: Level, estimate: Ratio | None, *, better: str, threshold: float, confidence: float) -> Verdict:
    if len(level) == 1:
        (pair,) = level
        estimate = estimate and estimate.at(confidence)
        return judge_ratio(estimate, pair.values, pair.baseline, better=better, threshold=threshold)
    estimate = estimate and estimate.at(confidence, beyond=Lack.LEVELS_VARY)
    if estimate is None or estimate.interval is None:
        return Verdict(Kind.TOO_FEW, estimate)
    fewest = min(pair.fewest for pair in level)
    return judge_interval(estimate, estimate.interval, better=better, threshold=threshold, fewest=fewest)


def _over_all(over: Overall, levels: Sequence[Verdict], *, better: str, threshold: float, fewest: int) -> Verdict:
    ratios = [verdict.ratio.value for verdict in levels if verdict.ratio]
    winners = {verdict.ratio.value > 1 for verdict in levels if verdict.kind in WINNERS and verdict.ratio}
    both_sides = max(ratios) >= 1 + threshold and min(ratios) <= 1 / (1 + threshold)
    unlike = over.p_alike < ALPHA if over.p_alike is not None else not over.of_repeats
    if len(winners) > 1 or (both_sides and unlike):
        return Verdict(Kind.MIXED, over.ratio)
    if over.ratio.interval is None:
        return Verdict(Kind.EQUIVALENT if over.ratio.value == 1 else Kind.TOO_FEW, over.ratio)
    asked = fewest if over.of_repeats or fewest < MIN_REPEATS else None
    verdict = judge_interval(over.ratio, over.ratio.interval, better=better, threshold=threshold, fewest=asked)
    # Sure at some levels, and not of all: two disks that are alike until the database leaves memory. Too few repeats at
    # the others say nothing against it.
    is_part = any(verdict.kind not in WINNERS and verdict.kind != Kind.TOO_FEW for verdict in levels)
    if verdict.kind == Kind.UNDECIDED and winners and is_part and unlike:
        return Verdict(Kind.MIXED, over.ratio)
    return verdict


def letters(count: int, told_apart: Iterable[tuple[int, int]]) -> list[str]:
    """The letters of each of so many groups: two share one if and only if they are not told apart.

    Insert and absorb: H.-P. Piepho, Journal of Computational and Graphical Statistics 13 (2004). Groups come in the
    order in which their letters begin: a is that of the first.
    """
    columns = [frozenset(range(count))]
    for first, second in told_apart:
        split = []
        for column in columns:
            split += [column - {second}, column - {first}] if {first, second} <= column else [column]
        columns = [column for column in dict.fromkeys(split) if not any(column < other for other in split)]
    columns.sort(key=sorted)
    names = [chr(ord("a") + at) if at < 26 else f"({at + 1})" for at in range(len(columns))]
    return [
        "".join(name for name, column in zip(names, columns, strict=True) if group in column) for group in range(count)
    ]
