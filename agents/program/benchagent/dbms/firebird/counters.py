"""What Firebird tells: counters of the MON$ tables, gstat's tables and indexes, isql's plans.

The rows of a MON$ table are taken once per transaction: the load generator asks in auto-commit mode, so each query
sees the moment. Tables, indexes and plans come from tools, which run when the rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchagent.dbms.counters import (
    PAGE_REQUESTS,
    Age,
    Counted,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    quoted_names,
)
from benchagent.dbms.dialect import sql_text
from benchagent.dbms.firebird import gstat

NO_LOG = (
    "Firebird has no transaction log: a commit writes the changed pages themselves, in an order that stays consistent"
)
NO_CHECKPOINTS = f"{NO_LOG}; so there are no checkpoints"
NO_PLANS = (
    "Firebird gives plans to clients that ask its API for them, as isql does; JDBC does not ask, and no tool is run on "
    "a server of others"
)
NO_COUNT = "Firebird counts page and record accesses, not"
SOURCE = "`MON$IO_STATS` of the database"
COUNTED = {
    "io": Counted(
        "SELECT S.MON$PAGE_READS, S.MON$PAGE_WRITES, S.MON$PAGE_FETCHES FROM MON$IO_STATS S"
        " JOIN MON$DATABASE D ON D.MON$STAT_ID = S.MON$STAT_ID",
        {
            "buffer_reads": f"{SOURCE}, `MON$PAGE_READS`: the page cache of the system may serve it",
            "data_writes": f"{SOURCE}, `MON$PAGE_WRITES`",
            PAGE_REQUESTS: "",
        },
    ),
    "records": Counted(
        "SELECT S.MON$RECORD_WAITS FROM MON$RECORD_STATS S JOIN MON$DATABASE D ON D.MON$STAT_ID = S.MON$STAT_ID",
        {"lock_waits": "`MON$RECORD_STATS`, `MON$RECORD_WAITS`"},
    ),
}
OWN_IO = (
    "SELECT S.MON$PAGE_READS, S.MON$PAGE_FETCHES FROM MON$IO_STATS S"
    " JOIN MON$ATTACHMENTS A ON A.MON$STAT_ID = S.MON$STAT_ID WHERE A.MON$ATTACHMENT_ID = CURRENT_CONNECTION"
)
# No wait events: what statements of other connections are doing.
STATES = (
    "SELECT CASE S.MON$STATE WHEN 1 THEN 'statement running' WHEN 2 THEN 'statement stalled, waiting for its client'"
    " ELSE 'state ' || S.MON$STATE END, COUNT(*) FROM MON$STATEMENTS S WHERE S.MON$STATE > 0"
    " AND S.MON$ATTACHMENT_ID <> CURRENT_CONNECTION GROUP BY 1"
)
TRANSACTIONS = (
    "SELECT D.MON$NEXT_TRANSACTION, D.MON$OLDEST_TRANSACTION, D.MON$OLDEST_ACTIVE, D.MON$OLDEST_SNAPSHOT,"
    " D.MON$SWEEP_INTERVAL,"
    " (SELECT MAX(DATEDIFF(SECOND FROM T.MON$TIMESTAMP TO CAST('NOW' AS TIMESTAMP))) FROM MON$TRANSACTIONS T"
    " WHERE T.MON$STATE = 1 AND T.MON$ATTACHMENT_ID <> CURRENT_CONNECTION) FROM MON$DATABASE D"
)
# Record counters of the database as a whole, which is group 0.
RECORDS = (
    "SELECT T.MON$TABLE_NAME, R.MON$RECORD_SEQ_READS, R.MON$RECORD_IDX_READS, R.MON$RECORD_INSERTS,"
    " R.MON$RECORD_UPDATES, R.MON$RECORD_DELETES FROM MON$TABLE_STATS T"
    " JOIN MON$RECORD_STATS R ON R.MON$STAT_ID = T.MON$RECORD_STAT_ID WHERE T.MON$STAT_GROUP = 0"
)
SELECTIVITY = (
    "`RDB$INDICES`, `RDB$STATISTICS`: different keys as of the last SET STATISTICS; depth and bytes only gstat tells"
)
INDEXES = "SELECT RDB$INDEX_NAME, RDB$RELATION_NAME, RDB$STATISTICS FROM RDB$INDICES"
USERS_OWN = "(RDB$SYSTEM_FLAG = 0 OR RDB$SYSTEM_FLAG IS NULL)"
ONE_ROW = "SELECT COUNT(*) FROM RDB$DATABASE"


class MonitoringCounters(EngineCounters):
    """What SQL alone can ask for, on any server."""

    counted, waiting, effort_sql = COUNTED, {"states": STATES}, {"effort": OWN_IO}
    maintenance_sql = {"transactions": TRANSACTIONS}
    same_as = {"data_reads": "buffer_reads"}
    origins: Mapping[str, str] = {
        "buffer_hits": f"{SOURCE}, `MON$PAGE_FETCHES` less the reads",
        "data_reads": f"{SOURCE}, `MON$PAGE_READS`",
        "waits": "`MON$STATEMENTS` each second: what statements are doing",
        "maintenance": "`MON$DATABASE`, `MON$TRANSACTIONS`: the gap that calls for a sweep; no time of the last",
        "query_reads": "`MON$IO_STATS` of the connection, `MON$PAGE_READS`",
        "query_fetches": "`MON$IO_STATS` of the connection, `MON$PAGE_FETCHES`",
    }
    none = {
        "checkpoints": NO_CHECKPOINTS,
        **dict.fromkeys(("log_bytes", "log_flushes", "log_writes"), NO_LOG),
        "commits": f"{NO_COUNT} commits; the number of transactions begun is no count of those committed",
        "rollbacks": f"{NO_COUNT} rollbacks",
        "lock_wait_ms": f"{NO_COUNT} the time of waits; lock_waits is their number",
        "deadlocks": f"{NO_COUNT} deadlocks; the lock manager's own figure is shown by fb_lock_print only",
        "temp_bytes": f"{NO_COUNT} temporary files",
    }

    def maintenance(self, rows: QueryRows) -> list[Age]:
        ages = []
        for *numbers, longest_s in rows.get("transactions", []):
            ages.append(sweep_age(*map(int, numbers)))
            if longest_s is not None:
                ages.append(Age("oldest running transaction", float(longest_s), "of other connections"))
        return ages


class FirebirdCounters(MonitoringCounters):
    """Counters of a server whose tools can be run. `run_gstat` gives the output of gstat -a -r, `plan_of` a query's
    plan.
    """

    origins = {
        **MonitoringCounters.origins,
        "tables": "`action_db_stats` of the Services API, as `gstat -a -r`",
        "indexes": "`action_db_stats` of the Services API, as `gstat -a -r`",
        "plans": "`isql`, `SET PLANONLY`",
    }

    def __init__(self, run_gstat: Callable[[], str], plan_of: Callable[[str], str]) -> None:
        self.run_gstat, self.plan_of = run_gstat, plan_of
        self._tables: frozenset[str] = frozenset()
        self._rows: QueryRows | None = None
        self._output = ""

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        """A query that says when: gstat runs as its row arrives."""
        self._tables = frozenset(table.upper() for table in tables)
        return {"gstat": ONE_ROW}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        tables, page = self._analysed(rows)
        return [gstat.table_facts(table, page) for table in tables]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        tables, page = self._analysed(rows)
        return [gstat.index_facts(table, index, page) for table in tables for index in table.indexes]

    def _analysed(self, rows: QueryRows) -> tuple[list[gstat.Block], int | None]:
        """Once for the same rows: gstat reads the whole database."""
        if self._rows is not rows:
            self._rows, self._output = rows, self.run_gstat()
        tables = [table for table in gstat.blocks(self._output) if not self._tables or table.name in self._tables]
        return tables, gstat.page_size(self._output)

    def plan_queries(self, sql: str) -> Sequence[str]:
        """The statement travels as a value to `plan`, which asks isql."""
        return (f"SELECT {sql_text(sql)} FROM RDB$DATABASE",)  # noqa: S608

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        return "\n".join(self.plan_of(str(row[0])) for row in rows)


class ForeignCounters(MonitoringCounters):
    """Counters of a server that somebody else runs: no tool is run on it."""

    origins = {
        **MonitoringCounters.origins,
        "tables": "`MON$TABLE_STATS` (3.0 and later): records touched since the database was opened; no rows, no sizes",
        "indexes": SELECTIVITY,
    }
    none = {**MonitoringCounters.none, "plans": NO_PLANS}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        listed = quoted_names(tables, str.upper)
        records = f"{RECORDS} AND T.MON$TABLE_NAME IN ({listed})" if tables else RECORDS
        return {"records": records, "indexes": index_query(tables)}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        columns = ("sequential_reads", "index_reads", "inserts", "updates", "deletes")
        return [
            TableFacts(str(table).strip(), **dict[str, Any](zip(columns, map(int, counts), strict=True)))
            for table, *counts in rows.get("records", [])
        ]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return index_facts(rows.get("indexes", []))


def sweep_age(next_: int, oldest: int, active: int, snapshot: int, interval: int) -> Age:
    """When a sweep ran is kept nowhere, in Firebird and in InterBase; the gap that calls for the next one is."""
    limit = f"a sweep begins above {interval}" if interval else "sweeps are off"
    numbers = f"next transaction {next_}, oldest {oldest}, oldest active {active}, oldest snapshot {snapshot}"
    return Age("sweep", None, f"when the last one was is not recorded; gap {snapshot - oldest}, {limit} ({numbers})")


def index_query(tables: Sequence[str]) -> str:
    """The query of the indexes of these tables; of all the users' tables if none is named."""
    listed = quoted_names(tables, str.upper)
    return f"{INDEXES} WHERE {f'RDB$RELATION_NAME IN ({listed})' if tables else USERS_OWN}"


def index_facts(rows: Sequence[Sequence[Any]]) -> list[IndexFacts]:
    """A selectivity is 1 by the number of different keys; 0 or NULL while none was computed, or the table was empty."""
    return [
        IndexFacts(
            str(index).strip(), str(table).strip(), unique_keys=round(1 / float(selectivity)) if selectivity else None
        )
        for index, table, selectivity in rows
    ]
