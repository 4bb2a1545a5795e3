"""The settings of a server out of its parameters: names made alike, the last of several, defaults stated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchagent.catalog import Durability
from benchagent.configfiles.units import Default, Kind, Quantity, Spec, Suffixes, Value, convert, guess, size_words

NOT_STATED = "not stated"
LAST_COUNTS = "the last counts"


@dataclass(frozen=True)
class Given:
    """One parameter: value None is a flag."""

    name: str
    value: str | None
    section: str = ""


@dataclass(frozen=True)
class Facts:
    """What a file does not say. `complete`: everything that was set is here, so what is missing has its default."""

    version: str = ""
    page_size_bytes: int | None = None
    page_size_source: str = ""
    forced_writes: bool | None = None
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


def survives(reason: str, write_cache: str) -> Promise:
    """A commit is on the disk, as far as its write cache is known."""
    return Promise(Durability.POWER_LOSS, f"{reason}; {write_cache}" if write_cache else reason)


@dataclass(frozen=True)
class Meaning:
    """A setting that several engines have. `names` are its parameters here; `read` combines several."""

    names: tuple[str, ...]
    read: Callable[[Settings], Quantity | None] | None = None
    note: str = ""


def one(name: str, note: str = "") -> Meaning:
    return Meaning((name,), None, note)


@dataclass(frozen=True)
class Engine:
    """What is known of an engine's settings. `source`: where names, units and defaults are documented."""

    slug: str
    source: str
    specs: Mapping[str, Spec]
    meanings: Mapping[str, Meaning]
    durability: Callable[[Settings, str], Promise]
    suffixes: Suffixes = field(default_factory=lambda: Suffixes({}, {}))
    canonical: Callable[[str], str] = str.lower
    is_server: Callable[[str], bool] = lambda section: True
    more_names: frozenset[str] = field(default_factory=frozenset)
    duplicates: str = LAST_COUNTS
    # How a name is written, where `canonical` is not that.
    spelling: Mapping[str, str] = field(default_factory=dict)
    # Older spellings and short forms, turned into the name and value they stand for.
    translate: Callable[[Given], Given] = lambda given: given

    def spelt(self, name: str) -> str:
        return self.spelling.get(name, name)

    def knows(self, name: str) -> bool:
        found = self.canonical(name)
        return found in self.specs or found in self.more_names


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

    def occurrences(self, name: str) -> Sequence[Given]:
        return self._given.get(name, ())

    def is_set(self, name: str) -> bool:
        return name in self._given

    def default(self, name: str) -> str | None:
        """As the engine would write it; None where it is not known, or where what is missing may have been set."""
        spec = self.engine.specs.get(name)
        found = spec.default if spec and self.facts.complete else None
        return found.of(self.facts.version_numbers) if isinstance(found, Default) else found

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
        found = self.converted(name, value)
        reasons = [found.reason, self._origin(name)]
        return found.because("; ".join(reason for reason in reasons if reason))

    def converted(self, name: str, value: str) -> Quantity:
        """Any value that the parameter might have, with its unit."""
        spec = self.engine.specs.get(name)
        found = convert(bare(value), spec, self.engine.suffixes) if spec else guess(bare(value), self.engine.suffixes)
        return self.in_bytes(found) if found.kind is Kind.PAGES else found

    def value(self, name: str) -> Value:
        found = self.quantity(name)
        return found.value if found else None

    def in_bytes(self, found: Quantity) -> Quantity:
        """Pages × page size; pages stay pages where their size is not known."""
        page = self.page_size()
        if not isinstance(found.value, int):
            return found
        if page is None or not isinstance(page.value, int):
            small, large = size_words(found.value * 4096), size_words(found.value * 16384)
            return found.because(
                f"the page size is not stated: {small} with pages of 4 KiB, {large} with pages of 16 KiB"
            )
        words = f"{found.value:,} pages × {size_words(page.value)}"
        reason = f"{words} ({page.reason})" if page.reason else words
        return Quantity(Kind.BYTES, found.value * page.value, size_words(found.value * page.value), reason)

    def page_size(self) -> Quantity | None:
        """From a setting, from what is known of the database, from the engine's fixed default; else None."""
        meaning = self.engine.meanings.get("page_size")
        if meaning:
            for name in meaning.names:
                if self.is_set(name):
                    return self.quantity(name)
        if self.facts.page_size_bytes:
            source = self.facts.page_size_source or "of the database"
            return Quantity(Kind.BYTES, self.facts.page_size_bytes, size_words(self.facts.page_size_bytes), source)
        return self.quantity(meaning.names[0]) if meaning and self.default(meaning.names[0]) else None

    def means(self, key: str) -> Quantity | None:
        """The value of a meaning, or None where this engine has no such setting or its value is not known."""
        if key == "page_size":
            return self.page_size()
        meaning = self.engine.meanings.get(key)
        if meaning is None:
            return None
        if meaning.read:
            return meaning.read(self)
        return next((self.quantity(name) for name in meaning.names if self.is_set(name)), None) or self.quantity(
            meaning.names[0]
        )

    def used(self, key: str) -> list[Given]:
        """The parameters that were given for a meaning."""
        meaning = self.engine.meanings.get(key)
        return [given for name in (meaning.names if meaning else ()) for given in self.occurrences(name)]

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

    def _origin(self, name: str) -> str:
        given = self._given.get(name, [])
        if not given:
            return f"{self.engine.spelt(name)} not set: default {self.default(name)}"
        if len(given) < 2 or len({item.value for item in given}) < 2:
            return ""
        return f"given {len(given)} times ({', '.join(str(item.value) for item in given)}): {self.engine.duplicates}"


def bare(value: str) -> str:
    """A value without the quotes around it."""
    stripped = value.strip()
    return stripped[1:-1] if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "'\"" else stripped


def product(*names: str) -> Callable[[Settings], Quantity | None]:
    """A meaning that is one setting times another, as log file size × number of files."""

    def read(settings: Settings) -> Quantity | None:
        found = [settings.quantity(name) for name in names]
        values = [quantity.value for quantity in found if quantity is not None]
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if len(numbers) < len(names):
            return None
        result = 1.0
        for number in numbers:
            result *= number
        reason = " × ".join(settings.words(name) for name in names)
        return Quantity(Kind.BYTES, int(result), size_words(int(result)), reason)

    return read


# What happens to the log when a transaction commits.
COMMIT_WORDS = {
    "each": "synced at each commit",
    "written": "written at each commit, synced later",
    "later": "written and synced later",
    "never": "never synced",
}


def commit_flush(names: tuple[str, ...], read: Callable[[Settings], str | None], note: str = "") -> Meaning:
    """A meaning whose value is one of `COMMIT_WORDS`. Without names: the engine always does so."""

    def quantity(settings: Settings) -> Quantity | None:
        found = read(settings)
        if found is None:
            return None
        reason = ", ".join(settings.words(name) for name in names) or "always so in this engine"
        return Quantity(Kind.TEXT, found, COMMIT_WORDS[found], reason)

    return Meaning(names, quantity, note)


def yes_or_no(value: bool, reason: str) -> Quantity:
    return Quantity(Kind.BOOL, value, "on" if value else "off", reason)


def isolation(name: str) -> Meaning:
    """READ_COMMITTED, read-committed and 'read committed' are one level."""

    def read(settings: Settings) -> Quantity | None:
        given = settings.low(name)
        words = " ".join(given.replace("-", " ").replace("_", " ").split())
        return Quantity(Kind.TEXT, words, words, settings.words(name)) if words else None

    return Meaning((name,), read)
