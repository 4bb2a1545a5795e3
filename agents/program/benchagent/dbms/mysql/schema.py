"""Statements that an instance begins with: its account, its database, a procedure that writes all changed pages."""

from __future__ import annotations

from benchagent.dbms.mysql.product import Product

USER = "bench"
DATABASE = "bench"
TOOLS = "benchagent"
WRITE_PAGES = f"CALL {TOOLS}.write_dirty_pages()"
HOSTS = ("127.0.0.1", "localhost")
WRITE_TIMEOUT_S = 300


def accounts(product: Product, password_hash: str) -> list[str]:
    """One statement a line, none with a line break: run once, by the server itself, and not into its binary log."""
    made = [f"CREATE USER '{USER}'@'{host}' {_identified(product, password_hash)}" for host in HOSTS]
    granted = [f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'{host}' WITH GRANT OPTION" for host in HOSTS]
    return [
        "SET sql_log_bin = 0",
        *_no_others(product),
        *made,
        *granted,
        f"CREATE DATABASE {DATABASE}",
    ]


def setup(product: Product) -> list[str]:
    """Done over a connection: servers differ in how they read a procedure out of a file."""
    return [
        f"CREATE DATABASE IF NOT EXISTS {TOOLS}",
        f"DROP PROCEDURE IF EXISTS {TOOLS}.write_dirty_pages",
        write_pages(product),
    ]


def _identified(product: Product, password_hash: str) -> str:
    if product.since((5, 7), None):
        return f"IDENTIFIED WITH mysql_native_password AS '{password_hash}'"
    return f"IDENTIFIED BY PASSWORD '{password_hash}'"


def _no_others(product: Product) -> list[str]:
    """No account that came with the data directory, anonymous or without a password, can log in."""
    if product.since((5, 7), None):
        return ["DROP USER 'root'@'localhost'"]
    table = "mysql.global_priv" if product.since(None, (10, 4)) else "mysql.user"
    return [f"DELETE FROM {table} WHERE User <> 'mariadb.sys'", "DELETE FROM mysql.db", "FLUSH PRIVILEGES"]  # noqa: S608


def write_pages(product: Product) -> str:
    """A procedure that has all changed pages written, so that every run begins with none; then everything is as before.

    Pages are written in the background until none is left: InnoDB has no statement for a checkpoint.
    """
    status = "performance_schema" if product.since((5, 7), None) else "information_schema"
    more = product.since((5, 6), (10, 0))
    number = "DECIMAL(9, 6)" if more else "BIGINT"
    keep = "SET share = @@global.innodb_max_dirty_pages_pct, speed = @@global.innodb_io_capacity;"
    hurry = "SET GLOBAL innodb_max_dirty_pages_pct = 0; SET GLOBAL innodb_io_capacity = 20000;"
    back = "SET GLOBAL innodb_io_capacity = speed; SET GLOBAL innodb_max_dirty_pages_pct = share;"
    if more:
        keep += " SET lwm = @@global.innodb_max_dirty_pages_pct_lwm, top = @@global.innodb_io_capacity_max;"
        hurry = f"SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0; SET GLOBAL innodb_io_capacity_max = 40000; {hurry}"
        back += " SET GLOBAL innodb_io_capacity_max = top; SET GLOBAL innodb_max_dirty_pages_pct_lwm = lwm;"
    left = (
        f"SELECT CAST(variable_value AS UNSIGNED) INTO pages FROM {status}.global_status "  # noqa: S608
        "WHERE variable_name = 'Innodb_buffer_pool_pages_dirty';"
    )
    return (
        f"CREATE PROCEDURE {TOOLS}.write_dirty_pages() BEGIN "
        f"DECLARE pages, rounds, speed, top BIGINT DEFAULT 0; DECLARE share, lwm {number} DEFAULT 0; "
        f"{keep} {hurry} {left} "
        f"WHILE pages > 0 AND rounds < {WRITE_TIMEOUT_S * 10} DO DO SLEEP(0.1); {left} SET rounds = rounds + 1; "
        f"END WHILE; {back} END"
    )
