"""Time profiles: xtprof's report of all virtual users (v4 on), etprof's windows of one (v3 on)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchagent.importers.hammerdb.times import iso, spaced, time_of
from benchagent.importers.report import Metric, Report, Series, Subject, all_measured, dbms_called, rising
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile, number
from benchagent.importers.tables import Figures, Table, Told, parts_of, reports_of

# HammerDB's words -> the catalogue's.
PROCEDURES = {
    "NEWORD": "new_order", "PAYMENT": "payment", "DELIVERY": "delivery", "SLEV": "stock_level", "OSTAT": "order_status",
}  # fmt: skip
_TABLE = Table(
    "hammerdb",
    (
        "head", "[{dbms:name} ]Hammerdb Time Profile Report @ {stamp:rest}",
        r"(?:[\w ]* )?Hammerdb Time Profile Report @ ",
    ),
    ("section", ">>>>> VIRTUAL USER {vuser:int} : {MEDIAN ELAPSED|ELAPSED} TIME : {:int}ms"),
    ("section", ">>>>> SUMMARY OF {users:int} ACTIVE VIRTUAL USERS : {MEDIAN ELAPSED|ELAPSED} TIME : {:int}ms"),
    ("procedure", ">>>>> PROC: {procedure:word}"),
    ("calls", "CALLS: {CALLS:int} MIN: {MIN:num}ms AVG: {AVG:num}ms MAX: {MAX:num}ms TOTAL: {TOTAL:num}ms"),
    (
        "ranks", "P99: {P99:num}ms P95: {P95:num}ms[ P75: {P75:num}ms] P50: {P50:num}ms[ P25: {P25:num}ms] "
        "SD: {:num}[ms] RATIO: {RATIO:num}%",
    ),
)  # fmt: skip
RANKS = ("MIN", "P25", "P50", "P75", "P95", "P99", "MAX")
_WINDOW = re.compile(r"Vuser (?P<vuser>\d+):\|PERCENTILES (?P<from>[\d-]+ [\d:]+) to (?P<to>[\d-]{10} [\d:]{8})$")
_WINDOW_ROW = re.compile(
    r"Vuser (?P<vuser>\d+):\|(?P<name>\w+)\|MIN-(?P<min>\d+)"
    r"\|P50%-(?P<p50>[\d.]+)\|P95%-(?P<p95>[\d.]+)\|P99%-(?P<p99>[\d.]+)"
    r"\|MAX-(?P<max>\d+)\|SAMPLES-(?P<samples>\d+)$"
)
SEEN_BY_USERS = "latencies as HammerDB's virtual users saw the procedures, rampup included"
SUBJECT = Subject("tprocc", "time profile (HammerDB)")


@dataclass
class Profile(Told):
    """One report of xtprof: figures of every virtual user, and at last of all together (0)."""

    dbms: str = ""
    started_at: str = ""
    users: int | None = None
    sections: dict[int, dict[str, Figures]] = field(default_factory=dict)
    closed: bool = False
    # What the next lines tell of: the procedures of a section, the figures of one of them.
    procedures: dict[str, Figures] | None = None
    figures: Figures | None = None


def profile_reports(file: SourceFile) -> list[Report]:
    text = file.text
    reports: list[Report] = []
    if ">>>>> SUMMARY OF" in text or ">>>>> VIRTUAL USER" in text:
        profiles = parts_of(Lines(file, with_cut=True), Profile(), _of_line)
        reports += reports_of([each for each in profiles if each.sections or each.refusal], _report, "hammerdb")
    return reports + ([_windows_report(file)] if "|PERCENTILES " in text else [])


def _of_line(profile: Profile, line: Line) -> Profile:
    """The profile that the line is of: a new one where it begins one."""
    text = " ".join(line.text.split())
    match = _TABLE.match(line._replace(text=text))
    if text.startswith("+-+-+"):
        profile.closed = profile.closed or bool(profile.sections.get(0))
        profile.procedures = profile.figures = None
    elif match is None or match.cut:
        return profile
    elif match.key == "head":
        profile = Profile() if profile.sections or profile.refusal else profile
        profile.dbms, profile.procedures = match.values.get("dbms", ""), None
        profile.started_at = iso(*time_of(match.values["stamp"]))
    elif match.key == "section":
        vuser = match.values.get("vuser", 0)
        if {0, vuser} & profile.sections.keys():
            raise NotUnderstood(f"out of order: {text[:60]!r}")
        profile.procedures, profile.users = profile.sections.setdefault(vuser, {}), match.values.get("users")
    elif match.key == "procedure":
        name = match.values["procedure"]
        if profile.procedures is None or name in profile.procedures:
            raise NotUnderstood(f"procedure {name} out of order")
        profile.figures = profile.procedures.setdefault(name, Figures(line.number))
    elif profile.figures is not None:
        profile.figures.add(line, match)
    return profile


def _report(profile: Profile) -> Report:
    subject = replace(SUBJECT, dbms=dbms_called(profile.dbms))
    if not profile.closed:
        return Report("hammerdb", reason="the time profile ends before its summary", subject=subject)
    summary = {name: figures.values for name, figures in profile.sections.pop(0).items()}
    if len(profile.sections) == profile.users:
        for name, figures in summary.items():
            calls = [each[name].values.get("CALLS") for each in profile.sections.values() if name in each]
            if None not in calls and sum(filter(None, calls)) != figures.get("CALLS"):
                raise NotUnderstood(
                    f"{name}: the calls of the virtual users do not add up to {figures.get('CALLS', 0):g}"
                )
    return Report(
        "hammerdb", metrics=checked_metrics(summary), warnings=(SEEN_BY_USERS,),
        parameters={} if profile.users is None else {"terminals": profile.users},
        subject=subject, started_at=profile.started_at,
    )  # fmt: skip


def checked_metrics(summary: Mapping[str, Mapping[str, float]]) -> tuple[Metric, ...]:
    """The metrics of all procedures by their figures in xtprof's words, times in ms.

    TOTAL is AVG times CALLS, ranks rise, RATIO and mix fit. Raises NotUnderstood.
    """
    for name, figures in summary.items():
        if missing := {"CALLS", "MIN", "AVG", "MAX", "TOTAL", "P50", "P95", "P99"} - figures.keys():
            raise NotUnderstood(f"{name} lacks {', '.join(sorted(missing))}")
        calls, average = figures["CALLS"], figures["AVG"]
        if not math.isclose(average * calls, figures["TOTAL"], rel_tol=0.005, abs_tol=0.0006 * calls):
            raise NotUnderstood(f"{name}: AVG times CALLS is not TOTAL")
        rising(figures, *RANKS, of=name)
        rising(figures, "MIN", "AVG", "MAX", of=name)
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
    windows: list[tuple[str, dict[str, dict[str, float]]]] = []
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
        times = [time_of(stamp)[0] for stamp, _ in windows]
        for name, rank in itertools.product(PROCEDURES, ("p50", "p95", "p99")):
            values = [window.get(name, {}).get(rank) for _, window in windows]
            interval, spread, _ = spaced(times, values)
            if any(value is not None for value in values):
                series.append(Series.called(f"{PROCEDURES[name]}_latency_{rank}_ms", interval, spread))
    return Report("hammerdb", series=tuple(series), warnings=(warning,), subject=SUBJECT)
