"""What PostgreSQL's settings mean and promise; names, units and defaults are in postgresql.toml."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import COMMIT_WORDS, isolation, read_engine, switched_on, yes_or_no
from benchagent.configfiles.settings import Promise, Settings, size_of
from benchagent.configfiles.units import GIB, KIB, MIB, TIB, Kind, Quantity, Suffixes, size_words

SEGMENT = 16 * MIB
MS, US = 0.001, 0.000_001
# PostgreSQL manual, "Asynchronous Commit": at most three times wal_writer_delay.
WAL_WRITER_ROUNDS = 3
OFF = ("off", "false", "no", "0")
TORN = (
    "full_page_writes=off: a page torn by a crash of the machine cannot be repaired, "
    "unless the file system writes whole pages"
)

SUFFIXES = Suffixes(
    sizes={"B": 1, "kB": KIB, "MB": MIB, "GB": GIB, "TB": TIB},
    times={"us": US, "ms": MS, "s": 1, "min": 60, "h": 3_600, "d": 86_400},
    exact=True,
)


def _log_capacity(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """max_wal_size; before 9.5 a number of segments."""
    segments = settings.value("checkpoint_segments")
    if settings.is_set("max_wal_size") or not isinstance(segments, int):
        return settings.quantity("max_wal_size")
    return size_of(segments * SEGMENT, f"{settings.words('checkpoint_segments')} × {size_words(SEGMENT)}")


def _commit(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    level, decides = settings.text("synchronous_commit"), "synchronous_commit"
    if settings.low("fsync") in OFF:
        kind, decides = "never", "fsync"
    elif level is None:
        return None
    else:
        kind = "later" if level.lower() in OFF else "each"
    return Quantity(Kind.TEXT, kind, COMMIT_WORDS[kind], settings.words(decides))


def _direct(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    given = settings.low("debug_io_direct")
    return yes_or_no(bool(given), settings.words("debug_io_direct")) if settings.is_set("debug_io_direct") else None


READERS = {
    "commit_flush": _commit,
    "log_capacity": _log_capacity,
    "replication_log": switched_on(lambda level: level != "minimal"),
    "isolation": isolation,
    "direct_io": _direct,
}
# What a commit waits for on this machine is the same with all of these; they differ in what standbys have done.
WAITING = {
    "on": "written by the standby to its disk",
    "remote_write": "handed to the standby's system",
    "remote_apply": "applied by the standby",
    "local": "",
    **dict.fromkeys(("true", "yes", "1"), "written by the standby to its disk"),
}


# What an agent read back of the tables themselves: "2 of 3".
UNLOGGED_TABLES = "unlogged_tables"


def durability(settings: Settings) -> Promise:
    unprotected = settings.low("full_page_writes") in OFF
    torn = "; full_page_writes=off: a torn page cannot be repaired" if unprotected else ""
    commit = settings.low("synchronous_commit")
    unlogged = settings.text(UNLOGGED_TABLES)
    if unlogged or settings.low("fsync") in OFF:
        of_tables = f"of the tables {unlogged} are UNLOGGED: after any crash they are empty"
        of_all = f"fsync=off: a crash of the machine may corrupt the whole cluster{torn}"
        return Promise(Durability.NONE, of_tables if unlogged else of_all)
    if commit in OFF:
        delay = settings.text("wal_writer_delay") or "its default, 200ms"
        return Promise(
            Durability.BOUNDED_LOSS,
            f"synchronous_commit=off: commits of the last {WAL_WRITER_ROUNDS} × wal_writer_delay ({delay}) "
            f"may be lost in a crash{torn}",
        )
    given = f"{settings.words('fsync')}, {settings.words('synchronous_commit')}"
    if not settings.text("fsync") or not commit:
        return Promise(None, f"{given}{torn}")
    if commit not in WAITING:
        return Promise(None, f"{given}: not recognised")
    # However the log is synced, the kernel reports it when the device says that it is done.
    method = f", {settings.words('wal_sync_method')}" if settings.is_set("wal_sync_method") else ""
    replicated = settings.text("synchronous_standby_names") and WAITING[commit]
    standby = f" here and {WAITING[commit]}" if replicated else ""
    synced = f"{given}{method}: each commit is synced{standby}"
    if unprotected:
        return Promise(Durability.DBMS_CRASH, f"{synced}, but {TORN}")
    return Promise(Durability.POWER_LOSS, f"{synced}")


ENGINE = read_engine("postgresql", durability, READERS, SUFFIXES)
