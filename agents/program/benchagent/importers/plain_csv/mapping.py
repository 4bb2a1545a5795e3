"""What the columns of a table mean, as its headings tell or as somebody says."""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as JsonObject
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from benchagent.catalog import METRICS
from benchagent.importers.plain_csv.table import CsvTable, Number, is_day, moment_of, needed, seconds
from benchagent.importers.report import dbms_called, unit_of
from benchagent.importers.series import grid_of
from benchagent.importers.source import NotUnderstood, SourceFile, is_number, slug


class Role(StrEnum):
    # A number that was measured: becomes a metric, or a series where rows are samples.
    METRIC = "metric"
    # What was set for the run: becomes a parameter.
    FACTOR = "factor"
    # When a sample's interval ended.
    TIME = "time"
    # Which repeat of the same factors a row is; kept apart so that it does not become a factor.
    REPEAT = "repeat"
    DBMS = "dbms"
    DBMS_VERSION = "dbms_version"
    WORKLOAD = "workload"
    STARTED_AT = "started_at"
    # What was tested: orders a history, and is no factor.
    COMMIT = "commit"
    BRANCH = "branch"
    # Whether a run came to its end.
    STATUS = "status"
    # Why a run counts nowhere; empty where it does.
    INVALID = "invalid"
    # On which machine it was measured, and who may see it.
    HARDWARE = "hardware"
    VISIBILITY = "visibility"
    IGNORE = "ignore"


class Rows(StrEnum):
    # One run a row.
    RUNS = "runs"
    # All rows are samples of one run, in the order of time.
    SAMPLES = "samples"


@dataclass(frozen=True)
class Column:
    """`heading` as in the file; `name` and `unit` in the catalogue's words (tps/TPS, latency_p95_ms/ms).

    `scale` turns the printed number into that unit: 0.001 for microseconds of a metric in ms. For a time it gives
    seconds. `compared_as`: what a factor is to a comparison (question, condition, procedure); empty where nobody says.
    `phase` of a metric that is not the mapping's.
    """

    heading: str
    role: Role
    name: str = ""
    unit: str = ""
    scale: float = 1.0
    better: str | None = None
    compared_as: str = ""
    phase: str = ""

    def scaled(self, value: Number) -> Number:
        return value if value is None or self.scale == 1 else round(value * self.scale, 12)


@dataclass(frozen=True)
class Mapping:
    """Columns by heading; a heading that is not listed is ignored."""

    columns: tuple[Column, ...]
    rows: Rows = Rows.RUNS
    phase: str = "run"
    workload: str = ""

    def of(self, role: Role) -> list[Column]:
        return [column for column in self.columns if column.role is role]

    def as_json(self) -> dict[str, Any]:
        columns = [{**vars(column), "role": column.role.value} for column in self.columns]
        return {"rows": self.rows.value, "phase": self.phase, "workload": self.workload, "columns": columns}


