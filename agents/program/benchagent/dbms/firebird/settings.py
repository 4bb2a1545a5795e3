"""Settings of a Firebird server and of its database: which go where, which are the agent's, what is in force."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.configfiles.engines.firebird import FIREBIRD, canonical
from benchagent.configfiles.meaning import settings_of
from benchagent.configfiles.settings import Given, bare
from benchagent.configfiles.units import NO, YES
from benchagent.dbms.base import ConfigurationRefused, Settings
from benchagent.dbms.counters import QueryRows

LOCKED = FIREBIRD.set_by_agent
DOORS = {
    r"(\w*plugin|include)\b": "runs code of the machine, or reads its files",
    r"(OutputRedirectionFile|RemotePipeName)\b": "reads or writes files of the machine",
}
# Properties of the database, as gfix and CREATE DATABASE give them; what they are called in `SPECS`.
PAGE_SIZE, FORCED_WRITES, SWEEP, BUFFERS = "pagesize", "forcedwrites", "sweepinterval", "pagebuffers"
RESERVE, CHARACTER_SET = "reservespace", "characterset"
# The server's setting for the pages of a database's cache, unless the database says otherwise.
CACHE_PAGES = "defaultdbcachepages"
SPELT = {
    PAGE_SIZE: "page_size",
    FORCED_WRITES: "forced_writes",
    SWEEP: "sweep_interval",
    BUFFERS: "page_buffers",
    RESERVE: "reserve_space",
    CHARACTER_SET: "character_set",
}
DATABASE_SETTINGS = tuple(SPELT)
# For each property the switch of gfix, and its words for values.
GFIX: Mapping[str, tuple[str, Mapping[str, str]]] = {
    FORCED_WRITES: ("-write", {"on": "sync", "off": "async"}),
    SWEEP: ("-housekeeping", {}),
    BUFFERS: ("-buffers", {}),
    RESERVE: ("-use", {"on": "reserve", "off": "full"}),
}
DEFAULTS = {PAGE_SIZE: "8192", CHARACTER_SET: "UTF8"}
WORD = re.compile(r"[A-Za-z0-9_]+\Z")
MODES = {
    "super": "Super",
    "threadeddedicated": "Super",
    "superclassic": "SuperClassic",
    "threadedshared": "SuperClassic",
    "classic": "Classic",
    "multiprocess": "Classic",
}
SUPER, SUPER_CLASSIC, CLASSIC = "Super", "SuperClassic", "Classic"

# What is told of the database, by the expression that tells it.
DATABASE_PROPERTIES = {
    "page_size": "MON$PAGE_SIZE",
    "page_buffers": "MON$PAGE_BUFFERS",
    "forced_writes": "IIF(MON$FORCED_WRITES = 0, 'off', 'on')",
    "sweep_interval": "MON$SWEEP_INTERVAL",
    "reserve_space": "IIF(MON$RESERVE_SPACE = 0, 'off', 'on')",
    "character_set": "(SELECT TRIM(RDB$CHARACTER_SET_NAME) FROM RDB$DATABASE)",
    "ods_version": "MON$ODS_MAJOR || '.' || MON$ODS_MINOR",
    "sql_dialect": "MON$SQL_DIALECT",
    "engine_version": "RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION')",
}
DATABASE_SQL = f"SELECT {', '.join(DATABASE_PROPERTIES.values())} FROM MON$DATABASE"  # noqa: S608 - constants
# Background threads are attachments of their own, in Super only.
PROCESS_SQL = (
    "SELECT (SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$SYSTEM_FLAG = 1),"
    " (SELECT MON$SERVER_PID FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = CURRENT_CONNECTION) FROM RDB$DATABASE"
)
CONFIG_SQL = "SELECT TRIM(RDB$CONFIG_NAME), RDB$CONFIG_VALUE, RDB$CONFIG_IS_SET FROM RDB$CONFIG ORDER BY 1"
CONFIG_SINCE = 4
# Read back even where they have their default.
_TELLING = """defaultdbcachepages filesystemcachethreshold usefilesystemcache tempcachelimit maxunflushedwrites
maxunflushedwritetime gcpolicy readconsistency parallelworkers wirecrypt servermode lockhashslots"""
TELLING = frozenset(_TELLING.split())


@dataclass(frozen=True)
class Split:
    """`server`: lines of firebird.conf in their order. `database`: values by name as in `DATABASE_SETTINGS`."""

    server: Settings
    database: Mapping[str, str]
    ignored: Sequence[str]

    def last(self, name: str) -> str | None:
        values = [value for key, value in self.server if canonical(key) == name]
        return values[-1] if values else None

    @property
    def mode(self) -> str:
        """Super, SuperClassic or Classic. Raises `ConfigurationRefused` for another word."""
        given = bare(self.last("servermode") or SUPER)
        if given.lower() not in MODES:
            raise ConfigurationRefused(f"ServerMode has to be Super, SuperClassic or Classic, not {given!r}")
        return MODES[given.lower()]


def split(given: Settings, engine: Path) -> Split:
    """Raises `ConfigurationRefused` for a value of the database that cannot be."""
    server, database, ignored = [], dict(DEFAULTS), []
    binary = engine.read_bytes().lower()
    for name, value in given:
        key = canonical(name)
        if key in DATABASE_SETTINGS:
            database[key] = _checked(key, bare(value))
        elif key in LOCKED:
            ignored.append(f"{name}: set by the agent")
        elif not _known(key, binary):
            ignored.append(f"{name}: no setting of this version, which passes over it in silence")
        else:
            server.append((name, value))
    return Split(server, database, ignored)


def _known(key: str, binary: bytes) -> bool:
    """Whether the engine's program holds the name. One that ends another may have been put into that by the linker."""
    whole, ending = f"\0{key}\0".encode(), f"{key}\0".encode()
    return whole in binary or (FIREBIRD.knows(key) and ending in binary)


