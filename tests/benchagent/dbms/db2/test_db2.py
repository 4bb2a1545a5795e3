from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.counters import PARTS
from benchagent.dbms.external.server import external_server
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn

pytestmark = pytest.mark.engines
URL = "jdbc:h2:mem:db2;MODE=DB2"
LEFT_OUT = {
    r"\bsyscat\.|\bsysibmadm\.|MON_GET_|ADMIN_GET_": CATALOGUE,
    r"ADMIN_CMD": "calls a procedure of the server",
    r"SET CURRENT SCHEMA": "H2 calls it SET SCHEMA",
}


@pytest.mark.parametrize("version", ["11.5"])
def test_it_executes_every_statement_of_every_workload_in_h2s_db2_mode(
    version: str, toolchain: JavaToolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    report = StandIn(external_server("db2", version, SCHEMA), URL, left_out=LEFT_OUT).run(toolchain, tmp_path)
    with capsys.disabled():
        print(f"\n{report.words('db2')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 300
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {CATALOGUE: 25, "calls a procedure of the server": 36, "H2 calls it SET SCHEMA": 1}


# Rows as Db2's reference describes them: sums over members, -1 for what was never gathered, names in padded capitals.
COUNTERS = {"buffers": [[1_000, 50, 40]], "log": [[7 * 4096, 5, 12]], "work": [[30, 1, 4, 12, 0]]}
DICTIONARY = {
    "tables": [["ACCOUNTS  ", 100_000, 104, 1_500, 49_152_000], ["HISTORY", -1, -1, -1, -32_768]],
    "indexes": [["ACCOUNTS_PK", "ACCOUNTS", 2, 100_000, 100_000, -1], ["HISTORY_I", "HISTORY", -1, -1, -1, -1]],
}


def test_it_turns_the_rows_of_db2s_functions_into_numbers():
    source = external_server("db2", "11.5", SCHEMA).engine_counters
    assert "SUM(log_writes) * 4096," in source.counter_queries()["log"]
    counters = source.counters(COUNTERS)
    assert (counters["buffer_hits"], counters["buffer_reads"], counters["data_reads"]) == (950, 50, 50)
    assert (counters["log_bytes"], counters["log_writes"], counters["log_flushes"]) == (7 * 4096, 5, 5)
    assert counters["checkpoints"] == 12
    assert (counters["commits"], counters["lock_waits"], counters["lock_wait_ms"]) == (30, 4, 12)
    assert set(counters) | {"tables", "indexes", "waits", "maintenance"} | set(source.none) == set(PARTS)
    loaded, unknown = source.tables(DICTIONARY)
    assert (loaded.table, loaded.rows, loaded.pages, loaded.size_bytes) == ("accounts", 100_000, 1_500, 49_152_000)
    assert unknown.as_dict() == {"table": "history"}
    index, unread = source.indexes(DICTIONARY)
    assert (index.index, index.depth, index.keys, index.size_bytes) == ("accounts_pk", 2, 100_000, None)
    assert unread.as_dict() == {"index": "history_i", "table": "history"}
    assert source.waits({"locks": [["lock", 3]]}) == {"lock": 3}
    (age,) = source.maintenance({"analyzed": [["ACCOUNTS", 12], ["HISTORY", 3600]]})
    assert (age.age_s, age.detail) == (3600, "longest ago: history")
    (age,) = source.maintenance({"analyzed": [["ACCOUNTS", 12], ["HISTORY", None]]})
    assert (age.age_s, age.detail) == (None, "never: history")


def test_its_settings_in_force_name_no_place():
    rows = {
        "database": [
            ["logbufsz", "2150"],
            ["logpath", "/db2/log"],
            ["logarchmeth1", "DISK:/archive"],
            ["trackmod", None],
        ],
        "page_size": [["pagesize", 8192]],
    }
    assert external_server("db2", "11.5", SCHEMA).in_force(rows) == [("logbufsz", "2150"), ("pagesize", "8192")]
