"""Files that lists of runs are handed out as: rows in, text out. Each is an entry point of `benchsite.exporters`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Protocol

from benchagent import plugins


class Exporter(Protocol):
    """One module, an entry point of `benchsite.exporters`, whose name there is the `format` that is asked for."""

    # As "text/csv; charset=utf-8".
    MEDIA_TYPE: str

    def export(self, rows: Iterable[Sequence[Any]]) -> Iterator[str]:
        """The file piece by piece, as rows come: the first holds the names of the columns.

        A cell is text, a number, a date, an identifier, or None where a run has nothing.
        """


@cache
def exporters() -> dict[str, Exporter]:
    """The exporters by format."""
    return dict(sorted(plugins.offered(plugins.EXPORTERS).items()))
