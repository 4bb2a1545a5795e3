"""Figures that sysbench prints twice, or that follow from others: where they contradict each other, none is trusted."""

from __future__ import annotations

from benchagent.importers.source import NotUnderstood, agree
from benchagent.importers.sysbench.run import Block, Run
from benchagent.importers.sysbench.tables import RANK

_SQL = ("read", "write", "other", "total", "transactions")
_LATENCY = ("min", "avg", "max", "percentile")
# Where one of them stands, all of them do.
_TOGETHER = (
    ("reads_s", "writes_s", "fsyncs_s", "read_mib_s", "written_mib_s"),
    ("file_read", "file_write", "file_fsync"),
)
# Rows with a count and the rate that follows from it.
_COUNTED = (
    ("transactions", "transactions", "tps"),
    ("queries", "queries_again", "qps"),
    ("read_write_requests", "read_write_requests", "read_write_requests_per_s"),
    ("errors", "errors", "errors_per_s"),
    ("reconnects", "reconnects", "reconnects_per_s"),
    ("deadlocks", "deadlocks", "deadlocks_per_s"),
    ("memory_operations", "operations", "memory_ops_per_s"),
    ("cpu_eps", "events", "cpu_ops_per_s"),
    ("eps", "events", "eps"),
    ("file_requests_s", "events", "requests_per_s"),
)


def check(run: Run, block: Block, since_s: float) -> None:
    """Raises NotUnderstood where a report contradicts itself. `since_s`: when the checkpoint before it was."""
    _nothing_missing(block)
    if "total" in block:
        _queries(block)
    if "total_time" in block:
        _rates(run, block, block.number("elapsed_s") - since_s)
    elif "transactions" in block and "queries" in block:
        # Without the total time: transactions and queries were counted in the same one.
        done, tps = block.number("transactions"), block.number("tps")
        queries, qps = block.number("queries_again"), block.number("qps")
        if abs(done * qps - queries * tps) > 0.006 * (done + queries) + 0.001 * queries * tps:
            raise NotUnderstood(
                f"line {block.line}: {tps} transactions and {qps} queries a second contradict their counts"
            )
    if "max" in block:
        _latency(run, block)


def _nothing_missing(block: Block) -> None:
    if block.extract:
        return
    keys = set(block.rows)
    needed = list(_SQL) if keys & {"#sql", "read", "total"} else []
    if not keys & {"file_read", "file_write", "file_fsync"}:
        needed += ["total_time", "events", "fair_events", "fair_time"]
    if block.text("events") != "0":
        needed += [*_LATENCY, *(("sum",) if keys & {"sum", "queries"} else ())]
    needed += [key for together in _TOGETHER if keys & set(together) for key in together]
    last = max(RANK[key] for key in keys)
    if missing := [key for key in needed if key not in keys and RANK[key] < last]:
        raise NotUnderstood(f"line {block.line}: the report lacks {', '.join(missing)}")


def _queries(block: Block) -> None:
    reads, writes, others, total = (
        block.count(name) for name in ("read_queries", "write_queries", "other_queries", "queries")
    )
    if {"read", "write", "other"} <= set(block.rows) and reads + writes + others != total:
        raise NotUnderstood(f"line {block.line}: reads, writes and others do not add up to the total")
    if "queries" in block and block.count("queries_again") != total:
        raise NotUnderstood(f"line {block.line}: {block.text('queries_again')} queries, in total {total}")
    if "read_write_requests" in block and block.count("read_write_requests") != reads + writes:
        raise NotUnderstood(f"line {block.line}: reads and writes do not add up to the read/write requests")
    if "other_operations" in block and block.count("other_again") != others:
        raise NotUnderstood(f"line {block.line}: two counts of other operations")


def _rates(run: Run, block: Block, elapsed_s: float) -> None:
    """Counts divided by time are the rates; the count of events is that of the transactions."""
    events = block.number("events")
    for key, counted, rated in _COUNTED:
        if key not in block:
            continue
        count, rate = block.number(counted), block.number(rated)
        # The clock of the rate stops a little after that of the total time.
        low, high = count / (elapsed_s * 1.02 + 0.05) - 0.006, count / max(elapsed_s * 0.98 - 0.01, 1e-5) + 0.006
        if not low <= rate <= high:
            raise NotUnderstood(f"line {block.line}: {count:.0f} {key} in {elapsed_s:.4f} s are not {rate} a second")
    if "file_operations" in block:
        parts = [block.number(f"{kind}_operations") for kind in ("read", "write", "other")]
        if sum(parts) != (every := block.number("every_operation")):
            raise NotUnderstood(f"line {block.line}: reads, writes and others do not add up to {every:.0f} operations")
    same = run.version.startswith("1.") and "transactions" in block and "events" in block
    if same and events != block.number("transactions"):
        raise NotUnderstood(f"line {block.line}: {events:.0f} events, {block.text('transactions')} transactions")
    if "reads_s" in block and "fsyncs_s" in block and "events" in block:
        done = block.number("read_iops") + block.number("write_iops")
        # Every thread calls fsync on every file once more when its events are done.
        fair = block.number("fair_events")
        threads = int(run.options.get("threads") or (round(events / fair) if fair else 1))
        ending = 200 + int(run.options.get("files", 128)) * threads
        if not any(
            agree(rate * elapsed_s, events, relative=0.03, absolute=ending)
            for rate in (done, done + block.number("fsync_per_s"))
        ):
            raise NotUnderstood(f"line {block.line}: the file operations a second do not make {events:.0f} events")


def _latency(run: Run, block: Block) -> None:
    least, average, most = block.ms("min"), block.ms("avg"), block.ms("max")
    if least is None or average is None or most is None or block.text("events") == "0":
        return
    where = f"line {block.line}:"
    if not least - 0.011 <= average <= most + 0.011:
        raise NotUnderstood(f"{where} an average latency of {average} ms is not between {least} and {most} ms")
    percentile = block.ms("percentile")
    # The percentile is of a bucket, up to 2 % off; that of 0.4 is a guess.
    exact = percentile is not None and run.version.startswith("1.")
    if exact and not least * 0.9 - 0.02 <= (percentile or 0.0) <= most * 1.1 + 0.02:
        raise NotUnderstood(f"{where} a percentile of {percentile} ms is not between {least} and {most} ms")
    total = block.ms("sum")
    if total is None and "execution" in block:
        total = block.number("execution_s") * 1000
    events = block.number("events")
    rounding = 0.0051 if "sum" in block or block.text("avg").endswith("ms") else 0.051
    # A forced shutdown counts the time of the unfinished events too.
    timed = events + block.number("unfinished")
    if total is not None and timed and abs(total / timed - average) > rounding + 0.02 * average:
        raise NotUnderstood(f"{where} {total} ms over {events:.0f} events are not {average} ms on average")
    threads, fair = int(run.options.get("threads", 0)), block.number("fair_events")
    if threads and "fair_events" in block and not agree(fair * threads, events, relative=0.02, absolute=threads):
        raise NotUnderstood(f"{where} {fair} events by each of {threads} threads are not {events:.0f}")
