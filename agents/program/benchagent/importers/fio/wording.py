"""The lines of fio's normal output, 1.x to 3.x, as regular expressions, and their units."""

from __future__ import annotations

import re

# The sum of a run with several servers (`--client`).
ALL_CLIENTS = "All clients"
DIRECTIONS = ("read", "write", "trim", "mixed")
SIGNAL = re.compile(r"(?m)^.*\bfio: (?:terminating on signal |pid=\d+, got signal=)(\d+)")
CLAIM = re.compile(
    r"^.*\(groupid=\d+, jobs=\d+\): err=|^[ \t]*fio-\d+\.\d+\S*[ \t]*$|^fio: "
    r"|^[ \t]*Run status group \d+ \(all jobs\):",
    re.MULTILINE,
)
SPEC = re.compile(r"^\s*(\S.*?): \(g=(\d+)\): rw=(\w+), bs=(.+?), ioengine=(\S+), iodepth=(\d+)\s*$")
VERSION = re.compile(r"^\s*(fio-\d[\w.+~-]*|fio \d+\.\d[\w.]*)\s*$")
JOB = re.compile(
    r"^(?!\s*(?:[#>|*%]|//))\s*(\S.*?)\s*: \(groupid=(\d+), jobs=(\d+)\): err=\s*(-?\d+)\b(?:.*\bpid=(\d+))?"
)
# Figures stand with their K, M, …
NEW = re.compile(
    r"^\s*(?P<direction>read|write|trim|mixed)\s*: IOPS=(?P<iops>[\d.]+[kKMG]?), "
    r"BW=(?P<binary>[\d.]+(?:[KMGT]i)?)(?:B/s)? \((?P<decimal>[\d.]+[kKMGT]?)(?:B/s)?\)"
    r"\((?P<done>[\d.]+(?:[KMGT]i)?)B/(?P<ms>\d+)msec\)"
)
OLD = re.compile(
    r"^\s*(?P<direction>read|write|trim|mixed)\s*: io=(?P<done>[\d.]+[KMGT]?)B, bw=(?P<rate>[\d.]+\s?[KMGT]?)B/s, "
    r"iops=(?P<iops>\d+)\s*, runt=\s*(?P<ms>\d+)msec"
)
LATENCY = re.compile(
    r"^\s*(?P<kind>lat|clat|slat|sync) \((?P<unit>nsec|usec|msec)\)\s*: min=\s*(?P<min>[\d.]+[kKMG]?)\s*, "
    r"max=\s*(?P<max>[\d.]+[kKMG]?)\s*, avg=\s*(?P<avg>[\d.]+[kKMG]?)\s*, stdev=\s*(?P<stdev>[\d.]+[kKMG]?)\s*$"
)
PERCENTILES = re.compile(r"^\s*(?:(?P<kind>clat|lat|sync)\s+|.*)percentiles \((?P<unit>nsec|usec|msec)\):\s*$")
RANK = re.compile(r"([\d.]+)th=\[\s*([\d.]+[kKMG]?)\]")
RANK_LINE = re.compile(r"^\s*\|(?:\s*[\d.]+th=\[\s*[\d.]+[kKMG]?\],?)+\s*$")
ISSUED = re.compile(
    r"^\s*issued\s+(?:rwts?|r/w(?:/d)?)?\s*: total=(?:r=)?(\d+)(?:/w=|,|/)(\d+)(?:(?:/d=|,|/)(\d+))?(?=,|\s|$)"
)
GROUP = re.compile(r"^\s*Run status group (\d+) \(all jobs\):")
TOTAL = re.compile(
    r"^\s*(?P<direction>READ|WRITE|TRIM|MIXED)\s*: (?:bw=(?P<new>[\d.]+(?:[KMGT]i)?)B/s"
    r"|io=[\d.]+[KMGT]?B, aggrb=(?P<old>[\d.]+[KMGT]?)B/s)"
    r".*?(?:run|mint)=\s*\d+(?:msec, maxt=|-)(?P<longest_ms>\d+)msec\s*$"
)
# How each total begins, whatever follows.
ANY_TOTAL = re.compile(r"^\s*(?:READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=)")
MS = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0}
