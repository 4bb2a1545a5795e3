"""A log of HammerDB's CLI or of its virtual users -> runs, schema builds and time profiles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from benchagent.importers.base import NotUnderstood, Report, SourceFile
from benchagent.importers.hammerdb.build import Build
from benchagent.importers.hammerdb.profile import profile_reports
from benchagent.importers.hammerdb.run import ANSWER, Run
from benchagent.importers.hammerdb.settings import Settings

_FRONT = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?\s+|\w{3} \d{1,2} [\d:.]+ |hammerdb>\s*|\"|'|\[\s*)*"
)
_VUSER = re.compile(r"Vuser (?P<vuser>\d+):(?P<text>.*)$")
_CREATED = re.compile(r"^Vuser (?P<vuser>\d+) created (?P<monitor>MONITOR )?- WAIT IDLE")
_USERS = re.compile(r"^(?P<count>\d+) Virtual Users? Created(?P<monitor> with Monitor VU)?")
_DATABASE = re.compile(r"^Database set to (?P<dbms>\w+)")
_VERSION = re.compile(r"HammerDB CLI v(?P<version>\d[\w.]*)")
_LOG_START = re.compile(r"^Hammerdb Log @ (?P<stamp>.*)$")
_BUILDING = re.compile(
    r"(?:^|\s)(?:SCHEMA BUILD STARTED|Building \d+ Warehouses?\(?s?\)?|Ready to create a|Building (?:a )?(?:Scale|TPC))"
    r"|CREATING TPC[CH] (?:SCHEMA|TABLES|INDEXES)"
)
_VURUN = re.compile(r"^\s*hammerdb>\s*vurun\b")
_JOB = re.compile(r"^Benchmark Run jobid=(?P<job>\w+)")


def log_reports(file: SourceFile) -> list[Report]:
    runs, profiles = _Reader(file).reports(), profile_reports(file)
    if len(runs) == 1 and len(profiles) == 1 and not profiles[0].metrics:
        # etprof's windows stand in the log of the run itself.
        (run,), (windows,) = runs, profiles
        return [replace(run, series=run.series + windows.series, warnings=(*run.warnings, *windows.warnings))]
    return [*runs, *profiles]


class _Reader:
    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.settings = Settings()
        self.dbms = ""
        self.version = ""
        self.started_at = ""
        # Another log begins: HammerDB appends to the file.
        self.fresh = False
        self.parts: list[Run | Build] = []

    def reports(self) -> list[Report]:
        lines = self.file.lines
        for number, line in enumerate(lines, start=1):
            cut = number == len(lines) and not self.file.last_line_is_whole
            try:
                self._line(line.rstrip(), cut=cut)
            except NotUnderstood as error:
                raise NotUnderstood(f"line {number}: {error}") from error
        found = [report for part in self.parts for report in part.reports(self.version)]
        return _without_echoes(found)

    def _line(self, line: str, *, cut: bool) -> None:
        if match := _VERSION.search(line):
            self.version, self.settings = match["version"], Settings()
        if self.settings.take(_FRONT.sub("", line) if "hammerdb>" in line else line):
            return
        text = _FRONT.sub("", line).rstrip('",] ') if line.lstrip().startswith(('"', "[")) else _FRONT.sub("", line)
        if _VURUN.match(line) and self.parts and self.parts[-1].is_behind:
            self.fresh = True
        elif match := _DATABASE.match(text):
            self.dbms = match["dbms"]
        elif match := _LOG_START.match(text):
            self.started_at, self.fresh = match["stamp"], True
        elif match := _CREATED.match(text):
            self._part().created(int(match["vuser"]), monitor=bool(match["monitor"]))
        elif match := _USERS.match(text):
            self._part().told_users(int(match["count"]), monitor=bool(match["monitor"]))
        elif match := _VUSER.search(text):
            self._vuser(int(match["vuser"]), match["text"].strip(), cut=cut)
        else:
            self._other(text, cut=cut)

    def _other(self, text: str, *, cut: bool) -> None:
        if _BUILDING.search(text):
            self._build().line(text)
        elif re.match(r"^(?:\d+ Active Virtual Users configured|TEST RESULT\s*:|\d+ VU \* \d+ AC)", text):
            # An answer of `jobs … result` within a transcript.
            self._run(echo=True).user(1, text, cut=cut)
        elif self.parts:
            self.parts[-1].line(text)

    def _vuser(self, vuser: int, text: str, *, cut: bool) -> None:
        part = self.parts[-1] if self.parts else None
        if _BUILDING.search(text) and not isinstance(part, Build):
            self._build(instead_of=part if part is not None and not part.begun else None)
        elif self.fresh or self._is_another(part, vuser, text):
            self.parts.append(self._new_run())
        self.fresh = False
        self.parts[-1].user(vuser, text, cut=cut)

    def _is_another(self, part: Run | Build | None, vuser: int, text: str) -> bool:
        if isinstance(part, Build):
            return part.over and not text.startswith("FINISHED")
        return part is None or part.ends_before(vuser, text)

    def _part(self) -> Run | Build:
        """The part that virtual users are created for."""
        part = self.parts[-1] if self.parts else None
        if isinstance(part, Build) and not part.over:
            return part
        if not isinstance(part, Run) or part.begun:
            self.parts.append(self._new_run())
        return self.parts[-1]

    def _new_run(self) -> Run:
        return Run(settings=self.settings.parameters, dbms=self.dbms, log_start=self.started_at)

    def _run(self, *, echo: bool) -> Run:
        part = self.parts[-1] if self.parts else None
        if not isinstance(part, Run) or part.result is not None or not part.echo:
            part = self._new_run()
            part.echo = echo
            self.parts.append(part)
        return part

    def _build(self, instead_of: Run | None = None) -> Build:
        part = self.parts[-1] if self.parts else None
        if isinstance(part, Build) and not part.over:
            return part
        build = Build(settings=self.settings.parameters, dbms=self.dbms)
        if instead_of is not None:
            build.users = set(instead_of.users)
            self.parts[-1] = build
        else:
            self.parts.append(build)
        return build


def _without_echoes(found: Sequence[Report]) -> list[Report]:
    """A result that `jobs` repeats after the run is the same run."""
    kept: list[Report] = []
    for report in found:
        nopm, tpm = report.metric("nopm"), report.metric("tpm")
        is_echo = ANSWER in report.warnings
        if is_echo and any((one.metric("nopm"), one.metric("tpm")) == (nopm, tpm) for one in kept):
            continue
        kept.append(report)
    return kept
