"""YCSB's summary: `[SECTION], key, value` a line (TextMeasurementsExporter), after `Client.java` 0.1 to 0.18."""

from __future__ import annotations

import itertools
import json
import math
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchagent.catalog import too_many_failed
from benchagent.importers.report import Report, Series, all_measured, entries, measured, utc
from benchagent.importers.series import MAX_SECONDS, Grid, Samples, grid_of
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile, documents, number
from benchagent.importers.tables import Told, parts_of, reports_of
from benchagent.importers.ycsb.command import Command, called
from benchagent.redaction import redact_text

_ROW = re.compile(r"\s*\[(?P<section>[\w%. -]+)\], ?(?P<key>[^,]+), (?P<value>[^,]*)")
_VERSION = re.compile(r"\s*YCSB Client (?P<version>\d[\w.-]*)\s*")
_FAILURE = re.compile(
    r"^(?:Unknown DB |Error initializing datastore|Failed check required|Could not initialize|java\.lang\.\w+Error)"
    r"|DBException"
)
_SKIPPED = re.compile(r"TOTAL_GC|M(?:AX|IN)_(?:MEM|THREADS|SYS_LOAD)|CLEANUP|OVERALL")
_LATENCY = re.compile(
    r"(?P<what>Average|Min|Max|(?P<rank>\d+(?:\.\d+)?)(?:st|nd|rd|th)?Percentile)Latency\((?P<unit>us|ms)\)"
)
_PER_MS = {"us": 0.001, "ms": 1.0}
_WHAT = {"Average": "avg", "Min": "min", "Max": "max"}
_RANKS = {"50": "p50", "75": "p75", "90": "p90", "95": "p95", "99": "p99", "99.9": "p999", "99.99": "p9999"}
# The port to C++ prints no word for what is good.
_GOOD = ("Return=OK", "Return=0", "Return=BATCHED_OK", "Return=")
# The status lines of `-s`: what was done so far, every `status.interval` seconds.
_STATUS = re.compile(
    r"(?:^|\s)(?P<second>\d+) sec: (?P<operations>\d+) operations;(?: (?P<rate>[\d.,]+) current ops/sec;)?(?P<rest>.*)$"
)
_OF_STATUS = re.compile(
    r"\[(?P<name>[A-Z][\w-]*)(?:: Count=\d+, (?:[^\]]*, )?Avg=(?P<new>[\d.,]+)\b"
    r"| AverageLatency\((?P<unit>us|ms)\)=(?P<old>[\d.]+)\])"
)
# Figures of the status are formatted in the locale, without marks of thousands and with at most two decimals.
_COMMA = re.compile(r",(?=\d{1,2}$)")
# Names of no operation.
_DONE, _RATE = "operations", "ops_per_s"
# measurementtype=raw: a line per operation, and a summary with names of its own.
RAW = re.compile(r"^[A-Z][\w-]* latency raw data: op, timestamp\(ms\), latency\(us\)")
_RAW_ROW = re.compile(r"(?P<name>[A-Z][\w-]*),(?P<at_ms>\d{13}),(?P<us>\d{1,12})")
_RAW_KEYS = {"Total Operations": "Operations", **{what: f"{what}Latency(us)" for what in _WHAT}}
_RAW_RANK = re.compile(r"^p(\d+(?:\.\d+)?)$")
_LOADED_OR_RAN = (
    "and no command line tells whether it loaded or ran; send the rest of it, or with it the line that begins "
    "with Command line:"
)


