"""From the rows of an engine's own counters to the `EngineReport` of the result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms import probes
from benchagent.dbms.counters import EngineCounters, differences
from benchagent.job import checks
from benchagent.protocol import EngineReport
from benchagent.workloads.base import SessionResult

Sampled = Mapping[str, Sequence[list[list[Any]]]]


def of_session(source: EngineCounters, session: SessionResult, sampled: Sampled) -> EngineReport:
    """What a session with a run has shown; empty for one without."""
    report: EngineReport = {}
    begin, end = (probes.rows(f"{edge}{probes.COUNTERS}", session.rows) for edge in (probes.BEGIN, probes.END))
    if source.counter_queries() and begin and end:
        report["counters"] = differences(source.counters(begin), source.counters(end))
        waited = _mean_waiting(source.waited_s(begin), source.waited_s(end), session.summary)
        if waited is not None:
            report["waits"] = waited
    ages = probes.rows(probes.MAINTENANCE, session.rows)
    if ages:
        report["maintenance"] = [
            {"what": age.what, "age_s": age.age_s, "detail": age.detail} for age in source.maintenance(ages)
        ]
    schema = probes.rows(probes.SCHEMA, session.rows)
    if schema:
        report["tables"] = [table.as_dict() for table in source.tables(schema)]
        report["indexes"] = [index.as_dict() for index in source.indexes(schema)]
    if sampled and session.summary is not None:
        report["waits"] = _mean_waits(source, sampled)
    if session.summary is not None:
        report["none"] = dict(source.none)
        report["transaction_types"] = dict(session.summary.get("per_type", {}))
    return report


# A commit that wrote leaves at least its record in the log.
LEAST_LOG_BYTES = 30
# With these each write of the log is a sync of its own, which nobody counts.
SYNCED_BY_WRITING = {"wal_sync_method": "open", "innodb_flush_method": "o_dsync"}


def seen_at_commits(
    source: EngineCounters, summary: Mapping[str, Any], counters: Mapping[str, float], reading: frozenset[str],
    settings: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """For `catalog.durability.Observation`: commits that wrote something, and the flushes of the log beside them."""
    commits = checks.writing_tps(summary, reading) * summary["duration_s"]
    if (log_bytes := counters.get("log_bytes")) is not None:
        commits = min(commits, log_bytes / LEAST_LOG_BYTES)
    by_writing = any(settings.get(name, "").lower().startswith(way) for name, way in SYNCED_BY_WRITING.items())
    is_counted = not by_writing and "log_flushes" not in source.none
    return {
        "commits": commits,
        "flushes": counters.get("log_flushes") if is_counted else None,
        "counted_by": source.sources.get("log_flushes", "the engine").replace("`", ""),
    }


def commits_per_flush(
    source: EngineCounters, summary: Mapping[str, Any], counters: Mapping[str, float], reading: frozenset[str]
) -> tuple[float, str] | None:
    """Committed transactions of the measured window by the flushes of the log in it, and who counted those.

    None where nothing was flushed or committed. `reading`: names of the transactions that change nothing.
    """
    flushes = counters.get("log_flushes")
    commits = checks.writing_tps(summary, reading) * summary["duration_s"]
    if not flushes or not commits:
        return None
    counted = source.sources.get("log_flushes", "the engine")
    return commits / flushes, f"{round(commits):,} commits by {round(flushes):,} flushes of the log ({counted})"


def _mean_waiting(
    begin: Mapping[str, float], end: Mapping[str, float], summary: Mapping[str, Any] | None
) -> dict[str, float] | None:
    """Mean number of sessions in each event, from the seconds waited; None where the engine does not add them up.

    An event that nobody has waited for before the window is not listed at its begin.
    """
    if not end or not summary or not summary["duration_s"]:
        return None
    waited = {event: (seconds - begin.get(event, 0)) / summary["duration_s"] for event, seconds in end.items()}
    return {event: mean for event, mean in sorted(waited.items(), key=lambda pair: -pair[1]) if mean > 0}


def _mean_waits(source: EngineCounters, sampled: Sampled) -> dict[str, float]:
    """Mean number of sessions in each event over the seconds that were sampled."""
    seconds = max(len(rows) for rows in sampled.values())
    sums: dict[str, float] = defaultdict(float)
    for second in range(seconds):
        rows = {
            name.removeprefix(probes.WAITS): answers[second]
            for name, answers in sampled.items()
            if second < len(answers)
        }
        for event, sessions in source.waits(rows).items():
            sums[event] += sessions
    return {event: total / seconds for event, total in sorted(sums.items(), key=lambda pair: -pair[1])}
