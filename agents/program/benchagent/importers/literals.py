"""What a text must contain for a regular expression to match in it.

To look for a few words is much faster than to try an expression at each character of a text, and most of what is
looked for in a file is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Words = frozenset[str]
# What says nothing: it may be anywhere.
NOTHING: Words = frozenset({""})


@cache
def literals_of(pattern: re.Pattern[str]) -> Words:
    """Wherever the pattern matches, at least one of these stands in the text; the empty word, where none has to."""
    if pattern.flags & re.IGNORECASE:
        return NOTHING
    return _of_sequence(parser.parse(pattern.pattern, pattern.flags))


def search(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """As `pattern.search`."""
    return pattern.search(text) if any(word in text for word in literals_of(pattern)) else None


def _of_sequence(parts: Iterable[tuple[Any, Any]]) -> Words:
    """All parts have to match, so the best of what they ask for is asked for."""
    asked, run = [NOTHING], ""
    for code, value in parts:
        if code is codes.LITERAL:
            run += chr(value)
        else:
            asked += [frozenset({run}), _of_part(code, value)]
            run = ""
    return max([*asked, frozenset({run})], key=lambda words: min(map(len, words)))


def _of_part(code: Any, value: Any) -> Words:
    if code is codes.SUBPATTERN:
        _, more_flags, _, parts = value
        return NOTHING if more_flags & re.IGNORECASE else _of_sequence(parts)
    if code is codes.BRANCH:
        return frozenset().union(*map(_of_sequence, value[1]))
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[0] > 0:
        return _of_sequence(value[2])
    return NOTHING
