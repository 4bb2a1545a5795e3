"""Any table with a header, by a mapping of its columns: the caller's, or one proposed from obvious headings."""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.importers.plain_csv.mapping import Column, Mapping, Role, Rows, propose, proposed_without_doubt
from benchagent.importers.plain_csv.reading import read_mapped
from benchagent.importers.plain_csv.table import table_of
from benchagent.importers.report import Report, as_they_are
from benchagent.importers.source import SourceFile

TOOL = "csv"


def claims(file: SourceFile) -> bool:
    """Rectangular tables only: this importer is asked last."""
    return table_of(file) is not None


def read(file: SourceFile) -> Sequence[Report]:
    """By the proposed mapping, where no numeric column is in doubt."""
    return read_mapped(file, proposed_without_doubt(file))


combine = as_they_are

__all__ = ["TOOL", "Column", "Mapping", "Role", "Rows", "claims", "combine", "propose", "read", "read_mapped"]
