"""The verdicts of a comparison, by the two groups that each is of. Table, answer, matrix, files and API read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runs.compare.groups import Group
from runs.compare.guard import Difference, differences
from runs.models import Metric
from runs.stats import Verdict

PairKey = tuple[str, str]


@dataclass(frozen=True)
class Verdicts:
    """The verdict of a first group against a second by their keys, or why there is none.

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


def by_value(groups: Iterable[Group], metric: Metric | None) -> list[Group]:
    """Those with values, the best first; of a quantity without a better side the largest."""
    is_reverse = metric is None or metric.better != "lower"
    return sorted((group for group in groups if group.dots), key=lambda group: group.centre or 0.0, reverse=is_reverse)
