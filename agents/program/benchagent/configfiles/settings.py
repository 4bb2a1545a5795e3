"""The settings of a server out of its parameters: names made alike, the last of several, defaults stated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from benchagent.catalog import Durability
from benchagent.configfiles.formats import unquoted
from benchagent.configfiles.units import Default, Kind, Quantity, Spec, Suffixes, Value, convert, guess, size_words

NOT_STATED = "not stated"
LAST_COUNTS = "the last counts"


class Given(NamedTuple):
    """One parameter: value None is a flag. A server tells some 350, and a page asks up to 1,000 runs."""

    name: str
    value: str | None
    section: str = ""


@dataclass(frozen=True)
class Facts:
    """What a file does not say. `complete`: everything that was set is here, so what is missing has its default.

    `log_apart`: whether log and data are on two devices.
    """

    version: str = ""
    page_size_bytes: int | None = None
    page_size_source: str = ""
    forced_writes: bool | None = None
    log_apart: bool | None = None
    complete: bool = True

    @property
    def version_numbers(self) -> tuple[int, ...]:
        # CUBRID 2008 R3.0 is 8.3.0.
        version = re.sub(r"\b2008 R(?=\d)", "8.", self.version)
        match = re.search(r"\d+(?:\.\d+)*", version)
        return tuple(int(part) for part in match.group().split(".")) if match else ()


@dataclass(frozen=True)
class Promise:
    """What a COMMIT promises, and why. None: the settings do not tell."""

    durability: Durability | None
    reason: str


# The value of a meaning out of the parameters that have these names.
Read = Callable[["Settings", tuple[str, ...]], Quantity | None]


@dataclass(frozen=True)
class Meaning:
    """A setting that several engines have. `names` are its parameters here, the first that is set counts; `read`
    combines several."""

    names: tuple[str, ...]
    read: Read | None = None
    note: str = ""


@dataclass(frozen=True)
class Engine:
    """What is known of an engine's settings. `source`: where names, units and defaults are documented."""

    slug: str
    source: str
    specs: Mapping[str, Spec]
    suffixes: Suffixes
    meanings: Mapping[str, Meaning]
    durability: Callable[[Settings], Promise]
    canonical: Callable[[str], str] = str.lower
    is_server: Callable[[str], bool] = lambda section: True
    more_names: frozenset[str] = field(default_factory=frozenset)
    # Of an instance that the agent starts: what is given of these is not in force.
    set_by_agent: frozenset[str] = field(default_factory=frozenset)
    # What SQL calls settings that decide on a commit, beside their names here.
    sql_names: tuple[str, ...] = ()
    # What stands in SQL that decides on a commit and is no setting: by the name of what an agent reads of it.
    sql_marks: Mapping[str, str] = field(default_factory=dict)
    duplicates: str = LAST_COUNTS
    # How a name is written, where `canonical` is not that.
    spelling: Mapping[str, str] = field(default_factory=dict)
    # Older spellings and short forms, turned into the name and value they stand for.
    translate: Callable[[Given], Given] = lambda given: given

    def spelt(self, name: str) -> str:
        return self.spelling.get(name, name)

    def knows(self, name: str) -> bool:
        canonical = self.canonical(name)
        return canonical in self.specs or canonical in self.more_names


