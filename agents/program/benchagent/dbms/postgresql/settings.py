"""Settings: what the agent says, what initdb is told, and which of those given are not in force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchagent.configfiles.engines.postgresql import ENGINE, SUFFIXES, UNLOGGED_TABLES
from benchagent.configfiles.settings import bare
from benchagent.configfiles.units import MIB, NO, YES, Kind, Spec, convert
from benchagent.dbms.base import ConfigurationRefused, JobError, Settings
from benchagent.dbms.counters import QueryRows, quoted_names
from benchagent.dbms.postgresql.discovery import Version
from benchagent.dbms.postgresql.server import TEMP_TABLESPACE
from benchagent.dbms.private_server import HOST

LOCKED = ENGINE.set_by_agent
DOORS = {
    r"\w+_command (?!\W*(/bin/|/usr/bin/)?true\W*\Z|\W*\Z)": "runs programs of the machine",
    r"(archive_library|dynamic_library_path|extension_control_path) ": "runs code of the machine",
    # Without a folder it is one that came with the server.
    r"(\w+_libraries|jit_provider) .*/": "runs code of the machine",
}
# Read back even where they have their default: durability, memory, upkeep.
_TELLING = """fsync synchronous_commit full_page_writes wal_sync_method wal_writer_delay wal_level commit_delay
commit_siblings shared_buffers work_mem maintenance_work_mem effective_cache_size max_connections
max_wal_size checkpoint_segments checkpoint_timeout checkpoint_completion_target autovacuum wal_buffers
wal_segment_size data_checksums block_size huge_pages_status io_method server_version"""
TELLING = tuple(_TELLING.split())
SPARE_CONNECTIONS = 10
DEFAULT_CONNECTIONS = 100
# Defaults with which the server chooses by itself: what it chose is no deviation.
CHOSEN_BY_THE_SERVER = ("-1", "0")
# Words that the server takes for others.
SYNONYMS = {
    "wal_level": {"archive": "replica", "hot_standby": "replica"},
    "wal_compression": {"on": "pglz"},
    "password_encryption": {"on": "md5"},
}
# Fixed when the cluster is made: (since, option of initdb for on, for off).
CHECKSUMS, SEGMENT = "data_checksums", "wal_segment_size"
CHECKSUMS_SINCE, NO_CHECKSUMS_SINCE, SEGMENT_SINCE, UNLOGGED_SINCE = (9, 3), (18, 0), (11, 0), (9, 1)


def last(given: Settings, name: str) -> str | None:
    """The value that counts of a setting that may be given several times."""
    values = [value for key, value in given if key.lower() == name]
    return bare(values[-1]) if values else None


def configuration(version: Version, given: Settings, *, connections: int, temp: bool) -> list[tuple[str, str]]:
    """Ours first, so that the user's win; then what only the agent may say. Raises `JobError`."""
    most = last(given, "max_connections")
    if most and most.isdigit() and int(most) < connections:
        raise JobError(f"max_connections = {most} is too few for {connections} connections")
    needed = max(DEFAULT_CONNECTIONS, connections + SPARE_CONNECTIONS)
    first = [("max_connections", str(needed)), ("lc_messages", "C")]
    if version >= (9, 4):  # segments in /dev/shm would outlive a killed server
        first.append(("dynamic_shared_memory_type", "mmap"))
    if temp:
        first.append(("temp_tablespaces", TEMP_TABLESPACE))
    own = {*LOCKED, CHECKSUMS, SEGMENT}
    # Before 9.3 there is always a socket; in the cluster's own folder nobody else may enter, and the path is short.
    socket = ("unix_socket_directories", "") if version >= (9, 3) else ("unix_socket_directory", ".")
    fixed = [("listen_addresses", HOST), socket, ("logging_collector", "off"), ("log_destination", "stderr")]
    kept = [(name, value) for name, value in given if name.lower() not in own]
    return [*first, *kept, *fixed, ("synchronous_standby_names", "")]


def initdb_options(version: Version, given: Settings) -> list[str]:
    """Raises `ConfigurationRefused` for what this version cannot do."""
    options = []
    checksums, segment = last(given, CHECKSUMS), last(given, SEGMENT)
    if checksums is not None and checksums.lower() in YES:
        if version < CHECKSUMS_SINCE:
            raise ConfigurationRefused(f"{CHECKSUMS} = {checksums}: PostgreSQL has them since 9.3")
        options.append("--data-checksums")
    elif checksums is not None:
        if checksums.lower() not in NO:
            raise ConfigurationRefused(f"{CHECKSUMS} has to be on or off, not {checksums!r}")
        options += ["--no-data-checksums"] if version >= NO_CHECKSUMS_SINCE else []
    if segment is not None:
        size = _number(segment, Spec(Kind.BYTES))
        if version < SEGMENT_SINCE:
            raise ConfigurationRefused(f"{SEGMENT} cannot be chosen before PostgreSQL 11")
        if size % MIB:
            raise ConfigurationRefused(f"{SEGMENT} has to be a whole number of MB, not {segment!r}")
        options.append(f"--wal-segsize={int(size) // MIB}")
    return options


