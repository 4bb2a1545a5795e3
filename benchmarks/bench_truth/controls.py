"""Controls of a comparison that nobody chose together: any of its facts on any axis, for any of its questions."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchagent.catalog import QUESTIONS

from benchmarks.bench_truth.judge import Json

# How often a control is turned.
LIKELY = 0.3


def controls(generator: random.Random, compared: Json) -> Iterator[tuple[str, str]]:
    """One question, and some controls with values that `compared`, a comparison as its API tells it, has."""
    # Before Django is set up nothing of the site can be imported.
    from runs.compare.axes import NONE, SCALES, VIEWS, X_AS, Y_AS
    from runs.compare.grouping import GROUPINGS

    facts, keys = [*compared["drawing"]["facts"], NONE], [group["key"] for group in compared["groups"]]
    values = {
        "view": [*VIEWS], "x": facts, "series": facts, "panels": facts, "pool": facts, "compared": facts, "held": facts,
        "fact": facts, "a": keys, "b": keys, "baseline": keys, "order": ["best"], "group": [*GROUPINGS],
        "threshold": ["0", "1", "50"], "x_as": [*X_AS], "y_as": [*Y_AS], "x_scale": SCALES, "y_scale": SCALES,
        "than": ["last:3", "days:10"],
    }  # fmt: skip
    yield "ask", generator.choice(QUESTIONS)
    for name, choices in values.items():
        if generator.random() < LIKELY:
            yield name, generator.choice(choices)
