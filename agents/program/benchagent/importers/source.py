"""What an importer takes: a file, its text, and the numbers or the JSON in it."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

Made = TypeVar("Made")
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
GZIP_MAGIC = b"\x1f\x8b"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class NotUnderstood(ValueError):
    """Raised by an importer that claimed a file and then cannot trust it; the text says what and where."""


@dataclass(frozen=True)
class SourceFile:
    """A file as it came. `name` is never used to recognise a tool, only to say what belongs together."""

    name: str
    data: bytes
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, what: str, make: Callable[[], Made]) -> Made:
        """What is worked out of the content, once for all who ask for it."""
        if what not in self._made:
            self._made[what] = make()
        made: Made = self._made[what]
        return made

    @cached_property
    def unpacked(self) -> bytes:
        """The content, unzipped where it is gzip. Raises NotUnderstood for a broken or too large archive."""
        if not self.data.startswith(GZIP_MAGIC):
            return self.data
        try:
            stream = zlib.decompressobj(wbits=31)
            data = stream.decompress(self.data, MAX_UNPACKED_BYTES)
        except zlib.error as error:
            raise NotUnderstood(f"broken gzip: {error}") from error
        if not stream.eof:
            raise NotUnderstood("the gzip file is cut, or larger than 256 MB unpacked")
        rest = stream.unused_data.strip(b"\x00")
        if rest:
            try:
                data += gzip.decompress(rest)
            except (OSError, EOFError, zlib.error) as error:
                raise NotUnderstood(f"something follows the gzip data: {error}") from error
        return data

    @cached_property
    def text(self) -> str:
        r"""The content as text with `\n` line ends. Raises NotUnderstood for what is not text."""
        data = self.unpacked
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            try:
                text = data.decode("utf-16")
            except UnicodeDecodeError as error:
                raise NotUnderstood("not text: broken UTF-16") from error
        else:
            if b"\x00" in data:
                raise NotUnderstood("not text: it contains NUL bytes")
            text = _decoded(data)
        if any(character < " " and character not in "\t\n\r\f\x1b\b" for character in set(text)):
            raise NotUnderstood("not text: it contains control characters")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends."""
        return self.text.removesuffix("\n").split("\n") if self.text else []

    @property
    def last_line_is_whole(self) -> bool:
        """False when the text does not end with a line end: its last line may be cut, and so may its last number."""
        return self.text.endswith("\n")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def number(text: str) -> float:
    """A plain decimal number with a point. Raises NotUnderstood for anything else: a comma may mean two things."""
    text = text.strip()
    if not is_number(text):
        raise NotUnderstood(f"not a plain number: {text[:40]!r}")
    value = float(text)
    if not math.isfinite(value):
        raise NotUnderstood(f"not a finite number: {text[:40]!r}")
    return value


def whole(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise NotUnderstood(f"not a whole number: {text[:40]!r}")
    return int(text)


def slug(text: str, joint: str = "_", longest: int = 100) -> str:
    """In small letters and digits: "Stock-Level (new)" -> "stock_level_new"."""
    return re.sub(r"[^a-z0-9]+", joint, text.lower()).strip(joint)[:longest]


def agree(left: float, right: float, *, relative: float, absolute: float = 0.0) -> bool:
    """Whether two ways to the same figure say the same, within the rounding of what was printed."""
    return math.isclose(left, right, rel_tol=relative, abs_tol=absolute)


# JSON that says nothing twice and holds no NaN: where a line is doubled or a number lost, nothing is trusted.


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        raise NotUnderstood(f"the JSON says {next(key for key in keys if keys.count(key) > 1)[:40]!r} twice")
    return content


def _constant(name: str) -> float:
    raise NotUnderstood(f"the JSON holds {name}")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def decoded(text: str, start: int = 0) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends. Raises NotUnderstood."""
    try:
        return _DECODER.raw_decode(text, start)
    except NotUnderstood:
        raise
    except ValueError as error:
        raise NotUnderstood(f"broken JSON: {error}") from error
    except RecursionError as error:
        raise NotUnderstood("JSON nested too deep") from error


def number_in(content: Mapping[str, Any], key: str) -> float | None:
    """None where it is missing or null. Raises NotUnderstood for what is no number."""
    value = content.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotUnderstood(f"{key!r} is no number: {value!r:.40}")
    return float(value)
