"""The CSV files: results (ms, any window), samples (us, one second), raw (one line per request)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchagent.importers.benchbase.documents import check_rising, latency, snake
from benchagent.importers.report import Report, Series, utc
from benchagent.importers.series import MAX_SECONDS, sampled
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, number, once, whole

# Headings that are no latencies, by our name of what stands under them.
_HEADINGS = {
    "time": re.compile(r"time \(seconds\)|time\(sec\)", re.IGNORECASE),
    "tps": re.compile(r"throughput \(requests/second\)|throughput\(req/sec\)", re.IGNORECASE),
    "requests": re.compile("requests", re.IGNORECASE),
    "scaled": re.compile(r"tp \(req/s\) scaled", re.IGNORECASE),
}
_RAW = re.compile(
    r"transaction type (?:index,transaction name|\(index in config file\)), ?start time \(microseconds\), ?"
    r"latency \(microseconds\)(?:, ?worker id ?\(start number\), ?phase id ?\(index in config file\))?",
    re.IGNORECASE,
)
# A row in a locale with decimal commas: whole seconds, and all else with three decimals.
_DECIMAL_COMMAS = re.compile(r"[^,]*(?:,-?\d+,\d{3})+")
KINDS = ("raw", "samples", "results", "type")
_OF_TYPE = re.compile(r"\.results\.(\w+)\.csv(?:\.gz)?$")
# 2001 to 2096, in seconds.
_EPOCH_S = (1e9, 4e9)
_NO_TIMES = "the start times are neither seconds nor microseconds since 1970"
_NO_ROW = "a table without a whole row"


@dataclass(frozen=True)
class Raw:
    """`counts`, `means_ms`: how many started in each whole second since the first, and how long they took."""

    requests: int
    began_s: float
    # Whether the start times are seconds, against the heading.
    of_seconds: bool
    counts: list[int]
    means_ms: list[float | None]


def kind_of(file: SourceFile) -> str:
    """raw, samples, results, or type: results of one type of transaction; empty for another table."""
    if is_raw(file):
        return "raw"
    cells = [cell.strip() for cell in file.heading[:2000].split(",")]
    names = [*map(_name, cells)]
    if len(cells) < 6 or names[0] != "time" or "tps" not in names:
        return ""
    return "type" if type_of(file) else "samples" if "requests" in names else "results"


def _name(heading: str) -> str:
    return next((name for name, form in _HEADINGS.items() if form.fullmatch(heading)), "")


def read(file: SourceFile) -> Report:
    if is_raw(file):
        raw = read_raw(file)
        words = "one line per request without a summary: a lost line would not show, so totals are left out"
        if raw.of_seconds:
            words += "; 'Start Time (microseconds)' holds seconds"
        began = utc(raw.began_s) if raw.began_s else ""
        # A value for each finished second since the first start, as in BenchBase's own samples.
        seconds: dict[str, list[float | None]] = {"tps": [*map(float, raw.counts)], "latency_avg_ms": raw.means_ms}
        series = tuple(Series.called(name, 1.0, column) for name, column in seconds.items() if column)
        return Report("benchbase", series=series, warnings=(words,), started_at=began)
    (_, heading), *rows = _cells(file)
    if not rows:
        raise NotUnderstood(_NO_ROW)
    columns, kind = _columns(heading), type_of(file)
    series = _windows(rows, columns, f"{snake(kind)}_" if kind else "")
    words = f"windows of {kind} alone" if kind else "windows without the summary of their run"
    words += ": the totals are not known" if series else ": too few of them to tell how long each is"
    # What forks add.
    known = {at for at, _ in columns.values()}
    others = [repr(cell[:60]) for at, cell in enumerate(heading) if at not in known]
    more = f"not read: {', '.join(others)}, which BenchBase itself does not write" if others else ""
    return Report("benchbase", series=series, warnings=(words, more))


def is_raw(file: SourceFile) -> bool:
    return _RAW.fullmatch(file.heading.strip()) is not None


def type_of(file: SourceFile) -> str:
    """The transaction type of a `results.<type>.csv`: its content does not name it."""
    match = _OF_TYPE.search(PurePosixPath(file.name).name)
    return match[1] if match else ""


def _cells(file: SourceFile) -> Iterator[tuple[int, list[str]]]:
    """Every line's number with its cells, the heading first."""
    width = 0
    with Lines(file) as lines:
        for line in filter(lambda line: line.text, lines):
            cells = [cell.strip() for cell in line.text.split(",")]
            if width and len(cells) == 2 * width - 1 and _DECIMAL_COMMAS.fullmatch(",".join(cells)):
                cells = [cells[0], *map(".".join, zip(cells[1::2], cells[2::2], strict=True))]
            width = width or len(cells)
            if len(cells) != width:
                raise NotUnderstood(f"{len(cells)} values, but {width} headings")
            yield line.number, cells


