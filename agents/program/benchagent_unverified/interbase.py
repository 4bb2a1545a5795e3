"""InterBase servers (7.5 and later) that somebody else runs: the database that the connection names is the agent's.

SQL is dialect 3 without what only Firebird has: no BIGINT, no FIRST, no WITH LOCK, no typed literals, no functions like
ABS. The conditions of `tpcc` have derived tables, which came with 2017.

What it tells of itself is in the system temporary tables TMP$…, as its Language Reference describes them (7.0 and
later). They are visible to SYSDBA and to the owner of the database.
"""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.dbms.base import Retryable
from benchagent.dbms.counters import (
    EFFORT,
    PAGE_REQUESTS,
    Age,
    Counted,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    quoted_names,
)
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import ExternalServer, ToolBackup, folders_of_files
from benchagent.dbms.firebird import ISOLATION, RETRYABLE, TOLERABLE
from benchagent.dbms.firebird.counters import SELECTIVITY, index_facts, index_query, sweep_age

# The last driver that speaks the protocols which InterBase and Firebird 1.0 to 2.5 have in common.
DRIVER, DRIVER_CLASS = "2.2.15", "org.firebirdsql.jdbc.FBDriver"
DIALECT = Dialect(
    bigint="NUMERIC(18, 0)",
    # Also as a constant of a DEFAULT, which can be no expression.
    timestamp_literal="'{text}'",
    first="SELECT {select} ROWS {n}",
    select_values="SELECT {expressions} FROM RDB$DATABASE",
    descending_columns=False,
)
USERS_OWN = "(RDB$SYSTEM_FLAG = 0 OR RDB$SYSTEM_FLAG IS NULL)"
# Roles have no such flag, domains of single columns are the server's, a trigger goes with its table.
# All names have one type, as a UNION may want it.
OBJECTS = " UNION ALL ".join(
    f"SELECT CAST({name} AS VARCHAR(100)) FROM {source} WHERE {which}"
    for name, source, which in (
        ("RDB$RELATION_NAME", "RDB$RELATIONS", USERS_OWN),
        ("'procedure ' || RDB$PROCEDURE_NAME", "RDB$PROCEDURES", USERS_OWN),
        ("'function ' || RDB$FUNCTION_NAME", "RDB$FUNCTIONS", USERS_OWN),
        ("'generator ' || RDB$GENERATOR_NAME", "RDB$GENERATORS", USERS_OWN),
        ("'exception ' || RDB$EXCEPTION_NAME", "RDB$EXCEPTIONS", USERS_OWN),
        ("'domain ' || RDB$FIELD_NAME", "RDB$FIELDS", f"{USERS_OWN} AND NOT RDB$FIELD_NAME STARTING WITH 'RDB$'"),
        ("'role ' || RDB$ROLE_NAME", "RDB$ROLES", "NOT RDB$ROLE_NAME STARTING WITH 'RDB$'"),
    )
)
FOLDERS = "SELECT 'the database', TMP$DATABASE_PATH FROM TMP$DATABASE"
SETTINGS = "SELECT TMP$CACHE_BUFFERS, TMP$SWEEP_INTERVAL FROM TMP$DATABASE"


def external_server(version: str, schema: str) -> ExternalServer:
    return ExternalServer(
        dbms="interbase",
        dialect=DIALECT,
        objects=OBJECTS,
        schemas="SELECT 1 FROM RDB$DATABASE",
        effective_queries={"database": SETTINGS},
        in_force=_in_force,
        settings_complete=False,
        engine_counters=InterbaseCounters(),
        retryable=Retryable(sqlstates=(), codes=RETRYABLE.codes),
        tolerable=TOLERABLE,
        properties={"TRANSACTION_READ_COMMITTED": ISOLATION},
        driver_class=DRIVER_CLASS,
        driver=DRIVER,
        folders=FOLDERS,
        read_folders=folders_of_files,
        # It backs up the database with the target's name as its alias; gbak takes its login from ISC_USER and
        # ISC_PASSWORD.
        shown_backups=[
            _gbak("gbak_local", "gbak, local protocol"),
            _gbak("gbak_services", "gbak, Services API", "-se", "localhost:service_mgr"),
        ],
    )


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    names = ("page_buffers", "sweep_interval")
    return [(name, str(value)) for row in rows.get("database", []) for name, value in zip(names, row, strict=True)]