# Heading in plain words -> name; its unit and direction follow from it.
_METRICS = {
    "tps": "tps", "transactions/s": "tps", "tx/s": "tps", "throughput tx/s": "tps", "throughput tps": "tps",
    "txn/s": "tps", "qps": "qps", "queries/s": "qps", "ops/s": "ops_per_s", "operations per second": "ops_per_s",
    "requests/s": "requests_per_s", "nopm": "nopm", "tpm": "tpm", "tpmc": "tpmc", "iops": "iops",
    "read iops": "read_iops", "write iops": "write_iops", "transactions": "transactions", "queries": "queries",
    "errors": "errors", "errors/s": "errors_per_s", "retries": "retries", "reconnects": "reconnects",
    "failed transactions": "failed_transactions", "load s": "load_s", "load time s": "load_s",
}  # fmt: skip
_FACTORS = {
    "threads": "terminals", "clients": "terminals", "terminals": "terminals", "connections": "terminals",
    "num threads": "terminals", "thread count": "terminals", "concurrency": "terminals", "vus": "terminals",
    "virtual users": "terminals", "users": "terminals", "scale": "scale_factor", "scale factor": "scale_factor",
    "scalefactor": "scale_factor",
    "sf": "scale_factor", "warehouses": "warehouses", "tables": "tables", "table size": "table_size_rows",
    "table size rows": "table_size_rows", "rows per table": "table_size_rows", "duration s": "duration_s",
    "duration seconds": "duration_s", "warm up s": "warm_up_s", "warmup s": "warm_up_s", "ramp up s": "ramp_up_s",
    "isolation": "isolation", "query mode": "query_mode", "script": "script",
}  # fmt: skip
# Seconds of one unit. "elapsed_s" is left out: it may be the time of a sample or the length of a run.
_TIMES = {
    "second": 1.0, "seconds": 1.0, "sec": 1.0, "time": 1.0, "time s": 1.0, "time sec": 1.0, "time seconds": 1.0,
    "t s": 1.0, "time ms": 0.001, "minute": 60.0, "minutes": 60.0, "time min": 60.0,
}  # fmt: skip
# When a run began, however close together.
_BEGINS = frozenset({"started", "started at", "start time", "measured", "measured on", "measured at", "run date"})
_STAMPS = _BEGINS | {"timestamp", "datetime", "date", "datum", "date time", "start", "time", "when"}
# Rows further apart are runs of a history, not samples of one run.
_HISTORY_S = 3600.0
_PROSE = frozenset({"note", "notes", "comment", "comments", "description", "remark", "remarks"})
_TEXTS = {
    "dbms": Role.DBMS, "database": Role.DBMS, "engine": Role.DBMS, "dbms version": Role.DBMS_VERSION,
    "db version": Role.DBMS_VERSION, "database version": Role.DBMS_VERSION, "version": Role.DBMS_VERSION,
    "server version": Role.DBMS_VERSION, "workload": Role.WORKLOAD, "hardware": Role.HARDWARE,
    "machine": Role.HARDWARE,
    "status": Role.STATUS, "repeat": Role.REPEAT, "run": Role.REPEAT, "iteration": Role.REPEAT,
    "trial": Role.REPEAT, "repetition": Role.REPEAT,
    "commit": Role.COMMIT, "commit id": Role.COMMIT, "commit hash": Role.COMMIT, "sha": Role.COMMIT,
    "git sha": Role.COMMIT, "git commit": Role.COMMIT, "branch": Role.BRANCH, "git branch": Role.BRANCH,
}  # fmt: skip
_LATENCY = re.compile(
    r"^(?=.*\b(?:latency|latenz|lat|response time)\b|p\d|\d+th)(?:latency|latenz|lat|response time|\s)*"
    r"(?P<what>avg|average|mean|min|max|stddev|median|p ?\d+(?:\.\d+)?|\d+(?:\.\d+)?(?:th|st|nd|rd)?(?: percentile|%)?)"
    r"(?:latency|latenz|lat|response time|\s)* (?P<unit>ms|us|µs|ns|s)$"
)
_TO_MS = {"ms": 1.0, "us": 0.001, "µs": 0.001, "ns": 1e-6, "s": 1000.0}
_WITH_UNIT = re.compile(r"^[+-]?[\d.,' ]*\d\s?[A-Za-z%µ/]{0,5}$")
# A day of which nobody says whether the month comes first.
_DAY = re.compile(r"\d{1,2}([/-])\d{1,2}\1\d{4}\b")
# A time of day with a zone behind it, by name.
_ZONED = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d[\d:.]* ?(?P<zone>[A-Za-z][\w/+-]*)")


