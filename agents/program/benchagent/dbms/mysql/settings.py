"""Settings: the option file of an instance, what was read back from the server, and how that differs.

The file has the agent's own lines, the given ones in their order, and what the agent keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchagent.configfiles.engines.mysql import MYSQL, TABLE_ENGINES, canonical
from benchagent.configfiles.settings import Settings as ServerSettings
from benchagent.configfiles.units import Kind
from benchagent.dbms.base import ConfigurationRefused, Settings, checked_settings
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.mysql.discovery import Installation
from benchagent.dbms.mysql.folders import BINLOG, Folders
from benchagent.dbms.private_server import HOST

SPARE_CONNECTIONS = 10
DEFAULT_CONNECTIONS = 151
LOG_BIN_NAME = "binlog"
LOCKED = MYSQL.set_by_agent
DOORS = {
    r"(loose_)*(plugin_load\w*|early_plugin_load|wsrep\w*) ": "runs programs or code of the machine",
    r"(loose_)*(keyring_\w+|server_audit\w*) ": "reads or writes files of the machine",
}
# The servers take an option by its begin, too, as far as only one begins so.
HIDDEN = frozenset(("plugin_load", "plugin_load_add", "early_plugin_load", *LOCKED))
OF_BINARY_LOG = ("log_bin", "skip_log_bin", "gtid_mode", "log_slave_updates")
# Options that take an empty value; of every other one an empty value is a flag.
MAY_BE_EMPTY = frozenset({"sql_mode", "init_connect"})
# A file name may follow these where another folder than the data directory is meant.
_FILE_OPTIONS = """innodb_data_file_path innodb_temp_data_file_path innodb_buffer_pool_filename log log_isam
log_slow_queries log_tc des_key_file master_info_file relay_log_info_file"""
FILE_OPTIONS = frozenset(_FILE_OPTIONS.split())
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
# Options whose variable has another name.
VARIABLES = {
    "myisam_recover": "myisam_recover_options",
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


def given(settings: Settings) -> list[tuple[str, str]]:
    """With underscores in names, as the server reads them. Raises `ConfigurationRefused`."""
    lines = checked_settings([(name.strip().replace("-", "_"), value) for name, value in settings], doors=DOORS)
    for name, _ in lines:
        option = plain(name)
        whole = next((other for other in sorted(HIDDEN) if other.startswith(option) and other != option), "")
        if whole and option not in HIDDEN and not MYSQL.knows(option):
            raise ConfigurationRefused(
                f"{name} could be short for {whole}, which is not for a job to set: give the whole name"
            )
    return lines


def locked(settings: Settings) -> list[str]:
    """In words, what of the given settings is not taken over."""
    words = []
    for name, value in settings:
        if plain(name) in LOCKED:
            words.append(f"{name}: set by the agent")
        elif plain(name) == "log_bin" and "/" in value:
            words.append(f"{name}: of {value} only the name is taken, its folder is that of the log")
    return words


def plain(name: str) -> str:
    return name.lower().replace("-", "_").removeprefix("loose_")


def option_file(lines: Settings) -> str:
    """Raises `ConfigurationRefused` for a path that would lead out of the folders."""
    text = "[mysqld]\n"
    for name, value in lines:
        if plain(name) in FILE_OPTIONS and "/" in value:
            raise ConfigurationRefused(
                f"{name} = {value}: files lie where the storage of the data is; give names without a folder"
            )
        written = value
        if "#" in value and not (value[0] == value[-1] and value[0] in "'\""):
            written = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        text += f"{name} = {written}\n" if value or plain(name) in MAY_BE_EMPTY else f"{name}\n"
    return text


def all_lines(
    installation: Installation, settings: Settings, folders: Folders, connections: int
) -> list[tuple[str, str]]:
    """For the running server: ours first, so that the given ones win; last what only the agent may say."""
    product = installation.product
    lines = [("max_connections", str(max(DEFAULT_CONNECTIONS, connections + SPARE_CONNECTIONS)))]
    if product.since((5, 6), (10, 0)):
        lines.append(("innodb_monitor_enable", "log_checkpoints"))
    if product.since((8, 0), None):
        # Sizes and row counts as they are, not as they were up to a day ago.
        lines.append(("information_schema_stats_expiry", "0"))
        names = {plain(name) for name, _ in settings}
        if folders.binlog and not names & {"log_bin", "skip_log_bin", "disable_log_bin"}:
            lines.append(("log_bin", f"{BINLOG}/{LOG_BIN_NAME}"))  # it has one by default
    lines += [(name, _kept_value(name, value, folders)) for name, value in settings if plain(name) not in LOCKED]
    lines += _paths(installation, folders)
    lines += [
        ("bind_address", HOST),
        ("socket", str(folders.work / "socket")),
        ("pid_file", str(folders.work / "pid")),
        ("slow_query_log_file", str(folders.work / "slow.log")),
        ("general_log_file", str(folders.work / "general.log")),
        ("secure_file_priv", str(folders.backup)),
        ("local_infile", "0"),
        # With links a table of MyISAM may lie in any folder.
        ("loose_skip_symbolic_links", ""),
        ("loose_skip_ssl", ""),
    ]
    return [*lines, ("mysqlx", "OFF")] if product.since((8, 0, 11), None) else lines


def initial_lines(installation: Installation, settings: Settings, folders: Folders) -> list[tuple[str, str]]:
    """For the server that makes the data directory: no binary log, no certificates."""
    product = installation.product
    of_log = {name for name, _ in settings if "binlog" in plain(name) or plain(name) in OF_BINARY_LOG}
    lines = [(name, value) for name, value in settings if plain(name) not in LOCKED and name not in of_log]
    lines += [("skip_log_bin", "")] if product.since((8, 0), None) else []
    if product.since((5, 7), None):
        lines += [("loose_auto_generate_certs", "OFF"), ("loose_sha256_password_auto_generate_rsa_keys", "OFF")]
        lines += [("loose_caching_sha2_password_auto_generate_rsa_keys", "OFF")]
    return [*lines, *_paths(installation, folders)]


def _kept_value(name: str, value: str, folders: Folders) -> str:
    if plain(name) != "log_bin" or value.lower() in ("0", "off", "false"):
        return value
    file = Path(value).name if value and value.lower() not in ("1", "on", "true") else LOG_BIN_NAME
    return f"{BINLOG}/{file}" if folders.binlog else file


def _paths(installation: Installation, folders: Folders) -> list[tuple[str, str]]:
    lines = [("basedir", installation.base), ("datadir", folders.data), ("tmpdir", folders.temp)]
    if installation.plugins:
        lines.append(("plugin_dir", installation.plugins))
    if folders.redo:
        lines.append(("innodb_log_group_home_dir", folders.redo))
    if installation.product.since((8, 0, 13), None):
        lines.append(("innodb_temp_tablespaces_dir", folders.temp))
    return [(name, str(path)) for name, path in lines]


# Read back


ENGINES_OF = (
    "SELECT engine, COUNT(*) FROM information_schema.tables"
    " WHERE table_schema = {} AND table_type = 'BASE TABLE' GROUP BY engine ORDER BY engine"
)


def table_engines(rows: QueryRows) -> list[tuple[str, str]]:
    engines = ", ".join(f"{engine} ({count})" for engine, count in rows.get("engines", []))
    return [(TABLE_ENGINES, engines)] if engines else []


def variables_of(rows: QueryRows) -> dict[str, str]:
    """From the rows of SHOW GLOBAL VARIABLES."""
    return {str(row[0]).lower(): "" if row[1] is None else str(row[1]) for row in rows.get("variables", [])}


def in_force(settings: Settings, variables: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is shown on the run's page: telling variables and those that were given."""
    wanted = TELLING | {_variable(name, variables) for name, _ in settings if plain(name) not in LOCKED}
    return sorted((name, value) for name, value in variables.items() if name in wanted)


def differences(settings: Settings, variables: Mapping[str, str]) -> list[str]:
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
        modes, in_force = (
            {part.strip().upper() for part in text.strip("'\"").split(",") if part.strip()}
            for text in (value, effective)
        )
        return modes <= in_force
    return _meaning(variable, value) == _meaning(variable, effective)


def _meaning(variable: str, value: str) -> object:
    """Equal for values that the server reads alike: 1, ON and true; 16M and 16777216."""
    quantity = ServerSettings(MYSQL, ()).converted(canonical(variable), value)
    if quantity.kind is Kind.TEXT and isinstance(quantity.value, str):
        text = quantity.value.strip("'\"").casefold()
        return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}.get(
            text, SYNONYMS.get(text, text)
        )
    return quantity.value
