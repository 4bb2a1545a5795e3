"""Values of settings as quantities: bytes, seconds, yes or no, numbers, pages. What cannot be converted says why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
BINARY = {"k": KIB, "m": MIB, "g": GIB, "t": TIB, "p": 1024**5, "e": 1024**6}


class Kind(StrEnum):
    BYTES = "bytes"
    SECONDS = "seconds"
    BOOL = "bool"
    NUMBER = "number"
    PAGES = "pages"
    TEXT = "text"


Value = int | float | bool | str | None


@dataclass(frozen=True)
class Quantity:
    """`value` is in bytes, seconds, … by `kind`. `words` is for people, `reason` says how it was got."""

    kind: Kind
    value: Value
    words: str
    reason: str = ""

    def because(self, reason: str) -> Quantity:
        return replace(self, reason=reason)

    @property
    def key(self) -> tuple[str, Value]:
        """Equal for equal settings, however they are written."""
        return self.kind.value, self.value.casefold() if isinstance(self.value, str) else self.value

    @property
    def is_unread(self) -> bool:
        """Whether it is to be a number, and has a unit that is not known, or is none; or is no value that there is."""
        return re.match(r"unit \S+ is not known|not a number|not one of ", self.reason) is not None


@dataclass(frozen=True)
class Default:
    """A default that changed with versions: what it was first, then (version, from then on). None is no fixed value."""

    first: str | None
    steps: tuple[tuple[str, str | None], ...]

    def of(self, version: tuple[int, ...]) -> str | None:
        """None where the version is not known."""
        if not version:
            return None
        reached = [value for number, value in self.steps if version >= tuple(map(int, number.split(".")))]
        return reached[-1] if reached else self.first

    def words(self) -> str:
        """`4MB since 9.4, 1MB before`."""
        later = [f"{value or 'computed'} since {number}" for number, value in reversed(self.steps)]
        return ", ".join([*later, f"{self.first or 'computed'} before"])


@dataclass(frozen=True)
class Spec:
    """What a parameter counts in. `unit`: bytes or seconds of a bare number. `words`: values that mean them.

    `only`: all values that a text may have, in capitals; none where any may stand.
    """

    kind: Kind
    unit: float = 1
    default: str | Default | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()


_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµ]*)\Z")
# What is larger is no setting.
LARGEST = 1e18
YES = frozenset({"on", "true", "yes", "1", "t", "y"})
NO = frozenset({"off", "false", "no", "0", "f", "n"})


@dataclass(frozen=True)
class Suffixes:
    """Units that an engine reads behind a number. `exact`: upper and lower case differ (PostgreSQL's kB)."""

    sizes: Mapping[str, int]
    times: Mapping[str, float]
    exact: bool = False

    def find(self, suffix: str, kind: Kind) -> float | None:
        known: Mapping[str, float] = self.sizes if kind is Kind.BYTES else self.times
        return known.get(suffix if self.exact else suffix.lower())


def convert(given: str, spec: Spec, suffixes: Suffixes) -> Quantity:
    """The quantity of a value as the engine reads it (without quotes). What is no such quantity stays a text."""
    bare = given.strip()
    words = spec.words.get(bare)
    if words:
        return Quantity(Kind.TEXT, words, words, f"{bare} means {words}")
    if spec.kind is Kind.BOOL:
        return _yes_or_no(bare)
    if spec.kind is Kind.TEXT:
        is_one = not spec.only or bare.upper() in spec.only
        return Quantity(Kind.TEXT, bare, bare, "" if is_one else f"not one of {', '.join(spec.only)}")
    match = _number(bare)
    if match is None:
        return Quantity(Kind.TEXT, bare, bare, "not a number")
    return _numeric(float(match[1]), match[2], bare, spec, suffixes)


def _numeric(number: float, suffix: str, bare: str, spec: Spec, suffixes: Suffixes) -> Quantity:
    amount = spec.kind in (Kind.BYTES, Kind.SECONDS)
    bare_unit = spec.unit if amount else 1.0
    factor = suffixes.find(suffix, spec.kind if amount else Kind.BYTES) if suffix else bare_unit
    if factor is None:
        return Quantity(Kind.TEXT, bare, bare, f"unit {suffix} is not known")
    if amount and number < 0:
        return Quantity(Kind.TEXT, bare, bare, "negative: it has a meaning of its own")
    value = tidy(number * factor)
    if not amount:
        return Quantity(spec.kind, value, f"{value:,} pages" if spec.kind is Kind.PAGES else f"{value:,}")
    in_words = size_words if spec.kind is Kind.BYTES else time_words
    counted = "" if suffix or spec.unit == 1 else f"{bare} × {in_words(tidy(spec.unit))}"
    return Quantity(spec.kind, value, in_words(value), counted)


def _number(bare: str) -> re.Match[str] | None:
    match = _NUMBER.match(bare)
    return match if match and abs(float(match[1])) < LARGEST else None


def _yes_or_no(bare: str) -> Quantity:
    lower = bare.lower()
    if lower in YES:
        return Quantity(Kind.BOOL, True, "on")
    if lower in NO:
        return Quantity(Kind.BOOL, False, "off")
    return Quantity(Kind.TEXT, bare, bare)


def guess(given: str, suffixes: Suffixes) -> Quantity:
    """A value of a parameter that we do not know: a unit tells what it is, otherwise it stays a number or a text."""
    bare = given.strip()
    match = _number(bare)
    if match is None:
        return _yes_or_no(bare) if len(bare) > 1 else Quantity(Kind.TEXT, bare, bare)
    if not match[2]:
        return Quantity(Kind.NUMBER, tidy(float(match[1])), f"{tidy(float(match[1])):,}")
    for spec in (Spec(Kind.BYTES), Spec(Kind.SECONDS)):
        if suffixes.find(match[2], spec.kind) is not None:
            return convert(bare, spec, suffixes)
    return Quantity(Kind.TEXT, bare, bare)


def tidy(number: float) -> int | float:
    rounded = round(number, 9)
    return int(rounded) if rounded == int(rounded) else rounded


def size_words(value: float) -> str:
    """4294967296 is "4 GiB"; a size that is no round one keeps three digits."""
    for factor, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if abs(value) >= factor:
            return f"{_figure(value / factor)} {name}"
    return f"{_figure(value)} bytes"


def time_words(value: float) -> str:
    for factor, name in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"), (0.001, "ms"), (0.000_001, "µs")):
        whole = factor >= 60
        scaled = tidy(value / factor)
        if value >= factor and (not whole or isinstance(scaled, int)):
            return f"{_figure(scaled)} {name}"
    return f"{_figure(value)} s"


def _figure(number: float) -> str:
    exact = tidy(number)
    return f"{exact:,}" if isinstance(exact, int) else f"{number:,.4g}"
