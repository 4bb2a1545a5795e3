"""One run of virtual users: TPROC-C (timed or not) or TPROC-H."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Status,
    Subject,
    whole,
)
from benchagent.importers.hammerdb.dates import iso, tcl_time
from benchagent.importers.hammerdb.names import dbms_of
from benchagent.importers.hammerdb.queries import Queries
from benchagent.redaction import redact_text

TOOL = "hammerdb"
ANSWER = "an answer of `jobs`, not the log of the run"

_WORDS = r"(?P<dbms>[A-Za-z][\w ]*?)"
# v3.3 turned the order of the two figures round.
_NEW_RESULT = re.compile(rf"^TEST RESULT\s*: System achieved (?P<nopm>\d+) NOPM from (?P<tpm>\d+) {_WORDS} TPM$")
_OLD_RESULT = re.compile(rf"^TEST RESULT\s*: System achieved (?P<tpm>\d+) {_WORDS} TPM at (?P<nopm>\d+) NOPM$")
_ACTIVE = re.compile(r"^(?P<users>\d+) Active Virtual Users configured$")
_SESSIONS = re.compile(r"^(?P<users>\d+) VU \* (?P<clients>\d+) AC = (?P<sessions>\d+) Active Sessions configured$")
_RAMP_UP = re.compile(r"^Beginning rampup time of (?P<minutes>\d+) minutes?$")
_RAMPED = re.compile(r"^Rampup (?P<minutes>\d+) minutes complete \.\.\.$")
_TIMING = re.compile(r"^Timing test period of (?P<minutes>\d+) in minutes$")
_MINUTE = re.compile(r"^(?P<minutes>\d+) +\.\.\.,?$")
_VERSION = re.compile(r"^DBVersion:(?P<version>\S.*)$")
_ERROR = re.compile(r"^Error in Virtual User (?P<vuser>\d+):(?P<message>.*)$")
_STOPPED = re.compile(
    r"^(?:Virtual Users? (?:Destroyed|forced)|VU(?:s)? (?:destroyed|killed)|Terminating|\^C|Interrupted)"
)
_COUNTER = re.compile(r"^\d+ [A-Za-z][\w ]* (?:tpm|qph)$")
_QUOTED_ERROR = re.compile(r"(?i)\berror\b|\bfailed\b")
# Where a monitor's lines must stand; what goes back is another run or a mess.
_ORDER = ("created", "RUNNING", "Beginning rampup", "Rampup complete", "Timing test period", "Test complete",
          "configured", "TEST RESULT", "FINISHED")  # fmt: skip


@dataclass
class Run:
    settings: Callable[[str], dict[str, Scalar]]
    dbms: str = ""
    log_start: str = ""
    echo: bool = False
    users: set[int] = field(default_factory=set)
    told: int | None = None
    monitor: bool = False
    stage: int = 0
    figures: dict[str, int] = field(default_factory=dict)
    minutes: dict[str, int] = field(default_factory=dict)
    result: tuple[int, int, str] | None = None
    result_line: str = ""
    version: str = ""
    failed: set[int] = field(default_factory=set)
    succeeded: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    queries: Queries = field(default_factory=Queries)
    parameters: dict[str, Scalar] = field(default_factory=dict)
    begun: bool = False
    stopped: str = ""
    ended: bool = False
    readings: int = 0

    @property
    def is_behind(self) -> bool:
        """Whether nothing more is to come of it."""
        return self.ended or (self.begun and self.result is not None)

    @property
    def is_result_alone(self) -> bool:
        said = (self.running, self.succeeded, self.failed, self.figures, self.minutes)
        return self.result is not None and not any(said)

    def created(self, vuser: int, *, monitor: bool) -> None:
        self.users.add(vuser)
        self.monitor = self.monitor or monitor

    def told_users(self, count: int, *, monitor: bool) -> None:
        if self.told is not None and self.told != count:
            raise NotUnderstood(f"{count} virtual users created, but {self.told} before")
        self.told, self.monitor = count, self.monitor or monitor

    def ends_before(self, vuser: int, text: str) -> bool:
        """Whether this line of a virtual user is another run's."""
        if text == "RUNNING":
            return self.begun and (vuser in self.running or bool(self.succeeded) or self.result is not None)
        if vuser == 1 and text.startswith("TEST RESULT") and (self.is_result_alone or (self.ended and self.result)):
            return self.result_line != text
        if vuser == 1 and _RAMP_UP.match(text):
            return self.stage > _ORDER.index("Beginning rampup")
        return vuser == 1 and self.stage > _ORDER.index("Beginning rampup") and _VERSION.match(text) is not None

    def line(self, text: str) -> None:
        """A line that no virtual user said."""
        if match := _ERROR.match(text):
            self.errors.append(f"virtual user {match['vuser']}: {match['message'].strip()}")
        elif _COUNTER.match(text) and self.begun:
            self.readings += 1
        elif _STOPPED.match(text) and self.begun and self.result is None:
            self.stopped = self.stopped or text
        elif text.startswith("ALL VIRTUAL USERS COMPLETE"):
            self.ended = True

    def user(self, vuser: int, text: str, *, cut: bool) -> None:
        if not self.begun:
            self.begun = True
            self.parameters = self.settings("tpcc") or {}
        self._place(vuser, text)
        if text == "RUNNING":
            self.running.add(vuser)
        elif text == "FINISHED SUCCESS":
            self.succeeded.add(vuser)
        elif text.startswith("FINISHED FAILED"):
            self.failed.add(vuser)
        elif match := _VERSION.match(text):
            self.version = match["version"] if not cut else ""
        elif text.startswith("TEST RESULT"):
            self._take_result(text, cut=cut)
        elif self.queries.take(vuser, text, cut=cut):
            pass
        elif not self._take_figure(text, cut=cut) and _QUOTED_ERROR.search(text):
            self.errors.append(f"virtual user {vuser}: {text}")

    def _place(self, vuser: int, text: str) -> None:
        if vuser != 1:
            return
        stage = next((place for place, mark in enumerate(_ORDER) if mark in text), None)
        if stage is None:
            return
        if stage < self.stage:
            raise NotUnderstood(f"{text[:60]!r} stands after {_ORDER[self.stage]!r}: lines are out of order")
        self.stage = stage

    def _take_result(self, text: str, *, cut: bool) -> None:
        match = _NEW_RESULT.match(text) or _OLD_RESULT.match(text)
        if match is None:
            if cut:
                return
            raise NotUnderstood(f"not a wording of the result that is known: {redact_text(text)[:100]!r}")
        found = (whole(match["nopm"]), whole(match["tpm"]), match["dbms"])
        if self.result not in (None, found):
            raise NotUnderstood("two different results of one run")
        self.result, self.result_line = found, text

    def _take_figure(self, text: str, *, cut: bool) -> bool:
        for name, pattern in (("ramp_up", _RAMP_UP), ("duration", _TIMING), ("active", _ACTIVE)):
            if match := pattern.match(text):
                value = int(match[1])
                if self.figures.setdefault(name, value) != value:
                    raise NotUnderstood(f"{text[:60]!r} stands beside another figure")
                return True
        if match := _SESSIONS.match(text):
            if int(match["users"]) * int(match["clients"]) != int(match["sessions"]):
                raise NotUnderstood(f"{text[:60]!r} does not multiply")
            self.figures |= {"active": int(match["users"]), "sessions": int(match["sessions"])}
            self.figures["clients"] = int(match["clients"])
            return True
        for name, pattern in (("ramp_up", _RAMPED), ("duration", _MINUTE)):
            if match := pattern.match(text):
                if not cut:
                    self.minutes[name] = max(self.minutes.get(name, 0), int(match["minutes"]))
                return True
        return False

    def reports(self, tool_version: str) -> list[Report]:
        if not self.begun and not self.echo:
            return []
        if self.queries.found:
            return [self._queries_report(tool_version)]
        return [self._report(tool_version)]

    def _report(self, tool_version: str) -> Report:
        warnings: list[str] = []
        parameters = dict(self.parameters)
        self._check_users()
        parameters |= self._measured(parameters, warnings)
        status, reason = self._status(warnings)
        metrics = self._metrics(status, warnings)
        if self.errors:
            warnings.append(f"{len(self.errors)} lines tell of errors, the first: {redact_text(self.errors[0])[:200]}")
        if self.readings:
            warnings.append("the readings of the transaction counter carry no time here: not read as a series")
        return Report(
            tool=TOOL, tool_version=tool_version, status=status, reason=reason, parameters=parameters,
            metrics=metrics, warnings=tuple(warnings), subject=self._subject("tprocc", "TPROC-C (HammerDB)"),
            started_at=self._started_at(),
        )  # fmt: skip

    def _check_users(self) -> None:
        active = self.figures.get("active")
        if active is None:
            return
        if self.told is not None and self.told - 1 != active:
            raise NotUnderstood(f"{active} active virtual users, but {self.told} created with the monitor")
        seen = max(self.users | self.running | self.succeeded, default=0)
        if seen > active + 1:
            raise NotUnderstood(f"{active} active virtual users, but virtual user {seen} took part")

    def _measured(self, told: dict[str, Scalar], warnings: list[str]) -> dict[str, Scalar]:
        found: dict[str, Scalar] = {}
        active = self.figures.get("sessions", self.figures.get("active"))
        if active is not None:
            found["terminals"] = active
        if "clients" in self.figures:
            found |= {"virtual_users": self.figures["active"], "async_clients": self.figures["clients"]}
        for name, parameter in (("ramp_up", "ramp_up_s"), ("duration", "duration_s")):
            minutes, counted = self.figures.get(name), self.minutes.get(name)
            if minutes is not None and counted is not None and counted > minutes:
                raise NotUnderstood(f"{counted} minutes counted of a {name.replace('_', '-')} of {minutes}")
            if minutes is None:
                continue
            if counted is not None and counted < minutes and self.result is not None:
                told.pop(parameter, None)
                warnings.append(f"{counted} minutes counted of a {name.replace('_', '-')} of {minutes}: left out")
                continue
            found[parameter] = minutes * 60
        return found

    def _status(self, warnings: list[str]) -> tuple[Status, str]:
        if self.failed:
            users = ", ".join(map(str, sorted(self.failed)))
            if self.result is not None:
                warnings.append("the result is of a run in which virtual users failed")
            cause = f": {redact_text(self.errors[0])[:200]}" if self.errors else ""
            return Status.FAILED, f"virtual users {users} failed{cause}"
        if self.result is None:
            if self.stage < _ORDER.index("Beginning rampup") and self.errors:
                return Status.FAILED, f"the run did not begin: {redact_text(self.errors[0])[:200]}"
            return Status.ABORTED, self.stopped or "the log ends before the result"
        if self.result[0] == 0:
            return Status.FAILED, "no new orders in the whole test"
        if self.echo:
            warnings.append(ANSWER)
            return Status.COMPLETE, ""
        if self.figures.get("active") is not None and not self.ended and self.succeeded:
            warnings.append("the log ends before all virtual users said how they finished")
        if "duration" not in self.figures:
            warnings.append("the log does not show the start of this run")
        return Status.COMPLETE, ""

    def _metrics(self, status: Status, warnings: list[str]) -> tuple[Metric, ...]:
        if self.result is None:
            return ()
        nopm, tpm, dbms = self.result
        if tpm and nopm > tpm:
            raise NotUnderstood(f"{nopm} new orders a minute are more than {tpm} transactions a minute")
        metrics = [Metric("nopm", "NOPM", float(nopm), better="higher")] if nopm else []
        if tpm:
            metrics.append(Metric("tpm", "TPM", float(tpm), better="higher"))
            warnings.append(f"TPM counts the transactions as {dbms} does: compare NOPM between systems")
        elif nopm:
            warnings.append("HammerDB counted 0 TPM beside new orders: left out")
        return tuple(metrics)

    def _queries_report(self, tool_version: str) -> Report:
        warnings: list[str] = []
        parameters = self.settings("tpch")
        streams = self.queries.streams
        users = max(len(streams), len(self.running), self.told or 0)
        parameters["terminals"] = users
        metrics, done = self.queries.metrics(warnings, users)
        if self.failed:
            failed = ", ".join(map(str, sorted(self.failed)))
            status, reason = Status.FAILED, f"virtual users {failed} failed"
        elif not done:
            status, reason = Status.ABORTED, self.stopped or "the log ends before the query set is complete"
        else:
            status, reason = Status.COMPLETE, ""
        if status is not Status.COMPLETE:
            parameters.pop("terminals")
        if self.errors:
            warnings.append(f"{len(self.errors)} lines tell of errors, the first: {redact_text(self.errors[0])[:200]}")
        return Report(
            tool=TOOL, tool_version=tool_version, status=status, reason=reason, parameters=parameters,
            metrics=metrics, warnings=tuple(warnings), subject=self._subject("tproch", "TPROC-H (HammerDB)"),
            started_at=self._started_at(),
        )  # fmt: skip

    def _subject(self, workload: str, name: str) -> Subject:
        dbms = dbms_of(self.result[2]) if self.result else dbms_of(self.dbms)
        return Subject(workload=workload, workload_name=name, dbms=dbms, dbms_version=redact_text(self.version))

    def _started_at(self) -> str:
        with contextlib.suppress(NotUnderstood):
            return iso(*tcl_time(self.log_start)) if self.log_start else ""
        return ""
