"""Checks of the article in docs/use/publication-example: what a module of checks looks like."""

from __future__ import annotations

from collections.abc import Iterator

from runs.publications.check import Check, Result
from scripts.article_checks.article import Article, check, judge
from scripts.article_checks.quantities import listed, over


def buffers(article: Article) -> Iterator[Check]:
    large, small = (
        listed(size, article.numbers("tps", buffer=size), f"repeats, {size} buffer", "TPS")
        for size in ("large", "small")
    )
    gain = (over("median", large) / over("median", small) - 1).shown(unit="%", digits=1)
    yield check(
        "1", "Gain of the larger buffer", judge(article.percent("gain"), gain.value),
        {"agrees": "The gain is as stated.", "disagrees": f"It is {gain.rounded:g} %, not what is stated."},
        computed=[gain], stated=[article.claimed("gain")], claims=["gain"],
    )  # fmt: skip
    is_there = article.numbers("tps", buffer="huge")
    yield check(
        "2", "Gain of the huge buffer", Result.DERIVED if is_there else Result.GAP,
        {"gap": "Cannot be computed: tps of huge is not there."},
    )  # fmt: skip


TOPICS = {"Gain": [buffers]}
