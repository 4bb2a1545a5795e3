"""What an importer gives: a report of each run. Pure: no server, no account, no database, nothing written.

An importer recognises its tool by content and prefers "not understood" to a wrong number: whatever it cannot be sure
of (a line cut in the middle, figures that contradict each other, an unknown wording) it does not report.
"""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any

from benchagent.catalog import too_many_failed
from benchagent.importers.source import NotUnderstood, SourceFile, slug, whole_or_text
from benchagent.redaction import is_suspicious, names_a_secret, redact_text

Scalar = str | int | float | bool


class Status(StrEnum):
    COMPLETE = "complete"
    # Stopped before its end: by a person, a lost connection, a cut file.
    ABORTED = "aborted"
    # Ran and says itself that it failed, or never began; or too many of its transactions failed.
    FAILED = "failed"
    NOT_UNDERSTOOD = "not_understood"


@dataclass(frozen=True)
class Metric:
    """One number. `name` and `unit` follow the catalogue's words: tps/TPS, latency_avg_ms/ms, …"""

    name: str
    unit: str
    value: float
    phase: str = "run"
    better: str | None = None


# Unit, and which direction is better, of the names that importers give; also as the end of a longer name.
_UNITS = {
    "tps": ("TPS", "higher"), "tps_with_connections": ("TPS", "higher"), "qps": ("queries/s", "higher"),
    "tpm": ("TPM", "higher"), "tpmc": ("tpmC", "higher"), "nopm": ("NOPM", "higher"), "qphh": ("QphH", "higher"),
    "ops_per_s": ("ops/s", "higher"), "hit_ops_per_s": ("ops/s", "none"), "miss_ops_per_s": ("ops/s", "none"),
    "requests_per_s": ("requests/s", "higher"), "goodput_per_s": ("requests/s", "higher"),
    "queries_per_s": ("queries/s", "higher"),
    "fsync_per_s": ("fsyncs/s", "higher"), "errors_per_s": ("errors/s", "lower"),
    "deadlocks_per_s": ("errors/s", "lower"), "reconnects_per_s": ("reconnects/s", "lower"),
    "iops": ("IOPS", "higher"), "mb_per_s": ("MB/s", "higher"), "ms": ("ms", "lower"), "s": ("s", "lower"),
    "elapsed_s": ("s", "none"), "efficiency_pct": ("%", "none"), "transactions": ("transactions", "none"),
    "failed_transactions": ("transactions", "lower"), "retried_transactions": ("transactions", "lower"),
    "skipped_transactions": ("transactions", "lower"), "late_transactions": ("transactions", "lower"),
    "serialization_failures": ("transactions", "lower"), "deadlock_failures": ("transactions", "lower"),
    "failures": ("errors", "lower"), "errors": ("errors", "lower"), "deadlocks": ("errors", "lower"),
    "retries": ("retries", "lower"), "reconnects": ("reconnects", "lower"), "queries": ("queries", "none"),
    "events": ("events", "none"), "unfinished": ("events", "lower"), "queue_length": ("events", "none"),
    "concurrency": ("events", "none"), "operations": ("operations", "none"), "fsyncs": ("operations", "none"),
    "requests": ("requests", "none"), "percent": ("%", "lower"), "rows": ("rows", "none"),
    "size_bytes": ("bytes", "none"), "backup_size_bytes": ("bytes", "lower"),
    "page_reads": ("pages", "lower"), "page_writes": ("pages", "lower"),
}  # fmt: skip


@cache
def unit_of(name: str) -> tuple[str, str]:
    """Unit and better direction of a metric or series: of its name, else of the end of it that is known."""
    rest = name
    while rest not in _UNITS:
        _, more, rest = rest.partition("_")
        if not more:
            raise KeyError(f"no unit is known of {name}")
    return _UNITS[rest]


def measured(name: str, value: float, phase: str = "run", *, better: str = "", unit: str = "") -> Metric:
    """A metric with the unit and the direction that its name has."""
    known = unit_of(name)
    return Metric(name, unit or known[0], value, phase, better or known[1])


