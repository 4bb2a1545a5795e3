"""What settings of MySQL and MariaDB with InnoDB mean and promise. Only groups that the server reads count."""

from __future__ import annotations

import re

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import (
    at_commit,
    changed_engine,
    isolation,
    product,
    read_engine,
    switched_on,
    yes_or_no,
)
from benchagent.configfiles.settings import Facts, Given, Promise, Settings, size_of
from benchagent.configfiles.units import BINARY, Quantity, Suffixes

_SERVER = re.compile(r"(?:|mysqld(?:-[\d.]+|\d+)?|server|mariadb(?:-[\d.]+)?|mariadbd(?:-[\d.]+)?|galera|embedded)\Z")
OFF = ("off", "0", "false", "no")
# What an agent read back of the tables themselves: "InnoDB (40), MyISAM (1)".
TABLE_ENGINES = "table_engines"
_COUNTED = re.compile(r"(\w+) \((\d+)\)")
# DETECT_ONLY tells of a torn page and cannot repair it.
NO_DOUBLEWRITE = (*OFF, "detect_only")
WITHOUT_TRANSACTIONS = ("myisam", "mrg_myisam", "aria", "memory", "csv", "archive", "blackhole", "maria")


# What is off by a name alone.
NEGATED = {
    "skip_innodb_doublewrite": "innodb_doublewrite",
    "skip_log_bin": "log_bin",
    "disable_log_bin": "log_bin",
    "skip_innodb_file_per_table": "innodb_file_per_table",
}


def _simple(name: str) -> str:
    return name.strip().lower().replace("-", "_").removeprefix("loose_")


def translate(given: Given) -> Given:
    """`set-variable = name=value` of the 4.x servers, and `skip-…` for what is then off."""
    name = _simple(given.name)
    if name == "set_variable" and given.value and "=" in given.value:
        variable, _, value = given.value.partition("=")
        return Given(variable.strip(), value.strip(), given.section)
    if name in NEGATED:
        return Given(NEGATED[name], "OFF", given.section)
    return given


def _log_capacity(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    if settings.is_set("innodb_redo_log_capacity") or settings.default("innodb_redo_log_capacity"):
        return settings.quantity("innodb_redo_log_capacity")
    return product(settings, ("innodb_log_file_size", "innodb_log_files_in_group"))


def _query_cache(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    decides = settings.is_set("query_cache_type") or not settings.is_set("query_cache_size")
    if decides and settings.low("query_cache_type") in OFF:
        return size_of(0, settings.words("query_cache_type"))
    return settings.quantity("query_cache_size")


def _temp_memory(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """The smaller of two limits holds."""
    limits = [quantity for name in names if (quantity := settings.quantity(name)) and isinstance(quantity.value, int)]
    if len(limits) < 2:
        return limits[0] if limits else None
    smaller = min(limits, key=lambda limit: limit.value if isinstance(limit.value, int) else 0)
    return smaller.because(f"the smaller of {', '.join(map(settings.words, names))}")


_COMMIT = {
    "0": ("later", "written and synced once a second"),
    "1": ("each", "synced at each commit"),
    "2": ("written", "written at each commit, synced once a second"),
    "3": ("each", "synced at each commit"),
}


def _binlog(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    given = settings.text("log_bin")
    return None if given is None else yes_or_no(given.lower() not in OFF, settings.words("log_bin"))


def durability(settings: Settings) -> Promise:
    if other := _of_other_engines(settings):
        return other
    commit = settings.low("innodb_flush_log_at_trx_commit")
    words = settings.words("innodb_flush_log_at_trx_commit")
    if commit not in _COMMIT:
        return Promise(None, f"{words}: what a commit waits for is not known")
    if settings.low("innodb_flush_method") == "nosync":
        return Promise(Durability.NONE, "innodb_flush_method=nosync: nothing is ever synced")
    default = settings.words("default_storage_engine")
    # MyISAM of a version that has it by default
    myisam = settings.low("default_storage_engine") == "myisam"
    note = f"; of InnoDB tables ({default}, which promises nothing)" if myisam else ""
    if commit == "0":
        period = settings.text("innodb_flush_log_at_timeout") or "1"
        return Promise(
            Durability.BOUNDED_LOSS,
            f"{words}: the log is written and synced every {period} s, so commits of about that time may be lost in "
            f"any crash{note}",
        )
    if commit == "2":
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}: a commit is written to the operating system and synced about once a second{note}",
        )
    return _synced(settings, words, note)


def _of_other_engines(settings: Settings) -> Promise | None:
    """What the tables are, where that was read back, else what they are made by default; None where all is InnoDB's."""
    tables = _COUNTED.findall(settings.text(TABLE_ENGINES) or "")
    unsafe = [f"{count} with {engine}" for engine, count in tables if engine.lower() in WITHOUT_TRANSACTIONS]
    others = [f"{count} with {engine}" for engine, count in tables if engine.lower() != "innodb"]
    if unsafe:
        of = f"of the tables {', '.join(unsafe)}"
        return Promise(Durability.NONE, f"{of}: it has no transactions and syncs nothing at a commit")
    if others:
        return Promise(None, f"of the tables {', '.join(others)}, which follows none of InnoDB's settings")
    if not tables and settings.low("default_storage_engine") == "myisam" and settings.is_set("default_storage_engine"):
        words = settings.words("default_storage_engine")
        return Promise(Durability.NONE, f"{words}: MyISAM has no transactions and syncs nothing at a commit")
    return None


def _synced(settings: Settings, words: str, note: str) -> Promise:
    if settings.low("innodb_flush_method") == "o_direct_no_fsync" and settings.facts.log_apart:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}: each commit is synced, but {settings.words('innodb_flush_method')} with the log on a device of "
            "its own: data pages in the cache of the other may be lost after their log has gone",
        )
    if settings.low("innodb_doublewrite") in NO_DOUBLEWRITE:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}: each commit is synced, but {settings.words('innodb_doublewrite')}: a page torn by a crash of "
            f"the machine cannot be repaired, unless the file system writes whole pages{note}",
        )
    logging, sync = settings.text("log_bin"), settings.text("sync_binlog")
    version = settings.facts.version_numbers or Facts(version=settings.text("version") or "").version_numbers
    # From 5.6 on a commit with a binary log counts on that log alone: the storage engine does not sync again.
    counts_on_it = version >= (5, 6) or not version
    if logging is not None and logging.lower() not in OFF and sync is not None and sync != "1" and counts_on_it:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}, but {settings.words('log_bin')} and {settings.words('sync_binlog')}: the binary log, on which a "
            f"commit counts, is not synced at each commit{note}",
        )
    return Promise(Durability.POWER_LOSS, f"{words}: each commit is synced{note}")


READERS = {
    "temp_memory": _temp_memory,
    "query_cache": _query_cache,
    "commit_flush": at_commit(lambda settings: _COMMIT.get(settings.low("innodb_flush_log_at_trx_commit"))),
    "torn_pages": switched_on(lambda given: given not in NO_DOUBLEWRITE),
    "log_capacity": _log_capacity,
    "replication_log": _binlog,
    "isolation": isolation,
    "direct_io": switched_on(lambda method: method.startswith("o_direct")),
}
MYSQL = read_engine(
    "mysql", durability, READERS, Suffixes(sizes=BINARY, times={}), simple=_simple, translate=translate,
    is_server=lambda section: bool(_SERVER.match(section.lower())),
)  # fmt: skip
MARIADB = changed_engine(MYSQL, "mariadb")
canonical = MYSQL.canonical
