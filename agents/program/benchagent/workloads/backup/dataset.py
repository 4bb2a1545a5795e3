"""The data set of the 2007 article, scaled by one factor: 150 tables, 300 indexes, one table with most of the bytes.

Of 2.7 GB the article's largest table held 1.9 GB in 14 million records; two middle ones held 1.5 and 1.1 million. How
the rest was spread is not stated: here it is spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.workloads import steps

ARTICLE_MB = 2_700
LARGEST = "big"
ARTICLE_ROWS = {LARGEST: 14_000_000, "middle_1": 1_500_000, "middle_2": 1_100_000}
SMALL_TABLES = 147
# What the three named tables leave of the article's bytes, at the 136 bytes a record that its largest table gives.
RECORD_BYTES = 1_900_000_000 / 14_000_000
SMALL_ROWS = (ARTICLE_MB * 1_000_000 - sum(ARTICLE_ROWS.values()) * RECORD_BYTES) / RECORD_BYTES / SMALL_TABLES


def tables(dataset_mb: int) -> dict[str, int]:
    """Rows by table, the largest first."""
    share = dataset_mb / ARTICLE_MB
    named = {name: round(rows * share) for name, rows in ARTICLE_ROWS.items()}
    small = {f"small_{number:03d}": max(1, round(SMALL_ROWS * share)) for number in range(1, SMALL_TABLES + 1)}
    return named | small


def create(dialect: Dialect, names: Mapping[str, int]) -> list[str]:
    columns = [f"{name} {kind}{'' if name == 'words' else ' NOT NULL'}" for name, kind in _types(dialect).items()]
    return [dialect.table(name, columns, ["id"]) for name in names]


def _types(dialect: Dialect) -> dict[str, str]:
    return {
        "id": dialect.integer,
        "parent": dialect.integer,
        "code": dialect.varchar(12),
        "amount": dialect.decimal(12, 2),
        "made_at": dialect.timestamp,
        "words": dialect.varchar(120),
    }


def indexes(dialect: Dialect, names: Mapping[str, int]) -> list[str]:
    """Two a table: the key, and one by parent, as a foreign key has."""
    statements = []
    for name in names:
        statements += [dialect.primary_key(name, ["id"]), dialect.index(f"{name}_parent", name, ["parent"])]
    return statements


def load(dialect: Dialect, name: str, rows: int) -> Step:
    columns: dict[str, Step] = {
        "id": {"kind": "sequence"},
        "parent": {"kind": "group", "size": 10},
        "code": {"kind": "text", "min_length": 8, "max_length": 12},
        "amount": {"kind": "decimal", "min": "0.01", "max": "99999.99", "scale": 2},
        "made_at": {"kind": "timestamp", "start": "2000-01-01 00:00:00", "step_s": 20},
        "words": {"kind": "text", "min_length": 60, "max_length": 100},
    }
    types = _types(dialect)
    return steps.filled(dialect, name, types, rows=rows, columns=[columns[column] for column in types])
