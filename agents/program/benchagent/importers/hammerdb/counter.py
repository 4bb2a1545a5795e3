"""The transaction counter's log: transactions per minute over time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.base import NotUnderstood, Report, Series, SourceFile, Status, Subject
from benchagent.importers.hammerdb.dates import iso, tcl_time
from benchagent.importers.hammerdb.names import dbms_of

TOOL = "hammerdb"
_SAMPLE = re.compile(r"^(?:hammerdb>)?(?P<value>\d+) (?P<dbms>[A-Za-z][\w ]*?) (?P<unit>tpm|qph) @ (?P<stamp>.*\d{4})$")
_HEAD = re.compile(r"^Hammerdb Transaction Counter Log @ ")


def counter_reports(file: SourceFile) -> list[Report]:
    """One report for each log in the file; HammerDB appends to it."""
    logs: list[list[tuple[datetime, str, float, str, str]]] = [[]]
    for number, line in enumerate(file.lines, start=1):
        if _HEAD.match(line) and logs[-1]:
            logs.append([])
        match = _SAMPLE.match(line.strip())
        if match is None:
            continue
        if number == len(file.lines) and not file.last_line_is_whole and not re.search(r" \d{4}$", line):
            continue
        try:
            moment, zone = tcl_time(match["stamp"])
        except NotUnderstood as error:
            raise NotUnderstood(f"line {number}: {error}") from error
        logs[-1].append((moment, zone, float(match["value"]), match["dbms"], match["unit"]))
    return [_report(log) for log in logs if log]


def _report(log: Sequence[tuple[datetime, str, float, str, str]]) -> Report:
    if len({(zone, dbms, unit) for _, zone, _, dbms, unit in log}) != 1:
        raise NotUnderstood("the counter's lines are of several systems, units or time zones")
    _, zone, _, dbms, unit = log[0]
    series, warnings = counted([(moment, value) for moment, _, value, _, _ in log], unit)
    return Report(
        tool=TOOL, status=Status.COMPLETE, series=(series,), warnings=tuple(warnings),
        subject=Subject(
            workload="tprocc" if unit == "tpm" else "tproch",
            workload_name="transaction counter (HammerDB)", dbms=dbms_of(dbms),
        ),
        started_at=iso(log[0][0], zone),
    )  # fmt: skip


def counted(samples: Sequence[tuple[datetime, float]], unit: str) -> tuple[Series, list[str]]:
    """The series of samples stamped to the second, each of the interval before it.

    The counter sleeps between its readings, so it drifts by some parts in a hundred: samples keep their place in the
    order, only a missing one is a gap. Raises NotUnderstood when times do not rise or follow no interval.
    """
    name, unit_name = {"tpm": ("tpm", "TPM"), "qph": ("qph", "QpH")}[unit]
    interval, values, drift = spaced([moment for moment, _ in samples], [value for _, value in samples])
    warnings = ["the transaction counter includes what other clients of the DBMS do, and the first reading is a start"]
    if drift > 0.01:
        warnings.append(f"the counter was read every {interval * (1 + drift):.2f} s, which counts as {interval:g} s")
    return Series(name, unit_name, interval, values, t0_s=0.0), warnings


# What the counter's refresh rate can be set to; its stamps are whole seconds.
_REFRESH_S = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0)


def _nominal(step_s: float) -> float:
    return next((refresh for refresh in reversed(_REFRESH_S) if 0 <= step_s - refresh <= 1 and refresh >= 5), step_s)


def spaced(times: Sequence[datetime], values: Sequence[float]) -> tuple[float, tuple[float | None, ...], float]:
    """(interval_s, values with None for missing samples, drift as a part of the interval)."""
    if len(times) < 2:
        raise NotUnderstood("a single sample has no interval")
    steps = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(times)]
    if min(steps) <= 0:
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    interval = _nominal(sorted(steps)[len(steps) // 2])
    found: list[float | None] = [values[0]]
    for moment, step, value in zip(times[1:], steps, values[1:], strict=True):
        count = round(step / interval)
        if count < 1 or count > 100_000 or abs(step - count * interval) > max(1.1 * count**0.5, 0.25 * interval):
            raise NotUnderstood(f"the sample at {moment:%H:%M:%S} follows no interval of {interval:g} s")
        found += [None] * (count - 1)
        found.append(value)
    total = (times[-1] - times[0]).total_seconds()
    return interval, tuple(found), total / ((len(found) - 1) * interval) - 1
