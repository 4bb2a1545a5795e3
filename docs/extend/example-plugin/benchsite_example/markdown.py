"""The exporter `format=markdown`: a list of runs as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MEDIA_TYPE = "text/markdown; charset=utf-8"


def export(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"| {' | '.join(map(cell, row))} |\n"
        if number == 0:
            yield f"|{'---|' * len(row)}\n"


def cell(value: Any) -> str:
    return "" if value is None else " ".join(str(value).replace("|", "\\|").split())
