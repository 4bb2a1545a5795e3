"""Which of the two products, in which version: everything that differs between them in SQL is asked here."""

from __future__ import annotations

from dataclasses import dataclass

from benchagent.configfiles.settings import Facts
from benchagent.dbms.base import GUEST
from benchagent.dbms.dialect import Dialect

MYSQL, MARIADB = "mysql", "mariadb"
USER = "bench"
DATABASE = "bench"
TOOLS = "benchagent"
WRITE_PAGES = f"CALL {TOOLS}.write_dirty_pages()"
HOSTS = ("127.0.0.1", "localhost")
WRITE_TIMEOUT_S = 300
Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Product:
    slug: str
    version: str

    @property
    def name(self) -> str:
        return "MariaDB" if self.slug == MARIADB else "MySQL"

    @property
    def numbers(self) -> Numbers:
        return Facts(version=self.version).version_numbers

    def since(self, mysql: Numbers | None, mariadb: Numbers | None) -> bool:
        """True from these versions on; None: that product has it in no version."""
        first = mariadb if self.slug == MARIADB else mysql
        return first is not None and self.numbers >= first

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def dialect(product: Product) -> Dialect:
    return Dialect(
        # TIMESTAMP columns of these servers set themselves, and are NOT NULL where nothing else is said.
        timestamp="DATETIME",
        timestamp_literal="'{text}'",
        # An InnoDB table *is* its primary key: adding one later copies the table.
        primary_key_afterwards=False,
        # Before, DESC was read and ignored.
        descending_columns=product.since((8, 0), (10, 8)),
        first="SELECT {select} LIMIT {n}",
        for_update=" FOR UPDATE",
        after_load_each=("ANALYZE TABLE {table}",),
    )


def accounts(product: Product, password_hash: str) -> list[str]:
    """One statement a line, none with a line break: run once, by the server itself, and not into its binary log.

    No account that came with the data directory, anonymous or without a password, can log in.
    """
    table = "mysql.global_priv" if product.since(None, (10, 4)) else "mysql.user"
    no_others = [f"DELETE FROM {table} WHERE User <> 'mariadb.sys'", "DELETE FROM mysql.db", "FLUSH PRIVILEGES"]  # noqa: S608
    identified = f"IDENTIFIED BY PASSWORD '{password_hash}'"
    if product.since((5, 7), None):
        no_others = ["DROP USER 'root'@'localhost'"]
        identified = f"IDENTIFIED WITH mysql_native_password AS '{password_hash}'"
    made = [f"CREATE USER '{user}'@'{host}' {identified}" for user in (USER, GUEST) for host in HOSTS]
    granted = [f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'{host}' WITH GRANT OPTION" for host in HOSTS]
    # Rights on a database only: none on files, on other databases, on the server.
    granted += [f"GRANT ALL PRIVILEGES ON {DATABASE}.* TO '{GUEST}'@'{host}'" for host in HOSTS]
    return ["SET sql_log_bin = 0", *no_others, *made, *granted, f"CREATE DATABASE {DATABASE}"]


def setup(product: Product) -> list[str]:
    """A procedure that has all changed pages written, so that every run begins with none; then everything is as before.

    Pages are written in the background until none is left: InnoDB has no statement for a checkpoint. It is made over a
    connection: servers differ in how they read a procedure out of a file.
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
    procedure = (
        f"CREATE PROCEDURE {TOOLS}.write_dirty_pages() BEGIN "
        f"DECLARE pages, rounds, speed, top BIGINT DEFAULT 0; DECLARE share, lwm {number} DEFAULT 0; "
        f"{keep} {hurry} {left} "
        f"WHILE pages > 0 AND rounds < {WRITE_TIMEOUT_S * 10} DO DO SLEEP(0.1); {left} SET rounds = rounds + 1; "
        f"END WHILE; {back} END"
    )
    gone = f"DROP PROCEDURE IF EXISTS {TOOLS}.write_dirty_pages"
    return [f"CREATE DATABASE IF NOT EXISTS {TOOLS}", gone, procedure]
