"""Settings read back from the server, and compared with those that were given."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.configfiles.engines.mysql import MYSQL, canonical
from benchagent.configfiles.settings import Settings
from benchagent.configfiles.units import Kind
from benchagent.dbms.base import Settings as Pairs
from benchagent.dbms.mysql.configuration import LOCKED, plain

# Read back even where they have their default: durability, memory, the engine's habits.
_TELLING = """version version_comment innodb_flush_log_at_trx_commit innodb_flush_log_at_timeout innodb_flush_method
innodb_doublewrite innodb_support_xa log_bin sync_binlog binlog_format default_storage_engine transaction_isolation
tx_isolation innodb_buffer_pool_size innodb_buffer_pool_instances innodb_log_buffer_size innodb_log_file_size
innodb_log_files_in_group innodb_redo_log_capacity innodb_page_size innodb_file_per_table innodb_thread_concurrency
innodb_io_capacity innodb_io_capacity_max innodb_purge_threads innodb_stats_auto_recalc innodb_adaptive_hash_index
innodb_deadlock_detect innodb_lock_wait_timeout query_cache_size query_cache_type max_connections sort_buffer_size
join_buffer_size tmp_table_size max_heap_table_size character_set_server collation_server sql_mode
performance_schema event_scheduler binlog_commit_wait_count binlog_commit_wait_usec binlog_group_commit_sync_delay
binlog_group_commit_sync_no_delay_count innodb_data_file_path autocommit"""
TELLING = frozenset(_TELLING.split())
# Of options whose variable has another name.
VARIABLES = {
    "myisam_recover": "myisam_recover_options",
    "innodb_file_io_threads": "innodb_read_io_threads",
    "log_slow_queries": "slow_query_log",
    "skip_log_bin": "log_bin",
    "skip_innodb_doublewrite": "innodb_doublewrite",
    "default_character_set": "character_set_server",
    "transaction_isolation": "tx_isolation",
}
NEGATED = frozenset({"skip_log_bin", "disable_log_bin", "skip_innodb_doublewrite"})
# Enumerations that may be given by number.
NUMBERED = {"query_cache_type": ("OFF", "ON", "DEMAND"), "event_scheduler": ("OFF", "ON")}
SYNONYMS = {"utf8": "utf8mb3"}


def in_force(settings: Pairs, variables: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is shown on the run's page: telling variables and those that were given."""
    wanted = TELLING | {_variable(name, variables) for name, _ in settings}
    return sorted((name, value) for name, value in variables.items() if name in wanted)


def differences(settings: Pairs, variables: Mapping[str, str]) -> list[str]:
    """Given settings that the server ignored or changed, in words. The last of several counts."""
    words = []
    last = {plain(name): (name, value) for name, value in settings if plain(name) not in LOCKED}
    for option, (name, value) in last.items():
        variable = _variable(name, variables)
        if variable not in variables:
            if name.lower().startswith("loose_"):
                words.append(f"{name}: this server does not know it")
        elif not _same(option, variable, value, variables[variable]):
            words.append(f"{name}: {value or 'on'} given, {variables[variable] or 'nothing'} in force")
    return words


def _variable(name: str, variables: Mapping[str, str]) -> str:
    """Name of the server's variable for an option."""
    option = plain(name)
    for candidate in (option, VARIABLES.get(option, ""), canonical(option)):
        if candidate in variables:
            return candidate
    return option


def _same(option: str, variable: str, value: str, effective: str) -> bool:
    if option in NEGATED:
        return effective.upper() == "OFF"
    if variable == "log_bin":
        return (value.lower() in ("0", "off", "false")) == (effective.upper() == "OFF")
    if not value:  # a flag
        return effective.upper() not in ("OFF", "0", "")
    if variable in NUMBERED and value.isdigit() and int(value) < len(NUMBERED[variable]):
        value = NUMBERED[variable][int(value)]
    if variable == "sql_mode":
        return _words(value) <= _words(effective)
    return _meaning(variable, value) == _meaning(variable, effective)


def _words(text: str) -> set[str]:
    return {part.strip().upper() for part in text.strip("'\"").split(",") if part.strip()}


def _meaning(variable: str, value: str) -> object:
    """Equal for values that the server reads alike: 1, ON and true; 16M and 16777216."""
    settings = Settings(MYSQL, ())
    found = settings.converted(canonical(variable), value)
    if found.kind is Kind.TEXT and isinstance(found.value, str):
        text = found.value.strip("'\"").casefold()
        return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}.get(
            text, SYNONYMS.get(text, text)
        )
    return found.value
