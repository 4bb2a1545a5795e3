"""Intermediate reports: those of 0.5 and 1.0, and the CSV and JSON of its report hooks (Percona's sysbench-tpcc)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchagent.importers.base import NotUnderstood, agree
from benchagent.importers.dressing import Line, without_comment
from benchagent.importers.sysbench.lines import why

MIB_IN_MB = 1.048576
_X = r"(\d+(?:\.\d+)?)"
STAMP = re.compile(r"\[ *(?P<time>\d+)s *\] (?P<rest>.*)")
_SQL = re.compile(
    rf"thds: {_X} tps: {_X} qps: {_X}(?: \(r/w/o: {_X}/{_X}/{_X}\))?"
    rf" lat \(ms, ?(\d+)%\): {_X} err/s:? {_X} reconn/s: {_X}"
)
_EVENTS = re.compile(rf"thds: {_X} eps: {_X} lat \(ms, ?(\d+)%\): {_X}")
_OLD_SQL = re.compile(
    rf"threads: {_X}, tps: {_X}, reads(?:/s)?: {_X}, writes(?:/s)?: {_X}, response time: {_X}ms \((\d+)%\)"
    rf"(?:, errors(?:/s)?: +{_X}, reconnects(?:/s)?: +{_X})?"
)
_OLD_EVENTS = re.compile(rf"threads: {_X}, events/s: {_X}, response time: {_X}ms \((\d+)%\)")
_FILE = re.compile(
    rf"reads: {_X} (?:MiB|MB)/s writes: {_X} (?:MiB|MB)/s fsyncs: {_X}/s "
    rf"(?:latency \(ms,(?P<rank>\d+)%\): (?P<lat>{_X})|response time: (?P<old>{_X})ms \((?P<old_rank>\d+)%\))"
)
_MEMORY = re.compile(rf"{_X} (?:MiB|MB)/sec")
_QUEUE = re.compile(r"queue length: (\d+), concurrency: (\d+)")
_RUNNING = re.compile(r"(?:thds|threads): (\d+)")
CSV = re.compile(r"(\d+),(\d+)" + r",(\d+\.\d\d)" * 8)


@dataclass(frozen=True)
class Sample:
    """One intermediate report. `rank`: of the latency's percentile, None where the line does not say it."""

    line: int
    time_s: int
    values: dict[str, float] = field(default_factory=dict)
    rank: int | None = None
    # How many threads the line says were running; None where it does not.
    threads: int | None = None


def stamped(line: Line) -> Sample | None:
    """A line `[ 10s ] …`; None for one that is none. Raises NotUnderstood for one with an unknown wording."""
    stamp = STAMP.fullmatch(without_comment(line.text) if line.text.count("  ") or "#" in line.text else line.text)
    if stamp is None or stamp["rest"] == "Checkpoint report:":
        return None
    time_s, rest = int(stamp["time"]), stamp["rest"]
    for reader in (_sql, _events, _old, _file, _other):
        if sample := reader(line.number, time_s, rest):
            running = _RUNNING.match(rest)
            return replace(sample, threads=int(running[1]) if running else None)
    raise NotUnderstood(f"line {line.number}: {why(rest)}: {line.text[:80]!r}")


def csv(line: Line) -> Sample | None:
    match = CSV.fullmatch(line.text)
    if match is None:
        return None
    figures = [float(value) for value in match.groups()]
    return replace(_checked(line.number, int(match[1]), None, figures[2:]), threads=int(match[2]))


def from_json(number: int, text: str) -> Sample:
    try:
        one = json.loads(text)
        qps = one["qps"]
        figures = (one["tps"], qps["total"], qps["reads"], qps["writes"], qps["other"], one["latency"], one["errors"],
                   one["reconnects"])  # fmt: skip
        sample = _checked(number, int(one["time"]), None, [float(figure) for figure in figures])
        return replace(sample, threads=int(one["threads"]))
    except (ValueError, KeyError, TypeError) as error:
        raise NotUnderstood(f"line {number}: not a report of sysbench's JSON hook: {error}") from error


def _checked(number: int, time_s: int, rank: int | None, figures: Sequence[float]) -> Sample:
    """`figures`: tps, qps, reads, writes and others a second, latency, errors and reconnects a second."""
    tps, qps, reads, writes, other, latency, errors, reconnects = figures
    if not agree(reads + writes + other, qps, relative=0, absolute=0.031):
        raise NotUnderstood(f"line {number}: reads, writes and others are not the {qps} queries a second")
    values = {"tps": tps, "qps": qps, "errors_per_s": errors, "reconnects_per_s": reconnects}
    return Sample(number, time_s, values | ({} if rank == 0 else {"latency": latency}), rank)


def _sql(number: int, time_s: int, rest: str) -> Sample | None:
    if not (match := _SQL.fullmatch(rest)):
        return None
    if match[4] is None:
        names = ("tps", "qps", "latency", "errors_per_s", "reconnects_per_s")
        told = dict(zip(names, map(float, match.group(2, 3, 8, 9, 10)), strict=True))
        return Sample(number, time_s, told, int(match[7]))
    figures = [float(value) for place, value in enumerate(match.groups()) if place not in (0, 6)]
    return _checked(number, time_s, int(match[7]), figures)


def _events(number: int, time_s: int, rest: str) -> Sample | None:
    if match := _EVENTS.fullmatch(rest):
        rank, latency = int(match[3]), {"latency": float(match[4])}
        return Sample(number, time_s, {"ops_per_s": float(match[2])} | (latency if rank else {}), rank)
    if match := _OLD_EVENTS.fullmatch(rest):
        return Sample(number, time_s, {"ops_per_s": float(match[2]), "latency": float(match[3])}, int(match[4]))
    return None


def _old(number: int, time_s: int, rest: str) -> Sample | None:
    if not (match := _OLD_SQL.fullmatch(rest)):
        return None
    values = {"tps": float(match[2]), "read_queries_per_s": float(match[3]), "write_queries_per_s": float(match[4])}
    values["latency"] = float(match[5])
    if match[7]:
        values |= {"errors_per_s": float(match[7]), "reconnects_per_s": float(match[8])}
    return Sample(number, time_s, values, int(match[6]))


def _file(number: int, time_s: int, rest: str) -> Sample | None:
    if not (match := _FILE.fullmatch(rest)):
        return None
    values = {
        "read_mb_per_s": round(float(match[1]) * MIB_IN_MB, 4),
        "write_mb_per_s": round(float(match[2]) * MIB_IN_MB, 4),
        "fsync_per_s": float(match[3]),
    }
    rank = int(match["rank"] or match["old_rank"])
    if rank:
        values["latency"] = float(match["lat"] or match["old"])
    return Sample(number, time_s, values, rank)


def _other(number: int, time_s: int, rest: str) -> Sample | None:
    if match := _MEMORY.fullmatch(rest):
        return Sample(number, time_s, {"transfer_mb_per_s": round(float(match[1]) * MIB_IN_MB, 4)})
    if match := _QUEUE.fullmatch(rest):
        return Sample(number, time_s, {"queue_length": float(match[1]), "concurrency": float(match[2])})
    return None
