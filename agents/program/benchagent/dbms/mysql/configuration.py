"""The option file of an instance: the agent's own lines, the given ones in their order, and what the agent keeps."""

from __future__ import annotations

from pathlib import Path

from benchagent.dbms.base import JobError, Settings, checked_settings
from benchagent.dbms.mysql.folders import BINLOG, Folders
from benchagent.dbms.mysql.product import Product

HOST = "127.0.0.1"
SPARE_CONNECTIONS = 10
DEFAULT_CONNECTIONS = 151
LOG_BIN_NAME = "binlog"
# The agent decides where everything lies and how the server is reached.
_LOCKED = """user basedir datadir tmpdir socket port bind_address bind_addresses pid_file log_error chroot
innodb_log_group_home_dir innodb_data_home_dir innodb_undo_directory innodb_temp_tablespaces_dir innodb_directories
innodb_tmpdir innodb_doublewrite_dir innodb_doublewrite_file log_bin_index relay_log relay_log_index
slow_query_log_file general_log_file plugin_dir character_sets_dir lc_messages lc_messages_dir secure_file_priv
slave_load_tmpdir aria_log_dir_path init_file skip_networking skip_grant_tables admin_address admin_port mysqlx
mysqlx_port mysqlx_socket ssl ssl_ca ssl_cert ssl_key ssl_capath skip_ssl require_secure_transport extra_port
default_authentication_plugin report_host report_port daemonize bootstrap old_passwords secure_auth"""
LOCKED = frozenset(_LOCKED.split())
# Options that take an empty value; of every other one an empty value is a flag.
MAY_BE_EMPTY = frozenset({"sql_mode", "init_connect"})
# A file name may follow these where another folder than the data directory is meant.
FILE_OPTIONS = frozenset({"innodb_data_file_path", "innodb_temp_data_file_path"})


def given(settings: Settings) -> list[tuple[str, str]]:
    """With underscores in names, as the server reads them. Raises `JobError`."""
    return checked_settings([(name.strip().replace("-", "_"), value) for name, value in settings])


def locked(settings: Settings) -> list[str]:
    """In words, what of the given settings is not taken over."""
    words = []
    for name, value in settings:
        if plain(name) in LOCKED:
            words.append(f"{name}: set by the agent")
        elif plain(name) == "log_bin" and "/" in value:
            words.append(f"{name}: of {value} only the name is taken, the place is that of the log")
    return words


def plain(name: str) -> str:
    return name.lower().replace("-", "_").removeprefix("loose_")


def option_file(product: Product, lines: Settings) -> str:
    """Raises `JobError` for a path that would lead out of the folders."""
    return "[mysqld]\n" + "".join(f"{_line(product, name, value)}\n" for name, value in lines)


def _line(product: Product, name: str, value: str) -> str:
    if plain(name) in FILE_OPTIONS and "/" in value:
        raise JobError(f"{name} = {value}: files lie where the storage of the data is; give names without a folder")
    if not value and not _may_be_empty(name):
        return name
    if "#" in value and not (value[0] == value[-1] and value[0] in "'\""):
        value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{name} = {value}"


def _may_be_empty(name: str) -> bool:
    return plain(name) in MAY_BE_EMPTY


def all_lines(
    product: Product, settings: Settings, folders: Folders, *, base: Path, plugins: Path | None, connections: int
) -> list[tuple[str, str]]:
    """For the running server: ours first, so that the given ones win; last what only the agent may say."""
    kept = [(name, _kept_value(name, value, folders)) for name, value in settings if plain(name) not in LOCKED]
    return [
        *_first(product, folders, settings, connections),
        *kept,
        *_places(product, folders, base, plugins),
        *_reached(product, folders),
    ]


def initial_lines(
    product: Product, settings: Settings, folders: Folders, *, base: Path, plugins: Path | None
) -> list[tuple[str, str]]:
    """For the server that makes the data directory: no binary log, no certificates."""
    kept = [pair for pair in settings if plain(pair[0]) not in LOCKED and not _of_binlog(pair[0])]
    own = [("skip_log_bin", "")] if product.since((8, 0), None) else []
    certificates = [("loose_auto_generate_certs", "OFF"), ("loose_sha256_password_auto_generate_rsa_keys", "OFF")]
    more = [*certificates, ("loose_caching_sha2_password_auto_generate_rsa_keys", "OFF")]
    return [*kept, *own, *(more if product.since((5, 7), None) else []), *_places(product, folders, base, plugins)]


def _of_binlog(name: str) -> bool:
    return "binlog" in plain(name) or plain(name) in ("log_bin", "skip_log_bin", "gtid_mode", "log_slave_updates")


def _kept_value(name: str, value: str, folders: Folders) -> str:
    if plain(name) != "log_bin" or value.lower() in ("0", "off", "false"):
        return value
    file = Path(value).name if value and value.lower() not in ("1", "on", "true") else LOG_BIN_NAME
    return f"{BINLOG}/{file}" if folders.binlog else file


def _first(product: Product, folders: Folders, settings: Settings, connections: int) -> list[tuple[str, str]]:
    lines = [("max_connections", str(max(DEFAULT_CONNECTIONS, connections + SPARE_CONNECTIONS)))]
    if product.since((5, 6), (10, 0)):
        lines.append(("innodb_monitor_enable", "log_checkpoints"))
    if product.since((8, 0), None):
        # Sizes and row counts as they are, not as they were up to a day ago.
        lines.append(("information_schema_stats_expiry", "0"))
        names = {plain(name) for name, _ in settings}
        if folders.binlog and not names & {"log_bin", "skip_log_bin", "disable_log_bin"}:
            lines.append(("log_bin", f"{BINLOG}/{LOG_BIN_NAME}"))  # it has one by default
    return lines


def _places(product: Product, folders: Folders, base: Path, plugins: Path | None) -> list[tuple[str, str]]:
    lines = [("basedir", base), ("datadir", folders.data), ("tmpdir", folders.temp)]
    if plugins:
        lines.append(("plugin_dir", plugins))
    if folders.redo:
        lines.append(("innodb_log_group_home_dir", folders.redo))
    if product.since((8, 0, 13), None):
        lines.append(("innodb_temp_tablespaces_dir", folders.temp))
    return [(name, str(path)) for name, path in lines]


def _reached(product: Product, folders: Folders) -> list[tuple[str, str]]:
    lines = [
        ("bind_address", HOST),
        ("socket", str(folders.work / "socket")),
        ("pid_file", str(folders.work / "pid")),
        ("slow_query_log_file", str(folders.work / "slow.log")),
        ("general_log_file", str(folders.work / "general.log")),
        ("secure_file_priv", str(folders.backup)),
        ("loose_skip_ssl", ""),
    ]
    return [*lines, ("mysqlx", "OFF")] if product.since((8, 0, 11), None) else lines