def _checked(key: str, value: str) -> str:
    if key in (FORCED_WRITES, RESERVE):
        if value.lower() not in YES | NO:
            raise ConfigurationRefused(f"{SPELT[key]} has to be on or off, not {value!r}")
        return "on" if value.lower() in YES else "off"
    if key == CHARACTER_SET:
        if not WORD.match(value):
            raise ConfigurationRefused(f"{SPELT[key]} has to be the name of a character set, not {value!r}")
        return value.upper()
    quantity = settings_of("firebird", [Given(key, value)])
    number = quantity.value(key) if quantity else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ConfigurationRefused(f"{SPELT[key]} has to be a whole number, not {value!r}")
    return str(number)


def configuration(split: Split, temp: Path, reach: Sequence[Path], *, mixed: bool) -> Settings:
    """Ours first, so that the user's win; then what only the agent may say. `reach`: folders with databases.
    `mixed`: the listener is of version 3.0, whose protocol has no types of 4.0, such as those of SUM and
    CURRENT_TIMESTAMP."""
    first = [("WireCrypt", "Disabled"), *([("DataTypeCompatibility", "3.0")] if mixed else [])]
    last = [("AuthServer", "Srp"), ("AuthClient", "Srp"), ("UserManager", "Srp"), ("TempDirectories", str(temp))]
    last += [("ExternalFileAccess", "None"), ("UdfAccess", "None")]
    last.append(("DatabaseAccess", f"Restrict {';'.join(str(folder.resolve()) for folder in reach)}"))
    return [*first, *split.server, *last]


# What is in force


def effective_queries(major: int) -> dict[str, str]:
    more = {"config": CONFIG_SQL} if major >= CONFIG_SINCE else {}
    return {"database": DATABASE_SQL, "process": PROCESS_SQL, **more}


def effective(rows: QueryRows, listener_pid: int, given: Settings) -> list[tuple[str, str]]:
    """The server's settings that were given or that matter, if it tells them (since 4); ServerMode in any version."""
    of_database = [zip(DATABASE_PROPERTIES, row, strict=True) for row in rows.get("database", [])]
    in_force = [(name, str(value).strip()) for row in of_database for name, value in row]
    given_names = {canonical(name) for name, _ in given}
    config = [(str(row[0]), "" if row[1] is None else str(row[1])) for row in rows.get("config", [])]
    in_force += [(name, value) for name, value in config if canonical(name) in given_names | TELLING]
    by_name = {canonical(name): value for name, value in in_force}
    if rows.get("process") and "servermode" not in by_name:
        background, pid = map(int, rows["process"][0])
        mode = SUPER if background else SUPER_CLASSIC if pid == listener_pid else CLASSIC
        in_force.append(("ServerMode", mode))
    # Before 4 the server does not tell it, but the database does: it has no other cache.
    if BUFFERS in by_name and CACHE_PAGES not in by_name and CACHE_PAGES in given_names:
        in_force.append(("DefaultDbCachePages", by_name[BUFFERS]))
    return in_force


def differences(split: Split, effective: Settings) -> list[str]:
    """Settings that have another value than the one given, in words."""
    in_force = {canonical(name): value for name, value in effective}
    buffers = BUFFERS in split.database
    given = {canonical(name): (name, value) for name, value in split.server}
    given |= {key: (SPELT[key], value) for key, value in split.database.items()}
    words = []
    for key, (name, value) in given.items():
        now = in_force.get(BUFFERS if key == CACHE_PAGES else key)
        if now is not None and not _same(key, value, now):
            why = " (page_buffers of the database go before)" if key == CACHE_PAGES and buffers else ""
            words.append(f"{name}: {bare(value)} given, {now} in force{why}")
    return words


def untold(split: Split, effective: Settings) -> list[str]:
    """Settings that were given and that this version has no way to tell."""
    shown = {canonical(name) for name, _ in effective} | {CACHE_PAGES}
    return list(dict.fromkeys(name for name, _ in split.server if canonical(name) not in shown))


def _same(key: str, given: str, now: str) -> bool:
    if key == "servermode":
        return MODES.get(bare(given).lower()) == now
    settings = settings_of("firebird", [])
    return settings is not None and settings.converted(key, given).key == settings.converted(key, now).key
