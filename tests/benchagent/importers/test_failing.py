"""An importer that trips over a file costs that file, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from benchagent.importers import Report, SourceFile, Status, inspect


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
