"""Figures that sysbench prints twice, or that follow from others: where they contradict each other, none is trusted."""

from __future__ import annotations

from benchagent.importers.base import NotUnderstood, agree
from benchagent.importers.sysbench.lines import RANK
from benchagent.importers.sysbench.run import Block, Run

_SQL = ("read", "write", "other", "total", "transactions")
_GENERAL = ("total_time", "events")
_LATENCY = ("min", "avg", "max", "percentile")
_FAIRNESS = ("fair_events", "fair_time")


def check(run: Run, block: Block, since_s: float) -> None:
    """Raises NotUnderstood where a report contradicts itself. `since_s`: when the checkpoint before it was."""
    _nothing_missing(block)
    if "total" in block.figures:
        _queries(block)
    if "total_time" in block.figures:
        _rates(run, block, block.number("total_time") - since_s)
    elif {"transactions", "queries"} <= set(block.figures):
        _same_time(block)
    if "max" in block.figures:
        _latency(run, block)


def _nothing_missing(block: Block) -> None:
    if block.extract:
        return
    needed: list[str] = []
    keys = set(block.figures)
    if keys & {"#sql", "read", "total"}:
        needed += _SQL
    if "file_read" not in keys and "file_write" not in keys and "file_fsync" not in keys:
        needed += [*_GENERAL, *_FAIRNESS]
    if block.value("events") != "0":
        needed += [*_LATENCY, *(("sum",) if keys & {"sum", "queries"} else ())]
    last = max(RANK[key] for key in keys)
    missing = [key for key in needed if key not in keys and RANK[key] < last]
    pairs = (
        ("reads_s", "writes_s", "fsyncs_s", "read_mib_s", "written_mib_s"),
        ("file_read", "file_write", "file_fsync"),
    )
    for pair in pairs:
        if keys & set(pair):
            missing += [key for key in pair if key not in keys and RANK[key] < last]
    if missing:
        raise NotUnderstood(f"line {block.line}: the report lacks {', '.join(missing)}")


def _queries(block: Block) -> None:
    parts = [int(block.value(key) or 0) for key in ("read", "write", "other")]
    if {"read", "write", "other"} <= set(block.figures) and sum(parts) != int(block.value("total") or 0):
        raise NotUnderstood(f"line {block.line}: reads, writes and others do not add up to the total")
    if "queries" in block.figures and block.value("queries") != block.value("total"):
        raise NotUnderstood(f"line {block.line}: {block.value('queries')} queries, in total {block.value('total')}")
    if "read_write_requests" in block.figures and int(block.value("read_write_requests") or 0) != parts[0] + parts[1]:
        raise NotUnderstood(f"line {block.line}: reads and writes do not add up to the read/write requests")
    if "other_operations" in block.figures and block.value("other_operations") != block.value("other"):
        raise NotUnderstood(f"line {block.line}: two counts of other operations")


def _rates(run: Run, block: Block, elapsed_s: float) -> None:
    """Counts divided by time are the rates; the count of events is that of the transactions."""
    for key in (
        "transactions",
        "queries",
        "read_write_requests",
        "errors",
        "reconnects",
        "deadlocks",
        "memory_operations",
    ):
        if key in block.figures:
            _rate(block, key, block.number(key), block.number(key, 1), elapsed_s)
    events = block.number("events")
    for key in ("cpu_eps", "eps"):
        if key in block.figures:
            _rate(block, key, events, block.number(key), elapsed_s)
    if "file_requests_s" in block.figures:
        _rate(block, "file_requests_s", events, block.number("file_requests_s"), elapsed_s)
    if "file_operations" in block.figures:
        *parts, every = (block.number("file_operations", place) for place in range(4))
        if sum(parts) != every:
            raise NotUnderstood(f"line {block.line}: reads, writes and others do not add up to {every:.0f} operations")
    same = run.version.startswith("1.") and "transactions" in block.figures and "events" in block.figures
    if same and events != block.number("transactions"):
        raise NotUnderstood(f"line {block.line}: {events:.0f} events, {block.value('transactions')} transactions")
    if "reads_s" in block.figures and "fsyncs_s" in block.figures and "events" in block.figures:
        done = block.number("reads_s") + block.number("writes_s")
        # Every thread calls fsync on every file once more when its events are done.
        fair = block.number("fair_events")
        threads = int(run.options.get("threads") or (round(events / fair) if fair else 1))
        ending = 200 + int(run.options.get("files", 128)) * threads
        if not any(
            agree(rate * elapsed_s, events, relative=0.03, absolute=ending)
            for rate in (done, done + block.number("fsyncs_s"))
        ):
            raise NotUnderstood(f"line {block.line}: the file operations a second do not make {events:.0f} events")