@dataclass
class Run(Told):
    command: Command = field(default_factory=Command)
    version: str = ""
    sections: dict[str, dict[str, str]] = field(default_factory=dict)
    # With what was done so far, the rate, and average latencies in ms by operation.
    status: Samples = field(default_factory=Samples)
    # What stands before the decimals of its rates.
    marks: set[str] = field(default_factory=set)
    failure: str = ""
    # How many there were, and how long they took in µs, by operation and the second in which they were measured.
    raw: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)

    @property
    def overall(self) -> dict[str, str]:
        return self.sections.get("OVERALL", {})

    @property
    def operations(self) -> dict[str, dict[str, str]]:
        return {name: values for name, values in self.sections.items() if not _SKIPPED.match(name)}

    @property
    def counts(self) -> dict[str, int]:
        """How many there were of each operation."""
        texts = ((name, values.get("Operations")) for name, values in self.operations.items())
        return {name: _count(text) for name, text in texts if text is not None}

    @property
    def says_something(self) -> bool:
        return bool(self.sections or self.status or self.raw or (self.command.line and self.failure))

    @property
    def seconds(self) -> list[int]:
        """The first and the last second of raw operations."""
        seconds = [second for of_operation in self.raw.values() for second in of_operation]
        return [min(seconds), max(seconds)] if seconds else [0, 0]

    def add_status(self, at: int, match: re.Match[str]) -> None:
        self.marks |= set(re.findall(r"[.,](?=\d{1,2}$)", match["rate"] or ""))
        rate = number(_COMMA.sub(".", match["rate"])) if match["rate"] else None
        figures: dict[str, float | None] = {_DONE: float(match["operations"]), _RATE: rate}
        for each in _OF_STATUS.finditer(match["rest"]):
            if each["name"] != "CLEANUP":
                average = number(_COMMA.sub(".", each["new"] or each["old"]))
                figures[each["name"]] = round(average * _PER_MS[each["unit"] or "us"], 9)
        self.status.add(at, float(match["second"]), figures)


def java_reports(file: SourceFile) -> list[Report]:
    """A run that is not understood spoils no other."""
    runs = parts_of(Lines(file), Run(), _line)
    if any(run.operations and not run.overall for run in runs):
        raise NotUnderstood("figures of operations without the [OVERALL] that comes before them")
    if len(runs) > 1 and any(run.status and run.status.times_s[0] != 0 for run in runs):
        raise NotUnderstood("status lines of a run that does not begin at second 0: lines are out of order")
    with_output = [run for run in runs if run.refusal or run.says_something]
    return reports_of(with_output, _report, "ycsb", "no run of YCSB")


def _line(run: Run, numbered: Line) -> Run:
    """The run that the line is of: a new one where it begins one."""
    line = numbered.text.rstrip()
    if run.raw and (match := _RAW_ROW.fullmatch(line)) and match["name"] in run.raw:
        seconds, second = run.raw[match["name"]], int(match["at_ms"]) // 1000
        count, sum_us = seconds.get(second, (0, 0))
        seconds[second] = count + 1, sum_us + int(match["us"])
        if len(seconds) > MAX_SECONDS:
            raise NotUnderstood("longer than a week")
    elif RAW.match(line):
        name = line.partition(" ")[0]
        run = Run() if name in run.raw else run
        run.raw[name] = {}
    elif match := _ROW.fullmatch(line):
        section, key, value = match["section"], match["key"], match["value"]
        key = _RAW_RANK.sub(r"\1PercentileLatency(us)", _RAW_KEYS.get(key, key))
        if section == "OVERALL" and run.overall.get(key, value) != value:
            run = Run()
        if run.sections.setdefault(section, {}).setdefault(key, value) != value:
            raise NotUnderstood(f"[{section}] {key} stands twice with different values")
    elif match := _VERSION.fullmatch(line):
        run = Run() if run.says_something else run
        run.version = match["version"]
    elif match := _STATUS.search(line):
        run = Run() if run.overall else run
        run.add_status(numbered.number, match)
    elif command := called(line):
        again = run.command.line and not command.startswith('"') and run.says_something
        run = Run() if run.overall or again else run
        run.command.add(command)
    elif _FAILURE.search(line.strip()):
        run.failure = run.failure or redact_text(line.strip())[:200]
    return run


