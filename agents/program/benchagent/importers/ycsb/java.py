"""YCSB's summary: `[SECTION], key, value` a line (TextMeasurementsExporter), after `Client.java` 0.1 to 0.18."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Series,
    SourceFile,
    Status,
    agree,
    number,
)
from benchagent.importers.series import evenly
from benchagent.importers.ycsb.command import Told
from benchagent.importers.ycsb.status import StatusLines
from benchagent.redaction import redact_text

TOOL = "ycsb"

# `ts` and journals put a time in front.
TIME_IN_FRONT = r"^(?:\w{3} \d{1,2} [\d:.]+ |\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)? )?[ \t]*"
_ROW = re.compile(TIME_IN_FRONT + r"\[(?P<section>[\w%. -]+)\], (?P<key>[^,]+), (?P<value>[^,]*)$")
_VERSION = re.compile(TIME_IN_FRONT + r"YCSB Client (?P<version>\d[\w.-]*)\s*$")
_LATENCY = re.compile(
    r"^(?P<what>Average|Min|Max|(?P<rank>\d+(?:\.\d+)?)(?:st|nd|rd|th)?Percentile)Latency\((?P<unit>us|ms)\)$"
)
_FAILURE = re.compile(
    r"^(?:Unknown DB |Error initializing datastore|Failed check required|Could not initialize|java\.lang\.\w+Error)"
    r"|DBException"
)
_PER_MS = {"us": 0.001, "ms": 1.0}
_RANKS = {"50": "p50", "75": "p75", "90": "p90", "95": "p95", "99": "p99", "99.9": "p999", "99.99": "p9999"}
_Operation = tuple[str, dict[str, str]]
_SKIPPED = re.compile(r"^(?:TOTAL_GC|M(?:AX|IN)_(?:MEM|THREADS|SYS_LOAD)|CLEANUP)")


@dataclass
class Run:
    told: Told = field(default_factory=Told)
    version: str = ""
    overall: dict[str, str] = field(default_factory=dict)
    sections: dict[str, dict[str, str]] = field(default_factory=dict)
    status: StatusLines = field(default_factory=StatusLines)
    failure: str = ""
    troubles: int = 0

    @property
    def summed(self) -> bool:
        return bool(self.overall)

    @property
    def says_something(self) -> bool:
        return bool(self.overall or self.sections or self.status.lines or (self.told.line and self.failure))


def java_reports(file: SourceFile) -> list[Report]:
    runs = [Run()]
    lines = file.lines
    for line_number, line in enumerate(lines, start=1):
        cut = line_number == len(lines) and not file.last_line_is_whole
        try:
            runs = _line(runs, line, cut=cut)
        except NotUnderstood as error:
            raise NotUnderstood(f"line {line_number}: {error}") from error
    for run in runs:
        if not run.overall and any(not _SKIPPED.match(name) for name in run.sections):
            raise NotUnderstood("figures of operations without the [OVERALL] that comes before them")
    if len(runs) > 1 and any(run.status.lines and run.status.lines[0][0] != 0 for run in runs):
        raise NotUnderstood("status lines of a run that does not begin at second 0: lines are out of order")
    return [_report(run) for run in runs if run.says_something]


def _line(runs: list[Run], line: str, *, cut: bool) -> list[Run]:
    run = runs[-1]
    if match := _ROW.match(line.rstrip()):
        if cut:
            return runs
        if match["section"] == "OVERALL" and run.overall.get(match["key"], match["value"]) != match["value"]:
            run = Run()
            runs = [*runs, run]
        _take(run, match["section"], match["key"], match["value"])
        return runs
    if match := _VERSION.match(line):
        run = run if not run.says_something else Run()
        run.version = match["version"]
    elif StatusLines.is_status(line) and not cut:
        run = Run() if run.summed else run
        run.status.take(line)
    elif not cut:
        told = Told()
        if told.take(line):
            run = Run() if run.summed or (run.told.line and told.line and run.says_something) else run
            run.told.take(line)
        elif _FAILURE.search(line.strip()):
            run.failure = run.failure or redact_text(line.strip())[:200]
    return runs if run is runs[-1] else [*runs, run]


def _take(run: Run, section: str, key: str, value: str) -> None:
    values = run.overall if section == "OVERALL" else run.sections.setdefault(section, {})
    if values.setdefault(key, value) != value:
        raise NotUnderstood(f"[{section}] {key} stands twice with different values")


def _report(run: Run) -> Report:
    warnings: list[str] = []
    phase = run.told.phase
    operations = {name: values for name, values in run.sections.items() if not _SKIPPED.match(name)}
    metrics: list[Metric] = []
    phase = phase or _phase(run, operations, warnings)
    series: list[Series] = [*run.status.series(warnings)]
    done = _headline(run, phase, metrics, warnings)
    failures: dict[str, float] = {}
    for operation in operations.items() if done else ():
        more, samples, failed = _operation(operation, phase, warnings)
        metrics += more
        known = {one.name for one in series}
        series += [one for one in samples if one.name not in known]
        # [READ] counts what did not return OK, [READ-FAILED] the same operations again.
        name = _prefix(operation[0])
        failures[name] = max(failures.get(name, 0.0), failed)
    metrics += [
        Metric(f"{name}_errors", "errors", failed, phase, "lower") for name, failed in failures.items() if failed
    ]
    if done:
        _compare(operations, done, warnings)
    status, reason = _status(run, done, sum(failures.values()))
    if status is not Status.COMPLETE and metrics:
        warnings.append("the figures are of a run that failed")
    return Report(
        tool=TOOL, tool_version=run.version, status=status, reason=reason, parameters=run.told.parameters,
        metrics=tuple(metrics), series=tuple(series), warnings=tuple(warnings), subject=run.told.subject(),
        command_lines=(run.told.line,) if run.told.line else (),
    )  # fmt: skip


def _phase(run: Run, operations: dict[str, dict[str, str]], warnings: list[str]) -> str:
    """Without a command line: a load measures INSERT alone, all of its operations."""
    if run.overall and not operations:
        raise NotUnderstood("the summary shows no operations, and no command line tells whether it loaded or ran")
    if not operations or not set(operations) <= {"INSERT", "INSERT-FAILED"}:
        return "run"
    done = _headline(run, "", [], [])
    if not any("Operations" in values for values in operations.values()):
        raise NotUnderstood("the summary ends within [INSERT], and no command line tells whether it loaded or ran")
    if sum(_count(values.get("Operations", "0")) for values in operations.values()) < done:
        return "run"
    warnings.append("taken for the load phase: only INSERT was measured, and no command line tells")
    return "load"


def _status(run: Run, done: float, failures: float) -> tuple[Status, str]:
    if done and failures >= done:
        return Status.FAILED, "every operation failed"
    if done:
        return Status.COMPLETE, ""
    if run.failure:
        return Status.FAILED, f"the run did not begin: {run.failure}"
    return Status.ABORTED, "the output ends before the summary"


def _headline(run: Run, phase: str, metrics: list[Metric], warnings: list[str]) -> float:
    """The number of operations, which throughput times run time gives to the last digit; 0 without a summary."""
    if not run.overall:
        return 0.0
    if not {"RunTime(ms)", "Throughput(ops/sec)"} <= set(run.overall):
        raise NotUnderstood("the summary has only one of RunTime(ms) and Throughput(ops/sec)")
    unknown = set(run.overall) - {"RunTime(ms)", "Throughput(ops/sec)", "Operations"}
    if unknown:
        warnings.append(f"[OVERALL] has unknown figures: {', '.join(sorted(unknown))[:100]}")
    printed = run.overall["Throughput(ops/sec)"].strip()
    runtime_ms, throughput = number(run.overall["RunTime(ms)"]), number(printed)
    done = throughput * runtime_ms / 1000
    decimals = len(printed.partition(".")[2].partition("E")[0])
    slack = 0.002 + 0.5 * 10.0**-decimals * runtime_ms / 1000 if "E" not in printed else 0.002 + done * 1e-9
    if runtime_ms <= 0 or (slack < 0.25 and abs(done - round(done)) > slack):
        raise NotUnderstood(f"throughput times run time is {done:.2f}, not a whole number of operations")
    metrics.append(Metric("ops_per_s", "ops/s", throughput, phase, "higher"))
    metrics.append(Metric("elapsed_s", "s", runtime_ms / 1000, phase, "lower"))
    if not done:
        raise NotUnderstood("no operations at all")
    return float(round(done))


def _operation(run: _Operation, phase: str, warnings: list[str]) -> tuple[list[Metric], list[Series], float]:
    """Metrics and series of one operation, and how many of it failed."""
    name, values = run
    prefix = _prefix(name)
    count = float(_count(values["Operations"])) if "Operations" in values else None
    if name.endswith("-FAILED"):
        return [], [], count or 0.0
    metrics = [Metric(f"{prefix}_operations", "operations", count, phase, "none")] if count is not None else []
    metrics += [
        Metric(f"{prefix}_latency_{rank}_ms", "ms", value, phase, "lower")
        for rank, value in _latencies(name, values).items()
    ]
    errors = sum(_count(value) for key, value in values.items() if key.startswith("Return=") and not _is_good(key))
    if errors:
        warnings.append(f"{errors} {name} operations did not return OK")
    return metrics, _time_series(name, prefix, values, warnings), float(errors)


def _count(text: str) -> int:
    """0.5 to 0.12 print counts as decimals: `1000000.0`, and `1.0E7` from ten million on."""
    value = number(text)
    if value < 0 or not value.is_integer():
        raise NotUnderstood(f"not a whole number: {text[:40]!r}")
    return int(value)


def _prefix(operation: str) -> str:
    return operation.lower().removesuffix("-failed").replace("-", "_").replace(" ", "_")


def _is_good(key: str) -> bool:
    """The port to C++ prints no word for it."""
    return key.removeprefix("Return=") in ("OK", "0", "BATCHED_OK", "")


def _latencies(name: str, values: dict[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, text in values.items():
        match = _LATENCY.match(key)
        if match is None:
            # The variance of PerfKit's builds is not kept.
            if "Latency" in key and not key.startswith("LatencyVariance("):
                raise NotUnderstood(f"[{name}] {key[:60]}: a latency in an unknown unit or of an unknown kind")
            continue
        rank = match["rank"]
        what = {"Average": "avg", "Min": "min", "Max": "max"}.get(match["what"])
        suffix = what or _RANKS.get(rank.removesuffix(".0")) or f"p{rank.replace('.', '_')}"
        found[suffix] = round(number(text) * _PER_MS[match["unit"]], 12)
    ranks = [found[name] for name in ("p50", "p75", "p90", "p95", "p99", "p999", "p9999") if name in found]
    # HdrHistogram rounds a percentile up by up to a thousandth; old versions count whole milliseconds.
    top = found.get("max", float("inf")) * 1.01 + 1
    if ranks != sorted(ranks) or (ranks and ranks[-1] > top) or not found.get("min", 0) <= found.get("avg", top) <= top:
        raise NotUnderstood(f"the latencies of {name} do not rise from the least to the largest")
    return found


def _time_series(name: str, prefix: str, values: dict[str, str], warnings: list[str]) -> list[Series]:
    """measurementtype=timeseries: milliseconds since the start, average latency in the unit of AverageLatency."""
    rows = {int(key): text for key, text in values.items() if key.isascii() and key.isdecimal()}
    if not rows:
        return []
    whole_numbers = all(re.fullmatch(r"\d+(?:\.0+)?", text.strip()) for text in rows.values())
    if any(key.startswith(">") for key in values) or whole_numbers:
        warnings.append(f"{name} comes with a histogram of whole milliseconds, which is not kept")
        return []
    unit = next((unit for unit in _PER_MS if f"AverageLatency({unit})" in values), None)
    if unit is None or len(rows) < 2:
        warnings.append(f"the time series of {name} has no unit: left out")
        return []
    times = [time / 1000 for time in rows]
    samples = [None if text.strip() == "NaN" else round(number(text) * _PER_MS[unit], 12) for text in rows.values()]
    first, interval, spread = evenly(times, samples)
    return [Series(f"{prefix}_latency_avg_ms", "ms", interval, spread, t0_s=first + interval)]


def _compare(operations: dict[str, dict[str, str]], done: float, warnings: list[str]) -> None:
    """A read-modify-write counts as a read and an update too; INTENDED sections repeat the others."""
    total = 0
    for name, values in operations.items():
        if name.upper().startswith("INTENDED") or "Operations" not in values:
            continue
        count = _count(values["Operations"])
        total += -count if name.removesuffix("-FAILED") == "READ-MODIFY-WRITE" else count
    if operations and not agree(total, done, relative=0.01, absolute=1.0):
        warnings.append(f"the operations add up to {total}, throughput times run time is {done:.0f}")
