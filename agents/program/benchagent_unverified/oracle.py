"""Oracle servers that somebody else runs. A schema is a user there, which only its DBA can make.

The login needs CREATE TABLE and a quota in that schema (it is best the schema's own user), and SELECT_CATALOG_ROLE for
settings and statistics: v$ views and the data dictionary.
"""

# ruff: noqa: S608 - names were checked, the rest is our own
from __future__ import annotations

import re
from collections.abc import Mapping

from benchagent.dbms.base import Retryable, first_value
from benchagent.dbms.counters import EngineCounters, QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import ExternalServer, ToolBackup

DEADLOCK, CANNOT_SERIALIZE, LOCK_TIMEOUT, RESOURCE_BUSY = 60, 8177, 30006, 54
DUPLICATE_KEY = 1
FIRST_WITH_FETCH_FIRST = 12
# Shown even where they have their default: durability and memory.
TELLING = (
    "commit_logging", "commit_wait", "commit_write", "db_block_size", "db_cache_size", "sga_target", "memory_target",
    "pga_aggregate_target", "log_buffer", "processes", "filesystemio_options", "fast_start_mttr_target",
)  # fmt: skip
SETTINGS = (
    "SELECT name, value FROM v$parameter WHERE isdefault = 'FALSE' OR name IN ("
    + ", ".join(f"'{name}'" for name in TELLING)
    + ") ORDER BY name"
)
FREE_SPACE = (
    "SELECT (m.tablespace_size - m.used_space) * t.block_size, m.tablespace_size * t.block_size "
    "FROM dba_tablespace_usage_metrics m JOIN dba_tablespaces t ON t.tablespace_name = m.tablespace_name "
    "JOIN dba_users u ON u.default_tablespace = t.tablespace_name "
    "WHERE u.username = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')"
)
# Without what lies in the recycle bin, and the sequences of identity columns, which go with their tables.
OBJECTS = (
    "SELECT CASE WHEN object_type IN ('TABLE', 'VIEW') THEN object_name ELSE object_type || ' ' || object_name END "
    "FROM all_objects WHERE owner = UPPER('{schema}') AND object_type IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', "
    "'SEQUENCE', 'PROCEDURE', 'FUNCTION', 'PACKAGE', 'TYPE', 'TRIGGER', 'SYNONYM') "
    "AND object_name NOT LIKE 'BIN$%' AND object_name NOT LIKE 'ISEQ$$%'"
)
RMAN = 'printf "%s\\n" "$1" | rman target /'
# Storages, users and addresses say nothing about speed.
HIDDEN = re.compile(r"listener|service|dispatchers|control_files|dump_dest|audit|_name\Z|domain|_file_dest|diagnostic")


def dialect_of(version: str) -> Dialect:
    major = re.match(r"\d+", version)
    modern = major is not None and int(major[0]) >= FIRST_WITH_FETCH_FIRST
    return Dialect(
        integer="NUMBER(10)",
        bigint="NUMBER(19)",
        smallint="NUMBER(5)",
        double="BINARY_DOUBLE",
        varchar_type="VARCHAR2({n})",
        decimal_type="NUMBER({precision}, {scale})",
        first=Dialect.first if modern else "SELECT * FROM (SELECT {select}) WHERE ROWNUM <= {n}",
        select_values="SELECT {expressions} FROM dual",
        for_update=" FOR UPDATE",
        after_load_each=(
            "CALL DBMS_STATS.GATHER_TABLE_STATS(SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'), UPPER('{table}'))",
        ),
    )


def external_server(version: str, schema: str) -> ExternalServer:
    return ExternalServer(
        dbms="oracle",
        dialect=dialect_of(version),
        objects=OBJECTS,
        schemas="SELECT username FROM all_users WHERE username = UPPER('{schema}')",
        use=("ALTER SESSION SET CURRENT_SCHEMA = {schema}",),
        effective_queries={"parameters": SETTINGS},
        in_force=_in_force,
        buffer_is_set=False,  # db_cache_size is the least, where Oracle shares its memory out by itself
        engine_counters=OracleCounters(schema),
        retryable=Retryable(codes=(DEADLOCK, CANNOT_SERIALIZE, LOCK_TIMEOUT, RESOURCE_BUSY)),
        tolerable=Retryable(codes=(DUPLICATE_KEY,)),
        driver="23.26.4.0.0" if dialect_of(version).first == Dialect.first else "11.2.0.4",
        version_query="SELECT banner FROM v$version WHERE banner LIKE 'Oracle%'",
        free_space=FREE_SPACE,
        shown_backups=[
            # RMAN takes its commands from a shell, so that they stand in the argument and no file has to be made.
            ToolBackup(
                "rman",
                "RMAN, backup of the whole database",
                lambda target: ["sh", "-c", RMAN, "rman", f"BACKUP DATABASE FORMAT '{target}_%U';"],
                lambda source: ["sh", "-c", RMAN, "rman", "RESTORE DATABASE VALIDATE;"],
            ),
            # Writes into the server's directory object DATA_PUMP_DIR, whatever the target's folder is.
            ToolBackup(
                "expdp",
                "Data Pump export of the schema",
                lambda target: ["expdp", "/", f"schemas={schema}", f"dumpfile={target.name}.dmp", "nologfile=y"],
                lambda source: [
                    "impdp", "/", f"remap_schema={schema}:{schema}_restored", f"dumpfile={source.name}.dmp",
                    "nologfile=y",
                ],
            ),
        ],
    )  # fmt: skip


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    named = ((str(row[0]).lower(), row[1]) for row in rows.get("parameters", []))
    return [(name, str(value)) for name, value in named if value is not None and not HIDDEN.search(name)]


