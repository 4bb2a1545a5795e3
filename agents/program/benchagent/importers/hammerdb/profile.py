"""Time profiles: xtprof's report of all virtual users (v4 on), etprof's windows of one (v3 on)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchagent.importers.hammerdb.common import PROCEDURES, iso, spaced, sqlite_time, tcl_time
from benchagent.importers.report import Metric, Report, Series, Subject, all_measured, dbms_called, rising
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, number

_HEAD = re.compile(r"^(?P<dbms>[\w ]*?) ?Hammerdb Time Profile Report @ (?P<stamp>.*)$")
_SECTION = re.compile(
    r"^>>>>> (?:VIRTUAL USER (?P<vuser>\d+)|SUMMARY OF (?P<users>\d+) ACTIVE VIRTUAL USERS)"
    r" : (?:MEDIAN )?ELAPSED TIME : \d+ms$"
)
_PROC = re.compile(r"^>>>>> PROC: (?P<name>\w+)$")
_END = re.compile(r"^\+-\+-\+")
_FIGURE = re.compile(
    r"(?P<name>CALLS|MIN|AVG|MAX|TOTAL|P99|P95|P75|P50|P25|SD|RATIO): (?P<value>\d+(?:\.\d+)?)(?P<unit>ms|%|)"
)
_LINE = re.compile(r"^(?:[A-Z0-9]+: [\d.]+(?:ms|%|)\s*)+$")
_UNITS = {"CALLS": ("",), "SD": ("", "ms"), "RATIO": ("%",)}
_NEEDED = {"CALLS", "MIN", "AVG", "MAX", "TOTAL", "P50", "P95", "P99"}
RANKS = ("MIN", "P25", "P50", "P75", "P95", "P99", "MAX")
_WINDOW = re.compile(r"Vuser (?P<vuser>\d+):\|PERCENTILES (?P<from>[\d-]+ [\d:]+) to (?P<to>[\d-]{10} [\d:]{8})$")
_WINDOW_ROW = re.compile(
    r"Vuser (?P<vuser>\d+):\|(?P<name>\w+)\|MIN-(?P<min>\d+)"
    r"\|P50%-(?P<p50>[\d.]+)\|P95%-(?P<p95>[\d.]+)\|P99%-(?P<p99>[\d.]+)"
    r"\|MAX-(?P<max>\d+)\|SAMPLES-(?P<samples>\d+)$"
)
SEEN_BY_USERS = "latencies as HammerDB's virtual users saw the procedures, rampup included"
SUBJECT = Subject("tprocc", "time profile (HammerDB)")

# By procedure, by xtprof's words; times in ms.
Figures = dict[str, dict[str, float]]


@dataclass
class Profile:
    """One report of xtprof: figures of every virtual user, and at last of all together (0)."""

    dbms: str = ""
    started_at: str = ""
    users: int | None = None
    sections: dict[int, Figures] = field(default_factory=dict)
    closed: bool = False


def profile_reports(file: SourceFile) -> list[Report]:
    text = file.text
    reports: list[Report] = []
    if ">>>>> SUMMARY OF" in text or ">>>>> VIRTUAL USER" in text:
        reports += [_report(profile) for profile in _profiles(file) if profile.sections]
    return reports + ([_windows_report(file)] if "|PERCENTILES " in text else [])


def _profiles(file: SourceFile) -> list[Profile]:
    profiles = [Profile()]
    current: Figures | None = None
    figures: dict[str, float] | None = None
    with Lines(file, with_cut=True) as lines:
        for line in (line.text.strip() for line in lines):
            profile = profiles[-1]
            if match := _HEAD.match(line):
                profiles += [Profile()] if profile.sections else []
                profiles[-1].dbms, profiles[-1].started_at = match["dbms"], iso(*tcl_time(match["stamp"]))
                current = None
            elif match := _SECTION.match(line):
                if 0 in profile.sections or int(match["vuser"] or 0) in profile.sections:
                    raise NotUnderstood(f"out of order: {line[:60]!r}")
                current = profile.sections[int(match["vuser"] or 0)] = {}
                profile.users = int(match["users"]) if match["users"] else None
            elif match := _PROC.match(line):
                if current is None or match["name"] in current:
                    raise NotUnderstood(f"procedure {match['name']} out of order")
                figures = current.setdefault(match["name"], {})
            elif _END.match(line):
                profile.closed = profile.closed or bool(profile.sections.get(0))
                current, figures = None, None
            elif figures is not None and len(line) < 500 and _LINE.match(line):
                _take(figures, line)
    return profiles


def _take(figures: dict[str, float], line: str) -> None:
    matches = list(_FIGURE.finditer(line))
    if " ".join(match.group() for match in matches) != " ".join(line.split()):
        raise NotUnderstood(f"an unknown figure in {line[:60]!r}")
    for match in matches:
        if match["unit"] not in _UNITS.get(match["name"], ("ms",)):
            raise NotUnderstood(f"{match['name']} in an unknown unit")
        if figures.setdefault(match["name"], number(match["value"])) != number(match["value"]):
            raise NotUnderstood(f"{match['name']} stands twice")


def _report(profile: Profile) -> Report:
    subject = replace(SUBJECT, dbms=dbms_called(profile.dbms))
    if not profile.closed:
        return Report("hammerdb", reason="the time profile ends before its summary", subject=subject)
    summary = profile.sections.pop(0)
    if len(profile.sections) == profile.users:
        for name, figures in summary.items():
            calls = [each[name].get("CALLS") for each in profile.sections.values() if name in each]
            if None not in calls and sum(filter(None, calls)) != figures.get("CALLS"):
                raise NotUnderstood(
                    f"{name}: the calls of the virtual users do not add up to {figures.get('CALLS', 0):g}"
                )
    return Report(
        "hammerdb", metrics=checked_metrics(summary), warnings=(SEEN_BY_USERS,),
        parameters={} if profile.users is None else {"terminals": profile.users},
        subject=subject, started_at=profile.started_at,
    )  # fmt: skip


def checked_metrics(summary: Figures) -> tuple[Metric, ...]:
    """Of all procedures: TOTAL is AVG times CALLS, the ranks rise, RATIO and the mix fit. Raises NotUnderstood."""
    for name, figures in summary.items():
        if missing := _NEEDED - set(figures):
            raise NotUnderstood(f"{name} lacks {', '.join(sorted(missing))}")
        calls, average = figures["CALLS"], figures["AVG"]
        if not math.isclose(average * calls, figures["TOTAL"], rel_tol=0.005, abs_tol=0.0006 * calls):
            raise NotUnderstood(f"{name}: AVG times CALLS is not TOTAL")
        rising(figures, *RANKS, of=name)
        if not figures["MIN"] <= average <= figures["MAX"]:
            raise NotUnderstood(f"{name}: the ranks do not rise")
    # RATIO is TOTAL's share of the elapsed time: the same for all procedures.
    shares = [
        (figures["TOTAL"] / figures["RATIO"], 0.0006 / figures["RATIO"], name)
        for name, figures in summary.items()
        if figures.get("RATIO")
    ]
    for (left, slack, _), (right, more, name) in itertools.pairwise(shares):
        if not math.isclose(left, right, rel_tol=0.002 + slack + more):
            raise NotUnderstood(f"{name}: RATIO does not fit TOTAL")
    # New orders and payments are some 44 of 100 each, the others 4 each.
    often, seldom = (
        [summary[name]["CALLS"] for name in names if name in summary]
        for names in (("NEWORD", "PAYMENT"), ("DELIVERY", "SLEV", "OSTAT"))
    )
    if often and seldom and min(often) < max(seldom):
        raise NotUnderstood("the procedures were not called in TPROC-C's mix")
    return tuple(itertools.chain.from_iterable(itertools.starmap(procedure_metrics, summary.items())))


def procedure_metrics(name: str, figures: Mapping[str, float]) -> tuple[Metric, ...]:
    prefix = PROCEDURES.get(name.upper(), name.lower())
    values: dict[str, float | None] = {f"{prefix}_transactions": figures["CALLS"]}
    return all_measured(
        values | {f"{prefix}_latency_{word.lower()}_ms": figures.get(word) for word in ("MIN", "AVG", *RANKS[1:])}
    )


def _windows_report(file: SourceFile) -> Report:
    """etprof measures one virtual user in windows of ten seconds; times in microseconds."""
    windows: list[tuple[str, Figures]] = []
    users: set[str] = set()
    with Lines(file, with_cut=True) as lines:
        for line in (line.text.strip() for line in lines):
            if match := _WINDOW.search(line):
                users.add(match["vuser"])
                if not windows or windows[-1][0] != match["to"]:
                    windows.append((match["to"], {}))
            elif match := _WINDOW_ROW.search(line):
                users.add(match["vuser"])
                if not windows:
                    raise NotUnderstood("a row of a window before the window")
                row = {rank: number(match[rank]) / 1000 for rank in ("min", "p50", "p95", "p99", "max")}
                rising(row, *row, of=match["name"])
                if windows[-1][1].setdefault(match["name"].upper(), row) != row:
                    raise NotUnderstood(f"{match['name']} stands twice in one window")
    series: list[Series] = []
    warning = "percentiles of several virtual users cannot be put together: not read as a series"
    if len(users) == 1 and len(windows) > 1:
        warning = "percentiles are of one virtual user, in windows of ten seconds"
        interval, numbers, _ = spaced([sqlite_time(stamp) for stamp, _ in windows], [*map(float, range(len(windows)))])
        grid: list[Figures] = [{} if at is None else windows[int(at)][1] for at in numbers]
        for name, prefix in PROCEDURES.items():
            for rank in ("p50", "p95", "p99"):
                values = tuple(figures.get(name, {}).get(rank) for figures in grid)
                if any(value is not None for value in values):
                    series.append(Series(f"{prefix}_latency_{rank}_ms", "ms", interval, values))
    return Report("hammerdb", series=tuple(series), warnings=(warning,), subject=SUBJECT)
