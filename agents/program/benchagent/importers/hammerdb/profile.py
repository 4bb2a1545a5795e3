"""Time profiles: xtprof's report of all virtual users (v4 on), etprof's windows of one (v3 on)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Series,
    SourceFile,
    Status,
    Subject,
    agree,
    number,
)
from benchagent.importers.hammerdb.counter import spaced
from benchagent.importers.hammerdb.dates import iso, sqlite_time, tcl_time
from benchagent.importers.hammerdb.names import PROCEDURES, dbms_of

TOOL = "hammerdb"

_HEAD = re.compile(r"^(?P<dbms>[\w ]*?) ?Hammerdb Time Profile Report @ (?P<stamp>.*)$")
_USER = re.compile(r"^>>>>> VIRTUAL USER (?P<vuser>\d+) : ELAPSED TIME : \d+ms$")
_SUMMARY = re.compile(r"^>>>>> SUMMARY OF (?P<users>\d+) ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : \d+ms$")
_PROC = re.compile(r"^>>>>> PROC: (?P<name>\w+)$")
_END = re.compile(r"^\+-\+-\+")
_FIGURE = re.compile(
    r"(?P<name>CALLS|MIN|AVG|MAX|TOTAL|P99|P95|P75|P50|P25|SD|RATIO): (?P<value>\d+(?:\.\d+)?)(?P<unit>ms|%|)"
)
_LINE = re.compile(r"^(?:[A-Z0-9]+: [\d.]+(?:ms|%|)\s*)+$")
_UNITS = {"CALLS": ("",), "SD": ("", "ms"), "RATIO": ("%",)}
_PERCENTILES = ("P25", "P50", "P75", "P95", "P99")
_WINDOW = re.compile(r"Vuser (?P<vuser>\d+):\|PERCENTILES (?P<from>[\d-]+ [\d:]+) to (?P<to>[\d-]{10} [\d:]{8})$")
_WINDOW_ROW = re.compile(
    r"Vuser (?P<vuser>\d+):\|(?P<name>\w+)\|MIN-(?P<min>\d+)"
    r"\|P50%-(?P<p50>[\d.]+)\|P95%-(?P<p95>[\d.]+)\|P99%-(?P<p99>[\d.]+)"
    r"\|MAX-(?P<max>\d+)\|SAMPLES-(?P<samples>\d+)$"
)


@dataclass
class Profile:
    """One report of xtprof: figures by procedure, of every virtual user and of all together."""

    dbms: str = ""
    started_at: str = ""
    users: int | None = None
    each: dict[int, dict[str, dict[str, float]]] = field(default_factory=dict)
    summary: dict[str, dict[str, float]] = field(default_factory=dict)
    closed: bool = False


def profile_reports(file: SourceFile) -> list[Report]:
    text = file.text
    found: list[Report] = []
    if ">>>>> SUMMARY OF" in text or ">>>>> VIRTUAL USER" in text:
        found += [_report(profile) for profile in _profiles(file)]
    if "|PERCENTILES " in text:
        found += _window_reports(file)
    return found


def _profiles(file: SourceFile) -> list[Profile]:
    profiles: list[Profile] = [Profile()]
    current: dict[str, dict[str, float]] | None = None
    figures: dict[str, float] | None = None
    for line_number, raw in enumerate(file.lines, start=1):
        line = raw.strip()
        profile = profiles[-1]
        if match := _HEAD.match(line):
            if profile.summary or profile.each:
                profile = Profile()
                profiles.append(profile)
            profile.dbms = match["dbms"]
            moment = tcl_time(match["stamp"])
            profile.started_at, current = iso(*moment), None
        elif match := _USER.match(line):
            if profile.summary or int(match["vuser"]) in profile.each:
                raise NotUnderstood(f"line {line_number}: virtual user {match['vuser']} out of order")
            current = profile.each.setdefault(int(match["vuser"]), {})
        elif match := _SUMMARY.match(line):
            if profile.summary:
                raise NotUnderstood(f"line {line_number}: a second summary")
            profile.users, current = int(match["users"]), profile.summary
        elif match := _PROC.match(line):
            if current is None or match["name"] in current:
                raise NotUnderstood(f"line {line_number}: procedure {match['name']} out of order")
            figures = current.setdefault(match["name"], {})
        elif _END.match(line):
            profile.closed = profile.closed or bool(profile.summary)
            current, figures = None, None
        elif figures is not None and len(line) < 500 and _LINE.match(line):
            _take(figures, line, line_number)
    return [profile for profile in profiles if profile.summary or profile.each]


def _take(figures: dict[str, float], line: str, line_number: int) -> None:
    found = list(_FIGURE.finditer(line))
    if " ".join(match.group() for match in found) != " ".join(line.split()).strip():
        raise NotUnderstood(f"line {line_number}: an unknown figure in {line[:60]!r}")
    for match in found:
        if match["unit"] not in _UNITS.get(match["name"], ("ms",)):
            raise NotUnderstood(f"line {line_number}: {match['name']} in an unknown unit")
        if figures.setdefault(match["name"], number(match["value"])) != number(match["value"]):
            raise NotUnderstood(f"line {line_number}: {match['name']} stands twice")


def _report(profile: Profile) -> Report:
    warnings = ["latencies as HammerDB's virtual users saw the procedures, rampup included"]
    subject = Subject("tprocc", "time profile (HammerDB)", dbms=dbms_of(profile.dbms))
    if not profile.closed:
        reason = "the time profile ends before its summary"
        return Report(tool=TOOL, status=Status.ABORTED, reason=reason, subject=subject)
    _check_profile(profile)
    metrics: list[Metric] = []
    for name, figures in profile.summary.items():
        metrics += procedure_metrics(name, figures)
    parameters: dict[str, Scalar] = {"terminals": profile.users} if profile.users is not None else {}
    return Report(
        tool=TOOL, status=Status.COMPLETE, parameters=parameters, metrics=tuple(metrics), warnings=tuple(warnings),
        subject=subject, started_at=profile.started_at,
    )  # fmt: skip


def procedure_metrics(name: str, figures: dict[str, float]) -> list[Metric]:
    """Of one procedure: figures by xtprof's words, times in ms."""
    prefix = PROCEDURES.get(name.upper(), name.lower())
    metrics = [Metric(f"{prefix}_transactions", "transactions", figures["CALLS"], better="none")]
    for word, suffix in (
        ("MIN", "min"),
        ("AVG", "avg"),
        *((rank, rank.lower()) for rank in _PERCENTILES),
        ("MAX", "max"),
    ):
        if word in figures:
            metrics.append(Metric(f"{prefix}_latency_{suffix}_ms", "ms", figures[word], better="lower"))
    return metrics