def _report(run: Run) -> Report:
    done, elapsed_s, throughput = _headline(run)
    phase = run.command.phase or _phase(run, done)
    series: dict[str, Series] = {}
    try:
        series = {each.name: each for each in _status_series(run)}
    except NotUnderstood as error:
        run.warnings.append(f"the status lines are not read as a series: {error}")
    series |= {each.name: each for each in _raw_series(run)}
    figures: dict[str, float | None] = {}
    counts, failures = run.counts, dict[str, int]()
    for name, values in run.operations.items() if done else ():
        prefix, failed = _prefix(name), counts.get(name, 0)
        if not name.endswith("-FAILED"):
            figures |= _figures(name, values)
            for each in _time_series(run, name, values):
                series.setdefault(each.name, each)
            failed = sum(_count(text) for key, text in values.items() if key.startswith("Return=") and key not in _GOOD)
            if failed:
                run.warnings.append(f"{failed} {name} operations did not return OK")
        # [READ] counts what did not return OK, [READ-FAILED] the same operations again.
        failures[prefix] = max(failures.get(prefix, 0), failed)
    figures |= {f"{prefix}_errors": float(failed) for prefix, failed in failures.items() if failed}
    metrics = all_measured(figures, phase)
    if done:
        _compare(run, done)
        elapsed = measured("elapsed_s", elapsed_s, phase, better="lower")
        metrics = measured("ops_per_s", throughput, phase), elapsed, *metrics
    failure, reason = _outcome(run, done, failures)
    return Report(
        "ycsb", tool_version=run.version, reason=reason, failure=failure, parameters=run.command.parameters,
        metrics=metrics, series=tuple(series.values()), warnings=tuple(run.warnings), subject=run.command.subject(),
        command_lines=(run.command.line,), started_at=utc(run.seconds[0]) if run.raw else "",
    )  # fmt: skip


def _outcome(run: Run, done: float, failures: dict[str, int]) -> tuple[str, str]:
    """Why a run failed, and why it was aborted."""
    never = [name for name, count in run.counts.items() if not count and failures.get(_prefix(name))]
    never = [name for name in never if not name.endswith("-FAILED")]
    failed = sum(failures.values())
    if never or (done and failed >= done):
        run.warnings.append("the figures are of a run that failed")
        return f"no {' and no '.join(never)} succeeded" if failed < done else "every operation failed", ""
    if done:
        # Where the sections count fewer than the headline, what failed is a share of what they count.
        counted = _counted(run)
        of = min(done, counted) if counted >= failed > 0 else done
        return too_many_failed({"transactions": of - failed, "errors": failed}), ""
    if run.overall or run.failure:
        return "no operation succeeded" if run.overall else f"the run did not begin: {run.failure}", ""
    if run.raw and not (run.sections or run.status or run.command.line or run.version):
        run.warnings.append(
            "a line per operation without a summary: a lost line would not show, so totals are left out"
        )
        return "", ""
    return "", "the output ends before the summary"


