from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.external.side import side_of
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
    report = StandIn(side_of("db2", version, SCHEMA), URL, left_out=LEFT_OUT).run(toolchain, tmp_path)
    with capsys.disabled():
        print(f"\n{report.words('db2')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 1_000
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {
        CATALOGUE: 22,
        "calls a procedure of the server": 53,
        "H2 calls it SET SCHEMA": 1,
    }
