"""What BenchBase and OLTP-Bench print while they load and run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import datetime

from benchagent.importers.benchbase.documents import configured, counted, ended, of_phases, rates, snake, subject_of
from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Scalar, Series, Subject, all_measured, entries, measured
from benchagent.importers.series import grid_of
from benchagent.importers.source import MAX_COMMAND, Line, Lines, NotUnderstood, SourceFile, number, whole
from benchagent.importers.tables import Told, parts_of, reports_of

_RATE = r"[\d.]+(?:E-?\d+)?|NaN"
# What stands somewhere in a line, and what a run says once; several of a kind have names.
_PATTERNS = {
    "header": r"^\s*#?\s*(?P<name>Type|Isolation|Scale Factor|Terminals|Batch Size|New Connection Per Txn)\s*[:=]\s+"
    r"(?P<value>\S.*?)\s*$",
    "launch": r"Launching the (?P<kind>\w+) Benchmark with (?P<phases>\d+) Phase",
    "virtual terminals": r"Creating (?P<value>\d{1,9}) virtual terminals",  # OLTP-Bench says it here only
    "load": r"- (?P<name>Loading|Finished loading) data into \w+ database",
    "trouble": r"(?P<value>Unexpected error when (?:executing|running|loading|creating|clearing|trying)[^\n]*)",
    "interval": r"Starting MonitorThread Interval \[(?P<value>\d+)ms\]",
    "latency": r"- (?P<name>\w+), Avg Latency: (?P<avg>\d+(?:\.\d+)?) msecs"
    r", p99 Latency: (?P<p99>\d+(?:\.\d+)?) msecs\s*$",
    "result": r"Results\((?:state=(?P<state>\w+), )?nano[sS]econds=(?P<ns>\d+), measuredRequests=(?P<requests>\d+)\) = "
    rf"(?P<rate>{_RATE}) requests/sec(?: \(throughput\))?(?:, (?P<good>{_RATE}) requests/sec \(goodput\))?",
    "new_orders": r"Num New Order transactions ?: (?P<count>\d+), time seconds: (?P<seconds>\d+)",
    "TPM-C": r"TPM-C(?:: | \|\s*)(?P<value>[\d.,]+)\s*$",
    "efficiency": r"Efficiency ?[:|]\s*(?P<value>\d+(?:\.\d+)?)%?\s*$",
    # The table of descendants that print no line of results.
    "throughput": r"Throughput \(req/s\) \|\s*(?P<value>\d+(?:\.\d+)?)\s*$",
}
_PRINTED = {key: re.compile(pattern) for key, pattern in _PATTERNS.items()}
# Two lines of any other kind that differ are of no one run.
_MAY_DIFFER = ("launch", "virtual terminals", "load", "trouble", "interval")
CLAIM = re.compile(
    r"Results\((?:state=\w+, )?nano[sS]econds=\d+, measuredRequests=|com\.oltpbenchmark\.|\(DBWorkload\.java:"
    r"|(?m:^=+RESULTS=+\s*\n\s*TPM-C \|)"
)
WORDS = ("measuredRequests=", "com.oltpbenchmark.", "(DBWorkload.java:", "TPM-C |")
_BEGIN = re.compile(r"^\s*#?\s*Benchmark\s*[:=]\s+(?P<kind>[\w,-]+)(?: \{|\s*$)")
_PHASE = re.compile(r"\[(Time|Warmup|Rate)(?:Time)?=([\d.]+|unlimited)\]")
_MONITOR = re.compile(r"Throughput: (?P<rate>[\d.]+(?:E\d+)?) [Tt]xn/sec")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})")
# Histograms of counts, and the metrics that they are.
_SECTIONS = {
    "Completed Transactions": "completed_transactions", "Aborted Transactions": "aborted_transactions",
    "Rejected Transactions (Server Retry)": "retries", "Rejected Transactions (Retry Different)": "",
    "Unexpected SQL Errors": "errors", "Unexpected Errors": "errors", "Unknown Status Transactions": "",
    "User Aborts": "",
}  # fmt: skip
_SECTION = re.compile(rf"^[#\s]*({'|'.join(map(re.escape, _SECTIONS))}):")
_COUNT = re.compile(r"^#?\s*(\S+/\d+|\w+)\s+\[\s*(\d+)\]\s*(\**)\s*$")
_COMMANDS = Commands(
    ("-jar ", "./oltpbenchmark", "./tpccbenchmark"),
    form=r"(?:^|(?<=[\s$#>+]))(?:java .*?-jar \S*benchbase\S*\.jar|\./(?:oltpbenchmark|tpccbenchmark))\s",
    numbers={"--warehouses": "warehouses"},
    texts={"-b --bench": "benchmark"},
    keeps_others=False,
    has_letters=False,
)


@dataclass
class _Run(Told):
    kind: str = ""
    # What was printed, by the keys of _PRINTED or by name.
    printed: dict[str, dict[str, str]] = field(default_factory=dict)
    phases: list[dict[str, str]] = field(default_factory=list)
    # When it was printed, and what.
    monitor: list[tuple[str, float]] = field(default_factory=list)
    # The counts of each histogram and the lengths of their bars.
    counts: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    # The histogram of which the next lines are.
    section: str = ""

    @property
    def has_result(self) -> bool:
        return not {"result", "new_orders", "throughput"}.isdisjoint(self.printed)

    def value(self, key: str) -> str:
        return self.printed.get(key, {}).get("value", "")

    def is_whole(self, section: str) -> bool:
        """Whether all lines of a histogram are there: each has a bar in proportion to the greatest, of 80."""
        bars = self.counts.get(section)
        if not bars:
            return section in self.empty
        most = max(count for count, _ in bars.values())
        return not most or all(bar == int(count / most * 80) for count, bar in bars.values())

    def add(self, line: str) -> None:
        if "PHASE START ::" in line:
            phase = {"at": _stamp(line)} | {name.lower(): text for name, text in _PHASE.findall(line)}
            self.phases += [phase] if phase not in self.phases else []
        elif monitor := _MONITOR.search(line):
            self.monitor.append((_stamp(line), number(monitor["rate"])))
        elif found := next(((key, match) for key in _PRINTED if (match := _PRINTED[key].search(line))), None):
            key, match = found
            values = {name: text for name, text in match.groupdict().items() if text is not None}
            name = values.pop("name", key)
            values |= {"at": _stamp(line)} if key == "load" else {}
            if self.printed.setdefault(name, values) != values and key not in _MAY_DIFFER:
                raise NotUnderstood(f"two different {name.replace('_', ' ')}s of one run")
            self.kind = self.kind or values.get("kind", "").lower()
        elif "Results(" in line:
            self.printed["result"] = {}
            raise NotUnderstood("the result is damaged")


def _stamp(line: str) -> str:
    match = _STAMP.search(line)
    return f"{match[1]}.{match[2]}" if match else ""


def claims(file: SourceFile) -> bool:
    starts = ("package ", "/*", "{", "<?xml", "<parameters")
    return file.shows(CLAIM, WORDS) and not file.text.lstrip().startswith(starts)


def read(file: SourceFile) -> list[Report]:
    """A run that is not understood spoils no other."""
    runs = parts_of(Lines(file), _Run(), _of_run)
    return reports_of(runs, _reports, "benchbase", "no run of BenchBase")


def _of_run(run: _Run, line: Line) -> _Run:
    """The run that the line is of: a new one where it begins one."""
    # A longer line is none of BenchBase's, and would cost the square of its length.
    text = line.text if len(line.text) <= MAX_COMMAND else ""
    command, begin = _COMMANDS.find(text), _BEGIN.match(text)
    has_result = "result" in run.printed
    begins = run.kind or has_result or (command and "throughput" in run.printed)
    if begins and (command or begin or (has_result and _PRINTED["virtual terminals"].search(text))):
        run = _Run()
    if command:
        run.command_lines = [command]
    elif begin:
        run.kind, run.section = begin["kind"], ""
    elif heading := _SECTION.match(text):
        run.section = heading[1]
        if run.section in run.counts:
            raise NotUnderstood(f"{run.section} stands there twice")
        run.counts[run.section] = {}
    elif run.section and (count := _COUNT.match(text)):
        if count[1] in run.counts[run.section]:
            raise NotUnderstood(f"{count[1]} stands there twice")
        run.counts[run.section][count[1]] = (whole(count[2]), len(count[3]))
    elif run.section and text.lstrip("# ").startswith("<EMPTY>"):
        run.empty.add(run.section)
    else:
        run.section = "" if text.strip() else run.section
        run.add(text)
    return run


def _reports(run: _Run) -> list[Report]:
    """Those of its load and of its execution."""
    is_load = "Loading" in run.printed
    is_run = run.has_result or "launch" in run.printed or ("trouble" in run.printed and not is_load)
    return [*([_load(run)] if is_load else []), *([_execution(run)] if is_run else [])]


def _subject(run: _Run) -> Subject:
    named = str(_COMMANDS.parameters(run.command_lines).get("benchmark", ""))
    return subject_of(run.kind or named or ("tpcc" if "TPM-C" in run.printed else ""), run.value("Type"))


def _parameters(run: _Run) -> dict[str, Scalar]:
    headers = {"terminals": run.value("virtual terminals")} | {name: run.value(name) for name in run.printed}
    return entries(_COMMANDS.parameters(run.command_lines), "warehouses") | configured(headers, run.kind)


def _load(run: _Run) -> Report:
    load_s: float | None = None
    begun, loaded, trouble = run.printed["Loading"]["at"], run.printed.get("Finished loading"), run.value("trouble")
    if loaded and loaded["at"] and begun:
        load_s = (datetime.fromisoformat(loaded["at"]) - datetime.fromisoformat(begun)).total_seconds()
        if load_s < 0:
            raise NotUnderstood("the load ends before it begins")
    return Report(
        "benchbase", failure="" if loaded else trouble,
        reason="" if loaded else "the output ends before the data are loaded",
        parameters=entries(_parameters(run), "scale_factor", "batch_size", "warehouses"),
        metrics=all_measured({"load_s": load_s}, "load"), subject=_subject(run), command_lines=tuple(run.command_lines),
    )  # fmt: skip


def _execution(run: _Run) -> Report:
    result, trouble = run.printed.get("result", {}), run.value("trouble")
    figures = _rates(run) | _tpmc(run)
    for kind, latencies in run.printed.items():
        ranks = entries(latencies, "avg", "p99")
        figures |= {f"{snake(kind)}_latency_{rank}_ms": number(text) for rank, text in ranks.items()}
    metrics = [*all_measured(figures)]
    if "efficiency" in run.printed and "tpmc" in figures:
        metrics.append(measured("efficiency_pct", number(run.value("efficiency")), better="higher"))
    failed, reason = ended(result.get("state", ""), measured=not result or bool(figures.get("tps")))
    failure = trouble or failed
    reason = reason or ("" if run.has_result else "the output ends before the result")
    series: tuple[Series, ...] = ()
    if not (failure or reason):
        counts = {name: count for name, count in _counts(run).items() if name not in figures}
        metrics += all_measured(counts, better="none")
        series = _series(run) if run.monitor and run.value("interval") else ()
    elif metrics:
        run.warnings.append("the figures are those of the part that ran")
    return Report(
        "benchbase", reason=reason, failure=failure, parameters=_parameters(run) | _phase_parameters(run),
        metrics=tuple(metrics), series=series, warnings=tuple(run.warnings), subject=_subject(run),
        command_lines=tuple(run.command_lines),
    )  # fmt: skip


def _rates(run: _Run) -> dict[str, float | None]:
    result = run.printed.get("result")
    if result is None:
        return {"tps": number(run.value("throughput"))} if "throughput" in run.printed else {}
    seconds = whole(result["ns"]) / 1e9
    if not seconds or "NaN" in result.values():
        return {}
    good = number(result["good"]) if "good" in result else None
    return rates(number(result["rate"]), good, whole(result["requests"]), seconds)


def _tpmc(run: _Run) -> dict[str, float | None]:
    """The tpmC that some descendants print; its thousands may be grouped by commas, which the count settles."""
    printed, new_orders = run.value("TPM-C"), run.printed.get("new_orders")
    if not printed or not (new_orders or "throughput" in run.printed):
        return {}
    figures: dict[str, float | None] = {}
    if re.fullmatch(r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?", printed):
        figures["tpmc"] = value = number(printed.replace(",", ""))
        if new_orders:
            count, seconds = whole(new_orders["count"]), max(whole(new_orders["seconds"]), 1)
            is_of_them = math.isclose(value, count * 60 / seconds, rel_tol=0.01, abs_tol=1.0)
            figures = figures | {"new_order_transactions": count} if is_of_them else {}
    if not figures:
        run.warnings.append("TPM-C left out: it and the number of new orders contradict each other")
    return figures


def _counts(run: _Run) -> dict[str, float]:
    """Those of the histograms. Goodput is completed transactions by time: a lost line of one shows there."""
    counts: dict[str, float] = {}
    for section, name in _SECTIONS.items():
        if name and run.is_whole(section):
            of_kinds = {kind: count for kind, (count, _) in run.counts[section].items()}
            counts |= counted(section, of_kinds, None, name)
    completed, result = counts.get("completed_transactions"), run.printed.get("result", {})
    if completed is None or "good" not in result:
        return {}
    expected = completed / (whole(result["ns"]) / 1e9)
    return counts if math.isclose(number(result["good"]), expected, rel_tol=1e-6, abs_tol=1e-6) else {}


def _phase_parameters(run: _Run) -> dict[str, Scalar]:
    if run.phases and str(len(run.phases)) != run.printed.get("launch", {}).get("phases"):
        return {}
    parameters = of_phases(run.phases)
    if "duration_s" not in parameters and "new_orders" in run.printed:
        parameters["duration_s"] = whole(run.printed["new_orders"]["seconds"])
    return parameters


def _series(run: _Run) -> tuple[Series, ...]:
    """The monitor's lines, one per interval; left out where their times do not show that all are there."""
    interval_s = whole(run.value("interval")) / 1000
    stamps = [datetime.fromisoformat(stamp).timestamp() for stamp, _ in run.monitor if stamp]
    try:
        if len(stamps) != len(run.monitor) or len(stamps) < 2:
            raise NotUnderstood("its lines have no times")
        grid = grid_of([stamp - stamps[0] for stamp in stamps])
        if not math.isclose(grid.interval_s, interval_s, rel_tol=0.1):
            raise NotUnderstood(f"its lines are {grid.interval_s:g} s apart, not {interval_s:g} s")
    except NotUnderstood as error:
        run.warnings.append(f"the monitor's throughput left out: {error}")
        return ()
    if any(phase.get("warmup", "0") != "0" for phase in run.phases):
        run.warnings.append("the monitor's throughput includes the warm-up")
    return (Series.called("tps", interval_s, grid.values(rate for _, rate in run.monitor)),)