def _same_time(block: Block) -> None:
    """Without the total time: transactions and queries were counted in the same one."""
    done, tps = block.number("transactions"), block.number("transactions", 1)
    queries, qps = block.number("queries"), block.number("queries", 1)
    if abs(done * qps - queries * tps) > 0.006 * (done + queries) + 0.001 * queries * tps:
        raise NotUnderstood(f"line {block.line}: {tps} transactions and {qps} queries a second contradict their counts")


def _rate(block: Block, key: str, count: float, rate: float, elapsed_s: float) -> None:
    # The clock of the rate stops a little after that of the total time.
    low, high = count / (elapsed_s * 1.02 + 0.05) - 0.006, count / max(elapsed_s * 0.98 - 0.01, 1e-5) + 0.006
    if not low <= rate <= high:
        raise NotUnderstood(f"line {block.line}: {count:.0f} {key} in {elapsed_s:.4f} s are not {rate} a second")


def milliseconds(block: Block, key: str) -> float | None:
    """0.4 prints seconds, 0.5 milliseconds with their unit, 1.0 milliseconds under a heading that says so."""
    found = block.figures.get(key)
    if found is None or not found.values[-2]:
        return None
    unit = found.values[-1]
    return round(float(found.values[-2]) * (1000 if unit == "s" else 1), 6)


def _latency(run: Run, block: Block) -> None:
    least, average, most = (milliseconds(block, key) for key in ("min", "avg", "max"))
    if least is None or average is None or most is None or block.value("events") == "0":
        return
    if not least - 0.011 <= average <= most + 0.011:
        raise NotUnderstood(
            f"line {block.line}: an average latency of {average} ms is not between {least} and {most} ms"
        )
    percentile = milliseconds(block, "percentile") if "percentile" in block.figures else None
    # The percentile is of a bucket, up to 2 % off; that of 0.4 is a guess.
    if (
        percentile is not None
        and run.version.startswith("1.")
        and not least * 0.9 - 0.02 <= percentile <= most * 1.1 + 0.02
    ):
        raise NotUnderstood(f"line {block.line}: a percentile of {percentile} ms is not between {least} and {most} ms")
    total = milliseconds(block, "sum") if "sum" in block.figures else None
    if total is None and "execution" in block.figures:
        total = block.number("execution") * 1000
    events = block.number("events")
    rounding = 0.0051 if "sum" in block.figures or block.figures["avg"].values[-1] == "ms" else 0.051
    # A forced shutdown counts the time of the unfinished events too.
    timed = events + block.number("unfinished")
    if total is not None and timed and abs(total / timed - average) > rounding + 0.02 * average:
        raise NotUnderstood(f"line {block.line}: {total} ms over {events:.0f} events are not {average} ms on average")
    threads = int(run.options.get("threads", 0))
    fair = block.number("fair_events")
    if (
        threads
        and "fair_events" in block.figures
        and not agree(fair * threads, events, relative=0.02, absolute=threads)
    ):
        raise NotUnderstood(f"line {block.line}: {fair} events by each of {threads} threads are not {events:.0f}")
