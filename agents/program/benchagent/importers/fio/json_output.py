"""JSON and json+, alone, between the lines of other output, and several in one file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchagent.importers.fio.common import ALL_CLIENTS, DIRECTIONS, FSYNC, SIGNAL, Flow, Job, grouped, report
from benchagent.importers.report import Report
from benchagent.importers.source import NotUnderstood, decoded, named_once, number_in, object_in
from benchagent.importers.tables import reports_of

CLAIM = re.compile(r'"fio version"\s*:\s*"fio-')
DOCUMENT = re.compile(r'(?m:^[ \t]*\{\s*"fio version")')
_MESSAGE = re.compile(r"(?m)^fio: (pid=\d+, err=.*|io_u error .*)$")
_OPENING = re.compile(r"(?m)^[ \t]*\{")
_JOB_OPTIONS = re.compile(r'"job options"\s*:\s*(\{[^{}]*\})')
# Percentiles that were not asked for: fio up to 3.1 fills its list of 20 up with them.
_NO_RANK = re.compile(r"0\.0+")
_NS_MS, _US_MS = 1e-6, 1e-3


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """As anywhere, but fio repeats percentiles of rank 0, and options that may be given more than once."""
    asked = [(name, value) for name, value in pairs if not (_NO_RANK.fullmatch(name) and not value)]
    files = [value for name, value in asked if name == "filename" and isinstance(value, str)]
    if len(files) > 1:
        # fio's own way to say it in one option.
        asked = [*((name, value) for name, value in asked if name != "filename"), ("filename", ":".join(files))]
    return named_once(asked)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs)


class _Document(NamedTuple):
    """A run's document as it stands there, and what it holds, or why it cannot be read."""

    text: str
    content: dict[str, Any] | NotUnderstood


def read(text: str) -> list[Report]:
    documents, around = _documents(text)
    signal, messages = SIGNAL.search(around), _MESSAGE.findall(around)

    def reports(document: _Document) -> list[Report]:
        if isinstance(document.content, NotUnderstood):
            raise document.content
        version, ended_by = document.content["fio version"], signal[1] if signal else ""
        groups = grouped(_jobs(document.content))
        return [report(jobs, version=version, signal=ended_by, messages=messages) for jobs in groups]

    return reports_of(documents, reports, "fio")


def _documents(text: str) -> tuple[list[_Document], str]:
    """The documents of fio's runs, and the text around them."""
    documents: list[_Document] = []
    around, at, count = list[str](), 0, 0
    while opening := _OPENING.search(text, at):
        around.append(text[at : opening.end() - 1])
        content: Any
        try:
            content, at = decoded(text, opening.end() - 1, _DECODER)
        except NotUnderstood as error:
            following = DOCUMENT.search(text, opening.end())
            content, at = error, following.start() if following else len(text)
        document = _Document(text[opening.start() : at], content)
        if isinstance(content, NotUnderstood) and not DOCUMENT.match(document.text):
            raise content
        if isinstance(content, NotUnderstood) or (isinstance(content, dict) and "fio version" in content):
            count += 1
            # Of the interim reports of `--status-interval`, totals of the same run so far, the last one is the run's.
            if documents and _continues(documents[-1], document):
                documents.pop()
            # One printed twice is to the moment the same.
            documents += [] if content in [other.content for other in documents] else [document]
    if count != len(CLAIM.findall(text)):
        raise NotUnderstood("a part of the JSON is missing or damaged")
    return documents, "\n".join([*around, text[at:]])


def _continues(earlier: _Document, later: _Document) -> bool:
    """The same jobs, older by as much as the clock went on; a repeat of the run begins at zero again."""
    if isinstance(earlier.content, NotUnderstood):
        return False
    if isinstance(later.content, NotUnderstood):  # nobody knows how old it is
        before, after = ({*_JOB_OPTIONS.findall(document.text)} for document in (earlier, later))
        return bool(before & after) or not (before and after)
    clock = "timestamp_ms" if "timestamp_ms" in later.content else "timestamp"
    ages, ages_after = _ages(earlier.content), _ages(later.content)
    times = [earlier.content.get(clock), later.content.get(clock), *ages.values(), *ages_after.values()]
    if not ages or ages.keys() != ages_after.keys() or not all(isinstance(time, int) for time in times):
        return False
    passed_s = (later.content[clock] - earlier.content[clock]) / (1000 if clock == "timestamp_ms" else 1)
    return passed_s > 0 and all(abs(ages_after[job] - ages[job] - passed_s) <= 1.5 for job in ages)


