"""The value of a formula as an article's page shows it: `407.97 / 494.73 − 1`, `median(465, 511, 546)`."""

from __future__ import annotations

import math
import statistics
from functools import partial

SIGNS = str.maketrans({"×": "*", "−": "-", "^": "**"})
LISTS = {
    "median": statistics.median, "mean": statistics.fmean, "stdev": statistics.stdev, "min": min, "max": max,
    "sum": sum, "count": len,
}  # fmt: skip


def value_of(formula: str) -> float:
    """Of our own pages only. Raises SyntaxError where it is words."""
    functions = {name: partial(_over, function) for name, function in LISTS.items()} | {"log2": math.log2}
    return float(eval(formula.translate(SIGNS), {"__builtins__": {}}, functions))


def _over(function, *numbers):
    return function(numbers)
