"""Every number of a publication's page, and whether the API's JSON or a formula stands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runs.publications.check import rounded
from runs.stats import CELL_CONFIDENCE
from tests.formulas import value_of

# Our own sentences: they are in the JSON too, but a number in them needs a fact of the publication behind it.
PROSE = {"article": {"figures"}, "checks": {"explanation"}}
# Words with digits in them (RAID1, R3.0), numbers, dates, times: whatever holds a digit between spaces and quotes.
_CHUNK = re.compile(r"[\w.,:/+−–#@-]*\d[\w.,:/+−–-]*")
_NUMBER = re.compile(r"[+−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_WORDS = {"million": 1e6, "billion": 1e9}
_CLOCK = re.compile(r"(\d+):(\d\d)")
# Bases of units, which every formula may use: decimal and binary powers, per cent, minutes, hours, days.
UNIT_BASES = {0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 24.0, 60.0, 100.0, 1000.0, 1024.0, 3600.0}

# Every visible text of <main>, with the numbers that its element says: of a formula, of a stored value.
TEXTS = """() => {
  for (const one of document.querySelectorAll("main details")) one.open = true;
  const found = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!/\\d/.test(walker.currentNode.data) || parent.closest("script, style")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    const own = parent.closest("data[data-formula], data[value], [data-value]");
    const near = parent.closest("[id]");
    found.push({
      text: walker.currentNode.data, place: near ? near.id : "",
      block: parent.closest("p, li, td, th, dd, dt, h1, h2, h3, h4, figcaption")?.textContent ?? "",
      value: own ? own.dataset.exact ?? own.getAttribute("value") ?? own.dataset.value : null,
      formula: own?.dataset.formula ?? null,
    });
  }
  return found;
}"""
FORMULAS = """() => [...document.querySelectorAll("main data[data-formula]")].map(
  one => ({ value: one.getAttribute("value"), exact: one.dataset.exact, formula: one.dataset.formula,
            text: one.textContent }))"""
SPECS = """() => [...document.querySelectorAll("main script[type='application/json']")].map(
  one => ({ id: one.id, spec: JSON.parse(one.textContent) }))"""


@dataclass(frozen=True)
class Pool:
    """What the API says of a publication: its numbers, and the chunks with digits of its words.

    The confidence of intervals, which captions name, is ours.
    """

    numbers: set[float] = field(default_factory=set)
    chunks: set[str] = field(default_factory=set)
    # "line 101": where in a source's text something stands; no number of the publication.
    places: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, document: dict[str, Any]) -> Pool:
        pool = cls({100 * CELL_CONFIDENCE})
        for name, one in facts(document):
            if name == "where":
                pool.places.add(str(one))
            elif name != "position":
                pool.add(one)
        return pool

    def add(self, value: Any) -> None:
        if isinstance(value, bool):
            return
        if isinstance(value, int | float):
            self.numbers.add(float(value))
        elif isinstance(value, str):
            for chunk in chunks(value):
                self.chunks.add(chunk)
                for number in numbers_in(chunk):
                    self.numbers.add(number)

    def holds(self, chunk: str) -> bool:
        """The chunk as it stands, or each of its numbers exactly."""
        if chunk in self.chunks or _iso(chunk) in self.chunks:
            return True
        found = numbers_in(chunk)
        return bool(found) and all(one in self.numbers or -one in self.numbers for one in found)


def facts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """(name, value) of every leaf of the JSON, and of every name, but our own sentences."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield "", name
            if path and path[0] in PROSE and _is_prose(path, name):
                continue
            yield from facts(one, (*path, name))
    elif isinstance(value, list):
        for one in value:
            yield from facts(one, path)
    else:
        yield path[-1] if path else "", value


def _is_prose(path: tuple[str, ...], name: str) -> bool:
    """Of an article all but its figures, of a check its explanation."""
    if path[0] == "article":
        return len(path) == 1 and name not in PROSE["article"]
    return name in PROSE["checks"]


def _iso(chunk: str) -> str:
    """25.10.2010 as 2010-10-25."""
    found = _DATE.fullmatch(chunk)
    return f"{found[3]}-{int(found[2]):02d}-{int(found[1]):02d}" if found else ""


def chunks(text: str) -> list[str]:
    """Whatever holds a digit, without the punctuation around it; ranges (3–4, 9→30) are two."""
    found = []
    for match in _CHUNK.finditer(text.replace("\u202f", " ").replace("\u00a0", " ")):
        parts = re.split(r"(?<=[\w%])–(?=[\d+−-])", match[0])
        found += [part.strip(".,:/–#@") for part in parts if re.search(r"\d", part)]
    return [one.rstrip("-+−") or one for one in found]


