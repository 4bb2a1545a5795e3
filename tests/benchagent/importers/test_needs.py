"""What becomes of a run of a file, and what must still be said of it: server and benchctl ask the same."""

from __future__ import annotations

import pytest
from benchagent.importers import Metric, Report, SourceFile, Status, Subject, as_json
from benchagent.importers.report import becomes_a_run, dbms_of, missing_details

SAID = {"hardware": "lab", "dbms": {"name": "PostgreSQL", "version": "16.4"}}


def item(index: int = 0, *, status: Status = Status.COMPLETE, measured: bool = True, **changes) -> dict:
    subject = Subject(**{"workload": "tpcb", "dbms": "PostgreSQL", "dbms_version": "16.4", **changes})
    metrics = (Metric("tps", "TPS", 1.0),) if measured else ()
    report = Report("a tool", status, subject=subject, metrics=metrics)
    return {"index": index, **as_json(SourceFile("a file", b""), report)}


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        (item(), True),
        (item(measured=False), False),
        (item(measured=False, status=Status.FAILED), True),
        (item(status=Status.NOT_UNDERSTOOD), False),
        (item() | {"part_of": "another file"}, False),
        (item(index=3), False),
    ],
)
def test_it_becomes_a_run_with_something_to_say(given, becomes):
    assert becomes_a_run(given, {"leave_out": [3]}) is becomes


@pytest.mark.parametrize(
    ("known", "said", "told"),
    [
        (Subject(dbms="MySQL", dbms_version="8.0"), SAID, ("MySQL", "8.0")),
        (Subject(dbms="MySQL"), SAID, ("MySQL", "")),
        (Subject(dbms="postgresql"), SAID, ("postgresql", "16.4")),
        (Subject(), SAID, ("PostgreSQL", "16.4")),
        (Subject(), {}, ("", "")),
        (Subject(workload="fio-randread"), SAID, ("a tool", "not stated")),
    ],
)
def test_the_words_of_the_file_come_first(known, said, told):
    assert dbms_of(known, "a tool", "", said) == told


def test_what_is_said_of_one_file_is_said_of_it_alone():
    said = SAID | {"files": {"a.txt": {"dbms": {"version": "17.1"}}}}
    assert [dbms_of(Subject(), "a tool", "", said, file)[1] for file in ("a.txt", "b.txt")] == ["17.1", "16.4"]
    assert dbms_of(Subject(dbms="MySQL"), "a tool", "", said, "a.txt") == ("MySQL", "17.1")
    assert dbms_of(Subject(dbms="MySQL", dbms_version="8.0"), "a tool", "", said, "a.txt")[1] == "8.0"


def test_it_names_the_files_that_lack_what_others_have():
    items = [item() | {"file": "whole.txt"}, item(dbms_version="") | {"file": "part.txt"}]
    (words,) = missing_details(items, {"hardware": "lab"})["dbms.version"]
    assert "part.txt" in words and "whole.txt" not in words
    (words,) = missing_details(items, {})["hardware"]
    assert "part.txt" not in words
    many = [items[0], *(items[1] | {"file": f"{number}.txt"} for number in range(6))]
    assert "2.txt and 3 more" in missing_details(many, {"hardware": "lab"})["dbms.version"][0]


@pytest.mark.parametrize(
    ("items", "said", "missing"),
    [
        ([item()], {"hardware": "lab"}, set()),
        ([item()], {}, {"hardware"}),
        ([item(workload="")], SAID, {"workload"}),
        ([item(), item(dbms="", dbms_version="")], {"hardware": "lab"}, {"dbms.name", "dbms.version"}),
        ([item(dbms="MySQL", dbms_version="")], SAID, {"dbms.version"}),
        ([item(workload="fio-randread", dbms="", dbms_version="")], {"hardware": "lab"}, set()),
        ([item(measured=False)], SAID, {"items"}),
        ([], SAID, {"items"}),
    ],
)
def test_it_names_what_is_missing(items, said, missing):
    assert set(missing_details(items, said)) == missing
