from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.external.side import side_of
from benchagent.dbms.statistics import PARTS
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn

pytestmark = pytest.mark.engines
URL = "jdbc:h2:mem:cubrid"
LEFT_OUT = {
    r"\bdb_(class|user)\b|VERSION\(\)": CATALOGUE,
    r"^(GET TRANSACTION|SHOW TRACE|SET TRACE)": "a command that H2 does not know",
    r"^UPDATE STATISTICS": "H2 calls it ANALYZE",
}
# What CUBRID writes differently from H2.
DIFFERENCES = {r"\bDATETIME\b": "TIMESTAMP"}


@pytest.mark.parametrize("version", ["11.3"])
def test_it_executes_every_statement_of_every_workload_on_h2(
    version: str, toolchain: JavaToolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    report = StandIn(side_of("cubrid", version, SCHEMA), URL, left_out=LEFT_OUT, translated=DIFFERENCES).run(
        toolchain, tmp_path
    )
    with capsys.disabled():
        print(f"\n{report.words('cubrid')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 1_000
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {
        CATALOGUE: 3,
        "a command that H2 does not know": 4,
        "H2 calls it ANALYZE": 203,
    }


def test_it_shows_the_two_settings_that_cubrid_tells_and_a_plan():
    side = side_of("cubrid", "11.3", SCHEMA)
    rows = {"isolation": [[4]], "lock_timeout": [[-1.0]]}
    assert side.in_force(rows) == [("isolation_level", "4"), ("lock_timeout_in_secs", "-1.0")]
    assert side.statistics.counters(rows) == {}
    assert set(side.statistics.none) | {"plans"} == set(PARTS)
    trace = "Query Plan:\n  SCAN (accounts)\n\nTrace Statistics:\n  SELECT (time: 1, fetch: 3, ioread: 0)"
    assert side.statistics.plan([[trace]]) == trace
