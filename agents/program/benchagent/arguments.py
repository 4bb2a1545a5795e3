"""Command lines on which nothing that was said is lost without a word."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")


class Once(argparse.Action):
    """An option with one value: given twice, the first would be lost, so that is refused."""

    _given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        # Kept here and not in the namespace: a command before and after its action has namespaces of its own.
        if option_string and self._given:
            parser.error(f"argument {option_string}: given twice, and it takes one value")
        self._given = True
        setattr(namespace, self.dest, values)


def refuse_repeated(parser: argparse.ArgumentParser) -> None:
    """Arguments that are added from now on are each given once at most. A parser reads one command line."""
    for name in (None, "store"):
        parser.register("action", name, Once)


class ArgumentParser(argparse.ArgumentParser):
    """Its commands' parsers are of this class too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        refuse_repeated(self)


def by_name(option: str, pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Values of an option that is given once per name. Raises ValueError where a name comes twice."""
    values: dict[str, Value] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"{option} {name} is given twice, with {values[name]} and {value}: say one of them")
        values[name] = value
    return values


def above_zero(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)
