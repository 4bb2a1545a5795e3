"""A table and a mapping -> reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Series,
    SourceFile,
    Status,
    Subject,
    number,
)
from benchagent.importers.plain_csv.mapping import Column, Mapping, Role, Rows
from benchagent.importers.plain_csv.table import Table, is_missing, is_number, is_stamp, seconds, table_of
from benchagent.importers.series import evenly
from benchagent.redaction import redact_text, redact_value

TOOL = "csv"
_DONE = frozenset(
    {"ok", "complete", "completed", "success", "successful", "succeeded", "pass", "passed", "done", "finished", "0"}
)
_MAX_RUNS = 20_000
_ABORTED = re.compile(r"abort|cancel|interrupt|kill|incomplete|timeout", re.IGNORECASE)
_DBMS = {
    "postgres": "postgresql", "postgresql": "postgresql", "pg": "postgresql", "mysql": "mysql", "mariadb": "mariadb",
    "oracle": "oracle", "sql server": "mssql", "mssql": "mssql", "db2": "db2", "firebird": "firebird",
    "sqlite": "sqlite", "derby": "derby", "cubrid": "cubrid", "h2": "h2", "hsqldb": "hsqldb",
}  # fmt: skip


def read_mapped(file: SourceFile, mapping: Mapping) -> list[Report]:
    """One report a row, or one of all rows. Raises NotUnderstood naming the column or the line."""
    table = table_of(file)
    if table is None:
        raise NotUnderstood("not a table with a header and rows of the same width")
    missing = [column.heading for column in mapping.columns if column.heading not in table.headings]
    if missing:
        raise NotUnderstood(f"the table has no column {missing[0]!r}")
    if not any(column.role is Role.METRIC for column in mapping.columns):
        raise NotUnderstood("the mapping names no metric")
    _check_table(table)
    return [_samples(table, mapping)] if mapping.rows is Rows.SAMPLES else _runs(table, mapping)


def _check_table(table: Table) -> None:
    for row, line in zip(table.rows, table.lines, strict=True):
        if row == table.headings:
            raise NotUnderstood(f"line {line}: the header stands in the file again")


def _warnings(table: Table) -> list[str]:
    warnings = ["the last line has no line end and may be cut: left out"] if table.cut else []
    return [*warnings, "numbers have decimal commas"] if table.decimal_comma else warnings


def _runs(table: Table, mapping: Mapping) -> list[Report]:
    if len(table.rows) > _MAX_RUNS:
        raise NotUnderstood(f"{len(table.rows)} rows, but at most {_MAX_RUNS} runs are read of one table")
    repeats = [column.heading for column in mapping.columns if column.role is Role.REPEAT]
    seen: dict[tuple[str, ...], int] = {}
    reports: list[Report] = []
    keys = [
        column.heading
        for column in mapping.columns
        if column.role not in (Role.METRIC, Role.IGNORE, Role.STATUS, Role.STARTED_AT)
    ]
    for row, line in zip(table.rows, table.lines, strict=True):
        cells = dict(zip(table.headings, row, strict=True))
        key = tuple(cells[heading] for heading in (keys if repeats else table.headings))
        warnings = _warnings(table)
        if key in seen and repeats:
            raise NotUnderstood(f"line {line}: the same repeat as in line {seen[key]}")
        if key in seen:
            warnings.append(f"line {line} is the same as line {seen[key]}, to the last digit")
        seen.setdefault(key, line)
        reports.append(_run(cells, line, mapping, warnings))
    return reports


def _run(cells: dict[str, str], line: int, mapping: Mapping, warnings: list[str]) -> Report:
    metrics: list[Metric] = []
    gaps: list[str] = []
    for column in mapping.columns:
        if column.role is not Role.METRIC:
            continue
        if is_missing(cells[column.heading]):
            gaps.append(column.heading)
            continue
        value = _scaled(cells[column.heading], column, line)
        metrics.append(Metric(column.name, column.unit, value, mapping.phase, column.better))
    if gaps:
        warnings.append(f"line {line} says nothing of {', '.join(gaps)}")
    status, reason = _status(cells, mapping, line)
    if status is Status.COMPLETE and not metrics:
        status, reason = Status.ABORTED, f"line {line} has no figures"
    if status is not Status.COMPLETE and metrics:
        warnings.append("the figures are of a run that did not succeed")
    parameters = {
        column.name: _scalar(column, cells[column.heading])
        for column in mapping.columns
        if column.role is Role.FACTOR and not is_missing(cells[column.heading])
    }
    return Report(
        tool=TOOL, status=status, reason=reason, parameters=parameters, metrics=tuple(metrics),
        warnings=tuple(warnings), subject=_subject(cells, mapping), started_at=_started_at(cells, mapping, line),
    )  # fmt: skip


def _scaled(cell: str, column: Column, line: int) -> float:
    try:
        value = number(cell)
    except NotUnderstood as error:
        raise NotUnderstood(f"line {line}, column {column.heading!r}: {error}") from error
    return value if column.scale == 1 else round(value * column.scale, 12)


def _scalar(column: Column, cell: str) -> Scalar:
    """Numbers as numbers (a whole one without a fraction), the rest as text without secrets."""
    if is_number(cell):
        value = number(cell) * column.scale
        return int(value) if value == int(value) and abs(value) < 10**15 else value
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    return redact_text(redact_value(column.name, redact_value(column.heading, cell)) or "")


def _status(cells: dict[str, str], mapping: Mapping, line: int) -> tuple[Status, str]:
    for column in mapping.columns:
        if column.role is not Role.STATUS:
            continue
        word = cells[column.heading]
        if word.lower() in _DONE:
            continue
        reason = f"line {line}: {column.heading} is {redact_text(word)[:80]!r}"
        return (Status.ABORTED if _ABORTED.search(word) else Status.FAILED), reason
    return Status.COMPLETE, ""


def _started_at(cells: dict[str, str], mapping: Mapping, line: int) -> str:
    for column in mapping.columns:
        cell = cells[column.heading]
        if column.role is Role.STARTED_AT and not is_missing(cell):
            if not is_stamp(cell):
                raise NotUnderstood(f"line {line}, column {column.heading!r}: not a time: {cell[:40]!r}")
            return datetime.fromisoformat(cell).isoformat()
    return ""


def _subject(cells: dict[str, str], mapping: Mapping) -> Subject:
    found = {column.role: redact_text(cells[column.heading]) for column in mapping.columns}
    workload = mapping.workload or found.get(Role.WORKLOAD, "")
    dbms = found.get(Role.DBMS, "")
    slug = re.sub(r"[^a-z0-9]+", "-", workload.lower()).strip("-")
    known = _DBMS.get(dbms.lower(), re.sub(r"[^a-z0-9]+", "-", dbms.lower()).strip("-"))
    return Subject(workload=slug, workload_name=workload, dbms=known, dbms_version=found.get(Role.DBMS_VERSION, ""))


def _samples(table: Table, mapping: Mapping) -> Report:
    times = [column for column in mapping.columns if column.role is Role.TIME]
    if len(times) != 1:
        raise NotUnderstood("rows as samples need exactly one column of time")
    ends = _ends(table, times[0])
    started_at = ""
    if ends[0] > 1e8:
        # Seconds since 1970: count from the first sample.
        first = table.column(times[0].heading)[0]
        started_at = first if is_stamp(first) else ""
        ends = [end - ends[0] for end in ends]
    series = tuple(_series(table, column, ends) for column in mapping.columns if column.role is Role.METRIC)
    cells = {heading: _constant(table, heading, mapping) for heading in table.headings}
    parameters = {
        column.name: _scalar(column, cells[column.heading])
        for column in mapping.columns
        if column.role is Role.FACTOR and not is_missing(cells[column.heading])
    }
    status, reason = _status(cells, mapping, table.lines[0])
    return Report(
        tool=TOOL, status=status, reason=reason, parameters=parameters, series=series,
        warnings=(*_warnings(table), "the table holds samples only: no result of the whole run"),
        subject=_subject(cells, mapping), started_at=started_at,
    )  # fmt: skip


def _ends(table: Table, column: Column) -> list[float]:
    found: list[float] = []
    for cell, line in zip(table.column(column.heading), table.lines, strict=True):
        try:
            found.append(seconds(cell) * column.scale)
        except NotUnderstood as error:
            raise NotUnderstood(f"line {line}, column {column.heading!r}: {error}") from error
    return found


def _series(table: Table, column: Column, ends: Sequence[float]) -> Series:
    cells = zip(table.column(column.heading), table.lines, strict=True)
    values = [None if is_missing(cell) else _scaled(cell, column, line) for cell, line in cells]
    start, interval, spread = evenly(ends, values)
    # A first sample at 0 begins the run: its interval is not before it.
    return Series(column.name, column.unit, interval, spread, t0_s=max(start, 0.0))


def _constant(table: Table, heading: str, mapping: Mapping) -> str:
    """The value of a column that must be the same in every sample of one run."""
    role = next((column.role for column in mapping.columns if column.heading == heading), Role.IGNORE)
    cells = table.column(heading)
    if role not in (Role.METRIC, Role.TIME, Role.IGNORE, Role.STARTED_AT) and len(set(cells)) != 1:
        raise NotUnderstood(f"column {heading!r} changes within the samples of one run")
    return cells[0]
