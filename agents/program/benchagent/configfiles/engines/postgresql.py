"""PostgreSQL's settings. Units and defaults after its manual, chapter "Server Configuration", and pg_settings.

A number without unit counts blocks of 8 kB (shared_buffers, temp_buffers, effective_cache_size, wal_buffers), kB
(work_mem), MB (max_wal_size), ms or s: the column `unit` of pg_settings.
"""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import (
    COMMIT_WORDS,
    Engine,
    Meaning,
    Promise,
    Settings,
    isolation,
    one,
    survives,
    yes_or_no,
)
from benchagent.configfiles.units import (
    GIB,
    KIB,
    MIB,
    TIB,
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

BLOCK = 8 * KIB
SEGMENT = 16 * MIB
MS, US = 0.001, 0.000_001
# PostgreSQL manual, "Asynchronous Commit": at most three times wal_writer_delay.
WAL_WRITER_ROUNDS = 3
OFF = ("off", "false", "no", "0")
TORN = (
    "full_page_writes=off: a page torn by a crash of the machine cannot be repaired, "
    "unless the file system writes whole pages"
)

SPECS = {
    "shared_buffers": size(changed("32MB", ("9.3", "128MB")), BLOCK),
    "temp_buffers": size("8MB", BLOCK),
    "work_mem": size(changed("1MB", ("9.4", "4MB")), KIB),
    "maintenance_work_mem": size(changed("16MB", ("9.4", "64MB")), KIB),
    "autovacuum_work_mem": size("-1", KIB, minus_1="as maintenance_work_mem"),
    "logical_decoding_work_mem": size(None, KIB),
    "hash_mem_multiplier": count(),
    "effective_cache_size": size(changed("128MB", ("9.4", "4GB")), BLOCK),
    "block_size": size("8192"),
    "wal_buffers": size(changed("64kB", ("9.1", "-1")), BLOCK, minus_1="1/32 of shared_buffers, at most a segment"),
    "wal_segment_size": size(None),
    "min_wal_size": size(None, MIB),
    "max_wal_size": size(changed(None, ("9.5", "1GB")), MIB),
    "checkpoint_segments": count(changed("3", ("9.5", None))),
    "checkpoint_timeout": time("5min"),
    "checkpoint_completion_target": count(changed("0.5", ("14", "0.9"))),
    "checkpoint_flush_after": size(None, BLOCK),
    "fsync": flag("on"),
    "synchronous_commit": text("on"),
    "wal_sync_method": text(),
    "full_page_writes": flag("on"),
    "wal_writer_delay": time("200ms", MS),
    "wal_writer_flush_after": size(None, BLOCK),
    "commit_delay": time("0", US, is_0="none"),
    "commit_siblings": count("5"),
    "wal_level": text(changed("minimal", ("10", "replica"))),
    "wal_compression": text("off"),
    "synchronous_standby_names": text(),
    "archive_mode": text("off"),
    "max_connections": count("100"),
    "superuser_reserved_connections": count("3"),
    "deadlock_timeout": time("1s", MS),
    "lock_timeout": time("0", MS, is_0="no limit"),
    "statement_timeout": time("0", MS, is_0="no limit"),
    "default_transaction_isolation": text("read committed"),
    "bgwriter_delay": time("200ms", MS),
    "bgwriter_lru_maxpages": count("100"),
    "autovacuum": flag(changed("off", ("8.3", "on"))),
    "autovacuum_naptime": time("1min"),
    "autovacuum_max_workers": count("3"),
    "max_worker_processes": count(),
    "max_parallel_workers": count(),
    "max_parallel_workers_per_gather": count(changed("0", ("10", "2"))),
    "max_parallel_maintenance_workers": count(),
    "huge_pages": text(changed(None, ("9.4", "try"))),
    "debug_io_direct": text(),
    "effective_io_concurrency": count(),
    "data_directory": text(),
    "temp_tablespaces": text(),
    "random_page_cost": count("4.0"),
    "seq_page_cost": count("1.0"),
    "default_statistics_target": count(changed("10", ("8.4", "100"))),
    "data_checksums": flag(),
    "jit": flag(changed("off", ("12", "on"))),
    "log_min_duration_statement": time("-1", MS, minus_1="never"),
}
_MORE = """listen_addresses port unix_socket_directories unix_socket_directory unix_socket_permissions hba_file
ident_file
external_pid_file bonjour tcp_keepalives_idle authentication_timeout password_encryption ssl ssl_cert_file ssl_key_file
ssl_ca_file max_prepared_transactions max_stack_depth shared_memory_type dynamic_shared_memory_type temp_file_limit
max_files_per_process vacuum_cost_delay vacuum_cost_limit bgwriter_lru_multiplier max_wal_senders wal_keep_size
wal_keep_segments wal_log_hints wal_init_zero wal_recycle checkpoint_warning archive_command archive_timeout
max_replication_slots hot_standby wal_receiver_timeout enable_seqscan enable_hashjoin enable_nestloop enable_indexscan
cpu_tuple_cost cpu_index_tuple_cost cpu_operator_cost geqo geqo_threshold from_collapse_limit join_collapse_limit
constraint_exclusion log_destination logging_collector log_directory log_filename log_file_mode log_rotation_age
log_rotation_size syslog_facility log_min_messages log_min_error_statement log_checkpoints log_connections
log_disconnections log_duration log_line_prefix log_lock_waits log_statement log_temp_files log_timezone cluster_name
update_process_title track_activities track_counts track_io_timing track_functions stats_temp_directory
log_autovacuum_min_duration autovacuum_vacuum_threshold autovacuum_vacuum_scale_factor autovacuum_freeze_max_age
search_path default_tablespace idle_in_transaction_session_timeout vacuum_freeze_min_age bytea_output datestyle
intervalstyle timezone client_encoding lc_messages lc_monetary lc_numeric lc_time default_text_search_config
shared_preload_libraries local_preload_libraries jit_provider max_locks_per_transaction max_pred_locks_per_transaction
io_method io_workers exit_on_error restart_after_crash max_fsm_pages max_fsm_relations custom_variable_classes
standard_conforming_strings array_nulls backslash_quote escape_string_warning synchronize_seqscans"""

SUFFIXES = Suffixes(
    sizes={"B": 1, "kB": KIB, "MB": MIB, "GB": GIB, "TB": TIB},
    times={"us": US, "ms": MS, "s": 1, "min": 60, "h": 3_600, "d": 86_400},
    exact=True,
)


def _log_capacity(settings: Settings) -> Quantity | None:
    """max_wal_size; before 9.5 a number of segments."""
    segments = settings.value("checkpoint_segments")
    if settings.is_set("max_wal_size") or not isinstance(segments, int):
        return settings.quantity("max_wal_size")
    total = segments * SEGMENT
    reason = f"{settings.words('checkpoint_segments')} × {size_words(SEGMENT)}"
    return Quantity(Kind.BYTES, total, size_words(total), reason)


def _commit(settings: Settings) -> Quantity | None:
    level = settings.text("synchronous_commit")
    if settings.low("fsync") in OFF:
        return Quantity(Kind.TEXT, "never", COMMIT_WORDS["never"], settings.words("fsync"))
    if level is None:
        return None
    if level.lower() in OFF:
        return Quantity(Kind.TEXT, "later", COMMIT_WORDS["later"], settings.words("synchronous_commit"))
    return Quantity(Kind.TEXT, "each", COMMIT_WORDS["each"], settings.words("synchronous_commit"))


def _replication(settings: Settings) -> Quantity | None:
    level = settings.low("wal_level")
    return yes_or_no(level != "minimal", settings.words("wal_level")) if level else None


def _direct(settings: Settings) -> Quantity | None:
    given = settings.low("debug_io_direct")
    return yes_or_no(bool(given), settings.words("debug_io_direct")) if settings.is_set("debug_io_direct") else None


MEANINGS = {
    "buffer_pool": one("shared_buffers"),
    "page_size": one("block_size", "set when the server was built"),
    "log_buffer": one("wal_buffers"),
    "sort_memory": one("work_mem", "for each sort or hash of a statement"),
    "maintenance_memory": one("maintenance_work_mem"),
    "temp_memory": one("temp_buffers", "temporary tables of a session"),
    "cache_estimate": one("effective_cache_size"),
    "commit_flush": Meaning(("synchronous_commit", "fsync"), _commit),
    "sync_method": one("wal_sync_method"),
    "group_commit": one("commit_delay"),
    "torn_pages": one("full_page_writes"),
    "log_capacity": Meaning(("max_wal_size", "checkpoint_segments"), _log_capacity),
    "checkpoint_interval": one("checkpoint_timeout"),
    "replication_log": Meaning(("wal_level",), _replication),
    "max_connections": one("max_connections"),
    "parallel_workers": one("max_parallel_workers_per_gather"),
    "isolation": isolation("default_transaction_isolation"),
    "lock_timeout": one("lock_timeout"),
    "deadlock_check": one("deadlock_timeout"),
    "background_writer": one("bgwriter_delay"),
    "garbage_collection": one("autovacuum"),
    "direct_io": Meaning(("debug_io_direct",), _direct),
    "huge_pages": one("huge_pages"),
    "data_storage": one("data_directory"),
    "temp_storage": one("temp_tablespaces"),
}


# What a commit waits for on this machine is the same with all of these; they differ in what standbys have done.
WAITING = {
    "on": "written by the standby to its disk",
    "remote_write": "handed to the standby's system",
    "remote_apply": "applied by the standby",
    "local": "",
    **dict.fromkeys(("true", "yes", "1"), "written by the standby to its disk"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    unprotected = settings.low("full_page_writes") in OFF
    torn = "; full_page_writes=off: a torn page cannot be repaired" if unprotected else ""
    commit = settings.low("synchronous_commit")
    if settings.low("fsync") in OFF:
        return Promise(Durability.NONE, f"fsync=off: a crash of the machine may corrupt the whole cluster{torn}")
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
    synced = f"{given}{_sync_method(settings)}: each commit is synced{_standby(settings, commit)}"
    if unprotected:
        return Promise(Durability.DBMS_CRASH, f"{synced}, but {TORN}")
    return survives(synced, write_cache)


def _sync_method(settings: Settings) -> str:
    """However the log is synced, the kernel reports it when the device says that it is done."""
    return f", {settings.words('wal_sync_method')}" if settings.is_set("wal_sync_method") else ""


def _standby(settings: Settings, commit: str) -> str:
    named = settings.text("synchronous_standby_names")
    return f" here and {WAITING[commit]}" if named and WAITING[commit] else ""


ENGINE = Engine(
    slug="postgresql",
    source="PostgreSQL manual, chapter “Server Configuration”; units as in pg_settings",
    specs=SPECS,
    suffixes=SUFFIXES,
    meanings=MEANINGS,
    durability=durability,
    more_names=frozenset(_MORE.split()),
)