def check_procedure(name: str, figures: dict[str, float]) -> None:
    """TOTAL is AVG times CALLS, and the ranks rise. Raises NotUnderstood."""
    missing = {"CALLS", "MIN", "AVG", "MAX", "TOTAL", "P50", "P95", "P99"} - set(figures)
    if missing:
        raise NotUnderstood(f"{name} lacks {', '.join(sorted(missing))}")
    if not agree(
        figures["AVG"] * figures["CALLS"], figures["TOTAL"], relative=0.005, absolute=0.0006 * figures["CALLS"]
    ):
        raise NotUnderstood(f"{name}: AVG times CALLS is not TOTAL")
    ranks = [figures[word] for word in ("MIN", *_PERCENTILES, "MAX") if word in figures]
    if ranks != sorted(ranks) or not figures["MIN"] <= figures["AVG"] <= figures["MAX"]:
        raise NotUnderstood(f"{name}: the ranks do not rise")


def _check_profile(profile: Profile) -> None:
    for name, figures in profile.summary.items():
        check_procedure(name, figures)
        calls = [each[name].get("CALLS") for each in profile.each.values() if name in each]
        if (
            len(profile.each) == profile.users
            and None not in calls
            and sum(map(float, filter(None, calls))) != figures["CALLS"]
        ):
            raise NotUnderstood(f"{name}: the calls of the virtual users do not add up to {figures['CALLS']:g}")
    check_ratios(profile.summary)
    check_mix(profile.summary)


