"""Names and units that the files of a run share."""

from __future__ import annotations

import math
import re

from benchagent.importers.report import Scalar
from benchagent.importers.source import NotUnderstood, slug

DBMS = {
    "postgres": "postgresql", "postgresql": "postgresql", "mysql": "mysql", "mariadb": "mariadb", "oracle": "oracle",
    "sqlserver": "mssql", "sqlazure": "mssql", "db2": "db2", "sqlite": "sqlite", "hsqldb": "hsqldb", "h2": "h2",
    "derby": "derby", "firebird": "firebird", "cubrid": "cubrid", "cockroachdb": "cockroachdb",
    "singlestore": "singlestore", "memsql": "singlestore", "spanner": "spanner", "timesten": "timesten",
    "monetdb": "monetdb", "noisepage": "noisepage", "phoenix": "phoenix", "hstore": "hstore", "nuodb": "nuodb",
    "yugabyte": "yugabyte", "tidb": "tidb",
}  # fmt: skip
_TO_MS = {"microsecond": 1e-3, "microseconds": 1e-3, "us": 1e-3, "millisecond": 1.0, "milliseconds": 1.0, "ms": 1.0}
_RANKS = {
    "minimum": "min", "average": "avg", "median": "p50", "maximum": "max", "25th percentile": "p25",
    "75th percentile": "p75", "90th percentile": "p90", "95th percentile": "p95", "99th percentile": "p99",
    "99.9th percentile": "p999", "50th percentile": "p50",
    "min": "min", "avg": "avg", "max": "max", "sd": "stddev",
    "25th": "p25", "75th": "p75", "90th": "p90", "95th": "p95", "99th": "p99",
}  # fmt: skip
RISING = ("min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max")


def latency(heading: str) -> tuple[str, float] | None:
    """ "95th Percentile Latency (microseconds)" -> ("p95", 0.001); "median_lat(ms)" of OLTP-Bench alike.

    None where the heading names no latency. Raises NotUnderstood for a latency of an unknown rank or unit.
    """
    match = re.fullmatch(r"(.+?)(?: Latency |_lat)\(?\s*\(?(\w+)\)", heading.strip(), re.IGNORECASE)
    if match is None:
        if re.search(r"latency|_lat\b", heading, re.IGNORECASE):
            raise NotUnderstood(f"an unknown latency: {heading[:60]!r}")
        return None
    rank, unit = _RANKS.get(match[1].strip().lower()), _TO_MS.get(match[2].lower())
    if rank is None or unit is None:
        raise NotUnderstood(f"an unknown rank or unit of a latency: {heading[:60]!r}")
    return rank, unit


def check_rising(values: dict[str, float], what: str) -> None:
    known = [values[rank] for rank in RISING if rank in values]
    if known != sorted(known):
        raise NotUnderstood(f"{what}: the percentiles do not rise")
    least, most = values.get("min", 0.0), values.get("max", math.inf)
    if "avg" in values and not least * 0.999 - 0.002 <= values["avg"] <= most * 1.001 + 0.002:
        raise NotUnderstood(f"{what}: the average lies outside of least and greatest")


def snake(name: str) -> str:
    """com.oltpbenchmark.….NewOrder/01 -> new_order"""
    last = name.split("/", maxsplit=1)[0].rsplit(".", 1)[-1]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last)
    return slug(spaced, longest=40)


def workload(kind: str) -> tuple[str, str]:
    known = slug(kind, "-")
    return (f"{known}-benchbase", f"BenchBase {kind.upper()}") if known else ("", "")


def dbms(kind: str, version: str) -> tuple[str, str]:
    name = DBMS.get(kind.lower(), "")
    if name == "mysql" and "mariadb" in version.lower():
        name = "mariadb"
    number = re.search(r"\d+(?:\.\d+)+|\b\d{2}\b", version)
    return name, number[0] if name and number else ""


def plain(text: str) -> Scalar:
    """A setting of the configuration as number where it is one: "1" -> 1, "0.5" -> 0.5, "1.0" -> 1."""
    text = text.strip()
    if re.fullmatch(r"\d{1,15}", text):
        return int(text)
    if re.fullmatch(r"\d{1,12}\.\d{1,12}", text):
        value = float(text)
        return int(value) if value.is_integer() else value
    return text
