"""What an importer gives: a report of each run. Pure: no server, no account, no database, nothing written.

An importer recognises its tool by content and prefers "not understood" to a wrong number: whatever it cannot be sure
of (a line cut in the middle, figures that contradict each other, an unknown wording) it does not report.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, overload

from benchagent.catalog import too_many_failed
from benchagent.importers.source import NotUnderstood, SourceFile, slug, whole_or_text, words_of
from benchagent.redaction import names_a_secret, redact_text

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
    "ops_per_s": ("ops/s", "higher"), "requests_per_s": ("requests/s", "higher"),
    "goodput_per_s": ("requests/s", "higher"), "read_write_requests_per_s": ("requests/s", "higher"),
    "read_queries_per_s": ("queries/s", "higher"), "write_queries_per_s": ("queries/s", "higher"),
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


@dataclass(frozen=True)
class Series:
    """Evenly spaced samples; None is a gap. `t0_s`: where the first interval begins."""

    name: str
    unit: str
    interval_s: float
    values: tuple[float | None, ...]
    t0_s: float = 0.0

    @property
    def points(self) -> int:
        return len(self.values)


# What tools call a DBMS -> its slug in the catalogue, where the two differ; and those that are told by their slug.
_CALLED = {
    "postgres": "postgresql", "pg": "postgresql", "sqlserver": "mssql", "sql server": "mssql", "mssqlserver": "mssql",
    "sqlazure": "mssql", "memsql": "singlestore", "firebirdsql": "firebird",
}  # fmt: skip
_SLUGS = frozenset({
    "cockroachdb", "cubrid", "db2", "derby", "firebird", "h2", "hsqldb", "hstore", "mariadb", "monetdb", "mssql",
    "mysql", "noisepage", "nuodb", "oracle", "phoenix", "postgresql", "redis", "singlestore", "spanner", "sqlite",
    "tidb", "timesten", "trafodion", "yugabyte",
})  # fmt: skip


def dbms_called(name: str) -> str:
    """The slug of a DBMS by what a tool calls it; empty where nobody calls one so."""
    low = name.strip().lower()
    return _CALLED.get(low, low if low in _SLUGS else "")


# Where a server is, who asks it, what is shown of a run and kept of it: another word there makes no other run.
_NO_FACTOR = re.compile(
    r"(?:^|[._-])(?:hosts?|ports?|addr|address|servers?|user|username|uid|superuser|owner|socket|ur[li]s?|dsn|dbase|dbname|database"
    r"|schema|db|password|help|version|verbos(?:e|ity)|debug|quiet|silen(?:t|ce)|logs?|output|export\w*|report|status)(?:$|[._-])"
)


def further(options: Mapping[str, str], known: Collection[str], left_out: Collection[str] = ()) -> dict[str, Scalar]:
    """What is set besides what an importer knows, under its own name: no factor that a tool prints is lost.

    `left_out`: what says only how the run is told of. Addresses, names of users and secrets are never taken.
    """
    told: dict[str, Scalar] = {}
    for option, text in options.items():
        name, value = slug(option), text.strip()
        if option in known or option in left_out or not name or len(value) > MAX_FACTOR:
            continue
        if not (_NO_FACTOR.search(option.lower()) or names_a_secret(option) or "://" in value):
            is_decimal = re.fullmatch(r"\d{1,12}\.\d{1,12}", value)
            told[name] = float(value) if is_decimal else whole_or_text(value) if value else True
    return told


def options_of(commands: Sequence[str], names: Mapping[str, str]) -> dict[str, Scalar]:
    """What the last command line says with options of these names: `-c 4`, `-c4`, `--clients 4`, `--clients=4`."""
    words, told = words_of(commands[-1], "|><&;") if commands else [], dict[str, Scalar]()
    for word, following in zip(words, [*words[1:], ""], strict=False):
        option, separator, value = word.partition("=")
        if option not in names and word[2:].isdecimal():
            option, separator, value = word[:2], word[2:], word[2:]
        given = value if separator else following
        # A placeholder is no value.
        if option in names and given and not given.startswith("$"):
            told[names[option]] = whole_or_text(given)
    return told


MAX_FACTOR = 200


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


@dataclass(frozen=True)
class Report:
    """One run as a file tells it.

    `parameters` are what the tool was told (scale_factor, terminals, duration_s, …); they become factors.
    `part_of` names the file whose report includes this one's content (per-thread logs are summed there).
    `histogram` is HdrHistogram V2, compressed, base64; empty where there is none. `latency_map`: how many transactions
    took how long, interval by interval (`benchagent.latency_map`).
    """

    tool: str
    status: Status
    tool_version: str = ""
    parameters: dict[str, Scalar] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    series: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    # Why it is aborted, failed or not understood.
    reason: str = ""
    subject: Subject = Subject()
    started_at: str = ""
    command_lines: tuple[str, ...] = ()
    histogram: str = ""
    latency_map: dict[str, Any] = field(default_factory=dict)
    part_of: str = ""

    def __post_init__(self) -> None:
        """Whoever builds a report, no secret gets into its texts, no warning stands in it twice, and one of a run whose
        transactions failed is that of a failed run, whatever the tool says."""
        safe: dict[str, Any] = {"reason": redact_text(self.reason)}
        whole = {metric.name: metric.value for metric in self.metrics if metric.phase == "run"}
        if self.status is Status.COMPLETE and (why := too_many_failed(whole)):
            safe |= {"status": Status.FAILED, "reason": why}
        for name in ("warnings", "command_lines"):
            safe[name] = tuple(dict.fromkeys(map(redact_text, getattr(self, name))))
        safe["parameters"] = {
            name: redact_text(value) if isinstance(value, str) else value for name, value in self.parameters.items()
        }
        for name, value in safe.items():
            object.__setattr__(self, name, value)

    def metric(self, name: str) -> float | None:
        return next((metric.value for metric in self.metrics if metric.name == name), None)


# A file with its runs.
ReadFile = tuple[SourceFile, list[Report]]


# What to do where a reason does not say it itself: of a file of no tool, and of one that is damaged.
_OF_NO_TOOL = "; send what the tool itself printed, or a table with headings, whose columns you name"
_DAMAGED = "; send it as the tool wrote it, or without what is named here"
_SAYS_IT = re.compile(r"; send |send (?:one|the|parts)|mapping|let it print|into a folder")


def not_understood(reason: str, *, tool: str = "", warnings: Sequence[str] = ()) -> Report:
    """A refusal says the way out."""
    way_out = "" if _SAYS_IT.search(reason) else _DAMAGED if tool else _OF_NO_TOOL
    return Report(tool=tool, status=Status.NOT_UNDERSTOOD, reason=f"{reason}{way_out}", warnings=tuple(warnings))


def as_part_of(report: Report, file: SourceFile) -> Report:
    """The report of a file whose numbers and warnings are in another's."""
    return replace(report, metrics=(), series=(), warnings=(), histogram="", latency_map={}, part_of=file.name)


