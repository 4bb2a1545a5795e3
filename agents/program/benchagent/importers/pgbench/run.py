"""What the lines of one run (or one `pgbench -i`) say, before it is judged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood, number, whole
from benchagent.importers.dressing import Line
from benchagent.importers.pgbench.lines import REPORT, SCRIPT, Found, matched, why

_TABLE = re.compile(
    r"(?:- )?statement latencies in milliseconds"
    r"(?P<columns>| and failures|, failures and retries|, file (?P<file>\d+)):?"
)
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
class Script:
    """The part of the report about one of several scripts."""

    figures: dict[str, Found] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    rank: int = -1


@dataclass
class Run:
    """One run as its lines tell it. `problems` are the lines that say it did not end well."""

    line: int
    version: str = ""
    server_version: str = ""
    vacuumed: bool = False
    figures: dict[str, Found] = field(default_factory=dict)
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
    _rank: int = -1
    _columns: int | None = None

    @property
    def reported(self) -> bool:
        return bool(self.figures)

    @property
    def headless(self) -> bool:
        """Whether the report's first lines are missing: an extract of it."""
        return self.reported and "script" not in self.figures

    @property
    def ended(self) -> bool:
        """Whether the report is there to its end; nothing follows the count when no transaction ended."""
        return "tps" in self.figures or self.value("transactions") == "0"

    def value(self, key: str, place: int = 0) -> str | None:
        found = self.figures.get(key)
        return found.values[place] if found else None

    def goes_back(self, line: Line) -> bool:
        """Whether a line behind the report is of the next one, which begins without its first lines."""
        found = matched(line, REPORT)
        if found is None or found.key in ("script", "cut"):
            return False
        known = self.figures.get(found.key)
        if known and known.values == found.values:
            return False
        return found.rank < self._rank or (self.headless and found.rank == self._rank)

    def take(self, line: Line) -> bool:
        """Whether the line is one of the report, its scripts or statements."""
        if self._columns is not None and self._statement(line):
            return True
        if table := _TABLE.fullmatch(line.text):
            if not self.reported:
                raise NotUnderstood(f"line {line.number}: latencies of statements before any report")
            self._columns = {"": 0, " and failures": 1, ", failures and retries": 2}.get(table["columns"], 0)
            # 9.1 to 9.5 list several files one after the other, and nothing else in the report confirms the split.
            self.several_files = self.several_files or bool(table["file"])
            return True
        if found := matched(line, REPORT):
            self._add(line, found, self.figures)
            return True
        if found := matched(line, SCRIPT):
            self._add_script(line, found)
            return True
        return False

    def take_progress(self, line: Line) -> bool:
        if not line.text.startswith("progress:"):
            return False
        match = _PROGRESS.fullmatch(line.text)
        values = _details(match[3]) if match else None
        if not line.whole and not re.search(r"(?:failed|skipped|retries)$", line.text):
            self.cut = True
        elif match is None or values is None:
            self.bad_progress = self.bad_progress or f"line {line.number}: {why(line.text)}: {line.text[:80]!r}"
        else:
            if float(match[2]) == 0 and values.get("latency_avg_ms") == 0:
                # Nothing ended, so nothing took 0 ms.
                values |= dict.fromkeys(values.keys() & _LATENCIES, None)
            self.progress.append(Progress(line.number, float(match[1]), {"tps": float(match[2]), **values}))
        return True

    def _add(self, line: Line, found: Found, figures: dict[str, Found]) -> None:
        self._columns = None
        if found.key == "cut":
            self.cut = True
            return
        known = figures.get(found.key)
        if known and known.values == found.values:
            return
        if known:
            raise NotUnderstood(f"line {line.number}: says {line.text[:60]!r}, an earlier line something else")
        if found.rank < self._rank or self.scripts:
            raise NotUnderstood(f"line {line.number}: out of order: {line.text[:60]!r}")
        self._rank = found.rank
        figures[found.key] = found

    def _add_script(self, line: Line, found: Found) -> None:
        self._columns = None
        if found.key == "cut":
            self.cut = True
            return
        if not self.ended:
            raise NotUnderstood(f"line {line.number}: a script's part before the end of the report")
        if found.key == "script":
            if self.scripts and self.scripts[-1].figures.get("script") == found:
                return
            if int(found.values[0]) != len(self.scripts) + 1:
                raise NotUnderstood(f"line {line.number}: script {found.values[0]} is not the next one")
            self.scripts.append(Script())
        if not self.scripts:
            raise NotUnderstood(f"line {line.number}: out of order: {line.text[:60]!r}")
        script = self.scripts[-1]
        known = script.figures.get(found.key)
        if known and known.values == found.values:
            return
        if known or found.rank < script.rank or script.statements:
            raise NotUnderstood(f"line {line.number}: out of order: {line.text[:60]!r}")
        script.rank = found.rank
        script.figures[found.key] = found

    def _statement(self, line: Line) -> bool:
        counts = r"\s+(\d+)" * (self._columns or 0)
        match = re.fullmatch(rf"(\d+\.\d+){counts}\s+(\S.*)", line.text)
        if match is None:
            if line.whole and re.match(r"\d+[.,]?\d*\s", line.text):
                raise NotUnderstood(f"line {line.number}: {why(line.text)}: {line.text[:60]!r}")
            return False
        if not line.whole:
            self.cut = True
            return True
        numbers = [whole(text) for text in match.groups()[1:-1]]
        failures, retries = [*numbers, None, None][:2]
        statement = Statement(line.number, number(match[1]), failures, retries, match[match.lastindex or 1])
        (self.scripts[-1].statements if self.scripts else self.statements).append(statement)
        return True


def _details(text: str) -> dict[str, float | None] | None:
    """The figures behind the tps of a progress line, or None where one of them is not known."""
    values: dict[str, float | None] = {}
    for part in text.removeprefix(", ").split(", ") if text else []:
        match = _DETAIL.fullmatch(part)
        if match is None:
            return None
        for name, value in match.groupdict().items():
            if value is not None:
                values[name] = None if "nan" in value.lower() else float(value)
    return values
