"""Configurations side by side: by name within one engine, by meaning across engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchagent.configfiles.meaning import MEANINGS, Reading, reading
from benchagent.configfiles.settings import Given, Settings, bare
from benchagent.configfiles.units import Kind, Quantity

from runs.configs.facts import adds_to, engines_of, given_of, settings_of
from runs.models import Config


class Difference(StrEnum):
    EQUAL = "equal"
    CHANGED = "changed"
    # Some have it and some do not.
    ONLY_IN = "only_in"
    # A value cannot be told, or is counted in something else, so neither can the difference.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class SettingCell:
    """A setting of one configuration. `given` are all its values, in order; None in it is a flag."""

    names: tuple[str, ...] = ()
    given: tuple[str | None, ...] = ()
    quantity: Quantity | None = None
    note: str = ""
    # The engine has no such setting; or it has one whose value cannot be told.
    absent: bool = False
    uncertain: bool = False

    @property
    def is_set(self) -> bool:
        return bool(self.given)

    @property
    def is_known(self) -> bool:
        return self.is_set or self.quantity is not None

    @property
    def key(self) -> object:
        if self.quantity is not None:
            return self.quantity.key
        return tuple((value or "").strip().casefold() for value in self.given)

    @property
    def text(self) -> str:
        return ", ".join("flag" if value is None else value for value in self.given)

    @property
    def says_more(self) -> bool:
        return adds_to(self.quantity, self.text)


@dataclass(frozen=True)
class DiffRow:
    """`key` is the name of a parameter or of a meaning."""

    key: str
    label: str
    section: str
    cells: tuple[SettingCell, ...]

    @property
    def status(self) -> Difference:
        known = [cell for cell in self.cells if cell.is_known]
        if any(cell.uncertain for cell in self.cells) or not _comparable(known):
            return Difference.UNKNOWN
        if len({cell.key for cell in known}) > 1:
            return Difference.CHANGED
        return Difference.EQUAL if len(known) == len(self.cells) else Difference.ONLY_IN


def _comparable(cells: Sequence[SettingCell]) -> bool:
    """Pages are not bytes, a number of operations is not a time. Words (no limit, off) differ from any amount."""
    kinds = {cell.quantity.kind for cell in cells if cell.quantity is not None}
    return len(kinds - {Kind.TEXT}) < 2


def across_engines(configs: Sequence[Config]) -> bool:
    """Whether names tell nothing. MySQL and MariaDB, Firebird and its kin speak alike."""
    kin = {"mariadb": "mysql", "interbase": "firebird", "yaffil": "firebird"}
    return len({kin.get(slug, slug) for slug in map(engines_of, configs)}) > 1


def diff(configs: Sequence[Config], *, by_meaning: bool | None = None) -> list[DiffRow]:
    """Rows in the order of the first configuration, or of the meanings.

    `by_meaning` None: by name within one engine, by meaning across engines.
    """
    if across_engines(configs) if by_meaning is None else by_meaning:
        return _by_meaning(configs)
    return _by_name(configs)


def _by_meaning(configs: Sequence[Config]) -> list[DiffRow]:
    settings = [settings_of(config) for config in configs]
    rows = [
        DiffRow(key, label, "", tuple(_meaning_cell(reading(one, key)) for one in settings))
        for key, label in MEANINGS.items()
    ]
    return [row for row in rows if any(cell.is_set or cell.quantity for cell in row.cells)]


def _meaning_cell(found: Reading) -> SettingCell:
    if not found.exists:
        return SettingCell(absent=True)
    note = found.quantity.reason if found.quantity else found.unknown
    if note == ", ".join(f"{given.name}={bare(given.value or '')}" for given in found.given):
        note = ""  # the value itself stands there
    names = tuple(dict.fromkeys(given.name for given in found.given)) or found.names
    return SettingCell(
        names=names, given=tuple(given.value for given in found.given), quantity=found.quantity,
        note="; ".join(part for part in (note, found.note) if part), uncertain=not (found.quantity or found.given),
    )  # fmt: skip


Key = tuple[str, str]


def _by_name(configs: Sequence[Config]) -> list[DiffRow]:
    sides = [_named(config) for config in configs]
    labels: dict[Key, str] = {}
    for named in sides:
        for key, (label, _) in named.items():
            labels.setdefault(key, label)
    settings = [settings_of(config) for config in configs]
    return [
        DiffRow(
            key=key[1], label=label, section=key[0],
            cells=tuple(
                _name_cell(side.get(key, ("", []))[1], key, one) for side, one in zip(sides, settings, strict=True)
            ),
        )
        for key, label in labels.items()
    ]  # fmt: skip


def _named(config: Config) -> dict[Key, tuple[str, list[str | None]]]:
    """(section, canonical name) -> (name as first written, all values in order)."""
    settings = settings_of(config)
    found: dict[Key, tuple[str, list[str | None]]] = {}
    for given in given_of(config):
        found.setdefault(_key(settings, given), (given.name, []))[1].append(given.value)
    return found


def _key(settings: Settings | None, given: Given) -> Key:
    if settings is None:
        return given.section, given.name
    section = "" if settings.engine.is_server(given.section) else given.section
    return section, settings.engine.canonical(given.name)


def _name_cell(values: Sequence[str | None], key: Key, settings: Settings | None) -> SettingCell:
    """A parameter that is missing shows the default of its engine, where that is known."""
    section, name = key
    if settings is None or section:
        return SettingCell((name,), tuple(values))
    quantity = settings.quantity(name)
    note = quantity.reason if quantity else ""
    return SettingCell((name,), tuple(values), quantity, note)
