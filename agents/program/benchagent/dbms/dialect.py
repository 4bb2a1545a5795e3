"""SQL that differs between systems. A workload writes its statements with these words only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """The defaults are standard SQL. A text with ``{n}``, ``{table}`` and the like is filled in by the method.

    Workloads of plug-ins name the types of their columns by it, among them some that no workload here has.
    """

    integer: str = "INTEGER"
    bigint: str = "BIGINT"
    smallint: str = "SMALLINT"
    double: str = "DOUBLE PRECISION"
    timestamp: str = "TIMESTAMP"
    varchar_type: str = "VARCHAR({n})"
    decimal_type: str = "DECIMAL({precision}, {scale})"
    # {text} is as ``YYYY-MM-DD hh:mm:ss``.
    timestamp_literal: str = "TIMESTAMP '{text}'"
    create_table: str = "CREATE TABLE"
    # False where a primary key can only be given in CREATE TABLE.
    primary_key_afterwards: bool = True
    # False where an index column takes no DESC of its own: the engine then reads the index backwards, or has no kin.
    descending_columns: bool = True
    # The first n rows of a SELECT: {select} is what follows the word SELECT.
    first: str = "SELECT {select} FETCH FIRST {n} ROWS ONLY"
    # A SELECT of expressions from no table.
    select_values: str = "SELECT {expressions}"
    # Appended to a SELECT that will update what it read; empty where the engine needs or knows nothing of the kind.
    for_update: str = ""
    # Run after the load, with {table} replaced: statistics and the like.
    after_load_each: tuple[str, ...] = ()
    # Run once after the load: a checkpoint, so that every run starts from the same state.
    after_load: tuple[str, ...] = ()

    def char(self, length: int) -> str:
        return f"CHAR({length})"

    def varchar(self, length: int) -> str:
        return self.varchar_type.format(n=length)

    def decimal(self, precision: int, scale: int) -> str:
        return self.decimal_type.format(precision=precision, scale=scale)

    def first_rows(self, select: str, n: int) -> str:
        """`select` without its first word, as ``* FROM item WHERE …``."""
        return self.first.format(select=select, n=n)

    def values(self, expressions: str) -> str:
        """One row of expressions, from no table."""
        return self.select_values.format(expressions=expressions)

    def table(self, name: str, columns: Sequence[str], primary_key: Sequence[str] = ()) -> str:
        """CREATE TABLE. The key is part of it where it cannot be added afterwards, see `primary_key`."""
        inside = [*columns]
        if primary_key and not self.primary_key_afterwards:
            inside.append(f"PRIMARY KEY ({', '.join(primary_key)})")
        return f"{self.create_table} {name} ({', '.join(inside)})"

    def insert_many(self, table: str, columns: Sequence[str], types: Sequence[str], rows: int) -> str:
        """One statement for so many rows, its marks row by row; empty where single ones are right or these too many."""
        return ""

    def primary_key(self, table: str, columns: Sequence[str]) -> str:
        """ALTER TABLE; empty where the key had to be given at once."""
        if not self.primary_key_afterwards:
            return ""
        return f"ALTER TABLE {table} ADD CONSTRAINT {table}_pk PRIMARY KEY ({', '.join(columns)})"

    def index(self, name: str, table: str, columns: Sequence[str], *, unique: bool = False) -> str:
        """CREATE INDEX; a column may end with ``DESC``."""
        kept = columns if self.descending_columns else [column.removesuffix(" DESC") for column in columns]
        return f"CREATE {'UNIQUE ' if unique else ''}INDEX {name} ON {table} ({', '.join(kept)})"


def sql_text(value: object) -> str:
    """A literal: in quotes, those inside doubled."""
    return "'{}'".format(str(value).replace("'", "''"))