def _ages(document: Mapping[str, Any]) -> dict[str, Any]:
    jobs = document.get("jobs")
    entries = [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []
    return {f"{number} {job.get('jobname')}": job.get("elapsed") for number, job in enumerate(entries)}


def _jobs(document: Mapping[str, Any]) -> list[Job]:
    entries = document.get("jobs", document.get("client_stats"))
    if not isinstance(document["fio version"], str) or not isinstance(entries, list) or not entries:
        raise NotUnderstood("fio's JSON without jobs")
    everything = [entry for entry in entries if isinstance(entry, dict) and entry.get("jobname") == ALL_CLIENTS]
    return [_job(entry, _options(document, "global options")) for entry in everything or entries]


def _options(content: Mapping[str, Any], key: str) -> dict[str, str]:
    options = object_in(content, key)
    if not all(isinstance(text, str) for text in options.values()):
        raise NotUnderstood("an option that is no text: lines have changed places")
    return options


def _job(entry: Any, options: Mapping[str, str]) -> Job:
    if not isinstance(entry, dict) or not isinstance(entry.get("jobname"), str):
        raise NotUnderstood("a job without a name")
    job = Job(entry["jobname"], options={**options, **_options(entry, "job options")})
    job.group, job.error = _whole(entry, "groupid"), abs(_whole(entry, "error"))
    started = entry.get("job_start")
    job.started_ms = started if isinstance(started, int) and started > 0 else 0
    for direction in DIRECTIONS:
        try:
            if data := object_in(entry, direction):
                _read_flow(data, job, direction)
        except NotUnderstood as error:
            job.leave_out(direction, error)
    sync, what = object_in(entry, "sync"), f"{job.name} sync"
    block = object_in(sync, "lat_ns")
    if count := _number(block, "N"):
        latency, percentiles = _latency(block, _NS_MS), _percentiles(block, _NS_MS, what)
        job.flows[FSYNC] = Flow(ios=int(count), latency=latency, percentiles=percentiles)
        job.flows[FSYNC].check(what)
    if not job.error and not any(direction in entry for direction in DIRECTIONS):
        raise NotUnderstood(f"job {job.name}: neither reads nor writes are told")
    return job


def _whole(content: Mapping[str, Any], key: str) -> int:
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise NotUnderstood(f"{key} is missing or no whole number")
    return value


def _number(data: Mapping[str, Any], key: str) -> float | None:
    value = number_in(data, key)
    if value is not None and value < 0:
        raise NotUnderstood(f"{key} is no number: {value:g}")
    return value


def _read_flow(data: Mapping[str, Any], job: Job, direction: str) -> None:
    what = f"{job.name} {direction}"
    runtime_ms, iops, rate, done = (_number(data, key) for key in ("runtime", "iops", "bw", "io_bytes"))
    if not done:
        if iops or rate:
            raise NotUnderstood(f"{what}: a rate without any bytes")
        return
    if not runtime_ms:
        raise NotUnderstood(f"{what}: bytes without a run time")
    count = _number(data, "total_ios")
    flow = Flow(iops=iops, runtime_s=runtime_ms / 1000, ios=None if count is None else int(count))
    # Before 2.2 IOPS were cut to whole numbers.
    flow.check_rate(what, rel_tol=0.002)
    flow.mb_per_s = _rate(data, done, runtime_ms / 1000, what, job)
    for suffix, scale in (("_ns", _NS_MS), ("", _US_MS)):  # ns since 3.0, us before
        total, completion = (object_in(data, f"{kind}{suffix}") for kind in ("lat", "clat"))
        flow.latency = flow.latency or _latency(total, scale)
        flow.completion = _latency(completion, scale)
        if not flow.includes_completion(rel_tol=0.001, abs_tol=1e-6):
            raise NotUnderstood(f"{what}: the completion latency is longer than the total one")
        for block in (completion, total):
            flow.percentiles = flow.percentiles or _percentiles(block, scale, what)
        flow.check(what)
    job.flows[direction] = flow


def _rate(data: Mapping[str, Any], done: float, runtime_s: float, what: str, job: Job) -> float | None:
    """MB/s. `bw_bytes` is new in 3.0; before, `bw` is KiB/s and `io_bytes` of 2.x are KiB."""
    exact, kib, rate = _number(data, "bw_bytes"), _number(data, "bw"), done / runtime_s
    if exact is None and kib is None:
        return None
    if exact is not None:
        if kib is not None and not math.isclose(exact / 1024, kib, rel_tol=0.002, abs_tol=1.5):
            raise NotUnderstood(f"{what}: bw and bw_bytes contradict each other")
        if math.isclose(exact, rate, rel_tol=0.002, abs_tol=1024):
            return exact / 1e6
    elif kib is not None and math.isclose(kib, rate / 1024, rel_tol=0.005, abs_tol=1.5):
        # As fio itself works it out.
        return rate // 1 / 1e6
    elif kib is not None and math.isclose(kib, rate, rel_tol=0.005, abs_tol=1.5):
        job.warnings.append("MB/s are converted from KiB/s")
        return kib * 1024 / 1e6
    raise NotUnderstood(f"{what}: bandwidth, bytes and run time contradict each other")


def _latency(block: Mapping[str, Any], scale: float) -> dict[str, float]:
    values = {name.replace("mean", "avg"): _number(block, name) for name in ("min", "mean", "stddev", "max")}
    return {name: value * scale for name, value in values.items() if value is not None}


def _percentiles(block: Mapping[str, Any], scale: float, what: str) -> dict[float, float]:
    ranks: dict[float, float] = {}
    for rank, value in object_in(block, "percentile").items():
        if not re.fullmatch(r"\d+(?:\.\d+)?", rank) or isinstance(value, bool) or not isinstance(value, int | float):
            raise NotUnderstood(f"{what}: no percentile: {rank!r:.20}")
        if 0 < float(rank) <= 100 and math.isfinite(value):
            ranks[float(rank)] = value * scale
    most, least = _number(block, "max"), _number(block, "min")
    # Buckets are up to 1.6 % wide.
    if ranks and most is not None and max(ranks.values()) > most * scale * 1.04 + scale:
        raise NotUnderstood(f"{what}: a percentile above the maximum")
    if ranks and least is not None and min(ranks.values()) < least * scale * 0.96 - scale:
        raise NotUnderstood(f"{what}: a percentile below the minimum")
    return ranks
