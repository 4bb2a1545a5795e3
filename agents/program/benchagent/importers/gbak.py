"""Verbose output of gbak of Firebird and InterBase: backup and restore, with `-st TDRW` or without, on screen or `-y`.

The wordings are those of the message file, the same from InterBase 6 to Firebird 5: `gbak:` or `gbak: ` and a message.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    SourceFile,
    Status,
    Subject,
    agree,
    number,
    whole,
)
from benchagent.redaction import redact_text

TOOL = "gbak"
MAX_WARNINGS = 20
# `-verbint` takes no less; a backup says how far it is every so many records, and once at a table's end.
DEFAULT_INTERVAL, LEAST_INTERVAL = 10_000, 100

_LINE = re.compile(r"^(?:.{0,80}?[\s>\]])?gbak:(?P<rest>.*)$")
_CLAIM = re.compile(
    r"(?m)^(?:.{0,80}?[\s>\]])?gbak:[\s\d.,]*(?:readied database |opened file |ERROR:|writing |restoring |gbak version "
    r"|closing file, committing|finishing, closing|time +|started transaction|created database |creating file )"
)
_HEADER = re.compile(r"\s*((?:time|delta|reads|writes)(?:\s+(?:time|delta|reads|writes))*)\s*")
# Firebird 6 restores through the service manager without naming the file first.
_START = re.compile(r"readied database (.+) for backup|opened file (.+)|transportable backup -- data in XDR format")
_BACKUP_END = re.compile(r"closing file, committing, and finishing\.?(?: (\d+) bytes written)?")
_RESTORE_END = "finishing, closing, and going home"
_AFTER_END = ("total statistics", "adjusting the ONLINE and FORCED WRITES flags", "Error closing database")
_DATA = re.compile(r"(?:writing|restoring) data for table (.+)")
_COUNT = re.compile(r"(\d+) records (written|restored|ignored)")
_TABLE = re.compile(r"(?:writing|restoring) table (?!constraints$)(.+)")
_PAGE_SIZE = re.compile(r"database .+ has a page size of (\d+) bytes\.?|created database .+, page_size (\d+) bytes")
_PARALLEL = re.compile(r"use up to (\d+) parallel workers")
_VERSION = re.compile(r"gbak version (\S+)(?: (.+))?")
_SERVER_VERSION = re.compile(
    r'\(access method\), version "\w\w-[VT](\d+\.\d+(?:\.\d+)?)[\d.]*\b[^"]*(Firebird|InterBase)?'
)
_COMMAND = re.compile(r"(?:^|[\s$#>+/\\])(gbak(?:\.exe)?\s+-.*)$")
_REAL = re.compile(r"real\s+(?:(\d+)m)?(\d+\.\d+)s?|(?:.*\s)?(?:(\d+):)?(\d+):(\d+\.\d+)elapsed\b.*")
_TROUBLE = re.compile(
    r"(?i)(?:gbak: ?)?warning|restore failed|validation error|cannot commit|omitted because|could not be restored"
)


@dataclass
class _Run:
    """One backup or restore, line by line."""

    operation: str = ""
    started: int = 0
    ended: int = 0
    columns: tuple[str, ...] = ()
    tool_version: str = ""
    product: str = ""
    server_version: str = ""
    size_bytes: int | None = None
    total: dict[str, float] | None = None
    sums: dict[str, int] = field(default_factory=lambda: {"reads": 0, "writes": 0})
    last_s: float = 0.0
    tables: list[str] = field(default_factory=list)
    data: list[tuple[str, list[int]]] = field(default_factory=list)
    ignored: int = 0
    parameters: dict[str, Scalar] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    command: str = ""
    real_s: float | None = None

    @property
    def touched(self) -> bool:
        return bool(self.started or self.errors or self.columns or self.tool_version)


def claims(file: SourceFile) -> bool:
    return bool(_CLAIM.search(file.text))


def read(file: SourceFile) -> Sequence[Report]:
    lines = file.lines if file.last_line_is_whole or not file.lines else _without_cut(file.lines)
    runs = [run for run in _runs(lines) if run.started or run.errors]
    if not runs:
        raise NotUnderstood("neither a start nor an error of gbak stands in it")
    return [_report(run) for run in runs]


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return [(file, list(reports)) for file, reports in read]


def _without_cut(lines: list[str]) -> list[str]:
    """The lines; the last one only where its own form shows that it is whole."""
    whole_line = lines[-1].endswith(
        ("bytes written", _RESTORE_END, "total statistics", "FORCED WRITES flags", "due to errors")
    )
    return lines if whole_line else lines[:-1]


def _runs(lines: list[str]) -> list[_Run]:
    run = _Run()
    runs = [run]
    for at, line in enumerate(lines, start=1):
        match = _LINE.match(line)
        if match:
            if _begins(run, match["rest"]):
                run = _Run()
                runs.append(run)
            _take(run, at, match["rest"])
        elif command := _COMMAND.search(line):
            if run.touched:
                run = _Run()
                runs.append(run)
            run.command = redact_text(command[1])
        elif real := _REAL.fullmatch(line.strip()):
            run.real_s = _seconds(real)
        elif server := _SERVER_VERSION.search(line):
            run.server_version = server[1]
            run.product = run.product or (server[2] or "")
        elif run.errors and line.startswith((" ", "\t", "-")) and not run.ended:
            run.errors[-1] += f" {line.strip()}"
    return runs


def _begins(run: _Run, rest: str) -> bool:
    """Whether this line belongs to the next run: output of several runs stands in one file."""
    message = rest.strip()
    if message.startswith("gbak version "):
        return run.touched
    if _HEADER.fullmatch(rest):
        return bool(run.started or run.errors or run.columns)
    if not _START.fullmatch(_parts(run, rest)[1]):
        return False
    return bool(run.ended or run.errors)


def _parts(run: _Run, rest: str) -> tuple[dict[str, float], str]:
    """The statistics in front of a message, and the message."""
    found: dict[str, float] = {}
    left = rest
    for column in run.columns:
        match = re.match(r"\s+(\d+\.\d{3})(?=\s)" if column in ("time", "delta") else r"\s+(\d{1,20})(?=\s)", left)
        if match is None:
            if re.match(r"\s+\d+,\d{3}\s", left):
                raise NotUnderstood("decimal commas: another locale wrote this")
            return {}, rest.strip()
        found[column] = number(match[1]) if column in ("time", "delta") else int(match[1])
        left = left[match.end() :]
    return found, left.strip()


def _take(run: _Run, at: int, rest: str) -> None:
    if header := _HEADER.fullmatch(rest):
        run.columns = tuple(header[1].split())
        return
    if rest.lstrip().startswith("ERROR:"):
        run.errors.append(rest.lstrip().removeprefix("ERROR:").strip())
        return
    if rest.lstrip().startswith("Exiting before completion"):
        run.errors = run.errors or ["Exiting before completion due to errors"]
        return
    if version := _VERSION.fullmatch(rest.strip()):
        run.tool_version, run.product = version[1], version[2] or ""
        return
    if re.match(r"\s*Version\(s\) for database", rest):
        return
    statistics, message = _parts(run, rest)
    if _begin(run, at, message):
        _add(run, at, statistics, message)
        return
    # Without `-v` only troubles are printed.
    if not run.started and not run.errors and not _TROUBLE.match(message):
        raise NotUnderstood(f"line {at}: gbak is at work before it has begun")
    _add(run, at, statistics, message)
    _progress(run, at, message)


def _begin(run: _Run, at: int, message: str) -> bool:
    start = _START.fullmatch(message)
    if start is None:
        return False
    operation = "backup" if start[1] else "restore"
    if run.started and (run.data or run.tables or run.operation != operation):
        raise NotUnderstood(f"line {at}: a second start within one run")
    run.operation, run.started = operation, run.started or at
    return True


def _add(run: _Run, at: int, statistics: dict[str, float], message: str) -> None:
    if message == "total statistics":
        if run.total is not None and run.total != statistics:
            raise NotUnderstood(f"line {at}: two different totals")
        run.total = statistics
        return
    for column in ("reads", "writes"):
        run.sums[column] += int(statistics.get(column, 0))
    if statistics.get("time", run.last_s) < run.last_s:
        raise NotUnderstood(f"line {at}: the time goes back: lines are doubled or out of order")
    run.last_s = statistics.get("time", run.last_s)


def _progress(run: _Run, at: int, message: str) -> None:
    end = _BACKUP_END.fullmatch(message)
    if end or message == _RESTORE_END:
        if run.operation and run.operation != ("backup" if end else "restore"):
            raise NotUnderstood(f"line {at}: the end of another operation")
        size = whole(end[1]) if end and end[1] else run.size_bytes
        if run.ended and size != run.size_bytes:
            raise NotUnderstood(f"line {at}: two different sizes of the backup")
        run.ended, run.size_bytes = at, size
    elif message.startswith(_AFTER_END) or not message:
        if message.startswith("adjusting the ONLINE"):
            # Nothing but its end comes before this.
            run.ended = run.ended or at
    elif run.ended:
        raise NotUnderstood(f"line {at}: gbak is at work after its end")
    elif data := _DATA.fullmatch(message):
        run.data.append((data[1], []))
    elif count := _COUNT.fullmatch(message):
        _count(run, at, whole(count[1]), count[2])
    elif table := _TABLE.fullmatch(message):
        run.tables.append(table[1])
    elif size_match := _PAGE_SIZE.fullmatch(message):
        _parameter(run, at, "page_size_bytes", whole(size_match[1] or size_match[2]))
    elif parallel := _PARALLEL.fullmatch(message):
        _parameter(run, at, "parallel_workers", whole(parallel[1]))
    elif _TROUBLE.match(message):
        run.warnings.append(redact_text(f"line {at}: {message}"))


def _count(run: _Run, at: int, count: int, word: str) -> None:
    if word == "ignored":
        run.ignored += count
        run.warnings.append(f"line {at}: {count} records ignored")
    elif (word == "written") != (run.operation == "backup"):
        raise NotUnderstood(f"line {at}: records {word} in a {run.operation}")
    elif not run.data:
        raise NotUnderstood(f"line {at}: records of no table")
    else:
        run.data[-1][1].append(count)


def _parameter(run: _Run, at: int, name: str, value: int) -> None:
    if run.parameters.setdefault(name, value) != value:
        raise NotUnderstood(f"line {at}: {name} differs from what was said before")


def _seconds(match: re.Match[str]) -> float:
    if match[2]:
        return int(match[1] or 0) * 60 + number(match[2])
    return int(match[3] or 0) * 3600 + int(match[4]) * 60 + number(match[5])


def _report(run: _Run) -> Report:
    status, reason = _status(run)
    metrics = list(_metrics(run)) if status is Status.COMPLETE else []
    parameters = {**run.parameters, **_flags(run.command)}
    operation = run.operation or ("restore" if re.search(r"\s-(?:c|r|rep)\w*\s", run.command) else "")
    name = {"backup": "gbak backup", "restore": "gbak restore"}.get(operation, "")
    firebird = "Firebird" in run.product
    warnings = [*run.warnings[:MAX_WARNINGS]]
    if len(run.warnings) > MAX_WARNINGS:
        warnings.append(f"{len(run.warnings) - MAX_WARNINGS} more warnings")
    return Report(
        tool=TOOL, status=status, reason=redact_text(reason), tool_version=_short(run.tool_version),
        parameters=parameters, metrics=tuple(metrics), warnings=tuple(warnings),
        command_lines=(run.command,) if run.command else (),
        subject=Subject(
            workload=f"gbak-{operation}" if operation else "gbak", workload_name=name or "gbak",
            dbms="firebird" if firebird else "", dbms_version=run.server_version if firebird else "",
        ),
    )  # fmt: skip


def _short(version: str) -> str:
    """LI-V3.0.11.33637 -> 3.0.11.33637"""
    match = re.fullmatch(r"\w\w-[A-Z](\d[\d.]*)\S*", version)
    return match[1] if match else version


def _status(run: _Run) -> tuple[Status, str]:
    if run.errors:
        return Status.FAILED, f"gbak says: {'; '.join(run.errors)[:500]}"
    if not run.ended:
        return Status.ABORTED, "the output ends before gbak says that it has finished"
    return Status.COMPLETE, ""


def _metrics(run: _Run) -> Iterator[Metric]:
    phase = run.operation
    total = _total(run)
    elapsed_s = total.get("time", run.real_s)
    if elapsed_s is not None:
        yield Metric("elapsed_s", "s", elapsed_s, phase, "lower")
    if run.size_bytes is not None:
        yield Metric("backup_size_bytes", "bytes", run.size_bytes, phase, "lower")
    for column in ("reads", "writes"):
        if column in total:
            yield Metric(f"page_{column}", "pages", total[column], phase, "lower")
    rows = _rows(run)
    if rows and None not in rows.values():
        yield Metric("rows", "rows", sum(count or 0 for count in rows.values()), phase, "none")
    if _order_fits(run):
        yield from (
            Metric(f"{_slug(table)}_rows", "rows", count, phase, "none")
            for table, count in rows.items()
            if count is not None
        )
    elif rows:
        run.warnings.append("records per table left out: the tables' order contradicts the order of their data")


def _total(run: _Run) -> dict[str, float]:
    """The line "total statistics", checked against the lines before it."""
    total = dict(run.total or {})
    if "time" in total and total["time"] < run.last_s:
        raise NotUnderstood("the total time is shorter than the time of a line before it")
    if {"time", "delta"} <= total.keys() and not agree(
        total["time"], run.last_s + total["delta"], relative=0, absolute=0.003
    ):
        raise NotUnderstood("the total time does not follow from the last line's time")
    for column in ("reads", "writes"):
        # gbak prints differences as unsigned 64-bit numbers: below zero they wrap around.
        if column in total and run.sums[column] % 2**64 != total[column]:
            run.warnings.append(f"page {column} left out: the lines add up to something else than the total")
            del total[column]
    return total


def _rows(run: _Run) -> dict[str, int | None]:
    """Records per table; None where a line is missing or twice there, so that the last count may not be the table's."""
    seen = [counts for _, counts in run.data]
    steps = {counts[0] for counts in seen if len(counts) > 1 and counts[0] != counts[-1]}
    interval = steps.pop() if len(steps) == 1 else DEFAULT_INTERVAL
    rows: dict[str, int | None] = {}
    for table, counts in run.data:
        count = None if steps else _last(counts, interval)
        if count is None or table in rows:
            run.warnings.append(
                redact_text(f"records of table {table} left out: a line is missing or stands there twice")
            )
            count = None
        rows[table] = count
    return rows


