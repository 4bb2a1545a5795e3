"""Reads how a variable or a column gets its values: ``random(1, 100)`` and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from benchagent.workloads.script.model import Drawn

Argument = int | Decimal | str | bool | None
Kind = Callable[[Sequence[Argument]], Drawn]
# What an argument has to be: of the kind of that name, by what it says.
Reader = Callable[[str, Argument], Any]

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
    nulls = re.fullmatch(r"(.*\S)\s+null\s+([01](?:\.\d{1,9})?)", text, re.DOTALL)
    if nulls is None:
        return _read(text, {**DRAWN, **COLUMNS})
    share = float(nulls[2])
    if share > 1:
        raise ValueProblem(f"a share of nulls is 0 … 1, not {nulls[2]}")
    return {**_read(nulls[1], {**DRAWN, **COLUMNS}), "null_share": share}


def _read(text: str, kinds: dict[str, Kind]) -> Drawn:
    call = CALL.fullmatch(text.strip())
    if call is None:
        raise ValueProblem(f"not of the form kind(value, …): {text.strip()[:60]}")
    kind = call[1].lower()
    if kind not in kinds:
        raise ValueProblem(f"no kind of value is called {call[1][:60]}; there are {', '.join(sorted(kinds))}")
    return kinds[kind](_arguments(call[2] or ""))


def _arguments(text: str) -> list[Argument]:
    arguments: list[Argument] = []
    position = 0
    more = bool(text.strip())
    while more:
        match = ARGUMENT.match(text, position)
        if match is None:
            raise ValueProblem(f"neither a number, nor a text in single quotes: {text[position:].strip()[:60]}")
        quoted, number, word = match[1], match[2], match[3]
        if quoted is not None:
            arguments.append(quoted.replace("''", "'"))
        elif number is None:
            arguments.append(WORDS[word.lower()])
        else:
            arguments.append(Decimal(number) if "." in number else int(number))
        position, more = match.end(), match[4] == ","
    return arguments


def _whole(what: str, low: int = -INT64, high: int = INT64 - 1) -> Reader:
    def read(kind: str, value: Argument) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueProblem(f"{kind}: {what} has to be a whole number")
        if not low <= value <= high:
            raise ValueProblem(f"{kind}: {what} has to be {low} … {high}, not {value}")
        return value

    return read


def _text(what: str) -> Reader:
    def read(kind: str, value: Argument) -> str:
        if not isinstance(value, str):
            raise ValueProblem(f"{kind}: {what} has to be a text in single quotes")
        return value

    return read


def _plain(kind: str, value: Argument) -> Any:
    """As JSON has it; a number with a point becomes a double there."""
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, bool | str) or value is None else _whole("a value")(kind, value)


def _character(kind: str, value: Argument) -> str:
    character: str = _text("the character")(kind, value)
    if len(character) != 1:
        raise ValueProblem(f"{kind}: one character, no more and no less")
    return character


def _moment(kind: str, value: Argument) -> str:
    moment: str = _text("the start")(kind, value)
    try:
        datetime.strptime(moment, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        raise ValueProblem(f"{kind}: not of the form 2026-01-31 00:00:00: {moment[:60]}") from None
    return moment


def _seconds(kind: str, value: Argument) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= INT32:
        raise ValueProblem(f"{kind}: the step has to be a number of seconds")
    return float(value)


def _form(usage: str, drawn: str, defaults: Mapping[str, Any] | None = None, /, **readers: Reader) -> Kind:
    """`drawn`: what the load generator calls it; `readers` of the arguments in their order, by their names there."""
    kind, left_out = usage.partition("(")[0], defaults or {}

    def read(given: Sequence[Argument]) -> Drawn:
        _count(given, len(readers) - len(left_out), len(readers), usage)
        values = {name: reader(kind, value) for (name, reader), value in zip(readers.items(), given, strict=False)}
        if "min" in values:
            _ordered(kind, values["min"], values["max"])
        return {"kind": drawn, **left_out, **values}

    return read


def _count(given: Sequence[Argument], low: int, high: int, usage: str) -> None:
    if not low <= len(given) <= high:
        raise ValueProblem(f"{usage.partition('(')[0]} has the form {usage}")


def _ordered(kind: str, low: Any, high: Any) -> None:
    if low > high:
        raise ValueProblem(f"{kind}: {low} is above {high}")


def _random_text(given: Sequence[Argument]) -> Drawn:
    _count(given, 1, 3, "text(length), text(min, max) or text(min, max, 'alphabet')")
    low, high = (LENGTH("text", value) for value in (given[0], given[1] if len(given) > 1 else given[0]))
    _ordered("text", low, high)
    lengths = {"kind": "text", "min_length": low, "max_length": high}
    if len(given) < 3:
        return lengths
    alphabet = _text("the alphabet")("text", given[2])
    if not alphabet:
        raise ValueProblem("text: the alphabet is empty")
    return {**lengths, "alphabet": alphabet}


def _decimal(given: Sequence[Argument]) -> Drawn:
    _count(given, 3, 3, "decimal(min, max, scale)")
    scale = _whole("the scale", 0, MOST_DIGITS)("decimal", given[2])
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


LENGTH, START, FIRST = _whole("the length", 0, LONGEST_TEXT), _whole("start"), {"start": 1}
NURAND = {name: _whole(name, 0, INT32) for name in ("a", "c", "min", "max")}
DRAWN: dict[str, Kind] = {
    "random": _form("random(min, max)", "uniform", min=_whole("min"), max=_whole("max")),
    "nurand": _form("nurand(a, c, min, max)", "nurand", **NURAND),
    "text": _random_text,
    "decimal": _decimal,
    "choice": _choice,
    "constant": _form("constant(value)", "constant", value=_plain),
}
VARIABLES: dict[str, Kind] = {
    "now": _form("now()", "timestamp"),
    "terminal": _form("terminal()", "terminal"),
    "sequence": _form("sequence(start)", "sequence", FIRST, start=START),
}
COLUMNS: dict[str, Kind] = {
    "sequence": _form("sequence(start, step)", "sequence", FIRST | {"step": 1}, start=START, step=_whole("step")),
    "group": _form("group(size, start)", "group", FIRST, size=_whole("size", 1), start=START),
    "fill": _form("fill(length, 'character')", "text", {"fill": " "}, length=LENGTH, fill=_character),
    "numbered": _form(
        "numbered('prefix', width, start)", "numbered_text", FIRST | {"width": 1}, prefix=_text("the prefix"),
        width=_whole("the width", 1, LONGEST_TEXT), start=START,
    ),
    "time": _form(
        "time('2026-01-31 00:00:00', step in seconds)", "timestamp", start=_moment, step_s=_seconds
    ),
}  # fmt: skip
