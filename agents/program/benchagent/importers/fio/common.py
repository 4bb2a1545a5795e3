"""What the readers of fio's outputs share: one job's figures, and runs made of the jobs of a group."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Scalar, Subject, all_measured, as_factors, entries, utc
from benchagent.importers.source import NotUnderstood, seconds_of, size_bytes_of, slug

# The sum of a run with several servers (`--client`).
ALL_CLIENTS = "All clients"
DIRECTIONS = ("read", "write", "trim", "mixed")
# A job's fsyncs stand behind its directions.
FSYNC = "fsync"
SIGNAL = re.compile(r"(?m)^.*\bfio: (?:terminating on signal |pid=\d+, got signal=)(\d+)")
# The options of a command line, and of a job in JSON.
COMMANDS = Commands(
    ("fio",),
    follows=r"(?:-{1,2}\w|\S+\.(?:fio|job|ini)\b)",
    numbers={
        "iodepth": "io_depth", "numjobs": "jobs", "rwmixread": "read_mix_percent", "fsync": "fsync_every",
        "fdatasync": "fdatasync_every", "rate_iops": "rate_limit_iops", "bs blocksize": "block_size_bytes",
        "size": "size_bytes", "ramp_time": "ramp_up_s", "runtime timeout": "duration_s",
    },
    texts={
        "rw readwrite": "read_write", "ioengine": "io_engine",
        # Told by `direct`; how fio reports.
        "direct buffered kb_base": "",
        "name description group_reporting output output-format append-terse write_bw_log write_iops_log write_lat_log "
        "write_hist_log log_avg_msec log_hist_msec log_hist_coarseness log_max_value log_offset per_job_logs "
        "percentile_list clat_percentiles lat_percentiles slat_percentiles disk_util eta eta-newline minimal "
        "terse-version status-interval bwavgtime iopsavgtime unlink stonewall new_group wait_for significant_figures "
        "unified_rw_reporting": "",
    },
    has_letters=False,
)  # fmt: skip


@dataclass
class Flow:
    """One direction of one job, or its fsyncs."""

    iops: float | None = None
    # What the printed IOPS may stand for too.
    iops_above: float | None = None
    mb_per_s: float | None = None
    ios: int | None = None
    runtime_s: float | None = None
    # `min`, `avg`, `stddev` and `max` in milliseconds, of the whole and of its part, the completion.
    latency: dict[str, float] = field(default_factory=dict)
    completion: dict[str, float] = field(default_factory=dict)
    # Rank -> milliseconds, of the completion latency unless the run asked for the total one.
    percentiles: dict[float, float] = field(default_factory=dict)

    def check_rate(self, what: str, *, rel_tol: float) -> None:
        """Takes the IOPS that fit the number of operations and the run time. Raises NotUnderstood where none do."""
        if self.iops is None or self.ios is None or not self.runtime_s:
            return
        exact, meant = self.ios / self.runtime_s, (self.iops, self.iops_above or self.iops)
        fitting = [iops for iops in meant if math.isclose(iops, exact, rel_tol=rel_tol, abs_tol=1.5)]
        if not fitting:
            raise NotUnderstood(f"{what}: {self.iops:g} IOPS are not {self.ios} operations in {self.runtime_s:g} s")
        self.iops = fitting[0]

    def check(self, what: str) -> None:
        """Raises NotUnderstood where figures do not rise from the least to the greatest."""
        for latency in (self.latency, self.completion):
            values = entries(latency, "min", "avg", "max").values()
            # What is printed is rounded.
            if any(left > right * 1.01 + 0.001 for left, right in itertools.pairwise(values)):
                raise NotUnderstood(f"{what}: least, mean and greatest latency contradict each other")
        # Both ranks and times.
        for column in zip(*self.percentiles.items(), strict=True):
            if [*column] != sorted(column):
                raise NotUnderstood(f"{what}: the percentiles do not rise: lines are missing or out of order")

    def includes_completion(self, *, rel_tol: float, abs_tol: float) -> bool:
        """Whether the total latency is at least its part."""
        both = self.latency.keys() & self.completion.keys() & {"min", "avg", "max"}
        return all(self.latency[name] >= self.completion[name] * (1 - rel_tol) - abs_tol for name in both)


@dataclass
class Job:
    name: str
    group: int = 0
    error: int = 0
    flows: dict[str, Flow] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    started_ms: int = 0
    # Operations of each direction, as normal output counts them at the job's end.
    issued: tuple[int, ...] = ()
    warnings: list[str] = field(default_factory=list)

    @property
    def last_flow(self) -> Flow:
        return next(reversed(self.flows.values()))

    def leave_out(self, direction: str, error: NotUnderstood) -> None:
        """What a job that failed has left need not hold; of any other job the error is raised again."""
        if not self.error:
            raise error
        self.flows.pop(direction, None)
        self.warnings.append(f"the {direction}s of a job that failed are left out: {error}")


def grouped(jobs: Sequence[Job]) -> list[list[Job]]:
    """Jobs that ran side by side."""
    group = attrgetter("group")
    return [[*members] for _, members in itertools.groupby(sorted(jobs, key=group), group)]


def report(
    jobs: Sequence[Job], *, version: str, signal: str = "", reason: str = "", commands: Sequence[str] = (),
    warnings: Sequence[str] = (), messages: Sequence[str] = (),
) -> Report:  # fmt: skip
    """The report of one group; of no job where fio said only why none ran."""
    failed = [f"job {job.name} ended with error {job.error}" for job in jobs if job.error]
    failure = "; ".join([*failed, *messages])[:600] if failed or not jobs else ""
    reason = f"fio was ended by signal {signal}" if signal else reason
    jobs = jobs or [Job("fio")]
    metrics = all_measured(_figures(jobs))
    words = [*warnings, *(warning for job in jobs for warning in job.warnings)]
    for job in jobs if not (failure or reason) else ():
        runtime_s = seconds_of(job.options.get("runtime") or job.options.get("timeout", ""))
        ran_s = max((flow.runtime_s or 0.0 for flow in job.flows.values()), default=0.0)
        if runtime_s and 0 < ran_s < 0.9 * runtime_s:
            words.append(f"job {job.name} ran {ran_s:g} s of the {runtime_s:g} s it was given")
    if len(jobs) > 1 and metrics:
        words.append(f"IOPS and MB/s are the sums of {len(jobs)} jobs that ran side by side")
    if (failure or reason) and metrics:
        words.append("the figures are those of the part that ran")
    options = in_common([job.options for job in jobs])
    name = (options.get("rw") or options.get("readwrite") or "").split(":")[0].lower()
    started_ms = min((job.started_ms for job in jobs if job.started_ms), default=0)
    return Report(
        "fio", tool_version=version.removeprefix("fio-"), reason=reason, failure=failure,
        parameters=_parameters(options, jobs), metrics=metrics, warnings=tuple(words),
        subject=Subject(workload=f"fio-{name}" if name else "fio", workload_name=f"fio {name}".strip()),
        started_at=utc(started_ms / 1000) if started_ms else "", command_lines=tuple(commands),
    )  # fmt: skip


def in_common(options: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What is the same in all of them."""
    return {key: value for key, value in options[0].items() if all(other.get(key) == value for other in options)}


