"""What virtual users say, and one run of them: TPROC-C (timed or not) or TPROC-H."""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass, field
from statistics import geometric_mean
from typing import Any

from benchagent.importers.hammerdb.times import iso, time_of
from benchagent.importers.report import Metric, Report, Scalar, Subject, all_measured, dbms_called, entries
from benchagent.importers.source import Line, NotUnderstood
from benchagent.importers.tables import Figures, Table, Told
from benchagent.redaction import redact_text

_STATE = re.compile(r"RUNNING|FINISHED SUCCESS|FINISHED FAILED")


@dataclass(kw_only=True)
class VirtualUsers(Told):
    """What HammerDB's virtual users say of themselves, whether they run or build."""

    # What the log had said before they began: the dictionary's settings of `tpcc` and of `tpch` among it.
    settings: dict[str, dict[str, Scalar]] = field(default_factory=dict)
    tool_version: str = ""
    dbms: str = ""
    begun: bool = False
    created: set[int] = field(default_factory=set)
    # How many HammerDB said it created.
    announced: set[int] = field(default_factory=set)
    running: set[int] = field(default_factory=set)
    succeeded: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)

    def add_state(self, vuser: int, text: str) -> bool:
        """Whether a virtual user said that it runs or how it finished."""
        if state := _STATE.match(text):
            users = {"RUNNING": self.running, "FINISHED SUCCESS": self.succeeded}.get(state[0], self.failed)
            users.add(vuser)
        return bool(state)

    @property
    def first_error(self) -> str:
        return redact_text(self.problems[0])[:200]

    def why(self, otherwise: str) -> str:
        """Which of them failed, else the other reason, with the first error; empty without a reason."""
        failed = f"virtual users {', '.join(map(str, sorted(self.failed)))} failed" if self.failed else otherwise
        return f"{failed}: {self.first_error}" if failed and self.problems else failed


@dataclass
class QuerySet:
    """The queries of one set of TPROC-H, their seconds by number, and what HammerDB says at its end."""

    queries: dict[int, float] = field(default_factory=dict)
    # Its seconds; how many queries returned rows, and their geometric mean.
    totals: dict[str, float] = field(default_factory=dict)
    # The position of the query that came last.
    position: int = 0


def _of_stream(vuser: int, sets: list[QuerySet]) -> dict[str, float]:
    for each in sets:
        # The printed mean is of the queries that returned rows, the elapsed time of all, in whole seconds.
        times, elapsed_s, mean_s = [*each.queries.values()], each.totals["elapsed_s"], each.totals.get("mean_s", 0)
        is_known = times and all(times) and len(times) == each.totals.get("with_rows")
        if is_known and not math.isclose(geometric_mean(times), mean_s, rel_tol=0.01, abs_tol=0.001):
            raise NotUnderstood(f"virtual user {vuser}: the geometric mean is not that of its queries")
        if sum(times) > elapsed_s * 1.02 + 2:
            raise NotUnderstood(f"virtual user {vuser}: its queries took longer than the {elapsed_s:g} s of the set")
    figures = {"elapsed_s": sum(each.totals["elapsed_s"] for each in sets)}
    means = [(each.totals.get("with_rows"), each.totals.get("mean_s")) for each in sets]
    known = [(count, mean_s) for count, mean_s in means if count and mean_s]
    if len(known) == len(sets):
        logarithm = sum(count * math.log(mean_s) for count, mean_s in known) / sum(count for count, _ in known)
        figures["geometric_mean_s"] = round(math.exp(logarithm), 5)
    for number, each in enumerate(sets, start=1):
        own = f"set_{number}_" if len(sets) > 1 else ""
        if own:
            of_set = {"elapsed_s": each.totals["elapsed_s"], "geometric_mean_s": each.totals.get("mean_s")}
            figures |= {f"{own}{name}": seconds for name, seconds in of_set.items() if seconds is not None}
        figures |= {f"{own}query_{query}_s": seconds for query, seconds in sorted(each.queries.items())}
    return figures


