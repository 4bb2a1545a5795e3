"""YCSB (Java, all versions) and go-ycsb: summary, status lines, time series."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.report import Report
from benchagent.importers.source import SourceFile, shown_by
from benchagent.importers.ycsb.golang import go_reports
from benchagent.importers.ycsb.java import RAW, exported, java_reports

TOOL = "ycsb"

_GO = re.compile(r"^[ \t]*[A-Z][A-Z_]* +- Takes\(s\): [\d.]+, Count: \d+, OPS: ", re.MULTILINE)
# YCSB-cpp prints a status too, without what follows its operations here.
MARKS = re.compile(
    r"^[ \t]*\[OVERALL\], ?(?:RunTime\(ms\)|Throughput\(ops/sec\)), "
    r"|^[ \t]*\[[A-Z][\w-]*\], (?:Operations|AverageLatency\((?:us|ms)\)), \d"
    r"|\d sec: \d{1,18} operations; (?:est|[\d.,]+ current)"
    r"|^[ \t]*YCSB Client \d"
    rf"|{RAW.pattern}|{_GO.pattern}"
    r"|\{\s*\"metric\"\s*:\s*\"OVERALL\"\s*,\s*\"measurement\"\s*:",
    re.MULTILINE,
)
WORDS = (
    "[OVERALL],", "], Operations, ", "], AverageLatency(", " sec: ", "YCSB Client ", " latency raw data: ", '"metric"',
    ", OPS: ",
)  # fmt: skip
claims = shown_by(MARKS, WORDS)


def streams(head: SourceFile) -> bool:
    return head.shows(MARKS, WORDS) and not head.text.startswith(("{", "["))


def read(file: SourceFile) -> Sequence[Report]:
    of_go = any(_GO.search(text) for text in file.texts())
    return go_reports(file) if of_go else java_reports(exported(file))
