"""Settings of MySQL and MariaDB with InnoDB. Names, units and defaults after the MySQL reference manual
("Server System Variables", "InnoDB Startup Options and System Variables") and MariaDB's knowledge base.

Sizes take K, M, G (from 8.0 also T, P, E). Only groups that the server reads count. A dash in a name is an underscore.
"""

from __future__ import annotations

import re
from dataclasses import replace

from benchagent.catalog import Durability
from benchagent.configfiles.engines.mysql_settings import MARIADB_SPECS, MORE_NAMES, NEGATED, OLD_NAMES, SPECS
from benchagent.configfiles.settings import (
    Engine,
    Facts,
    Given,
    Meaning,
    Promise,
    Settings,
    isolation,
    one,
    product,
    yes_or_no,
)
from benchagent.configfiles.units import BINARY, Kind, Quantity, Suffixes, size_words

_SERVER = re.compile(r"(?:|mysqld(?:-[\d.]+|\d+)?|server|mariadb(?:-[\d.]+)?|mariadbd(?:-[\d.]+)?|galera|embedded)\Z")
OFF = ("off", "0", "false", "no")
# What an agent read back of the tables themselves: "InnoDB (40), MyISAM (1)".
TABLE_ENGINES = "table_engines"
_COUNTED = re.compile(r"(\w+) \((\d+)\)")
WITHOUT_TRANSACTIONS = ("myisam", "mrg_myisam", "aria", "memory", "csv", "archive", "blackhole", "maria")


def canonical(name: str) -> str:
    found = name.strip().lower().replace("-", "_").removeprefix("loose_")
    return OLD_NAMES.get(found, found)


def translate(given: Given) -> Given:
    """`set-variable = name=value` of the 4.x servers, and `skip-…` for what is then off."""
    name = canonical(given.name)
    if name == "set_variable" and given.value and "=" in given.value:
        variable, _, value = given.value.partition("=")
        return Given(variable.strip(), value.strip(), given.section)
    if name in NEGATED:
        return Given(NEGATED[name], "OFF", given.section)
    return given


def _log_capacity(settings: Settings) -> Quantity | None:
    if settings.is_set("innodb_redo_log_capacity") or settings.default("innodb_redo_log_capacity"):
        return settings.quantity("innodb_redo_log_capacity")
    return product("innodb_log_file_size", "innodb_log_files_in_group")(settings)


def _query_cache(settings: Settings) -> Quantity | None:
    if settings.low("query_cache_type") in OFF and not settings.is_set("query_cache_size"):
        return Quantity(Kind.BYTES, 0, size_words(0), settings.words("query_cache_type"))
    if settings.is_set("query_cache_type") and settings.low("query_cache_type") in OFF:
        return Quantity(Kind.BYTES, 0, size_words(0), settings.words("query_cache_type"))
    return settings.quantity("query_cache_size")


def _temp_memory(settings: Settings) -> Quantity | None:
    """The smaller of two limits holds."""
    found = [settings.quantity(name) for name in ("tmp_table_size", "max_heap_table_size")]
    sizes = [one for one in found if one is not None and isinstance(one.value, int)]
    if len(sizes) < 2:
        return sizes[0] if sizes else None
    smaller = min(sizes, key=lambda one: one.value if isinstance(one.value, int) else 0)
    words = f"{settings.words('tmp_table_size')}, {settings.words('max_heap_table_size')}"
    return smaller.because(f"the smaller of {words}")


_COMMIT = {
    "0": ("later", "written and synced once a second"),
    "1": ("each", "synced at each commit"),
    "2": ("written", "written at each commit, synced once a second"),
    "3": ("each", "synced at each commit"),
}


def _commit(settings: Settings) -> Quantity | None:
    setting = settings.low("innodb_flush_log_at_trx_commit")
    if setting not in _COMMIT:
        return None
    value, words = _COMMIT[setting]
    return Quantity(Kind.TEXT, value, words, settings.words("innodb_flush_log_at_trx_commit"))


def _direct(settings: Settings) -> Quantity | None:
    method = settings.low("innodb_flush_method")
    if not method:
        return None
    used = method.startswith("o_direct")
    return yes_or_no(used, settings.words("innodb_flush_method"))


def _torn(settings: Settings) -> Quantity | None:
    found = settings.low("innodb_doublewrite")
    return yes_or_no(found not in OFF, settings.words("innodb_doublewrite")) if found else None


def _binlog(settings: Settings) -> Quantity | None:
    found = settings.text("log_bin")
    if found is None:
        return None
    return yes_or_no(found.lower() not in OFF, settings.words("log_bin"))


