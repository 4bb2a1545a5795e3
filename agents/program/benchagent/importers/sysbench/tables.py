"""The lines of sysbench: reports, options, preparations and progress of 0.4, 0.5, 1.0, 1.1 and its builtin tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.commands import Commands
from benchagent.importers.report import Scalar
from benchagent.importers.tables import Table

# With the names that its figures have as metrics; what is converted has names of its own.
REPORT = Table(
    "sysbench",
    ("#sql", "{SQL|OLTP test} statistics:"),
    ("#queries", "queries performed:"),
    ("read", "read: {read_queries:int}", r"read: +[^I\s]"),
    ("write", "write: {write_queries:int}", r"write: +[^I\s]"),
    ("other", "other: {other_queries:int}"),
    ("total", "total: {queries:int}"),
    ("transactions", "transactions: {transactions:int} ({tps:num} per sec.)"),
    ("deadlocks", "deadlocks: {deadlocks:int} ({deadlocks_per_s:num} per sec.)"),
    (
        "read_write_requests",
        "read/write requests: {read_write_requests:int} ({read_write_requests_per_s:num} per sec.)",
    ),
    ("queries", "queries: {queries_again:int} ({qps:num} per sec.)"),
    ("other_operations", "other operations: {other_again:int} ({other_again_per_s:num} per sec.)"),
    ("errors", "ignored errors: {errors:int} ({errors_per_s:num} per sec.)"),
    ("reconnects", "reconnects: {reconnects:int} ({reconnects_per_s:num} per sec.)"),
    ("#cpu", "CPU speed:"),
    ("cpu_eps", "events per second: {ops_per_s:num}"),
    ("#file", "File operations:"),
    ("reads_s", "reads/s: {read_iops:num}"),
    ("writes_s", "writes/s: {write_iops:num}"),
    ("fsyncs_s", "fsyncs/s: {fsync_per_s:num}"),
    ("read_mib_s", "read, MiB/s: {read_mb_per_s:mib}"),
    ("written_mib_s", "written, MiB/s: {write_mb_per_s:mib}"),
    ("file_read", "read: IOPS={read_iops:num} {:num} MiB/s ({read_mb_per_s:num} MB/s)"),
    ("file_write", "write: IOPS={write_iops:num} {:num} MiB/s ({write_mb_per_s:num} MB/s)"),
    ("file_fsync", "fsync: IOPS={fsync_per_s:num}"),
    (
        "file_operations",
        "Operations performed: {read_operations:int} {Reads|reads|Read|read}, {write_operations:int} "
        "{Writes|writes|Write|write}, {other_operations:int} {Other|other} = {every_operation:int} {Total|total}",
        r"Operations performed: +\d+ [Rr]ead",
    ),
    (
        "file_bytes",
        "Read {:token} Written {:token} Total transferred {:token} ({transfer_rate:token}/sec)",
        r"Read [\d.,]+ ?[KMGT]?i?b",
    ),
    ("file_requests_s", "{ops_per_s:num} Requests/sec executed", r"[\d.,]+ Requests/sec executed"),
    ("memory_operations", "Total operations: {operations:int} ([ ]{ops_per_s:num} {per second|ops/sec})"),
    ("memory_operations", "Operations performed: {operations:int} ([ ]{ops_per_s:num} {per second|ops/sec})"),
    (
        "memory_bytes",
        "{:num} {MiB|MB} transferred ({transfer_mb_per_s:mib} {MiB|MB}/sec)",
        r"[\d.,]+ Mi?B transferred",
    ),
    ("unfinished", "Number of unfinished transactions on forced shutdown: {unfinished:int}", "Number of unfinished"),
    ("#general", "{General statistics|Test execution summary}:"),
    ("eps", "events/s (eps): {eps:num}"),
    ("total_time", "{total time|time elapsed}: {elapsed_s:num}s"),
    ("events", "total number of events: {events:int}"),
    ("execution", "total time taken by event execution: {execution_s:num}[s]"),
    ("#latency", "{response time|per-request statistics|Latency (ms)}:"),
    ("min", "min: {latency_min_ms:time}"),
    ("avg", "avg: {latency_avg_ms:time}"),
    ("max", "max: {latency_max_ms:time}"),
    ("percentile", "[approx. ]{rank:int}[th] percentile: {percentile_ms:time}", r"approx\.|\d+th percentile"),
    ("percentile", "percentile stats: disabled", "percentile stats"),
    ("sum", "sum: {latency_sum_ms:time}"),
    ("#fairness", "Threads fairness:"),
    ("fair_events", "events (avg/stddev): {fair_events:num}/{:num}"),
    ("fair_time", "execution time (avg/stddev): {fair_time:num}/{:num}"),
)
# With one of these a report begins.
OPENING = ("#sql", "#cpu", "cpu_eps", "#file", "file_read", "file_operations", "memory_operations", "#general", "eps",
           "unfinished")  # fmt: skip
# With one of these begins what somebody took out of a report; a file with a line of HEADED holds whole reports.
EXTRACT = ("#queries", "transactions", "queries")
HEADED = ("SQL statistics:", "OLTP test statistics:", "General statistics:", "Test execution summary:",
          "Threads fairness:", "Threads started!")  # fmt: skip
HEADINGS = ("SQL statistics:", "OLTP test statistics:", "CPU speed:", "File operations:")

# What stands before the first report: options, which of them name the test, and the steps of a preparation.
BEFORE = Table(
    "sysbench",
    ("option", "Number of threads: {terminals:int}"),
    ("option", "Warmup time: {warm_up_s:int}s"),
    ("option", "Target transaction rate: {rate_limit_tps:int}/sec"),
    ("option", "Report intermediate results every {report_interval:int} second(s)"),
    ("option", "Report checkpoint(s) at {checkpoints:rest} seconds"),
    ("option", "Maximum prime number checked in CPU test: {cpu_max_prime:int}"),
    ("option", "{files:int} files, {:token} each[, {:token} total]"),
    ("option", "{total_size:size} total file size"),
    ("option", "Block size {block_size:size}"),
    ("option", "Read/Write ratio for combined random IO test: {rw_ratio:num}"),
    ("option", "Periodic FSYNC enabled, calling fsync() each {fsync_each_requests:int} requests."),
    ("option", "Calling fsync() after each {fsync_all:write} operation."),
    ("option", "Using {io_mode:rest} I/O mode"),
    ("option", "{block size|Memory block size}: {block_size:size}"),
    ("option", "{total size|Memory transfer size}: {total_size:size}"),
    ("option", "{operation|Memory operations type}: {memory_operation:word}"),
    ("option", "{scope|Memory scope type}: {memory_scope:word}"),
    ("option", "No DB drivers specified, using {db_driver:word}"),
    ("test cpu", "Prime numbers limit: {cpu_max_prime:int}"),
    ("test cpu", "Prime numbers limit: {:rest}"),
    ("test cpu", "Doing CPU performance benchmark"),
    ("test memory", "{Running memory speed test with the following options:|Doing memory operations speed test}"),
    ("test fileio", "Extra file open flags:[ {:rest}]"),
    ("test fileio", "Doing {file_test_mode:rest} test", r"Doing (?:sequential|random|mixed)"),
    ("test threads", "Doing thread subsystem performance test[{:rest}]"),
    ("test mutex", "Doing mutex performance test[{:rest}]"),
    ("test oltp", "{Doing OLTP test.|Running mixed OLTP test}"),
    ("step table", "Inserting {table_size_rows:int} records into '{:rest}'"),
    ("step table", "Creating {table_size_rows:int} records in table '{:rest}'..."),
    ("step index", "Creating [a ]secondary {index|indexes} on '{:rest}'...", "Creating (?:a )?secondary"),
    ("step create", "Creating table '{:rest}'..."),
    ("step files", "Creating files for the test..."),
    ("step files", "{Creating file|Reusing existing file|Extending existing file} {:rest}"),
    ("step cleanup", "Dropping table '{:rest}'..."),
    ("step cleanup", "Removing test files..."),
    (
        "step written",
        "{written_bytes:int} bytes written in {load_s:num} seconds ({write_mb_per_s:mib} {MiB|MB|Mb}/sec).",
    ),
    ("step written", "{written_bytes:int} bytes written in {load_s:num} seconds (inf {MiB|MB|Mb}/sec)."),
    ("step written", "No bytes written."),
    strict=False,
)
DAMAGED = re.compile(r"(?:Number of threads|Target transaction rate|Warmup time):")
# Intermediate reports, behind `[ 10s ]`.
PROGRESS = Table(
    "sysbench",
    (
        "oltp",
        "thds: {threads:int} tps: {tps:num} qps: {qps:num}[ (r/w/o: {reads:num}/{writes:num}/{others:num})] "
        "lat (ms,[ ]{rank:int}%): {latency:num} err/s[:] {errors_per_s:num} reconn/s: {reconnects_per_s:num}",
    ),
    ("events", "thds: {threads:int} eps: {ops_per_s:num} lat (ms,[ ]{rank:int}%): {latency:num}"),
    (
        "oltp",
        "threads: {threads:int}, tps: {tps:num}, {reads|reads/s}: {read_queries_per_s:num}, "
        "{writes|writes/s}: {write_queries_per_s:num}[,] response time: {latency:num}ms ({rank:int}%)"
        "[, {errors|errors/s}: {errors_per_s:num}, {reconnects|reconnects/s}: {reconnects_per_s:num}]",
    ),
    ("events", "threads: {threads:int}, events/s: {ops_per_s:num}, response time: {latency:num}ms ({rank:int}%)"),
    (
        "file",
        "reads: {read_mb_per_s:mib} {MiB|MB}/s writes: {write_mb_per_s:mib} {MiB|MB}/s fsyncs: {fsync_per_s:num}/s "
        "latency (ms,{rank:int}%): {latency:num}",
    ),
    (
        "file",
        "reads: {read_mb_per_s:mib} {MiB|MB}/s writes: {write_mb_per_s:mib} {MiB|MB}/s fsyncs: {fsync_per_s:num}/s "
        "response time: {latency:num}ms ({rank:int}%)",
    ),
    ("memory", "{transfer_mb_per_s:mib} {MiB|MB}/sec"),
    ("queue", "queue length: {queue_length:int}, concurrency: {concurrency:int}"),
    strict=False,
)
COMMANDS = Commands(
    ("sysbench",),
    # Options or a test, and what to do: `sysbench cpu run`.
    follows=r"(?=.*\s(?:run|prepare|cleanup|prewarm|warmup)\b)(?:[^\s$#>%]\S*\s+)*?"
    r"(?:--\S|(?:fileio|cpu|memory|threads|mutex|oltp|\S*(?:_|\.lua)\S*)\s+\w+$)",
    numbers={
        "--threads --num-threads": "terminals", "--time --max-time": "duration_s", "--events --max-requests": "events",
        "--rate --tx-rate": "rate_limit_tps", "--warmup-time": "warm_up_s", "--tables --oltp-tables-count": "tables",
        "--oltp_tables_count": "tables", "--table-size --oltp-table-size --table_size": "table_size_rows",
        "--range-size": "range_size", "--scale": "warehouses",
        "--file-block-size --memory-block-size": "block_size_bytes",
        "--file-total-size --memory-total-size": "total_size_bytes",
    },
    texts={
        "--rand-type": "rand_type", "--db-driver": "db_driver", "--db-ps-mode": "ps_mode",
        # The test is named apart; how sysbench reports.
        "--test --report-interval --percentile --histogram --report-checkpoints --init-rng --create-secondary": "",
    },
    switches={"--skip-trx --skip_trx": "skip_trx"},
    needs_equals=True,
)  # fmt: skip


def options_of_command(commands: Sequence[str]) -> dict[str, Scalar]:
    """What the options say, and the test: `oltp_read_write`, `fileio`, or a script's name without its path."""
    parameters: dict[str, Scalar] = {}
    for option, value in (pair for command in commands for pair in COMMANDS.options(command)):
        if option == "--test" or (not option and value not in {"run", "prepare", "cleanup", "prewarm", "warmup"}):
            parameters["script"] = re.split(r"[/\\]", value)[-1].removesuffix(".lua")
        else:
            parameters |= COMMANDS.factors(option, value)
    # For these 0 means that there is no limit.
    limits = ("duration_s", "events", "rate_limit_tps")
    return {name: value for name, value in parameters.items() if value or name not in limits}
