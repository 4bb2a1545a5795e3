"""A run as a row of a list."""

from __future__ import annotations

from functools import cached_property

from runs.models import Measurement, Run
from runs.run.facets import facets
from runs.run.number import primary_number, why_no_number

# Said by the demonstration badge, or of little use for telling rows apart.
_NOT_IN_ROWS = frozenset({"factor:warm_up_s", "factor:duration_s"})


class RunRow:
    """Reads prefetched rows only (`Run.objects.for_lists()`)."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def measurement(self) -> Measurement | None:
        return primary_number(self.run)

    @cached_property
    def gap(self) -> str:
        """Why there is no number; empty when there is one or may still come."""
        return "" if self.measurement or self.run.is_open else why_no_number(self.run)

    @cached_property
    def factors(self) -> str:
        stated = facets(self.run).values()
        return " · ".join(
            facet.text for facet in stated if facet.field.startswith("factor:") and facet.field not in _NOT_IN_ROWS
        )
