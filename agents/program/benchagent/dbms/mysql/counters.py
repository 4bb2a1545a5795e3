"""What these servers tell about themselves, by version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.base import GUEST
from benchagent.dbms.counters import Age, EngineCounters, IndexFacts, QueryRows, quoted_names
from benchagent.dbms.mysql.product import Product

STATUS = {
    "log_bytes": "Innodb_os_log_written",
    "log_writes": "Innodb_log_writes",
    "data_reads": "Innodb_pages_read",
    "data_writes": "Innodb_pages_written",
    "commits": "Com_commit",
    "rollbacks": "Com_rollback",
    "lock_waits": "Innodb_row_lock_waits",
    "lock_wait_ms": "Innodb_row_lock_time",
    "buffer_reads": "Innodb_buffer_pool_reads",
}
REQUESTS = "Innodb_buffer_pool_read_requests"
# One of these: MariaDB 10.8 and later count the log's together with those of data files.
LOG_SYNCS = ("Innodb_os_log_fsyncs", "Innodb_data_fsyncs")
METRICS = {"checkpoints": "log_checkpoints", "deadlocks": "lock_deadlocks"}
# Positions of columns in innodb_metrics, the same in all versions; the last is `status`, in newer MariaDBs `enabled`.
METRIC_NAME, METRIC_COUNT, METRIC_ENABLED = 0, 2, 14
HISTORY = re.compile(r"History list length (\d+)")
NO_METRICS = "InnoDB counts them from 5.6 on only (information_schema.innodb_metrics)"
NO_TEMP = "counted are temporary tables on disk (Created_tmp_disk_tables), not their bytes"


OF_TABLES = "WHERE table_schema = '{schema}' AND table_name IN ({tables})"
INDEX_SIZES = (
    "SELECT table_name, index_name, stat_value * @@innodb_page_size FROM mysql.innodb_index_stats "
    "WHERE database_name = '{schema}' AND table_name IN ({tables}) AND stat_name = 'size'"
)
STATISTICS_AGES = (
    "SELECT table_name, TIMESTAMPDIFF(SECOND, last_update, NOW()) FROM mysql.innodb_table_stats "
    "WHERE database_name = '{schema}' ORDER BY table_name"
)
STATES = (
    "SELECT CONCAT('state: ', COALESCE(NULLIF(state, ''), 'running')), COUNT(*) "  # noqa: S608 - a constant
    "FROM information_schema.processlist "
    f"WHERE user IN (SUBSTRING_INDEX(USER(), '@', 1), '{GUEST}') AND command <> 'Sleep' "
    "AND id <> CONNECTION_ID() GROUP BY 1"
)
LOCKS = "SELECT 'row lock', COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"


class InnodbCounters(EngineCounters):
    waiting = {"states": STATES, "locks": LOCKS}
    table_columns = ("table", "rows", "row_bytes", "pages", "size_bytes", "index_bytes", "engine")
    # InnoDB counts pages for the whole server; the queries run alone.
    effort_sql = {"status": f"SHOW GLOBAL STATUS WHERE Variable_name IN ('{STATUS['data_reads']}', '{REQUESTS}')"}

    def __init__(self, product: Product, schema: str) -> None:
        self._product = product
        self.schema = schema
        # Tables of InnoDB's own: metrics, and statistics of indexes; a page had the same size for all before.
        self._has_metrics = product.since((5, 6), (10, 0))
        missing = {} if self._has_metrics else dict.fromkeys(METRICS, NO_METRICS)
        self.none = {**missing, "temp_bytes": NO_TEMP}
        page_size = "@@innodb_page_size" if self._has_metrics else "16384"
        pages = f"CASE WHEN engine = 'InnoDB' THEN data_length DIV {page_size} END"
        self.schema_sql = {
            "tables": f"SELECT table_name, table_rows, avg_row_length, {pages}, data_length, index_length, engine "  # noqa: S608
            f"FROM information_schema.tables {OF_TABLES} ORDER BY table_name",
            "cardinality": "SELECT table_name, index_name, seq_in_index, cardinality "  # noqa: S608
            f"FROM information_schema.statistics {OF_TABLES} ORDER BY table_name, index_name, seq_in_index",
        }
        self.maintenance_sql = {"innodb": "SHOW ENGINE INNODB STATUS"}
        if self._has_metrics:
            self.schema_sql["indexes"] = INDEX_SIZES
            self.maintenance_sql["statistics"] = STATISTICS_AGES
        self.origins = self._origins()

    def _origins(self) -> dict[str, str]:
        synced = f"`{LOG_SYNCS[0]}`: InnoDB's log"
        if self._product.since(None, (10, 8)):
            synced = f"`{LOG_SYNCS[1]}`: InnoDB's log and data files"
        explain = self.plan_queries("SELECT 1")[0].removesuffix(" SELECT 1")
        of_indexes = ", bytes from `mysql.innodb_index_stats`" if self._has_metrics else ", no bytes"
        ages = "; `mysql.innodb_table_stats`" if self._has_metrics else ""
        metrics = {
            name: f"`innodb_metrics`, `{metric}`, where the server has it enabled"
            for name, metric in METRICS.items()
            if self._has_metrics
        }
        return {
            **{name: f"SHOW GLOBAL STATUS, `{variable}`" for name, variable in STATUS.items()},
            **metrics,
            "buffer_hits": f"SHOW GLOBAL STATUS, `{REQUESTS}` less the reads",
            "log_flushes": f"SHOW GLOBAL STATUS, {synced}, without the binary log",
            "tables": "`information_schema.tables`: rows by estimate",
            "indexes": f"`information_schema.statistics`: keys by estimate{of_indexes}; no depth",
            "plans": f"`{explain}`" + ("" if self.plan_queries("DELETE") else ", of SELECT only"),
            "waits": "`information_schema.processlist` each second: states; row locks from `innodb_trx`",
            "maintenance": f"SHOW ENGINE INNODB STATUS: length of the history list{ages}",
            "query_reads": f"SHOW GLOBAL STATUS, `{STATUS['data_reads']}`: of all sessions; the queries run alone",
            "query_fetches": f"SHOW GLOBAL STATUS, `{REQUESTS}`: of all sessions; the queries run alone",
        }

    def counter_queries(self) -> Mapping[str, str]:
        names = quoted_names([*STATUS.values(), REQUESTS, *LOG_SYNCS])
        queries = {"status": f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})"}
        if self._has_metrics:
            metrics = quoted_names([*METRICS.values()])
            queries["metrics"] = f"SELECT * FROM information_schema.innodb_metrics WHERE name IN ({metrics})"  # noqa: S608
        return queries

    def counters(self, rows: QueryRows) -> dict[str, float]:
        status = _numbers(rows["status"])
        # A metric that is not enabled stands still, which is no count of nothing.
        enabled = [row for row in rows.get("metrics", []) if str(row[METRIC_ENABLED]).lower() in ("enabled", "1")]
        metrics = {str(row[METRIC_NAME]): float(row[METRIC_COUNT]) for row in enabled}
        values = {name: status[variable] for name, variable in STATUS.items() if variable in status}
        values["buffer_hits"] = status[REQUESTS] - status["Innodb_buffer_pool_reads"]
        syncs = next((status[name] for name in LOG_SYNCS if name in status), None)
        if syncs is not None:
            values["log_flushes"] = syncs
        return {**values, **{name: metrics[metric] for name, metric in METRICS.items() if metric in metrics}}

    # Tables and indexes

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        """One for each index; its last column tells how many different keys there are, by estimate."""
        sizes = {(str(table), str(index)): int(float(size)) for table, index, size in rows.get("indexes", [])}
        keys = {str(row[0]): int(row[1]) for row in rows.get("tables", []) if row[1] is not None}
        unique = {(str(row[0]), str(row[1])): row[3] for row in rows.get("cardinality", [])}
        return [
            IndexFacts(
                index=index,
                table=table,
                keys=keys.get(table),
                unique_keys=None if count is None else int(count),
                size_bytes=sizes.get((table, index)),
            )
            for (table, index), count in unique.items()
        ]

    # Upkeep

    def maintenance(self, rows: QueryRows) -> list[Age]:
        ages = [Age(f"statistics of {table}", float(age)) for table, age in rows.get("statistics", [])]
        history = HISTORY.search(" ".join(str(value) for row in rows.get("innodb", []) for value in row))
        if history:
            ages.append(
                Age("purge", None, f"it runs all the time, no last time is told; history list length {history[1]}")
            )
        return ages

    # Plans and effort

    def plan_queries(self, sql: str) -> Sequence[str]:
        """5.5 explains SELECT only."""
        if not self._product.since((5, 6, 3), (10, 0, 5)) and not sql.lstrip().lower().startswith("select"):
            return ()
        if self._product.since((8, 0, 18), None):
            return (f"EXPLAIN FORMAT = TREE {sql}",)
        return (f"EXPLAIN FORMAT = JSON {sql}",) if self._product.since((5, 6, 5), (10, 1)) else (f"EXPLAIN {sql}",)

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        if self._product.since((5, 6, 5), (10, 1)):
            return "\n".join(str(row[0]) for row in rows)
        head = ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "Extra"]
        lines = [head, *[["-" if value is None else str(value) for value in row] for row in rows]]
        return "\n".join(" | ".join(line) for line in lines)

    def effort(self, rows: QueryRows) -> dict[str, float]:
        status = _numbers(rows["status"])
        return {"reads": status[STATUS["data_reads"]], "fetches": status[REQUESTS]}


def _numbers(rows: Sequence[Sequence[Any]]) -> dict[str, float]:
    return {str(row[0]): float(row[1]) for row in rows}
