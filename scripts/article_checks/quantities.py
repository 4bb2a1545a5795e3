"""Numbers that remember how they were computed, so that a check can show the formula of what it says.

`(after / before - 1).shown(unit="%")` is a row of a check: its value, `407.97 / 494.73 − 1`, `after / before − 1`, and
what `after` and `before` are.
"""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from runs.publications.check import Computed, Input

# How strongly the last sign of a formula binds its parts together.
SUM, PRODUCT, POWER, SINGLE = range(4)


@dataclass(frozen=True)
class Shown(Computed):
    """A computed row of a check that knows the inputs that it was computed from."""

    inputs: tuple[Input, ...] = ()


@dataclass(frozen=True)
class Quantity:
    """`words` is its formula with the names of its inputs, `formula` the same with their numbers."""

    value: float
    words: str
    formula: str
    inputs: tuple[Input, ...] = ()
    binding: int = SINGLE

    def shown(self, label: str = "", *, unit: str = "", digits: int = 2, signed: bool = False) -> Shown:
        """In % it is shown times 100."""
        value = self.value * 100 if unit == "%" else self.value
        return Shown(value, self.formula, self.words, unit, digits, label, signed, self.inputs)

    def __add__(self, other: Quantity | float) -> Quantity:
        return _joined(self, "+", other, SUM, operator.add)

    def __radd__(self, other: float) -> Quantity:
        return _joined(other, "+", self, SUM, operator.add)

    def __sub__(self, other: Quantity | float) -> Quantity:
        return _joined(self, "−", other, SUM, operator.sub)

    def __rsub__(self, other: float) -> Quantity:
        return _joined(other, "−", self, SUM, operator.sub)

    def __mul__(self, other: Quantity | float) -> Quantity:
        return _joined(self, "×", other, PRODUCT, operator.mul)

    def __rmul__(self, other: float) -> Quantity:
        return _joined(other, "×", self, PRODUCT, operator.mul)

    def __truediv__(self, other: Quantity | float) -> Quantity:
        return _joined(self, "/", other, PRODUCT, operator.truediv)

    def __rtruediv__(self, other: float) -> Quantity:
        return _joined(other, "/", self, PRODUCT, operator.truediv)

    def __pow__(self, other: Quantity | float) -> Quantity:
        return _joined(self, "^", other, POWER, operator.pow)


def given(name: str, value: float, what: str, unit: str = "", provenance: str = "printed") -> Quantity:
    """An input; `what` says which row of the article it is."""
    spelt = f"({_spelt(value)})" if value < 0 else _spelt(value)
    return Quantity(float(value), name, spelt, (Input(name, what, float(value), unit, provenance),))


def listed(name: str, values: Sequence[float], what: str, unit: str = "", provenance: str = "printed") -> Input:
    """An input that is a list of numbers, for `over`."""
    return Input(name, what, [float(value) for value in values], unit, provenance)


def constant(value: float) -> Quantity:
    return Quantity(float(value), _spelt(value), _spelt(value))


FUNCTIONS: dict[str, Callable[[Any], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "sum": sum,
    "min": min,
    "max": max,
    "count": len,
    # The standard deviation of a sample, by n − 1.
    "stdev": statistics.stdev,
}


def over(function: str, numbers: Input) -> Quantity:
    """`over("median", repeats)`."""
    assert isinstance(numbers.value, list)
    formula = f"{function}({', '.join(map(_spelt, numbers.value))})"
    return Quantity(float(FUNCTIONS[function](numbers.value)), f"{function}({numbers.name})", formula, (numbers,))


def log2(of: Quantity) -> Quantity:
    return Quantity(math.log2(of.value), f"log2({of.words})", f"log2({of.formula})", of.inputs)


def in_words(value: float, words: str, label: str) -> Shown:
    """A count whose formula only words can say."""
    return Shown(float(value), words, words, digits=0, label=label)


def plain(value: float) -> str:
    """As people write it: 9.04, 13."""
    return f"{value:.10g}"


def _joined(
    left: Quantity | float, sign: str, right: Quantity | float, binding: int, compute: Callable[[float, float], float]
) -> Quantity:
    left = left if isinstance(left, Quantity) else constant(left)
    right = right if isinstance(right, Quantity) else constant(right)
    opens = left.binding < binding or left.binding == binding == POWER
    closes = right.binding <= binding
    words, formula = (
        f"{f'({a})' if opens else a} {sign} {f'({b})' if closes else b}"
        for a, b in ((left.words, right.words), (left.formula, right.formula))
    )
    return Quantity(compute(left.value, right.value), words, formula, left.inputs + right.inputs, binding)


def _spelt(value: float) -> str:
    return repr(float(value)).removesuffix(".0").replace("-", "−")
