"""The language of the formulas that choose what goes into the checks of an article, for who makes one.

It has the arithmetic of `scripts.article_checks.formula` and a little more of Python: texts, comparisons, `and or not`,
`a if b else c`, `x[0]`, `x[1:]`, `row.field`, `[one.field for one in rows if …]`, and the functions that it is given.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scripts.article_checks.formula import FUNCTIONS, FormulaError, number_of
from scripts.article_checks.formula import Evaluator as Arithmetic

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


class Evaluator(Arithmetic):
    """Values of formulas with these names and functions."""

    def __init__(self, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None) -> None:
        super().__init__(names)
        self.functions = functions or {}
        self._missing: MissingInputError | None = None

    def value(self, formula: str) -> Any:
        """Raises FormulaError, MissingInputError."""
        self._missing = None
        try:
            return super().value(formula)
        except FormulaError as error:
            raise self._missing or error from error

    def of(self, node: ast.expr) -> Any:  # noqa: PLR0911  # one case a kind of node
        match node:
            case ast.Constant(value=value) if not isinstance(value, int | float) or isinstance(value, bool):
                return value
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self.of(part) for part in parts)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return any(self.of(part) for part in parts)
            case ast.Compare(left=left, ops=signs, comparators=others):
                return self._compared(self.of(left), signs, others)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.of(yes if self.of(test) else no)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.of(part) for part in parts]
            case ast.ListComp(elt=what, generators=[ast.comprehension() as source]):
                return list(self._each(what, source))
            case ast.Attribute(value=owner, attr=name):
                return self._found(lambda: _field(self.of(owner), name))
            case ast.Subscript(value=owner, slice=at):
                return self._part(self.of(owner), at)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=named) if name in self.functions:
                if name not in FUNCTIONS or named:
                    given = [self.of(arg) for arg in args]
                    more = {str(keyword.arg): self.of(keyword.value) for keyword in named}
                    return self._found(lambda: self.functions[name](*given, **more))
        return super().of(node)

    def _found(self, ask: Callable[[], Any]) -> Any:
        """What is missing is told apart from what is no formula."""
        try:
            return ask()
        except MissingInputError as error:
            self._missing = self._missing or error
            raise

    def _compared(self, left: Any, signs: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> bool:
        for sign, other in zip(signs, others, strict=True):
            right = self.of(other)
            if not _COMPARISONS[type(sign)](left, right):
                return False
            left = right
        return True

    def _each(self, what: ast.expr, source: ast.comprehension) -> Iterator[Any]:
        if not isinstance(source.target, ast.Name):
            raise FormulaError("[… for name in list]: one name")
        name, before = source.target.id, dict(self.names)
        for row in self.of(source.iter):
            self.names[name] = row
            if all(self.of(test) for test in source.ifs):
                yield self.of(what)
        self.names = before

    def _part(self, owner: Any, at: ast.expr) -> Any:
        if not isinstance(owner, list | tuple):
            raise FormulaError("[ ] takes from lists only")
        if not isinstance(at, ast.Slice):
            return owner[int(self.of(at))]
        ends = (None if end is None else int(self.of(end)) for end in (at.lower, at.upper))
        return owner[slice(*ends)]


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
        return format(number_of(value), braces[2]) if braces[2] else _said(value)

    return _TEMPLATE.sub(said, template)


def _said(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