def plain(heading: str) -> str:
    """A heading in small letters and single blanks: "Latency_p95 (ms)" -> "latency p95 ms"."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", heading.strip()).lower()
    text = re.sub(r"[_()\[\],:-]+", " ", text)
    text = re.sub(r"\b(transactions|queries|ops|requests|errors)(?:/| per )s(?:ec|econd)?\b", r"\1/s", text)
    for unit, written in (("ms", "milli"), ("us", "micro"), ("ns", "nano")):
        text = re.sub(rf"\b{written}sec(?:ond)?s?\b", unit, text)
    return re.sub(r"\s+", " ", text).strip()


def propose(file: SourceFile) -> Mapping:
    """What the headings say; unknown columns are ignored. Raises NotUnderstood for what is no table."""
    table = needed(file)
    if _OWN.issubset(table.headings):
        kept = itertools.takewhile(_LAST_KEPT.__ne__, table.headings)
        figures = {*table.headings} - {*kept, _LAST_KEPT}
        of_own = (_of_own(heading, is_figure=heading in figures) for heading in table.headings)
        return Mapping(tuple(filter(None, of_own)))
    time_heading = _time_heading(table)
    columns = tuple(_proposed(table, heading, time_heading) for heading in table.headings)
    return Mapping(columns, Rows.RUNS if time_heading is None else Rows.SAMPLES)


# Columns that only our own list of runs has, and what becomes of its others; those not named say how a run is kept.
_OWN = frozenset({"workload_version", "cell_key", "missing_reason"})
# Factors and figures stand behind it.
_LAST_KEPT = "measured_at_precision"
# `measured_at` is the day of storing where no other is known.
_OWN_ROLES = {name: role for name, role in _TEXTS.items() if role is not Role.REPEAT} | {
    **dict.fromkeys(("started at", "measured on"), Role.STARTED_AT),
    **dict.fromkeys(("architecture", "config", "durability", "build", "dbms build"), Role.FACTOR),
    "visibility": Role.VISIBILITY, "invalid reason": Role.INVALID,
}  # fmt: skip
# `backup.elapsed_s [s]`: phase, name and unit.
_OWN_METRIC = re.compile(r"(?:(?P<phase>[^.\[\]]{1,20})\.)?(?P<name>\w+)(?: \[(?P<unit>.+)\])?")


def _of_own(heading: str, *, is_figure: bool) -> Column | None:
    factor = heading.removeprefix("factor.")
    if is_figure and factor == heading and (own := _OWN_METRIC.fullmatch(heading)):
        better = None
        with suppress(KeyError):
            better = unit_of(own["name"])[1]
        return Column(heading, Role.METRIC, own["name"], own["unit"] or "", better=better, phase=own["phase"] or "")
    role = Role.FACTOR if factor != heading else _OWN_ROLES.get(plain(heading))
    return Column(heading, role, factor if role is Role.FACTOR else "") if role else None


# What tools call their columns, by the headings that tell them: JMeter's aggregate report, whose times are
# milliseconds, ClickBench's, whose times are seconds, and BenchBase's rate.
_SHAPES: tuple[tuple[set[str], dict[str, str]], ...] = (
    ({"# samples", "throughput"}, {
        "# samples": "requests", "average": "latency_avg_ms", "median": "latency_p50_ms", "90% line": "latency_p90_ms",
        "95% line": "latency_p95_ms", "99% line": "latency_p99_ms", "min": "latency_min_ms", "max": "latency_max_ms",
        "throughput": "requests_per_s", "std. dev.": "latency_stddev_ms",
    }),
    ({"system", "query", "time"}, {"time": "time_s", "load time": "load_s", "data size": "data_size_bytes"}),
    ({"throughput requests/s"}, {"throughput requests/s": "tps"}),
)  # fmt: skip
_VALUES = frozenset({"value", "result", "score", "measurement", "metric value", "measured"})
_ENDS_IN_RATE = re.compile(
    r".*\b(?P<what>req|requests|tx|trx|txn|txns|transactions|q|queries|op|ops|operations)/s(?:ec)?"
)
# The unit of a rate at the end of a heading: its metric, and how many of it are one.
_UNIT_OF_RATE = {
    **{unit: (unit, 1.0) for unit in ("tps", "qps", "iops", "nopm", "tpm", "tpmc")},
    "ktps": ("tps", 1000.0), "kqps": ("qps", 1000.0), "kiops": ("iops", 1000.0),
}  # fmt: skip
_RATES = {"r": "requests_per_s", "t": "tps", "q": "qps", "o": "ops_per_s"}
_ENDS_IN_BYTES = re.compile(
    r"(?:(?P<what>.+?) )?(?P<power>[kmg])(?P<of>i?)b(?:yte)?s?(?:/s(?:ec)?| per s(?:ec|econd)?)"
)
_ENDS_IN_TIME = re.compile(r"(?P<what>.+?) (?P<unit>ms|us|µs|ns|s|sec|seconds)")


def guess(file: SourceFile) -> Mapping:
    """As `propose`, and for every other column of numbers what it may be: for a person to look at, never to read by.

    Whole numbers that come again and again were set, others were measured; a column called value was measured, and
    what stands beside it tells the rows apart.
    """
    table, mapping = needed(file), propose(file)
    known = {column.name for column in mapping.columns}
    headings = {plain(heading) for heading in table.headings}
    names = {heading: name for needs, of_tool in _SHAPES if needs <= headings for heading, name in of_tool.items()}
    has_values = any(plain(heading) in _VALUES for heading in table.headings)
    columns: list[Column] = []
    for proposed in mapping.columns:
        column, words, cells = proposed, plain(proposed.heading), table.column(proposed.heading)
        if proposed.role is Role.IGNORE and cells.is_numeric and words not in _PROSE:
            guessed = _guessed(table, proposed.heading, names, has_values=has_values)
            column = proposed if guessed.name in known else guessed
            known.add(guessed.name)
        elif words == "system" and "time" in names:
            column = Column(proposed.heading, Role.DBMS)
        # All of it are names of DBMSs, and no other column is called so.
        elif proposed.role is Role.FACTOR and not mapping.of(Role.DBMS) and (called := {*cells.stated}):
            column = Column(proposed.heading, Role.DBMS) if all(map(dbms_called, called)) else proposed
        columns.append(column)
    return replace(mapping, columns=tuple(columns))


def _rate(heading: str, words: str) -> Column | None:
    if rate := _ENDS_IN_RATE.fullmatch(words):
        return _metric(heading, _RATES[rate["what"][0]])
    if volume := _ENDS_IN_BYTES.fullmatch(words):
        name = "_".join(filter(None, (slug(volume["what"] or ""), "mb_per_s")))
        scale = (1024.0 if volume["of"] else 1000.0) ** (1 + "kmg".index(volume["power"])) / 1e6
        return replace(_of_catalogue(heading, name) or _metric(heading, name), scale=scale)
    name, scale = _UNIT_OF_RATE.get(words.rpartition(" ")[2], ("", 1.0))
    return replace(_metric(heading, name), scale=scale) if name else None


def _guessed(table: CsvTable, heading: str, names: JsonObject[str, str], *, has_values: bool) -> Column:
    words = plain(heading)
    if name := names.get(words):
        return _metric(heading, name)
    if words in _VALUES:
        return Column(heading, Role.METRIC, slug(words))
    if rate := _rate(heading, words):
        return rate
    if timed := _ENDS_IN_TIME.fullmatch(words):
        unit = {"sec": "s", "seconds": "s"}.get(timed["unit"], timed["unit"])
        if (in_seconds := f"{slug(timed['what'])}_s") in METRICS:
            return Column(heading, Role.METRIC, in_seconds, "s", _TO_MS[unit] / 1000, METRICS[in_seconds].better)
        return Column(heading, Role.METRIC, f"{slug(timed['what'])}_ms", "ms", _TO_MS[unit], "lower")
    cells = [*table.column(heading).stated]
    was_set = all(cell.isdecimal() for cell in cells) and len({*cells}) <= max(2, len(cells) // 2)
    name = slug(words, longest=60) or "column"
    return Column(heading, Role.FACTOR if has_values or was_set else Role.METRIC, name)


def proposed_without_doubt(file: SourceFile) -> Mapping:
    """Raises NotUnderstood naming the columns of numbers that nobody can tell the meaning of."""
    table, mapping = needed(file), propose(file)
    doubtful = [
        column.heading
        for column in mapping.columns
        if column.role is Role.IGNORE
        and plain(column.heading) not in _PROSE
        and any(_looks_numeric(cell) or _is_dated(cell) for cell in table.column(column.heading))
    ]
    if any(column.role is Role.METRIC for column in mapping.columns):
        names = [each.phase + each.name for each in mapping.columns if each.role in (Role.METRIC, Role.FACTOR)]
        doubtful += [each.heading for each in mapping.columns if names.count(each.phase + each.name) > 1]
    elif not doubtful:
        doubtful = [*table.headings]
    if doubtful:
        named = ", ".join(_doubt(table, heading) for heading in doubtful)
        raise NotUnderstood(f"a table that needs a mapping of its columns; not recognised without doubt: {named}")
    return mapping


def _doubt(table: CsvTable, heading: str) -> str:
    """The column, with what stands in it where that is why."""
    cells = table.column(heading).shown
    bad = next((cell for cell in cells if not is_number(cell)), "")
    if not cells:
        return f"{heading!r} (no cell of it holds a value)"
    if _DAY.match(bad):
        return f"{heading!r} (a day is written as 2026-05-04, not {bad[:10]!r})"
    if (zoned := _ZONED.fullmatch(bad)) and not moment_of(bad):
        return f"{heading!r} (a zone is written as +01:00, not {zoned['zone'][:40]!r})"
    if all(map(moment_of, cells)):
        return f"{heading!r} (times of runs, or of the samples of one run)"
    is_why = bad and (bad[0].isdigit() or any(map(_looks_numeric, cells)))
    return f"{heading!r} ({bad[:40]!r} is no plain number)" if is_why else repr(heading)


def _is_dated(cell: str) -> bool:
    return bool(moment_of(cell) or _ZONED.fullmatch(cell))


def _looks_numeric(cell: str) -> bool:
    return is_number(cell) or bool(_WITH_UNIT.match(cell) or _DAY.match(cell))


def _time_heading(table: CsvTable) -> str | None:
    """The column of time of samples: its values rise evenly, and nothing that is set for a run changes."""
    if len(table.lines) < 3:
        return None
    for heading in table.headings:
        words = plain(heading)
        if words in _TIMES or words in _STAMPS - _BEGINS:
            times = array("d")
            try:
                times.extend(table.numbers(heading, seconds))
                grid_of(times)
            except NotUnderstood:
                continue
            is_history = words in _STAMPS and max(_steps(times)) >= _HISTORY_S
            if _alone(table, heading) and not is_history:
                return heading
    return None


def _alone(table: CsvTable, heading: str) -> bool:
    """Whether nothing else that tells runs apart changes from row to row."""
    others = [other for other in table.headings if other != heading and _is_set(table, other)]
    return all(table.column(other).is_constant for other in others)


def _steps(times: Iterable[float]) -> Iterator[float]:
    return (later - earlier for earlier, later in itertools.pairwise(times))


def _may_be_samples(table: CsvTable, heading: str) -> bool:
    """Whether stamps may be those of samples that follow no interval: close together, and nothing else changes."""
    if plain(heading) in _BEGINS or all(map(is_day, table.column(heading).stated)):
        return False
    try:
        steps = sorted(_steps(sorted(table.numbers(heading, seconds))))
    except NotUnderstood:
        return False
    if not steps:
        return not any(_is_set(table, other) for other in table.headings if other != heading)
    return _alone(table, heading) and steps[len(steps) // 2] < _HISTORY_S


def _is_set(table: CsvTable, heading: str) -> bool:
    words = plain(heading)
    return words in _FACTORS or words in _TEXTS or not table.column(heading).is_numeric


def _proposed(table: CsvTable, heading: str, time_heading: str | None) -> Column:
    words = plain(heading)
    if heading == time_heading:
        return Column(heading, Role.TIME, "time_s", "s", _TIMES.get(words, 1.0))
    role, name, cells = _TEXTS.get(words), _METRICS.get(words), table.column(heading)
    if role is not None and (role is not Role.REPEAT or cells.is_numeric):
        return Column(heading, role)
    if words in _FACTORS:
        return Column(heading, Role.FACTOR, _FACTORS[words])
    measured = _metric(heading, name) if name else _latency(heading, words) or _of_catalogue(heading, words)
    # What is no number in a column of numbers is an exception, which takes its own row only.
    if cells.is_numeric or (measured and 2 * sum(map(is_number, cells.shown)) > len(cells.shown)):
        return measured or Column(heading, Role.IGNORE)
    if words in _STAMPS and next(cells.stated, None) and all(map(_is_dated, cells.stated)):
        is_in_doubt = not all(map(moment_of, cells.stated)) or _may_be_samples(table, heading)
        return Column(heading, Role.IGNORE if is_in_doubt else Role.STARTED_AT)
    is_prose = words in _PROSE or not cells.shown or any(map(_looks_numeric, cells.stated))
    name = re.sub(r"\W+", "_", words).strip("_") or "factor"
    return Column(heading, Role.IGNORE) if is_prose else Column(heading, Role.FACTOR, name)


def _metric(heading: str, name: str) -> Column:
    unit, better = unit_of(name)
    return Column(heading, Role.METRIC, name, unit, better=better)


def _of_catalogue(heading: str, words: str) -> Column | None:
    """`backup_s`, or "Backup (s)", is the metric that the catalogue calls so."""
    if metric := METRICS.get(words.replace(" ", "_")):
        return Column(heading, Role.METRIC, metric.name, metric.unit, better=metric.better)
    return None


def _latency(heading: str, words: str) -> Column | None:
    match = _LATENCY.match(words)
    if match is None:
        return None
    what = match["what"].replace(" ", "")
    suffix = {"average": "avg", "mean": "avg", "median": "p50"}.get(what, what)
    if digits := re.search(r"\d+(?:\.\d+)?", what):
        if not 0 < float(digits[0]) < 100:
            return None
        suffix = "p" + {"99.9": "999", "99.99": "9999"}.get(digits[0], digits[0].replace(".", "_"))
    return Column(heading, Role.METRIC, f"latency_{suffix}_ms", "ms", _TO_MS[match["unit"]], "lower")
