"""Room for the frames of deep calls.

CPython 3.11 and later keep the frames of a thread in pieces of 16 kB: a call that needs the next piece has it mapped,
its return unmaps it. Where a loop calls over the end of a piece, that happens thousands of times in one page: 36 of
the 280 ms of an article's. A piece is as large as its first frame needs, so a large first frame makes room for all.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

T = TypeVar("T")
# Of 8 bytes: with what else is in it, more than half a MB, so the piece is 1 MB; what no call reaches takes no memory.
SLOTS = 2**16


def _call(function: Callable[..., T], *given: Any) -> T:
    return function(*given)


_with_a_large_frame = FunctionType(_call.__code__.replace(co_stacksize=SLOTS), globals())


def with_room(function: Callable[..., T], *given: Any) -> T:
    """What `function(*given)` returns; all that it calls finds room in one piece."""
    result: T = _with_a_large_frame(function, *given)
    return result
