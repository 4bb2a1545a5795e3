"""Numbers, bytes and times as people read them. static/js/format.js says the same in the browser.

A missing value is an empty text, never zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")
THIN = "\u202f"
MINUS = "−"
# From so many times on growth is said as a multiple.
TIMES_FROM = 3.0
# Of what is smaller nobody counts the zeros.
SMALLEST = 1e-6
# A sentence names so many things; beyond, it counts them.
MOST_IN_A_SENTENCE = 3
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# What comes before the version that it is called after: 18beta1, 10.0-rc1, 18devel.
_STAGES = {"dev": 0, "snapshot": 0, "pre": 0, "dmr": 1, "alpha": 1, "beta": 2, "rc": 3}
_BEFORE = re.compile(rf"[0-9]*(?P<stage>{'|'.join(_STAGES)})[a-z]*(?P<number>[0-9]*)", re.IGNORECASE)
_VERSION_DIGITS = 9
_LONGEST_ORDER = 200
# The names of so many machines, systems and configurations are kept as they sort: many runs share a few.
_MOST_NAMES = 2_000
# A unit that is a word for several things.
_PLURAL = re.compile(r"(?!.*(?:i|ss|x|ch|sh)es)([a-z]{3,}[b-hj-nqrtv-z])s")
# A size with its unit, else a number, else what stands between numbers.
_NATURAL = re.compile(r"(?P<size>\d+(?:\.\d+)?) ?(?P<unit>(?:[kmgtp]i?)?b)\b|\d+|\D+")


def number(value: float | None) -> str:
    """Four significant digits, whole numbers whole, thousands grouped: 0.01235, 83.27, 508, 1,192, 123,457; below a
    millionth with a power of ten: 2.126·10⁻⁹.
    """
    if value is None:
        return ""
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < SMALLEST:
        return _of_ten(f"{value:.3e}")
    text = f"{Decimal(f'{value:.4g}'):f}"  # a latency of 0.0000015 s, never 1.5e-06
    return f"{value:,.0f}" if abs(float(text)) >= 1000 else text


def _of_ten(text: str) -> str:
    """1.500e-09 as 1.5·10⁻⁹."""
    digits, exponent = text.split("e")
    return f"{Decimal(digits).normalize():f}·10{str(int(exponent)).translate(_RAISED)}"


def plain(value: float | None) -> str:
    """For files: the shortest text that reads back as the same number; empty for a gap."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def exact(value: float | None) -> str:
    """All digits that a source prints (up to ten), thousands apart: 1,813.969025."""
    return "" if value is None else f"{value:,.10g}".replace("-", MINUS if value < 0 else "-")


def decimal(value: float, digits: int, *, signed: bool = False) -> str:
    """−17.54, 1,813.97: fixed decimals, thousands apart, a real minus; what rounds to zero has no sign."""
    text = f"{value:+,.{digits}f}" if signed and round(value, digits) else f"{value:z,.{digits}f}"
    return text.replace("-", MINUS)


def printed(value: float, as_printed: str) -> str:
    """The value with as many decimals as the source prints, where its spelling is this value: "0,80" is 0.80."""
    spelled = as_printed.strip().replace(MINUS, "-").replace(",", ".")
    try:
        same = spelled.count(".") <= 1 and float(spelled) == value
    except ValueError:
        same = False
    return decimal(value, len(spelled.partition(".")[2])) if same else exact(value)


def three_digits(value: float) -> str:
    """Three significant digits, zeros kept: 0.224, 2.80, 31.5, 1,204; of the smallest one: 0.0000033."""
    if 0.001 <= value < 100:
        return f"{value:#.3g}".removesuffix(".")
    if 0 < value < SMALLEST:
        return _of_ten(f"{value:.1e}")
    return f"{Decimal(f'{value:.2g}'):f}" if value < 1 else f"{value:,.0f}"


