"""Tables whose columns a person has named."""

from __future__ import annotations

from typing import Any

from benchagent.importers import NotUnderstood, Report, SourceFile, plain_csv
from benchagent.importers.base import not_understood


def read_mapped(file: SourceFile, mapping: dict[str, Any]) -> list[Report]:
    try:
        return list(plain_csv.read_mapped(file, plain_csv.Mapping.from_json(mapping)))
    except NotUnderstood as error:
        return [not_understood(f"not understood: {error}", tool=plain_csv.TOOL)]
