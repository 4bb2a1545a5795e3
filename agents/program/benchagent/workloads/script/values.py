"""Reads how a variable or a column gets its values: ``random(1, 100)`` and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from benchagent.workloads.script.model import Drawn

Argument = int | Decimal | str | bool | None

CALL = re.compile(r"(\w+)\s*(?:\((.*)\))?", re.DOTALL)
ARGUMENT = re.compile(r"\s*(?:'((?:[^']|'')*)'|(-?\d{1,30}(?:\.\d{1,18})?)|(null|true|false))\s*(,|$)", re.IGNORECASE)
WORDS: dict[str, Argument] = {"null": None, "true": True, "false": False}
INT64 = 2**63 - 1
INT32 = 2**31 - 1
LONGEST_TEXT = 100_000
MOST_DIGITS = 18


class ValueProblem(Exception):
    """What is wrong, without the line."""


def variable(text: str) -> Drawn:
    """Raises `ValueProblem`."""
    return _read(text, {**DRAWN, **VARIABLES})


def column(text: str) -> Drawn:
    """Raises `ValueProblem`. A share of nulls may follow: ``random(1, 5) null 0.1``."""
    found = re.fullmatch(r"(.*\S)\s+null\s+([01](?:\.\d{1,9})?)", text, re.DOTALL)
    if found is None:
        return _read(text, {**DRAWN, **COLUMNS})
    share = float(found[2])
    if share > 1:
        raise ValueProblem(f"a share of nulls is 0 … 1, not {found[2]}")
    return {**_read(found[1], {**DRAWN, **COLUMNS}), "null_share": share}


def _read(text: str, kinds: dict[str, Callable[[Sequence[Argument]], Drawn]]) -> Drawn:
    call = CALL.fullmatch(text.strip())
    if call is None:
        raise ValueProblem(f"not of the form kind(value, …): {text.strip()[:60]}")
    kind = call[1].lower()
    if kind not in kinds:
        raise ValueProblem(f"no kind of value is called {call[1][:60]}; there are {', '.join(sorted(kinds))}")
    return kinds[kind](_arguments(call[2] or ""))


def _arguments(text: str) -> list[Argument]:
    found: list[Argument] = []
    position = 0
    more = bool(text.strip())
    while more:
        match = ARGUMENT.match(text, position)
        if match is None:
            raise ValueProblem(f"neither a number, nor a text in single quotes: {text[position:].strip()[:60]}")
        found.append(_argument(match))
        position, more = match.end(), match[4] == ","
    return found


def _argument(match: re.Match[str]) -> Argument:
    text, number, word = match[1], match[2], match[3]
    if text is not None:
        return text.replace("''", "'")
    if number is None:
        return WORDS[word.lower()]
    return Decimal(number) if "." in number else int(number)


def _count(kind: str, given: Sequence[Argument], low: int, high: int, usage: str) -> None:
    if not low <= len(given) <= high:
        raise ValueProblem(f"{kind} has the form {usage}")


def _whole(kind: str, value: Argument, what: str, low: int = -INT64, high: int = INT64 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueProblem(f"{kind}: {what} has to be a whole number")
    if not low <= value <= high:
        raise ValueProblem(f"{kind}: {what} has to be {low} … {high}, not {value}")
    return value


def _ordered(kind: str, low: Any, high: Any) -> None:
    if low > high:
        raise ValueProblem(f"{kind}: {low} is above {high}")


def _text(kind: str, value: Argument, what: str) -> str:
    if not isinstance(value, str):
        raise ValueProblem(f"{kind}: {what} has to be a text in single quotes")
    return value


def _random(given: Sequence[Argument]) -> Drawn:
    _count("random", given, 2, 2, "random(min, max)")
    low, high = (_whole("random", value, what) for value, what in zip(given, ("min", "max"), strict=True))
    _ordered("random", low, high)
    return {"kind": "uniform", "min": low, "max": high}


def _nurand(given: Sequence[Argument]) -> Drawn:
    _count("nurand", given, 4, 4, "nurand(a, c, min, max)")
    names = ("a", "c", "min", "max")
    values = {name: _whole("nurand", value, name, 0, INT32) for name, value in zip(names, given, strict=True)}
    _ordered("nurand", values["min"], values["max"])
    return {"kind": "nurand", **values}


def _random_text(given: Sequence[Argument]) -> Drawn:
    _count("text", given, 1, 3, "text(length), text(min, max) or text(min, max, 'alphabet')")
    low = _whole("text", given[0], "the length", 0, LONGEST_TEXT)
    high = _whole("text", given[1], "the length", 0, LONGEST_TEXT) if len(given) > 1 else low
    _ordered("text", low, high)
    found = {"kind": "text", "min_length": low, "max_length": high}
    if len(given) < 3:
        return found
    alphabet = _text("text", given[2], "the alphabet")
    if not alphabet:
        raise ValueProblem("text: the alphabet is empty")
    return {**found, "alphabet": alphabet}


def _decimal(given: Sequence[Argument]) -> Drawn:
    _count("decimal", given, 3, 3, "decimal(min, max, scale)")
    scale = _whole("decimal", given[2], "the scale", 0, MOST_DIGITS)
    low, high = (_decimal_limit(value, scale) for value in given[:2])
    _ordered("decimal", low, high)
    return {"kind": "decimal", "min": str(low), "max": str(high), "scale": scale}


def _decimal_limit(value: Argument, scale: int) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueProblem("decimal: min and max have to be numbers")
    number = Decimal(value)
    digits = number.scaleb(scale)
    if digits != int(digits):
        raise ValueProblem(f"decimal: {value} has more than {scale} digits behind the point")
    if abs(digits) >= 10**MOST_DIGITS:
        raise ValueProblem(f"decimal: {value} has more than {MOST_DIGITS} digits")
    return number


def _choice(given: Sequence[Argument]) -> Drawn:
    if not given:
        raise ValueProblem("choice has the form choice(value, …)")
    return {"kind": "choice", "values": [_plain("choice", value) for value in given]}


def _constant(given: Sequence[Argument]) -> Drawn:
    _count("constant", given, 1, 1, "constant(value)")
    return {"kind": "constant", "value": _plain("constant", given[0])}


def _plain(kind: str, value: Argument) -> Any:
    """As JSON has it; a number with a point becomes a double there."""
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, bool | str) or value is None else _whole(kind, value, "a value")


def _bare(name: str, kind: str) -> Callable[[Sequence[Argument]], Drawn]:
    def read(given: Sequence[Argument]) -> Drawn:
        _count(name, given, 0, 0, f"{name}()")
        return {"kind": kind}

    return read


def _variable_sequence(given: Sequence[Argument]) -> Drawn:
    _count("sequence", given, 0, 1, "sequence(start)")
    return {"kind": "sequence", "start": _whole("sequence", given[0], "start") if given else 1}


def _column_sequence(given: Sequence[Argument]) -> Drawn:
    _count("sequence", given, 0, 2, "sequence(start, step)")
    names = ("start", "step")
    values = {name: _whole("sequence", value, name) for name, value in zip(names, given, strict=False)}
    return {"kind": "sequence", "start": 1, "step": 1, **values}


def _group(given: Sequence[Argument]) -> Drawn:
    _count("group", given, 1, 2, "group(size, start)")
    start = _whole("group", given[1], "start") if len(given) > 1 else 1
    return {"kind": "group", "size": _whole("group", given[0], "size", 1), "start": start}


def _fill(given: Sequence[Argument]) -> Drawn:
    _count("fill", given, 1, 2, "fill(length, 'character')")
    character = _text("fill", given[1], "the character") if len(given) > 1 else " "
    if len(character) != 1:
        raise ValueProblem("fill: one character, no more and no less")
    return {"kind": "text", "length": _whole("fill", given[0], "the length", 0, LONGEST_TEXT), "fill": character}


def _numbered(given: Sequence[Argument]) -> Drawn:
    _count("numbered", given, 1, 3, "numbered('prefix', width, start)")
    width = _whole("numbered", given[1], "the width", 1, LONGEST_TEXT) if len(given) > 1 else 1
    start = _whole("numbered", given[2], "start") if len(given) > 2 else 1
    prefix = _text("numbered", given[0], "the prefix")
    return {"kind": "numbered_text", "prefix": prefix, "width": width, "start": start}


def _time(given: Sequence[Argument]) -> Drawn:
    _count("time", given, 2, 2, "time('2026-01-31 00:00:00', step in seconds)")
    start, step = _text("time", given[0], "the start"), given[1]
    try:
        datetime.strptime(start, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        raise ValueProblem(f"time: not of the form 2026-01-31 00:00:00: {start[:60]}") from None
    if isinstance(step, bool) or not isinstance(step, int | Decimal) or not 0 <= step <= INT32:
        raise ValueProblem("time: the step has to be a number of seconds")
    return {"kind": "timestamp", "start": start, "step_s": float(step)}


DRAWN: dict[str, Callable[[Sequence[Argument]], Drawn]] = {
    "random": _random,
    "nurand": _nurand,
    "text": _random_text,
    "decimal": _decimal,
    "choice": _choice,
    "constant": _constant,
}
VARIABLES: dict[str, Callable[[Sequence[Argument]], Drawn]] = {
    "now": _bare("now", "timestamp"),
    "terminal": _bare("terminal", "terminal"),
    "sequence": _variable_sequence,
}
COLUMNS: dict[str, Callable[[Sequence[Argument]], Drawn]] = {
    "sequence": _column_sequence,
    "group": _group,
    "fill": _fill,
    "numbered": _numbered,
    "time": _time,
}
