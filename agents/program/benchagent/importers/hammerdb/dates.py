"""Tcl's `clock format` stamps ("Sat Nov 21 02:54:13 UTC 2026") and those of the jobs database."""

from __future__ import annotations

import re
from datetime import datetime

from benchagent.importers.base import NotUnderstood

_TCL = re.compile(
    r"^\w{3} (?P<date>\w{3} +\d{1,2} \d\d:\d\d:\d\d)(?: (?P<zone>[^\d\s][^\d]*?|[+-]\d{4}))? (?P<year>\d{4})$"
)


def tcl_time(text: str) -> tuple[datetime, str]:
    """(the time as printed, the zone as printed). Raises NotUnderstood."""
    match = _TCL.match(text.strip())
    if match is None:
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}")
    try:
        moment = datetime.strptime(f"{match['date']} {match['year']}", "%b %d %H:%M:%S %Y")
    except ValueError as error:
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}") from error
    return moment, match["zone"] or ""


def iso(moment: datetime, zone: str) -> str:
    """With Z where the zone is known for certain, else as local time without a zone."""
    return moment.isoformat() + ("Z" if zone in ("UTC", "GMT", "+0000") else "")


def sqlite_time(text: str) -> datetime:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", text.strip()):
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}")
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d %H:%M:%S")
    except ValueError as error:
        raise NotUnderstood(f"not a time of HammerDB: {text[:60]!r}") from error
