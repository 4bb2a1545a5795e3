"""How old statistics, vacuum and checkpoint were when a run began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.dbms.postgresql.relations import listed
from benchagent.dbms.postgresql.version import Version
from benchagent.dbms.statistics import Age, QueryRows, oldest

CHECKPOINT_TIME_SINCE = (9, 6)


def queries(tables: Sequence[str], version: Version) -> dict[str, str]:
    found = {
        "upkeep": "SELECT relname, extract(epoch FROM now() - greatest(last_analyze, last_autoanalyze)),"  # noqa: S608
        " extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum)), n_dead_tup FROM pg_stat_user_tables"
        f" WHERE pg_table_is_visible(relid) AND lower(relname) IN ({listed(tables)}) ORDER BY relname"
    }
    if version >= CHECKPOINT_TIME_SINCE:
        found["checkpoint"] = "SELECT extract(epoch FROM now() - checkpoint_time) FROM pg_control_checkpoint()"
    return found


def ages(rows: QueryRows) -> list[Age]:
    """Of the table that was left longest; never where there is one that never was."""
    tables = rows.get("upkeep", [])
    found = []
    if tables:
        dead = sum(int(row[3] or 0) for row in tables)
        found.append(oldest("statistics (ANALYZE)", tables, 1))
        vacuum = oldest("vacuum", tables, 2)
        found.append(Age(vacuum.what, vacuum.age_s, f"{vacuum.detail}; {dead} dead rows in all tables"))
    if rows.get("checkpoint"):
        found.append(Age("checkpoint", _seconds(rows["checkpoint"][0][0]), "begin of the last one that was completed"))
    return found


def _seconds(value: Any) -> float | None:
    return None if value is None else max(0.0, float(value))