def _gbak(slug: str, label: str, *way: str) -> ToolBackup:
    return ToolBackup(
        slug,
        label,
        lambda target: ["gbak", "-b", "-g", *way, target.name, target],
        lambda source: ["gbak", "-c", *way, source, source.with_name(f"{source.name}.restored.ib")],
    )


NO_LOG = (
    "without a journal, a commit writes the changed pages themselves; what a journal does is counted nowhere in SQL"
)
OF_ALL_SESSIONS = "InterBase counts the pages of all sessions, which are not taken for those of a query"
NO_PLANS = (
    "InterBase gives plans to clients that ask its API for them, as isql does, and not to SQL; no tool is run on a "
    "server of others"
)
COUNTED = {
    "database": Counted(
        "SELECT TMP$PAGE_READS, TMP$PAGE_WRITES, TMP$PAGE_FETCHES, TMP$TRANSACTION_COMMITS, TMP$TRANSACTION_ROLLBACKS,"
        " TMP$TRANSACTION_DEADLOCKS, TMP$TRANSACTION_WAITS FROM TMP$DATABASE",
        {
            "buffer_reads": "`TMP$DATABASE`, `TMP$PAGE_READS`",
            "data_writes": "`TMP$DATABASE`, `TMP$PAGE_WRITES`",
            PAGE_REQUESTS: "",
            "commits": "`TMP$DATABASE`, `TMP$TRANSACTION_COMMITS`",
            "rollbacks": "`TMP$DATABASE`, `TMP$TRANSACTION_ROLLBACKS`",
            "deadlocks": "`TMP$DATABASE`, `TMP$TRANSACTION_DEADLOCKS`",
            "lock_waits": "`TMP$DATABASE`, `TMP$TRANSACTION_WAITS`",
        },
    )
}
# There is no CURRENT_CONNECTION: the connection that asks is the one with a statement that reads this table.
STATEMENTS = "SELECT TMP$STATE, COUNT(*) FROM TMP$STATEMENTS GROUP BY TMP$STATE"
RELATIONS = "SELECT TMP$RELATION_NAME, TMP$DATA_PAGES FROM TMP$RELATIONS"
TRANSACTIONS = (
    "SELECT TMP$NEXT_TRANSACTION, TMP$OLDEST_INTERESTING, TMP$OLDEST_ACTIVE, TMP$OLDEST_SNAPSHOT, TMP$SWEEP_INTERVAL"
    " FROM TMP$DATABASE"
)


class InterbaseCounters(EngineCounters):
    counted, waiting, maintenance_sql = COUNTED, {"statements": STATEMENTS}, {"transactions": TRANSACTIONS}
    same_as = {"data_reads": "buffer_reads"}
    origins = {
        "buffer_hits": "`TMP$DATABASE`, `TMP$PAGE_FETCHES` less the reads",
        "data_reads": "`TMP$DATABASE`, `TMP$PAGE_READS`",
        "tables": "`TMP$RELATIONS`: pages of those used since the database was opened",
        "indexes": SELECTIVITY,
        "waits": "`TMP$STATEMENTS` each second: states of statements",
        "maintenance": "`TMP$DATABASE`: the gap that calls for a sweep; no time of the last",
    }
    none = {
        **dict.fromkeys(("checkpoints", "log_bytes", "log_flushes", "log_writes"), NO_LOG),
        "lock_wait_ms": "InterBase counts waits, not their time",
        "temp_bytes": "InterBase counts no temporary files",
        **dict.fromkeys(EFFORT, OF_ALL_SESSIONS),
        "plans": NO_PLANS,
    }

    def waits(self, rows: QueryRows) -> dict[str, float]:
        """No wait events: the states of statements, the one that asks included."""
        named = [(str(state).strip().lower(), float(count)) for state, count in rows.get("statements", [])]
        return {f"statement {state}": count for state, count in named if state != "inactive"}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        listed = quoted_names(tables, str.upper)
        relations = f"{RELATIONS} WHERE TMP$RELATION_NAME IN ({listed})" if tables else RELATIONS
        return {"relations": relations, "indexes": index_query(tables)}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        """The tables that were used since the database was opened."""
        return [TableFacts(str(name).strip(), pages=int(pages)) for name, pages in rows.get("relations", [])]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return index_facts(rows.get("indexes", []))

    def maintenance(self, rows: QueryRows) -> list[Age]:
        return [sweep_age(*map(int, row)) for row in rows.get("transactions", [])]