def numbers_in(chunk: str) -> list[float]:
    """The number that a chunk is, minutes and seconds as seconds; nothing for a word with digits in it."""
    if clock := _CLOCK.fullmatch(chunk):
        return [float(clock[1]) * 60 + float(clock[2])]
    if _NUMBER.fullmatch(chunk):
        return [float(chunk.replace(",", "").replace("−", "-").replace("+", ""))]
    return []


def decimals(chunk: str) -> int:
    return len(chunk.partition(".")[2])


def strangers(texts: Iterable[dict[str, Any]], pool: Pool) -> list[str]:
    """Numbers of the page behind which nothing stands, with the place where they are."""
    found = []
    for one in texts:
        for chunk in chunks(one["text"]):
            if not _stands(chunk, one, pool):
                found.append(f"{chunk!r} in {one['text'].strip()[:90]!r} at #{one['place']}")
    return found


def _stands(chunk: str, one: dict[str, Any], pool: Pool) -> bool:
    if one["value"] is None:
        known = pool.holds(chunk) or one["text"].strip() in pool.places
    else:
        known = _says(chunk, float(one["value"]), of_formula=one["formula"] is not None, pool=pool)
    return known or _in_words(chunk, one["block"], pool)


def _in_words(chunk: str, text: str, pool: Pool) -> bool:
    """64 million is 64,000,000."""
    after = re.search(rf"(?<!\w){re.escape(chunk)}\s+(million|billion)", text)
    return bool(after) and any(number * _WORDS[after[1]] in pool.numbers for number in numbers_in(chunk))


def _says(chunk: str, value: float, *, of_formula: bool, pool: Pool) -> bool:
    """A number in an element that names its value is that value, rounded to the digits shown; words are words."""
    shown = numbers_in(chunk)
    if not shown:
        return pool.holds(chunk)
    fits = rounded(value, decimals(chunk)) == shown[0]
    return (fits and (of_formula or _known(value, pool))) or pool.holds(chunk)


def _known(value: float, pool: Pool) -> bool:
    return value in pool.numbers or -value in pool.numbers


def wrong_formulas(formulas: Iterable[dict[str, Any]], pool: Pool) -> list[str]:
    """Formulas that do not give their value, or that take numbers which are neither stored nor bases of units."""
    found = []
    for one in formulas:
        formula, value = one["formula"], float(one["exact"])
        try:
            result = value_of(formula)
        except (SyntaxError, NameError, TypeError):
            # In words: its numbers must be stored ones.
            loose = [chunk for chunk in chunks(formula) if not pool.holds(chunk)]
        else:
            close = any(
                abs(result * factor - value) <= 5.1 * 10 ** -(decimals(one["value"]) + 1) for factor in (1, 100)
            )
            if not close:
                found.append(f"{formula} is {result}, not {value}")
            operands = [number for chunk in chunks(formula) for number in numbers_in(chunk)]
            loose = [str(one) for one in operands if one not in UNIT_BASES and not _known(one, pool)]
        if loose:
            found.append(f"{formula}: {', '.join(loose)} not stored")
    return found


# Parts of a chart's specification that are no numbers of the publication: colours, the pace of a live chart.
_NOT_SHOWN = {"color", "from_percent", "to_percent"}


def spec_numbers(value: Any) -> Iterator[float | str]:
    """Every number and text that a chart draws."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in _NOT_SHOWN:
                yield from spec_numbers(one)
    elif isinstance(value, list):
        for one in value:
            yield from spec_numbers(one)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield value


def strange_specs(specs: Iterable[dict[str, Any]], pool: Pool, computed: Iterable[float]) -> list[str]:
    """Numbers drawn in a chart that are neither stored nor the value of a formula of the page."""
    exact = list(computed)
    found = []
    for one in specs:
        for value in spec_numbers(one["spec"]):
            if isinstance(value, str):
                missing = [
                    chunk for chunk in chunks(value)
                    if not pool.holds(chunk) and not _is_rounded(chunk, exact, pool)
                ]  # fmt: skip
            else:
                near = any(abs(value - known) <= 1e-9 * max(1, abs(known)) for known in exact)
                missing = [] if near or _known(float(value), pool) else [repr(value)]
            found += [f"{name} in chart {one['id']}" for name in missing]
    return found


def _is_rounded(chunk: str, exact: Iterable[float], pool: Pool) -> bool:
    """A label may round what the page computes."""
    shown = numbers_in(chunk)
    return bool(shown) and any(abs(rounded(one, decimals(chunk))) == abs(shown[0]) for one in exact)
