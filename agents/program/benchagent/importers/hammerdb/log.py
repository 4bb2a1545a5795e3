"""A log of HammerDB's CLI, its virtual users or its transaction counter -> runs, schema builds, profiles, counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from benchagent.importers.hammerdb.profile import profile_reports
from benchagent.importers.hammerdb.run import ANSWER, Run, VirtualUsers
from benchagent.importers.hammerdb.times import iso, spaced, time_of
from benchagent.importers.report import Report, Scalar, Series, Subject, all_measured, as_factors, dbms_called
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile, whole_or_text
from benchagent.importers.tables import reports_of
from benchagent.redaction import names_a_secret

_SIZES = (
    re.compile(r"Building (?P<warehouses>\d+) Warehouses?(?:\(s\))? with (?P<build_virtual_users>\d+) Virtual Users?"),
    re.compile(
        r"Ready to create a (?:(?P<warehouses>\d+) Warehouse|(?P<scale_factor>\d+) Scale Factor) (?P<dbms>[\w ]+?)"
        r" TPR?O?C?-?(?P<kind>[CH]) schema"
    ),
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
    """One `buildschema`."""

    # Warehouses or scale factor, and the virtual users that load.
    stated: dict[str, int] = field(default_factory=dict)
    kind: str = "C"
    # When each virtual user said Start, and End.
    edges: dict[str, dict[int, set[tuple[datetime, str]]]] = field(default_factory=lambda: {"Start": {}, "End": {}})
    complete: bool = False
    # Whether nothing more is to come of it.
    is_behind: bool = False

    def add_line(self, text: str) -> None:
        if match := next(filter(None, (size.search(text) for size in _SIZES)), None):
            sizes = match.groupdict()
            self.kind, self.dbms = sizes.pop("kind", self.kind), sizes.pop("dbms", self.dbms)
            figures = {name: int(figure) for name, figure in sizes.items() if figure}
            stated = figures | self.stated
            if stated | figures != stated or stated.keys() >= {"warehouses", "scale_factor"}:
                raise NotUnderstood(f"two sizes of one schema: {figures}")
            self.stated = stated
        else:
            ends = ("ALL VIRTUAL USERS COMPLETE", "SCHEMA BUILD COMPLETED", "vudestroy")
            self.is_behind = self.is_behind or text.startswith(ends)

    def add_user_line(self, vuser: int, line: Line) -> None:
        text = line.text
        if match := _STAMP.match(text):
            if self.complete or (match["edge"] == "End" and vuser not in self.edges["Start"]):
                raise NotUnderstood(f"virtual user {vuser}'s {match['edge']} is out of order")
            if line.whole:
                self.edges[match["edge"]].setdefault(vuser, set()).add(time_of(match["stamp"]))
        elif match := _COMPLETE.match(text):
            self.complete, self.kind = True, match["kind"] or match["new"] or self.kind
        elif self.add_state(vuser, text):
            if text == "FINISHED SUCCESS" and vuser == 1 and not self.complete:
                raise NotUnderstood("the build finished before its schema was complete: lines are out of order")
        elif text.startswith("CREATING TPCH"):
            self.kind = "H"
        elif "Error" in text:
            self.problems.append(f"virtual user {vuser}: {text}")

    def report(self) -> Report:
        settings = self.settings[f"tpc{self.kind.lower()}"]
        parameters = {name: value for name, value in settings.items() if name in _ABOUT_BUILDING} | self.stated
        reason = self.why("" if self.complete else "the log ends before the schema is complete")
        load_s, started_at = (None, "") if reason else self._times()
        subject = Subject(
            f"tproc{self.kind.lower()}-load", f"TPROC-{self.kind} schema (HammerDB)", dbms=dbms_called(self.dbms)
        )
        return Report(
            "hammerdb", tool_version=self.tool_version, reason=reason, failure=reason if self.failed else "",
            parameters=parameters, metrics=all_measured({"load_s": load_s}, "load"), warnings=tuple(self.warnings),
            subject=subject, started_at=started_at,
        )  # fmt: skip

    def _times(self) -> tuple[float | None, str]:
        """How long loading took and when it began: from the first Start to the last End.

        Indexes and statistics follow without a time.
        """
        starts, ends = self.edges["Start"], self.edges["End"]
        stamps = [*starts.values(), *ends.values()]
        loaders = self.stated.get("build_virtual_users", len(self.running - {1} or self.running))
        if not stamps:
            return None, ""
        if starts.keys() != ends.keys() or len(starts) != loaders or any(len(of_one) > 1 for of_one in stamps):
            self.warnings.append("not every virtual user's Start and End are there: no time of loading")
            return None, ""
        if any(min(ends[vuser])[0] < min(start)[0] for vuser, start in starts.items()):
            raise NotUnderstood("a virtual user ended loading before it started")
        if len({zone for of_one in stamps for _, zone in of_one}) > 1:
            self.warnings.append("the time zone changed while loading: no time of loading")
            return None, ""
        first, last = min(map(min, starts.values())), max(map(max, ends.values()))
        self.warnings.append("load_s is from the first Start to the last End: without indexes and statistics")
        return (last[0] - first[0]).total_seconds(), iso(*first)


_SAMPLE = re.compile(r"^(?:hammerdb>)?(\d+) ([A-Za-z][\w ]*?) (tpm|qph) @ (.*\d{4})$")
_HEAD = re.compile(r"^Hammerdb Transaction Counter Log @ ")


def counter_reports(file: SourceFile) -> list[Report]:
    """One report for each log of the transaction counter in the file; HammerDB appends to it."""
    if " @ " not in file.text:
        return []
    # The samples of each log, by its number, unit, DBMS and time zone.
    number, logs = 0, dict[tuple[int, str, str, str], list[tuple[datetime, float]]]()
    with Lines(file, with_cut=True) as lines:
        for line in lines:
            number += _HEAD.match(line.text) is not None
            if match := _SAMPLE.match(line.text.strip()):
                value, dbms, unit, stamp = match.groups()
                moment, zone = time_of(stamp)
                logs.setdefault((number, unit, dbms, zone), []).append((moment, float(value)))
    if len({log for log, *_ in logs}) < len(logs):
        raise NotUnderstood("the counter's lines are of several systems, units or time zones")
    return [counted(samples, unit, dbms, iso(samples[0][0], zone)) for (_, unit, dbms, zone), samples in logs.items()]


def counted(samples: Sequence[tuple[datetime, float]], unit: str, dbms: str, started_at: str) -> Report:
    """The report of samples stamped to the second, each of the interval before it."""
    unit_name, workload = {"tpm": ("TPM", "tprocc"), "qph": ("QpH", "tproch")}[unit]
    interval, values, drift = spaced([moment for moment, _ in samples], [value for _, value in samples])
    warnings = ["the transaction counter includes what other clients of the DBMS do, and the first reading is a start"]
    if drift > 0.01:
        warnings.append(f"the counter was read every {interval * (1 + drift):.2f} s, which counts as {interval:g} s")
    return Report(
        "hammerdb", series=(Series(unit, unit_name, interval, values),), warnings=tuple(warnings),
        started_at=started_at, subject=Subject(workload, "transaction counter (HammerDB)", dbms=dbms_called(dbms)),
    )  # fmt: skip


# An answer stands behind the prompt, or in a list.
_FRONT = re.compile(r"^\s*(?:hammerdb>\s*|\"|'|\[\s*)*")
_VUSER = re.compile(r"Vuser (\d+):(.*)$")
_CREATED = re.compile(r"Vuser (\d+) created (?:MONITOR )?- WAIT IDLE")
_ERROR = re.compile(r"Error in Virtual User (?P<vuser>\d+):(?P<message>.*)$")
_USERS = re.compile(r"(\d+) Virtual Users? Created")
_DATABASE = re.compile(r"Database set to (\w+)")
_BENCHMARK = re.compile(r"(?:^Benchmark set to |\bdbset\s+bm\s+[\"']?)TPR?O?C-([CH])\b", re.IGNORECASE)
_VERSION = re.compile(r"HammerDB CLI v(\d[\w.]*)")
_LOG_START = re.compile(r"Hammerdb Log @ (.*)$")
_BUILDING = re.compile(
    r"SCHEMA BUILD STARTED|Building (?:\d+ Warehouse|(?:a )?(?:Scale|TPC))|Ready to create a"
    r"|CREATING TPC[CH] (?:SCHEMA|TABLES|INDEXES)"
)
_RESULT = re.compile(r"\d+ Active Virtual Users configured|TEST RESULT\s*:|\d+ VU \* \d+ AC")

# The dictionary of settings: answers of `diset`, the command itself where a transcript or a script does not show its
# answer, and `print dict`.
_SETTINGS = (
    re.compile(r"Changed (?P<section>\w+):(?P<name>\w+) from (?P<old>.*?) to (?P<new>.*?) for [\w ]+$"),
    re.compile(
        r"Value (?P<new>.*?) for (?P<section>\w+):(?P<name>\w+) is the same as existing value (?P<old>.*?), no change"
    ),
    re.compile(r"diset\s+(?P<section>connection|tpcc|tpch)\s+(?P<name>\w+)\s+(?P<new>[\w.-]+)\s*(?:;?\s*#.*)?$"),
)
_VIRTUAL_USERS = re.compile(r"vuset\s+vu\s+(\d{1,6})\s*;?$")
_SECTION = re.compile(r"(connection|tpcc|tpch)\s*\{$")
_PRINTED = re.compile(r"(\w+)\s*=\s*(.*?)$")
_PREFIX = re.compile(r"^(?:ora|mssqls|db2|mysql|maria|pg|redis|tpcc|tpch)_")
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


@dataclass
class Settings:
    """What is known of the dictionary so far. A value whose history contradicts itself is known no more."""

    values: dict[tuple[str, str], str] = field(default_factory=dict)
    doubtful: set[tuple[str, str]] = field(default_factory=set)
    section: str = ""
    virtual_users: int | None = None

    def update(self, text: str) -> bool:
        """Whether the line was about settings."""
        may_set = "diset" in text or " for " in text
        if may_set and (match := next(filter(None, (pattern.match(text) for pattern in _SETTINGS)), None)):
            key, words = (match["section"], match["name"]), match.groupdict()
            before = self.values.get(key)
            if "old" in words and before not in (None, words["old"], words["new"]):
                self.doubtful.add(key)
            self.values[key] = words["new"]
        elif match := _VIRTUAL_USERS.match(text):
            self.virtual_users = int(match[1])
        elif match := _SECTION.match(text):
            self.section = match[1]
        elif self.section and (match := _PRINTED.match(text)):
            self.values[self.section, match[1]] = match[2]
        else:
            self.section = "" if text == "}" else self.section
            return False
        return True

    def parameters(self, benchmark: str) -> dict[str, Scalar]:
        """The parameters of `tpcc` or `tpch`, in the catalogue's words and units; never secrets and addresses."""
        parameters: dict[str, Scalar] = {} if self.virtual_users is None else {"terminals": self.virtual_users}
        for (section, name), printed in self.values.items():
            if section != benchmark or names_a_secret(name) or (section, name) in self.doubtful:
                continue
            setting, text = _PREFIX.sub("", _PREFIX.sub("", name)), printed.strip()
            parameter, value = SETTINGS.get(setting, ""), whole_or_text(text)
            if not parameter:
                parameters |= as_factors({setting: text}) if text else {}
            elif parameter in ("ramp_up_s", "duration_s"):
                parameters |= {parameter: value * 60} if isinstance(value, int) else {}
            else:
                parameters[parameter] = text.lower() == "true" if text.lower() in ("true", "false") else value
        return parameters


