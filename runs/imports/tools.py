"""What can be dropped, for the page that asks for it."""

from __future__ import annotations

TOOLS: tuple[tuple[str, str], ...] = (
    ("pgbench", "output with or without progress, per-transaction and aggregate logs of all threads, 9.x to 18"),
    ("sysbench", "0.4 to 1.1, any progress format, checkpoints, histograms; OLTP, fileio, cpu"),
    ("HammerDB", "CLI logs of v3 to v6, time profiles, transaction counters, job reports"),
    ("go-tpc", "plain, table and JSON output"),
    ("BenchBase", "summary, params, results, samples and raw files of a run, together"),
    ("YCSB", "load and run phases, histograms, time series"),
    ("fio", "JSON, JSON+ and normal output, logs"),
    ("gbak", "verbose output and statistics of backup and restore"),
    ("CSV", "any table with a header; you say which column is what"),
)
