"""The workload's own SQL as a Java class, so that the unit tests of the load generator run the very statements.

`python -m tests.benchagent.workloads.tpcc.java_sql` writes it anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchagent.dbms.dialect import Dialect
from benchagent.workloads.steps import insert
from benchagent.workloads.tpcc import conditions, tables, transactions

DIVISOR, WAREHOUSES, SEED = 100, 2, 42
PATH = Path("agents/loadgen/src/test/java/benchsite/loadgen/tpcc/Sql.java")
TEMPLATE = '''package benchsite.loadgen.tpcc;

import org.json.JSONObject;

/** The statements of the workload in standard SQL; written by tests/benchagent/workloads/tpcc/java_sql.py. */
public final class Sql {{
    public static final JSONObject ALL = new JSONObject("""
{lines}
        """);

    private Sql() {{}}
}}
'''


def rendered() -> str:
    dialect = Dialect()
    everything = {
        "schema": [*tables.create(dialect), *tables.indexes(dialect)],
        "tables": {
            table.name: {"rows": tables.rows(table, WAREHOUSES, DIVISOR), "insert": insert(table.name, table.columns)}
            for table in tables.TABLES
        },
        "programs": {program["name"]: program for program in transactions.programs(dialect, {})},
        "load_conditions": conditions.queries(WAREHOUSES, SEED, loaded=True, divisor=DIVISOR),
        "run_conditions": conditions.queries(WAREHOUSES, SEED, loaded=False, divisor=DIVISOR),
        "parameters": {"warehouses": WAREHOUSES, "seed": SEED, "scale_divisor": DIVISOR},
    }
    lines = json.dumps(everything, indent=1).splitlines()
    return TEMPLATE.format(lines="\n".join(" " * 8 + line for line in lines))


if __name__ == "__main__":
    PATH.write_text(rendered())