def log_reports(file: SourceFile) -> list[Report]:
    """A run or a build that contradicts itself spoils no other."""
    reader = _Reader()
    for line in Lines(file, with_cut=True):
        try:
            reader.add(line)
        except NotUnderstood as error:
            part = reader.parts[-1]
            part.refusal = part.refusal or f"line {line.number}: {error}"
    parts = [part for part in reader.parts if part.begun or part.refusal]
    runs: list[Report] = []
    for report in reports_of(parts, lambda part: part.report(), "hammerdb"):
        # A result that `jobs` repeats after the run is the same run.
        result = (report.metric("nopm"), report.metric("tpm"))
        if ANSWER not in report.warnings or all((run.metric("nopm"), run.metric("tpm")) != result for run in runs):
            runs.append(report)
    profiles = profile_reports(file)
    if len(runs) == 1 and len(profiles) == 1 and not profiles[0].metrics:
        # etprof's windows stand in the log of the run itself.
        (run,), (windows,) = runs, profiles
        return [replace(run, series=run.series + windows.series, warnings=(*run.warnings, *windows.warnings))]
    return [*runs, *profiles]


@dataclass
class _Reader:
    """The lines of one log told apart: which run, or which build, each of them is of."""

    settings: Settings = field(default_factory=Settings)
    dbms: str = ""
    benchmark: str = ""
    version: str = ""
    started_at: str = ""
    # Another log begins: HammerDB appends to the file.
    fresh: bool = False
    # The number of the line that is read.
    line: int = 1
    parts: list[Run | Build] = field(default_factory=list)

    @property
    def last(self) -> Run | Build | None:
        return self.parts[-1] if self.parts else None

    def add(self, numbered: Line) -> None:
        self.line, line = numbered.number, numbered.text.rstrip()
        if "HammerDB CLI v" in line and (match := _VERSION.search(line)):
            self.version, self.settings = match[1], Settings()
        text, last = _FRONT.sub("", line), self.last
        if line.lstrip().startswith(('"', "[")):
            text = text.rstrip('",] ')
        if match := _VUSER.search(text):
            self._add_vuser(int(match[1]), numbered._replace(text=match[2].strip()))
        elif self.settings.update(text):
            return
        elif "hammerdb>" in line and re.match(r"vurun\b", text) and last and last.is_behind:
            self.fresh = True
        elif match := _CREATED.match(text):
            self._created().created.add(int(match[1]))
        elif match := _USERS.match(text):
            self._created().announced.add(int(match[1]))
        elif _BUILDING.search(text):
            self._build().add_line(text)
        elif _RESULT.match(text):
            # An answer of `jobs … result` within a transcript.
            part = last if isinstance(last, Run) and last.echo and not last.result_line else self.add_run()
            part.echo = True
            self._begun(part).add_user_line(1, numbered._replace(text=text))
        else:
            self._add_heading(text)

    def _add_heading(self, text: str) -> None:
        if match := _DATABASE.match(text):
            self.dbms = match[1]
        elif match := _BENCHMARK.search(text):
            self.benchmark = f"tpc{match[1].lower()}"
        elif match := _LOG_START.match(text):
            self.started_at, self.fresh = match[1], True
        elif self.last and (error := _ERROR.match(text)):
            self.last.problems.append(f"virtual user {error['vuser']}: {error['message'].strip()}")
        elif self.last:
            self.last.add_line(text)

    def _add_vuser(self, vuser: int, line: Line) -> None:
        last = self.last
        if _BUILDING.search(line.text) and not isinstance(last, Build):
            self._build()
        elif isinstance(last, Build):
            if self.fresh or (last.is_behind and not line.text.startswith("FINISHED")):
                self.add_run()
        elif self.fresh or last is None or last.ends_before(vuser, line.text):
            self.add_run()
        self.fresh = False
        self._begun(self.parts[-1]).add_user_line(vuser, line)

    def _begun(self, part: Run | Build) -> Run | Build:
        """The part, which begins with what is known by now."""
        if not part.begun:
            part.begun, part.settings = True, {kind: self.settings.parameters(kind) for kind in ("tpcc", "tpch")}
        return part

    def _created(self) -> Run | Build:
        """The part that virtual users are created for."""
        part = self.last
        is_open = part and not (part.is_behind if isinstance(part, Build) else part.begun)
        return part if part and is_open else self.add_run()

    def add_run(self) -> Run:
        # Without a word of it, what was set tells: nobody sets scale factors for transactions.
        benchmark = self.benchmark or ("tpch" if {key for key, _ in self.settings.values} == {"tpch"} else "")
        run = Run(self.line, tool_version=self.version, dbms=self.dbms, log_start=self.started_at, benchmark=benchmark)
        self.parts.append(run)
        return run

    def _build(self) -> Build:
        if isinstance(self.last, Build) and not self.last.is_behind:
            return self.last
        build = Build(self.line, tool_version=self.version, dbms=self.dbms)
        self.parts.append(self._begun(build))
        return build