def _last(counts: list[int], interval: int) -> int | None:
    """A table's own count: its lines are i, 2i, …, and then the number at its end (which may repeat the last one)."""
    if not counts or interval < LEAST_INTERVAL or (interval != DEFAULT_INTERVAL and interval % LEAST_INTERVAL):
        return None
    last = counts[-1]
    expected = [*range(interval, last + 1, interval), last]
    return last if counts == expected else None


def _order_fits(run: _Run) -> bool:
    """Data follow the order of the tables, or its reverse; anything else means that lines have changed places."""
    places = {table: place for place, table in enumerate(dict.fromkeys(run.tables))}
    found = [places[table] for table, _ in run.data if table in places]
    if len(found) != len(run.data) or len(run.tables) != len(places):
        return False
    rising = all(left < right for left, right in itertools.pairwise(found))
    return rising or all(left > right for left, right in itertools.pairwise(found))


def _slug(table: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", table.replace('"', "").lower().removeprefix("public.")).strip("_")[:60]


def _flags(command: str) -> dict[str, Scalar]:
    """What only the command line says."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    lower = [word.lower() for word in words]
    found: dict[str, Scalar] = {}
    if any(word in ("-se", "-service") for word in lower):
        found["method"] = "services"
    if any(re.fullmatch(r"-g(arbage.*)?", word) for word in lower):
        found["garbage_collection"] = False
    if "-zip" in lower:
        found["compressed"] = True
    return found
