"""What InterBase tells: the system temporary tables TMP$…, as its Language Reference describes them (7.0 and later).

They are visible to SYSDBA and to the owner of the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from benchagent.dbms.firebird.counters import SELECTIVITY, index_facts, index_query, sweep_age

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
    counted, waiting = COUNTED, {"statements": STATEMENTS}
    same_as = {"data_reads": "buffer_reads"}
    told = {
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
        """Of those that were used since the database was opened."""
        return [TableFacts(str(name).strip(), pages=int(pages)) for name, pages in rows.get("relations", [])]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return index_facts(rows.get("indexes", []))

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {"transactions": TRANSACTIONS}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        return [sweep_age(*map(int, row)) for row in rows.get("transactions", [])]