def _status_series(run: Run) -> Iterator[Series]:
    """Seconds are cut to whole ones and a line may come late: each stands where the one before it has its end.

    The first is of second 0, the last may be of the rest of an interval.
    """
    if len(run.marks) > 1:
        raise NotUnderstood("some have decimal commas and some have points")
    if len(run.status) < 3:
        return
    rates, done = run.status.figures(_RATE), [int(count or 0) for count in run.status.figures(_DONE)]
    seconds = [*map(int, run.status.times_s)]
    if seconds[0] != 0:
        raise NotUnderstood("the first is missing")
    steps = [later - earlier for earlier, later in itertools.pairwise(seconds)]
    interval_s = sorted(steps)[len(steps) // 2]
    if interval_s <= 0:
        raise NotUnderstood("the times do not rise")
    grid = Grid(0.0, float(interval_s), array("q"))
    last = -1
    for at, step in enumerate(steps, start=1):
        if step < 0 or done[at] < done[at - 1]:
            raise NotUnderstood(f"those at {seconds[at - 1]} and {seconds[at]} s are out of order")
        try:
            count = _intervals(step, done[at] - done[at - 1], rates[at], interval_s, is_last=at == len(steps))
        except NotUnderstood as error:
            raise NotUnderstood(f"that at {seconds[at]} s {error}") from error
        last += count
        if last >= 1_000_000:
            raise NotUnderstood("the times are too far apart")
        if count:
            grid.positions.append(last)
    for name in (_RATE, *sorted({*run.status.names} - {_DONE, _RATE})):
        values = grid.values(run.status.figures(name)[1 : len(grid.positions) + 1])
        if any(value is not None for value in values):
            suffix = "" if name == _RATE else "_latency_avg_ms"
            yield Series.called(f"{name.lower().replace('-', '_')}{suffix}", grid.interval_s, values)


def _intervals(step_s: int, operations: int, ops_per_s: float | None, interval_s: int, *, is_last: bool) -> int:
    """How many intervals lie between two lines; 0 for the rest of one at the end. Raises NotUnderstood."""
    # What was done by the rate is the time that passed, to the hundredth.
    exact_s = operations / ops_per_s if operations and ops_per_s else float(step_s)
    if is_last and (exact_s < 0.75 * interval_s or step_s < min(0.75 * interval_s, interval_s - 1)):
        return 0
    if abs(exact_s - interval_s) <= 0.05 * interval_s and abs(step_s - exact_s) <= 1.05:
        return 1
    count = round(step_s / interval_s)
    if count < 1 or abs(step_s - count * interval_s) > 1:
        raise NotUnderstood(f"comes {step_s} s after the one before it, not {interval_s} s")
    by_totals = operations / step_s
    if count == 1 and ops_per_s is not None and abs(by_totals - ops_per_s) > 0.2 * max(by_totals, ops_per_s) + 20:
        raise NotUnderstood(f"says {ops_per_s:g} ops/s, which is not what the totals say")
    return count


def _raw_series(run: Run) -> Iterator[Series]:
    """Rates and mean latencies of whole seconds, where as many lines are there as the summary counts."""
    (begin_s, end_s), counts = run.seconds, run.counts
    if end_s - begin_s > MAX_SECONDS:
        raise NotUnderstood("longer than a week")
    for name, seconds in run.raw.items():
        lines = sum(count for count, _ in seconds.values())
        if (counted := counts.get(name, lines)) != lines:
            run.warnings.append(f"{lines} lines of {name}, its summary counts {counted}: they are left out")
            continue
        rows = [seconds.get(second, (0, 0)) for second in range(begin_s + 1, end_s)]
        rates = [float(count) for count, _ in rows]
        latencies = [round(sum_us / count / 1000, 9) if count else None for count, sum_us in rows]
        if rows:
            yield Series.called(f"{_prefix(name)}_ops_per_s", 1.0, (None, *rates, None))
            yield Series.called(f"{_prefix(name)}_latency_avg_ms", 1.0, (None, *latencies, None))


def _prefix(name: str) -> str:
    return name.lower().removesuffix("-failed").replace("-", "_").replace(" ", "_")


def _phase(run: Run, done: float) -> str:
    """Without a command line: a load measures INSERT alone, all of its operations."""
    operations = run.operations.keys()
    if run.overall and not operations:
        raise NotUnderstood(f"the summary shows no operations, {_LOADED_OR_RAN}")
    if not operations or not operations <= {"INSERT", "INSERT-FAILED"}:
        return "run"
    if not run.counts:
        raise NotUnderstood(f"the summary ends within [INSERT], {_LOADED_OR_RAN}")
    if sum(run.counts.values()) < done:
        return "run"
    run.warnings.append("taken for the load phase: only INSERT was measured, and no command line tells")
    return "load"


def _headline(run: Run) -> tuple[float, float, float]:
    """Operations, which throughput times run time gives to the last digit, seconds, throughput; 0 without a summary."""
    if not run.overall:
        return 0.0, 0.0, 0.0
    if not {"RunTime(ms)", "Throughput(ops/sec)"} <= run.overall.keys():
        raise NotUnderstood(
            "the summary has only one of RunTime(ms) and Throughput(ops/sec): it is cut; send the whole of it"
        )
    if unknown := run.overall.keys() - {"RunTime(ms)", "Throughput(ops/sec)", "Operations"}:
        run.warnings.append(f"[OVERALL] has unknown figures: {', '.join(sorted(unknown))[:100]}")
    printed = run.overall["Throughput(ops/sec)"].strip()
    elapsed_s, throughput = number(run.overall["RunTime(ms)"]) / 1000, number(printed)
    done = throughput * elapsed_s
    decimals = len(printed.partition(".")[2].partition("E")[0])
    slack = 0.002 + (done * 1e-9 if "E" in printed else 0.5 * 10.0**-decimals * elapsed_s)
    if elapsed_s <= 0 or (slack < 0.25 and abs(done - round(done)) > slack):
        raise NotUnderstood(f"throughput times run time is {done:.2f}, not a whole number of operations")
    return float(round(done)), elapsed_s, throughput


def _count(text: str) -> int:
    """0.5 to 0.12 print counts as decimals: `1000000.0`, and `1.0E7` from ten million on."""
    value = number(text)
    if value < 0 or not value.is_integer():
        raise NotUnderstood(f"not a whole number: {text[:40]!r}")
    return int(value)


def _figures(name: str, values: dict[str, str]) -> dict[str, float]:
    """How many operations of a kind there were, and their latencies."""
    count = _count(values["Operations"]) if "Operations" in values else None
    latencies: dict[str, float] = {}
    # YCSB prints the mean of nothing as NaN, beside a least latency of 2^63.
    for key, text in values.items() if count != 0 else ():
        if match := _LATENCY.fullmatch(key):
            rank = (match["rank"] or "").removesuffix(".0")
            suffix = _WHAT.get(match["what"]) or _RANKS.get(rank) or f"p{rank.replace('.', '_')}"
            latencies[suffix] = round(number(text) * _PER_MS[match["unit"]], 12)
        # The variance of PerfKit's builds is not kept.
        elif "Latency" in key and not key.startswith("LatencyVariance("):
            raise NotUnderstood(f"[{name}] {key[:60]}: a latency in an unknown unit or of an unknown kind")
    ranks = [*entries(latencies, *_RANKS.values()).values()]
    # HdrHistogram rounds a percentile up by up to a thousandth; old versions count whole milliseconds.
    top = latencies.get("max", math.inf) * 1.01 + 1
    rises = ranks == sorted(ranks) and max(ranks, default=0) <= top
    if not (rises and latencies.get("min", 0) <= latencies.get("avg", top) <= top):
        raise NotUnderstood(f"the latencies of {name} do not rise from the least to the largest")
    figures = {} if count is None else {f"{_prefix(name)}_operations": float(count)}
    return figures | {f"{_prefix(name)}_latency_{suffix}_ms": value for suffix, value in latencies.items()}


def _time_series(run: Run, name: str, values: dict[str, str]) -> Iterator[Series]:
    """measurementtype=timeseries: milliseconds since the start, average latency in the unit of AverageLatency."""
    rows = {int(key): text for key, text in values.items() if key.isascii() and key.isdecimal()}
    if not rows:
        return
    whole_numbers = all(re.fullmatch(r"\d+(?:\.0+)?", text.strip()) for text in rows.values())
    unit = next((unit for unit in _PER_MS if f"AverageLatency({unit})" in values), "")
    if any(key.startswith(">") for key in values) or whole_numbers:
        run.warnings.append(f"{name} comes with a histogram of whole milliseconds, which is not kept")
    elif not unit or len(rows) < 2:
        run.warnings.append(f"the time series of {name} has no unit: left out")
    else:
        samples = [None if text.strip() == "NaN" else round(number(text) * _PER_MS[unit], 12) for text in rows.values()]
        grid = grid_of([time / 1000 for time in rows])
        t0_s = grid.t0_s + grid.interval_s
        yield Series.called(f"{_prefix(name)}_latency_avg_ms", grid.interval_s, grid.values(samples), t0_s)


def _counted(run: Run) -> int:
    """A read-modify-write counts as a read and an update too; INTENDED sections repeat the others."""
    return sum(
        -count if name.removesuffix("-FAILED") == "READ-MODIFY-WRITE" else count
        for name, count in run.counts.items()
        if not name.upper().startswith("INTENDED")
    )


def _compare(run: Run, done: float) -> None:
    total = _counted(run)
    if run.operations and not math.isclose(total, done, rel_tol=0.01, abs_tol=1.0):
        run.warnings.append(f"the operations add up to {total}, throughput times run time is {done:.0f}")


def exported(file: SourceFile) -> SourceFile:
    """The same file, or its summary in the text form where a JSON exporter wrote it: one array, or one object a row."""
    if not file.head.text.lstrip().startswith(("{", "[")) or '"measurement"' not in file.head.text[:500]:
        return file
    rows: list[object] = []
    for content in documents(file.text, json.JSONDecoder(parse_float=str, parse_int=str)):
        rows += content if isinstance(content, list) else [content]
    lines: list[str] = []
    for row in rows:
        names = ("metric", "measurement", "value")
        cells = [str(row.get(name, "\n")) for name in names] if isinstance(row, dict) else ["\n"]
        if any("\n" in cell or "," in cell for cell in cells):
            raise NotUnderstood("JSON of another form than YCSB's")
        lines.append("[{}], {}, {}\n".format(*cells))
    return SourceFile(file.name, "".join(lines).encode())
