"""Settings of MySQL and MariaDB with InnoDB. Names, units and defaults after the MySQL reference manual
("Server System Variables", "InnoDB Startup Options and System Variables") and MariaDB's knowledge base.

Sizes take K, M, G (from 8.0 also T, P, E). Only groups that the server reads count. A dash in a name is an underscore.
"""

from __future__ import annotations

import re
from dataclasses import replace

from benchagent.catalog import Durability
from benchagent.configfiles.settings import (
    Engine,
    Given,
    Meaning,
    Promise,
    Settings,
    isolation,
    one,
    product,
    yes_or_no,
)
from benchagent.configfiles.units import (
    BINARY,
    Kind,
    Quantity,
    Suffixes,
    changed,
    count,
    flag,
    size,
    size_words,
    text,
    time,
)

_SERVER = re.compile(r"(?:|mysqld(?:-[\d.]+|\d+)?|server|mariadb(?:-[\d.]+)?|mariadbd(?:-[\d.]+)?|galera|embedded)\Z")
OFF = ("off", "0", "false", "no")

SPECS = {
    "innodb_buffer_pool_size": size(changed("8M", ("5.5", "128M"))),
    "innodb_buffer_pool_instances": count(),
    "innodb_page_size": size("16K"),
    "innodb_log_buffer_size": size(changed("1M", ("5.5", "8M"), ("5.7.6", "16M"))),
    "innodb_log_file_size": size(changed("5M", ("5.6.8", "48M"))),
    "innodb_log_files_in_group": count("2"),
    "innodb_redo_log_capacity": size(changed(None, ("8.0.30", "100M"))),
    "innodb_flush_log_at_trx_commit": text("1"),
    "innodb_flush_log_at_timeout": time("1"),
    "innodb_doublewrite": text("ON"),
    "innodb_flush_method": text(changed("fsync", ("8.4", "O_DIRECT"))),
    "innodb_file_per_table": flag(changed("OFF", ("5.6.6", "ON"))),
    "innodb_data_file_path": text(),
    "innodb_data_home_dir": text(),
    "innodb_log_group_home_dir": text(),
    "innodb_support_xa": flag("1"),
    "innodb_thread_concurrency": count(changed("8", ("5.5", "0")), is_0="no limit"),
    "innodb_lock_wait_timeout": time("50"),
    "innodb_deadlock_detect": flag(),
    "innodb_io_capacity": count(),
    "innodb_purge_threads": count(changed("0", ("5.6.5", "1"), ("5.7.8", "4"))),
    "innodb_page_cleaners": count(),
    "innodb_additional_mem_pool_size": size(),
    "innodb_sort_buffer_size": size(changed(None, ("5.6.4", "1M"))),
    "innodb_max_dirty_pages_pct": count(),
    "innodb_adaptive_hash_index": flag(),
    "log_bin": text(changed("OFF", ("8.0", "ON"))),
    "sync_binlog": count(changed("0", ("5.7.7", "1"))),
    "binlog_group_commit_sync_delay": time(changed(None, ("5.7.5", "0")), 0.000_001, is_0="none"),
    "binlog_cache_size": size("32K"),
    "binlog_format": text(),
    "max_connections": count(changed("100", ("5.1.15", "151"))),
    "max_allowed_packet": size(),
    "sort_buffer_size": size(changed("2M", ("5.6.4", "256K"))),
    "join_buffer_size": size(changed("128K", ("5.6.6", "256K"))),
    "read_buffer_size": size("128K"),
    "read_rnd_buffer_size": size("256K"),
    "tmp_table_size": size(changed("32M", ("5.1.2", "16M"))),
    "max_heap_table_size": size("16M"),
    "bulk_insert_buffer_size": size("8M"),
    "key_buffer_size": size("8M"),
    "myisam_sort_buffer_size": size("8M"),
    "myisam_max_sort_file_size": size(),
    "myisam_max_extra_sort_file_size": size(),
    "query_cache_size": size(changed("0", ("5.6.8", "1M"), ("8.0", None))),
    "query_cache_type": text(changed("1", ("5.6.8", "0"), ("8.0", None))),
    "query_cache_limit": size(),
    "default_storage_engine": text(changed("MyISAM", ("5.5.5", "InnoDB"))),
    "transaction_isolation": text("REPEATABLE-READ"),
    "thread_cache_size": count(),
    "table_open_cache": count(),
    "long_query_time": time("10"),
    "expire_logs_days": time(None, 86_400),
    "back_log": count(),
    "large_pages": flag("OFF"),
    "datadir": text(),
    "tmpdir": text(),
}
_MORE = """user port basedir socket pid_file bind_address character_set_server collation_server default_character_set
skip_name_resolve skip_networking skip_external_locking max_connect_errors table_definition_cache thread_stack
net_buffer_length ft_min_word_len myisam_repair_threads myisam_recover myisam_recover_options log_error slow_query_log
slow_query_log_file general_log log_warnings log_slow_queries log_slow_admin_statements log_long_format log_output
server_id relay_log log_slave_updates gtid_mode enforce_gtid_consistency read_only skip_slave_start
lower_case_table_names sql_mode open_files_limit performance_schema wait_timeout interactive_timeout connect_timeout
lc_messages lc_messages_dir explicit_defaults_for_timestamp innodb_autoinc_lock_mode innodb_read_io_threads
innodb_write_io_threads innodb_stats_on_metadata innodb_open_files innodb_autoextend_increment innodb_old_blocks_time
innodb_change_buffering innodb_flush_neighbors innodb_lru_scan_depth innodb_concurrency_tickets max_binlog_size
binlog_expire_logs_seconds local_infile secure_file_priv event_scheduler default_authentication_plugin table_cache
default_table_type storage_engine prompt auto_rehash quick quote_names no_auto_rehash wsrep_on wsrep_provider"""