def _windows(
    rows: Sequence[tuple[int, list[str]]], columns: dict[str, tuple[int, float]], prefix: str
) -> tuple[Series, ...]:
    """The series of a results or samples file."""
    times = [float(whole(cells[0])) for _, cells in rows]
    steps = [later - earlier for earlier, later in itertools.pairwise(times)]
    if min(steps, default=1) <= 0:
        raise NotUnderstood("the times do not rise: lines are doubled or out of order")
    # Samples are of a second each; of few results a long window cannot be told from a lost line.
    window_s = 1.0 if "requests" in columns else min(steps, default=0.0)
    if "requests" not in columns and steps.count(window_s) < 2:
        return ()
    if any(time % window_s for time in times):
        raise NotUnderstood("the times are no multiples of the window")
    spread: dict[str, list[float | None]] = {}
    for at, cells in rows:
        try:
            for name, value in _row(cells, columns, window_s).items():
                spread.setdefault(f"{prefix}{name}", []).append(value)
        except NotUnderstood as error:
            raise NotUnderstood(f"line {at}: {error}") from error
    # Times are the beginnings of the windows.
    return sampled([time + window_s for time in times], spread, window_s)


def _columns(heading: Sequence[str]) -> dict[str, tuple[int, float]]:
    """Name of a figure -> its column, and how many of our units one of its is."""
    columns: dict[str, tuple[int, float]] = {}
    for index, cell in enumerate(heading):
        if name := _name(cell):
            columns[name] = index, 1.0
        elif rank_and_scale := latency(cell):
            columns[f"latency_{rank_and_scale[0]}_ms"] = index, rank_and_scale[1]
    if not any(name.startswith("latency") for name in columns):
        raise NotUnderstood("a heading is missing")
    return columns


def _row(cells: Sequence[str], columns: dict[str, tuple[int, float]], window_s: float) -> dict[str, float | None]:
    figures = {name: number(cells[index]) * scale for name, (index, scale) in columns.items()}
    rate, requests, scaled = figures["tps"], figures.get("requests"), figures.get("scaled")
    count = rate * window_s if requests is None else requests
    if abs(count - round(count)) > 0.0005 * window_s + 1e-6:
        raise NotUnderstood(f"{rate:g} requests/s in {window_s:g} s are no whole number of requests")
    if not math.isclose(count / window_s, rate, rel_tol=0, abs_tol=0.0006):
        raise NotUnderstood("requests and throughput contradict each other")
    # A window without requests: BenchBase prints -1 us.
    latencies = {
        name: None if value < 0 or not rate else round(value, 9)
        for name, value in figures.items()
        if name.startswith("latency")
    }
    ranks = {name.split("_")[1]: value for name, value in latencies.items() if value is not None}
    check_rising(ranks, "this window")
    average = ranks.get("avg", 0)
    if scaled is not None and average > 0.02 and not math.isclose(scaled, 1 / average, rel_tol=0.03, abs_tol=0.0006):
        raise NotUnderstood("the average latency and the last column contradict each other")
    return {"tps": rate, **latencies}


@once
def read_raw(file: SourceFile) -> Raw:
    """Added up by the second, as BenchBase's own samples: however many requests there are, no more is held."""
    rows = _cells(file)
    _, heading = next(rows, (0, []))
    first, last, begun = None, 0.0, set[tuple[str, ...]]()
    scale, counts, sums_us = 0.0, list[int](), list[int]()
    for at, cells in rows:
        text, duration, *who = cells[2 if len(heading) == 6 else 1 :]
        start, latency_us = number(text), whole(duration)
        if first is None:
            first, scale = start, _scale(start, absolute=len(heading) >= 5)
        if start < last:
            raise NotUnderstood(f"line {at}: the start times do not rise: lines are out of order")
        if scale == 1e-6 and first == 0 and not start.is_integer():
            raise NotUnderstood(_NO_TIMES)
        # Workers that started at the same time; none starts twice then.
        begun = begun if start == last else set()
        if who and tuple(who[:1]) in begun:
            raise NotUnderstood(f"line {at}: a worker starts twice at the same time: the line is doubled")
        begun.add(tuple(who[:1]))
        second = int((start - first) * scale + 1e-7)
        if second > MAX_SECONDS:
            raise NotUnderstood("longer than a week")
        while second >= len(counts):
            counts.append(0)
            sums_us.append(0)
        counts[second] += 1
        sums_us[second] += latency_us
        last = start
    if first is None:
        raise NotUnderstood(_NO_ROW)
    if first and not _EPOCH_S[0] < last * scale < _EPOCH_S[1]:
        raise NotUnderstood(_NO_TIMES)
    totals = zip(sums_us[:-1], counts, strict=False)
    means_ms = [round(sum_us / count / 1000, 9) if count else None for sum_us, count in totals]
    return Raw(sum(counts), first * scale, scale == 1 and first > 0, counts[:-1], means_ms)


def _scale(start: float, *, absolute: bool) -> float:
    """The heading says microseconds; the values say what they are."""
    if absolute and _EPOCH_S[0] < start < _EPOCH_S[1]:
        return 1.0
    if (_EPOCH_S[0] < start / 1e6 < _EPOCH_S[1]) if absolute else start == 0:
        return 1e-6
    raise NotUnderstood(_NO_TIMES)
