"""A log of HammerDB's CLI or of its virtual users -> runs, schema builds and time profiles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from benchagent.importers.hammerdb.build import Build
from benchagent.importers.hammerdb.names import IN_MINUTES, SETTINGS
from benchagent.importers.hammerdb.profile import profile_reports
from benchagent.importers.hammerdb.run import ANSWER, Run
from benchagent.importers.lines import Line, Lines
from benchagent.importers.report import Report, Scalar
from benchagent.importers.source import SourceFile
from benchagent.redaction import names_a_secret

_FRONT = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?\s+|\w{3} \d{1,2} [\d:.]+ |hammerdb>\s*|\"|'|\[\s*)*"
)
_VUSER = re.compile(r"Vuser (?P<vuser>\d+):(?P<text>.*)$")
_CREATED = re.compile(r"^Vuser (?P<vuser>\d+) created (?:MONITOR )?- WAIT IDLE")
_USERS = re.compile(r"^(?P<count>\d+) Virtual Users? Created(?: with Monitor VU)?")
_DATABASE = re.compile(r"^Database set to (?P<dbms>\w+)")
_VERSION = re.compile(r"HammerDB CLI v(?P<version>\d[\w.]*)")
_LOG_START = re.compile(r"^Hammerdb Log @ (?P<stamp>.*)$")
_BUILDING = re.compile(
    r"(?:^|\s)(?:SCHEMA BUILD STARTED|Building \d+ Warehouses?\(?s?\)?|Ready to create a|Building (?:a )?(?:Scale|TPC))"
    r"|CREATING TPC[CH] (?:SCHEMA|TABLES|INDEXES)"
)
_VURUN = re.compile(r"^\s*hammerdb>\s*vurun\b")
_RESULT = re.compile(r"^(?:\d+ Active Virtual Users configured|TEST RESULT\s*:|\d+ VU \* \d+ AC)")

# The dictionary of settings: answers of `diset`, the command itself where a transcript or a script does not show its
# answer, and `print dict`.
_SETTINGS = (
    re.compile(
        r"^(?:hammerdb>)?\s*Changed (?P<section>\w+):(?P<name>\w+) from (?P<old>.*?) to (?P<new>.*?) for [\w ]+$"
    ),
    re.compile(
        r"^(?:hammerdb>)?\s*Value (?P<new>.*?) for (?P<section>\w+):(?P<name>\w+)"
        r" is the same as existing value (?P<old>.*?), no change"
    ),
    re.compile(
        r"^(?:hammerdb>)?\s*diset\s+(?P<section>connection|tpcc|tpch)\s+(?P<name>\w+)\s+(?P<new>[\w.-]+)\s*(?:;?\s*#.*)?$"
    ),
)
_SECTION = re.compile(r"^\s*(?P<section>connection|tpcc|tpch)\s*\{\s*$")
_PRINTED = re.compile(r"^\s+(?P<name>\w+)\s*=\s*(?P<new>.*?)\s*$")
_PREFIX = re.compile(r"^(?:ora|mssqls|db2|mysql|maria|pg|redis|tpcc|tpch)_")


@dataclass
class Settings:
    """What is known of the dictionary so far. A value whose history contradicts itself is known no more."""

    values: dict[tuple[str, str], str] = field(default_factory=dict)
    doubtful: set[tuple[str, str]] = field(default_factory=set)
    section: str = ""

    def take(self, line: str) -> bool:
        """Whether the line was about settings."""
        told_here = "diset" in line or " for " in line
        if told_here and (match := next(filter(None, (pattern.match(line) for pattern in _SETTINGS)), None)):
            key, told = (match["section"], match["name"]), match.groupdict()
            known = self.values.get(key)
            if "old" in told and known is not None and known not in (told["old"], told["new"]):
                self.doubtful.add(key)
            self.values[key] = told["new"]
        elif match := _SECTION.match(line):
            self.section = match["section"]
        elif self.section and (match := _PRINTED.match(line)):
            self.values[(self.section, match["name"])] = match["new"]
        else:
            self.section = "" if line.strip() == "}" else self.section
            return False
        return True

    def parameters(self, benchmark: str) -> dict[str, Scalar]:
        """Of `tpcc` or `tpch`, in the catalogue's words and units; secrets and addresses never."""
        told: dict[str, Scalar] = {}
        for (section, name), printed in self.values.items():
            parameter = SETTINGS.get(_PREFIX.sub("", _PREFIX.sub("", name)), "")
            if section != benchmark or not parameter or names_a_secret(name) or (section, name) in self.doubtful:
                continue
            text = printed.strip()
            whole = text.isascii() and text.isdecimal() and len(text) < 18
            if parameter in IN_MINUTES:
                told |= {parameter: int(text) * 60} if whole else {}
            elif text.lower() in ("true", "false"):
                told[parameter] = text.lower() == "true"
            else:
                told[parameter] = int(text) if whole else text
        return told


