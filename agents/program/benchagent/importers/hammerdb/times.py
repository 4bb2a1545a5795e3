"""HammerDB's stamps, and samples taken at them: Tcl's `clock format`, and those of the jobs database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.series import drifting
from benchagent.importers.source import NotUnderstood

_STAMP = re.compile(
    r"\w{3} (?P<date>\w{3} +\d{1,2} \d\d:\d\d:\d\d)(?: (?P<zone>[^\d\s][^\d]*?|[+-]\d{4}))? (?P<year>\d{4})"
    r"|(?P<iso>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"
)
# What the counter's refresh rate can be set to; its stamps are whole seconds.
_REFRESH_S = (60.0, 30.0, 20.0, 15.0, 10.0, 5.0)


def time_of(text: str) -> tuple[datetime, str]:
    """ "Sat Nov 21 02:54:13 UTC 2026", "2026-11-21 02:54:13" -> (the time, its zone). Raises NotUnderstood."""
    stamp = _STAMP.fullmatch(text.strip())
    try:
        if stamp and stamp["year"]:
            return datetime.strptime(f"{stamp['date']} {stamp['year']}", "%b %d %H:%M:%S %Y"), stamp["zone"] or ""
        return datetime.fromisoformat(stamp["iso"] if stamp else ""), ""
    except ValueError as error:
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}") from error


def iso(moment: datetime, zone: str) -> str:
    """With Z where the zone is known for certain, else as local time without a zone."""
    return moment.isoformat() + ("Z" if zone in ("UTC", "GMT", "+0000") else "")


def spaced(times: Sequence[datetime], values: Sequence[float | None]) -> tuple[float, tuple[float | None, ...], float]:
    """(interval_s, values with None for missing samples, drift as a part of the interval).

    What reads sleeps between its readings, so it drifts by some parts in a hundred. Raises NotUnderstood.
    """
    seconds = [(moment - times[0]).total_seconds() for moment in times]
    interval, spread = drifting(
        seconds, values, lambda usual: next((s for s in _REFRESH_S if 0 <= usual - s <= 1), usual), slack_s=1.1
    )
    return interval, tuple(spread), seconds[-1] / ((len(spread) - 1) * interval) - 1
