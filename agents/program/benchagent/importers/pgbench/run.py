"""What the lines of one run say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.lines import Line
from benchagent.importers.pgbench.tables import REPORT, SCRIPT
from benchagent.importers.source import NotUnderstood, number, whole
from benchagent.importers.tables import Figures, Match, damage_of

_TABLE = re.compile(
    r"(?:- )?statement latencies in milliseconds"
    r"(?P<columns>| and failures|, failures and retries|, file (?P<file>\d+)):?"
)
_COLUMNS = {" and failures": 1, ", failures and retries": 2}
_PROGRESS = re.compile(r"progress: (\d+(?:\.\d+)?) s,? (\d+(?:\.\d+)?) tps((?:, .*)?)")
_DETAIL = re.compile(
    r"lat (?P<latency_avg_ms>-?nan|-?NaN|\d+(?:\.\d+)?) ms stddev (?P<latency_stddev_ms>-?nan|-?NaN|\d+(?:\.\d+)?)"
    r"|(?P<failed_transactions>\d+) failed|lag (?P<lag_avg_ms>-?nan|-?NaN|\d+(?:\.\d+)?) ms"
    r"|(?P<skipped_transactions>\d+) skipped|(?P<retried_transactions>\d+) retried|(?P<retries>\d+) retries"
)
_LATENCIES = {"latency_avg_ms", "latency_stddev_ms", "lag_avg_ms"}


@dataclass(frozen=True)
class Statement:
    line: int
    latency_ms: float
    failures: int | None
    retries: int | None
    text: str


@dataclass(frozen=True)
class Progress:
    """One `progress:` line; None where pgbench had nothing to divide by."""

    line: int
    time_s: float
    values: dict[str, float | None]


@dataclass
class Script(Figures):
    """The part of the report about one of several scripts."""

    statements: list[Statement] = field(default_factory=list)


@dataclass
class Run(Figures):
    """One run as its lines tell it. `problems` are the lines that say it did not end well."""

    version: str = ""
    server_version: str = ""
    vacuumed: bool = False
    scripts: list[Script] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    command_lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    several_files: bool = False
    # Why the progress cannot be read, empty where it can.
    bad_progress: str = ""
    cut: bool = False
    # How many counts stand beside each statement's latency, while statements are read.
    _columns: int | None = None

    @property
    def reported(self) -> bool:
        return bool(self.rows)

    @property
    def headless(self) -> bool:
        """Whether the report's first lines are missing: an extract of it."""
        return self.reported and "script" not in self

    @property
    def ended(self) -> bool:
        """Whether the report is there to its end; nothing follows the count when no transaction ended."""
        return "tps" in self or self.text("transactions") == "0"

    @property
    def total(self) -> int:
        """Transactions that were done, failed or left out."""
        return sum(map(self.count, ("transactions", "failed_transactions", "skipped_transactions")))

    def goes_back(self, line: Line) -> bool:
        """Whether a line behind the report is of the next one, which begins without its first lines."""
        match = REPORT.match(line)
        if match is None or match.cut or match.key == "script" or self.rows.get(match.key) == match.values:
            return False
        return match.rank < self.rank or (self.headless and match.rank == self.rank)

    def take(self, line: Line) -> bool:
        """Whether the line is one of the report, its scripts or statements."""
        if self._columns is not None and self._take_statement(line, self._columns):
            return True
        if table := _TABLE.fullmatch(line.text):
            if not self.reported:
                raise NotUnderstood("latencies of statements before any report")
            self._columns = _COLUMNS.get(table["columns"], 0)
            # 9.1 to 9.5 list several files one after the other, and nothing else in the report confirms the split.
            self.several_files = self.several_files or bool(table["file"])
            return True
        match = REPORT.match(line)
        if match and not match.cut:
            if self.scripts and match.key not in self:
                raise NotUnderstood(f"out of order: {line.text[:60]!r}")
            self.add(line, match)
        match = match or self._take_script(line)
        if match:
            self._columns = None
            self.cut = self.cut or match.cut
        return match is not None

    def _take_script(self, line: Line) -> Match | None:
        match = SCRIPT.match(line)
        if match is None or match.cut:
            return match
        if not self.ended:
            raise NotUnderstood("a script's part before the end of the report")
        script = self.scripts[-1] if self.scripts else None
        if script and script.rows.get(match.key) == match.values:
            return match
        if match.key == "script":
            if int(match.values["number"]) != len(self.scripts) + 1:
                raise NotUnderstood(f"script {match.values['number']} is not the next one")
            script = Script(line.number)
            self.scripts.append(script)
        if script is None or script.statements:
            raise NotUnderstood(f"out of order: {line.text[:60]!r}")
        script.add(line, match)
        return match

    def take_progress(self, line: Line) -> None:
        match = _PROGRESS.fullmatch(line.text)
        if not line.whole and not line.text.endswith(("failed", "skipped", "retries")):
            self.cut = True
            return
        values: dict[str, float | None] = {"tps": float(match[2])} if match else {}
        details = (
            [_DETAIL.fullmatch(part) for part in match[3].removeprefix(", ").split(", ")] if match and match[3] else []
        )
        if match is None or None in details:
            damage = damage_of(line.text, "pgbench")
            self.bad_progress = self.bad_progress or f"line {line.number}: {damage}: {line.text[:80]!r}"
            return
        for detail in filter(None, details):
            values |= {
                name: None if "nan" in text.lower() else float(text)
                for name, text in detail.groupdict().items()
                if text is not None
            }
        if values["tps"] == 0 and values.get("latency_avg_ms") == 0:
            # Nothing ended, so nothing took 0 ms.
            values |= dict.fromkeys(values.keys() & _LATENCIES, None)
        self.progress.append(Progress(line.number, float(match[1]), values))

    def _take_statement(self, line: Line, columns: int) -> bool:
        counts = r"\s+(\d+)" * columns
        match = re.fullmatch(rf"(\d+\.\d+){counts}\s+(\S.*)", line.text)
        if match is None:
            if line.whole and re.match(r"\d+[.,]?\d*\s", line.text):
                raise NotUnderstood(f"{damage_of(line.text, 'pgbench')}: {line.text[:60]!r}")
            return False
        if not line.whole:
            self.cut = True
            return True
        failures, retries = [*map(whole, match.groups()[1:-1]), None, None][:2]
        statement = Statement(line.number, number(match[1]), failures, retries, match[match.lastindex or 1])
        (self.scripts[-1].statements if self.scripts else self.statements).append(statement)
        return True