_OLD_NAMES = {
    "default_table_type": "default_storage_engine",
    "storage_engine": "default_storage_engine",
    "table_type": "default_storage_engine",
    "table_cache": "table_open_cache",
    "tx_isolation": "transaction_isolation",
    "key_buffer": "key_buffer_size",
    "sort_buffer": "sort_buffer_size",
    "join_buffer": "join_buffer_size",
    "innodb_file_io_threads": "innodb_read_io_threads",
    "binlog_commit_wait_usec": "binlog_group_commit_sync_delay",
}
_NEGATED = {
    "skip_innodb_doublewrite": "innodb_doublewrite",
    "skip_log_bin": "log_bin",
    "disable_log_bin": "log_bin",
    "skip_innodb_file_per_table": "innodb_file_per_table",
}


def canonical(name: str) -> str:
    found = name.strip().lower().replace("-", "_").removeprefix("loose_")
    return _OLD_NAMES.get(found, found)


def translate(given: Given) -> Given:
    """`set-variable = name=value` of the 4.x servers, and `skip-…` for what is then off."""
    name = canonical(given.name)
    if name == "set_variable" and given.value and "=" in given.value:
        variable, _, value = given.value.partition("=")
        return Given(variable.strip(), value.strip(), given.section)
    if name in _NEGATED:
        return Given(_NEGATED[name], "OFF", given.section)
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
    "data_place": one("datadir"),
    "log_place": one("innodb_log_group_home_dir"),
    "temp_place": one("tmpdir"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    engine = settings.low("default_storage_engine")
    if engine == "myisam" and settings.is_set("default_storage_engine"):
        words = settings.words("default_storage_engine")
        return Promise(Durability.NONE, f"{words}: MyISAM has no transactions and syncs nothing at a commit")
    commit = settings.low("innodb_flush_log_at_trx_commit")
    words = settings.words("innodb_flush_log_at_trx_commit")
    if commit not in _COMMIT:
        return Promise(None, f"{words}: what a commit waits for is not known")
    if settings.low("innodb_flush_method") == "nosync":
        return Promise(Durability.NONE, "innodb_flush_method=nosync: nothing is ever synced")
    note = _note(settings, engine)
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


def _synced(settings: Settings, words: str, note: str, write_cache: str) -> Promise:
    if settings.low("innodb_doublewrite") in OFF:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}: each commit is synced, but {settings.words('innodb_doublewrite')}: a page torn by a crash of "
            f"the machine cannot be repaired, unless the file system writes whole pages{note}",
        )
    logging, sync = settings.text("log_bin"), settings.text("sync_binlog")
    # From 5.6 on a commit with a binary log counts on that log alone: the storage engine does not sync again.
    counts_on_it = settings.facts.version_numbers >= (5, 6) or not settings.facts.version_numbers
    if logging is not None and logging.lower() not in OFF and sync is not None and sync != "1" and counts_on_it:
        return Promise(
            Durability.DBMS_CRASH,
            f"{words}, but {settings.words('log_bin')} and {settings.words('sync_binlog')}: the binary log, on which a "
            f"commit counts, is not synced at each commit{note}",
        )
    cache = f"; {write_cache}" if write_cache else ""
    return Promise(Durability.POWER_LOSS, f"{words}: each commit is synced{cache}{note}")


def _note(settings: Settings, engine: str) -> str:
    if engine == "myisam":
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
    more_names=frozenset(_MORE.split()),
    translate=translate,
)
MARIADB = replace(
    MYSQL,
    slug="mariadb",
    source="MariaDB knowledge base, “Server System Variables” and “InnoDB System Variables”",
    specs=SPECS
    | {
        "innodb_buffer_pool_size": size("128M"),
        "innodb_log_buffer_size": size(changed("8M", ("10.1", "16M"))),
        "innodb_log_file_size": size(changed("48M", ("10.5", "96M"))),
        "innodb_log_files_in_group": count(changed("2", ("10.5", "1"))),
        "innodb_redo_log_capacity": size(None),
        "innodb_flush_method": text(changed("fsync", ("10.6", "O_DIRECT"))),
        "innodb_file_per_table": flag("ON"),
        "innodb_purge_threads": count(changed("1", ("10.2", "4"))),
        "log_bin": text("OFF"),
        "sync_binlog": count("0"),
        "sort_buffer_size": size("2M"),
        "tmp_table_size": size("16M"),
        "query_cache_size": size("1M"),
        "query_cache_type": text(changed("ON", ("10.1.7", "OFF"))),
        "default_storage_engine": text("InnoDB"),
        "max_connections": count("151"),
        "innodb_thread_concurrency": count("0", is_0="no limit"),
        "join_buffer_size": size("256K"),
        "innodb_sort_buffer_size": size("1M"),
    },
)
