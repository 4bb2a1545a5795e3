"""Formulas that people read and the program computes: one text, so that the two cannot differ.

`evaluate("407.97 / 494.73 − 1")` is −0.17537…; `× / + − ^` and brackets, and over lists the functions below. Numbers
have a decimal point and no thousands separator; names stand for the values given by name.

The rows of checks.json choose what goes into such formulas by the same language with a little more of Python's: texts,
comparisons, `and or not`, `a if b else c`, `x[0]`, `x[1:]`, `row.field`, `[one.field for one in rows if …]`, and the
functions that they are given. Nothing else is understood, so a text from a stranger can run no code; its length, its
steps and the sizes of its numbers are limited.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

Value = float | Sequence[float]

MOST_CHARACTERS, MOST_STEPS = 2_000, 20_000
# Of a function that reads rows.
_CALL_STEPS = 20
_SIGNS = str.maketrans({"×": "*", "−": "-", "÷": "/", "^": "**"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERATORS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, many: item in many,
    ast.NotIn: lambda item, many: item not in many,
}
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "geometric_mean": statistics.geometric_mean,
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


class MissingInputError(LookupError):
    """A row that a formula needs is not there; the words say which."""


class Record(dict[str, Any]):
    """A row with named fields; `what` says which row it is."""

    def __init__(self, what: str, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self.what = what

    def field(self, name: str) -> Any:
        """Raises MissingInputError where it has none."""
        if (value := self.get(name)) is None:
            raise MissingInputError(f"{name.replace('_', ' ')} of {self.what}")
        return value


def evaluate(formula: str, values: Mapping[str, Value] | None = None) -> float:
    """The number that a formula gives. Raises FormulaError."""
    value = Evaluator(values or {}).value(formula)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormulaError(f"{formula}: no number")
    return float(value)


class Evaluator:
    """Values of formulas with these names and functions; together they may take MOST_STEPS steps."""

    def __init__(self, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.names = dict(names)
        self.functions = functions or {}
        self._steps = 0

    def value(self, formula: str) -> Any:
        """Raises FormulaError, MissingInputError."""
        if len(formula) > MOST_CHARACTERS:
            raise FormulaError(f"longer than {MOST_CHARACTERS} characters: {formula[:60]}…")
        try:
            return self._value(_parsed(formula))
        except (FormulaError, MissingInputError):
            raise
        except (SyntaxError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError, MemoryError) as error:
            raise FormulaError(f"{formula}: {error}") from error

    def _value(self, node: ast.expr) -> Any:  # noqa: PLR0911, PLR0912  # one case a kind of node
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise FormulaError(f"more than {MOST_STEPS} steps")
        match node:
            case ast.Constant(value=value):
                return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
                return _number(_OPERATORS[type(sign)](self._number(left), self._number(right)))
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self._value(part) for part in parts)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return any(self._value(part) for part in parts)
            case ast.Compare(left=left, ops=signs, comparators=others):
                return self._compared(self._value(left), signs, others)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self._value(yes if self._value(test) else no)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(part) for part in parts]
            case ast.ListComp(elt=what, generators=[ast.comprehension() as source]):
                return list(self._each(what, source))
            case ast.Attribute(value=owner, attr=name):
                return _field(self._value(owner), name)
            case ast.Subscript(value=owner, slice=at):
                return self._part(self._value(owner), at)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=named):
                return self._call(name, args, named)
            case _:
                raise FormulaError(f"not understood: {ast.unparse(node)}")

    def _number(self, node: ast.expr) -> float:
        return _number(self._value(node), node)

    def _compared(self, left: Any, signs: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> bool:
        for sign, other in zip(signs, others, strict=True):
            right = self._value(other)
            if not _COMPARISONS[type(sign)](left, right):
                return False
            left = right
        return True

    def _each(self, what: ast.expr, source: ast.comprehension) -> Iterator[Any]:
        if not isinstance(source.target, ast.Name):
            raise FormulaError("[… for name in list]: one name")
        name, before = source.target.id, dict(self.names)
        for row in self._value(source.iter):
            self.names[name] = row
            if all(self._value(test) for test in source.ifs):
                yield self._value(what)
        self.names = before

    def _part(self, owner: Any, at: ast.expr) -> Any:
        if not isinstance(owner, list | tuple):
            raise FormulaError("[ ] takes from lists only")
        if not isinstance(at, ast.Slice):
            return owner[int(self._value(at))]
        ends = (None if end is None else int(self._value(end)) for end in (at.lower, at.upper))
        return owner[slice(*ends)]

    def _call(self, name: str, args: Sequence[ast.expr], named: Sequence[ast.keyword]) -> Any:
        given = [self._value(arg) for arg in args]
        if name in FUNCTIONS and not named:
            flat = [value for arg in given for value in (arg if isinstance(arg, list | tuple) else (arg,))]
            self._steps += len(flat)
            return FUNCTIONS[name](flat if name == "count" else [_number(number) for number in flat])
        if name not in self.functions:
            raise FormulaError(f"not understood: {name}( )")
        self._steps += _CALL_STEPS
        return self.functions[name](*given, **{str(keyword.arg): self._value(keyword.value) for keyword in named})


@lru_cache(maxsize=1_000)
def _parsed(formula: str) -> ast.expr:
    """Once for all rows that it is computed for."""
    return ast.parse(formula.translate(_SIGNS).strip(), mode="eval").body


def _number(value: Any, node: ast.expr | None = None) -> float:
    if not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value):
        return value
    what = ast.unparse(node) if node else "this"
    if isinstance(value, list | tuple):
        raise FormulaError(f"{what} is a list: say which of its values, or median, mean, sum …")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormulaError(f"{what} is no number: {str(value)[:40]}")
    raise FormulaError(f"{what} is too large")


def _field(owner: Any, name: str) -> Any:
    if isinstance(owner, Record):
        return owner.field(name)
    if isinstance(owner, list | tuple):
        return [_field(row, name) for row in owner]
    raise FormulaError(f".{name}: no row")


_TEMPLATE = re.compile(r"\{([^{}:]+)(?::(,?(?:\.\d)?[fg]))?\}")


def filled(template: str, evaluator: Evaluator) -> str:
    """The text with the values of its formulas in braces: `{points[0].size_gb} GB`, `{rate:.2f}`."""

    def said(braces: re.Match[str]) -> str:
        value = evaluator.value(braces[1])
        if isinstance(value, list):
            return ", ".join(map(_said, value))
        return format(_number(value), braces[2]) if braces[2] else _said(value)

    return _TEMPLATE.sub(said, template)


def _said(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


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
