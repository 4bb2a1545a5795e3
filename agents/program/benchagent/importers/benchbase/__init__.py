"""BenchBase and its ancestor OLTP-Bench: every file that a run leaves behind, and what it prints.

Each kind of file is read by itself; `combine` makes one report of the files of one run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from benchagent.importers.benchbase import console, documents, tables
from benchagent.importers.report import ReadFile, Report, Scalar, Status, Subject, as_part_of
from benchagent.importers.source import NotUnderstood, SourceFile, once

TOOL = "benchbase"
MARKS = console.CLAIM
WORDS = console.WORDS


@once
def _kind(file: SourceFile) -> str:
    """Which of a run's files it is, by the words of `_ORDER`; empty for a file of something else."""
    return tables.kind_of(file) or documents.kind_of(file.text) or ("console" if console.claims(file) else "")


def claims(file: SourceFile) -> bool:
    return bool(_kind(file))


def streams(head: SourceFile) -> bool:
    return tables.is_raw(head)


def read(file: SourceFile) -> Sequence[Report]:
    kind = _kind(file)
    if kind in tables.KINDS:
        return [tables.read(file)]
    return [documents.read(file.text, kind)] if kind in documents.READERS else console.read(file)


_STEM = re.compile(
    r"(?P<stem>.*?)\.(?P<kind>summary|params|metrics|config|results(?:\.\w+)?|samples|raw|histograms?|db\.cnf|ben\.cnf|res|csv)"
    r"(?:\.\w+)*",
    re.IGNORECASE,
)
# Which file tells the run; the others are added to it.
_ORDER = ("summary", "console", "samples", "results", "type", "raw", "histograms", "config", "settings", "metrics")


@dataclass(frozen=True)
class _Part:
    file: SourceFile
    kind: str
    # The reports of its file, and which of them it is: a log may tell the load first.
    reports: list[Report]
    at: int

    @property
    def report(self) -> Report:
        return self.reports[self.at]


def combine(files: list[ReadFile]) -> None:
    # By folder and stem.
    groups: dict[tuple[str, str], list[_Part]] = {}
    for file, reports in files:
        runs = [at for at, report in enumerate(reports) if report.metric("load_s") is None]
        if len(runs) == 1 and reports[runs[0]].status is not Status.NOT_UNDERSTOOD:
            path = PurePosixPath(file.name)
            stem = _STEM.fullmatch(path.name)
            key = str(path.parent), stem["stem"] if stem else path.name.split(".")[0]
            groups.setdefault(key, []).append(_Part(file, _kind(file), reports, runs[0]))
    # What carries no stem of its own (the log, the histograms) goes to the run of its folder whose counts it has.
    for key, (loose, *others) in list(groups.items()):
        if others or loose.kind not in ("console", "histograms"):
            continue
        fitting = [
            other
            for other, parts in groups.items()
            if other[0] == key[0] and other != key and loose.kind not in {part.kind for part in parts}
            if any(part.kind == "summary" and _same_run(part.report, loose.report) for part in parts)
        ]
        if len(fitting) == 1:
            groups[fitting[0]] += groups.pop(key)
    for group in groups.values():
        _join(group)


def _same_run(whole: Report, added: Report) -> bool:
    """Whether the counts show that both are of one run."""
    added_count, own_count = added.metric("transactions"), whole.metric("transactions")
    if added_count is not None and own_count is not None:
        return added_count == own_count
    completed, good = added.metric("completed_transactions"), whole.metric("goodput_per_s")
    elapsed_s = whole.metric("elapsed_s")
    if completed is None or good is None or not elapsed_s:
        return False
    return math.isclose(completed / elapsed_s, good, rel_tol=1e-6, abs_tol=1e-6)


def _join(group: Sequence[_Part]) -> None:
    holder, *others = sorted(group, key=lambda part: _ORDER.index(part.kind))
    kinds = [part.kind for part in group if part.kind != "type"]
    if len({*kinds}) < len(kinds):
        return
    whole = holder.report
    for part in others:
        try:
            whole = _add(whole, part)
        except NotUnderstood as error:
            whole = replace(whole, warnings=(*whole.warnings, f"{part.kind} left out: {error}"))
        part.reports[part.at] = as_part_of(part.report, holder.file)
    holder.reports[holder.at] = whole


def _add(whole: Report, part: _Part) -> Report:
    added = part.report
    match part.kind:
        case "samples" | "results" | "raw":
            requests, count = whole.metric("transactions"), _requests(part)
            if requests is not None and not math.isclose(count, requests, rel_tol=0, abs_tol=0.5):
                raise NotUnderstood(f"it tells {count:g} requests, the run {requests:g}")
            if not any(series.name == "tps" for series in whole.series):
                return replace(whole, series=whole.series + added.series)
        case "type":
            names = {series.name for series in whole.series}
            more = tuple(series for series in added.series if series.name not in names)
            return replace(whole, series=whole.series + more)
        case "config" | "settings":
            return replace(whole, parameters=_merged(whole, added), subject=_subject(whole, added))
        case "histograms" | "console":
            return _add_counts(whole, added)
    return whole


def _requests(part: _Part) -> float:
    if part.kind == "raw":
        return tables.read_raw(part.file).requests
    rates = next((series for series in part.report.series if series.name == "tps"), None)
    if rates is None:
        raise NotUnderstood("too few windows to tell how long each is")
    return round(sum(value for value in rates.values if value is not None) * rates.interval_s)


def _merged(whole: Report, added: Report) -> dict[str, Scalar]:
    parameters = dict(whole.parameters)
    set_s, ran_s = added.parameters.get("duration_s"), parameters.get("duration_s")
    if isinstance(set_s, int | float) and isinstance(ran_s, int | float) and math.isclose(set_s, ran_s, rel_tol=0.02):
        parameters["duration_s"] = set_s
    for name, value in added.parameters.items():
        if parameters.get(name, value) != value:
            raise NotUnderstood(f"its {name} is {value}, the run's {parameters[name]}")
    return added.parameters | parameters


def _subject(whole: Report, added: Report) -> Subject:
    first, second = whole.subject, added.subject
    if first.dbms and second.dbms and first.dbms != second.dbms:
        raise NotUnderstood(f"it is of {second.dbms}, the run of {first.dbms}")
    # "16" is "16.4" too.
    shorter, longer = sorted((first.dbms_version, second.dbms_version), key=len)
    if shorter and not f"{longer}.".startswith(f"{shorter}."):
        raise NotUnderstood(f"it is of version {second.dbms_version}, the run of {first.dbms_version}")
    return replace(
        first, dbms=first.dbms or second.dbms, dbms_version=first.dbms_version or second.dbms_version,
        settings=first.settings or second.settings,
    )  # fmt: skip


def _add_counts(whole: Report, added: Report) -> Report:
    """Counts of the log or of the histograms, where they are of the same run."""
    if not _same_run(whole, added):
        raise NotUnderstood("its counts are not the run's, or nothing shows that they are")
    names = {metric.name for metric in whole.metrics}
    more = tuple(metric for metric in added.metrics if metric.name not in names and metric.phase == "run")
    return replace(
        whole, metrics=(*whole.metrics, *more), parameters={**added.parameters, **whole.parameters},
        status=whole.status if whole.status is not Status.COMPLETE else added.status,
        reason=whole.reason or added.reason, command_lines=(*whole.command_lines, *added.command_lines),
    )  # fmt: skip
