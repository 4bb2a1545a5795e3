"""What HammerDB's files share: its words, its times, what its virtual users say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from benchagent.importers.report import Scalar
from benchagent.importers.series import drifting
from benchagent.importers.source import NotUnderstood
from benchagent.redaction import redact_text

# HammerDB's words -> the catalogue's.

PROCEDURES = {
    "NEWORD": "new_order", "PAYMENT": "payment", "DELIVERY": "delivery", "SLEV": "stock_level", "OSTAT": "order_status",
}  # fmt: skip

# Settings without their DBMS's prefix (mysql_, pg_, mssqls_, ora_, db2_, maria_).
SETTINGS = {
    "count_ware": "warehouses", "rampup": "ramp_up_s", "duration": "duration_s", "num_vu": "build_virtual_users",
    "allwarehouse": "all_warehouses", "timeprofile": "time_profile", "keyandthink": "keying_and_thinking",
    "async_scale": "async_scale", "async_client": "async_clients", "async_delay": "async_delay_ms",
    "storedprocs": "stored_procedures", "no_stored_procs": "without_stored_procedures", "prepared": "prepared",
    "partition": "partitioned", "raiseerror": "raise_error", "total_iterations": "total_iterations",
    "storage_engine": "storage_engine", "use_bcp": "use_bcp", "imdb": "in_memory", "hash_clusters": "hash_clusters",
    "history_pk": "history_primary_key", "vacuum": "vacuum", "checkpoint": "checkpoint", "dritasnap": "dritasnap",
    "cituscompat": "citus", "scale_fact": "scale_factor", "scale_factor": "scale_factor",
    "total_querysets": "query_sets", "degree_of_parallel": "degree_of_parallelism", "maxdop": "degree_of_parallelism",
    "refresh_on": "refresh", "update_sets": "update_sets", "colstore": "column_store",
    "no_compress": "without_compression", "ssl": "ssl",
}  # fmt: skip
IN_MINUTES = ("ramp_up_s", "duration_s")


# HammerDB's stamps, and samples taken at them: Tcl's `clock format`, and those of the jobs database.

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


def spaced(times: Sequence[datetime], values: Sequence[float]) -> tuple[float, tuple[float | None, ...], float]:
    """(interval_s, values with None for missing samples, drift as a part of the interval).

    What reads sleeps between its readings, so it drifts by some parts in a hundred. Raises NotUnderstood.
    """
    seconds = [(moment - times[0]).total_seconds() for moment in times]
    interval, spread = drifting(
        seconds, values, lambda usual: next((s for s in _REFRESH_S if 0 <= usual - s <= 1), usual), slack_s=1.1
    )
    return interval, tuple(spread), seconds[-1] / ((len(spread) - 1) * interval) - 1


# What HammerDB's virtual users say of themselves, whether they run or build.

_ERROR = re.compile(r"^Error in Virtual User (?P<vuser>\d+):(?P<message>.*)$")


@dataclass
class VirtualUsers:
    # The dictionary's settings of `tpcc` or `tpch`, as far as they are known.
    settings: Callable[[str], dict[str, Scalar]]
    dbms: str = ""
    created: set[int] = field(default_factory=set)
    # How many HammerDB said it created.
    announced: int | None = None
    running: set[int] = field(default_factory=set)
    succeeded: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    def take_state(self, vuser: int, text: str) -> bool:
        """Whether a virtual user said that it runs or how it finished."""
        states = {"RUNNING": self.running, "FINISHED SUCCESS": self.succeeded, "FINISHED FAILED": self.failed}
        users = next((users for state, users in states.items() if text.startswith(state)), None)
        if users is not None:
            users.add(vuser)
        return users is not None

    def take_error(self, text: str) -> bool:
        if match := _ERROR.match(text):
            self.errors.append(f"virtual user {match['vuser']}: {match['message'].strip()}")
        return bool(match)

    @property
    def first_error(self) -> str:
        return redact_text(self.errors[0])[:200] if self.errors else ""

    @property
    def failure(self) -> str:
        """Which of them failed; empty where none did."""
        return f"virtual users {', '.join(map(str, sorted(self.failed)))} failed" if self.failed else ""
