"""CUBRID's settings, after its manual, "Database Server Configuration", and the cubrid.conf of 2008 R3.

Sizes once counted pages of the database (`data_buffer_pages`), whose size is set by `createdb`; later versions count
bytes (`data_buffer_size`). Times end in their unit (`_in_secs`) or, later, take one.
"""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Engine, Meaning, Promise, Settings, commit_flush, one, survives, yes_or_no
from benchagent.configfiles.units import (
    BINARY,
    Kind,
    Quantity,
    Suffixes,
    changed,
    count,
    flag,
    pages,
    size,
    text,
    time,
    time_words,
)

SPECS = {
    "data_buffer_pages": pages(),
    "data_buffer_size": size(),
    "sort_buffer_pages": pages(),
    "sort_buffer_size": size(),
    "log_buffer_pages": pages(),
    "log_buffer_size": size(),
    "index_scan_oid_buffer_pages": pages(),
    "temp_file_memory_size_in_pages": pages(),
    "temp_file_max_size_in_pages": count("-1", minus_1="no limit"),
    "db_page_size": size(),
    "checkpoint_every_npages": pages(),
    "checkpoint_every_size": size(),
    "checkpoint_interval_in_mins": time(None, 60),
    "checkpoint_interval": time(changed(None, ("10", "6min")), 0.001),
    "async_commit": flag("no"),
    "group_commit_interval_in_msecs": time("0", 0.001, is_0="none"),
    "double_write_buffer_size": size(changed(None, ("10.2", "2M")), 1, is_0="off"),
    "log_volume_size": size(),
    "log_max_archives": count(),
    "max_clients": count(changed("50", ("9", "100"))),
    "isolation_level": text(),
    "lock_timeout_in_secs": time(None, 1, minus_1="no limit"),
    "lock_timeout": time("-1", 0.001, minus_1="no limit"),
    "lock_escalation": count("100000"),
    "deadlock_detection_interval_in_secs": time("1"),
    "num_lru_chains": count(),
    "replication": flag("no"),
    "ha_mode": text("off"),
    "sync_on_nflush": count(),
    "max_plan_cache_entries": count(),
    "max_query_cache_entries": count(),
    "query_cache_size_in_pages": pages(),
    "error_log_level": text(),
    "temp_volume_path": text(),
    "volume_extension_path": text(),
    "unfill_factor": count(),
    "thread_stacksize": size(),
}
_MORE = """service server cubrid_port_id auto_restart_server java_stored_procedure communication_histogram error_log
db_hosts check_peer_alive tcp_keepalive max_agg_hash_size db_volume_size compat_primary_key background_archiving
max_flush_size_per_second max_flush_pages_per_second block_nowhere_statement block_ddl_statement intl_mbs_support
ansi_quotes oracle_style_empty_string pipes_as_concat thread_worker_pooling loaddb_worker_count sql_trace_slow
sql_trace_slow_msecs trace_log file_lock garbage_collection access_ip_control use_orderby_sort_limit cubrid_shm_key
ha_port_id ha_node_list ha_db_list csql_history_num hostvar_late_binding pthread_scope_process supplemental_log
force_remove_log_archives adaptive_flush_control stored_procedure log_compress error_log_warning error_log_size"""

_ISOLATION = {
    "1": "read committed rows, read uncommitted schema",
    "2": "read committed rows, read committed schema",
    "3": "read uncommitted rows, repeatable schema",
    "tran_rep_class_uncommit_instance": "read uncommitted rows, repeatable schema",
    "4": "read committed",
    "tran_rep_class_commit_instance": "read committed",
    "tran_read_committed": "read committed",
    "5": "repeatable read",
    "tran_rep_class_rep_instance": "repeatable read",
    "tran_repeatable_read": "repeatable read",
    "6": "serializable",
    "tran_serializable": "serializable",
}


def _isolation(settings: Settings) -> Quantity | None:
    given = settings.low("isolation_level")
    if not given:
        return None
    words = _ISOLATION.get(given, given)
    return Quantity(Kind.TEXT, words, words, settings.words("isolation_level"))


def _commit(settings: Settings) -> str | None:
    async_commit = settings.value("async_commit")
    if not isinstance(async_commit, bool):
        return None
    return "later" if async_commit else "each"


def _torn(settings: Settings) -> Quantity | None:
    given = settings.text("double_write_buffer_size")
    return yes_or_no(given.strip() != "0", settings.words("double_write_buffer_size")) if given else None


def either(*names: str) -> Meaning:
    return Meaning(names)


MEANINGS = {
    "buffer_pool": either("data_buffer_size", "data_buffer_pages"),
    "page_size": one("db_page_size", "set by createdb"),
    "log_buffer": either("log_buffer_size", "log_buffer_pages"),
    "sort_memory": either("sort_buffer_size", "sort_buffer_pages"),
    "temp_memory": one("temp_file_memory_size_in_pages"),
    "query_cache": one("query_cache_size_in_pages"),
    "commit_flush": commit_flush(("async_commit",), _commit),
    "group_commit": one("group_commit_interval_in_msecs"),
    "torn_pages": Meaning(("double_write_buffer_size",), _torn),
    "log_capacity": either("checkpoint_every_size", "checkpoint_every_npages"),
    "checkpoint_interval": either("checkpoint_interval", "checkpoint_interval_in_mins"),
    "replication_log": one("replication"),
    "max_connections": one("max_clients"),
    "isolation": Meaning(("isolation_level",), _isolation),
    "lock_timeout": either("lock_timeout", "lock_timeout_in_secs"),
    "deadlock_check": one("deadlock_detection_interval_in_secs"),
    "temp_storage": one("temp_volume_path"),
    "data_storage": one("volume_extension_path"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    async_commit = settings.value("async_commit")
    group = settings.value("group_commit_interval_in_msecs")
    words = settings.words("async_commit")
    if not isinstance(async_commit, bool):
        return Promise(None, f"{words}: what a commit waits for is not known")
    interval = isinstance(group, int | float) and not isinstance(group, bool) and group > 0
    if async_commit and interval and isinstance(group, int | float):
        about = "about a second" if group == 1 else f"about {time_words(group)}"
        return Promise(
            Durability.BOUNDED_LOSS,
            f"{words} with {settings.words('group_commit_interval_in_msecs')}: a commit does not wait for the log; "
            f"{about} may be lost in a crash",
        )
    if async_commit:
        return Promise(Durability.BOUNDED_LOSS, f"{words}: a commit does not wait for the log, which is flushed later")
    waits = ""
    if interval and isinstance(group, int | float):
        waits = f", waiting up to {time_words(group)} for others"
    return survives(f"{words}: each commit waits until the log is flushed{waits}", write_cache)


ENGINE = Engine(
    slug="cubrid",
    source="CUBRID manual, “Database Server Configuration”; cubrid.conf of CUBRID 2008 R3",
    specs=SPECS,
    suffixes=Suffixes(
        sizes={"b": 1, **BINARY, **{f"{letter}b": factor for letter, factor in BINARY.items()}},
        times={"ms": 0.001, "s": 1, "sec": 1, "min": 60, "h": 3_600},
    ),
    meanings=MEANINGS,
    durability=durability,
    is_server=lambda section: section.lower() in ("", "common", "server") or section.startswith("@"),
    more_names=frozenset(_MORE.split()),
    duplicates="which one holds is not documented; the last is read here",
)
