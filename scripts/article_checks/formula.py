"""Formulas that people read and the program computes: one text, so that the two cannot differ.

`evaluate("407.97 / 494.73 − 1")` is −0.17537…; `× / + − ^` and brackets, and over lists the functions below. Numbers
have a decimal point and no thousands separator; names stand for the values given by name. Nothing else is understood,
so a text from a stranger can run no code; its length and the sizes of its numbers are limited.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

Value = float | Sequence[float]

MOST_CHARACTERS = 2_000
_SIGNS = str.maketrans({"×": "*", "−": "-", "÷": "/", "^": "**"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERATORS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "geometric_mean": statistics.geometric_mean,
    "sum": sum,
    "min": min,
    "max": max,
    "count": len,
    # The standard deviation of a sample, by n − 1.
    "stdev": statistics.stdev,
    "log2": lambda values: math.log2(*values),
}


class FormulaError(ValueError):
    """The text is no formula of this kind, or it has no value (division by nothing, a median of nothing)."""


def evaluate(formula: str, values: Mapping[str, Value] | None = None) -> float:
    """The number that a formula gives. Raises FormulaError."""
    value = Evaluator(values or {}).value(formula)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormulaError(f"{formula}: no number")
    return float(value)


class Evaluator:
    """Values of formulas with these names."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = dict(names)

    def value(self, formula: str) -> Any:
        """Raises FormulaError."""
        if len(formula) > MOST_CHARACTERS:
            raise FormulaError(f"longer than {MOST_CHARACTERS} characters: {formula[:60]}…")
        try:
            return self.of(_parsed(formula))
        except FormulaError:
            raise
        except (SyntaxError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError, MemoryError) as error:
            raise FormulaError(f"{formula}: {error}") from error

    def of(self, node: ast.expr) -> Any:
        """The value of a part of a formula."""
        match node:
            case ast.Constant(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -number_of(self.of(operand), operand)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
                return number_of(
                    _OPERATORS[type(sign)](number_of(self.of(left), left), number_of(self.of(right), right))
                )
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                given = [self.of(arg) for arg in args]
                flat = [value for arg in given for value in (arg if isinstance(arg, list | tuple) else (arg,))]
                return FUNCTIONS[name](flat if name == "count" else [number_of(number) for number in flat])
            case _:
                raise FormulaError(f"not understood: {ast.unparse(node)}")


@lru_cache(maxsize=1_000)
def _parsed(formula: str) -> ast.expr:
    """Once for all rows that it is computed for."""
    return ast.parse(formula.translate(_SIGNS).strip(), mode="eval").body


def number_of(value: Any, node: ast.expr | None = None) -> float:
    """Raises FormulaError where it is no number."""
    if not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value):
        return value
    what = ast.unparse(node) if node else "this"
    if isinstance(value, list | tuple):
        raise FormulaError(f"{what} is a list: say which of its values, or median, mean, sum …")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormulaError(f"{what} is no number: {str(value)[:40]}")
    raise FormulaError(f"{what} is too large")


def written(formula: str, values: Mapping[str, Value]) -> str:
    """The formula with its numbers in place of the names: `after / before − 1` becomes `407.97 / 494.73 − 1`."""

    def operand(name: re.Match[str]) -> str:
        value = values.get(name[0])
        if value is None:
            return name[0]
        return f"({_spelt(value)})" if not isinstance(value, Sequence) and value < 0 else _spelt(value)

    return _NAME.sub(operand, formula)


def _spelt(value: Value) -> str:
    if isinstance(value, Sequence):
        return ", ".join(_spelt(number) for number in value)
    text = repr(float(value)).removesuffix(".0")
    return text.replace("-", "−") if "e" not in text else f"{value:f}".rstrip("0")
