"""An importer that trips over a file costs that file, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from benchagent.importers import Report, SourceFile, Status, inspect

from tests.benchagent.importers.samples import report_of, reports, sample, values


class Failing:
    TOOL = "failing"

    def claims(self, file: SourceFile) -> bool:
        return file.text.startswith("trips")

    def read(self, file: SourceFile) -> Iterable[Report]:
        raise {"trips over zero": ZeroDivisionError, "trips over a key": KeyError}[file.text]("x")


@pytest.mark.parametrize("text", ["trips over zero", "trips over a key"])
def test_it_is_not_understood_where_its_reader_fails(text, caplog):
    other = SourceFile("other.log", b"nothing of any tool\n")
    (failed, beside) = inspect([SourceFile("a.log", text.encode()), other], own_tools=[Failing()])
    assert [report.status for report in failed[1]] == [Status.NOT_UNDERSTOOD]
    assert [report.status for report in beside[1]] == [Status.NOT_UNDERSTOOD]
    assert "a.log" in caplog.text


@pytest.mark.parametrize("printed", ["-nan", "nan", "inf", "-inf", "NaN"])
def test_a_number_that_c_could_not_make_takes_itself_only(printed):
    whole, text = report_of("fio", "randrw.json"), sample("fio", "randrw.json").decode()
    (read,) = reports("x.json", re.sub(r'"bw_dev" : [\d.]+', f'"bw_dev" : {printed}', text).encode())
    assert read == whole
    (read,) = reports("x.json", re.sub(r'"iops" : [\d.]+', f'"iops" : {printed}', text, count=1).encode())
    assert values(whole).keys() - values(read).keys() == {"read_iops"}
    (read,) = reports("x.json", sample("memtier", "out.json").replace(b": 0.80363,", f": {printed},".encode()))
    assert values(report_of("memtier", "out.json")).keys() - values(read).keys() == {"gets_latency_avg_ms"}


def test_one_bad_result_of_several_takes_itself_only():
    good, text = report_of("fio", "randrw.json"), sample("fio", "randrw.json").decode()
    first, second = reports("x.json", (text + text.replace('"total_ios" : ', '"total_ios" : 1')).encode())
    assert first == good
    assert second.status is Status.NOT_UNDERSTOOD and not second.metrics
