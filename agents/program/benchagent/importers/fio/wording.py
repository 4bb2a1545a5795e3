"""The lines of fio's normal output, 1.x to 3.x, as regular expressions, and their units."""

from __future__ import annotations

import re

CLAIM = re.compile(
    r"(?m)^.*\(groupid=\d+, jobs=\d+\): err=|^[ \t]*fio-\d+\.\d+\S*[ \t]*$|^fio: "
    r"|^[ \t]*Run status group \d+ \(all jobs\):"
)
SPEC = re.compile(r"^\s*(\S.*?): \(g=(\d+)\): rw=(\w+), bs=(.+?), ioengine=(\S+), iodepth=(\d+)\s*$")
VERSION = re.compile(r"^\s*(fio-\d[\w.+~-]*|fio \d+\.\d[\w.]*)\s*$")
JOB = re.compile(
    r"^(?!\s*(?:[#>|*%]|//))\s*(\S.*?)\s*: \(groupid=(\d+), jobs=(\d+)\): err=\s*(-?\d+)\b(?:.*\bpid=(\d+))?"
)
NEW = re.compile(
    r"^\s*(read|write|trim|mixed)\s*: IOPS=([\d.]+)([kKMG]?), BW=([\d.]+)([KMGT]i)?(?:B/s)? "
    r"\(([\d.]+)([kKMGT]?)(?:B/s)?\)\(([\d.]+)([KMGT]i)?B/(\d+)msec\)"
)
OLD = re.compile(
    r"^\s*(read|write|trim|mixed)\s*: io=([\d.]+)([KMGT]?)B, bw=([\d.]+)\s?([KMGT]?)B/s, "
    r"iops=(\d+)\s*, runt=\s*(\d+)msec"
)
LATENCY = re.compile(
    r"^\s*(lat|clat|slat|sync) \((nsec|usec|msec)\)\s*: min=\s*([\d.]+)([kKMG]?)\s*, max=\s*([\d.]+)([kKMG]?)\s*, "
    r"avg=\s*([\d.]+)([kKMG]?)\s*, stdev=\s*([\d.]+)([kKMG]?)\s*$"
)
PERCENTILES = re.compile(r"^\s*(?:(clat|lat|sync)\s+|.*)percentiles \((nsec|usec|msec)\):\s*$")
RANK = re.compile(r"([\d.]+)th=\[\s*([\d.]+)([kKMG]?)\]")
RANK_LINE = re.compile(r"^\s*\|(?:\s*[\d.]+th=\[\s*[\d.]+[kKMG]?\],?)+\s*$")
ISSUED = re.compile(
    r"^\s*issued\s+(?:rwts?|r/w(?:/d)?)?\s*: total=(?:r=)?(\d+)(?:/w=|,|/)(\d+)(?:(?:/d=|,|/)(\d+))?(?=,|\s|$)"
)
GROUP = re.compile(r"^\s*Run status group (\d+) \(all jobs\):")
TOTAL = re.compile(
    r"^\s*(READ|WRITE|TRIM|MIXED)\s*: (?:(bw)=([\d.]+)([KMGT]i)?B/s|io=[\d.]+[KMGT]?B, (aggrb)=([\d.]+)([KMGT]?)B/s).*?"
    r"(?:(?:run|mint)=\s*(\d+)(?:msec, maxt=|-)(\d+)msec)\s*$"
)
# How each total begins, whatever follows.
ANY_TOTAL = re.compile(r"^\s*(?:READ|WRITE|TRIM|MIXED)\s*: (?:bw=|io=)")
QUOTED = re.compile(r"(?m)^(?:> ?)++.*\(groupid=\d+, jobs=\d+\)")
QUOTE = re.compile(r"^(?:> ?)++")
COMMAND = re.compile(r"(?:^|[\s$#>+/])(fio\s+(?:-{1,2}\w|\S+\.(?:fio|job|ini)).*)$")
SCALE = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0}
DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BINARY = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}