_BESIDE = ("latency_p99_ms", "latency_p95_ms", "latency_avg_ms")
MAX_HEADLINE = 3
# Of one file, and of one import.
MAX_REPORTS = 20_000


def check_count(reports: int) -> None:
    """Raises NotUnderstood for more runs than are read at once."""
    if reports > MAX_REPORTS:
        raise NotUnderstood(f"more than {MAX_REPORTS:,} runs; send parts of it")


def headline(metrics: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The figures that tell an item of `as_json` in one line: its rate, its latency; else what it told first."""
    told = [metric for metric in metrics if metric["value"]]
    first = next((metric for metric in told if metric["name"] == "tps"), told[0] if told else None)
    if first is None:
        return []
    beside = [metric for name in _BESIDE for metric in told if metric["name"] == name and metric != first][:1]
    more = [metric for metric in told if metric not in (first, *beside) and "latency" not in metric["name"]]
    return [first, *beside, *([] if beside else more)][:MAX_HEADLINE]


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
        },
        "started_at": report.started_at or None,
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


def becomes_a_run(item: Item, said: Mapping[str, Any]) -> bool:
    """Understood, whole in itself, with something measured or a reason why not, not left out."""
    if item["status"] == "not_understood" or item["part_of"] or item.get("index") in said.get("leave_out", []):
        return False
    return bool(item["metrics"] or item["series"]) or item["status"] in ("aborted", "failed")


def dbms_of(known: Subject, tool: str, tool_version: str, said: Mapping[str, Any]) -> tuple[str, str]:
    """Name and version: the file's own words first, then what a person says; empty where neither tells.

    A storage benchmark knows no DBMS: it stands under the tool's own name.
    """
    if known.workload.startswith("fio"):
        return tool, tool_version or "not stated"
    given = said.get("dbms") or {}
    name = known.dbms or str(given.get("name", ""))
    # A version belongs to the DBMS that it was said of.
    of_this = str(given.get("name", "")).casefold() in ("", name.casefold())
    return name, known.dbms_version or (str(given.get("version", "")) if of_this else "")


def lacks(items: Iterable[Item], said: Mapping[str, Any]) -> dict[str, list[str]]:
    """field -> what has to be said before these items can be stored; empty when nothing is missing."""
    missing = {"items"}
    for item in items:
        if not becomes_a_run(item, said):
            continue
        told = item["subject"]
        known = Subject(told["workload"] or "", dbms=told["dbms"] or "", dbms_version=told["dbms_version"] or "")
        name, version = dbms_of(known, item.get("tool") or "", item.get("tool_version") or "", said)
        known_or_said = {
            "hardware": "hardware" in said,
            "dbms.name": name,
            "dbms.version": version,
            "workload": known.workload or "workload" in said,
        }
        missing = (missing - {"items"}) | {field for field, value in known_or_said.items() if not value}
    return {field: [words] for field, words in _WORDS.items() if field in missing}


def rising(told: Mapping[str, Any], *names: str) -> None:
    """Raises NotUnderstood where percentiles do not rise in the order of their names; those that are missing may be."""
    known = [(name, told[name]) for name in names if told.get(name) is not None]
    for (low, before), (high, after) in itertools.pairwise(known):
        if after < before:
            raise NotUnderstood(f"{high} = {after:g} is below {low} = {before:g}")


@dataclass(frozen=True)
class Sample:
    """What a tool printed of one interval; a figure is None where it had nothing to divide by."""

    line: int
    time_s: float
    values: dict[str, float | None]


class Samples(Sequence[Sample]):
    """Held as columns, at eight bytes a figure: a run of a day prints one a second."""

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self.lines, self.times_s = array("L"), array("d")
        self._columns: dict[str, array[float]] = {}
        for sample in samples:
            self.append(sample)

    def append(self, sample: Sample) -> None:
        if len(self) >= MAX_PRINTED:
            raise NotUnderstood(f"more than {MAX_PRINTED:,} samples")
        for name in sample.values:
            if name not in self._columns:
                self._columns[name] = array("d", [_MISSING]) * len(self.times_s)
        self.lines.append(sample.line)
        self.times_s.append(sample.time_s)
        for name, column in self._columns.items():
            value = sample.values.get(name, _MISSING)
            column.append(math.nan if value is None else value)

    def column(self, name: str) -> list[float | None] | None:
        """One figure of each sample; None where one of them lacks it."""
        column = self._columns.get(name, ())
        return None if len(column) < len(self) or _MISSING in column else self.told(name)

    def told(self, name: str) -> list[float | None]:
        """One figure of each sample, None also where one of them lacks it."""
        return [value if value > _MISSING else None for value in self._columns.get(name, ())]

    @property
    def names(self) -> list[str]:
        return [*self._columns]

    def __len__(self) -> int:
        return len(self.times_s)

    @overload
    def __getitem__(self, at: int) -> Sample: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Sample]: ...
    def __getitem__(self, at: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(at, slice):
            return Samples(self[each] for each in range(*at.indices(len(self))))
        told = ((name, column[at]) for name, column in self._columns.items())
        values = {name: None if math.isnan(value) else value for name, value in told if value != _MISSING}
        return Sample(self.lines[at], self.times_s[at], values)


_MISSING = -math.inf
# Of one run, as text: more than a week has seconds.
MAX_PRINTED = 700_000

# Samples on the grid of their interval; a missing one is a gap.

MAX_SAMPLES = 10_000_000
# Missing samples for each that is there.
MAX_GAPS = 20
MAX_SECONDS = 7 * 24 * 3600
Grid = tuple[float, float, tuple[float | None, ...]]


@dataclass(frozen=True)
class Spots:
    """Where samples lie on the grid of their interval, which begins at `t0_s`: the number of each one's interval."""

    t0_s: float
    interval_s: float
    positions: array[int]

    def values(self, values: Iterable[float | None]) -> tuple[float | None, ...]:
        """One for each interval: None where no sample is of it."""
        given = tuple(values)
        if len(given) != len(self.positions):
            raise ValueError("as many values as times are expected")
        if not given or len(given) == self.positions[-1] + 1:
            return given
        grid: list[float | None] = [None] * (self.positions[-1] + 1)
        for position, value in zip(self.positions, given, strict=True):
            grid[position] = value
        return tuple(grid)


def spots(
    times_s: Sequence[float], *, tolerance: float = 0.25, interval_s: float | None = None, longest: int = MAX_SAMPLES
) -> Spots:
    """Where samples lie that are stamped with the end of their interval, which is the usual step unless it is given.

    Raises NotUnderstood when the times do not rise, repeat, or lie on no grid (within `tolerance` of an interval).
    """
    if len(times_s) < 2 and interval_s is None:
        interval = times_s[0] if times_s and times_s[0] > 0 else 1.0
        return Spots((times_s[0] - interval if times_s else 0.0), interval, array("q", range(len(times_s))))
    steps = array("d", map(operator.sub, itertools.islice(times_s, 1, None), times_s))
    least = min(steps, default=1.0)
    if least <= 0:
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    interval = interval_s or sorted(steps)[len(steps) // 2]
    # Two lines a year apart are no series: a small file would become a large one.
    longest = min(longest, MAX_GAPS * len(times_s) + 3600)
    if least == max(steps, default=1.0) == interval and len(times_s) <= longest:
        return Spots(times_s[0] - interval, interval, array("q", range(len(times_s))))
    first_s, last, positions = times_s[0], -1, array("q")
    for time_s in times_s:
        exact = (time_s - first_s) / interval
        position = round(exact)
        if abs(exact - position) > tolerance or position <= last or position > longest:
            raise NotUnderstood(f"the sample at {time_s:g} s does not lie on a grid of {interval:g} s")
        positions.append(position)
        last = position
    return Spots(first_s - interval, interval, positions)


def evenly(
    times_s: Sequence[float],
    values: Iterable[float | None],
    *,
    tolerance: float = 0.25,
    interval_s: float | None = None,
    longest: int = MAX_SAMPLES,
) -> Grid:
    """Samples as `spots` says -> (t0_s, interval_s, values), missing intervals as None."""
    grid = spots(times_s, tolerance=tolerance, interval_s=interval_s, longest=longest)
    return grid.t0_s, grid.interval_s, grid.values(values)


def sampled(
    times_s: Sequence[float], columns: Mapping[str, Sequence[float | None]], interval_s: float
) -> tuple[Series, ...]:
    """A series of each column, which is called as its metric."""
    grids = {name: evenly(times_s, values, interval_s=interval_s) for name, values in columns.items()}
    return tuple(Series(name, unit_of(name)[0], interval_s, grid, t0_s) for name, (t0_s, _, grid) in grids.items())