ANSWER = "an answer of `jobs`, not the log of the run"
# In the order in which the monitor says them: what goes back is another run or a mess.
_LINES = Table(
    "hammerdb",
    ("running", "RUNNING"),
    ("ramp_up", "Beginning rampup time of {ramp_up:int} {minutes|minute}"),
    ("ramped", "Rampup {ramp_up:int} minutes complete ..."),
    ("begin", "Rampup complete[{:rest}]"),
    ("duration", "Timing test period of {duration:int} in minutes"),
    ("minute", "{duration:int} ...[,]"),
    ("end", "Test complete[{:rest}]"),
    ("active", "{active:int} Active Virtual Users configured"),
    ("sessions", "{active:int} VU * {clients:int} AC = {sessions:int} Active Sessions configured"),
    # v3.3 turned the order of the two figures round.
    ("result", "TEST RESULT[ ]: System achieved {nopm:int} NOPM from {tpm:int} {dbms:name} TPM"),
    ("result", "TEST RESULT[ ]: System achieved {tpm:int} {dbms:name} TPM at {nopm:int} NOPM"),
    ("finished", "FINISHED {SUCCESS|FAILED}[{:rest}]"),
    ("version", "DBVersion:{version:rest}"),
    ("queries", "Executing Query {:int} ({position:int} of {:int})"),
    ("queries", "query {query:int} completed in {seconds:exp} seconds"),
    ("queries", "Completed {sets:int} query set(s) in {elapsed_s:num} seconds"),
    ("queries", 'Geometric mean of query times returning rows ({with_rows:int}) is ["]{mean_s:num}["]'),
    ("queries", "{kind:New|Old} Sales refresh complete in {seconds:num} seconds"),
    strict=False,
)
_RAMP_UP = _LINES.rank["ramp_up"]
_STOPPED = re.compile(
    r"^(?:Virtual Users? (?:Destroyed|forced)|VU(?:s)? (?:destroyed|killed)|Terminating|\^C|Interrupted)"
)
_ACTIVE = re.compile(r"\d+ Active Virtual Users configured")
_BEGINS = re.compile(r"Beginning rampup time of \d+ minutes?$|DBVersion:\S")
_COUNTER = re.compile(r"^\d+ [A-Za-z][\w ]* (?:tpm|qph)$")
_QUOTED_ERROR = re.compile(r"\b(?:error|failed)\b")