MEANINGS = {
    "buffer_pool": one("innodb_buffer_pool_size"),
    "page_size": one("innodb_page_size"),
    "log_buffer": one("innodb_log_buffer_size"),
    "sort_memory": one("sort_buffer_size", "of a session"),
    "join_memory": one("join_buffer_size", "for each join without index"),
    "maintenance_memory": one("innodb_sort_buffer_size", "index builds"),
    "temp_memory": Meaning(("tmp_table_size", "max_heap_table_size"), _temp_memory),
    "query_cache": Meaning(("query_cache_size", "query_cache_type"), _query_cache),
    "commit_flush": Meaning(("innodb_flush_log_at_trx_commit",), _commit),
    "sync_method": one("innodb_flush_method"),
    "group_commit": one("binlog_group_commit_sync_delay"),
    "torn_pages": Meaning(("innodb_doublewrite",), _torn),
    "log_capacity": Meaning(
        ("innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity"), _log_capacity
    ),
    "replication_log": Meaning(("log_bin",), _binlog),
    "replication_log_sync": one("sync_binlog", "commits between two syncs; 0 leaves it to the operating system"),
    "max_connections": one("max_connections"),
    "thread_limit": one("innodb_thread_concurrency"),
    "isolation": isolation("transaction_isolation"),
    "lock_timeout": one("innodb_lock_wait_timeout"),
    "background_writer": one("innodb_io_capacity", "operations a second"),
    "garbage_collection": one("innodb_purge_threads"),
    "direct_io": Meaning(("innodb_flush_method",), _direct),
    "huge_pages": one("large_pages"),
    "table_engine": one("default_storage_engine"),
    "data_storage": one("datadir"),
    "log_storage": one("innodb_log_group_home_dir"),
    "temp_storage": one("tmpdir"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    unsafe = _without_transactions(settings)
    if unsafe:
        return Promise(Durability.NONE, unsafe)
    commit = settings.low("innodb_flush_log_at_trx_commit")
    words = settings.words("innodb_flush_log_at_trx_commit")
    if commit not in _COMMIT:
        return Promise(None, f"{words}: what a commit waits for is not known")
    if settings.low("innodb_flush_method") == "nosync":
        return Promise(Durability.NONE, "innodb_flush_method=nosync: nothing is ever synced")
    note = _note(settings)
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
    return _synced(settings, words, note, write_cache)


def _without_transactions(settings: Settings) -> str:
    """Why nothing is promised: what the tables are, where that was read back, else what they are made by default."""
    tables = _COUNTED.findall(settings.text(TABLE_ENGINES) or "")
    found = [f"{count} with {engine}" for engine, count in tables if engine.lower() in WITHOUT_TRANSACTIONS]
    if found:
        return f"of the tables {', '.join(found)}: it has no transactions and syncs nothing at a commit"
    if not tables and settings.low("default_storage_engine") == "myisam" and settings.is_set("default_storage_engine"):
        words = settings.words("default_storage_engine")
        return f"{words}: MyISAM has no transactions and syncs nothing at a commit"
    return ""


def _version(settings: Settings) -> tuple[int, ...]:
    return settings.facts.version_numbers or Facts(version=settings.text("version") or "").version_numbers


def _synced(settings: Settings, words: str, note: str, write_cache: str) -> Promise:
    if settings.low("innodb_doublewrite") in OFF:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}: each commit is synced, but {settings.words('innodb_doublewrite')}: a page torn by a crash of "
            f"the machine cannot be repaired, unless the file system writes whole pages{note}",
        )
    logging, sync, version = settings.text("log_bin"), settings.text("sync_binlog"), _version(settings)
    # From 5.6 on a commit with a binary log counts on that log alone: the storage engine does not sync again.
    counts_on_it = version >= (5, 6) or not version
    if logging is not None and logging.lower() not in OFF and sync is not None and sync != "1" and counts_on_it:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}, but {settings.words('log_bin')} and {settings.words('sync_binlog')}: the binary log, on which a "
            f"commit counts, is not synced at each commit{note}",
        )
    cache = f"; {write_cache}" if write_cache else ""
    return Promise(Durability.POWER_LOSS, f"{words}: each commit is synced{cache}{note}")


def _note(settings: Settings) -> str:
    if settings.low("default_storage_engine") == "myisam":  # of a version that has it by default
        return f"; of InnoDB tables ({settings.words('default_storage_engine')}, which promises nothing)"
    return ""


MYSQL = Engine(
    slug="mysql",
    source="MySQL reference manual, “Server System Variables” and “InnoDB System Variables”",
    specs=SPECS,
    suffixes=Suffixes(sizes=BINARY, times={}),
    meanings=MEANINGS,
    durability=durability,
    canonical=canonical,
    is_server=lambda section: bool(_SERVER.match(section.lower())),
    more_names=frozenset(MORE_NAMES.split()),
    translate=translate,
)
MARIADB = replace(
    MYSQL,
    slug="mariadb",
    source="MariaDB knowledge base, “Server System Variables” and “InnoDB System Variables”",
    specs=MARIADB_SPECS,
)
