"""The verdicts of a comparison. Each pair that a page sets against each other is judged once, all in one family.

Table, answer, matrix, map, files and API read these verdicts; none of them judges anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeVar

from runs.compare.groups import Against, Group
from runs.compare.guard import Difference, differences, refusal
from runs.compare.sweep import LevelRow
from runs.compare.verdicts import change_words
from runs.formatting import mid_sentence
from runs.models import Metric
from runs.stats import Ratio, SeriesVerdicts, Verdict, judge_levels, page_noise, ratio

# Of more the matrix is no picture, and a family of so many finds nothing: then pairs with the first and the baseline.
MOST_IN_A_MATRIX, MOST_COMPARISONS = 20, 600
JudgedRows = tuple[list[LevelRow], SeriesVerdicts]
Item = TypeVar("Item")
PairKey = tuple[str, str]


@dataclass(frozen=True)
class Verdicts:
    """By the keys of two groups: the verdict of the first against the second, or why there is none.

    `along`: of two levels of one curve, which are set against each other in the answer of a loss and nowhere else.
    `family`: how many comparisons share the errors that the page may make.
    """

    by_pair: Mapping[PairKey, Verdict] = field(default_factory=dict)
    along: Mapping[PairKey, Verdict] = field(default_factory=dict)
    differing: Mapping[PairKey, list[Difference]] = field(default_factory=dict)
    family: int = 0

    def of(self, group: Group, base: Group) -> Verdict | None:
        """None where the pair was not judged: it may not be compared, or nobody asks for it."""
        if verdict := self.by_pair.get((group.key, base.key)):
            return verdict
        turned = self.by_pair.get((base.key, group.key))
        return turned.turned if turned else None

    def differences_of(self, group: Group, base: Group) -> list[Difference]:
        pair = (group.key, base.key)
        return self.differing[pair] if pair in self.differing else differences(group.conditions, base.conditions)


def pairs_to_judge(best_first: Sequence[Item], base: Item | None, *, levels: int = 1) -> list[tuple[Item, Item]]:
    """All pairs; of too many those with the best and with the baseline. The baseline comes second, else the worse."""
    ordered = sorted(best_first, key=lambda item: item == base)
    if len(ordered) <= MOST_IN_A_MATRIX and len(ordered) * (len(ordered) - 1) // 2 * levels <= MOST_COMPARISONS:
        return list(combinations(ordered, 2))
    return [pair for pair in combinations(ordered, 2) if pair[0] == ordered[0] or pair[1] == base]


def by_value(groups: Iterable[Group], metric: Metric | None) -> list[Group]:
    """Those with values, the best first; of a quantity without a better side the largest."""
    is_reverse = metric is None or metric.better != "lower"
    return sorted((group for group in groups if group.dots), key=lambda group: group.centre or 0.0, reverse=is_reverse)


def judge(
    metric: Metric, threshold: float, *, pairs: Sequence[tuple[Group, Group]] = (),
    series: Sequence[Sequence[LevelRow]] = (), along: Sequence[tuple[Group, Group]] = (), axis: Collection[str] = (),
) -> tuple[Verdicts, list[JudgedRows]]:  # fmt: skip
    """Pairs of groups, series level by level, and pairs `along` a curve, all of them one family.

    The latter may differ in the fields of their `axis`: that is what they are asked about.
    """
    by_key = {(group.key, base.key): (group, base) for group, base in (*pairs, *along)}
    differing = {key: differences(group.conditions, base.conditions) for key, (group, base) in by_key.items()}
    of_curves = {(group.key, base.key) for group, base in along}

    def may_differ(key: PairKey) -> Collection[str]:
        return axis if key in of_curves else ()

    allowed = [
        key
        for key, differ in differing.items()
        if not refusal(difference for difference in differ if difference.field not in may_differ(key))
    ]
    comparable = [[row for row in rows if row.pairs and not row.against.refused] for rows in series]
    levels = [[[(group.judged, base.judged) for group, base in row.pairs] for row in rows] for rows in comparable]
    single = [[[(group.judged, base.judged)]] for group, base in map(by_key.__getitem__, allowed)]
    cells = {group.key: group.judged for pair in by_key.values() for group in pair}
    cells |= {group.key: group.judged for rows in comparable for row in rows for pair in row.pairs for group in pair}
    noise = page_noise(cells.values())
    judged = judge_levels([*single, *levels], better=metric.better, threshold=threshold, noise=noise)
    of_pairs, of_series = judged[: len(single)], judged[len(single) :]
    by_pair = {key: verdicts.levels[0] for key, verdicts in zip(allowed, of_pairs, strict=True)}
    of_loss = {key: verdict for key, verdict in by_pair.items() if key in of_curves}
    by_pair = {key: verdict for key, verdict in by_pair.items() if key not in of_curves or not refusal(differing[key])}
    rows = [_with_verdicts(rows, verdicts) for rows, verdicts in zip(series, of_series, strict=True)]
    ratios = [verdict.ratio for each in judged for verdict in (*each.levels, *filter(None, [each.overall]))]
    return Verdicts(by_pair, of_loss, differing, _tested(ratios)), rows


def _with_verdicts(rows: Sequence[LevelRow], verdicts: SeriesVerdicts) -> JudgedRows:
    of_level = iter(verdicts.levels)
    judged = []
    for row in rows:
        against = row.against
        if row.pairs and not against.refused:
            verdict = next(of_level)
            against = replace(against, ratio=verdict.ratio, verdict=verdict, words=verdict.words)
        judged.append(replace(row, against=against))
    return judged, verdicts


def _tested(ratios: Iterable[Ratio | None]) -> int:
    return sum(ratio is not None and ratio.p is not None for ratio in ratios)


def against_base(
    groups: Iterable[Group], base: Group, verdicts: Verdicts, axis: Collection[str] = ()
) -> dict[str, Against]:
    """By key, of the other groups that have values. `axis`: fields that only say where a group stands on the chart."""
    return {
        group.key: _against(group, base, verdicts, axis) for group in groups if group.key != base.key and group.dots
    }


def _against(group: Group, base: Group, verdicts: Verdicts, axis: Collection[str]) -> Against:
    differ = verdicts.differences_of(group, base)
    off_axis = [difference for difference in differ if difference.field not in axis]
    if verdict := verdicts.of(group, base):
        return Against(verdict.ratio, verdict, off_axis, verdict.words)
    refused, change = refusal(differ), ratio(group.judged, base.judged)
    if refusal(off_axis) or change is None:
        return Against(None, None, differ, f"no ratio: {refused}", refused)
    levels = [difference for difference in differ if difference.severity == "blocks"]
    level_words = ", ".join(f"{mid_sentence(level.label)} {level.b}" for level in levels)
    return Against(None, None, off_axis, f"{change_words(change)} from {level_words}", refused, is_level=True)
