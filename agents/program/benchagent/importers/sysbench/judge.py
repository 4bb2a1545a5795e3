"""From the lines of one run to its report: status, parameters, subject."""

from __future__ import annotations

import itertools

from benchagent.importers.base import NotUnderstood, Report, Scalar, Status, Subject
from benchagent.importers.sysbench import commands
from benchagent.importers.sysbench.checks import check
from benchagent.importers.sysbench.histogram import encoded
from benchagent.importers.sysbench.metrics import metrics_of
from benchagent.importers.sysbench.run import Run
from benchagent.importers.sysbench.series import series_of
from benchagent.redaction import redact_text

TOOL = "sysbench"


def judged(run: Run) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    _without_bad_progress(run)
    since_s = 0.0
    for block in run.blocks:
        check(run, block, since_s)
        since_s = block.number("total_time") if block.checkpoint_s is not None else since_s
    _one_end(run)
    status, reason = _status(run)
    parameters = _parameters(run)
    metrics = metrics_of(run, complete=status is Status.COMPLETE)
    if status is not Status.COMPLETE and any(metric.name in ("tps", "ops_per_s") for metric in metrics):
        run.warnings.append("the rates are those that sysbench printed for the part that ran")
    if interval := next(map(commands.report_interval, run.command_lines), ""):
        run.options.setdefault("report_interval", interval)
    series = series_of(run)
    histogram = _histogram(run)
    return Report(
        tool=TOOL,
        status=status,
        tool_version=run.version,
        parameters=parameters,
        metrics=tuple(metrics),
        series=series,
        warnings=tuple(dict.fromkeys(redact_text(warning) for warning in run.warnings)),
        reason=redact_text(reason),
        subject=_subject(run, parameters),
        command_lines=tuple(redact_text(command) for command in run.command_lines),
        histogram=histogram,
    )


def _without_bad_progress(run: Run) -> None:
    if not run.bad_progress:
        return
    if not run.blocks:
        raise NotUnderstood(run.bad_progress)
    run.samples = []
    run.warnings.append(f"the progress is left out: {run.bad_progress}")


def _one_end(run: Run) -> None:
    """One report at the end, and one at each checkpoint before it."""
    ends = [block for block in run.blocks if block.checkpoint_s is None]
    if len(ends) > 1:
        raise NotUnderstood(f"line {ends[1].line}: a second report of one run")
    if ends and run.blocks[-1] is not ends[0]:
        raise NotUnderstood(f"line {ends[0].line}: a report without its heading before a checkpoint")
    announced = [int(text) for text in run.options.get("checkpoints", "").split(", ") if text.isdigit()]
    end_s = ends[0].number("total_time") if ends else 0.0
    expected = [at for at in announced if not end_s or at <= end_s]
    found = [block.checkpoint_s for block in run.blocks if block.checkpoint_s is not None]
    late = len(expected) == len(found) and all(abs(a - (b or 0)) <= 2 for a, b in zip(expected, found, strict=True))
    if ends and not late:
        raise NotUnderstood(f"line {run.line}: checkpoints at {announced} s were asked for, {found} s are there")


def _status(run: Run) -> tuple[Status, str]:
    if run.problems:
        return (Status.FAILED if run.never_began else Status.ABORTED), run.problems[0]
    if run.steps and not run.started:
        return _prepared(run)
    if not run.ended:
        return _unended(run)
    if run.blocks[-1].number("events") == 0 and "events" in run.blocks[-1].figures:
        return Status.FAILED, "no event was done"
    return Status.COMPLETE, ""


def _unended(run: Run) -> tuple[Status, str]:
    if run.blocks:
        return (Status.COMPLETE, "") if _left_out(run) else (Status.ABORTED, "the report ends early")
    if not run.started and not run.samples:
        return Status.ABORTED, "sysbench began and printed nothing of a run"
    return Status.ABORTED, "no report at the end: a run that was stopped, or an extract of a log"


def _left_out(run: Run) -> bool:
    """Whether somebody left out the end of the last report, or all but some lines of it, after a run that ended."""
    block = run.blocks[-1]
    rates = {"transactions", "queries", "cpu_eps", "eps", "memory_operations", "file_requests_s", "reads_s"}
    if block.checkpoint_s is not None or run.cut or "#fairness" in block.figures or not rates & set(block.figures):
        return False
    if block.extract:
        run.warnings.append("an extract: the beginning of the report is missing")
    elif run.followed:
        run.warnings.append("an extract: the end of the report is missing")
    return block.extract or run.followed


def _prepared(run: Run) -> tuple[Status, str]:
    """Preparing prints no end: every table begun must have got its index, every file its sum."""
    tables, indexes = run.steps.count("table"), run.steps.count("index")
    if "files" in run.steps and "written" not in run.steps:
        return Status.ABORTED, "the preparation ends before its sum"
    if run.cut or (indexes and indexes < tables):
        return Status.ABORTED, "the preparation ends within a table"
    return Status.COMPLETE, ""


def _parameters(run: Run) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for command in run.command_lines:
        found |= commands.parameters(command)
    for option, name in (
        ("threads", "terminals"), ("warm_up_s", "warm_up_s"), ("rate", "rate_limit_tps"),
        ("cpu_max_prime", "cpu_max_prime"), ("fsync_each", "fsync_each_requests"),
        ("table_size_rows", "table_size_rows"), ("files", "files"),
    ):  # fmt: skip
        if option in run.options:
            found[name] = int(run.options[option])
    for option, name in (("block_size", "block_size_bytes"), ("total_size", "total_size_bytes")):
        if option in run.options and (size := _bytes(run.options[option])):
            found[name] = size
    for name in ("file_test_mode", "io_mode", "memory_operation", "memory_scope", "db_driver", "query_mode"):
        if name in run.options:
            found[name] = run.options[name]
    if "fsync_all" in run.options:
        found["fsync_all"] = True
    if "rw_ratio" in run.options and run.options.get("file_test_mode") == "random r/w":
        found["read_write_ratio"] = float(run.options["rw_ratio"])
    return found


def _bytes(text: str) -> int | None:
    """sysbench's sizes (`16KiB`, `2GiB`, `1K`): all of them powers of 1024; None where it rounded."""
    digits = text.rstrip("KMGTiBb")
    power = " KMGT".find(text[len(digits) : len(digits) + 1] or " ")
    return int(digits) * 1024 ** max(power, 0) if digits.isdigit() else None


def _subject(run: Run, parameters: dict[str, Scalar]) -> Subject:
    test = run.options.get("test", "") or str(parameters.get("script", ""))
    slug = test.replace("_", "-").lower()
    name = f"sysbench {test}" if test else "sysbench, test not stated"
    return Subject(workload=f"sysbench-{slug}" if slug else "", workload_name=name)


def _histogram(run: Run) -> str:
    """The histogram of the whole run, encoded; empty where it holds another number of events than the report."""
    if not run.histogram:
        return ""
    counted = sum(count for _, count in run.histogram)
    rising = all(low[0] <= high[0] for low, high in itertools.pairwise(run.histogram))
    events = run.blocks[-1].number("events") if run.ended else 0.0
    if not rising or counted != events:
        run.warnings.append(f"the histogram holds {counted} events, the report {events:.0f}: it is left out")
        return ""
    if len(run.blocks) > 1:
        run.warnings.append("the histogram counts since the last checkpoint only: it is left out")
        return ""
    run.warnings.append("the values of the histogram are the middles of sysbench's buckets, which are 1.8 % wide")
    return encoded(run.histogram)
