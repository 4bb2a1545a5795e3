"""What is asked of a DBMS beside the measurement, as steps of the load generator, and the rows that come back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Step = dict[str, Any]
# Phase of queries whose time is nobody's measurement: emulated disks are at full speed in it. Its begin and end are
# told only of queries that name it; an error of any query has this name.
PHASE = "query"
EFFECTIVE = "effective:"
MAINTENANCE = "maintenance:"
SCHEMA = "schema:"
COUNTERS = "counters:"
WAITS = "waits:"
GROWING = "growing:"
BEGIN, END = "begin:", "end:"


def steps(prefix: str, queries: Mapping[str, str], *, optional: bool = False) -> list[Step]:
    """What is asked beside the measurement: settings, counters, checks of the data.

    `optional`: an error is reported in the answer and does not end the session.
    """
    more = {"optional": True} if optional else {}
    return [{"op": "query", "phase": PHASE, "name": prefix + name, "sql": sql, **more} for name, sql in queries.items()]


def rows(prefix: str, answers: Mapping[str, list[list[Any]]]) -> dict[str, list[list[Any]]]:
    """The rows of the queries with this prefix, by their names without it."""
    return {name.removeprefix(prefix): answer for name, answer in answers.items() if name.startswith(prefix)}
