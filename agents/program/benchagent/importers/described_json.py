"""Objects of a JSON document as a description names them (`described`): where each stands, and what it says.

docs/use/importers/own-tools.md has examples. A path names the members on the way, as a JSON pointer does; `*` is each
of a list or an object, `name=x` the one of a list whose name is x. Of several paths the first counts at which one of
the members is.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchagent.importers.source import NotUnderstood

_MEMBER = re.compile(
    r"(?P<opens>\[)?(?:(?P<fold>sum|min|max|count|p\d{1,2}(?:\.\d{1,3})?) )?(?P<path>[^\n]{1,200}?)(?(opens)\])"
)
_PATH = re.compile(r"(?:/[^/\n]{1,100}){0,20}")
_FOLDS: dict[str, Any] = {"sum": sum, "min": min, "max": max}
MAX_MEMBERS = 60


class BadDescription(ValueError):
    """What is wrong with a description, and where, in words for whoever wrote it."""


def _inside(value: Any, step: str) -> list[Any]:
    if isinstance(value, dict):
        return [*value.values()] if step == "*" else [value[step]] if step in value else []
    if not isinstance(value, list) or step == "*":
        return value if isinstance(value, list) else []
    name, _, wanted = step.partition("=")
    return [each for each in value if isinstance(each, dict) and wanted and each.get(name) == wanted]


def _at(values: list[Any], path: Sequence[str]) -> list[Any]:
    for step in path:
        values = [inner for value in values for inner in _inside(value, step)]
    return values


def _counted(histograms: Sequence[Any], fold: str) -> float | None:
    """`count`, or what so many percent do not exceed (`p95`), of objects that say how often each value was."""
    counts = Counter[float]()
    try:
        for histogram in histograms:
            counts.update({float(value): int(count) for value, count in histogram.items()})
    except (AttributeError, TypeError, ValueError) as error:
        raise NotUnderstood("what is to be counts of values is something else") from error
    if fold == "count":
        return counts.total()
    rank = counts.total() * float(fold[1:]) / 100
    so_far = itertools.accumulate(counts[value] for value in sorted(counts))
    return next((value for value, until in zip(sorted(counts), so_far, strict=True) if until >= rank > 0), None)


class _Member(NamedTuple):
    # What is made of several: their sum, …, or a percentile of what they count; empty where one is meant.
    fold: str
    path: tuple[str, ...]
    may_be_missing: bool

    def value_in(self, objects: list[Any]) -> Any:
        """None where it says nothing. Raises NotUnderstood where an object lacks it, or where it is no single value."""
        values, name = _at(objects, self.path), "/".join(self.path)
        if len(values) < len(objects) and not self.may_be_missing:
            raise NotUnderstood(f"{name!r} is missing")
        if self.fold not in ("", *_FOLDS):
            return _counted(values, self.fold)
        values = [value for value in values if not (value is None or (isinstance(value, float) and math.isnan(value)))]
        if not all(isinstance(value, int | float if self.fold else int | float | str) for value in values):
            raise NotUnderstood(f"{name!r} is no {'number' if self.fold else 'single value'}")
        return _FOLDS[self.fold](values) if self.fold and values else next(iter(values), None)


class JsonObject(NamedTuple):
    """An object of a document, or each of several: its places, and its members by the values that they say."""

    paths: list[list[str]]
    members: dict[str, _Member]

    @staticmethod
    def of(content: Any, where: str, *, repeats: bool) -> JsonObject:
        """Raises BadDescription."""
        if not isinstance(content, dict) or not 0 < len(content) <= MAX_MEMBERS:
            raise BadDescription(f"{where}: values with their members are expected, as {{at: /stats, requests: count}}")
        at = content.get("at", "")
        paths = at if isinstance(at, list) and at else [at]
        if not all(isinstance(path, str) and _PATH.fullmatch(path) for path in paths):
            raise BadDescription(f"{where}: at is a path, as /results/*, or a list of paths")
        members = {str(name): _member(text, where) for name, text in content.items() if name != "at"}
        several = any("*" in path for path in paths) and not repeats
        if several and not all(member.fold for member in members.values()):
            raise BadDescription(f"{where}: of several objects a value is their sum, min, max or a percentile (p95)")
        return JsonObject([path.split("/")[1:] for path in paths], members)

    def found_in(self, document: Any) -> list[Any]:
        all_found = (_at([document], path) for path in self.paths)
        members = self.members.values()
        return next((found for found in all_found if any(_at(found, member.path) for member in members)), [])

    def values_of(self, objects: list[Any]) -> dict[str, Any]:
        """Raises NotUnderstood."""
        values = {name: member.value_in(objects) for name, member in self.members.items()}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def words(self) -> tuple[str, ...]:
        """Of each place the longest name that stands in a document that has it, as it stands there."""
        always = ["", *(member.path[-1] for member in self.members.values() if not member.may_be_missing)]
        names = ([*(step.rpartition("=")[2] for step in path if step != "*"), *always] for path in self.paths)
        return tuple(sorted({json.dumps(max(some, key=len)) for some in names}))


def _member(text: Any, where: str) -> _Member:
    match = _MEMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise BadDescription(f"{where}: the member that holds a value is named, as count or values/rate")
    return _Member(match["fold"] or "", tuple(match["path"].split("/")), bool(match["opens"]))