@dataclass
class Run(VirtualUsers):
    log_start: str = ""
    # The workload that the log says was chosen: tpcc, tpch, or none.
    benchmark: str = ""
    # The result of a run whose log this is not: `jobs` repeats it.
    echo: bool = False
    # What the monitor says, but for the minutes that it counts.
    monitor: Figures = field(default_factory=Figures)
    minutes: dict[str, int] = field(default_factory=dict)
    result_line: str = ""
    version: str = ""
    # Of TPROC-H the query sets of each virtual user, one after the other, and the seconds of its refresh functions.
    streams: dict[int, list[QuerySet]] = field(default_factory=dict)
    refresh: dict[str, float] = field(default_factory=dict)
    stopped: str = ""
    ended: bool = False
    readings: int = 0

    @property
    def is_behind(self) -> bool:
        """Whether nothing more is to come of it."""
        return self.ended or bool(self.result_line)

    def ends_before(self, vuser: int, text: str) -> bool:
        """Whether this line of a virtual user is another run's."""
        if text == "RUNNING":
            return self.begun and bool(vuser in self.running or self.succeeded or self.result_line)
        if vuser != 1:
            return False
        around = self.monitor.rows.keys() - {"active", "sessions", "result"}
        alone = not (self.running or self.succeeded or self.failed or self.minutes or around)
        if self.result_line and _ACTIVE.match(text) and alone:
            return True
        if self.result_line and text.startswith("TEST RESULT") and (alone or self.ended):
            return self.result_line != text
        return self.monitor.rank > _RAMP_UP and bool(_BEGINS.match(text))

    def add_line(self, text: str) -> None:
        """A line that no virtual user said."""
        if _COUNTER.match(text) and self.begun:
            self.readings += 1
        elif _STOPPED.match(text) and self.begun and not self.result_line:
            self.stopped = self.stopped or text
        elif text.startswith("ALL VIRTUAL USERS COMPLETE"):
            self.ended = True

    def add_user_line(self, vuser: int, line: Line) -> None:
        text, match = line.text, _LINES.match(line)
        if self.add_state(vuser, text) and vuser != 1:
            return
        if match is None:
            if text.startswith("TEST RESULT") and line.whole:
                raise NotUnderstood(f"not a wording of the result that is known: {redact_text(text)[:100]!r}")
            if _QUOTED_ERROR.search(text.lower()):
                self.problems.append(f"virtual user {vuser}: {text}")
        elif match.key == "version":
            self.version = match.values.get("version", "")
        elif match.cut:
            return
        elif match.key == "queries":
            self.add_query(vuser, match.values)
        elif match.key in ("ramped", "minute"):
            self.minutes |= {name: max(self.minutes.get(name, 0), value) for name, value in match.values.items()}
        else:
            self.monitor.add(line, match)
            self.result_line = text if match.key == "result" else self.result_line

    def add_query(self, vuser: int, values: dict[str, Any]) -> None:
        if "kind" in values:
            self.refresh[values["kind"].lower()] = values["seconds"]
            return
        sets = self.streams.setdefault(vuser, [QuerySet()])
        current = sets[-1]
        if "position" in values:
            if 1 != values["position"] < current.position:
                raise NotUnderstood(f"virtual user {vuser}'s queries are out of order")
            if values["position"] == 1 and "elapsed_s" in current.totals:
                sets.append(current := QuerySet())
            current.position = values["position"]
        elif "query" in values:
            if current.queries.setdefault(values["query"], values["seconds"]) != values["seconds"]:
                raise NotUnderstood(f"virtual user {vuser} ran query {values['query']} twice in one set")
        else:
            # Told of each set alone; their number counts on.
            expected = {"sets": len(sets)} | current.totals
            if any(expected.get(name, value) != value for name, value in values.items()):
                raise NotUnderstood(f"virtual user {vuser} told the end of a query set out of order, or two of it")
            current.totals |= values

    def query_metrics(self, users: int) -> tuple[Metric, ...]:
        """None before every stream came to its end."""
        every = [each for sets in self.streams.values() for each in sets]
        if not every or users > len(self.streams) or any("elapsed_s" not in each.totals for each in every):
            return ()
        figures: dict[str, float | None] = {}
        for vuser, sets in sorted(self.streams.items()):
            prefix = "" if self.streams.keys() == {1} else f"stream_{vuser}_"
            figures |= {f"{prefix}{name}": seconds for name, seconds in _of_stream(vuser, sets).items()}
        figures |= {f"refresh_{kind}_sales_s": seconds for kind, seconds in self.refresh.items()}
        if len(every) > len(self.streams):
            self.warnings.append("several query sets: elapsed_s is their sum, geometric_mean_s is over all of them")
        return all_measured(figures, "query", better="lower")

    def report(self) -> Report:
        figures, streams = self.monitor.values, self.streams
        if streams or (self.benchmark == "tpch" and not self.result_line):
            users = max(len(streams), len(self.running), *self.announced, 0)
            parameters, metrics = self.settings["tpch"], self.query_metrics(users)
            parameters.pop("terminals", None)
            if (sets := max(map(len, streams.values()), default=0)) > 1:
                parameters["query_sets"] = sets
            if metrics and not self.failed:
                parameters["terminals"] = users
            kind, begun, ended, end = "H", bool(streams), bool(metrics), "query set is complete"
        else:
            parameters = self._checked_parameters()
            self._warn_of_result()
            metrics = result_metrics(figures.get("nopm", 0), figures.get("tpm"), figures.get("dbms", ""), self.warnings)
            kind, begun, ended, end = "C", self.monitor.rank >= _RAMP_UP, bool(self.result_line), "result"
        failure = self.why("" if not self.problems or begun or ended else "the run did not begin")
        if kind == "C" and ended and not figures["nopm"]:
            failure = failure or "no new orders in the whole test"
        if self.problems:
            self.warnings.append(f"{len(self.problems)} lines tell of errors, the first: {self.first_error}")
        if self.readings and not streams:
            self.warnings.append("the readings of the transaction counter carry no time here: not read as a series")
        started_at = ""
        with contextlib.suppress(NotUnderstood):
            started_at = iso(*time_of(self.log_start)) if self.log_start else ""
        return Report(
            "hammerdb", tool_version=self.tool_version, parameters=parameters, metrics=metrics,
            reason="" if ended else self.stopped or f"the log ends before the {end}", failure=failure,
            warnings=tuple(self.warnings), started_at=started_at,
            subject=Subject(
                f"tproc{kind.lower()}", f"TPROC-{kind} (HammerDB)", dbms_version=redact_text(self.version),
                dbms=dbms_called(figures.get("dbms", self.dbms)),
            ),
        )  # fmt: skip

    def _checked_parameters(self) -> dict[str, Scalar]:
        parameters, figures = self.settings["tpcc"], self.monitor.values
        active, sessions = figures.get("active"), figures.get("sessions")
        if len(self.announced) > 1:
            raise NotUnderstood(f"{' and '.join(map(str, sorted(self.announced)))} virtual users created for one run")
        if sessions is not None and figures["active"] * figures["clients"] != sessions:
            raise NotUnderstood(f"{sessions} sessions are not those of {active} virtual users")
        if active is not None:
            announced = next(iter(self.announced), active + 1)
            if announced - 1 != active:
                raise NotUnderstood(f"{active} active virtual users, but {announced} created with the monitor")
            seen = max(self.created | self.running | self.succeeded, default=0)
            if seen > active + 1:
                raise NotUnderstood(f"{active} active virtual users, but virtual user {seen} took part")
            parameters["terminals"] = active if sessions is None else sessions
            if sessions is not None:
                parameters |= {"virtual_users": active, "async_clients": figures["clients"]}
        for name, minutes in entries(figures, "ramp_up", "duration").items():
            counted = self.minutes.get(name, minutes)
            words = f"{counted} minutes counted of a {name.replace('_', '-')} of {minutes}"
            if counted > minutes:
                raise NotUnderstood(words)
            if counted < minutes and self.result_line:
                parameters.pop(f"{name}_s", None)
                self.warnings.append(f"{words}: left out")
            else:
                parameters[f"{name}_s"] = minutes * 60
        return parameters

    def _warn_of_result(self) -> None:
        if self.failed and self.result_line:
            self.warnings.append("the result is of a run in which virtual users failed")
        elif self.monitor.values.get("nopm") and self.echo:
            self.warnings.append(ANSWER)
        elif self.monitor.values.get("nopm"):
            if "active" in self.monitor.values and not self.ended and self.succeeded:
                self.warnings.append("the log ends before all virtual users said how they finished")
            if "duration" not in self.monitor.values:
                self.warnings.append("the log does not show the start of this run")


def result_metrics(nopm: int, tpm: int | None, counted_by: str, warnings: list[str]) -> tuple[Metric, ...]:
    if tpm and nopm > tpm:
        raise NotUnderstood(f"{nopm} new orders a minute are more than {tpm} transactions a minute")
    if nopm and tpm == 0:
        warnings.append("HammerDB counted 0 TPM beside new orders: left out")
    if tpm:
        warnings.append(f"TPM counts the transactions as {counted_by} does: compare NOPM between systems")
    return all_measured({name: float(value) for name, value in (("nopm", nopm), ("tpm", tpm)) if value})
