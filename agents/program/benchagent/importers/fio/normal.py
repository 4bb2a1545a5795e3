"""Normal (human) output: 3.x `IOPS=…, BW=…MiB/s (…MB/s)(…/…msec)`, 2.x `io=…, bw=…KB/s, iops=…, runt=…msec`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchagent.importers.fio.common import (
    ALL_CLIENTS,
    COMMANDS,
    DIRECTIONS,
    SIGNAL,
    Flow,
    Job,
    check_latency,
    check_percentiles,
    command_options,
    common,
    grouped,
    includes,
    report,
)
from benchagent.importers.report import Report
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, number, size_bytes_of, whole

# Its lines, and their units.
CLAIM = re.compile(
    r"^.*\(groupid=\d+, jobs=\d+\): err=|^[ \t]*fio-\d+\.\d+\S*[ \t]*$|^fio: "
    r"|^[ \t]*Run status group \d+ \(all jobs\):",
    re.MULTILINE,
)
SPEC = re.compile(r"^\s*(\S.*?): \(g=(\d+)\): rw=(\w+), bs=(.+?), ioengine=(\S+), iodepth=(\d+)\s*$")
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
RANK = re.compile(r"([\d.]+)th=\[\s*([\d.]+[kKMG]?)\]")
RANK_LINE = re.compile(r"^\s*\|(?:\s*[\d.]+th=\[\s*[\d.]+[kKMG]?\],?)+\s*$")
ISSUED = re.compile(
    r"^\s*issued\s+(?:rwts?|r/w(?:/d)?)?\s*: total=(?:r=)?(\d+)(?:/w=|,|/)(\d+)(?:(?:/d=|,|/)(\d+))?(?=,|\s|$)"
)
GROUP = re.compile(r"^\s*Run status group (\d+) \(all jobs\):")
TOTAL = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=[\d.]+[KMGT]?B, aggrb=)(?P<rate>[\d.]+(?:[KMGT]i?)?)B/s"
    r".*?(?:run|mint)=\s*\d+(?:msec, maxt=|-)(?P<longest_ms>\d+)msec\s*$"
)
# How each total begins, whatever follows.
ANY_TOTAL = re.compile(r"^\s*(?:READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=)")
MS = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0}
_CARRY = "a rate is corrected: fio lost the carry when it rounded (21.98 is printed as 21.0)"


@dataclass
class _Section:
    """What is being read: a direction of a job, or its sync figures."""

    job: Job
    flow: Flow | None = None
    direction: str = ""
    completion: dict[str, float] = field(default_factory=dict)
    # Milliseconds of its unit.
    rank_ms: float = 0.0
    # Whose percentiles are being read, and whose are kept.
    ranked: str = ""
    ranks: str = ""


@dataclass
class _Run:
    version: str = ""
    # What fio says of jobs before the run.
    specs: list[Job] = field(default_factory=list)
    # Groups of which `...` says that more jobs of the same follow.
    more: set[int] = field(default_factory=set)
    jobs: list[Job] = field(default_factory=list)
    pids: set[tuple[str, str]] = field(default_factory=set)
    totals: dict[int, dict[str, tuple[tuple[float, ...], float]]] = field(default_factory=dict)
    ended: bool = False
    group: int | None = None
    command: str = ""
    messages: list[str] = field(default_factory=list)
    signal: str = ""
    all_clients: bool = False

    def forget(self) -> None:
        for figures in (self.jobs, self.pids, self.totals):
            figures.clear()
        self.ended, self.group = False, None


def claims(text: str) -> bool:
    return bool(CLAIM.search(text)) and ("groupid=" in text or "(g=" in text or "fio-" in text)


def read(file: SourceFile) -> list[Report]:
    runs = [_Run()]
    section: _Section | None = None
    with Lines(file) as lines:
        for line in lines:
            if _begins(runs[-1], line.text):
                runs.append(_Run())
                section = None
            section = _line(runs[-1], section, line.text)
    reports = [report for run in runs for report in _reports(run)]
    if not reports:
        raise NotUnderstood("fio printed neither a job's figures nor an error")
    return reports


def _begins(run: _Run, line: str) -> bool:
    """Whether this line belongs to the next run of the same file."""
    if run.all_clients and (JOB.match(line) or GROUP.match(line)):
        return True
    if run.jobs and (job := JOB.match(line)) and int(job[2]) in run.totals:
        # After a group's totals its jobs come again only as interim reports, with the same processes.
        return job[1] != ALL_CLIENTS and (job[1], job[5]) not in run.pids
    if not run.jobs and not run.messages:
        return False
    version = VERSION.match(line) and run.version
    return bool(version or SPEC.match(line) or COMMANDS.find(line))


def _line(run: _Run, section: _Section | None, line: str) -> _Section | None:
    if job := JOB.match(line):
        return _Section(_job(run, job))
    if _head(run, line):
        return section
    if group := GROUP.match(line):
        run.group, run.ended = int(group[1]), True
        run.totals.setdefault(run.group, {})
        return None
    if total := TOTAL.match(line):
        _total(run, total)
        return None
    if run.group is not None and ANY_TOTAL.match(line):
        raise NotUnderstood("an unknown wording of a total")
    if section is None:
        if NEW.match(line) or OLD.match(line) or LATENCY.match(line):
            raise NotUnderstood("figures of no job")
        return None
    return _figures(run, section, line)


def _head(run: _Run, line: str) -> bool:
    if spec := SPEC.match(line):
        # "(R) 8192B-8192B, (W) …" or "4K-4K/4K-4K": one size where all are the same.
        sizes = set(re.findall(r"\d+(?:\.\d+)?[kKMGT]?i?B?", re.sub(r"\([RWT]\)", "", spec[4])))
        block = sizes.pop() if len(sizes) == 1 else re.sub(r"\s+", " ", spec[4])
        options = {"rw": spec[3], "bs": block, "ioengine": spec[5], "iodepth": spec[6]}
        run.specs.append(Job(spec[1], int(spec[2]), options=options))
    elif line.strip() == "..." and run.specs and not run.jobs:
        run.more.add(run.specs[-1].group)
    elif version := VERSION.match(line):
        run.version = version[1].replace(" ", "-")
    elif signal := SIGNAL.match(line):
        run.signal = signal[1]
        if "got signal" in line:
            run.messages.append(line[line.index("fio: ") + 5 :])
    elif line.startswith("fio: "):
        run.messages.append(line.removeprefix("fio: "))
    elif not run.jobs and (command := COMMANDS.find(line)):
        run.command = command
    else:
        return False
    return True


def _job(run: _Run, match: re.Match[str]) -> Job:
    if run.ended and match[1] != ALL_CLIENTS and (match[1], match[5]) not in run.pids:
        raise NotUnderstood("a job after the end of the run")
    if run.ended:
        # `--status-interval` prints the totals so far again and again; the last are the run's.
        run.forget()
    if match[5] and (match[1], match[5]) in run.pids:
        raise NotUnderstood("a job stands there twice")
    if match[1] == ALL_CLIENTS:
        # The sum of all servers comes last, without totals; before it each has printed its own.
        run.forget()
        run.all_clients = True
    run.pids.add((match[1], match[5] or ""))
    options = {"numjobs": match[3]} if int(match[3]) > 1 else {}
    run.jobs.append(Job(match[1], group=int(match[2]), error=int(match[4]), options=options))
    return run.jobs[-1]


def _options_of(run: _Run, job: Job) -> dict[str, str]:
    """What the lines before the run say of a job.

    A group that reports as one has the name of its first job, whatever the others do: then what all have in common.
    """
    alone = sum(other.group == job.group for other in run.jobs) == 1
    mates = [spec for spec in run.specs if spec.group == job.group and (alone or spec.name == job.name)]
    if alone and len(mates) == 1 and job.group not in run.more and job.options.get("numjobs", "1") != "1":
        # The lines of other jobs are missing.
        return {}
    options = [{**command_options(run.command, spec.name), **spec.options} for spec in mates]
    return common(options or [command_options(run.command, job.name)])


def _figures(run: _Run, section: _Section, line: str) -> _Section:
    if rate := NEW.match(line) or OLD.match(line):
        return _open(section.job, rate)
    if re.match(r"\s+(?:read|write|trim|mixed)\s*:", line):
        raise NotUnderstood("an unknown wording of a rate")
    if latency := LATENCY.match(line):
        return _latency(section, latency)
    if ranks := PERCENTILES.match(line):
        # Percentiles of the completion latency come first; those of the total one, of submissions and of priorities
        # do not replace them.
        section.ranked = "" if section.ranks and ranks["kind"] == section.ranks else (ranks["kind"] or "other")
        section.ranks = section.ranks or (ranks["kind"] or "")
        section.rank_ms = MS[ranks["unit"]]
    elif line.lstrip().startswith("|"):
        _ranks(section, line)
    elif issued := ISSUED.match(line):
        if section.job.issued:
            raise NotUnderstood("the operations of a job stand there twice")
        section.job.issued = tuple(int(count or 0) for count in issued.groups())
    return section


def _open(job: Job, match: re.Match[str]) -> _Section:
    """The rate of one direction, whose latencies follow."""
    direction = match["direction"]
    order = [DIRECTIONS.index(each) for each in (*job.flows, direction)]
    if order != sorted({*order}):
        raise NotUnderstood(f"{direction} stands there twice or in the wrong place")
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
    job.flows[direction] = Flow(iops, above[0] if above else None, rates[0] / 1e6, runtime_s=runtime_s)
    return _Section(job, job.flows[direction], direction)


def _scaled(text: str, base: int) -> tuple[float, float]:
    """The figure without its K, M, …, and what they stand for."""
    figure = text.rstrip("kKMGTi ")
    return number(figure), float(base ** " KMGT".index(text[len(figure) :].strip()[:1].upper() or " "))


def _readings(text: str, base: int) -> tuple[float, ...]:
    """What a rounded figure may stand for: fio loses the carry, so that 21.98 is printed as 21.0."""
    figure, unit = _scaled(text, base)
    return (figure * unit, figure * unit + unit) if re.match(r"\d+\.0+(?!\d)", text) else (figure * unit,)


def _latency(section: _Section, match: re.Match[str]) -> _Section:
    kind, ms = match["kind"], MS[match["unit"]]
    latency = {name: math.prod(_scaled(match[name], 1000)) * ms for name in ("min", "avg", "stddev", "max")}
    check_latency(latency, kind)
    if kind == "sync":
        if section.job.sync is not None:
            raise NotUnderstood("the sync latencies stand there twice")
        section.job.sync = Flow(latency=latency)
        return _Section(section.job, section.job.sync, "sync")
    if section.flow is None or section.direction == "sync":
        raise NotUnderstood("latencies of neither reads nor writes")
    if kind == "clat":
        if section.completion or section.flow.latency:
            raise NotUnderstood("the completion latencies stand there twice")
        section.completion = latency
    elif kind == "lat":
        if section.flow.latency:
            raise NotUnderstood("the latencies stand there twice")
        # fio changes the unit when numbers grow, so both are rounded differently.
        if includes(latency, section.completion, rel_tol=0.01, abs_tol=0.0011):
            section.flow.latency = latency
        else:
            what = f"{section.job.name} {section.direction}"
            section.job.warnings.append(f"{what}: latencies left out, the completion takes longer than the whole")
            section.ranks = "left out"
    return section


def _ranks(section: _Section, line: str) -> None:
    if section.flow is None or not section.ranked:
        raise NotUnderstood("percentiles of nothing")
    if not RANK_LINE.match(line):
        raise NotUnderstood("a line of percentiles is damaged")
    if section.ranked != section.ranks:
        return
    for rank, value in RANK.findall(line):
        if number(rank) in section.flow.percentiles:
            raise NotUnderstood("a percentile stands there twice")
        section.flow.percentiles[number(rank)] = math.prod(_scaled(value, 1000)) * section.rank_ms
    check_percentiles(section.flow.percentiles, section.ranked)


def _total(run: _Run, match: re.Match[str]) -> None:
    if run.group is None:
        raise NotUnderstood("totals of no group")
    totals, direction = run.totals[run.group], match["direction"].lower()
    rates = tuple(rate / 1e6 for rate in _readings(match["rate"], 1024))
    value = (rates, whole(match["longest_ms"]) / 1000)
    if totals.setdefault(direction, value) != value:
        raise NotUnderstood(f"two different totals for {direction}")


def _reports(run: _Run) -> list[Report]:
    if not run.jobs:
        if run.messages:
            return [report([], version=run.version, messages=run.messages)]
        if run.totals:
            raise NotUnderstood("only the totals stand there, and of no job whether it ended well")
        return []
    for job in run.jobs:
        job.options = {**_options_of(run, job), **job.options}
        _check(run, job)
    return [_group(run, number_, jobs) for number_, jobs in grouped(run.jobs)]


def _check(run: _Run, job: Job) -> None:
    if not job.issued and (run.ended or run.all_clients) and not job.error:
        raise NotUnderstood(f"job {job.name}: its numbers of operations are missing")
    for direction, count in zip(DIRECTIONS, job.issued, strict=False):
        flow = job.flows.get(direction)
        if flow is None:
            if count and not job.error and "mixed" not in job.flows:
                raise NotUnderstood(f"job {job.name}: {count} {direction}s, but no rate of them")
            continue
        flow.ios, printed = count, flow.iops
        try:
            flow.check_rate(f"job {job.name} {direction}", rel_tol=0.015)
            if flow.iops != printed:
                job.warnings.append(_CARRY)
        except NotUnderstood as error:
            if not job.error:
                raise
            del job.flows[direction]
            job.warnings.append(f"the {direction}s of a job that failed are left out: {error}")


def _group(run: _Run, group: int, jobs: list[Job]) -> Report:
    reason = f"fio was ended by signal {run.signal}" if run.signal else ""
    # What a job that failed has left, its group's totals need not hold.
    failed = any(job.error for job in jobs)
    missing = {name for job in jobs for name in job.flows} - run.totals.get(group, {}).keys()
    # Nothing was announced: somebody left out lines, and jobs that show their end had come to it.
    is_extract = not (run.specs or run.totals or run.signal) and all(job.issued for job in jobs)
    is_cut = not (run.all_clients or is_extract) and (group not in run.totals or (missing and not failed))
    if is_cut and not reason:
        reason = "the output ends before the totals of the run"
        # Perhaps not even all jobs are there.
        jobs = [replace(job, flows={}, sync=None, options={}) for job in jobs[:1]]
    elif not failed:
        _check_totals(run, group, jobs)
    blocks = {job.options.get("bs", "") for job in jobs}
    warnings = ["an extract: the totals of the run are missing"] if is_extract else []
    warnings += [f"block sizes {text}" for text in sorted(blocks) if text and size_bytes_of(text) is None]
    made = report(jobs, version=run.version, reason=reason, warnings=warnings, messages=run.messages)
    return replace(made, command_lines=(run.command,))


def _check_totals(run: _Run, group: int, jobs: Sequence[Job]) -> None:
    for direction, (rates, longest_s) in run.totals.get(group, {}).items():
        flows = [job.flows[direction] for job in jobs if direction in job.flows]
        if not flows:
            raise NotUnderstood(f"group {group} {direction} has a total but no job")
        moved = sum((flow.mb_per_s or 0.0) * (flow.runtime_s or 0.0) for flow in flows)
        if not any(math.isclose(moved, rate * longest_s, rel_tol=0.03, abs_tol=0.05) for rate in rates):
            raise NotUnderstood(f"group {group}: the jobs' {direction}s do not add up to the total")
