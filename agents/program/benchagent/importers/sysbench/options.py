"""What sysbench prints before it begins: the options of the run and of its test, and the steps of a preparation."""

from __future__ import annotations

import re
from dataclasses import replace

from benchagent.importers.base import NotUnderstood
from benchagent.importers.dressing import Line, without_comment
from benchagent.importers.sysbench.lines import why
from benchagent.importers.sysbench.run import Run

# (name of the option, the line); the first group is its value.
_OPTIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(text))
    for name, text in (
        ("threads", r"Number of threads: (\d+)"),
        ("warm_up_s", r"Warmup time: (\d+)s"),
        ("rate", r"Target transaction rate: (\d+)/sec"),
        ("report_interval", r"Report intermediate results every (\d+) second\(s\)"),
        ("checkpoints", r"Report checkpoint\(s\) at ((?:\d+, )*\d+) seconds"),
        ("cpu_max_prime", r"(?:Prime numbers limit|Maximum prime number checked in CPU test): (\d+)"),
        ("files", r"(\d+) files, \S+ each(?:, \S+ total)?"),
        ("total_size", r"(\d+(?:\.\d+)?[KMGT]?i?[Bb]) total file size"),
        ("block_size", r"Block size (\d+(?:\.\d+)?[KMGT]?i?[Bb]?)"),
        ("rw_ratio", r"Read/Write ratio for combined random IO test: (\d+\.\d+)"),
        ("fsync_each", r"Periodic FSYNC enabled, calling fsync\(\) each (\d+) requests\."),
        ("fsync_all", r"Calling fsync\(\) after each write operation(\.)"),
        ("io_mode", r"Using (.+) I/O mode"),
        ("file_test_mode", r"Doing ((?:sequential|random|mixed).*) test"),
        ("block_size", r"(?:block size|Memory block size): (\d+[KMGT]?(?:iB)?)"),
        ("total_size", r"(?:total size|Memory transfer size): (\d+[KMGT]?(?:iB)?)"),
        ("memory_operation", r"(?:operation|Memory operations type): (\w+)"),
        ("memory_scope", r"(?:scope|Memory scope type): (\w+)"),
        ("db_driver", r"No DB drivers specified, using (\w+)"),
    )
)
_TESTS = (
    ("cpu", re.compile(r"Prime numbers limit: .*|Doing CPU performance benchmark")),
    ("memory", re.compile(r"Running memory speed test with the following options:|Doing memory operations speed test")),
    ("fileio", re.compile(r"Extra file open flags: .*|Doing (?:sequential|random|mixed).* test")),
    ("threads", re.compile(r"Doing thread subsystem performance test.*")),
    ("mutex", re.compile(r"Doing mutex performance test.*")),
    ("oltp", re.compile(r"Doing OLTP test\.|Running mixed OLTP test")),
)
_STEPS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("table", re.compile(r"Inserting (\d+) records into '.*'|Creating (\d+) records in table '.*'\.\.\.")),
    ("index", re.compile(r"Creating (?:a )?secondary index(?:es)? on '.*'\.\.\.")),
    ("create", re.compile(r"Creating table '.*'\.\.\.")),
    ("files", re.compile(r"Creating files for the test\.\.\.|Creating file .*|(?:Reusing|Extending) existing file .*")),
    ("cleanup", re.compile(r"Dropping table '.*'\.\.\.|Removing test files\.\.\.")),
)
_WRITTEN = re.compile(
    r"(\d+) bytes written in (\d+\.\d+) seconds \((\d+(?:\.\d+)?|inf) (?:MiB|MB|Mb)/sec\)\.|No bytes written\."
)


def option(run: Run, line: Line) -> bool:
    """Whether the line is one of the options or of a preparation. Raises NotUnderstood where two lines differ."""
    if run.blocks or run.samples:
        return False
    if line.whole:
        line = replace(line, text=without_comment(line.text))
    for test, pattern in _TESTS:
        if pattern.fullmatch(line.text):
            run.options.setdefault("test", test)
    for name, pattern in _OPTIONS:
        if match := pattern.fullmatch(line.text):
            _set(run, line, name, match[1])
            return True
    if line.whole and re.match(r"(?:Number of threads|Target transaction rate|Warmup time):", line.text):
        raise NotUnderstood(f"line {line.number}: {why(line.text)}: {line.text[:60]!r}")
    return _step(run, line)


def _set(run: Run, line: Line, name: str, value: str) -> None:
    if not line.whole:
        run.cut = True
        return
    if run.options.get(name, value) != value:
        raise NotUnderstood(f"line {line.number}: says {line.text[:60]!r}, an earlier line something else")
    run.options[name] = value


def _step(run: Run, line: Line) -> bool:
    for name, pattern in _STEPS:
        if match := pattern.fullmatch(line.text):
            run.steps.append(name)
            if name == "table":
                _rows(run, match[1] or match[2])
            return True
    if written := _WRITTEN.fullmatch(line.text):
        run.steps.append("written")
        if written[1]:
            _set(run, line, "written_bytes", written[1])
            _set(run, line, "load_s", written[2])
            if written[3] != "inf":
                _set(run, line, "load_mib_s", written[3])
        return True
    if run.steps and not line.whole and line.text:
        run.cut = True
    return False


def _rows(run: Run, rows: str) -> None:
    if run.options.setdefault("table_size_rows", rows) != rows:
        raise NotUnderstood(f"tables of {rows} and of {run.options['table_size_rows']} rows in one preparation")
