"""What the lines of one run say: its figures, its scripts and their statements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.lines import Line
from benchagent.importers.pgbench.tables import REPORT, SCRIPT
from benchagent.importers.report import Metric, measured
from benchagent.importers.source import NotUnderstood, number, slug, whole
from benchagent.importers.tables import Figures, Match, damage_of
from benchagent.redaction import redact_text

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


# Scripts and their statements: names, latencies of each, and whether they are those of the script.

_BUILTIN = {
    "tpc-b (sort of)": "tpcb-like", "simple update": "simple-update", "select only": "select-only",
    "update only pgbench_accounts": "simple-update", "update only accounts": "simple-update",
}  # fmt: skip
_STATEMENTS = {
    "tpcb-like": (
        "BEGIN;", "UPDATE pgbench_accounts", "SELECT abalance", "UPDATE pgbench_tellers", "UPDATE pgbench_branches",
        "INSERT INTO pgbench_history", "END;",
    ),
    "simple-update": ("BEGIN;", "UPDATE pgbench_accounts", "SELECT abalance", "INSERT INTO pgbench_history", "END;"),
    "select-only": ("SELECT abalance",),
}  # fmt: skip
# What their \\set and \\setrandom lines set.
_VARIABLES = {
    "tpcb-like": {"nbranches", "ntellers", "naccounts", "aid", "bid", "tid", "delta"},
    "simple-update": {"nbranches", "ntellers", "naccounts", "aid", "bid", "tid", "delta"},
    "select-only": {"naccounts", "aid"},
}
_OF_SCRIPT = ("failed_transactions", "retried_transactions", "retries", "skipped_transactions", "latency_avg_ms",
              "latency_stddev_ms")  # fmt: skip


def script_name(text: str) -> str:
    """`<builtin: TPC-B (sort of)>` and `TPC-B (sort of)` are one script; a file keeps its name without its path."""
    inner = re.sub(r"^<builtin: (.*)>$", r"\1", text.strip())
    known = _BUILTIN.get(inner.lower())
    if known or inner != text.strip():
        return known or inner
    return redact_text(re.split(r"[/\\]", inner)[-1])


def statement_metrics(run: Run) -> list[Metric]:
    """Of the statements, and of the scripts where there are several."""
    tables: list[tuple[str, list[Statement]]] = [(run.text("script"), run.statements)]
    tables += [(script.text("script"), script.statements) for script in run.scripts]
    for name, statements in tables:
        if name and not _of_builtin(script_name(name), [statement.text for statement in statements]):
            # Statements of a builtin script that are not its own, or not in its order, say that lines were moved.
            run.warnings.append(
                f"line {statements[0].line}: not the statements of {name}; their latencies are left out"
            )
            for _, misplaced in tables:
                misplaced.clear()
    of_failures = "nan" in run.text("lag_avg_ms") or run.count("failed_transactions")
    metrics = _of_statements(run, run.statements, "", None if of_failures else _busy_ms(run, run))
    of_scripts: list[Metric] = []
    for position, script in enumerate(run.scripts, start=1):
        of_scripts += _of_script(run, script, f"script_{position}_")
    targets = [script.text("target_percent") for script in run.scripts if "weight" in script]
    if targets and all(targets) and abs(sum(map(float, targets)) - 100) > 0.1 * len(targets):
        run.warnings.append("parts of some scripts are missing at the end of the report")
    if run.scripts and not _latencies_add_up(run):
        run.warnings.append("the scripts' latencies do not add up to the run's: those of the scripts are left out")
        of_scripts = [metric for metric in of_scripts if "latency" not in metric.name]
    return metrics + of_scripts


def _of_builtin(script: str, texts: list[str]) -> bool:
    """Whether the statements can be those of the script; those of a file can be any."""
    expected = _STATEMENTS.get(script)
    if expected is None:
        return True
    positions = [
        next((at for at, head in enumerate(expected) if text.startswith(head)), -1)
        for text in texts
        if not text.startswith("\\")
    ]
    variables = {text.split()[1] for text in texts if " " in text and text.startswith("\\")}
    return positions == sorted(set(positions)) and -1 not in positions and variables <= _VARIABLES[script]


def _busy_ms(run: Run, part: Run | Script) -> float | None:
    """The latency of a transaction without its wait for the schedule."""
    return max(part.number("latency_avg_ms") - run.number("lag_avg_ms"), 0.0) if "latency_avg" in part else None


def _of_statements(run: Run, statements: list[Statement], prefix: str, latency_ms: float | None) -> list[Metric]:
    """One metric per statement, named by its text: its number in the list would shift when a line is lost."""
    if not statements:
        return []
    if run.several_files:
        run.warnings.append(
            "the latencies of the statements of several files are left out: the files are not told apart"
        )
        return []
    took_ms = sum(statement.latency_ms for statement in statements)
    # What is printed is rounded, and something lies between the statements.
    rounding = 0.0006 * len(statements) + 0.002
    if latency_ms is not None and not latency_ms * 0.8 - rounding <= took_ms <= latency_ms * 1.05 + rounding:
        run.warnings.append(
            f"line {statements[0].line}: the latencies of the statements do not add up to the transaction's; left out"
        )
        return []
    metrics: list[Metric] = []
    texts = [statement.text for statement in statements]
    for statement in statements:
        name, long = (slug(statement.text, longest=longest).strip("_") for longest in (40, 90))
        if sum(slug(text, longest=40).strip("_") == name for text in texts) > 1:
            name = long
        if sum(slug(text, longest=90).strip("_") == long for text in texts) > 1:
            run.warnings.append(f"line {statement.line}: the statement occurs more than once; its latency is left out")
            continue
        name = f"{prefix}statement_{name}"
        metrics.append(measured(f"{name}_latency_avg_ms", statement.latency_ms))
        if statement.failures:
            metrics.append(measured(f"{name}_failures", statement.failures, unit="errors"))
        if statement.retries:
            metrics.append(measured(f"{name}_retries", statement.retries))
    return metrics


def _of_script(run: Run, script: Script, prefix: str) -> list[Metric]:
    metrics: list[Metric] = []
    tps, done = script.text("tps") or script.text("share_tps"), script.text("transactions")
    if tps:
        metrics.append(measured(f"{prefix}tps", float(tps)))
        # Since 16 the share counts the failed and skipped ones too, and shows no tps.
        metrics.append(measured(f"{prefix}transactions", float(done or script.text("counted"))))
    metrics += [measured(prefix + name, script.number(name)) for name in _OF_SCRIPT if script.text(name)]
    of_failures = "nan" in run.text("lag_avg_ms") or script.count("failed_transactions")
    return metrics + _of_statements(run, script.statements, prefix, None if of_failures else _busy_ms(run, script))


def _latencies_add_up(run: Run) -> bool:
    """The mean of the scripts' latencies, weighted by their transactions, is the run's; so with the squares."""
    parts: list[tuple[int, float, float]] = []
    for script in run.scripts:
        if not {"share", "latency_avg", "latency_stddev"} <= set(script.rows):
            return "share" not in script or script.count("counted") == 0 or not run.ended or run.cut
        done = script.count("transactions") if "processed" in script else script.count("counted")
        parts.append((done, script.number("latency_avg_ms"), script.number("latency_stddev_ms")))
    counted = sum(done for done, _, _ in parts)
    if "latency_stddev" not in run or not counted or abs(counted - run.count("transactions")) > 0.01 * counted:
        return True
    average, deviation = run.number("latency_avg_ms"), run.number("latency_stddev_ms")
    mean = sum(done * latency for done, latency, _ in parts) / counted
    square = (sum(done * (latency**2 + spread**2) for done, latency, spread in parts) / counted) ** 0.5
    square_fits = abs(square - (average**2 + deviation**2) ** 0.5) <= 0.003 + 0.02 * square
    return abs(mean - average) <= 0.002 + 0.02 * average and square_fits
