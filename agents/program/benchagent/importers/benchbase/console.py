"""What BenchBase and OLTP-Bench print while they load and run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Series,
    SourceFile,
    Status,
    Subject,
    agree,
    number,
    whole,
)
from benchagent.importers.benchbase.documents import counted
from benchagent.importers.benchbase.names import dbms, plain, snake, workload
from benchagent.importers.series import evenly
from benchagent.redaction import redact_text

_RESULT = re.compile(
    r"Results\((?:state=(?P<state>\w+), )?nano[sS]econds=(?P<ns>\d+), measuredRequests=(?P<requests>\d+)\) = "
    r"(?P<rate>[\d.]+(?:E-?\d+)?|NaN) requests/sec(?: \(throughput\))?"
    r"(?:, (?P<good>[\d.]+(?:E-?\d+)?|NaN) requests/sec \(goodput\))?"
)
_CLAIM = re.compile(
    r"Results\((?:state=\w+, )?nano[sS]econds=\d+, measuredRequests=|com\.oltpbenchmark\.|\(DBWorkload\.java:"
    r"|(?m:^=+RESULTS=+\s*\n\s*TPM-C \|)"
)
_BEGIN = re.compile(r"^\s*#?\s*Benchmark\s*[:=]\s+(?P<kind>[\w,-]+)(?: \{|\s*$)")
_HEADER = re.compile(
    r"^\s*#?\s*(Type|Isolation|Scale Factor|Terminals|Batch Size|New Connection Per Txn)\s*[:=]\s+(\S.*?)\s*$"
)
_PHASE = re.compile(
    r"(?:\[(?P<time>Time)=(?P<seconds>\d+)\])|\[WarmupTime=(?P<warm>\d+)\]|\[Rate=(?P<rate>[\d.]+|unlimited)\]"
)
_MONITOR = re.compile(r"Throughput: (?P<rate>[\d.]+(?:E\d+)?) [Tt]xn/sec")
_INTERVAL = re.compile(r"Starting MonitorThread Interval \[(\d+)ms\]")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})")
_LOADING = re.compile(r"- Loading data into \w+ database")
_LOADED = re.compile(r"- Finished loading data into \w+ database")
_TROUBLE = re.compile(r"Unexpected error when (?:executing|running|loading|creating|clearing|trying)[^\n]*")
_LAUNCH = re.compile(r"Launching the (\w+) Benchmark with (\d+) Phase")
# The bar of a histogram's greatest count.
_LONGEST_BAR = 80
_SECTION = re.compile(
    r"^[#\s]*(Completed Transactions|Aborted Transactions|Rejected Transactions \(Server Retry\)"
    r"|Rejected Transactions \(Retry Different\)|Unexpected SQL Errors|Unexpected Errors|Unknown Status Transactions"
    r"|User Aborts):"
)
_COUNT = re.compile(r"^#?\s*(\S+/\d+|\w+)\s+\[\s*(\d+)\]\s*(\**)\s*$")
_SECTIONS = {
    "Completed Transactions": ("completed_transactions", "transactions"),
    "Aborted Transactions": ("aborted_transactions", "transactions"),
    "Rejected Transactions (Server Retry)": ("retries", "retries"),
    "Unexpected SQL Errors": ("errors", "errors"),
    "Unexpected Errors": ("errors", "errors"),
}
_NEW_ORDERS = re.compile(r"Num New Order transactions ?: (\d+), time seconds: (\d+)")
_TPMC = re.compile(r"TPM-C(?:: | \|\s*)([\d.,]+)\s*$")
_EFFICIENCY = re.compile(r"\bEfficiency ?[:|]\s*(\d+(?:\.\d+)?)%?\s*$")
# The table of descendants that print no line of results.
_TABLE_RATE = re.compile(r"^\s*Throughput \(req/s\) \|\s*(\d+(?:\.\d+)?)\s*$")
_TYPE_LATENCY = re.compile(r"- (\w+), Avg Latency: (\d+(?:\.\d+)?) msecs, p99 Latency: (\d+(?:\.\d+)?) msecs\s*$")
_COMMAND = re.compile(r"(?:^|[\s$#>+])((?:java .*?-jar \S*benchbase\S*\.jar|\./(?:oltpbenchmark|tpccbenchmark))\s.*)$")


_COLOUR = re.compile(r"\x1b\[[\d;]*m")


@dataclass
class _Run:
    kind: str = ""
    header: dict[str, str] = field(default_factory=dict)
    results: list[re.Match[str]] = field(default_factory=list)
    phases: list[dict[str, str]] = field(default_factory=list)
    # When it was printed, and what.
    monitor: list[tuple[str, float]] = field(default_factory=list)
    interval_s: float = 0.0
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    bars: dict[str, dict[str, int]] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    # The number of phases that were announced.
    launched: int = 0
    loading: str = ""
    loaded: str = ""
    trouble: str = ""
    new_orders: tuple[int, int] | None = None
    tpmc: str = ""
    efficiency: str = ""
    table_rate: str = ""
    # Transaction type -> average, 99th percentile.
    latencies: dict[str, tuple[str, str]] = field(default_factory=dict)
    command: str = ""
    measuring: str = ""


def claims(text: str) -> bool:
    return bool(_CLAIM.search(text)) and not text.lstrip().startswith(("package ", "/*", "{", "<?xml", "<parameters"))


def read(file: SourceFile) -> list[Report]:
    lines = file.lines if file.last_line_is_whole else file.lines[:-1]
    runs = _runs(lines)
    reports = [report for run in runs for report in _reports(run)]
    if not reports:
        raise NotUnderstood("neither a load nor a run of BenchBase stands in it")
    return reports


def _runs(lines: Sequence[str]) -> list[_Run]:
    run = _Run()
    runs = [run]
    section = ""
    for at, coloured in enumerate(lines, start=1):
        # A longer line is none of BenchBase's, and would cost the square of its length.
        line = _COLOUR.sub("", coloured) if len(coloured) <= 4000 else ""
        if command := _COMMAND.search(line):
            if run.kind or run.results or run.table_rate:
                run = _Run()
                runs.append(run)
            run.command = redact_text(command[1])
        elif run.command.endswith("\\") and line.strip().startswith("-"):
            run.command = f"{run.command[:-1].rstrip()} {redact_text(line.strip())}"
            section = ""
        elif begin := _BEGIN.match(line):
            if run.kind or run.results:
                run = _Run()
                runs.append(run)
            run.kind, section = begin["kind"], ""
        elif heading := _SECTION.match(line):
            section = heading[1]
            if section in run.counts:
                raise NotUnderstood(f"line {at}: {section} stands there twice")
            run.counts[section] = {}
        elif section and _take_count(run, section, at, line):
            continue
        else:
            if section and line.startswith("<EMPTY>"):
                run.empty.add(section)
            section = section if not line.strip() or line.startswith("<EMPTY>") else ""
            _take(run, at, line)
    return runs


def _take_count(run: _Run, section: str, at: int, line: str) -> bool:
    count = _COUNT.match(line)
    if count is None:
        return False
    counts = run.counts[section]
    if count[1] in counts:
        raise NotUnderstood(f"line {at}: {count[1]} stands there twice")
    counts[count[1]] = whole(count[2])
    run.bars.setdefault(section, {})[count[1]] = len(count[3])
    return True


def _is_whole(run: _Run, section: str) -> bool:
    """Whether all lines of a histogram are there: each has a bar in proportion to the greatest."""
    counts, bars = run.counts.get(section), run.bars.get(section, {})
    if not counts:
        return section in run.empty
    most = max(counts.values())
    return all(bars[kind] == int(count / most * _LONGEST_BAR) if most else True for kind, count in counts.items())


def _take(run: _Run, at: int, line: str) -> None:
    if header := _HEADER.match(line):
        if run.header.setdefault(header[1], header[2]) != header[2]:
            raise NotUnderstood(f"line {at}: {header[1]} differs from what was said before")
    elif "Results(" in line:
        _take_result(run, at, line)
    elif "PHASE START ::" in line:
        run.phases += [phase for phase in [_phase(line)] if phase not in run.phases]
    elif "Warmup complete, starting measurements" in line:
        run.measuring = _stamp(line)
    elif launch := _LAUNCH.search(line):
        run.launched = whole(launch[2])
        run.kind = run.kind or launch[1].lower()
    elif _LOADING.search(line):
        run.loading = _stamp(line) or "?"
    elif _LOADED.search(line):
        run.loaded = _stamp(line) or "?"
    elif trouble := _TROUBLE.search(line):
        run.trouble = run.trouble or trouble[0]
    else:
        _take_rate(run, at, line)


def _take_result(run: _Run, at: int, line: str) -> None:
    result = _RESULT.search(line)
    if result is None:
        raise NotUnderstood(f"line {at}: the result is damaged")
    if run.results and run.results[0].groups() != result.groups():
        raise NotUnderstood(f"line {at}: two different results of one run")
    run.results.append(result)


def _take_rate(run: _Run, at: int, line: str) -> None:
    if interval := _INTERVAL.search(line):
        run.interval_s = whole(interval[1]) / 1000
    elif monitor := _MONITOR.search(line):
        run.monitor.append((_stamp(line), number(monitor["rate"])))
    elif new_orders := _NEW_ORDERS.search(line):
        told = (whole(new_orders[1]), whole(new_orders[2]))
        if run.new_orders not in (None, told):
            raise NotUnderstood(f"line {at}: two different numbers of new orders")
        run.new_orders = told
    elif tpmc := _TPMC.search(line):
        run.tpmc = _same(run.tpmc, tpmc[1], f"line {at}: two different TPM-C")
    elif efficiency := _EFFICIENCY.search(line):
        run.efficiency = _same(run.efficiency, efficiency[1], f"line {at}: two different efficiencies")
    elif rate := _TABLE_RATE.match(line):
        run.table_rate = _same(run.table_rate, rate[1], f"line {at}: two different throughputs")
    elif found := _TYPE_LATENCY.search(line):
        _same(" ".join(run.latencies.get(found[1], ())), f"{found[2]} {found[3]}", f"line {at}: two latencies")
        run.latencies[found[1]] = (found[2], found[3])


def _same(before: str, now: str, otherwise: str) -> str:
    if before not in ("", now):
        raise NotUnderstood(otherwise)
    return now


def _phase(line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _PHASE.finditer(line):
        found |= {name: value for name, value in match.groupdict().items() if value is not None and name != "time"}
    return found | {"at": _stamp(line)}


def _stamp(line: str) -> str:
    match = _STAMP.search(line)
    return f"{match[1]}.{match[2]}" if match else ""


def _reports(run: _Run) -> list[Report]:
    found = []
    if run.loading:
        found.append(_load(run))
    if run.results or run.launched or run.new_orders or run.table_rate or (run.trouble and not run.loading):
        found.append(_execution(run))
    return found


def _subject(run: _Run) -> Subject:
    told = re.search(r"\s(?:-b|--bench)[= ]([\w,]+)", run.command)
    slug, name = workload(run.kind or (told[1] if told else "tpcc" if run.tpmc else ""))
    return Subject(workload=slug, workload_name=name, dbms=dbms(run.header.get("Type", ""), "")[0])


def _told(run: _Run) -> dict[str, Scalar]:
    names = {
        "Isolation": "isolation",
        "Scale Factor": "scale_factor",
        "Terminals": "terminals",
        "Batch Size": "batch_size",
    }
    found = {alias: plain(redact_text(run.header[name])) for name, alias in names.items() if name in run.header}
    if run.header.get("New Connection Per Txn") in ("true", "false"):
        found["new_connection_per_transaction"] = run.header["New Connection Per Txn"] == "true"
    if warehouses := re.search(r"--warehouses[= ](\d{1,9})\b", run.command):
        found["warehouses"] = int(warehouses[1])
    if run.kind.lower() == "tpcc" and isinstance(found.get("scale_factor"), int | float):
        found["warehouses"] = found["scale_factor"]
    return found


def _load(run: _Run) -> Report:
    metrics: tuple[Metric, ...] = ()
    if run.loaded and "?" not in (run.loading, run.loaded):
        took_s = (datetime.fromisoformat(run.loaded) - datetime.fromisoformat(run.loading)).total_seconds()
        if took_s < 0:
            raise NotUnderstood("the load ends before it begins")
        metrics = (Metric("load_s", "s", took_s, phase="load", better="lower"),)
    status = Status.COMPLETE if run.loaded else Status.FAILED if run.trouble else Status.ABORTED
    reason = "" if run.loaded else redact_text(run.trouble) or "the output ends before the data are loaded"
    parameters = {
        name: value for name, value in _told(run).items() if name in ("scale_factor", "warehouses", "batch_size")
    }
    return Report(
        tool="benchbase", status=status, reason=reason, parameters=parameters, metrics=metrics, subject=_subject(run),
        command_lines=(run.command,) if run.command else (),
    )  # fmt: skip


def _execution(run: _Run) -> Report:
    warnings: list[str] = []
    metrics = [*_rates(run), *_tpmc(run, warnings), *_types(run)]
    status, reason = _state(run, metrics)
    if status is Status.COMPLETE:
        metrics += _counts(run)
    elif metrics:
        warnings.append("the figures are those of the part that ran")
    parameters = _told(run) | _told_phase(run)
    watched = run.monitor and run.interval_s and status is Status.COMPLETE
    series = _series(run, warnings) if watched else ()
    return Report(
        tool="benchbase", status=status, reason=reason, parameters=parameters, metrics=tuple(metrics),
        series=series, warnings=tuple(warnings), subject=_subject(run),
        command_lines=(run.command,) if run.command else (),
    )  # fmt: skip


def _state(run: _Run, metrics: Sequence[Metric]) -> tuple[Status, str]:
    state = run.results[0]["state"] if run.results else ""
    if run.trouble:
        return Status.FAILED, redact_text(run.trouble)
    if state == "ERROR":
        return Status.FAILED, "BenchBase ended in state ERROR: a worker died"
    if state and state != "EXIT":
        return Status.ABORTED, f"BenchBase ended in state {state[:40]}, not EXIT"
    if not run.results and not run.new_orders and not run.table_rate:
        return Status.ABORTED, "the output ends before the result"
    if run.results and not any(metric.value for metric in metrics if metric.name == "tps"):
        return Status.FAILED, "no request was measured"
    return Status.COMPLETE, ""


def _rates(run: _Run) -> list[Metric]:
    if not run.results:
        return [Metric("tps", "TPS", number(run.table_rate), better="higher")] if run.table_rate else []
    result = run.results[0]
    seconds, requests = whole(result["ns"]) / 1e9, whole(result["requests"])
    if not seconds or "NaN" in (result["rate"], result["good"]):
        return []
    rate = number(result["rate"])
    if not agree(rate, requests / seconds, relative=1e-6, absolute=1e-6):
        raise NotUnderstood("throughput, requests and elapsed time contradict each other")
    metrics = [
        Metric("tps", "TPS", rate, better="higher"),
        Metric("requests_per_s", "requests/s", rate, better="higher"),
        Metric("transactions", "transactions", requests, better="none"),
        Metric("elapsed_s", "s", seconds, better="none"),
    ]
    if result["good"] is not None:
        metrics.append(Metric("goodput_per_s", "requests/s", number(result["good"]), better="higher"))
    return metrics


def _tpmc(run: _Run, warnings: list[str]) -> list[Metric]:
    """The tpmC that some descendants print; its thousands may be grouped by commas, which the count settles."""
    metrics = []
    if run.tpmc and (run.new_orders or run.table_rate):
        count, seconds = run.new_orders or (0, 0)
        grouped = re.fullmatch(r"\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?", run.tpmc)
        value = number(run.tpmc.replace(",", "")) if grouped else -1.0
        if value < 0 or (
            run.new_orders and not agree(value, count * 60 / max(seconds, 1), relative=0.01, absolute=1.0)
        ):
            warnings.append("TPM-C left out: it and the number of new orders contradict each other")
            return []
        metrics.append(Metric("tpmc", "tpmC", value, better="higher"))
    if run.tpmc and run.new_orders:
        metrics.append(Metric("new_order_transactions", "transactions", run.new_orders[0], better="none"))
    if run.efficiency and metrics:
        metrics.append(Metric("efficiency_pct", "%", number(run.efficiency), better="higher"))
    return metrics


def _types(run: _Run) -> list[Metric]:
    return [
        Metric(f"{snake(kind)}_latency_{name}_ms", "ms", number(value), better="lower")
        for kind, values in run.latencies.items()
        for name, value in zip(("avg", "p99"), values, strict=True)
    ]


def _counts(run: _Run) -> list[Metric]:
    metrics: list[Metric] = []
    known = {metric.name for metric in _tpmc(run, [])}
    for section, (name, unit) in _SECTIONS.items():
        if _is_whole(run, section):
            metrics += counted(section, run.counts[section], None, name, unit)
    if not _sum_fits(run, metrics):
        return []
    return [metric for metric in metrics if metric.name not in known]


def _sum_fits(run: _Run, metrics: Sequence[Metric]) -> bool:
    """Goodput is completed transactions by time: a lost line of the histogram shows there."""
    completed = next((metric.value for metric in metrics if metric.name == "completed_transactions"), None)
    good = run.results[0]["good"] if run.results else None
    if completed is None or good is None:
        return False
    return agree(number(good), completed / (whole(run.results[0]["ns"]) / 1e9), relative=1e-6, absolute=1e-6)


def _told_phase(run: _Run) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    seconds = [phase.get("seconds", "") for phase in run.phases]
    if run.phases and len(run.phases) != run.launched:
        return found
    if seconds and all(seconds):
        found["duration_s"] = sum(int(text) for text in seconds)
    elif run.new_orders:
        found["duration_s"] = run.new_orders[1]
    if len(run.phases) > 1:
        return found | {"phases": len(run.phases)}
    if run.phases and "warm" in run.phases[0]:
        found["warm_up_s"] = int(run.phases[0]["warm"])
    rate = plain(run.phases[0].get("rate", "")) if run.phases else ""
    if isinstance(rate, int | float):
        found["rate_limit_tps"] = rate
    return found


def _series(run: _Run, warnings: list[str]) -> tuple[Series, ...]:
    """The monitor's lines, one per interval; left out where their times do not show that all are there."""
    stamps = [datetime.fromisoformat(stamp).timestamp() for stamp, _ in run.monitor if stamp]
    rates = [rate for _, rate in run.monitor]
    try:
        if len(stamps) != len(rates) or len(stamps) < 2:
            raise NotUnderstood("its lines have no times")
        _, interval_s, values = evenly([stamp - stamps[0] for stamp in stamps], rates)
        if not agree(interval_s, run.interval_s, relative=0.1):
            raise NotUnderstood(f"its lines are {interval_s:g} s apart, not {run.interval_s:g} s")
    except NotUnderstood as error:
        warnings.append(f"the monitor's throughput left out: {error}")
        return ()
    if any(phase.get("warm", "0") != "0" for phase in run.phases):
        warnings.append("the monitor's throughput includes the warm-up")
    return (Series("tps", "TPS", run.interval_s, values),)
