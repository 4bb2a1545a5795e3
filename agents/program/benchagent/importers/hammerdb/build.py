"""One `buildschema`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from benchagent.importers.base import Metric, NotUnderstood, Report, Scalar, Status, Subject
from benchagent.importers.hammerdb.dates import iso, tcl_time
from benchagent.importers.hammerdb.names import dbms_of
from benchagent.redaction import redact_text

TOOL = "hammerdb"
_BUILDING = re.compile(r"Building (?P<warehouses>\d+) Warehouses?(?:\(s\))? with (?P<users>\d+) Virtual Users?")
_READY = re.compile(
    r"Ready to create a (?P<size>\d+) (?P<what>Warehouse|Scale Factor) (?P<dbms>[\w ]+?)"
    r" TPR?O?C?-?(?P<kind>[CH]) schema"
)
_STAMP = re.compile(r"^(?P<edge>Start|End):\s?(?P<stamp>\w{3} \w{3} .*)$")
# PostgreSQL's builds name the user or the database instead.
_COMPLETE = re.compile(r"^(?:TPC(?P<kind>[CH])|TPROC-(?P<new>[CH])|[A-Z0-9_]+) SCHEMA COMPLETE")
_KIND = re.compile(r"TPR?O?C?-?(?P<kind>[CH])(?: SCHEMA|\b)")
_ERROR = re.compile(r"^Error in Virtual User (?P<vuser>\d+):(?P<message>.*)$")


@dataclass
class Build:
    settings: Callable[[str], dict[str, Scalar]]
    dbms: str = ""
    users: set[int] = field(default_factory=set)
    told: int | None = None
    loaders: int | None = None
    size: tuple[str, int] | None = None
    kind: str = "C"
    starts: dict[int, list[tuple[datetime, str]]] = field(default_factory=dict)
    ends: dict[int, list[tuple[datetime, str]]] = field(default_factory=dict)
    complete: bool = False
    running: set[int] = field(default_factory=set)
    succeeded: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    over: bool = False

    @property
    def is_behind(self) -> bool:
        return self.over

    def created(self, vuser: int, *, monitor: bool) -> None:
        self.users.add(vuser)

    def told_users(self, count: int, *, monitor: bool) -> None:
        self.told = count

    def line(self, text: str) -> None:
        if match := _BUILDING.search(text):
            self._sized("warehouses", int(match["warehouses"]))
            self.loaders = int(match["users"])
        elif match := _READY.search(text):
            self.kind = match["kind"]
            self.dbms = match["dbms"] or self.dbms
            self._sized("warehouses" if match["what"] == "Warehouse" else "scale_factor", int(match["size"]))
        elif match := _ERROR.match(text):
            self.errors.append(f"virtual user {match['vuser']}: {match['message'].strip()}")
        elif text.startswith("ALL VIRTUAL USERS COMPLETE") or text.startswith(("SCHEMA BUILD COMPLETED", "vudestroy")):
            self.over = True

    def _sized(self, name: str, size: int) -> None:
        if self.size not in (None, (name, size)):
            raise NotUnderstood(f"two sizes of one schema: {size} {name}")
        self.size = (name, size)

    def user(self, vuser: int, text: str, *, cut: bool) -> None:
        if match := _STAMP.match(text):
            if self.complete or (match["edge"] == "End" and vuser not in self.starts):
                raise NotUnderstood(f"virtual user {vuser}'s {match['edge']} is out of order")
            if not cut:
                edges = self.starts if match["edge"] == "Start" else self.ends
                stamp = tcl_time(match["stamp"])
                if stamp not in edges.setdefault(vuser, []):
                    edges[vuser].append(stamp)
        elif match := _COMPLETE.match(text):
            self.complete, self.kind = True, match["kind"] or match["new"] or self.kind
        elif text == "RUNNING":
            self.running.add(vuser)
        elif text == "FINISHED SUCCESS":
            if vuser == 1 and not self.complete:
                raise NotUnderstood("the build finished before its schema was complete: lines are out of order")
            self.succeeded.add(vuser)
        elif text.startswith("FINISHED FAILED"):
            self.failed.add(vuser)
        elif text.startswith("CREATING TPCH"):
            self.kind = "H"
        elif "Error" in text:
            self.errors.append(f"virtual user {vuser}: {text}")

    def reports(self, tool_version: str) -> list[Report]:
        warnings: list[str] = []
        parameters = {
            name: value for name, value in self.settings("tpcc" if self.kind == "C" else "tpch").items()
            if name in ("build_virtual_users", "storage_engine", "partitioned", "hash_clusters", "use_bcp", "in_memory",
                        "history_primary_key", "stored_procedures", "citus", "column_store")
        }  # fmt: skip
        if self.size is not None:
            parameters[self.size[0]] = self.size[1]
        if self.loaders is not None:
            parameters["build_virtual_users"] = self.loaders
        status, reason = self._status()
        metrics, started_at = self._times(status, warnings)
        name = f"TPROC-{self.kind} schema (HammerDB)"
        subject = Subject(f"tproc{self.kind.lower()}-load", name, dbms=dbms_of(self.dbms))
        return [
            Report(tool=TOOL, tool_version=tool_version, status=status, reason=reason, parameters=parameters,
                   metrics=metrics, warnings=tuple(warnings), subject=subject, started_at=started_at)
        ]  # fmt: skip

    def _status(self) -> tuple[Status, str]:
        cause = f": {redact_text(self.errors[0])[:200]}" if self.errors else ""
        if self.failed:
            return Status.FAILED, f"virtual users {', '.join(map(str, sorted(self.failed)))} failed{cause}"
        if not self.complete:
            return Status.ABORTED, f"the log ends before the schema is complete{cause}"
        return Status.COMPLETE, ""

    def _times(self, status: Status, warnings: list[str]) -> tuple[tuple[Metric, ...], str]:
        """Loading takes from the first Start to the last End; indexes and statistics follow without a time."""
        if status is not Status.COMPLETE or not (self.starts or self.ends):
            return (), ""
        once = all(len(stamps) == 1 for stamps in (*self.starts.values(), *self.ends.values()))
        loaders = len(self.running - {1} or self.running) if self.loaders is None else self.loaders
        if not once or set(self.starts) != set(self.ends) or len(self.starts) != loaders:
            warnings.append("not every virtual user's Start and End are there: no time of loading")
            return (), ""
        starts = [stamps[0] for stamps in self.starts.values()]
        ends = [stamps[0] for stamps in self.ends.values()]
        if any(self.ends[vuser][0][0] < self.starts[vuser][0][0] for vuser in self.starts):
            raise NotUnderstood("a virtual user ended loading before it started")
        if len({zone for _, zone in (*starts, *ends)}) > 1:
            warnings.append("the time zone changed while loading: no time of loading")
            return (), ""
        first, last = min(starts), max(ends)
        warnings.append("load_s is from the first Start to the last End: without indexes and statistics")
        seconds = (last[0] - first[0]).total_seconds()
        return (Metric("load_s", "s", seconds, phase="load", better="lower"),), iso(*first)
