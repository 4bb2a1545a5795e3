"""Any table with a header, by a mapping of its columns: the caller's, or one proposed from obvious headings."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC

from benchagent.importers.plain_csv.mapping import Column, Mapping, Role, Rows, guess, propose, proposed_without_doubt
from benchagent.importers.plain_csv.table import (
    SETTINGS,
    THOUSANDS,
    CsvTable,
    is_day,
    is_missing,
    moment_of,
    needed,
    seconds,
    table_of,
)
from benchagent.importers.report import (
    MAX_FACTOR,
    VISIBILITIES,
    Metric,
    Report,
    Scalar,
    Series,
    Status,
    Subject,
    check_count,
    dbms_named,
)
from benchagent.importers.series import grid_of
from benchagent.importers.source import NotUnderstood, SourceFile, is_number, number, slug
from benchagent.importers.tables import reports_of
from benchagent.redaction import redact_text, redact_value

TOOL = "csv"
# It takes any table.
ASKED = 1_000_000
_DONE = frozenset(
    {"ok", "complete", "completed", "success", "successful", "succeeded", "pass", "passed", "done", "finished", "0"}
)
_ABORTED = re.compile(r"abort|cancel|interrupt|kill|incomplete|timeout", re.IGNORECASE)


def claims(file: SourceFile) -> bool:
    """Rectangular tables only: this importer is asked last."""
    return table_of(file) is not None


def read(file: SourceFile) -> Sequence[Report]:
    """Read by the proposed mapping, if no numeric column is in doubt."""
    return read_mapped(file, proposed_without_doubt(file))


def read_mapped(file: SourceFile, mapping: Mapping) -> list[Report]:
    """One report a row, or one of all rows. Raises NotUnderstood naming the column or the line."""
    table = needed(file)
    missing = [column.heading for column in mapping.columns if column.heading not in table.headings]
    if missing:
        raise NotUnderstood(f"the table has no column {missing[0]!r}")
    if not mapping.of(Role.METRIC):
        raise NotUnderstood("the mapping names no metric")
    if table.headed_again:
        raise NotUnderstood(f"line {table.headed_again}: the header stands in the file again")
    warnings = ["the last line has no line end and may be cut: left out"] if table.cut else []
    warnings += ["numbers have decimal commas"] if table.decimal_comma else []
    if mapping.rows is Rows.SAMPLES:
        return [_samples(table, mapping, warnings)]
    return _runs(table, mapping, warnings)


def _runs(table: CsvTable, mapping: Mapping, about_table: Sequence[str]) -> list[Report]:
    check_count(len(table.lines))
    repeats = bool(mapping.of(Role.REPEAT))
    outcomes = (Role.METRIC, Role.IGNORE, Role.STATUS)
    keys = [column.heading for column in mapping.columns if column.role not in outcomes]
    seen: dict[tuple[str, ...], int] = {}
    rows: list[tuple[dict[str, str], int, Mapping, list[str]]] = []
    for row, line in zip(table.rows, table.lines, strict=True):
        cells = dict(zip(table.headings, row, strict=True))
        key = tuple(cells[heading] for heading in (keys if repeats else table.headings))
        warnings = [*about_table]
        if key in seen and repeats:
            raise NotUnderstood(f"line {line}: the same repeat as in line {seen[key]}")
        if key in seen:
            warnings.append(f"line {line} is the same as line {seen[key]}, to the last digit")
        seen.setdefault(key, line)
        rows.append((cells, line, mapping, warnings))
    return reports_of(rows, lambda row: _run(*row), TOOL)


def _run(cells: dict[str, str], line: int, mapping: Mapping, warnings: list[str]) -> Report:
    metrics: list[Metric] = []
    gaps: list[str] = []
    for column in mapping.of(Role.METRIC):
        if is_missing(cells[column.heading]):
            gaps.append(column.heading)
            continue
        try:
            value = number(cells[column.heading])
        except NotUnderstood as error:
            raise NotUnderstood(f"line {line}, column {column.heading!r}: {error}") from error
        metrics.append(
            Metric(column.name, column.unit, column.scaled(value), column.phase or mapping.phase, column.better)
        )
    if gaps:
        warnings.append(f"line {line} says nothing of {', '.join(gaps)}")
    run = _about(cells, mapping, line)
    if run.status is Status.COMPLETE and not metrics:
        run = replace(run, reason=f"line {line} has no figures")
    if run.status is not Status.COMPLETE and metrics:
        warnings.append("the figures are of a run that did not succeed")
    started_at = ""
    for column in mapping.of(Role.STARTED_AT):
        cell = cells[column.heading]
        if not is_missing(cell) and not started_at:
            if (moment := moment_of(cell)) is None:
                raise NotUnderstood(f"line {line}, column {column.heading!r}: not a time: {cell[:40]!r}")
            started_at = (moment.date() if is_day(cell) else moment).isoformat()
            if moment.tzinfo and (day := moment.astimezone(UTC).date()) != moment.date():
                warnings.append(f"line {line}: {cell[:40]} is {day} in UTC, by which days are told")
    if mapping.of(Role.STARTED_AT) and not started_at:
        warnings.append(f"line {line} does not say when it was measured")
    # Rates tell a run best, counts least.
    metrics.sort(key=lambda metric: {"higher": 0, "none": 2}.get(metric.better or "", 1))
    return replace(run, metrics=tuple(metrics), warnings=tuple(warnings), started_at=started_at)


def _about(cells: dict[str, str], mapping: Mapping, line: int) -> Report:
    """What a row says of its run besides its figures."""
    stated = [
        (column, cell)
        for column in mapping.columns
        if not is_missing(cell := cells[column.heading]) or (column.role is Role.FACTOR and cell.lower() in SETTINGS)
    ]
    in_words = (
        Role.WORKLOAD, Role.DBMS, Role.DBMS_VERSION, Role.COMMIT, Role.BRANCH, Role.HARDWARE, Role.VISIBILITY,
        Role.INVALID,
    )  # fmt: skip
    texts = {column.role: redact_text(cell) for column, cell in stated if column.role in in_words}
    workload, dbms = mapping.workload or texts.get(Role.WORKLOAD, ""), texts.get(Role.DBMS, "")
    status, reason = Status.COMPLETE, ""
    for column in mapping.of(Role.STATUS):
        word = cells[column.heading]
        if word.lower() not in _DONE and not reason:
            reason = f"line {line}: {column.heading} is {redact_text(word)[:80]!r}"
            status = Status.ABORTED if _ABORTED.search(word) else Status.FAILED
    if (why := texts.get(Role.INVALID)) and not reason:
        status, reason = Status.FAILED, f"line {line}: marked invalid: {why}"
    if (visibility := texts.get(Role.VISIBILITY, "").lower()) not in ("", *VISIBILITIES):
        raise NotUnderstood(f"line {line}: {visibility[:40]!r} does not say who may see it: {', '.join(VISIBILITIES)}")
    return Report(
        tool=TOOL, status=status, reason=reason, visibility=visibility,
        parameters={column.name: _scalar(column, cell, line) for column, cell in stated if column.role is Role.FACTOR},
        subject=Subject(
            workload=slug(workload, "-"), workload_name=workload, dbms=dbms_named(dbms),
            dbms_version=texts.get(Role.DBMS_VERSION, ""), machine=texts.get(Role.HARDWARE, "")[:MAX_FACTOR],
        ),
        tested={role.value: texts[role] for role in (Role.COMMIT, Role.BRANCH) if role in texts},
    )  # fmt: skip


def _scalar(column: Column, cell: str, line: int) -> Scalar:
    """Numbers as numbers (a whole one without a fraction), the rest as text without secrets."""
    if THOUSANDS.fullmatch(cell):
        words = f"the comma of {cell[:40]!r} may be decimal or of thousands"
        raise NotUnderstood(f"line {line}, column {column.heading!r}: {words}")
    if is_number(cell):
        value = number(cell) * column.scale
        return int(value) if value == int(value) and abs(value) < 10**15 else value
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    return redact_value(column.name, redact_value(column.heading, cell)) or ""


def _samples(table: CsvTable, mapping: Mapping, about_table: Sequence[str]) -> Report:
    times = mapping.of(Role.TIME)
    if len(times) != 1:
        raise NotUnderstood("rows as samples need exactly one column of time")
    ends = array("d", (end * times[0].scale for end in table.numbers(times[0].heading, seconds)))
    started_at = ""
    if ends[0] > 1e8:
        # Seconds since 1970: count from the first sample.
        first = moment_of(next(iter(table.column(times[0].heading))))
        started_at = first.isoformat() if first else ""
        ends = array("d", (end - ends[0] for end in ends))
    # A first sample at 0 begins the run: its interval is not before it.
    grid = grid_of(ends)
    series: list[Series] = []
    for each in mapping.of(Role.METRIC):
        figures = table.numbers(each.heading, lambda cell: None if is_missing(cell) else number(cell))
        values = grid.values(figures if each.scale == 1 else map(each.scaled, figures))
        series.append(Series(each.name, each.unit, grid.interval_s, values, t0_s=max(grid.t0_s, 0.0)))
    may_change = (Role.METRIC, Role.TIME, Role.IGNORE, Role.STARTED_AT)
    for column in mapping.columns:
        if column.role not in may_change and not table.column(column.heading).is_constant:
            raise NotUnderstood(f"column {column.heading!r} changes within the samples of one run")
    cells = dict(zip(table.headings, next(table.rows), strict=True))
    return replace(
        _about(cells, mapping, table.lines[0]), series=tuple(series), started_at=started_at,
        warnings=(*about_table, "the table holds samples only: no result of the whole run"),
    )  # fmt: skip


__all__ = [
    "TOOL", "Column", "Mapping", "Role", "Rows", "claims", "guess", "propose", "read", "read_mapped", "table_of",
]  # fmt: skip
