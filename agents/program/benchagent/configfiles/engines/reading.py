"""An engine's settings out of its file, and how a meaning is read that is more than the value of one parameter.

`<slug>.toml` holds what is only data: `source`, where names, units and defaults are documented; a table for what the
values are (bytes, seconds, pages, numbers, flags, texts) of `name = default`, "" for none, or with `unit` (bytes or
seconds of a number without unit), `since` (the default from a version on, "" where it is computed), `words` (values
that mean something else) and `only` (all values that there are, of an engine that takes others in silence);
`more_names`, which tell the format of a file; `set_by_agent`, names whose values are the agent's to say; `sql_names`,
under which SQL sets what decides on a commit; `aliases`; and `meanings`, the names that an engine has for what others
have too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from benchagent.catalog import Durability
from benchagent.configfiles.settings import LAST_COUNTS, Engine, Given, Meaning, Promise, Read, Settings, size_of
from benchagent.configfiles.units import Default, Kind, Quantity, Spec, Suffixes

MOST_NAMES = 2_000
OURS = "benchagent.configfiles.engines"
NO_UNITS = Suffixes(sizes={}, times={})
UNDOCUMENTED = "which one holds is not documented; the last is read here"
KINDS = {
    "bytes": Kind.BYTES, "seconds": Kind.SECONDS, "pages": Kind.PAGES, "numbers": Kind.NUMBER, "flags": Kind.BOOL,
    "texts": Kind.TEXT,
}  # fmt: skip


def _simple(name: str) -> str:
    return name.strip().lower()


def read_engine(
    slug: str, durability: Callable[[Settings], Promise], readers: Mapping[str, Read],
    suffixes: Suffixes = NO_UNITS, *, simple: Callable[[str], str] = _simple,
    canonical: Callable[[str], str] | None = None, is_server: Callable[[str], bool] = lambda section: True,
    translate: Callable[[Given], Given] = lambda given: given, duplicates: str = LAST_COUNTS,
    package: str = OURS,
) -> Engine:  # fmt: skip
    """`package` holds the file. `readers`: how those meanings are read that are not one value. `simple`: what makes
    spellings of a name alike, before the aliases; `canonical` instead of both."""
    data = _data(slug, package)
    aliases = {name: simple(target) for name, target in data.get("aliases", {}).items()}

    def by_alias(name: str) -> str:
        known = simple(name)
        return aliases.get(known, known)

    # Thousands of runs have the settings of a few engines.
    key = lru_cache(MOST_NAMES)(canonical or by_alias)
    meanings = {}
    for meaning, row in data["meanings"].items():
        names, note = (row["names"], row["note"]) if isinstance(row, dict) else (row, "")
        keys = tuple(map(key, [names] if isinstance(names, str) else names))
        meanings[meaning] = Meaning(keys, readers.get(meaning), note)
    return Engine(
        slug=slug, source=data["source"], specs=_specs(data, key), suffixes=suffixes, meanings=meanings,
        durability=durability, canonical=key, is_server=is_server, translate=translate, duplicates=duplicates,
        more_names=frozenset(map(key, data.get("more_names", "").split())),
        set_by_agent=frozenset(map(key, data.get("set_by_agent", "").split())),
        sql_names=tuple(data.get("sql_names", ())), sql_marks=data.get("sql_marks", {}),
        spelling={key(name): name for table in KINDS for name in data.get(table, {})},
    )  # fmt: skip


def changed_engine(engine: Engine, slug: str) -> Engine:
    """A fork of an engine, whose file says in what it differs."""
    data = _data(slug, OURS)
    changed = _specs(data, engine.canonical)
    return replace(engine, slug=slug, source=data["source"], specs={**engine.specs, **changed})


def _data(slug: str, package: str) -> Mapping[str, Any]:
    return tomllib.loads(files(package).joinpath(f"{slug}.toml").read_text("utf-8"))


def _specs(data: Mapping[str, Any], canonical: Callable[[str], str]) -> dict[str, Spec]:
    return {
        canonical(name): _spec(kind, row if isinstance(row, dict) else {"default": row})
        for table, kind in KINDS.items()
        for name, row in data.get(table, {}).items()
    }


def _spec(kind: Kind, row: Mapping[str, Any]) -> Spec:
    first: str | None = row.get("default") or None
    only = tuple(row.get("only", "").split())
    steps = tuple((version, value or None) for version, value in row.get("since", {}).items())
    return Spec(kind, row.get("unit", 1), Default(first, steps) if steps else first, row.get("words", {}), only)


def product(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """One setting times another, as log file size × number of files."""
    result = 1.0
    for name in names:
        number = settings.number(name)
        if number is None:
            return None
        result *= number
    return size_of(int(result), " × ".join(settings.words(name) for name in names))


IN_MEMORY = Promise(Durability.MEMORY, "the database is in memory: nothing outlives the process")
# What happens to the log when a transaction commits.
COMMIT_WORDS = {
    "each": "synced at each commit",
    "written": "written at each commit, synced later",
    "later": "written and synced later",
    "never": "never synced",
}


def at_commit(read: Callable[[Settings], str | tuple[str, str] | None]) -> Read:
    """What happens at a commit: a key of `COMMIT_WORDS`, or one with its own words. Without names it is always so."""

    def quantity(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
        value = read(settings)
        if value is None:
            return None
        kind, words = (value, COMMIT_WORDS[value]) if isinstance(value, str) else value
        reason = ", ".join(settings.words(name) for name in names) or "always so in this engine"
        return Quantity(Kind.TEXT, kind, words, reason)

    return quantity


def yes_or_no(value: bool, reason: str) -> Quantity:
    return Quantity(Kind.BOOL, value, "on" if value else "off", reason)


def switched_on(by: Callable[[str], bool]) -> Read:
    """Yes or no by the value of one parameter in lower case; not known where it is empty."""

    def read(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
        given = settings.low(names[0])
        return yes_or_no(by(given), settings.words(names[0])) if given else None

    return read


def isolation(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """READ_COMMITTED, read-committed and 'read committed' are one level."""
    words = " ".join(settings.low(names[0]).replace("-", " ").replace("_", " ").split())
    return Quantity(Kind.TEXT, words, words, settings.words(names[0])) if words else None