class Settings:
    """Parameters of one server, by the engine's own rules."""

    def __init__(self, engine: Engine, given: Iterable[Given], facts: Facts | None = None) -> None:
        self.engine = engine
        self.facts = facts or Facts()
        self._given: dict[str, list[Given]] = {}
        for parameter in map(engine.translate, given):
            if engine.is_server(parameter.section):
                self._given.setdefault(engine.canonical(parameter.name), []).append(parameter)

    @property
    def names(self) -> list[str]:
        return list(self._given)

    def is_set(self, name: str) -> bool:
        return name in self._given

    def default(self, name: str) -> str | None:
        """As the engine would write it; None where it is not known, or where what is missing may have been set."""
        spec = self.engine.specs.get(name)
        default = spec.default if spec and self.facts.complete else None
        return default.of(self.facts.version_numbers) if isinstance(default, Default) else default

    def text(self, name: str) -> str | None:
        """The value in force, without quotes; a flag is "on"; None where neither value nor default is known."""
        if name in self._given:
            value = self._given[name][-1].value
            return "on" if value is None else bare(value)
        return self.default(name)

    def low(self, name: str) -> str:
        return (self.text(name) or "").strip().lower()

    def quantity(self, name: str) -> Quantity | None:
        """The value in force with its unit; None where it is not known."""
        value = self.text(name)
        if value is None:
            return None
        quantity = self.converted(name, value)
        given, spelt = self._given.get(name, []), self.engine.spelt(name)
        values = [str(item.value) for item in given]
        reasons = [quantity.reason] if quantity.reason else []
        if not given:
            reasons.append(f"{spelt} not set: default {value}")
        elif len({item.value for item in given}) > 1:
            reasons.append(f"given {len(given)} times ({', '.join(values)}): {self.engine.duplicates}")
        return quantity.because("; ".join(reasons))

    def meant(self, given: Given) -> Quantity | None:
        """What this one value means, even if another of the same name counts; None of what the server does not read."""
        if given.value is None or not self.engine.is_server(given.section):
            return None
        parameter = self.engine.translate(given)
        return self.converted(self.engine.canonical(parameter.name), parameter.value or "")

    def converted(self, name: str, value: str) -> Quantity:
        """Any value that the parameter might have, with its unit."""
        spec = self.engine.specs.get(name)
        suffixes = self.engine.suffixes
        quantity = convert(bare(value), spec, suffixes) if spec else guess(bare(value), suffixes)
        return self.in_bytes(quantity) if quantity.kind is Kind.PAGES else quantity

    def value(self, name: str) -> Value:
        quantity = self.quantity(name)
        return quantity.value if quantity else None

    def number(self, name: str) -> float | None:
        value = self.value(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def in_bytes(self, counted: Quantity) -> Quantity:
        """Pages × page size; pages stay pages where their size is not known."""
        page = self.page_size()
        if not isinstance(counted.value, int):
            return counted
        if page is None or not isinstance(page.value, int):
            small, large = size_words(counted.value * 4096), size_words(counted.value * 16384)
            return counted.because(
                f"the page size is not stated: {small} with pages of 4 KiB, {large} with pages of 16 KiB"
            )
        words = f"{counted.value:,} pages × {size_words(page.value)}"
        return size_of(counted.value * page.value, f"{words} ({page.reason})" if page.reason else words)

    def page_size(self) -> Quantity | None:
        """From a setting, from what is known of the database, from the engine's fixed default; else None."""
        meaning = self.engine.meanings.get("page_size")
        if meaning:
            for name in meaning.names:
                if self.is_set(name):
                    return self.quantity(name)
        if self.facts.page_size_bytes:
            source = self.facts.page_size_source or "of the database"
            return size_of(self.facts.page_size_bytes, source)
        return self.quantity(meaning.names[0]) if meaning and self.default(meaning.names[0]) else None

    def means(self, key: str) -> Quantity | None:
        """The value of a meaning, or None where this engine has no such setting or its value is not known."""
        if key == "page_size":
            return self.page_size()
        meaning = self.engine.meanings.get(key)
        if meaning is None:
            return None
        if meaning.read:
            return meaning.read(self, meaning.names)
        return self.quantity(next((name for name in meaning.names if self.is_set(name)), meaning.names[0]))

    def used(self, key: str) -> list[Given]:
        """The parameters that were given for a meaning."""
        meaning = self.engine.meanings.get(key)
        return [given for name in (meaning.names if meaning else ()) for given in self._given.get(name, ())]

    def words(self, name: str) -> str:
        """`fsync=off`, or `fsync not set: default on`."""
        spelt = self.engine.spelt(name)
        if self.is_set(name):
            value = self._given[name][-1].value
            return spelt if value is None else f"{spelt}={bare(value)}"
        default = self.default(name)
        if default is not None:
            return f"{spelt} not set: default {default}"
        spec = self.engine.specs.get(name)
        if self.facts.complete and spec and isinstance(spec.default, Default):
            return f"{spelt} not set: default {spec.default.words()}"
        return f"{spelt} {NOT_STATED}"


def bare(value: str) -> str:
    """A value without the quotes around it."""
    return unquoted(value.strip())


def size_of(size_bytes: int, reason: str) -> Quantity:
    return Quantity(Kind.BYTES, size_bytes, size_words(size_bytes), reason)
