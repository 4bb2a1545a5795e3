"""Formulas that people read and the program computes: one text, so that the two cannot differ.

`evaluate("407.97 / 494.73 − 1")` is −0.17537…; `× / + − ^` and brackets, and over lists the functions below. Numbers
have a decimal point and no thousands separator; names stand for the values given by name.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping, Sequence

Value = float | Sequence[float]

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
    "sum": sum,
    "min": min,
    "max": max,
    "count": len,
    # Of a sample, n − 1.
    "stdev": statistics.stdev,
    "log2": lambda values: math.log2(*values),
}


class FormulaError(ValueError):
    """The text is no formula of this kind, or it has no value (division by nothing, a median of nothing)."""


def evaluate(formula: str, values: Mapping[str, Value] | None = None) -> float:
    """The value of a formula. Raises FormulaError."""
    try:
        return float(_value(ast.parse(formula.translate(_SIGNS), mode="eval").body, values or {}))
    except FormulaError:
        raise
    except (SyntaxError, ArithmeticError, TypeError, ValueError) as error:
        raise FormulaError(f"{formula}: {error}") from error


def _value(node: ast.expr, values: Mapping[str, Value]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in values:
            return _single(name, values[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name]([one for argument in args for one in _list(argument, values)])
        case _:
            raise FormulaError(f"not understood: {ast.unparse(node)}")


def _single(name: str, value: Value) -> float:
    if isinstance(value, Sequence):
        raise FormulaError(f"{name} is a list: say which of its values, or median, mean, sum …")
    return value


def _list(node: ast.expr, values: Mapping[str, Value]) -> Sequence[float]:
    if isinstance(node, ast.Name) and isinstance(found := values.get(node.id), Sequence):
        return found
    return [_value(node, values)]


def written(formula: str, values: Mapping[str, Value]) -> str:
    """The formula with its numbers in place of the names: `after / before − 1` becomes `407.97 / 494.73 − 1`."""
    return _NAME.sub(lambda found: _operand(values[found[0]]) if found[0] in values else found[0], formula)


def _operand(value: Value) -> str:
    text = _spelt(value)
    return f"({text})" if not isinstance(value, Sequence) and value < 0 else text


def _spelt(value: Value) -> str:
    if isinstance(value, Sequence):
        return ", ".join(_spelt(one) for one in value)
    text = repr(float(value)).removesuffix(".0")
    return text.replace("-", "−") if "e" not in text else f"{value:f}".rstrip("0")