# Standard name -> statistic of v$sysstat. What several add up to is computed in `counters`. "redo synch writes" counts
# the commits that asked for a write of the log; the log writer's "redo writes" serve several at once, and are on disk
# when they end.
FROM_SYSSTAT = {
    "buffer_reads": "physical reads cache",
    "checkpoints": "background checkpoints completed",
    "log_bytes": "redo size",
    "log_flushes": "redo writes",
    "log_writes": "redo writes",
    "data_reads": "physical reads",
    "data_writes": "physical writes",
    "commits": "user commits",
    "rollbacks": "user rollbacks",
    "deadlocks": "enqueue deadlocks",
}
LOGICAL = ("consistent gets from cache", "db block gets from cache")
TEMPORARY = "physical writes direct temporary tablespace"
# Sums since the instance was started; those of background processes are no waits of sessions that work.
EVENTS = (
    "SELECT event, total_waits_fg, time_waited_micro_fg FROM v$system_event "
    "WHERE wait_class <> 'Idle' AND total_waits_fg > 0"
)
LOCKS = ("enq: TX", "enq: TM")
EFFORT = (
    "SELECT n.name, s.value FROM v$mystat s JOIN v$statname n ON n.statistic# = s.statistic# "
    "WHERE n.name IN ('physical reads', 'session logical reads')"
)
BLOCK_SIZE = "SELECT TO_NUMBER(value) FROM v$parameter WHERE name = 'db_block_size'"
BLOCK = f"({BLOCK_SIZE})"
WHERE = "WHERE owner = UPPER('{schema}') AND table_name IN ({tables})"


class OracleCounters(EngineCounters):
    origins = {
        **{name: f"`v$sysstat`, {statistic}" for name, statistic in FROM_SYSSTAT.items()},
        "log_flushes": "`v$sysstat`, redo writes: each is on disk when it ends",
        "buffer_hits": f"`v$sysstat`, {' + '.join(LOGICAL)} less the reads",
        "lock_waits": "`v$system_event`, enq: TX and TM",
        "lock_wait_ms": "`v$system_event`, enq: TX and TM",
        "temp_bytes": f"`v$sysstat`, {TEMPORARY} × `db_block_size`",
        "tables": "`all_tables`: as of the last statistics",
        "indexes": "`all_indexes`: as of the last statistics",
        "plans": "`EXPLAIN PLAN`, `DBMS_XPLAN.DISPLAY`",
        "waits": "`v$system_event` before and after: time waited in each event of a class other than Idle",
        "maintenance": "`all_tables`, `last_analyzed`: the table that was left longest",
        "query_reads": "`v$mystat`, physical reads",
        "query_fetches": "`v$mystat`, session logical reads",
    }

    effort_sql = {"mystat": EFFORT}
    spelt = staticmethod(str.upper)
    schema_sql = {
        "tables": f"SELECT table_name, num_rows, avg_row_len, blocks, blocks * {BLOCK} FROM all_tables {WHERE}",
        "indexes": "SELECT index_name, table_name, blevel + 1, num_rows, distinct_keys, "
        f"leaf_blocks * {BLOCK} FROM all_indexes {WHERE}",
    }
    plan_sql = ("EXPLAIN PLAN FOR {sql}", "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY())")
    maintenance_sql = {"analyzed": f"SELECT table_name, (SYSDATE - last_analyzed) * 86400 FROM all_tables {WHERE}"}

    def __init__(self, schema: str) -> None:
        self.schema = schema

    def counter_queries(self) -> Mapping[str, str]:
        listed = ", ".join(f"'{name}'" for name in dict.fromkeys((*FROM_SYSSTAT.values(), *LOGICAL, TEMPORARY)))
        return {
            "sysstat": f"SELECT name, value FROM v$sysstat WHERE name IN ({listed})",
            "events": EVENTS,
            "block": BLOCK_SIZE,
        }

    def counters(self, rows: QueryRows) -> dict[str, float]:
        values = {str(name): float(value) for name, value in rows.get("sysstat", [])}
        counted = {name: values[statistic] for name, statistic in FROM_SYSSTAT.items() if statistic in values}
        if "buffer_reads" in counted and all(name in values for name in LOGICAL):
            counted["buffer_hits"] = sum(values[name] for name in LOGICAL) - counted["buffer_reads"]
        block = first_value(rows.get("block"))
        if TEMPORARY in values and block is not None:
            counted["temp_bytes"] = values[TEMPORARY] * float(block)
        if "events" in rows:
            locks = [row for row in rows["events"] if str(row[0]).startswith(LOCKS)]
            counted["lock_waits"] = sum(float(row[1]) for row in locks)
            counted["lock_wait_ms"] = sum(float(row[2]) for row in locks) / 1000
        return counted

    def waited_s(self, rows: QueryRows) -> dict[str, float]:
        return {str(event): float(micros) / 1_000_000 for event, _, micros in rows.get("events", [])}

    def effort(self, rows: QueryRows) -> dict[str, float]:
        names = {"physical reads": "reads", "session logical reads": "fetches"}
        return {names[str(name)]: float(value) for name, value in rows.get("mystat", []) if str(name) in names}
