"""Verbose output of gbak of Firebird and InterBase: backup and restore, with `-st TDRW` or without, on screen or `-y`.

The wordings are those of the message file, the same from InterBase 6 to Firebird 5: `gbak:` or `gbak: ` and a message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchagent.importers.commands import Commands
from benchagent.importers.report import Metric, Report, Subject, all_measured, entries
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile, shown_by, slug
from benchagent.importers.tables import Table, Told, parts_of, reports_of

TOOL = "gbak"
MAX_WARNINGS = 20
# `-verbint` takes no less; a backup says how far it is every so many records, and once at a table's end.
DEFAULT_INTERVAL, LEAST_INTERVAL = 10_000, 100

_LINE = re.compile(r"(?:.{0,80}?[\s>\]])?gbak:(.*)")
MARKS = re.compile(
    r"(?m)^(?:.{0,80}?[\s>\]])?gbak:[\s\d.,]*(?:readied database |opened file |ERROR:|writing |restoring |gbak version "
    r"|closing file, committing|finishing, closing|time +|started transaction|created database |creating file )"
)
WORDS = ("gbak:",)
_MESSAGES = Table(
    TOOL,
    ("backup begins", "readied database {:rest} for backup"),
    ("restore begins", "opened file {:rest}"),
    # Firebird 6 restores through the service manager without naming the file first.
    ("restore begins", "transportable backup -- data in XDR format"),
    ("backup ends", "closing file, committing, and finishing[.][ {size_bytes:int} bytes written]"),
    ("restore ends", "finishing, closing, and going home"),
    ("total", "total statistics"),
    ("after the end", "adjusting the ONLINE and FORCED WRITES flags[{:rest}]"),
    ("after the end", "Error closing database[{:rest}]"),
    ("data", "{writing|restoring} data for table {table:rest}"),
    ("count", "{count:int} records {word:written|restored|ignored}"),
    ("other", "{writing|restoring} table constraints"),
    ("table", "{writing|restoring} table {table:rest}"),
    ("parameter", "database {:rest} has a page size of {page_size_bytes:int} bytes[.]"),
    ("parameter", "created database {:rest}, page_size {page_size_bytes:int} bytes"),
    ("parameter", "use up to {parallel_workers:int} parallel workers"),
    ("version", "gbak version {version:token}[ {product:rest}]"),
    ("heading", "Version(s) for database[{:rest}]"),
    ("error", "ERROR:[{message:rest}]"),
    ("exit", "Exiting before completion[{:rest}]"),
    strict=False,
)
_HEADER = re.compile(r"\s*((?:time|delta|reads|writes)(?:\s+(?:time|delta|reads|writes))*)\s*")
_SECONDS, _PAGES = r"\d+\.\d{3}", r"\d{1,20}"
_COLUMNS = {"time": _SECONDS, "delta": _SECONDS, "reads": _PAGES, "writes": _PAGES}
_SERVER_VERSION = re.compile(
    r'\(access method\), version "\w\w-[VT](\d+\.\d+(?:\.\d+)?)[\d.]*\b[^"]*(Firebird|InterBase)?'
)
# Its options may be cut to any length; those of the page size and the buffers are of a restore.
_COMMANDS = Commands(
    ("gbak",),
    numbers={
        "-par -parallel": "parallel_workers", "-p -page_size": "page_size_bytes", "-bu -buffers": "page_buffers",
    },
    switches={
        "-g -garbage -garbage_collect": "garbage_collection=false", "-zip": "compressed",
        "-se -service": "method=services",
    },
    texts={"-user -pas -pass -password -role -y -st -statistics -fe -fetch_password": ""},
    keeps_others=False,
    has_letters=False,
)  # fmt: skip
_REAL = re.compile(r"real\s+(?:(\d+)m)?(\d+\.\d+)s?|(?:.*\s)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)elapsed\b.*")
_TROUBLE = re.compile(
    r"(?i)(?:gbak: ?)?warning|restore failed|validation error|cannot commit|omitted because|could not be restored"
)


@dataclass
class _Run(Told):
    """One backup or restore, line by line."""

    operation: str = ""
    ended: bool = False
    # How the statistics stand in front of a message.
    statistics: re.Pattern[str] = re.compile("")
    # The versions, the product, the size, the total, the page size, the workers, the time of the shell.
    facts: dict[str, Any] = field(default_factory=dict)
    sums: dict[str, int] = field(default_factory=lambda: {"reads": 0, "writes": 0})
    last_s: float = 0.0
    tables: list[str] = field(default_factory=list)
    # Every count of records that was told of each table, in the order of the lines.
    data: list[tuple[str, list[int]]] = field(default_factory=list)

    @property
    def has_begun(self) -> bool:
        return bool(self.operation or self.problems or self.statistics.groups)

    def split(self, rest: str) -> tuple[dict[str, float], str]:
        """The statistics in front of a message, and the message."""
        match = self.statistics.match(rest)
        if match is None:
            if re.match(r"[\s\d.]*\s\d+,\d{3}\s", rest):
                raise NotUnderstood("decimal commas: another locale wrote this")
            return {}, rest.strip()
        figures = {name: float(text) if "." in text else int(text) for name, text in match.groupdict().items()}
        return figures, rest[match.end() :].strip()

    def add_facts(self, **values: Any) -> None:
        for name, value in values.items():
            if self.facts.setdefault(name, value) != value:
                raise NotUnderstood(f"{name} differs from what was said before")

    def add(self, at: int, key: str, values: dict[str, Any], statistics: dict[str, float], message: str) -> None:
        if key == "error":
            self.problems.append(values.get("message", "").strip())
        elif key == "exit":
            self.problems = self.problems or ["Exiting before completion due to errors"]
        elif key == "version":
            self.facts |= values
        elif key.endswith("begins"):
            operation = key.split(maxsplit=1)[0]
            if self.operation and (self.data or self.tables or self.operation != operation):
                raise NotUnderstood("a second start within one run")
            self.operation = operation
            self._count_pages(statistics)
        elif key != "heading":
            # Without `-v` only troubles are printed.
            if not (self.operation or self.problems or _TROUBLE.match(message)):
                raise NotUnderstood("gbak is at work before it has begun")
            if key == "total":
                self.add_facts(total=statistics)
            else:
                self._count_pages(statistics)
                self._add_work(at, key, values, message)

    def _count_pages(self, statistics: dict[str, float]) -> None:
        for column in self.sums:
            self.sums[column] += int(statistics.get(column, 0))
        if statistics.get("time", self.last_s) < self.last_s:
            raise NotUnderstood("the time goes back: lines are doubled or out of order")
        self.last_s = statistics.get("time", self.last_s)

    def _add_work(self, at: int, key: str, values: dict[str, Any], message: str) -> None:
        if key.endswith("ends"):
            if self.operation and self.operation != key.split(maxsplit=1)[0]:
                raise NotUnderstood("the end of another operation")
            self.ended = True
            self.add_facts(**values)
        elif key == "after the end":
            # Nothing but its end comes before the flags.
            self.ended = self.ended or message.startswith("adjusting the ONLINE")
        elif message and self.ended:
            raise NotUnderstood("gbak is at work after its end")
        elif key == "data":
            self.data.append((values["table"], []))
        elif key == "table":
            self.tables.append(values["table"])
        elif key == "count" and values["word"] != "ignored":
            if (values["word"] == "written") != (self.operation == "backup") or not self.data:
                raise NotUnderstood(f"records {values['word']} in a {self.operation}, or of no table")
            self.data[-1][1].append(values["count"])
        elif key == "parameter":
            self.add_facts(**values)
        elif key == "count" or _TROUBLE.match(message):
            self.warnings.append(f"line {at}: {message}")


claims = shown_by(MARKS, WORDS)


def read(file: SourceFile) -> Sequence[Report]:
    # The last line counts only where its own form shows that it is whole.
    ends = ("bytes written", "and going home", "total statistics", "FORCED WRITES flags", "due to errors")
    lines = (line for line in Lines(file, with_cut=True) if line.whole or line.text.endswith(ends))
    runs = [run for run in parts_of(lines, _Run(), _run_of) if run.operation or run.problems or run.refusal]
    return reports_of(runs, _report, TOOL, "no run of gbak")


def _run_of(run: _Run, line: Line) -> _Run:
    """The run that the line is of: a new one where it begins one, since output of several runs stands in one file."""
    if match := _LINE.fullmatch(line.text):
        if header := _HEADER.fullmatch(match[1]):
            run = _Run() if run.has_begun else run
            columns = dict.fromkeys(header[1].split())
            run.statistics = re.compile("".join(rf"\s+(?P<{name}>{_COLUMNS[name]})(?=\s)" for name in columns))
            return run
        statistics, message = run.split(match[1])
        # What is no message behind the statistics may be one that had none before it.
        row = _MESSAGES.match(Line(line.number, message))
        if row is None and statistics:
            row = _MESSAGES.match(Line(line.number, match[1].strip()))
        key, values = (row.key, row.values) if row else ("", {})
        if (key == "version" and (run.has_begun or "version" in run.facts)) or (
            key.endswith("begins") and (run.ended or run.problems)
        ):
            run, statistics, message = _Run(), {}, match[1].strip()
        run.add(line.number, key, values, statistics, message)
    elif command := _COMMANDS.find(line.text):
        run = _Run() if run.has_begun or "version" in run.facts else run
        run.command_lines = [command]
    elif real := _REAL.fullmatch(line.text.strip()):
        minutes = int(real[1] or 0) if real[2] else int(real[3] or 0) * 60 + int(real[4])
        run.facts["real_s"] = minutes * 60 + float(real[2] or real[5])
    elif server := _SERVER_VERSION.search(line.text):
        run.facts["server_version"] = server[1]
        if server[2]:
            run.facts.setdefault("product", server[2])
    elif run.problems and line.text.startswith((" ", "\t", "-")) and not run.ended:
        run.problems[-1] += f" {line.text.strip()}"
    return run


def _report(run: _Run) -> Report:
    reason = "" if run.ended else "the output ends before gbak says that it has finished"
    failure = f"gbak says: {'; '.join(run.problems)[:500]}" if run.problems else ""
    metrics = () if reason or failure else _metrics(run)
    operation = run.operation or ("restore" if re.search(r"\s-(?:c|r|rep)\w*\s", "".join(run.command_lines)) else "")
    more = [f"{len(run.warnings) - MAX_WARNINGS} more warnings"] if len(run.warnings) > MAX_WARNINGS else []
    # LI-V3.0.11.33637 -> 3.0.11.33637
    version = re.sub(r"^\w\w-[A-Z](\d[\d.]*)\S*$", r"\1", run.facts.get("version", ""))
    is_firebird = "Firebird" in run.facts.get("product", "")
    return Report(
        TOOL, tool_version=version, reason=reason, failure=failure,
        parameters=entries(run.facts, "page_size_bytes", "parallel_workers")
        | _COMMANDS.parameters(map(str.lower, run.command_lines)),
        metrics=metrics, warnings=(*run.warnings[:MAX_WARNINGS], *more), command_lines=tuple(run.command_lines),
        subject=Subject(
            f"gbak-{operation}".removesuffix("-"), f"gbak {operation}".strip(), dbms="firebird" if is_firebird else "",
            dbms_version=run.facts.get("server_version", "") if is_firebird else "",
        ),
    )  # fmt: skip


def _metrics(run: _Run) -> tuple[Metric, ...]:
    total = _checked_total(run)
    rows = _rows(run)
    values: dict[str, float | None] = {
        "backup_size_bytes": run.facts.get("size_bytes"),
        "page_reads": total.get("reads"), "page_writes": total.get("writes"),
    }  # fmt: skip
    if rows and None not in rows.values():
        values["rows"] = sum(count or 0 for count in rows.values())
    # Data follow the order of the tables, or its reverse; anything else means that lines have changed places.
    order = {table: number for number, table in enumerate(run.tables)}
    numbers = [order.get(table, -1) for table, _ in run.data]
    one_way = numbers in (sorted({*numbers}), sorted({*numbers}, reverse=True))
    if one_way and -1 not in numbers and len(run.tables) == len(order):
        for table, count in rows.items():
            name = table.replace('"', "").lower().removeprefix("public.")
            values[f"{slug(name, longest=60)}_rows"] = count
    elif rows:
        run.warnings.append("records per table left out: the tables' order contradicts the order of their data")
    elapsed_s = total.get("time", run.facts.get("real_s"))
    # What is measured of the whole run, under the catalogue's name.
    return all_measured({f"{run.operation}_s": elapsed_s}) + all_measured(values, run.operation)


def _checked_total(run: _Run) -> dict[str, float]:
    """The line "total statistics", checked against the lines before it."""
    total: dict[str, float] = dict(run.facts.get("total", {}))
    if "time" in total and total["time"] < run.last_s:
        raise NotUnderstood("the total time is shorter than the time of a line before it")
    expected_s = run.last_s + total.get("delta", 0.0)
    if {"time", "delta"} <= set(total) and not math.isclose(total["time"], expected_s, rel_tol=0, abs_tol=0.003):
        raise NotUnderstood("the total time does not follow from the last line's time")
    for column, pages in run.sums.items():
        # gbak prints differences as unsigned 64-bit numbers: below zero they wrap around.
        if column in total and pages % 2**64 != total[column]:
            run.warnings.append(f"page {column} left out: the lines add up to something else than the total")
            del total[column]
    return total


def _rows(run: _Run) -> dict[str, int | None]:
    """Records per table; None where a line is missing or twice there, so that the last count may not be the table's.

    A table's lines are i, 2i, …, and then the number at its end (which may repeat the last one).
    """
    steps = {counts[0] for _, counts in run.data if len(counts) > 1 and counts[0] != counts[-1]}
    interval = steps.pop() if len(steps) == 1 else DEFAULT_INTERVAL
    possible = not steps and (interval == DEFAULT_INTERVAL or interval % LEAST_INTERVAL == 0 < interval)
    rows: dict[str, int | None] = {}
    for table, counts in run.data:
        last = counts[-1] if counts else 0
        # Counted before they are compared: a line may name any number.
        is_whole = possible and table not in rows and len(counts) == last // interval + 1
        is_whole = is_whole and counts == [*range(interval, last + 1, interval), last]
        rows[table] = last if is_whole else None
        if not is_whole:
            run.warnings.append(f"records of table {table} left out: a line is missing or stands there twice")
    return rows
