"""Phoronix Test Suite is in no package registry: the file is written by hand after its schema and real results."""

from __future__ import annotations

import re

import pytest
from benchagent.importers import Status

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
        "system": "nvme", "environment_variables": "CFLAGS=-O3",
    }  # fmt: skip
    assert (first.subject.workload, first.subject.dbms, first.tool_version) == (
        "phoronix-pgbench",
        "postgresql",
        "10.8.4",
    )
    assert (first.started_at, first.metrics[0].better) == ("2026-03-01T10:02:11", "higher")
    assert first.subject.hardware == {
        "cpu_scaling_governor": "intel_pstate performance", "disk_details": "relatime,rw",
        "processor": "Example CPU @ 3.20GHz (8 Cores / 16 Threads)", "motherboard": "Example B1 (F2 BIOS)",
        "memory": "32GB", "disk": "1000GB Example SSD", "network": "2 x Example NIC", "os": "Debian 12",
        "kernel": "6.1.0-18-amd64 (x86_64)", "file_system": "ext4",
    }  # fmt: skip
    assert last.status is Status.FAILED
    assert last.reason == "the test gave no value: The test quit with a non-zero exit status."


def test_install_times_are_no_results_and_curves_are_said_to_be_left_out():
    told = reports("x", TEXT.encode())
    assert "result_s" not in values(told[-1]) and len(told) == 6
    assert all("1 results that are no single value" in " ".join(report.warnings) for report in told)
    only = re.sub(r"(?s)<Result>.*</Result>", "", TEXT)
    (report,) = reports("x", only.encode())
    assert "send the composite.xml" in report.reason


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("<Value>81234<", "<Value>91234<", "is not the mean of its 3 tries"),
        ("<Value>81234<", "<Value>81,234<", "not a plain number"),
        ('<?xml version="1.0"?>', '<!DOCTYPE x [<!ENTITY a "aaaa">]>', "a document type or entities"),
        ("</Result>", "", "broken XML"),
        ("<Scale>TPS</Scale>", "", "a result without its scale"),
    ],
)
def test_it_refuses_document_types_and_values_that_are_not_the_mean_of_their_tries(old: str, new: str, why: str):
    assert old in TEXT
    report, *others = reports("x", TEXT.replace(old, new, 1).encode())
    assert Status.NOT_UNDERSTOOD not in {other.status for other in others}
    assert why in report.reason


def test_a_test_that_failed_or_cannot_be_read_takes_its_own_row_only():
    text = TEXT
    plain = reports("x.xml", text.encode())
    first = re.search(r"<Result>.*?</Result>", text, re.DOTALL)[0]
    value = re.search(r"<Value>[^<]+</Value>", first)[0]
    failed = re.sub(r"<(Value|RawString|Scale)>[^<]*</", r"<\1></", first)
    read = reports("x.xml", text.replace(first, failed).encode())
    assert [report.status for report in read].count(Status.COMPLETE) < len(plain)
    assert read[-1] == plain[-1] and read[0].status is Status.FAILED
    read = reports("x.xml", text.replace(first, first.replace(value, "<Value>-nan</Value>")).encode())
    assert read[0].status is Status.NOT_UNDERSTOOD and read[-1] == plain[-1]
