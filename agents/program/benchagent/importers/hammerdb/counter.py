"""The transaction counter's log: transactions per minute over time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.hammerdb.names import dbms_of
from benchagent.importers.hammerdb.times import iso, spaced, tcl_time
from benchagent.importers.lines import Lines
from benchagent.importers.report import Report, Series, Status, Subject
from benchagent.importers.source import NotUnderstood, SourceFile

_SAMPLE = re.compile(r"^(?:hammerdb>)?(?P<value>\d+) (?P<dbms>[A-Za-z][\w ]*?) (?P<unit>tpm|qph) @ (?P<stamp>.*\d{4})$")
_HEAD = re.compile(r"^Hammerdb Transaction Counter Log @ ")
_NAMES = {"tpm": ("tpm", "TPM", "tprocc"), "qph": ("qph", "QpH", "tproch")}


def counter_reports(file: SourceFile) -> list[Report]:
    """One report for each log in the file; HammerDB appends to it."""
    if " @ " not in file.text:
        return []
    logs: list[list[tuple[datetime, str, float, str, str]]] = [[]]
    with Lines(file, with_cut=True) as lines:
        for line in lines:
            if _HEAD.match(line.text) and logs[-1]:
                logs.append([])
            match = _SAMPLE.match(line.text.strip())
            if match and (line.whole or re.search(r" \d{4}$", line.text)):
                moment, zone = tcl_time(match["stamp"])
                logs[-1].append((moment, zone, float(match["value"]), match["dbms"], match["unit"]))
    reports: list[Report] = []
    for log in filter(None, logs):
        if len({(zone, dbms, unit) for _, zone, _, dbms, unit in log}) != 1:
            raise NotUnderstood("the counter's lines are of several systems, units or time zones")
        began, zone, _, dbms, unit = log[0]
        samples = [(moment, value) for moment, _, value, _, _ in log]
        reports.append(counted(samples, unit, dbms, iso(began, zone)))
    return reports


def counted(samples: Sequence[tuple[datetime, float]], unit: str, dbms: str, started_at: str) -> Report:
    """The report of samples stamped to the second, each of the interval before it."""
    name, unit_name, workload = _NAMES[unit]
    interval, values, drift = spaced([moment for moment, _ in samples], [value for _, value in samples])
    warnings = ["the transaction counter includes what other clients of the DBMS do, and the first reading is a start"]
    if drift > 0.01:
        warnings.append(f"the counter was read every {interval * (1 + drift):.2f} s, which counts as {interval:g} s")
    return Report(
        tool="hammerdb", status=Status.COMPLETE, series=(Series(name, unit_name, interval, values),),
        warnings=tuple(warnings), started_at=started_at,
        subject=Subject(workload, "transaction counter (HammerDB)", dbms=dbms_of(dbms)),
    )  # fmt: skip
