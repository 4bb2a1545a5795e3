"""Configurations side by side: by name within one engine, by meaning across engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchagent.configfiles.meaning import MEANINGS, Reading, reading
from benchagent.configfiles.settings import Settings, bare
from benchagent.configfiles.units import Kind, Quantity

from runs.configs.facts import adds_to, engines_of, key_of, settings_of
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
        # Pages are not bytes, a number of operations is not a time. Words (no limit, off) differ from any amount.
        kinds = {cell.quantity.kind for cell in known if cell.quantity is not None}
        if any(cell.uncertain for cell in self.cells) or len(kinds - {Kind.TEXT}) > 1:
            return Difference.UNKNOWN
        if len({cell.key for cell in known}) > 1:
            return Difference.CHANGED
        return Difference.EQUAL if len(known) == len(self.cells) else Difference.ONLY_IN


def across_engines(configs: Sequence[Config]) -> bool:
    """Whether names tell nothing. MySQL and MariaDB, Firebird and its kin speak alike."""
    kin = {"mariadb": "mysql", "interbase": "firebird", "yaffil": "firebird"}
    return len({kin.get(slug, slug) for slug in map(engines_of, configs)}) > 1


def diff(configs: Sequence[Config], *, by_meaning: bool | None = None) -> list[DiffRow]:
    """Rows in the order of the first configuration, or of the meanings.

    `by_meaning` None: by name within one engine, by meaning across engines.
    """
    settings = [settings_of(config) for config in configs]
    if not (across_engines(configs) if by_meaning is None else by_meaning):
        return _by_name(configs, settings)
    rows = [
        DiffRow(key, label, "", tuple(_meaning_cell(reading(known, key)) for known in settings))
        for key, label in MEANINGS.items()
    ]
    return [row for row in rows if any(cell.is_set or cell.quantity for cell in row.cells)]


def _meaning_cell(meant: Reading) -> SettingCell:
    if not meant.exists:
        return SettingCell(absent=True)
    note = meant.quantity.reason if meant.quantity else meant.unknown
    if note == ", ".join(f"{given.name}={bare(given.value or '')}" for given in meant.given):
        note = ""  # the value itself stands there
    names = tuple(dict.fromkeys(given.name for given in meant.given)) or meant.names
    return SettingCell(
        names=names, given=tuple(given.value for given in meant.given), quantity=meant.quantity,
        note="; ".join(part for part in (note, meant.note) if part), uncertain=not (meant.quantity or meant.given),
    )  # fmt: skip


Key = tuple[str, str]


def _by_name(configs: Sequence[Config], settings: Sequence[Settings | None]) -> list[DiffRow]:
    labels: dict[Key, str] = {}
    columns: list[dict[Key, list[str | None]]] = []
    for config, known in zip(configs, settings, strict=True):
        values: dict[Key, list[str | None]] = {}
        for given in config.given:
            key = key_of(known, given)
            labels.setdefault(key, given.name)
            values.setdefault(key, []).append(given.value)
        columns.append(values)
    return [
        DiffRow(
            key=key[1], label=label, section=key[0],
            cells=tuple(
                _name_cell(values.get(key, []), key, known) for values, known in zip(columns, settings, strict=True)
            ),
        )
        for key, label in labels.items()
    ]  # fmt: skip


def _name_cell(values: Sequence[str | None], key: Key, settings: Settings | None) -> SettingCell:
    """A parameter that is missing shows the default of its engine, where that is known."""
    section, name = key
    if settings is None or section:
        return SettingCell((name,), tuple(values))
    quantity = settings.quantity(name)
    note = quantity.reason if quantity else ""
    return SettingCell((name,), tuple(values), quantity, note)