def times(value: float) -> str:
    """A ratio: 4.74 ×."""
    return f"{three_digits(value)}{THIN}×"


def percent(share: float, *, signed: bool = False) -> str:
    """A share of 1 in per cent: 6.7 %, −17.5 %."""
    return f"{decimal(share * 100, 1, signed=signed)}{THIN}%"


def percent_of(share: float) -> str:
    """A round share of 1, with the digits that it has: 3 %, 2.5 %."""
    return f"{share * 100:.6g}{THIN}%"


def share_words(shares: Sequence[float], per: str = "") -> str:
    """A share, `per` what, and the ends of its interval: −17.5 % (−20.1 to −15.0); grown far 27.2 × (25.0 to 29.1)."""
    is_far = shares[0] + 1 >= TIMES_FROM
    first, *ends = (times(each + 1) if is_far else percent(each, signed=True) for each in shares)
    bare = " to ".join(end.removesuffix(f"{THIN}%").removesuffix(f"{THIN}×") for end in ends)
    return f"{first}{per} ({bare})" if ends else f"{first}{per}"


def byte_size(size_bytes: float | None) -> str:
    """In the unit of 1024 that leaves 1 to 1023: 38.15 MiB."""
    if size_bytes is None:
        return ""
    size, unit = float(size_bytes), 0
    while abs(size) >= 1024 and unit < len(BYTE_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{number(size)} {BYTE_UNITS[unit]}"


def size_words(size_mb: float) -> str:
    """A size in units of 1,000,000 bytes or of their thousand: 108 MB, 9.04 GB, 1,814 GB.

    No TB: an article's is of 1024 GB, other people's are not.
    """
    size, unit = (size_mb / 1000, "GB") if size_mb >= 1000 else (size_mb, "MB")
    return f"{size:,.0f} {unit}" if size >= 100 else f"{size:.3g} {unit}"


def quantity(value: float | None, unit: str) -> str:
    """Number with unit: 508 TPS, 1 deadlock, 12.5 MiB for bytes, 10.7 GB for 10,737 MB."""
    if value is None:
        return ""
    if unit == "MB" and abs(value) >= 1000:
        return size_words(value)
    if value == 1 and (counted := _PLURAL.fullmatch(unit)):
        unit = counted[1]
    return byte_size(value) if unit in ("bytes", "B") else f"{number(value)} {unit}".strip()


def duration(seconds: float | None) -> str:
    """12.3 s, 4 min 05 s, 2 h 03 min."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 and seconds % 1 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def mid_sentence(label: str) -> str:
    """A label within a sentence: what begins with a name keeps its capital (Jain's index, CPU, TPS); an article is none
    (a commit).
    """
    first, _, rest = label.partition(" ")
    is_name = first.endswith("'s") or not (first[1:].islower() or (first == "A" and rest.islower()))
    return label if is_name else label[:1].lower() + label[1:]


def is_plural(noun: str) -> bool:
    """Of a label, by its noun: queries per hour, failed transactions in a window; not TPS, bytes sent, packet loss."""
    of = re.split(r"[ ,](?:per|in|of|at)\b|[,(]", noun)[0].strip()
    return of.endswith("s") and not of.endswith(("ss", "us", "is", "'s"))


# What a line of a log says that tells why something ended.
_TELLING = re.compile(
    r"\b(fatal|panic|error|exception|cannot|could not|failed|denied|refused|unknown|unrecognized|invalid|no space"
    r"|out of memory)\b",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\A\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d| [A-Z]{3,4})?\s*(?:\d+ |\[\d+\] )?")
MOST_TELLING = 240


def telling_line(message: str) -> str:
    """A message in one line: of a log in it the first line that tells what went wrong, after the words before it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return ""
    words, marked = lines[0], next((line for line in lines[1:] if _TELLING.search(line)), "")
    before, mark, log = words.partition(": ")
    # Where the log begins behind the colon, its first line tells as much as another.
    if mark and _STAMP.match(log):
        marked = log if _TELLING.search(log) else marked or log
        words = before
    elif _TELLING.search(log):
        marked = ""
    words = f"{words.rstrip(':')}: {_STAMP.sub('', marked)}" if marked else words
    return words if len(words) <= MOST_TELLING else f"{words[: MOST_TELLING - 1].rstrip()}…"


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """All second parts of each first part, as they come: what is said, with everything that it is said of."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def joined(words: Iterable[str]) -> str:
    """1, 4, 16; where one of them holds a comma itself, semicolons part them."""
    every = list(words)
    return f"{_mark(every)} ".join(every)


def listed(words: Sequence[str]) -> str:
    """As `joined`, with an "and" before the last: 1, 4 and 16."""
    mark = _mark(words)
    before_last = " and " if mark == "," else "; and "
    return before_last.join(filter(None, [f"{mark} ".join(words[:-1]), *words[-1:]]))


def few_listed(words: Sequence[str], most: int = MOST_IN_A_SENTENCE) -> str:
    """The first of them; beyond, they are counted, but for a single one: 1, 4, 16 and 2 more."""
    more = len(words) - most
    return listed([*words[:most], f"{more} more"] if more > 1 else words)


def _mark(words: Iterable[str]) -> str:
    return ";" if any(", " in each for each in words) else ","


@lru_cache(_MOST_NAMES)
def natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """Sorts numbers in names as numbers: 9.6 before 10 before 18.1 before 1,600; sizes by bytes: 512MB before 1GB."""
    parts: list[tuple[int, float, str]] = []
    for part in _NATURAL.finditer(re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())):
        if part["unit"]:
            parts.append((0, float(part["size"]) * 1024.0 ** "bkmgtp".index(part["unit"][0]), ""))
        else:
            parts.append((0, float(part[0]), "") if part[0].isdecimal() else (1, 0.0, part[0]))
    return tuple(parts)


@lru_cache(_MOST_NAMES)
def version_order(version: str) -> str:
    """A text that sorts as versions of a DBMS do: 9.6 before 10, 17.6 before 18beta1 before 18rc1 before 18.0.

    `packaging` reads neither 18devel-1204 nor 11.4.2-MariaDB, and databases sort by what is stored. Series keep these
    texts: those of whose versions another rule makes another text have to be filed anew.
    """
    numbers: list[int] = []
    for part in re.split(r"[.\-+_ ]", version):
        if digits := re.match(r"[0-9]+", part):
            numbers.append(int(digits[0][:_VERSION_DIGITS]))
        if before := _BEFORE.fullmatch(part):
            while numbers and not numbers[-1]:
                numbers.pop()
            if not numbers:
                break
            stage = _STAGES[before["stage"].lower()] * 10 ** (_VERSION_DIGITS - 1) + int(before["number"][:6] or 0)
            numbers[-1:] = [numbers[-1] - 1, 10**_VERSION_DIGITS - 1, *([stage] if stage else [])]
        elif not digits or digits[0] != part:
            break
    return ".".join(f"{number:0{_VERSION_DIGITS}}" for number in numbers)[:_LONGEST_ORDER]


def release_of(version: str) -> str:
    """The numbers that a version begins with, which all builds of a release share: 18.0 of 18.0-7-ab."""
    found = re.match(r"[0-9]+(\.[0-9]+)*", version)
    return found[0] if found else version


def release_line(version: str, others: Iterable[str]) -> str:
    """The beginning of a release that stays through its minor releases, as people call it, and that none of the others
    has: 16 of 16.4, 8.0 of 8.0.36, 16.4 beside 16.6.
    """
    own, apart = release_of(version).split("."), [release_of(other).split(".") for other in others]
    shortest = 2 if len(own) > 2 else 1
    lengths = (length for length in range(shortest, len(own)) if all(other[:length] != own[:length] for other in apart))
    return ".".join(own[: next(lengths, len(own))])
