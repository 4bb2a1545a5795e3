"""MySQL and Firebird as servers of others: TPC-B, and what is theirs stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.external.server import MARKER, external_server
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.external.conftest import AGENT_ID, SCHEMA, RunOn, Servers, connect_to
from tests.benchagent.small import ACCOUNTS

pytestmark = pytest.mark.engines
TABLES = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('theirs', '{schema}')"
RELATIONS = "SELECT TRIM(RDB$RELATION_NAME) FROM RDB$RELATIONS WHERE RDB$SYSTEM_FLAG = 0"


def test_it_runs_on_a_mysql_of_others_which_does_not_count_checkpoints(
    servers: Servers, registered: AgentDirs, run_on: RunOn
):
    trial = servers("mysql")
    theirs = [
        "SET GLOBAL innodb_monitor_disable = 'log_checkpoints'",  # as it is by default
        "CREATE DATABASE theirs",
        "CREATE TABLE theirs.accounts (n INTEGER)",
        "INSERT INTO theirs.accounts VALUES (1), (2)",
    ]
    assert trial.events([{"op": "execute", "phase": "x", "statements": theirs}]).error is None
    connect_to(trial, registered)
    item = run_on("mysql", "tpcb", scale_factor=1)
    assert (item["outcome"], item["message"]) == ("finished", "")
    told = item["result"]["statistics"]
    assert told["conditions"]["checkpoints"].endswith("not known: their counter could not be read")
    assert told["counters"]["commits"] > 0
    assert not any("not watched" in words for words in item["result"]["warnings"])
    assert trial.query("SELECT n FROM theirs.accounts ORDER BY n", TABLES.format(schema=SCHEMA)) == [
        [[1], [2]],
        [[SCHEMA, MARKER], ["theirs", "accounts"]],
    ]


def test_it_runs_in_a_firebird_database_that_was_given_to_it(servers: Servers, registered: AgentDirs, run_on: RunOn):
    trial = servers("firebird")
    connect_to(trial, registered)
    item = run_on("firebird", "tpcb", scale_factor=1)
    assert (item["outcome"], item["message"]) == ("finished", "")
    told = item["result"]["statistics"]
    assert told["counters"]["buffer_hits"] > 0
    touched = {table["table"]: table for table in told["tables"]}
    assert touched["ACCOUNTS"]["updates"] >= told["transaction_types"]["tpcb"]["transactions"] > 0
    assert touched["HISTORY"]["inserts"] >= told["transaction_types"]["tpcb"]["transactions"]
    # Computed after the load.
    assert {"index": "ACCOUNTS_PK", "table": "ACCOUNTS", "unique_keys": ACCOUNTS} in told["indexes"]
    assert not any("not watched" in words for words in item["result"]["warnings"])
    file = Path(trial.query("SELECT MON$DATABASE_NAME FROM MON$DATABASE")[0][0][0])
    server = external_server("firebird", trial.version, SCHEMA)
    assert server.read_folders(trial.query(server.folders)[0]) == [("the database", str(file.parent))]
    assert file.is_file()
    assert trial.query(RELATIONS, f"SELECT TRIM(agent_id), made FROM {MARKER}") == [
        [[MARKER.upper()]],
        [[AGENT_ID, None]],
    ]
