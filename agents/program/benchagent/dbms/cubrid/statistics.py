"""What CUBRID tells to SQL: plans. Its counters are shown by its tool `cubrid statdump` on the server's machine."""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.dbms.statistics import COUNTERS, INDEXES, MAINTENANCE, PLANS, TABLES, WAITS, Statistics

BY_TOOL = "CUBRID tells it to `cubrid statdump` on the server's machine, not to SQL"


class CubridStatistics(Statistics):
    sources = {PLANS: "`SHOW TRACE`: the statement is executed"}
    none = {
        **dict.fromkeys(COUNTERS, BY_TOOL),
        TABLES: "CUBRID tells it table by table in SHOW HEAP CAPACITY, whose columns differ with its version",
        INDEXES: "CUBRID tells it table by table in SHOW INDEX CAPACITY, whose columns differ with its version",
        WAITS: "CUBRID tells waits to `cubrid lockdb` on the server's machine, not to SQL",
        MAINTENANCE: "CUBRID notes no time of its last UPDATE STATISTICS",
    }

    def plan_queries(self, sql: str) -> Sequence[str]:
        """The statement is executed, with its trace on."""
        return ("SET TRACE ON OUTPUT TEXT", sql, "SHOW TRACE")
