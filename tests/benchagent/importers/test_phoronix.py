"""Phoronix Test Suite is in no package registry: the file is written by hand after its published form."""

from __future__ import annotations

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.damage import wrong_answers
from tests.benchagent.importers.samples import reports, sample, values

TEXT = sample("phoronix", "composite.xml").decode()


def test_it_reads_every_test_of_every_system():
    told = reports("x", TEXT.encode())
    assert [values(report) for report in told] == [
        {"tps": 81234}, {"tps": 80511}, {"latency_avg_ms": 0.616}, {"latency_avg_ms": 0.621}, {"result_s": 12.413}, {},
    ]  # fmt: skip
    first, last = told[0], told[-1]
    assert first.parameters == {
        "scale_factor": 100, "terminals": 50, "mode": "Read Only", "test_profile": "pts/pgbench-1.14.0",
        "system": "nvme",
    }  # fmt: skip
    assert (first.subject.workload, first.subject.dbms, first.tool_version) == (
        "phoronix-pgbench",
        "postgresql",
        "10.8.4",
    )
    assert (first.started_at, first.metrics[0].better) == ("2026-03-01T10:02:11", "higher")
    assert (last.status, last.reason) == (Status.FAILED, "the test gave no value")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("<Value>81234<", "<Value>91234<", "is not the mean of its 3 tries"),
        ("<Value>81234<", "<Value>81,234<", "not a plain number"),
        ('<?xml version="1.0"?>', '<!DOCTYPE x [<!ENTITY a "aaaa">]>', "a document type or entities"),
        ("</Result>", "", "broken XML"),
        ("<Scale>TPS</Scale>", "", "without its title or its scale"),
    ],
)
def test_it_refuses_document_types_and_values_that_are_not_the_mean_of_their_tries(old: str, new: str, why: str):
    assert old in TEXT
    (report,) = reports("x", TEXT.replace(old, new, 1).encode())
    assert why in report.reason


def test_it_gives_no_other_numbers_whatever_the_damage():
    # Lines of one form that changed places between two tests cannot be seen.
    wrong = wrong_answers("composite.xml", TEXT.encode(), seed=14, count=140)
    assert [words for words in wrong if ": swapped:" not in words] == []
