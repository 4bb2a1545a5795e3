"""Normal (human) output: 3.x `IOPS=…, BW=…MiB/s (…MB/s)(…/…msec)`, 2.x `io=…, bw=…KB/s, iops=…, runt=…msec`."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchagent.importers.base import NotUnderstood, Report, SourceFile, Status, agree, number, whole
from benchagent.importers.fio.common import (
    DIRECTIONS,
    SIGNAL,
    Flow,
    Job,
    Latency,
    check_percentiles,
    check_rate,
    report,
    size_bytes,
)
from benchagent.redaction import redact_text

_CLAIM = re.compile(r"(?m)^.*\(groupid=\d+, jobs=\d+\): err=|^fio-\d+\.\d+\S*\s*$|^fio: ")
_SPEC = re.compile(r"^(.+?): \(g=(\d+)\): rw=(\w+), bs=(.+?), ioengine=(\S+), iodepth=(\d+)\s*$")
_VERSION = re.compile(r"^(fio-\d[\w.+~-]*|fio \d+\.\d[\w.]*)\s*$")
_JOB = re.compile(r"^(.+?)\s*: \(groupid=(\d+), jobs=(\d+)\): err=\s*(\d+)\b(?:.*\bpid=(\d+))?")
_NEW = re.compile(
    r"^\s+(read|write|trim|mixed)\s*: IOPS=([\d.]+)([kKMG]?), BW=([\d.]+)([KMGT]i)?(?:B/s)? "
    r"\(([\d.]+)([kKMGT]?)(?:B/s)?\)\(([\d.]+)([KMGT]i)?B/(\d+)msec\)"
)
_OLD = re.compile(
    r"^\s+(read|write|trim|mixed)\s*: io=([\d.]+)([KMGT]?)B, bw=([\d.]+)([KMGT]?)B/s, iops=(\d+)\s*, runt=\s*(\d+)msec"
)
_LATENCY = re.compile(
    r"^\s+(lat|clat|slat|sync) \((nsec|usec|msec)\)\s*: min=\s*([\d.]+)([kKMG]?), max=\s*([\d.]+)([kKMG]?), "
    r"avg=\s*([\d.]+)([kKMG]?), stdev=\s*([\d.]+)([kKMG]?)\s*$"
)
_PERCENTILES = re.compile(r"^\s+(?:(clat|lat|sync)\s+|.*)percentiles \((nsec|usec|msec)\):\s*$")
_RANK = re.compile(r"([\d.]+)th=\[\s*([\d.]+)([kKMG]?)\]")
_RANK_LINE = re.compile(r"^\s+\|(?:\s*[\d.]+th=\[\s*[\d.]+[kKMG]?\],?)+\s*$")
_ISSUED = re.compile(r"^\s+issued\s+(?:rwts?|rwt)?\s*: total=(?:r=)?(\d+)(?:/w=|,)(\d+)(?:(?:/d=|,)(\d+))?")
_GROUP = re.compile(r"^Run status group (\d+) \(all jobs\):")
_TOTAL = re.compile(
    r"^\s+(READ|WRITE|TRIM|MIXED)\s*: (?:(bw)=([\d.]+)([KMGT]i)?B/s|io=[\d.]+[KMGT]?B, (aggrb)=([\d.]+)([KMGT]?)B/s).*?"
    r"(?:(?:run|mint)=\s*(\d+)(?:msec, maxt=|-)(\d+)msec)\s*$"
)
_COMMAND = re.compile(r"(?:^|[\s$#>+/])(fio\s+(?:-{1,2}\w|\S+\.(?:fio|job|ini)).*)$")
_SCALE = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0}
_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}


@dataclass
class _Section:
    """What is being read: a direction of a job, or its sync figures."""

    job: Job
    flow: Flow | None = None
    direction: str = ""
    completion: Latency | None = None
    rank_scale: float = 0.0
    # Whose percentiles are being read, and whose are kept.
    ranked: str = ""
    ranks: str = ""


@dataclass
class _Run:
    version: str = ""
    specs: dict[str, dict[str, str]] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    pids: set[tuple[str, str]] = field(default_factory=set)
    issued: dict[int, tuple[int, ...]] = field(default_factory=dict)
    totals: dict[int, dict[str, tuple[float, float]]] = field(default_factory=dict)
    ended: bool = False
    group: int | None = None
    command: str = ""
    old: bool = False
    messages: list[str] = field(default_factory=list)
    signal: str = ""

    def forget(self) -> None:
        for found in (self.jobs, self.pids, self.issued, self.totals):
            found.clear()
        self.ended, self.group = False, None


def claims(text: str) -> bool:
    return bool(_CLAIM.search(text)) and ("groupid=" in text or "(g=" in text or "fio-" in text)


def read(file: SourceFile) -> list[Report]:
    lines = file.lines if file.last_line_is_whole else file.lines[:-1]
    runs = _runs(lines)
    reports = [one for run in runs for one in _reports(run)]
    if not reports:
        raise NotUnderstood("fio printed neither a job's figures nor an error")
    return reports


def _runs(lines: Sequence[str]) -> list[_Run]:
    run = _Run()
    runs = [run]
    section: _Section | None = None
    for at, line in enumerate(lines, start=1):
        try:
            if _begins(run, line):
                run, section = _Run(), None
                runs.append(run)
            section = _line(run, section, line)
        except NotUnderstood as error:
            raise NotUnderstood(f"line {at}: {error}") from error
    return runs


def _begins(run: _Run, line: str) -> bool:
    """Whether this line belongs to the next run of the same file."""
    if not run.jobs and not run.messages:
        return False
    return bool((_VERSION.match(line) and run.version) or _SPEC.match(line) or _COMMAND.search(line))


def _line(run: _Run, section: _Section | None, line: str) -> _Section | None:
    if job := _JOB.match(line):
        return _Section(_job(run, job))
    if _head(run, line):
        return section
    if group := _GROUP.match(line):
        run.group, run.ended = int(group[1]), True
        run.totals.setdefault(run.group, {})
        return None
    if total := _TOTAL.match(line):
        _total(run, total)
        return None
    if section is None:
        if _NEW.match(line) or _OLD.match(line) or _LATENCY.match(line):
            raise NotUnderstood("figures of no job")
        return None
    return _figures(run, section, line)


def _head(run: _Run, line: str) -> bool:
    if spec := _SPEC.match(line):
        run.specs[spec[1]] = {"rw": spec[3], "bs": _one_block(spec[4]), "ioengine": spec[5], "iodepth": spec[6]}
    elif version := _VERSION.match(line):
        run.version = version[1].replace(" ", "-")
    elif signal := SIGNAL.match(line):
        run.signal = signal[1]
    elif line.startswith("fio: "):
        run.messages.append(redact_text(line.removeprefix("fio: ")))
    elif not run.jobs and (command := _COMMAND.search(line)):
        run.command = redact_text(command[1])
    else:
        return False
    return True


def _one_block(text: str) -> str:
    """ "(R) 8192B-8192B, (W) …" or "4K-4K/4K-4K": one size where all are the same."""
    sizes = set(re.findall(r"\d+(?:\.\d+)?[kKMGT]?i?B?", re.sub(r"\([RWT]\)", "", text)))
    return sizes.pop() if len(sizes) == 1 else re.sub(r"\s+", " ", text)


def _job(run: _Run, match: re.Match[str]) -> Job:
    if run.ended and (match[1], match[5]) not in run.pids:
        raise NotUnderstood("a job after the end of the run")
    if run.ended:
        # `--status-interval` prints the totals so far again and again; the last are the run's.
        run.forget()
    if match[5] and (match[1], match[5]) in run.pids:
        raise NotUnderstood("a job stands there twice")
    run.pids.add((match[1], match[5] or ""))
    spec = run.specs.get(match[1], {})
    job = Job(match[1], group=int(match[2]), error=int(match[4]), options={**_options(run.command), **spec})
    if int(match[3]) > 1:
        job.options = {**job.options, "numjobs": match[3]}
    run.jobs.append(job)
    return job


def _options(command: str) -> dict[str, str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    pairs = [word.lstrip("-").partition("=") for word in words if word.startswith("--")]
    return {key: value for key, separator, value in pairs if separator}


def _figures(run: _Run, section: _Section, line: str) -> _Section:
    if rate := _NEW.match(line):
        return _open(section, rate[1], _new(rate))
    if rate := _OLD.match(line):
        run.old = True
        return _open(section, rate[1], _old(rate, section.job))
    if re.match(r"\s+(?:read|write|trim|mixed)\s*:", line):
        raise NotUnderstood("an unknown wording of a rate")
    if latency := _LATENCY.match(line):
        return _latency(section, latency)
    if ranks := _PERCENTILES.match(line):
        # Percentiles of the completion latency come first; those of the total one, of submissions and of priorities
        # do not replace them.
        section.ranked = "" if section.ranks and ranks[1] == section.ranks else (ranks[1] or "other")
        section.ranks = section.ranks or (ranks[1] or "")
        section.rank_scale = _SCALE[ranks[2]]
    elif line.lstrip().startswith("|"):
        _ranks(section, line)
    elif issued := _ISSUED.match(line):
        if len(run.jobs) - 1 in run.issued:
            raise NotUnderstood("the operations of a job stand there twice")
        run.issued[len(run.jobs) - 1] = tuple(int(count or 0) for count in issued.groups())
    return section


def _open(section: _Section, direction: str, flow: Flow) -> _Section:
    if direction in section.job.flows:
        raise NotUnderstood(f"{direction} stands there twice")
    if any(DIRECTIONS.index(before) > DIRECTIONS.index(direction) for before in section.job.flows):
        raise NotUnderstood(f"{direction} stands in the wrong place")
    check = section.job.flows[direction] = flow
    return _Section(section.job, check, direction)


def _new(match: re.Match[str]) -> Flow:
    iops = number(match[2]) * _DECIMAL[match[3]]
    runtime_s = whole(match[10]) / 1000
    binary = number(match[4]) * _BINARY[(match[5] or "")[:1]]
    decimal = number(match[6]) * _DECIMAL[match[7]]
    done = number(match[8]) * _BINARY[(match[9] or "")[:1]]
    if not agree(binary, decimal, relative=0.012, absolute=1.0):
        raise NotUnderstood("the bandwidths in MiB/s and in MB/s contradict each other")
    if runtime_s and not agree(binary * runtime_s, done, relative=0.02, absolute=2048.0):
        raise NotUnderstood("bandwidth, bytes and run time contradict each other")
    return Flow(iops=iops, mb_per_s=decimal / 1e6, runtime_s=runtime_s)


def _old(match: re.Match[str], job: Job) -> Flow:
    done = number(match[2]) * _BINARY[match[3]]
    rate = number(match[4]) * _BINARY[match[5]]
    runtime_s = whole(match[7]) / 1000
    if runtime_s and not agree(rate * runtime_s, done, relative=0.02, absolute=2048.0):
        raise NotUnderstood("bandwidth, bytes and run time contradict each other")
    job.warnings.append("MB/s are converted from KB/s of 1024 bytes, as fio 2 means them")
    return Flow(iops=float(whole(match[6])), mb_per_s=rate / 1e6, runtime_s=runtime_s)


def _latency(section: _Section, match: re.Match[str]) -> _Section:
    kind, scale = match[1], _SCALE[match[2]]
    low, high, mean, deviation = (number(match[at]) * _DECIMAL[match[at + 1]] * scale for at in (3, 5, 7, 9))
    latency = Latency(low, high, mean, deviation)
    latency.check(kind)
    if kind == "sync":
        if section.job.sync is not None:
            raise NotUnderstood("the sync latencies stand there twice")
        section.job.sync = Flow(latency=latency)
        return _Section(section.job, section.job.sync, "sync")
    if section.flow is None or section.direction == "sync":
        raise NotUnderstood("latencies of neither reads nor writes")
    if kind == "clat":
        if section.completion is not None or section.flow.latency.average is not None:
            raise NotUnderstood("the completion latencies stand there twice")
        section.completion = latency
    elif kind == "lat":
        if section.flow.latency.average is not None:
            raise NotUnderstood("the latencies stand there twice")
        _fits(latency, section.completion)
        section.flow.latency = latency
    return section


def _fits(total: Latency, completion: Latency | None) -> None:
    if completion is None:
        return
    # fio changes the unit when numbers grow, so both are rounded differently.
    pairs = (
        (total.minimum, completion.minimum),
        (total.average, completion.average),
        (total.maximum, completion.maximum),
    )
    if any(one is not None and part is not None and one < part * 0.99 - 0.0011 for one, part in pairs):
        raise NotUnderstood("the completion latency is longer than the total one")


def _ranks(section: _Section, line: str) -> None:
    if section.flow is None or not section.ranked:
        raise NotUnderstood("percentiles of nothing")
    if not _RANK_LINE.match(line):
        raise NotUnderstood("a line of percentiles is damaged")
    if section.ranked != section.ranks:
        return
    for rank, value, suffix in _RANK.findall(line):
        place = number(rank)
        if place in section.flow.percentiles:
            raise NotUnderstood("a percentile stands there twice")
        section.flow.percentiles[place] = number(value) * _DECIMAL[suffix] * section.rank_scale
    check_percentiles(section.flow.percentiles, section.ranked)


def _total(run: _Run, match: re.Match[str]) -> None:
    if run.group is None:
        raise NotUnderstood("totals of no group")
    rate = number(match[3]) * _BINARY[(match[4] or "")[:1]] if match[2] else number(match[6]) * _BINARY[match[7]]
    totals, direction = run.totals[run.group], match[1].lower()
    value = (rate / 1e6, whole(match[9]) / 1000)
    if totals.setdefault(direction, value) != value:
        raise NotUnderstood(f"two different totals for {direction}")


def _reports(run: _Run) -> list[Report]:
    if not run.jobs:
        if run.messages:
            return [
                report([Job("fio")], version=run.version, status=Status.FAILED, reason="; ".join(run.messages)[:500])
            ]
        return []
    for place, job in enumerate(run.jobs):
        _check(run, place, job)
    groups = itertools.groupby(sorted(run.jobs, key=lambda job: job.group), key=lambda job: job.group)
    return [_group(run, number_, list(jobs)) for number_, jobs in groups]


def _check(run: _Run, place: int, job: Job) -> None:
    counts = run.issued.get(place)
    if counts is None:
        if run.ended and not job.error:
            raise NotUnderstood(f"job {job.name}: its numbers of operations are missing")
        return
    for direction, count in zip(("read", "write", "trim"), counts, strict=False):
        flow = job.flows.get(direction)
        if flow is None:
            if count and not job.error and "mixed" not in job.flows:
                raise NotUnderstood(f"job {job.name}: {count} {direction}s, but no rate of them")
            continue
        check_rate(replace(flow, ios=count), f"job {job.name} {direction}", relative=0.015)


def _group(run: _Run, group: int, jobs: list[Job]) -> Report:
    status, reason = Status.COMPLETE, ""
    missing = {name for job in jobs for name in job.flows} - run.totals.get(group, {}).keys()
    if run.signal:
        status, reason = Status.ABORTED, f"fio was ended by signal {run.signal}"
    elif group not in run.totals or (missing and not any(job.error for job in jobs)):
        status, reason = Status.ABORTED, "the output ends before the totals of the run"
        # Perhaps not even all jobs are there.
        jobs = [replace(job, flows={}, sync=None, options={}) for job in jobs[:1]]
    if status is not Status.ABORTED or not reason.startswith("the output"):
        _check_totals(run, group, jobs)
    found = report(jobs, version=run.version, status=status, reason=reason, warnings=_block_warnings(jobs))
    if found.status is Status.FAILED and run.messages:
        found = replace(found, reason="; ".join([found.reason, *run.messages])[:600])
    return replace(found, command_lines=(run.command,) if run.command else ())


def _check_totals(run: _Run, group: int, jobs: Sequence[Job]) -> None:
    for direction, (rate, longest_s) in run.totals.get(group, {}).items():
        flows = [job.flows[direction] for job in jobs if direction in job.flows]
        if not flows:
            raise NotUnderstood(f"group {group} {direction} has a total but no job")
        moved = sum((flow.mb_per_s or 0.0) * (flow.runtime_s or 0.0) for flow in flows)
        if not agree(moved, rate * longest_s, relative=0.03, absolute=0.05):
            raise NotUnderstood(f"group {group}: the jobs' {direction}s do not add up to the total")


def _block_warnings(jobs: Sequence[Job]) -> list[str]:
    blocks = {job.options.get("bs", "") for job in jobs}
    return [f"block sizes {text}" for text in sorted(blocks) if text and size_bytes(text) is None]
