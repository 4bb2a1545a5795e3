"""The column mapper: what a person says each column of a table is."""

from __future__ import annotations

from collections.abc import Mapping as Answers
from dataclasses import dataclass
from typing import Any

from benchagent.importers import SourceFile
from benchagent.importers.plain_csv import TOOL, Column, Mapping, Role, Rows, propose
from benchagent.importers.plain_csv.table import table_of
from django.core.exceptions import ValidationError

from runs.imports.steps import kept_files
from runs.models import FileImport

SAMPLES = 3
ROLES = [(role.value, role.value.replace("_", " ")) for role in Role]
ROWS = [(Rows.RUNS.value, "one run"), (Rows.SAMPLES.value, "one sample of the same run")]
DIRECTIONS = [("", "by its name"), ("higher", "higher is better"), ("lower", "lower is better"), ("none", "neither")]


@dataclass(frozen=True)
class MappedColumn:
    """One column with some of its values, and what it is taken for. `prefix` begins the names of its fields."""

    prefix: str
    column: Column
    samples: list[str]


@dataclass(frozen=True)
class MappedTable:
    """A file with a table. `prefix` begins the names of its fields."""

    prefix: str
    file: str
    mapping: Mapping
    columns: list[MappedColumn]


def tables(taken: FileImport) -> list[MappedTable]:
    """The tables among the files of an import, with what is known or guessed of their columns."""
    names = {item["file"] for item in taken.items if item["tool"] == TOOL}
    if not names:
        return []
    said = taken.subject.get("mapping", {})
    files = enumerate(kept_files(taken))
    return [_table(f"csv{number}", file, said.get(file.name)) for number, file in files if file.name in names]


def _table(prefix: str, file: SourceFile, said: Any) -> MappedTable:
    mapping = Mapping.from_json(said) if said else propose(file)
    known = {column.heading: column for column in mapping.columns}
    table = table_of(file)
    headings = table.headings if table is not None else ()
    columns = [
        MappedColumn(
            f"{prefix}-{index}",
            known.get(heading) or Column(heading, Role.IGNORE),
            [row[index] for row in table.rows[:SAMPLES]] if table is not None else [],
        )
        for index, heading in enumerate(headings)
    ]
    return MappedTable(prefix, file.name, mapping, columns)


def answered(taken: FileImport, answers: Answers[str, str]) -> dict[str, Any]:
    """file -> mapping as JSON, from the fields of a form. Raises ValidationError naming the column."""
    return {table.file: _mapping(table, answers).as_json() for table in tables(taken)}


def _mapping(table: MappedTable, answers: Answers[str, str]) -> Mapping:
    rows = answers.get(f"{table.prefix}-rows", table.mapping.rows.value)
    if rows not in list(Rows):
        raise ValidationError(f"{table.file}: a row is one of {', '.join(Rows)}.")
    columns = [_column(table.file, column, answers) for column in table.columns]
    return Mapping(tuple(columns), rows=Rows(rows), phase=table.mapping.phase, workload=table.mapping.workload)


def _column(file: str, mapped: MappedColumn, answers: Answers[str, str]) -> Column:
    heading, was = mapped.column.heading, mapped.column
    role = answers.get(f"{mapped.prefix}-role", was.role.value)
    if role not in list(Role):
        raise ValidationError(f"{file}, column {heading}: “{role}” is none of {', '.join(Role)}.")
    name = answers.get(f"{mapped.prefix}-name", was.name).strip()[:100]
    if Role(role) in (Role.METRIC, Role.FACTOR) and not name:
        raise ValidationError(f"{file}, column {heading}: give it a name, as tps or terminals.")
    try:
        scale = float(answers.get(f"{mapped.prefix}-scale", f"{was.scale:g}"))
    except ValueError:
        scale = 0.0
    if not 0 < scale < float("inf"):
        raise ValidationError(f"{file}, column {heading}: the factor must be a number above 0, as 0.001.")
    unit = answers.get(f"{mapped.prefix}-unit", was.unit).strip()[:30]
    return Column(
        heading, Role(role), name, unit, scale, answers.get(f"{mapped.prefix}-better", was.better or "") or None
    )