def all_measured(values: Mapping[str, float | None], phase: str = "run", *, better: str = "") -> tuple[Metric, ...]:
    """A metric of each value that there is."""
    return tuple(measured(name, value, phase, better=better) for name, value in values.items() if value is not None)


def latencies_of(counts: Mapping[int, int], ranks: Iterable[int], *, per_ms: int = 1) -> dict[str, float]:
    """The least, mean and greatest of times with their counts, and those that so many percent do not exceed."""
    times = sorted(counts)
    so_far = [*itertools.accumulate(counts[time] for time in times)]
    total = math.fsum(time * count for time, count in counts.items())
    figures = {"avg": total / so_far[-1], "min": times[0], "max": times[-1]}
    figures |= {f"p{rank}": times[bisect_left(so_far, -(-so_far[-1] * rank // 100))] for rank in ranks}
    return {f"latency_{name}_ms": round(value / per_ms, 6) for name, value in figures.items()}


def entries(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Those of these names, in their order, that have a value."""
    return {name: values[name] for name in names if values.get(name) is not None}


def utc(epoch_s: float) -> str:
    """Seconds since 1970 as a report says when it began."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat()


@dataclass(frozen=True)
class Series:
    """Evenly spaced samples; None is a gap. `t0_s`: where the first interval begins."""

    name: str
    unit: str
    interval_s: float
    values: tuple[float | None, ...]
    t0_s: float = 0.0

    @staticmethod
    def called(name: str, interval_s: float, values: Iterable[float | None], t0_s: float = 0.0) -> Series:
        """With the unit that its name has."""
        return Series(name, unit_of(name)[0], interval_s, tuple(values), t0_s)

    @property
    def points(self) -> int:
        return len(self.values)


# What tools call a DBMS -> its slug in the catalogue, where the two differ; and those that are told by their slug.
_CALLED = {
    "postgres": "postgresql", "pg": "postgresql", "sqlserver": "mssql", "sql server": "mssql", "mssqlserver": "mssql",
    "sqlazure": "mssql", "memsql": "singlestore", "firebirdsql": "firebird", "cockroach": "cockroachdb",
    "scylla": "scylladb", "postgre": "postgresql",
}  # fmt: skip
_SLUGS = frozenset({
    "aerospike", "arangodb", "cassandra", "cockroachdb", "couchbase", "cubrid", "db2", "derby", "dynamodb", "firebird",
    "h2", "hbase", "hsqldb", "hstore", "ignite", "kudu", "mariadb", "memcached", "monetdb", "mongodb", "mssql", "mysql",
    "noisepage", "nuodb", "oracle", "phoenix", "postgresql", "redis", "rocksdb", "scylladb", "singlestore", "spanner",
    "sqlite", "tarantool", "tidb", "tikv", "timesten", "trafodion", "yugabyte",
})  # fmt: skip


def dbms_called(name: str) -> str:
    """The slug of a DBMS by what a tool calls it; empty where nobody calls one so."""
    low = name.strip().lower()
    return _CALLED.get(low, low if low in _SLUGS else "")


def dbms_named(name: str) -> str:
    """The slug where there is one, else the name as it is written: who stores it knows other names of a DBMS."""
    return dbms_called(name) or name.strip()


# The client library of sysbench, and the DBMSs that each speaks to.
DRIVER = "db_driver"
_SPOKEN = {
    "mysql": ("mysql", "mariadb", "tidb", "singlestore"),
    "pgsql": ("postgresql", "cockroachdb", "yugabyte", "noisepage"),
}  # fmt: skip


def speaks_to(driver: str, dbms: str) -> bool:
    """Whether a client library may have spoken to what is called so; of those that are not known nobody says no."""
    known = dbms_called(dbms)
    return not known or known in _SPOKEN.get(driver, (known,))


MAX_FACTOR = 200
# Where a server is, who asks it, what is shown of a run and kept of it: another word there makes no other run.
_NO_FACTOR = re.compile(
    r"(?:^|[._-])(?:hosts?|ports?|addr|address|servers?|user|username|uid|superuser|owner|socket|ur[li]s?|dsn|dbase|dbname|database"
    r"|schema|db|password|help|version|verbos(?:e|ity)|debug|quiet|silen(?:t|ce)|logs?|output|export\w*|report|status)(?:$|[._-])"
)


def as_factors(options: Mapping[str, str], left_out: Collection[str] = ()) -> dict[str, Scalar]:
    """What is set besides what an importer knows, under its own name: no factor that a tool prints is lost.

    `left_out`: what the importer knows, and what only says how the tool reports. Addresses, names of users and secrets
    are never taken.
    """
    parameters: dict[str, Scalar] = {}
    for option, text in options.items():
        name, value = slug(option), text.strip()
        if option in left_out or not name or len(value) > MAX_FACTOR:
            continue
        if not (_NO_FACTOR.search(option.lower()) or names_a_secret(option) or "://" in value):
            is_decimal = re.fullmatch(r"\d{1,12}\.\d{1,12}", value)
            parameters[name] = float(value) if is_decimal else whole_or_text(value) if value else True
    return parameters


@dataclass(frozen=True)
class Subject:
    """What the file itself says of the DBMS, the workload and the machine; empty where it says nothing."""

    workload: str = ""
    workload_name: str = ""
    dbms: str = ""
    dbms_version: str = ""
    hardware: dict[str, Scalar] = field(default_factory=dict)
    storage: tuple[dict[str, Scalar], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    # What it calls the machine.
    machine: str = ""


# Who may see a run, from the most to the fewest.
VISIBILITIES = ("public", "unlisted", "private")


@dataclass(frozen=True)
class Report:
    """One run as a file tells it. Unless its status is given, it is complete, aborted where a reason says why, and
    failed where a failure does.

    `parameters` are what the tool was told (scale_factor, terminals, duration_s, …); they become factors.
    `part_of` names the file whose report includes this one's content (per-thread logs are summed there).
    `tested`: commit and branch that the file names. `histogram` is HdrHistogram V2, compressed, base64; empty where
    there is none. `latency_map`: how many transactions took how long, interval by interval
    (`benchagent.latency_map`). `visibility`: who may see it, where the file says so.
    """

    tool: str
    status: Status = Status.COMPLETE
    tool_version: str = ""
    parameters: dict[str, Scalar] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    series: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    # Why it is aborted, failed or not understood.
    reason: str = ""
    subject: Subject = Subject()
    started_at: str = ""
    tested: dict[str, str] = field(default_factory=dict)
    command_lines: tuple[str, ...] = ()
    histogram: str = ""
    latency_map: dict[str, Any] = field(default_factory=dict)
    part_of: str = ""
    visibility: str = ""
    failure: InitVar[str] = ""

    def __post_init__(self, failure: str) -> None:
        """Whoever builds a report, no secret gets into its texts, no warning stands in it twice, and one of a run whose
        transactions failed is that of a failed run, whatever the tool says."""
        reason, others = failure or self.reason, (self.warnings, self.command_lines, self.parameters)
        # Most hold none, and one look at all is cheaper than one at each.
        safely = redact_text if is_suspicious(f"{reason} {others}") else str
        safe: dict[str, Any] = {"reason": safely(reason)}
        if bad := next((metric for metric in self.metrics if not math.isfinite(metric.value)), None):
            raise NotUnderstood(f"{bad.name} is {bad.value}, no number")
        whole = {metric.name: metric.value for metric in self.metrics if metric.phase == "run"}
        if failure:
            safe["status"] = Status.FAILED
        elif self.status is Status.COMPLETE and self.reason:
            safe["status"] = Status.ABORTED
        elif self.status is Status.COMPLETE and (why := too_many_failed(whole)):
            safe |= {"status": Status.FAILED, "reason": why}
        for name in ("warnings", "command_lines"):
            safe[name] = tuple(dict.fromkeys(map(safely, filter(None, getattr(self, name)))))
        safe["parameters"] = {
            name: safely(value) if isinstance(value, str) else value for name, value in self.parameters.items()
        }
        for name, value in safe.items():
            object.__setattr__(self, name, value)

    def metric(self, name: str) -> float | None:
        return next((metric.value for metric in self.metrics if metric.name == name), None)

    @property
    def refusal(self) -> str:
        """Why it is not understood, for whoever says so in words of their own."""
        return self.reason.removeprefix(_REFUSED)

    @property
    def is_of_no_tool(self) -> bool:
        """Whether it was refused without any importer that knew it."""
        return self.status is Status.NOT_UNDERSTOOD and self.refusal.startswith(_NO_TOOL)


# A file with its runs.
ReadFile = tuple[SourceFile, list[Report]]
_REFUSED, _NO_TOOL = "not understood: ", "no known tool wrote this"
# What to do where a reason does not say it itself: of a file of no tool, and of one that is damaged.
_OF_NO_TOOL = "; send what the tool itself printed, or a table with headings, whose columns you name"
_DAMAGED = "; send it as the tool wrote it, or without what is named here"
_NAMES_WAY_OUT = re.compile(r"; send |send (?:one|the|parts)|mapping|let it print|into a folder")


def not_understood(why: NotUnderstood | str, *, tool: str = "") -> Report:
    """A refusal says why, or else that no tool wrote it, and the way out."""
    words = str(why) or _NO_TOOL
    way_out = "" if _NAMES_WAY_OUT.search(words) else _DAMAGED if tool else _OF_NO_TOOL
    return Report(tool, Status.NOT_UNDERSTOOD, reason=f"{_REFUSED}{words}{way_out}")


def as_part_of(report: Report, file: SourceFile) -> Report:
    """The report of a file whose numbers and warnings are in another's."""
    return replace(report, metrics=(), series=(), warnings=(), histogram="", latency_map={}, part_of=file.name)


_BESIDE = ("latency_p99_ms", "latency_p95_ms", "latency_avg_ms")
# One file holds so many at most, and so does one import.
MAX_REPORTS = 20_000


def check_count(reports: int) -> None:
    """Raises NotUnderstood for more runs than are read at once."""
    if reports > MAX_REPORTS:
        raise NotUnderstood(f"more than {MAX_REPORTS:,} runs; send parts of it")


def headline(metrics: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The figures that tell an item of `as_json` in one line: its rate, its latency; else what it told first."""
    with_value = sorted((metric for metric in metrics if metric["value"]), key=lambda metric: metric["name"] != "tps")
    first, others = with_value[:1], with_value[1:]
    beside = [metric for name in _BESIDE for metric in others if metric["name"] == name][:1]
    return [*first, *(beside or [metric for metric in others if "latency" not in metric["name"]])][:3]


def as_json(file: SourceFile, report: Report) -> dict[str, Any]:
    """One entry of `benchctl inspect --json`."""
    return {
        "file": file.name,
        "tool": report.tool or None,
        "tool_version": report.tool_version or None,
        "status": report.status.value,
        "reason": report.reason or None,
        "parameters": report.parameters,
        "metrics": [
            {"name": metric.name, "unit": metric.unit, "value": metric.value, "phase": metric.phase}
            for metric in report.metrics
        ],
        "series": [
            {
                "name": series.name, "unit": series.unit, "interval": series.interval_s, "t0_s": series.t0_s,
                "points": series.points,
            }
            for series in report.series
        ],
        "warnings": [*report.warnings],
        "subject": {
            "workload": report.subject.workload or None,
            "dbms": report.subject.dbms or None,
            "dbms_version": report.subject.dbms_version or None,
            "hardware": report.subject.hardware,
            "settings": len(report.subject.settings),
            "machine": report.subject.machine or None,
        },
        "visibility": report.visibility or None,
        "started_at": report.started_at or None,
        "tested": report.tested,
        "histogram": bool(report.histogram),
        "part_of": report.part_of or None,
    }  # fmt: skip


# What becomes of a run that a file tells of, and what must still be said of it before it can be stored: server and
# `benchctl` ask the same. Items are entries of `as_json`, so that no file is read again.

Item = dict[str, Any]

_WORDS = {
    "items": "Nothing is left to store: no file was understood, or all are left out.",
    "hardware": "Say on which machine this was measured.",
    "dbms.name": "The files do not say which DBMS it was.",
    "dbms.version": "The files do not say which version of the DBMS it was.",
    "workload": "The files do not say what was run.",
}


def becomes_a_run(item: Item, answers: Mapping[str, Any]) -> bool:
    """Understood, whole in itself, with something measured or a reason why not, not left out."""
    if item["status"] == "not_understood" or item["part_of"] or item.get("index") in answers.get("leave_out", []):
        return False
    return bool(item["metrics"] or item["series"]) or item["status"] in ("aborted", "failed")


# Workloads of storage, CPU and memory.
NO_DBMS = (
    "fio", "diskspd", "iozone", "pg-test-",
    "sysbench-fileio", "sysbench-cpu", "sysbench-memory", "sysbench-threads", "sysbench-mutex",
)  # fmt: skip


def dbms_of(
    subject: Subject, tool: str, tool_version: str, answers: Mapping[str, Any], file: str = ""
) -> tuple[str, str]:
    """Name and version: the file's own words first, then what a person says of this file, then of all; empty where
    nobody tells.

    A benchmark of storage, CPU or memory knows no DBMS: it stands under the tool's own name.
    """
    if subject.workload.startswith(NO_DBMS):
        return subject.dbms or tool, subject.dbms_version or tool_version or "not stated"
    own, given = answers.get("files", {}).get(file, {}).get("dbms") or {}, answers.get("dbms") or {}
    name = subject.dbms or str(own.get("name") or given.get("name", ""))
    # A version belongs to the DBMS that it was said of.
    of_this = str(given.get("name", "")).casefold() in ("", name.casefold())
    version = own.get("version") or (given.get("version", "") if of_this else "")
    return name, subject.dbms_version or str(version)


def missing_details(items: Iterable[Item], answers: Mapping[str, Any]) -> dict[str, list[str]]:
    """field -> what has to be said before these items can be stored; empty when nothing is missing."""
    runs = [item for item in items if becomes_a_run(item, answers)]
    # Field -> the files that lack it; of a field that is asked for all alike none.
    missing: dict[str, list[str]] = {} if runs else {"items": []}
    for item in runs:
        workload, dbms, dbms_version = (item["subject"][key] or "" for key in ("workload", "dbms", "dbms_version"))
        subject = Subject(workload, dbms=dbms, dbms_version=dbms_version)
        tool, tool_version, file = (item.get(key) or "" for key in ("tool", "tool_version", "file"))
        name, version = dbms_of(subject, tool, tool_version, answers, file)
        stated = {
            "hardware": item["subject"].get("machine") or "hardware" in answers,
            "dbms.name": name,
            "dbms.version": version,
            "workload": workload or "workload" in answers,
        }
        for name_of_field, value in stated.items():
            if not value:
                missing.setdefault(name_of_field, []).append(file)
    return {field: [_needed(words, missing[field], len(runs))] for field, words in _WORDS.items() if field in missing}


def _needed(words: str, files: Sequence[str], items: int) -> str:
    """With the names of the first three files where not all of the items lack it."""
    names = list(dict.fromkeys(filter(None, files)))
    if not names or len(files) == items:
        return words
    more = f" and {len(names[3:])} more" if names[3:] else ""
    return f"{words.rstrip('.')}: {', '.join(names[:3])}{more}."


def rising(values: Mapping[str, Any], *names: str, of: str = "") -> None:
    """Raises NotUnderstood where percentiles do not rise in the order of their names; those that are missing may be."""
    for (low, before), (high, after) in itertools.pairwise(entries(values, *names).items()):
        if after < before:
            raise NotUnderstood(f"{of + ': ' if of else ''}{high} = {after:g} is below {low} = {before:g}")