def _figures(jobs: Sequence[Job]) -> dict[str, float | None]:
    """Rates of all jobs together with the latencies of one that is alone, else those of every job for itself."""
    figures = _flows(jobs)
    if len(jobs) == 1 and FSYNC in jobs[0].flows:
        figures["fsyncs"] = jobs[0].flows[FSYNC].ios
    runtimes = [flow.runtime_s for job in jobs for flow in job.flows.values() if flow.runtime_s]
    figures["elapsed_s"] = max(runtimes, default=None)
    # The names, or else their numbers, tell them apart.
    slugs = [slug(job.name, longest=40) or "job" for job in jobs]
    for number, (name, job) in enumerate(zip(slugs, jobs, strict=True) if len(jobs) > 1 else (), start=1):
        prefix = name if slugs.count(name) == 1 else f"{name}_{number}"
        figures |= {f"{prefix}_{figure}": value for figure, value in _flows([job]).items()}
    return figures


def _flows(jobs: Sequence[Job]) -> dict[str, float | None]:
    figures: dict[str, float | None] = {}
    for direction in (*DIRECTIONS, FSYNC):
        flows = [job.flows[direction] for job in jobs if direction in job.flows]
        for name in ("iops", "mb_per_s") if flows else ():
            values: list[float | None] = [getattr(flow, name) for flow in flows]
            figures[f"{direction}_{name}"] = None if None in values else round(sum(filter(None, values)), 9)
        for flow in flows if len(jobs) == 1 else ():
            ranks = {"p999" if rank == 99.9 else f"p{rank:g}": ms for rank, ms in flow.percentiles.items()}
            for name, ms in (flow.latency | ranks).items():
                figures[f"{direction}_latency_{name.replace('.', '_')}_ms"] = round(ms, 9)
    return figures


def command_options(commands: Sequence[str], job: str) -> dict[str, str]:
    """The options of a job on a visible command line: `--bs=8k`, `-bs=8k`, `--bs 8k`; those before any name are of all.

    Several names are several jobs, each with the options that follow it.
    """
    jobs, name = {"global": dict[str, str]()}, "global"
    for option, value in (option for command in commands for option in COMMANDS.options(command)):
        if option.startswith("-"):
            name = value if option.lstrip("-") == "name" else name
            jobs.setdefault(name, {})[option.lstrip("-")] = value
    if len(jobs) > 1 and job not in jobs:
        # The command of another run.
        return {}
    return {**jobs["global"], **jobs.get(job, {})}


def _parameters(options: Mapping[str, str], jobs: Sequence[Job]) -> dict[str, Scalar]:
    parameters: dict[str, Scalar] = {"jobs": len(jobs)} if len(jobs) > 1 else {}
    is_binary = options.get("kb_base", "1024") == "1024"
    for name, text in options.items():
        if name not in ("bs", "blocksize", "size") or (is_binary and size_bytes_of(text) is not None):
            parameters |= COMMANDS.factors(name, text)
        else:  # `4k,8k`, `10%`
            parameters |= as_factors({"block_sizes" if is_binary and name != "size" else name: text})
    direct = options.get("direct") or {"0": "1", "1": "0"}.get(options.get("buffered", ""), "")
    return parameters | ({"direct": direct == "1"} if direct in ("0", "1") else {})
