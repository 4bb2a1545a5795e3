"""Apache JMeter: its raw results (JTL, CSV or XML), aggregate and summary report, `statistics.json`, summariser lines.

Raw results are added up as JMeter's own report does: a sample of a transaction controller holds samples that stand
there themselves, so all together leaves it out. A large CSV is read as a stream.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple
from xml.etree import ElementTree

from benchagent.importers.plain_csv.table import needed
from benchagent.importers.report import Report, Series, Subject, all_measured, entries, latencies_of, rising, utc
from benchagent.importers.series import MAX_SECONDS, sampled
from benchagent.importers.source import NotUnderstood, SourceFile, json_with, number, number_in, slug, whole, xml_text
from benchagent.importers.tables import Run, Runs, Table

TOOL = "JMeter"
SUBJECT = Subject(workload="jmeter", workload_name="JMeter")
# What is summed up comes before or behind the words that the test has ended, so all of it is one list of lines.
TABLE = Table(
    TOOL,
    ("start", "{Creating summariser|Starting standalone test|Running the test!}[ {:rest}]"),
    ("line", "summary + {interval:rest}"),
    (
        "line", "summary = {requests:int} in {elapsed_s:clock} = {requests_per_s:num}/s "
        "Avg: {latency_avg_ms:int} Min: {latency_min_ms:int} Max: {latency_max_ms:int} "
        "Err: {errors:int} ({error_share_percent:num}%)[ {:rest}]",
    ),
    ("line", "{ended:Tidying up ...|... end of run|Notifying test listeners of end of test}[ {:rest}]"),
)  # fmt: skip
# What its logger puts there.
FRONT = re.compile(r"^INFO \S+ +")
MARKS = re.compile(r"\bsummary = +\d+ in +[\d:]+ = +[\d.]+/s Avg: +\d+ Min: +\d+ Max: +\d+ Err: ", re.MULTILINE)
HEADING = re.compile(
    r"(?:[\w\"]+[,;\t]){0,20}\"?timeStamp\"?[,;\t]\"?elapsed\"?[,;\t](?:\"?\w+\"?[,;\t]){0,20}\"?\w+\"?\n"
)
WORDS = ("summary = ",)
_XML = re.compile(r"<testResults\b[^>]{0,200}>")
_NEEDED, _OPTIONAL = ("timeStamp", "elapsed", "label", "success"), ("allThreads", "responseMessage")
MAX_LABELS = 50
# Headings of the aggregate and the summary report: of the window, of the command-line plugin without its prefix.
_COLUMNS = {
    "# samples": "requests", "count": "requests", "average": "latency_avg_ms", "median": "latency_p50_ms",
    "min": "latency_min_ms", "max": "latency_max_ms", "error %": "error_share_percent", "error%": "error_share_percent",
    "throughput": "requests_per_s", "rate": "requests_per_s", "std. dev.": "latency_stddev_ms",
    "stddev": "latency_stddev_ms",
}  # fmt: skip
_PERCENTILE = re.compile(r"(\d\d(?:\.\d+)?)%[ _]line")
_DOCUMENT = re.compile(r'"meanResTime"\s*:')
_STATISTICS = {
    "sampleCount": "requests", "errorCount": "errors", "errorPct": "error_share_percent",
    "meanResTime": "latency_avg_ms", "medianResTime": "latency_p50_ms", "minResTime": "latency_min_ms",
    "maxResTime": "latency_max_ms", "throughput": "requests_per_s",
}  # fmt: skip
RANKS = ("latency_min_ms", "latency_p50_ms", "latency_p90_ms", "latency_p95_ms", "latency_p99_ms", "latency_max_ms")
ORDER = (
    "requests_per_s", "latency_avg_ms", *RANKS, "latency_stddev_ms", "requests", "errors", "error_share_percent",
)  # fmt: skip


class _Sample(NamedTuple):
    begin_ms: int
    elapsed_ms: int
    label: str
    is_good: bool
    threads: int
    holds_others: bool


@dataclass
class _Group:
    """Samples of one label, or of all: how many took how many milliseconds."""

    counts: Counter[int] = field(default_factory=Counter)
    errors: int = 0
    begin_ms: int = 1 << 62
    end_ms: int = 0

    def add(self, sample: _Sample) -> None:
        self.counts[sample.elapsed_ms] += 1
        self.errors += not sample.is_good
        self.begin_ms = min(self.begin_ms, sample.begin_ms)
        self.end_ms = max(self.end_ms, sample.begin_ms + sample.elapsed_ms)

    def figures(self) -> dict[str, float]:
        requests, elapsed_s = self.counts.total(), (self.end_ms - self.begin_ms) / 1000
        figures: dict[str, float] = {"requests": requests, "errors": self.errors, "elapsed_s": elapsed_s}
        figures |= {"requests_per_s": round(requests / elapsed_s, 6)} if elapsed_s else {}
        figures["error_share_percent"] = round(100 * self.errors / requests, 6)
        return figures | latencies_of(self.counts, (50, 90, 95, 99))


def streams(head: SourceFile) -> bool:
    return HEADING.match(head.text) is not None


def claims(file: SourceFile) -> bool:
    is_raw = streams(file) or _XML.search(file.text[:1000]) is not None
    return is_raw or bool(table(file)) or json_with(file, _DOCUMENT) is not None or file.shows(MARKS, WORDS)


def read(file: SourceFile) -> Sequence[Report]:
    if streams(file.head):
        return [of_samples(samples_of_csv(file))]
    if _XML.search(file.text[:1000]):
        return [of_samples(samples_of_xml(file))]
    if (rows := table(file) or document(file)) is not None:
        return [of_rows(rows)]
    calls = Runs(table=TABLE, front=FRONT, begins={"start"}, lists={"line"}, another=lambda run, _: bool(run.repeated))
    return calls.reports(file, of_lines, "no run of JMeter")


def samples_of_csv(file: SourceFile) -> Iterator[_Sample]:
    """Raises NotUnderstood naming the line."""
    last_is_whole = True

    def texts() -> Iterator[str]:
        nonlocal last_is_whole
        for _, text, is_whole in file.streamed():
            last_is_whole = is_whole
            if text.strip():
                yield text + "\n"

    separator = re.findall(r"[,;\t]", file.head.text)[0]
    rows = csv.reader(texts(), delimiter=separator)
    headings = next(rows)
    if missing := [name for name in _NEEDED if name not in headings]:
        raise NotUnderstood(f"a JTL without {missing[0]}; let it print jmeter.save.saveservice.{missing[0].lower()}")
    # What a file does not save is empty.
    columns = [headings.index(name) if name in headings else len(headings) for name in (*_NEEDED, *_OPTIONAL)]
    values = itemgetter(*columns)
    for cells in rows:
        if len(cells) != len(headings):
            if not last_is_whole:
                return  # cut in its last line
            raise NotUnderstood(f"line {rows.line_num}: not {len(headings)} values")
        try:
            yield _sample(values([*cells, ""]))
        except NotUnderstood as error:
            raise NotUnderstood(f"line {rows.line_num}: {error}") from error


def _sample(values: Sequence[str]) -> _Sample:
    """Raises NotUnderstood."""
    at_ms, elapsed_ms, label, success, threads, message = values
    if success not in ("true", "false"):
        raise NotUnderstood(f"neither true nor false: {success[:20]!r}")
    holds_others = message.startswith("Number of samples in transaction :")
    return _Sample(whole(at_ms), whole(elapsed_ms), label, success == "true", whole(threads or "0"), holds_others)


def samples_of_xml(file: SourceFile) -> Iterator[_Sample]:
    """The samples on top; those within one are parts of it."""
    depth = 0
    try:
        for event, element in ElementTree.iterparse(io.StringIO(xml_text(file.text)), ("start", "end")):  # noqa: S314
            depth += 1 if event == "start" else -1
            if event == "end" and depth == 1 and element.tag in ("sample", "httpSample"):
                yield _sample([element.get(name, "") for name in ("ts", "t", "lb", "s", "na", "rm")])
            if event == "end" and depth <= 1:
                element.clear()
    except ElementTree.ParseError as error:
        raise NotUnderstood(f"broken XML: {error}") from error


def of_samples(samples: Iterable[_Sample]) -> Report:
    total, holders, labels, threads = _Group(), _Group(), dict[str, _Group](), 0
    ends: dict[int, list[int]] = {}
    for sample in samples:
        (holders if sample.holds_others else total).add(sample)
        labels.setdefault(sample.label, _Group()).add(sample)
        threads = max(threads, sample.threads)
        if not sample.holds_others:
            second = ends.setdefault((sample.begin_ms + sample.elapsed_ms) // 1000, [0, 0, 0])
            second[0], second[1] = second[0] + 1, second[1] + sample.elapsed_ms
            second[2] += not sample.is_good
    total = total if total.counts else holders
    if not total.counts:
        raise NotUnderstood("no sample in it")
    if total.end_ms - total.begin_ms > MAX_SECONDS * 1000:
        raise NotUnderstood("longer than a week")
    figures = {label: group.figures() for label, group in labels.items()}
    series, started_at = _series(ends, total.begin_ms // 1000), utc(total.begin_ms / 1000)
    return _report(total.figures(), figures, terminals=threads, series=series, started_at=started_at)


def _series(ends: Mapping[int, Sequence[int]], begin_s: int) -> tuple[Series, ...]:
    """For each whole second what ended in it, how long that took, what failed."""
    seconds = range(begin_s + 1, max(ends, default=begin_s))
    rows = [ends.get(second, (0, 0, 0)) for second in seconds]
    if len(rows) < 2:
        return ()
    columns: dict[str, list[float | None]] = {
        "requests_per_s": [count for count, _, _ in rows],
        "latency_avg_ms": [round(elapsed / count, 3) if count else None for count, elapsed, _ in rows],
        "errors_per_s": [errors for _, _, errors in rows],
    }
    return sampled([float(second - begin_s + 1) for second in seconds], columns, 1.0)


Rows = dict[str, dict[str, float]]


def table(file: SourceFile) -> Rows | None:
    """The rows of an aggregate or a summary report by their label; None for another file. Raises NotUnderstood.

    One without its last row, of all together, is a table like others.
    """
    heading = file.text[:2000].partition("\n")[0].strip().strip('"').lower()
    if not heading.startswith(("label,# samples,", "sampler_label,aggregate_report_count,")):
        return None
    printed = needed(file)
    headings = [text.lower().removeprefix("aggregate_report_") for text in printed.headings]
    rows = {cells[0]: _figures(dict(zip(headings, cells, strict=True))) for cells in printed.rows}
    if len(rows) < len(printed.lines):
        raise NotUnderstood("a label stands there twice")
    return rows if any(label.lower() == "total" for label in rows) else None


def _figures(cells: Mapping[str, str]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for heading, cell in cells.items():
        rank = _PERCENTILE.fullmatch(heading)
        name = f"latency_p{rank[1].replace('.', '_')}_ms" if rank else _COLUMNS.get(heading)
        if name == "requests_per_s":
            rate, per = re.findall(r"^(.*?)(/sec|/min|/hour|)$", cell)[0]
            figures[name] = number(rate) / {"/min": 60, "/hour": 3600}.get(per, 1)
        elif name and cell not in ("", "NaN", "N/A"):
            # The plugin prints a share of 1 where it prints no sign.
            share = 100 if heading == "error%" and not cell.endswith("%") else 1
            figures[name] = number(cell.removesuffix("%")) * share
    return figures


def document(file: SourceFile) -> Rows | None:
    """The rows of `statistics.json`; None for another file. Raises NotUnderstood."""
    content = json_with(file, _DOCUMENT)
    if content is None:
        return None
    if not all(isinstance(row, dict) for row in content.values()):
        raise NotUnderstood("JSON of another form than JMeter's")
    if any(f"pct{rank}ResTime" in row for row in content.values() for rank in (1, 2, 3)):
        file.remarks.append("the JSON does not say which percentiles it has: they are not read")
    figures = {
        label: {name: number_in(row, key) for key, name in _STATISTICS.items()} for label, row in content.items()
    }
    return {label: entries(values, *values) for label, values in figures.items()}


def of_rows(rows: Rows) -> Report:
    """All together stands under TOTAL or Total."""
    name = next((name for name in rows if name.lower() == "total"), "")
    labels = {label: figures for label, figures in rows.items() if label != name}
    if not name:
        raise NotUnderstood("without the line of all together (TOTAL); send the report whole")
    whole_of, counted = rows[name], sum(figures.get("requests", 0) for figures in labels.values())
    if labels and counted < whole_of.get("requests", 0):
        raise NotUnderstood(f"the labels have {counted:,.0f} samples together, and all have more: one is missing")
    return _report(whole_of, labels)


def of_lines(run: Run) -> Report:
    lines = run.rows_of("line")
    wholes, ended = [row for row in lines if "requests" in row], any("ended" in row for row in lines)
    if not wholes:
        return Report(TOOL, reason="the output ends before its summary", subject=SUBJECT)
    last: dict[str, Any] = wholes[-1]
    counts = [row["requests"] for row in wholes]
    if counts != sorted(counts):
        raise NotUnderstood("the summaries are out of order, or of several runs: send one run each")
    rate, elapsed_s = last["requests_per_s"], last["elapsed_s"]
    # Time in whole seconds, rate with one decimal.
    if rate and not (elapsed_s - 1) * (rate - 0.06) <= last["requests"] <= (elapsed_s + 1) * (rate + 0.06):
        raise NotUnderstood(f"requests by time are not {rate} a second")
    if abs(100 * last["errors"] / max(last["requests"], 1) - last["error_share_percent"]) > 0.006:
        raise NotUnderstood(f"the errors are not {last['error_share_percent']} %")
    return _report(last, {}, aborted="" if ended else "the output ends before its end")


def _report(
    total: Mapping[str, float], labels: Rows, *, terminals: int = 0, series: tuple[Series, ...] = (),
    started_at: str = "", aborted: str = "",
) -> Report:  # fmt: skip
    for figures in (total, *labels.values()):
        rising(figures, *RANKS)
        rising(figures, "latency_min_ms", "latency_avg_ms", "latency_max_ms")
    # One label alone is all together.
    named = {slug(label): figures for label, figures in labels.items()} if len(labels) > 1 else {}
    is_clear = len(named) <= MAX_LABELS and len(named) == len(labels) and "" not in named
    warnings = () if is_clear or len(labels) < 2 else (f"{len(labels)} labels: only all together is read",)
    values = entries(total, *ORDER, "elapsed_s")
    for name, figures in named.items() if is_clear else ():
        values |= {f"{name}_{key}": value for key, value in entries(figures, *ORDER).items()}
    return Report(
        TOOL, reason=aborted, parameters={"terminals": terminals} if terminals else {}, metrics=all_measured(values),
        series=series, warnings=warnings, subject=SUBJECT, started_at=started_at,
    )  # fmt: skip