# Read back

COLUMNS = "name, current_setting(name), source, setting, unit, vartype, boot_val"


def effective_queries(version: Version, given: Settings, *, superuser: bool = True) -> dict[str, str]:
    """``settings``: `COLUMNS` and whether a restart is needed; ``unlogged``: how many tables are so, of how many;
    ``file_errors`` since 9.5, for superusers only."""
    hidden = quoted_names(sorted(LOCKED))
    listed = quoted_names(list(dict.fromkeys([*TELLING, *(name.lower() for name, _ in given)])))
    pending = "pending_restart" if version >= (9, 5) else "false"
    queries = {
        "settings": f"SELECT {COLUMNS}, {pending} FROM pg_settings WHERE name NOT IN ({hidden})"  # noqa: S608
        f" AND (source IN ('configuration file', 'command line') OR lower(name) IN ({listed})) ORDER BY name"
    }
    if version >= UNLOGGED_SINCE:
        seen = "nspname !~ '^pg_' AND nspname <> 'information_schema'" if superuser else "pg_table_is_visible(c.oid)"
        queries["unlogged"] = (
            "SELECT sum(CASE WHEN relpersistence = 'u' THEN 1 ELSE 0 END), count(*) FROM pg_class c"  # noqa: S608
            f" JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND relpersistence <> 't' AND {seen}"
        )
    if superuser and version >= (9, 5):
        # A later line for the same parameter is no error, so what is listed here could not be applied.
        queries["file_errors"] = "SELECT DISTINCT name, error FROM pg_file_settings WHERE error IS NOT NULL"
    return queries


def in_force(rows: QueryRows) -> list[tuple[str, str]]:
    settings = [(str(row[0]), str(row[1])) for row in rows.get("settings", [])]
    unlogged, tables = next(iter(rows.get("unlogged", [])), (0, 0))
    return [*settings, *([(UNLOGGED_TABLES, f"{unlogged} of {tables}")] if unlogged else [])]


def locked(given: Settings) -> list[str]:
    return [f"{name}: set by the agent" for name, _ in given if name.lower() in LOCKED]


def ignored(given: Settings, rows: QueryRows) -> list[str]:
    """Given settings that are not in force, in words."""
    parameters = {str(row[0]).lower(): row for row in rows.get("settings", [])}
    counts = {name.lower(): value for name, value in given}
    seen: dict[str, int] = {}
    words = [f"{name}: {error}" for name, error in rows.get("file_errors", []) if name]
    for position, (name, value) in enumerate(given):
        seen[name.lower()] = position
        if name.lower() not in LOCKED and value != counts[name.lower()]:
            words.append(f"{name} = {value}: given again later, the last counts")
    for name, value in (given[position] for key, position in seen.items() if key not in LOCKED):
        row = parameters.get(name.lower())
        if row is None:
            words.append(f"{name}: no parameter of this server, without effect")
        elif row[7] in (True, "t"):
            words.append(f"{name}: {value} given, {row[1]} in force until a restart")
        elif not _same(bare(value), row):
            words.append(f"{name}: {value} given, {row[1]} in force (by {row[2]})")
    return words


def _same(given: str, row: Sequence[Any]) -> bool:
    """Whether the value in force means what was given. The server rounds numbers to whole units, as "8kB" or "ms"."""
    name, shown, _, setting, unit, kind, boot_value = ("" if part is None else str(part) for part in row[:7])
    if given in (shown, setting) or (given == boot_value and given in CHOSEN_BY_THE_SERVER):
        return True
    if kind not in ("integer", "real"):
        wanted = SYNONYMS.get(name, {}).get(given.lower(), given.lower())
        spec = Spec(Kind.BOOL if kind in ("bool", "enum") else Kind.TEXT)
        return convert(wanted, spec, SUFFIXES).key == convert(setting, spec, SUFFIXES).key
    amount = Kind.BYTES if unit.endswith("B") else Kind.SECONDS if unit else Kind.NUMBER
    unit_size = _number(unit if unit[:1].isdigit() else f"1{unit}", Spec(amount))
    asked, now = (_number(text, Spec(amount, unit_size)) for text in (given, setting))
    return abs(asked - now) < (unit_size if unit else 1e-9)


def _number(text: str, spec: Spec) -> float:
    """In bytes or seconds; NaN for what is none."""
    value = convert(text, spec, SUFFIXES).value
    return float(value) if isinstance(value, int | float) else math.nan
