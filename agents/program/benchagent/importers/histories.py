"""What other sites keep of benchmarks over time: results of Conbench, Bencher (BMF), Codespeed and asv, all JSON.

Each value is a run of its commit, dated by the commit where the file tells its date: results of an old commit that
were measured later stand at its place. Nobody names a DBMS there: whoever sends such a file says it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchagent.importers.report import Metric, Report, Scalar, Subject, as_factors, dbms_called, utc
from benchagent.importers.source import NotUnderstood, SourceFile, json_of, number, object_in, once, slug
from benchagent.importers.tables import reports_of

TOOL = "histories"
_MARK = re.compile(r'"(?:stats|result_value|commit_hash|value|machine|param_names)"\s*:')
_OWN_MARK = re.compile(r'"(?:stats|result_value|commit_hash)"\s*:')
# A unit as the sites write it -> as we do, and which direction is better.
_UNITS = {
    "s": ("s", "lower"), "seconds": ("s", "lower"), "sec": ("s", "lower"), "ms": ("ms", "lower"),
    "us": ("us", "lower"), "ns": ("ns", "lower"), "b/s": ("bytes/s", "higher"), "i/s": ("ops/s", "higher"),
    "bytes": ("bytes", "lower"), "tps": ("TPS", "higher"), "ops/s": ("ops/s", "higher"),
}  # fmt: skip
_NAMES = {
    "s": "time_s", "ms": "time_ms", "us": "time_us", "ns": "time_ns", "ops/s": "ops_per_s", "bytes/s": "bytes_per_s",
}  # fmt: skip
_MEASURES = {"latency": "ns", "throughput": "ops/s", "build-time": "s", "file-size": "bytes"}
# How asv names what it measures: of its prefixes the unit.
_ASV_UNITS = {"time": "s", "timeraw": "s", "mem": "bytes", "peakmem": "bytes"}
Row = dict[str, Any]
Reader = Callable[[Row], Iterator[Report]]


@once
def _rows(file: SourceFile) -> tuple[Reader, list[Row]] | None:
    """The results as they came, and who reads one; None for other JSON. Raises NotUnderstood for what is broken."""
    if not file.text.lstrip().startswith(("{", "[")) or _MARK.search(file.text) is None:
        return None
    try:
        content = json_of(file.text)
    except NotUnderstood:
        if _OWN_MARK.search(file.text):
            raise
        return None  # lines of JSON may be somebody else's
    rows = content.get("data", [content]) if isinstance(content, dict) else content
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return None
    for keys, reader in _READERS:
        if all(keys <= row.keys() for row in rows):
            return reader, rows
    named = [each for each in rows[0].values() if isinstance(each, dict)]
    if named and all({"name", "code", "param_names"} <= each.keys() for each in named):
        return _beside_results, rows
    entries = [*content.values()] if isinstance(content, dict) else []
    measures = [measure for each in entries for measure in (each.values() if isinstance(each, dict) else [0])]
    of_bmf = {"value", "lower_value", "upper_value"}
    is_bmf = measures and all(isinstance(each, dict) and {"value"} <= each.keys() <= of_bmf for each in measures)
    return (_bencher, [{name: measures} for name, measures in content.items()]) if is_bmf else None


def claims(file: SourceFile) -> bool:
    return _rows(file) is not None


def read(file: SourceFile) -> Sequence[Report]:
    reader, rows = _rows(file) or (_beside_results, [])
    return reports_of(rows, lambda row: [*reader(row)], TOOL, "no results over time")


def _conbench(row: Row) -> Iterator[Report]:
    """A report a value: what it calls data are the repeats."""
    stats, tags, github, commit = (object_in(row, key) for key in ("stats", "tags", "github", "commit"))
    repository = _text(github.get("repository") or commit.get("repository"))
    branch = _text(github.get("branch") or commit.get("branch"))
    organisation, _, of_organisation = branch.partition(":")
    # Conbench writes apache:main; of the repository's own organisation the branch alone is meant.
    if of_organisation and organisation in repository.split("/")[-2:-1]:
        branch = of_organisation
    tested = _texts(commit=commit.get("sha") or github.get("commit"), branch=branch)
    # Conbench adds the id of the case when it answers.
    parameters = as_factors(
        {name: _text(value) for name, value in tags.items() if name not in ("name", "id") and _text(value)}
    )
    machine = object_in(row, "machine_info") or object_in(row, "hardware")
    date = _date(commit.get("timestamp") or row.get("timestamp"))
    values = [value for value in stats.get("data") or [stats.get("mean")] if value is not None]
    for value in values or [None]:
        metrics = [] if value is None else [_metric(_text(stats.get("unit")), value)]
        name = _text(tags.get("name"))
        yield _report("Conbench", name, metrics, parameters=parameters, tested=tested, date=date, machine=machine)


def _bencher(content: Row) -> Iterator[Report]:
    """Neither date nor commit stand in it."""
    for name, measures in content.items():
        yield _report("Bencher", name, [
            _metric(_MEASURES.get(measure, ""), row["value"], name=slug(measure)) for measure, row in measures.items()
        ])  # fmt: skip


def _codespeed(row: Row) -> Iterator[Report]:
    better = "higher" if row.get("lessisbetter") in (False, "False", "false") else "lower"
    metric = _metric(row.get("units") or "seconds", row["result_value"], better=better)
    yield _report(
        "Codespeed", _text(row["benchmark"]), [metric],
        parameters={"executable": str(row["executable"])} if row.get("executable") else {},
        tested=_texts(commit=row["commitid"], branch="" if row.get("branch") == "default" else row.get("branch")),
        date=_date(row.get("revision_date") or row.get("result_date")), machine={"name": row.get("environment")},
        dbms=dbms_called(_text(row.get("project"))),
    )  # fmt: skip


def _asv(content: Row) -> Iterator[Report]:
    """A report a benchmark and combination of its parameters. Each environment makes series of its own."""
    environment = {"environment": _text(content["env_name"])} if content.get("env_name") else {}
    columns = content.get("result_columns") or ["result", "params"]
    tested, date = _texts(commit=content["commit_hash"]), _date(content.get("date"))
    machine = {"name": object_in(content, "params").get("machine")}
    for name, held in object_in(content, "results").items():
        if isinstance(held, list):
            row = dict(zip(columns, held, strict=False))
        else:  # as asv wrote it before it had columns
            row = held if isinstance(held, dict) else {"result": [held]}
        code = {"code": str(row["version"])[:12]} if row.get("version") else {}
        unit = _ASV_UNITS.get(name.rpartition(".")[2].partition("_")[0], "")
        sweeps, results = row.get("params") or [], row.get("result") or []
        if not isinstance(sweeps, list) or not all(isinstance(values, list) for values in [*sweeps, results]):
            raise NotUnderstood(f"{name[:60]}: values that are no list")
        for values, value in zip(itertools.product(*sweeps), results, strict=False):
            is_number = isinstance(value, int | float) and math.isfinite(value)
            parameters = {f"parameter_{at}": str(each) for at, each in enumerate(values, 1)}
            yield _report(
                "asv", name, [_metric(unit, value)] if is_number else [],
                parameters=parameters | environment | code, tested=tested, date=date, machine=machine,
            )  # fmt: skip


def _beside_results(_: Row) -> Iterator[Report]:
    """What asv knows of the machine, and of every benchmark."""
    yield Report(TOOL, tool_version="asv", warnings=("what asv keeps beside its results: not a result by itself",))


# The keys by which the results of a site are known; those of Bencher have none.
_READERS: tuple[tuple[set[str], Reader], ...] = (
    ({"stats", "tags"}, _conbench), ({"commitid", "benchmark", "result_value"}, _codespeed),
    ({"commit_hash", "results", "params"}, _asv), ({"machine", "arch", "cpu", "os", "ram"}, _beside_results),
)  # fmt: skip


def _report(
    site: str, name: str, metrics: Sequence[Metric], *, parameters: Mapping[str, Scalar] | None = None,
    tested: dict[str, str] | None = None, date: str = "", machine: Mapping[str, Any] | None = None, dbms: str = "",
) -> Report:  # fmt: skip
    if not slug(name):
        raise NotUnderstood("a result has no name of its benchmark")
    where = {"machine": str(machine["name"])} if machine and machine.get("name") else {}
    return Report(
        TOOL, tool_version=site, failure="" if metrics else "it has no value",
        parameters={**(parameters or {}), **where}, metrics=tuple(metrics), started_at=date, tested=tested or {},
        subject=Subject(slug(name, "-"), name[:200], dbms),
    )  # fmt: skip


def _metric(unit: Any, value: Any, *, better: str = "", name: str = "") -> Metric:
    value = number(value) if isinstance(value, str) else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotUnderstood(f"{value!r:.40} is no number")
    ours, direction = _UNITS.get(str(unit).lower(), (str(unit) or "value", "none"))
    named = name or _NAMES.get(ours) or slug(ours) or "value"
    return Metric(named, ours[:30], float(value), better=better or direction)


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _texts(**values: Any) -> dict[str, str]:
    return {name: _text(value)[:120] for name, value in values.items() if _text(value)}


def _date(value: Any) -> str:
    """A date in words, or milliseconds since 1970."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
        return utc(value / 1000)
    try:
        stamp = datetime.fromisoformat(_text(value)) if value else None
    except ValueError as error:
        raise NotUnderstood(f"{_text(value)[:40]!r} is no date") from error
    if stamp and len(_text(value)) == len("2026-05-04"):  # no time of day is known
        return stamp.date().isoformat()
    return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).isoformat() if stamp else ""