def log_reports(file: SourceFile) -> list[Report]:
    reader = _Reader()
    with Lines(file, with_cut=True) as lines:
        for line in lines:
            reader.take(line)
    runs: list[Report] = []
    for report in (report for part in reader.parts for report in part.reports(reader.version)):
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


def _is_building(text: str) -> bool:
    # Most lines hold none of its words, which is found faster.
    return ("uild" in text or "UILD" in text or "reat" in text or "REAT" in text) and bool(_BUILDING.search(text))


class _Reader:
    """The lines of one log told apart: which run, or which build, each of them is of."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.dbms = ""
        self.version = ""
        self.started_at = ""
        # Another log begins: HammerDB appends to the file.
        self.fresh = False
        self.parts: list[Run | Build] = []

    @property
    def last(self) -> Run | Build | None:
        return self.parts[-1] if self.parts else None

    def take(self, told: Line) -> None:
        line = told.text.rstrip()
        if match := _VERSION.search(line):
            self.version, self.settings = match["version"], Settings()
        text = _FRONT.sub("", line)
        if self.settings.take(text if "hammerdb>" in line else line):
            return
        if line.lstrip().startswith(('"', "[")):
            text = text.rstrip('",] ')
        if match := _VUSER.search(text):
            self._take_vuser(int(match["vuser"]), Line(told.number, match["text"].strip(), told.whole))
        elif _VURUN.match(line) and self.last and self.last.is_behind:
            self.fresh = True
        elif match := _CREATED.match(text):
            self._part_to_begin().created.add(int(match["vuser"]))
        elif match := _USERS.match(text):
            self._part_to_begin().tell(int(match["count"]))
        elif _is_building(text):
            self._build().line(text)
        elif _RESULT.match(text):
            # An answer of `jobs … result` within a transcript.
            part = self.last
            if not isinstance(part, Run) or part.result is not None or not part.echo:
                part = self._add_run()
                part.echo = True
            part.user(1, Line(told.number, text, told.whole))
        else:
            self._take_other(text)

    def _take_other(self, text: str) -> None:
        if match := _DATABASE.match(text):
            self.dbms = match["dbms"]
        elif match := _LOG_START.match(text):
            self.started_at, self.fresh = match["stamp"], True
        elif self.last:
            self.last.line(text)

    def _take_vuser(self, vuser: int, line: Line) -> None:
        part, text = self.last, line.text
        if _is_building(text) and not isinstance(part, Build):
            self._build(instead_of=part if part is not None and not part.begun else None)
        elif isinstance(part, Build):
            if self.fresh or (part.over and not text.startswith("FINISHED")):
                self._add_run()
        elif self.fresh or part is None or part.ends_before(vuser, text):
            self._add_run()
        self.fresh = False
        self.parts[-1].user(vuser, line)

    def _part_to_begin(self) -> Run | Build:
        """The part that virtual users are created for."""
        part = self.last
        if isinstance(part, Build) and not part.over:
            return part
        return part if isinstance(part, Run) and not part.begun else self._add_run()

    def _add_run(self) -> Run:
        run = Run(settings=self.settings.parameters, dbms=self.dbms, log_start=self.started_at)
        self.parts.append(run)
        return run

    def _build(self, instead_of: Run | None = None) -> Build:
        part = self.last
        if isinstance(part, Build) and not part.over:
            return part
        build = Build(settings=self.settings.parameters, dbms=self.dbms)
        if instead_of is not None:
            build.created = set(instead_of.created)
            self.parts.pop()
        self.parts.append(build)
        return build
