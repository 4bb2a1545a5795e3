"""Oracle's initialization parameters, after the Oracle Database Reference, "Initialization Parameters"."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import (
    Engine,
    Meaning,
    Promise,
    Settings,
    commit_flush,
    one,
    product,
    survives,
    yes_or_no,
)
from benchagent.configfiles.units import BINARY, Quantity, Suffixes, count, flag, size, text, time

SPECS = {
    "db_cache_size": size(),
    "db_block_buffers": count(),
    "db_block_size": size("8192"),
    "sga_target": size("0", 1, is_0="off"),
    "sga_max_size": size(),
    "memory_target": size("0", 1, is_0="off"),
    "memory_max_target": size(),
    "pga_aggregate_target": size(),
    "sort_area_size": size("65536"),
    "hash_area_size": size(),
    "workarea_size_policy": text("auto"),
    "shared_pool_size": size(),
    "large_pool_size": size(),
    "java_pool_size": size(),
    "streams_pool_size": size(),
    "log_buffer": size(),
    "log_checkpoint_timeout": time("1800", 1, is_0="off"),
    "log_checkpoint_interval": count("0"),
    "fast_start_mttr_target": time("0", 1, is_0="off"),
    "commit_write": text(),
    "commit_logging": text(),
    "commit_wait": text(),
    "_disable_logging": flag("false"),
    "processes": count(),
    "sessions": count(),
    "open_cursors": count("50"),
    "session_cached_cursors": count(),
    "parallel_max_servers": count(),
    "db_writer_processes": count(),
    "disk_asynch_io": flag("true"),
    "filesystemio_options": text(),
    "use_large_pages": text(),
    "undo_management": text("auto"),
    "undo_retention": time("900"),
    "db_file_multiblock_read_count": count(),
    "result_cache_max_size": size(),
    "result_cache_mode": text("manual"),
    "db_lost_write_protect": text(),
    "db_block_checksum": text("typical"),
    "db_create_file_dest": text(),
    "db_create_online_log_dest_1": text(),
    "log_archive_dest_1": text(),
    "optimizer_mode": text(),
    "cursor_sharing": text("exact"),
    "ddl_lock_timeout": time("0"),
}
_MORE = """db_name db_unique_name db_domain db_files control_files compatible instance_name service_names
remote_login_passwordfile undo_tablespace background_dump_dest user_dump_dest core_dump_dest audit_file_dest audit_trail
diagnostic_dest dispatchers job_queue_processes nls_language nls_territory statistics_level timed_statistics
db_recovery_file_dest db_recovery_file_dest_size log_archive_format log_archive_start log_archive_dest dml_locks
transactions optimizer_index_cost_adj optimizer_features_enable query_rewrite_enabled star_transformation_enabled
shared_pool_reserved_size sort_area_retained_size rollback_segments max_dump_file_size os_authent_prefix global_names
local_listener remote_listener enable_ddl_logging instance_number thread cluster_database aq_tm_processes
recyclebin plsql_code_type java_soft_sessionspace_limit fal_server log_archive_config standby_file_management"""


COMMIT = ("commit_wait", "commit_logging", "commit_write")


def _buffers(settings: Settings) -> Quantity | None:
    if settings.is_set("db_block_buffers"):
        return product("db_block_buffers", "db_block_size")(settings)
    found = settings.quantity("db_cache_size")
    if found is None:
        return None
    automatic = [name for name in ("memory_target", "sga_target") if settings.is_set(name)]
    if automatic:
        return found.because(f"at least: {settings.words(automatic[0])} may give it more")
    return found


def _direct(settings: Settings) -> Quantity | None:
    options = settings.low("filesystemio_options")
    used = options in ("directio", "setall")
    return yes_or_no(used, settings.words("filesystemio_options")) if options else None


def _commit(settings: Settings) -> str | None:
    if settings.low("commit_wait"):
        return "later" if settings.low("commit_wait") == "nowait" else "each"
    if settings.is_set("commit_write") or settings.facts.complete:
        return "later" if "nowait" in settings.low("commit_write") else "each"
    return None


MEANINGS = {
    "buffer_pool": Meaning(("db_cache_size", "db_block_buffers"), _buffers),
    "page_size": one("db_block_size"),
    "log_buffer": one("log_buffer"),
    "sort_memory": one("sort_area_size", "of a session, without automatic work areas"),
    "work_memory_total": one("pga_aggregate_target"),
    "query_cache": one("result_cache_max_size"),
    "commit_flush": commit_flush(COMMIT, _commit),
    "checkpoint_interval": one("log_checkpoint_timeout"),
    "max_connections": Meaning(("processes", "sessions")),
    "parallel_workers": one("parallel_max_servers"),
    "background_writer": one("db_writer_processes"),
    "garbage_collection": one("undo_retention"),
    "direct_io": Meaning(("filesystemio_options",), _direct),
    "huge_pages": one("use_large_pages"),
    "data_storage": one("db_create_file_dest"),
    "log_storage": one("db_create_online_log_dest_1"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
    if settings.value("_disable_logging") is True:
        return Promise(Durability.NONE, "_disable_logging=true: no redo is written")
    written = settings.low("commit_write")
    waits = settings.low("commit_wait")
    if waits == "nowait" or (not waits and "nowait" in written):
        source = settings.words("commit_wait" if waits else "commit_write")
        return Promise(
            Durability.BOUNDED_LOSS,
            f"{source}: a commit does not wait for the log writer, which writes at least every three seconds",
        )
    given = [settings.words(name) for name in COMMIT if settings.is_set(name)]
    if not given and not settings.facts.complete:
        return Promise(None, "commit_wait and commit_write are not stated")
    words = ", ".join(given) or "commit_wait and commit_write not set: default wait"
    return survives(f"{words}: each commit waits until its redo is on disk", write_cache)


ENGINE = Engine(
    slug="oracle",
    source="Oracle Database Reference, “Initialization Parameters”",
    specs=SPECS,
    suffixes=Suffixes(sizes=BINARY, times={}),
    meanings=MEANINGS,
    durability=durability,
    more_names=frozenset(_MORE.split()),
)
