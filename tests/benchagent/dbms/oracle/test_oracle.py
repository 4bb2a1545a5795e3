from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.external.side import side_of
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn

pytestmark = pytest.mark.engines
URL = "jdbc:h2:mem:oracle;MODE=Oracle;DEFAULT_NULL_ORDERING=HIGH"
LEFT_OUT = {
    r"\bv\$|\ball_(tables|indexes|objects|users)\b|\bdba_": CATALOGUE,
    r"DBMS_": "calls a package of the server",
    r"ALTER SESSION SET CURRENT_SCHEMA": "H2 has no such session setting",
}


@pytest.mark.parametrize("version", ["11.2.0.4", "19.3"])
def test_it_executes_every_statement_of_every_workload_in_h2s_oracle_mode(
    version: str, toolchain: JavaToolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    report = StandIn(side_of("oracle", version, SCHEMA), URL, left_out=LEFT_OUT).run(toolchain, tmp_path)
    with capsys.disabled():
        print(f"\n{report.words('oracle')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 1_000
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {
        CATALOGUE: 21,
        "calls a package of the server": 54,
        "H2 has no such session setting": 1,
    }
