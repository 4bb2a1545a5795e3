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
from runs.stats import SeriesVerdicts, Verdict, judge_levels, page_noise, ratio

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
    allowed = [
        key
        for key, differ in differing.items()
        if not refusal(each for each in differ if key not in of_curves or each.field not in axis)
        # Of survivors nothing is better: the others would have been the slow ones.
        and not any(group.remnant for group in by_key[key])
    ]
    comparable = [[row for row in rows if row.pairs and not row.against.refused] for rows in series]
    levels = [[[(group.judged, base.judged) for group, base in row.pairs] for row in rows] for rows in comparable]
    single = [[[(group.judged, base.judged)]] for group, base in map(by_key.__getitem__, allowed)]
    cells = {group.key: group.judged for pair in by_key.values() for group in pair}
    cells |= {group.key: group.judged for rows in comparable for row in rows for pair in row.pairs for group in pair}
    noise = page_noise(cells.values())
    judged = judge_levels([*single, *levels], better=metric.better, threshold=threshold, noise=noise)
    by_pair = {key: verdicts.levels[0] for key, verdicts in zip(allowed, judged, strict=False)}
    of_series: list[JudgedRows] = []
    for rows, verdicts in zip(series, judged[len(single) :], strict=True):
        of_level = iter(verdicts.levels)
        told = [
            replace(row, against=replace(row.against, verdict=next(of_level)))
            if row.pairs and not row.against.refused
            else row
            for row in rows
        ]
        of_series.append((told, verdicts))
    every = (verdict for each in judged for verdict in (*each.levels, each.overall) if verdict)
    found = Verdicts(
        by_pair={key: by_pair[key] for key in by_pair if key not in of_curves or not refusal(differing[key])},
        along={key: by_pair[key] for key in by_pair if key in of_curves},
        differing=differing,
        family=sum(verdict.ratio is not None and verdict.ratio.p is not None for verdict in every),
    )
    return found, of_series


def against_base(
    groups: Iterable[Group], base: Group, verdicts: Verdicts, axis: Collection[str] = ()
) -> dict[str, Against]:
    """By key, of the other groups that have values. `axis`: fields that only say where a group stands on the chart."""
    against = {}
    for group in (group for group in groups if group.key != base.key and group.dots):
        differ, verdict = verdicts.differences_of(group, base), verdicts.of(group, base)
        off_axis = [difference for difference in differ if difference.field not in axis]
        remnant = group.remnant or base.remnant
        refused, change = refusal(differ) or remnant, None if verdict else ratio(group.judged, base.judged)
        if verdict:
            against[group.key] = Against(off_axis, verdict)
        elif remnant or refusal(off_axis) or change is None:
            against[group.key] = Against(differ, why=f"no ratio: {refused}", refused=refused)
        else:
            levels = [difference for difference in differ if difference.severity == "blocks"]
            words = ", ".join(f"{mid_sentence(level.label)} {level.b}" for level in levels)
            why = f"{change_words(change)} from {words}"
            against[group.key] = Against(off_axis, why=why, refused=refused, is_level=True)
    return against
