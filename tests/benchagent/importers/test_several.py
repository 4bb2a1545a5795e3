"""Files that hold several results: what one of them cannot be read for spoils no other."""

from __future__ import annotations

import json

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.samples import DATA, reports, sample, values


@pytest.mark.parametrize(
    ("tool", "name", "old", "new"),
    [
        ("benchbase", "console.log", "measuredRequests=203", "measuredRequests=209"),
        ("gbak", "backup_stats_z.txt", "0.158  0.002", "0.001  0.002"),
        ("gotpc", "plain.txt", "[Summary] DELIVERY - Takes(s): ", "[Summary] DELIVERY - Takes(s): about "),
        ("hammerdb", "run_v4_mariadb.txt", "System achieved 83207", "System achieved 83,207"),
        ("ycsb", "go_ycsb_2019.txt", "OPS: ", "OPS: 9"),
        ("fio", "randrw.json", '"bs" : "8k"', '"bs" = "64k"'),
        ("fio", "seqwrite.txt", "BW=", "BW=9"),
        ("ycsb", "run_0_17_jdbc.txt", "[READ], AverageLatency(us), ", "[READ], AverageLatency(us), 99999"),
        ("gotpc", "plain.txt", "tpmC: 17305.8", "tpmC: 17999.8"),
    ],
)
def test_a_result_that_is_not_understood_spoils_no_other(tool: str, name: str, old: str, new: str) -> None:
    whole = sample(tool, name).decode()
    alone, damaged = reports("x", whole.encode()), whole.replace(old, new)
    assert damaged != whole
    for text, is_first in ((f"{whole}\n{damaged}", True), (f"{damaged}\n{whole}", False)):
        told = reports("x", text.encode())
        good = [report for report in told if report.status is not Status.NOT_UNDERSTOOD]
        assert len(told) == len(good) + 1 and told[0 if not is_first else -1] not in good
        assert [*map(values, good)] == [*map(values, alone)]


def test_a_value_of_a_history_that_is_no_number_spoils_no_other() -> None:
    content = json.loads((DATA / "histories" / "bencher.json").read_text())
    first, *others = content
    content[first] = {measure: {"value": "fast"} for measure in content[first]}
    bad, *good = reports("x", json.dumps(content).encode())
    assert bad.status is Status.NOT_UNDERSTOOD and len(good) == len(others) > 0


def test_an_interim_report_before_a_damaged_one_is_no_result() -> None:
    """What fio had done so far stands before the end of the same run, which cannot be read."""
    whole = sample("fio", "randrw.json").decode()
    interim = whole.replace('"elapsed" : 4', '"elapsed" : 3')
    assert interim != whole
    assert [report.status for report in reports("x", f"{interim}\n{whole[:4000]}".encode())] == [Status.NOT_UNDERSTOOD]
