"""What the readers of fio's outputs share: one job's figures, and runs made of the jobs of a group."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from benchagent.importers.base import Metric, NotUnderstood, Report, Scalar, Status, Subject, agree
from benchagent.redaction import redact_text

TOOL = "fio"
# The sum of a run with several servers (`--client`).
ALL_CLIENTS = "All clients"
DIRECTIONS = ("read", "write", "trim", "mixed")
BINARY = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
SIGNAL = re.compile(r"(?m)^.*\bfio: (?:terminating on signal |pid=\d+, got signal=)(\d+)")
_RANKS = {25.0: "25", 50.0: "50", 75.0: "75", 90.0: "90", 95.0: "95", 99.0: "99", 99.9: "999"}


@dataclass
class Latency:
    """In milliseconds."""

    minimum: float | None = None
    maximum: float | None = None
    average: float | None = None
    deviation: float | None = None

    def check(self, what: str) -> None:
        known = [value for value in (self.minimum, self.average, self.maximum) if value is not None]
        # What is printed is rounded.
        if any(left > right * 1.01 + 0.001 for left, right in itertools.pairwise(known)):
            raise NotUnderstood(f"{what}: least, mean and greatest latency contradict each other")


@dataclass
class Flow:
    """One direction of one job."""

    iops: float | None = None
    # What the printed IOPS may stand for too.
    iops_above: float | None = None
    mb_per_s: float | None = None
    ios: int | None = None
    runtime_s: float | None = None
    latency: Latency = field(default_factory=Latency)
    # Rank -> milliseconds, of the completion latency unless the run asked for the total one.
    percentiles: dict[float, float] = field(default_factory=dict)


@dataclass
class Job:
    name: str
    group: int = 0
    error: int = 0
    flows: dict[str, Flow] = field(default_factory=dict)
    sync: Flow | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    started_ms: int = 0
    warnings: list[str] = field(default_factory=list)


def check_percentiles(percentiles: Mapping[float, float], what: str) -> None:
    ranks = list(percentiles)
    values = list(percentiles.values())
    rising = all(left <= right for left, right in itertools.pairwise(values))
    if ranks != sorted(ranks) or not rising:
        raise NotUnderstood(f"{what}: the percentiles do not rise: lines are missing or out of order")


def check_rate(flow: Flow, what: str, *, relative: float) -> None:
    """IOPS against the number of operations and the run time."""
    if flow.iops is None or flow.ios is None or not flow.runtime_s:
        return
    if not agree(flow.iops, flow.ios / flow.runtime_s, relative=relative, absolute=1.5):
        raise NotUnderstood(f"{what}: {flow.iops:g} IOPS are not {flow.ios} operations in {flow.runtime_s:g} s")


def report(jobs: Sequence[Job], *, version: str, status: Status, reason: str, warnings: Sequence[str] = ()) -> Report:
    """The report of one group: jobs that ran side by side."""
    failed = [job for job in jobs if job.error]
    if failed:
        status = Status.FAILED
        reason = "; ".join(f"job {job.name} ended with error {job.error}" for job in failed)
    metrics = [] if status is Status.FAILED else list(_metrics(jobs))
    words = [*warnings, *(warning for job in jobs for warning in job.warnings)]
    words += [_shorter(job) for job in jobs if status is Status.COMPLETE and _shorter(job)]
    if len(jobs) > 1 and metrics:
        words.append(f"IOPS and MB/s are the sums of {len(jobs)} jobs that ran side by side")
    if status is Status.ABORTED and metrics:
        words.append("the figures are those of the part that ran")
    options = common([job.options for job in jobs])
    kind = options.get("rw") or options.get("readwrite") or ""
    name = kind.split(":")[0].lower()
    return Report(
        tool=TOOL, status=status, tool_version=version.removeprefix("fio-"), reason=redact_text(reason),
        parameters=parameters(options, jobs), metrics=tuple(metrics), warnings=tuple(dict.fromkeys(words)),
        subject=Subject(workload=f"fio-{name}" if name else "fio", workload_name=f"fio {name}".strip()),
        started_at=_iso(min((job.started_ms for job in jobs if job.started_ms), default=0)),
    )  # fmt: skip


def _shorter(job: Job) -> str:
    told_s = seconds(job.options.get("runtime") or job.options.get("timeout", ""))
    ran_s = max((flow.runtime_s or 0.0 for flow in job.flows.values()), default=0.0)
    if not told_s or not 0 < ran_s < 0.9 * told_s:
        return ""
    return redact_text(f"job {job.name} ran {ran_s:g} s of the {told_s:g} s it was given")


def _iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat() if milliseconds else ""


def common(options: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What is the same in all of them."""
    return {key: value for key, value in options[0].items() if all(other.get(key) == value for other in options)}


def _metrics(jobs: Sequence[Job]) -> Iterator[Metric]:
    for direction in DIRECTIONS:
        flows = [job.flows[direction] for job in jobs if direction in job.flows]
        if flows:
            yield from _sums(direction, flows)
            if len(jobs) == 1:
                yield from _latencies(direction, flows[0])
    syncs = [job.sync for job in jobs if job.sync]
    if len(jobs) == 1 and syncs:
        yield from _latencies("fsync", syncs[0])
        if syncs[0].ios is not None:
            yield Metric("fsyncs", "operations", syncs[0].ios, better="none")
    runtimes = [flow.runtime_s for job in jobs for flow in job.flows.values() if flow.runtime_s]
    if runtimes:
        yield Metric("elapsed_s", "s", max(runtimes), better="none")
    if len(jobs) > 1:
        yield from _each(jobs)


