"""HammerDB's stamps, and samples taken at them: Tcl's `clock format`, and those of the jobs database."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from datetime import datetime

from benchagent.importers.source import NotUnderstood

_TCL = re.compile(
    r"^\w{3} (?P<date>\w{3} +\d{1,2} \d\d:\d\d:\d\d)(?: (?P<zone>[^\d\s][^\d]*?|[+-]\d{4}))? (?P<year>\d{4})$"
)
_SQLITE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
# What the counter's refresh rate can be set to; its stamps are whole seconds.
_REFRESH_S = (60.0, 30.0, 20.0, 15.0, 10.0, 5.0)


def tcl_time(text: str) -> tuple[datetime, str]:
    """ "Sat Nov 21 02:54:13 UTC 2026" -> (the time as printed, the zone as printed). Raises NotUnderstood."""
    match = _TCL.match(text.strip())
    if match is None:
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}")
    return _parsed(f"{match['date']} {match['year']}", "%b %d %H:%M:%S %Y", text), match["zone"] or ""


def sqlite_time(text: str) -> datetime:
    if not _SQLITE.fullmatch(text.strip()):
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}")
    return _parsed(text.strip(), "%Y-%m-%d %H:%M:%S", text)


def _parsed(text: str, form: str, printed: str) -> datetime:
    try:
        return datetime.strptime(text, form)
    except ValueError as error:
        raise NotUnderstood(f"not a time of HammerDB: {printed[:60]!r}") from error


def iso(moment: datetime, zone: str) -> str:
    """With Z where the zone is known for certain, else as local time without a zone."""
    return moment.isoformat() + ("Z" if zone in ("UTC", "GMT", "+0000") else "")


def spaced(times: Sequence[datetime], values: Sequence[float]) -> tuple[float, tuple[float | None, ...], float]:
    """(interval_s, values with None for missing samples, drift as a part of the interval).

    What reads sleeps between its readings, so it drifts by some parts in a hundred: samples keep their place in the
    order, only a missing one is a gap. Raises NotUnderstood when times do not rise or follow no interval.
    """
    if len(times) < 2:
        raise NotUnderstood("a single sample has no interval")
    steps = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(times)]
    if min(steps) <= 0:
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    usual = sorted(steps)[len(steps) // 2]
    interval = next((refresh for refresh in _REFRESH_S if 0 <= usual - refresh <= 1), usual)
    spread: list[float | None] = [values[0]]
    for moment, step, value in zip(times[1:], steps, values[1:], strict=True):
        count = round(step / interval)
        if count < 1 or count > 100_000 or abs(step - count * interval) > max(1.1 * count**0.5, 0.25 * interval):
            raise NotUnderstood(f"the sample at {moment:%H:%M:%S} follows no interval of {interval:g} s")
        spread += [None] * (count - 1)
        spread.append(value)
    total = (times[-1] - times[0]).total_seconds()
    return interval, tuple(spread), total / ((len(spread) - 1) * interval) - 1
