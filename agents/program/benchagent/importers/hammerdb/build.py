"""One `buildschema`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from benchagent.importers.hammerdb.names import dbms_of
from benchagent.importers.hammerdb.times import iso, tcl_time
from benchagent.importers.hammerdb.users import VirtualUsers
from benchagent.importers.lines import Line
from benchagent.importers.report import Metric, Report, Status, Subject, measured
from benchagent.importers.source import NotUnderstood

_BUILDING = re.compile(r"Building (?P<warehouses>\d+) Warehouses?(?:\(s\))? with (?P<users>\d+) Virtual Users?")
_READY = re.compile(
    r"Ready to create a (?P<size>\d+) (?P<what>Warehouse|Scale Factor) (?P<dbms>[\w ]+?)"
    r" TPR?O?C?-?(?P<kind>[CH]) schema"
)
_STAMP = re.compile(r"^(?P<edge>Start|End):\s?(?P<stamp>\w{3} \w{3} .*)$")
# PostgreSQL's builds name the user or the database instead.
_COMPLETE = re.compile(r"^(?:TPC(?P<kind>[CH])|TPROC-(?P<new>[CH])|[A-Z0-9_]+) SCHEMA COMPLETE")
_ABOUT_BUILDING = frozenset(
    {"build_virtual_users", "storage_engine", "partitioned", "hash_clusters", "use_bcp", "in_memory",
     "history_primary_key", "stored_procedures", "citus", "column_store"}
)  # fmt: skip


@dataclass
class Build(VirtualUsers):
    loaders: int | None = None
    size: tuple[str, int] | None = None
    kind: str = "C"
    # When each virtual user said Start, and End.
    edges: dict[str, dict[int, list[tuple[datetime, str]]]] = field(default_factory=lambda: {"Start": {}, "End": {}})
    complete: bool = False
    over: bool = False

    @property
    def is_behind(self) -> bool:
        return self.over

    def tell(self, count: int) -> None:
        self.told = count

    def line(self, text: str) -> None:
        if match := _BUILDING.search(text):
            self._sized("warehouses", int(match["warehouses"]))
            self.loaders = int(match["users"])
        elif match := _READY.search(text):
            self.kind, self.dbms = match["kind"], match["dbms"] or self.dbms
            self._sized("warehouses" if match["what"] == "Warehouse" else "scale_factor", int(match["size"]))
        elif not self.take_error(text):
            ends = ("ALL VIRTUAL USERS COMPLETE", "SCHEMA BUILD COMPLETED", "vudestroy")
            self.over = self.over or text.startswith(ends)

    def _sized(self, name: str, size: int) -> None:
        if self.size not in (None, (name, size)):
            raise NotUnderstood(f"two sizes of one schema: {size} {name}")
        self.size = (name, size)

    def user(self, vuser: int, line: Line) -> None:
        text = line.text
        if match := _STAMP.match(text):
            if self.complete or (match["edge"] == "End" and vuser not in self.edges["Start"]):
                raise NotUnderstood(f"virtual user {vuser}'s {match['edge']} is out of order")
            if line.whole:
                stamps = self.edges[match["edge"]].setdefault(vuser, [])
                stamp = tcl_time(match["stamp"])
                stamps += [stamp] if stamp not in stamps else []
        elif match := _COMPLETE.match(text):
            self.complete, self.kind = True, match["kind"] or match["new"] or self.kind
        elif self.take_state(vuser, text):
            if text == "FINISHED SUCCESS" and vuser == 1 and not self.complete:
                raise NotUnderstood("the build finished before its schema was complete: lines are out of order")
        elif text.startswith("CREATING TPCH"):
            self.kind = "H"
        elif "Error" in text:
            self.errors.append(f"virtual user {vuser}: {text}")

    def reports(self, tool_version: str) -> list[Report]:
        warnings: list[str] = []
        settings = self.settings("tpcc" if self.kind == "C" else "tpch")
        parameters = {name: value for name, value in settings.items() if name in _ABOUT_BUILDING}
        if self.size is not None:
            parameters[self.size[0]] = self.size[1]
        if self.loaders is not None:
            parameters["build_virtual_users"] = self.loaders
        status, reason = Status.COMPLETE, ""
        if self.failed:
            status, reason = Status.FAILED, self.failure
        elif not self.complete:
            status, reason = Status.ABORTED, "the log ends before the schema is complete"
        if reason and self.errors:
            reason += f": {self.first_error}"
        metrics, started_at = self._times(warnings) if status is Status.COMPLETE else ((), "")
        subject = Subject(
            f"tproc{self.kind.lower()}-load", f"TPROC-{self.kind} schema (HammerDB)", dbms=dbms_of(self.dbms)
        )
        return [
            Report(tool="hammerdb", tool_version=tool_version, status=status, reason=reason, parameters=parameters,
                   metrics=metrics, warnings=tuple(warnings), subject=subject, started_at=started_at)
        ]  # fmt: skip

    def _times(self, warnings: list[str]) -> tuple[tuple[Metric, ...], str]:
        """Loading takes from the first Start to the last End; indexes and statistics follow without a time."""
        starts, ends = self.edges["Start"], self.edges["End"]
        if not starts and not ends:
            return (), ""
        once = all(len(stamps) == 1 for stamps in (*starts.values(), *ends.values()))
        loaders = len(self.running - {1} or self.running) if self.loaders is None else self.loaders
        if not once or set(starts) != set(ends) or len(starts) != loaders:
            warnings.append("not every virtual user's Start and End are there: no time of loading")
            return (), ""
        if any(ends[vuser][0][0] < stamps[0][0] for vuser, stamps in starts.items()):
            raise NotUnderstood("a virtual user ended loading before it started")
        if len({zone for stamps in (*starts.values(), *ends.values()) for _, zone in stamps}) > 1:
            warnings.append("the time zone changed while loading: no time of loading")
            return (), ""
        first, last = min(stamps[0] for stamps in starts.values()), max(stamps[0] for stamps in ends.values())
        warnings.append("load_s is from the first Start to the last End: without indexes and statistics")
        return (measured("load_s", (last[0] - first[0]).total_seconds(), "load"),), iso(*first)