def _sums(direction: str, flows: Sequence[Flow]) -> Iterator[Metric]:
    iops = [flow.iops for flow in flows if flow.iops is not None]
    rates = [flow.mb_per_s for flow in flows if flow.mb_per_s is not None]
    if len(iops) == len(flows):
        yield Metric(f"{direction}_iops", "IOPS", round(sum(iops), 9), better="higher")
    if len(rates) == len(flows):
        yield Metric(f"{direction}_mb_per_s", "MB/s", round(sum(rates), 9), better="higher")


def _latencies(prefix: str, flow: Flow) -> Iterator[Metric]:
    latency = flow.latency
    named = (
        ("min", latency.minimum),
        ("avg", latency.average),
        ("stddev", latency.deviation),
        ("max", latency.maximum),
    )
    yield from (
        Metric(f"{prefix}_latency_{name}_ms", "ms", round(value, 9), better="lower")
        for name, value in named
        if value is not None
    )
    for rank, value in flow.percentiles.items():
        text = _RANKS.get(rank) or f"{rank:g}".replace(".", "_")
        yield Metric(f"{prefix}_latency_p{text}_ms", "ms", round(value, 9), better="lower")


def _each(jobs: Sequence[Job]) -> Iterator[Metric]:
    """Every job for itself, where the names tell them apart."""
    slugs = [slug(job.name) for job in jobs]
    for place, job in enumerate(jobs):
        prefix = slugs[place] if slugs.count(slugs[place]) == 1 else f"{slugs[place]}_{place + 1}"
        for direction, flow in job.flows.items():
            yield from _sums(f"{prefix}_{direction}", [flow])
            yield from _latencies(f"{prefix}_{direction}", flow)
        if job.sync:
            yield from _latencies(f"{prefix}_fsync", job.sync)


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:40] or "job"


def size_bytes(text: str) -> int | None:
    """ "8k", "4KiB", "1m" with fio's own meaning: 1024, also for kb, unless kb_base says otherwise."""
    match = re.fullmatch(r"(\d+)(?:\.0)?\s*([kmgt]?)(i?b?)", text.strip().lower())
    return int(match[1]) * BINARY[match[2]] if match else None


def seconds(text: str) -> float | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d|)", text.strip().lower())
    factor = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    return float(match[1]) * factor[match[2]] if match else None


def command_options(command: str, job: str) -> dict[str, str]:
    """The options of a job on a visible command line: `--bs=8k`, `-bs=8k`, `--bs 8k`; those before any name are of all.

    Several names are several jobs, each with the options that follow it.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    found: dict[str, dict[str, str]] = {"global": {}}
    at = "global"
    for place, word in enumerate(words):
        match = re.fullmatch(r"--?([a-z_]+)(?:=(.*))?", word, re.DOTALL)
        if match is None:
            continue
        following = words[place + 1] if place + 1 < len(words) else "-"
        value = match[2] if match[2] is not None else "" if following.startswith("-") else following
        if match[1] == "name":
            at = value
        found.setdefault(at, {})[match[1]] = value
    if len(found) > 1 and job not in found:
        # The command of another run.
        return {}
    return {key: value for key, value in {**found["global"], **found.get(job, {})}.items() if value}


def parameters(options: Mapping[str, str], jobs: Sequence[Job]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    names = {"rw": "read_write", "readwrite": "read_write", "ioengine": "io_engine"}
    found |= {names[key]: options[key] for key in names if options.get(key)}
    numbers = {
        "iodepth": "io_depth", "numjobs": "jobs", "rwmixread": "read_mix_percent", "fsync": "fsync_every",
        "fdatasync": "fdatasync_every", "rate_iops": "rate_limit_iops",
    }  # fmt: skip
    found |= {numbers[key]: int(options[key]) for key in numbers if options.get(key, "").isdecimal()}
    if "direct" in options or "buffered" in options:
        direct = options.get("direct") or {"0": "1", "1": "0"}.get(options.get("buffered", ""), "")
        if direct in ("0", "1"):
            found["direct"] = direct == "1"
    found |= _sizes(options)
    if (ramp_s := seconds(options.get("ramp_time", ""))) is not None:
        found["ramp_up_s"] = ramp_s
    if (runtime_s := seconds(options.get("runtime", options.get("timeout", "")))) is not None:
        found["duration_s"] = runtime_s
    if len(jobs) > 1 and "jobs" not in found:
        found["jobs"] = len(jobs)
    return found


def _sizes(options: Mapping[str, str]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    if options.get("kb_base", "1024") != "1024":
        return found
    block = options.get("bs") or options.get("blocksize") or ""
    if block:
        parsed = size_bytes(block)
        found |= {"block_size_bytes": parsed} if parsed is not None else {"block_sizes": block}
    if (size := size_bytes(options.get("size", ""))) is not None:
        found["size_bytes"] = size
    return found
