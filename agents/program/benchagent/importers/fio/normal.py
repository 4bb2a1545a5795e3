"""Normal (human) output: 3.x `IOPS=…, BW=…MiB/s (…MB/s)(…/…msec)`, 2.x `io=…, bw=…KB/s, iops=…, runt=…msec`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchagent.importers.fio import common
from benchagent.importers.fio.common import ALL_CLIENTS, COMMANDS, DIRECTIONS, FSYNC, SIGNAL, Flow, Job, grouped, report
from benchagent.importers.report import Report
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile, number, size_bytes_of, whole
from benchagent.importers.tables import Told, parts_of, reports_of

CLAIM = re.compile(
    r"^.*\(groupid=\d+, jobs=\d+\): err=|^[ \t]*fio-\d+\.\d+\S*[ \t]*$|^fio: "
    r"|^[ \t]*Run status group \d+ \(all jobs\):",
    re.MULTILINE,
)
SPEC = re.compile(r"^\s*(\S.*?): \(g=(\d+)\): rw=(\w+), bs=(.+?), ioengine=(\S+), iodepth=(\d+)\s*$")
STARTING = re.compile(r"^\s*Starting (?:(\d+) threads?)?(?: and )?(?:(\d+) process(?:es)?)?\s*$")
VERSION = re.compile(r"^\s*(fio-\d[\w.+~-]*|fio \d+\.\d[\w.]*)\s*$")
JOB = re.compile(
    r"^(?!\s*(?:[#>|*%]|//))\s*(\S.*?)\s*: \(groupid=(\d+), jobs=(\d+)\): err=\s*(-?\d+)\b(?:.*\bpid=(\d+))?"
)
# Figures stand with their K, M, …
NEW = re.compile(
    r"^\s*(?P<direction>read|write|trim|mixed)\s*: IOPS=(?P<iops>[\d.]+[kKMG]?), "
    r"BW=(?P<binary>[\d.]+(?:[KMGT]i)?)(?:B/s)? \((?P<decimal>[\d.]+[kKMGT]?)(?:B/s)?\)"
    r"\((?P<done>[\d.]+(?:[KMGT]i)?)B/(?P<ms>\d+)msec\)"
)
OLD = re.compile(
    r"^\s*(?P<direction>read|write|trim|mixed)\s*: io=(?P<done>[\d.]+[KMGT]?)B, bw=(?P<binary>[\d.]+\s?[KMGT]?)B/s, "
    r"iops=(?P<iops>\d+)\s*, runt=\s*(?P<ms>\d+)msec"
)
LATENCY = re.compile(
    r"^\s*(?P<kind>lat|clat|slat|sync) \((?P<unit>nsec|usec|msec)\)\s*: min=\s*(?P<min>[\d.]+[kKMG]?)\s*, "
    r"max=\s*(?P<max>[\d.]+[kKMG]?)\s*, avg=\s*(?P<avg>[\d.]+[kKMG]?)\s*, stdev=\s*(?P<stddev>[\d.]+[kKMG]?)\s*$"
)
PERCENTILES = re.compile(r"^\s*(?:(?P<kind>clat|lat|sync)\s+|.*)percentiles \((?P<unit>nsec|usec|msec)\):\s*$")
RANK = re.compile(r"\s*([\d.]+)th=\[\s*([\d.]+[kKMG]?)\],?")
ISSUED = re.compile(
    r"^\s*issued\s+(?:rwts?|r/w(?:/d)?)?\s*: total=(?:r=)?(\d+)(?:/w=|,|/)(\d+)(?:(?:/d=|,|/)(\d+))?(?=,|\s|$)"
)
GROUP = re.compile(r"^\s*Run status group (\d+) \(all jobs\):")
TOTAL = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=[\d.]+[KMGT]?B, aggrb=)(?P<rate>[\d.]+(?:[KMGT]i?)?)B/s"
    r".*?(?:run|mint)=\s*\d+(?:msec, maxt=|-)(?P<longest_ms>\d+)msec\s*$"
)
# How they begin, whatever follows.
ANY_RATE = re.compile(r"\s+(?:read|write|trim|mixed)\s*:")
ANY_TOTAL = re.compile(r"^\s*(?:READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=)")
MS = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0}
_CARRY = "a rate is corrected: fio lost the carry when it rounded (21.98 is printed as 21.0)"


@dataclass
class _Run(Told):
    version: str = ""
    signal: str = ""
    messages: list[str] = field(default_factory=list)
    # What fio says of jobs before the run, and groups of which `...` says that more jobs of the same follow.
    specs: list[Job] = field(default_factory=list)
    more: set[int] = field(default_factory=set)
    announced: int = 0
    jobs: list[Job] = field(default_factory=list)
    # Names and processes.
    pids: set[tuple[str, str]] = field(default_factory=set)
    all_clients: bool = False
    # By group and direction: what the MB/s may stand for, and how long the longest job took.
    totals: dict[int, dict[str, tuple[tuple[float, ...], float]]] = field(default_factory=dict)
    # What the next lines tell of: a group's totals, a job, and percentiles in a unit of so many ms.
    group: int | None = None
    job: Job | None = None
    ranks: dict[float, float] | None = None
    rank_ms: float = 0.0
    # Of each flow of the job: the latencies whose percentiles are kept.
    ranked: str = ""


def claims(text: str) -> bool:
    return bool(CLAIM.search(text)) and ("groupid=" in text or "(g=" in text or "fio-" in text)


def read(file: SourceFile) -> list[Report]:
    """The reports of all groups of all runs of a file; a run that is not understood spoils no other."""
    runs = parts_of(Lines(file), _Run(), _run_of)
    return reports_of(runs, _reports, "fio", "fio printed neither a job's figures nor an error")


def _reports(run: _Run) -> list[Report]:
    """One of each group; of no jobs where fio only said why none ran."""
    if not run.jobs and run.totals:
        raise NotUnderstood("only the totals stand there, and of no job whether it ended well")
    groups = [*grouped(run.jobs)] or ([[]] if run.messages else [])
    return reports_of(groups, lambda jobs: _report(run, jobs), "fio")


def _begins(run: _Run, line: str) -> bool:
    """Whether this line belongs to the next run of the same file."""
    job = JOB.match(line)
    if run.all_clients and (job or GROUP.match(line)):
        return True
    if run.jobs and job and int(job[2]) in run.totals:
        # After a group's totals its jobs come again only as interim reports, with the same processes.
        return job[1] != ALL_CLIENTS and (job[1], job[5]) not in run.pids
    if not run.jobs and not run.messages:
        return False
    return bool((run.version and VERSION.match(line)) or SPEC.match(line) or COMMANDS.find(line))


def _run_of(run: _Run, numbered: Line) -> _Run:
    """The run that the line is of: a new one where it begins one."""
    line = numbered.text
    run = _Run() if _begins(run, line) else run
    if job := JOB.match(line):
        _begin_job(run, job)
    elif spec := SPEC.match(line):
        # "(R) 8192B-8192B, (W) …" or "4K-4K/4K-4K": one size where all are the same.
        sizes = set(re.findall(r"\d+(?:\.\d+)?[kKMGT]?i?B?", spec[4]))
        block = sizes.pop() if len(sizes) == 1 else re.sub(r"\s+", " ", spec[4])
        options = {"rw": spec[3], "bs": block, "ioengine": spec[5], "iodepth": spec[6]}
        run.specs.append(Job(spec[1], int(spec[2]), options=options))
    elif line.strip() == "..." and run.specs and not run.jobs:
        run.more.add(run.specs[-1].group)
    elif started := STARTING.match(line):
        run.announced += sum(int(count or 0) for count in started.groups())
    elif version := VERSION.match(line):
        run.version = version[1].replace(" ", "-")
    elif (signal := SIGNAL.match(line)) or line.startswith("fio: "):
        run.signal = signal[1] if signal else run.signal
        if not signal or "got signal" in line:
            run.messages.append(line[line.index("fio: ") + 5 :])
    elif not run.jobs and (command := COMMANDS.find(line)):
        run.command_lines = [command]
    elif group := GROUP.match(line):
        run.group, run.job = int(group[1]), None
        run.totals.setdefault(run.group, {})
    elif TOTAL.match(line) or (run.group is not None and ANY_TOTAL.match(line)):
        _read_total(run, line)
    elif run.job:
        _read_figures(run, run.job, line)
    elif NEW.match(line) or OLD.match(line) or LATENCY.match(line):
        raise NotUnderstood("figures of no job")
    return run


def _begin_job(run: _Run, match: re.Match[str]) -> None:
    name, group, jobs, error, pid = match.groups()
    is_sum, known = name == ALL_CLIENTS, (name, pid) in run.pids
    if run.totals and not is_sum and not known:
        raise NotUnderstood("a job after the end of the run")
    if run.totals or is_sum:
        # `--status-interval` prints the totals so far again and again; the last are the run's. The sum of all servers
        # comes last, without totals; before it each has printed its own.
        for figures in (run.jobs, run.pids, run.totals):
            figures.clear()
        run.group, run.all_clients = None, run.all_clients or is_sum
    elif known:
        raise NotUnderstood("a job stands there twice")
    if pid:
        run.pids.add((name, pid))
    run.job = Job(name, int(group), int(error), options={"numjobs": jobs} if int(jobs) > 1 else {})
    run.ranks = None
    run.jobs.append(run.job)


def _read_total(run: _Run, line: str) -> None:
    match = TOTAL.match(line)
    if match is None or run.group is None:
        raise NotUnderstood("totals of no group" if match else "an unknown wording of a total")
    run.job = None
    totals, direction = run.totals[run.group], match["direction"].lower()
    value = (tuple(rate / 1e6 for rate in _readings(match["rate"], 1024)), whole(match["longest_ms"]) / 1000)
    if totals.setdefault(direction, value) != value:
        raise NotUnderstood(f"two different totals for {direction}")


def _read_figures(run: _Run, job: Job, line: str) -> None:
    if rate := NEW.match(line) or OLD.match(line):
        _read_rate(run, job, rate)
    elif ANY_RATE.match(line):
        raise NotUnderstood("an unknown wording of a rate")
    elif latency := LATENCY.match(line):
        _read_latency(run, job, latency)
    elif (heading := PERCENTILES.match(line)) and job.flows:
        # Percentiles of the completion latency come first; those of the total one, of submissions and of priorities
        # do not replace them.
        if run.ranked and heading["kind"] == run.ranked:
            raise NotUnderstood("the percentiles stand there twice")
        are_kept = heading["kind"] and not run.ranked
        run.ranks, run.rank_ms = job.last_flow.percentiles if are_kept else {}, MS[heading["unit"]]
        run.ranked = run.ranked or heading["kind"] or ""
    elif line.lstrip().startswith("|"):
        _read_ranks(run, line)
    elif issued := ISSUED.match(line):
        if job.issued:
            raise NotUnderstood("the operations of a job stand there twice")
        job.issued = tuple(int(count or 0) for count in issued.groups())


def _read_ranks(run: _Run, line: str) -> None:
    if run.ranks is None:
        raise NotUnderstood("percentiles of nothing")
    if RANK.sub("", line).strip() != "|":
        raise NotUnderstood("a line of percentiles is damaged")
    for text, value in RANK.findall(line):
        rank, ms = number(text), _readings(value, 1000)[0] * run.rank_ms
        before = next(reversed(run.ranks.items()), (-1.0, 0.0))
        if rank <= before[0] or ms < before[1]:
            raise NotUnderstood("the percentiles do not rise: lines are missing or out of order")
        run.ranks[rank] = ms


def _begin_flow(run: _Run, job: Job, direction: str, flow: Flow) -> None:
    order = [(*DIRECTIONS, FSYNC).index(each) for each in (*job.flows, direction)]
    if order != sorted({*order}):
        raise NotUnderstood(f"{direction} stands there twice or in the wrong place")
    job.flows[direction] = flow
    run.ranked, run.ranks = "", None


def _read_rate(run: _Run, job: Job, match: re.Match[str]) -> None:
    """The rate of one direction, whose latencies follow."""
    iops, *above = _readings(match["iops"], 1000)
    runtime_s = whole(match["ms"]) / 1000
    binaries, sizes = _readings(match["binary"], 1024), _readings(match["done"], 1024)
    decimals = binaries if match.re is OLD else _readings(match["decimal"], 1000)
    rates = [
        decimal
        for binary, decimal, done in itertools.product(binaries, decimals, sizes)
        if math.isclose(binary, decimal, rel_tol=0.012, abs_tol=1)
        and (not runtime_s or math.isclose(binary * runtime_s, done, rel_tol=0.02, abs_tol=2048))
    ]
    if not rates:
        raise NotUnderstood("bandwidth, bytes and run time contradict each other")
    if rates[0] != decimals[0]:
        job.warnings.append(_CARRY)
    if match.re is OLD:
        job.warnings.append("MB/s are converted from KB/s of 1024 bytes, as fio 2 means them")
    flow = Flow(iops, above[0] if above else None, rates[0] / 1e6, runtime_s=runtime_s)
    _begin_flow(run, job, match["direction"], flow)


def _readings(text: str, base: int) -> tuple[float, ...]:
    """What a rounded figure with its K, M, … may stand for: fio loses the carry, so that 21.98 is printed as 21.0."""
    figure = text.rstrip("kKMGTi ")
    unit = float(base ** " KMGT".index(text[len(figure) :].strip()[:1].upper() or " "))
    value = number(figure) * unit
    return (value, value + unit) if re.fullmatch(r"\d+\.0+", figure) else (value,)


def _read_latency(run: _Run, job: Job, match: re.Match[str]) -> None:
    kind, ms = match["kind"], MS[match["unit"]]
    latency = {name: _readings(match[name], 1000)[0] * ms for name in ("min", "avg", "stddev", "max")}
    Flow(latency=latency).check(kind)
    if kind == "sync":
        _begin_flow(run, job, FSYNC, Flow(latency=latency))
        return
    if not job.flows or FSYNC in job.flows:
        raise NotUnderstood("latencies of neither reads nor writes")
    flow = job.last_flow
    if kind != "slat" and (flow.latency or (kind == "clat" and flow.completion)):
        raise NotUnderstood(f"the latencies ({kind}) stand there twice")
    if kind == "clat":
        flow.completion = latency
    elif kind == "lat":
        flow.latency = latency
        # fio changes the unit when numbers grow, so both are rounded differently.
        if not flow.includes_completion(rel_tol=0.01, abs_tol=0.0011):
            flow.latency, run.ranked = {}, "left out"
            what = f"{job.name} {[*job.flows][-1]}"
            job.warnings.append(f"{what}: latencies left out, the completion takes longer than the whole")


def _options_of(run: _Run, job: Job) -> dict[str, str]:
    """What the lines before the run say of a job.

    A group that reports as one has the name of its first job, whatever the others do: then what all have in common.
    """
    alone = sum(other.group == job.group for other in run.jobs) == 1
    mates = [spec for spec in run.specs if spec.group == job.group and (alone or spec.name == job.name)]
    if alone and len(mates) == 1 and job.group not in run.more and "numjobs" in job.options:
        # The lines of other jobs are missing.
        return {}
    options = [{**common.command_options(run.command_lines, spec.name), **spec.options} for spec in mates]
    return common.in_common(options or [common.command_options(run.command_lines, job.name)])


def _check(run: _Run, job: Job) -> None:
    if not job.issued and (run.totals or run.all_clients) and not job.error:
        raise NotUnderstood(f"job {job.name}: its numbers of operations are missing")
    for direction, count in zip(DIRECTIONS, job.issued, strict=False):
        if flow := job.flows.get(direction):
            flow.ios, printed = count, flow.iops
            try:
                flow.check_rate(f"job {job.name} {direction}", rel_tol=0.015)
            except NotUnderstood as error:
                job.leave_out(direction, error)
            if flow.iops != printed:
                job.warnings.append(_CARRY)
        elif count and not job.error and "mixed" not in job.flows:
            raise NotUnderstood(f"job {job.name}: {count} {direction}s, but no rate of them")


def _report(run: _Run, jobs: list[Job]) -> Report:
    group = jobs[0].group if jobs else 0
    for job in jobs:
        job.options = {**_options_of(run, job), **job.options}
        _check(run, job)
    reason, warnings, totals = "", list[str](), run.totals.get(group)
    # What a job that failed has left, its group's totals need not hold.
    failed = any(job.error for job in jobs)
    missing = {name for job in jobs for name in job.flows if name != FSYNC} - {*(totals or ())}
    # Somebody left out lines, and jobs that show their end had come to it: all that were announced, if any were.
    is_whole = not run.specs or run.announced == sum(int(job.options.get("numjobs", 1)) for job in run.jobs)
    is_extract = is_whole and not (run.totals or run.signal) and all(job.issued for job in run.jobs)
    if is_extract:
        warnings.append("an extract: the totals of the run are missing")
    if not (is_extract or run.all_clients or run.signal) and (totals is None or (missing and not failed)):
        reason = "the output ends before the totals of the run"
        # Perhaps not even all jobs are there.
        jobs = [replace(job, flows={}, options={}) for job in jobs[:1]]
    elif not failed:
        _check_totals(totals or {}, group, jobs)
    blocks = {job.options.get("bs", "") for job in jobs}
    warnings += [f"block sizes {text}" for text in sorted(blocks) if text and size_bytes_of(text) is None]
    return report(
        jobs, version=run.version, signal=run.signal, reason=reason, commands=run.command_lines, warnings=warnings,
        messages=run.messages,
    )  # fmt: skip


def _check_totals(totals: Mapping[str, tuple[tuple[float, ...], float]], group: int, jobs: Sequence[Job]) -> None:
    for direction, (rates, longest_s) in totals.items():
        flows = [job.flows[direction] for job in jobs if direction in job.flows]
        if not flows:
            raise NotUnderstood(f"group {group} {direction} has a total but no job")
        moved = sum((flow.mb_per_s or 0.0) * (flow.runtime_s or 0.0) for flow in flows)
        if not any(math.isclose(moved, rate * longest_s, rel_tol=0.03, abs_tol=0.05) for rate in rates):
            raise NotUnderstood(f"group {group}: the jobs' {direction}s do not add up to the total")