def check_mix(summary: dict[str, dict[str, float]]) -> None:
    """New orders and payments are some 44 of 100 each, the others 4 each. Raises NotUnderstood."""
    counted = {name: figures["CALLS"] for name, figures in summary.items()}
    often = [counted[name] for name in ("NEWORD", "PAYMENT") if name in counted]
    seldom = [counted[name] for name in ("DELIVERY", "SLEV", "OSTAT") if name in counted]
    if often and seldom and min(often) < max(seldom):
        raise NotUnderstood("the procedures were not called in TPROC-C's mix")


def check_ratios(summary: dict[str, dict[str, float]]) -> None:
    """RATIO is TOTAL's share of the elapsed time: the same for all procedures. Raises NotUnderstood."""
    shares = [
        (figures["TOTAL"] / figures["RATIO"], 0.0006 / figures["RATIO"], name)
        for name, figures in summary.items()
        if figures.get("RATIO")
    ]
    for (left, slack, _), (right, more, name) in itertools.pairwise(shares):
        if not agree(left, right, relative=0.002 + slack + more):
            raise NotUnderstood(f"{name}: RATIO does not fit TOTAL")


def _window_reports(file: SourceFile) -> list[Report]:
    """etprof measures one virtual user in windows of ten seconds; times in microseconds."""
    windows: list[tuple[str, dict[str, dict[str, float]]]] = []
    users: set[str] = set()
    for line_number, raw in enumerate(file.lines, start=1):
        if match := _WINDOW.search(raw.strip()):
            users.add(match["vuser"])
            if not windows or windows[-1][0] != match["to"]:
                windows.append((match["to"], {}))
        elif match := _WINDOW_ROW.search(raw.strip()):
            users.add(match["vuser"])
            if not windows:
                raise NotUnderstood(f"line {line_number}: a row of a window before the window")
            row = {rank: number(match[rank]) / 1000 for rank in ("min", "p50", "p95", "p99", "max")}
            if [*row.values()] != sorted(row.values()):
                raise NotUnderstood(f"line {line_number}: the ranks do not rise")
            if windows[-1][1].setdefault(match["name"].upper(), row) != row:
                raise NotUnderstood(f"line {line_number}: {match['name']} stands twice in one window")
    warnings = ["percentiles are of one virtual user, in windows of ten seconds"]
    series: tuple[Series, ...] = ()
    if len(users) != 1 or len(windows) < 2:
        warnings = ["percentiles of several virtual users cannot be put together: not read as a series"]
    else:
        series = _window_series(windows)
    subject = Subject("tprocc", "time profile (HammerDB)")
    return [Report(tool=TOOL, status=Status.COMPLETE, series=series, warnings=tuple(warnings), subject=subject)]


def _window_series(windows: Sequence[tuple[str, dict[str, dict[str, float]]]]) -> tuple[Series, ...]:
    times = [sqlite_time(stamp) for stamp, _ in windows]
    interval, places, _ = spaced(times, [float(place) for place in range(len(windows))])
    found: list[Series] = []
    for name, prefix in PROCEDURES.items():
        for rank in ("p50", "p95", "p99"):
            values = tuple(
                None if place is None else windows[int(place)][1].get(name, {}).get(rank) for place in places
            )
            if any(value is not None for value in values):
                found.append(Series(f"{prefix}_latency_{rank}_ms", "ms", interval, values))
    return tuple(found)
