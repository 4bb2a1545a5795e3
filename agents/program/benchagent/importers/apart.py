"""What is asked of the results of every tool: do their figures agree, and what tells the results of a file apart."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace

from benchagent.importers.latencies import GREATEST, LEAST, is_above, ranks
from benchagent.importers.report import MAX_FACTOR, Metric, ReadFile, Report, Scalar, Status, as_factors
from benchagent.importers.source import NotUnderstood, SourceFile

# What stands above a result, the surest first: a heading of Markdown or of a wiki (`h3. m5.large`), or words of their
# own between empty lines (`Instance: m5a.large`) …
_HEADING = re.compile(
    r"^ {0,3}(?P<level>#{1,6}|h[1-6]\.) +(?P<text>[^\n]{1,200}?)[ #]*$"
    r"|(?:\A|(?<=\n\n)) {0,3}(?!(?i:debug|info|note|warn|error|fatal))(?P<name>[A-Za-z][\w -]{0,40}): +"
    r"(?P<value>[^\n]{0,99}[^\s:]) *(?=\n(?:\n|```))",
    re.MULTILINE,
)
# … then what somebody lets a script print: `=== 4 threads ===`, `--- m5.large`, `[4 threads]`, `4 threads:` …
_RULED = re.compile(
    r"^ {0,3}(?P<level>={2,}|-{2,}|\*{1,3}|>{2,}|\[(?=[^\]\n]+\]:?$)) *(?P<text>[^\s=*>\[-][^\n]{0,100}?)"
    r" *(?:={2,}|-{2,}|\*{1,3}|<{2,}|\])?:?$"
    r"|^ {0,3}(?P<counted>(?:\d{1,9} ?[A-Za-z]{2,12}|[A-Za-z]{2,12} ?[=:]? ?\d{1,9})):?$",
    re.MULTILINE,
)
# … and at last lines that name something, as often as there are results.
_NAMED = re.compile(r"^ {0,3}(?P<name>[A-Za-z][\w -]{0,40})[:=] *(?P<value>[A-Za-z][\w.+/ -]{0,60}?) *$", re.MULTILINE)
_TIME = re.compile(r"\d:\d\d|\b20\d\d-\d\d")
MAX_TEXT, MAX_NAMES = 200_000, 8
_OPTION = re.compile(r"(?:^|\s)--?\w")
_COUNTED = re.compile(
    r"(?P<count>(?<![\w.])\d{1,9}) ?(?P<what>[a-z]+)\b|(?<![\w-])(?P<name>[a-z]+) ?[=:]? ?(?P<number>\d{1,9}(?![\w.]))"
)
_COUNTS = {
    "thread": "terminals", "client": "terminals", "connection": "terminals", "terminal": "terminals",
    "user": "terminals", "vu": "terminals", "vuser": "terminals", "concurrency": "terminals",
    "warehouse": "warehouses", "scale": "scale_factor",
}  # fmt: skip
# What only numbers the repeats of one thing.
_REPEAT = re.compile(r"(?:(?:run|repeat|iteration|round|test|trial|attempt|sample|result|output)s?|[\W\d_])*")
# Figures of repeats do not lie so far from each other.
SEVERAL_FOLD = 2.0


def told_apart(file: SourceFile, reports: list[Report], read: Callable[[SourceFile], Sequence[Report]]) -> list[Report]:
    """The reports, with what stands above them as factors where they share all others. `read` reads a part."""
    if file.is_large or len(reports) < 2 or len({_key(report) for report in reports}) == len(reports):
        return reports
    for form in _forms(file.text, len(reports)):
        sections = [*_sections(file.text, form)]
        if all(heading == sections[0][1] for _, heading in sections):
            continue  # they tell nothing apart, so nothing need be read again
        headings = [heading for text, heading in sections for _ in _read(file, text, read)]
        telling = {name for heading in headings for name in heading if len({other.get(name) for other in headings}) > 1}
        if len(headings) != len(reports) or not telling:
            continue
        # Lines of the tool itself are no headings of its results.
        if form is _HEADING or _read(file, form.sub("", file.text), read) == reports:
            return [
                replace(report, parameters=_factors(heading, telling) | report.parameters)
                for report, heading in zip(reports, headings, strict=True)
            ]
    return reports


def _forms(text: str, reports: int) -> Iterator[re.Pattern[str]]:
    """How headings may look in this text."""
    yield _HEADING
    if len(text) > MAX_TEXT:
        return
    yield _RULED
    values: dict[str, list[str]] = defaultdict(list)
    for match in _NAMED.finditer(text):
        values[match["name"]].append(match["value"])
    often = (name for name, texts in values.items() if len(texts) == reports and len({*texts}) > 1)
    for name in itertools.islice(often, MAX_NAMES):
        yield re.compile(_NAMED.pattern.replace(r"[A-Za-z][\w -]{0,40}", re.escape(name)), re.MULTILINE)


def _read(file: SourceFile, text: str, read: Callable[[SourceFile], Sequence[Report]]) -> list[Report]:
    try:
        return [*read(SourceFile(file.name, text.encode()))]
    except NotUnderstood:
        return []


def _falling(report: Report) -> list[str]:
    """Percentiles of one latency that are above a higher one."""
    of_phases: dict[str, dict[str, float]] = defaultdict(dict)
    for metric in report.metrics:
        of_phases[metric.phase][metric.name] = metric.value
    return [
        f"{low} = {values[low]:g} is above {high} = {values[high]:g}: one of them cannot be, and the run counts nowhere"
        for values in of_phases.values()
        for ranked in ranks(values)
        for low, high in itertools.pairwise(name for rank, name in ranked if LEAST < rank < GREATEST)
        if is_above(values[low], values[high])
    ]


def agreeing(report: Report) -> Report:
    """The report without figures that another one denies; failed where its headline is one of them. Of two percentiles
    nothing tells which is wrong.
    """
    values = {(metric.phase, metric.name): metric.value for metric in report.metrics}
    kept, denied = [], list[str]()
    for metric in report.metrics:
        front, percentile, _ = metric.name.partition("latency_p")
        of = f"{front}latency_max_ms" if percentile else "requests_per_s" if metric.name == "goodput_per_s" else ""
        limit = values.get((metric.phase, of))
        if limit is None or metric.value <= limit * 1.05:  # what a histogram rounds
            kept.append(metric)
        else:
            denied.append(f"{metric.name} = {metric.value:g} is left out: it is above {of} = {limit:g}")
    if said := [*denied, *_falling(report)]:
        report = replace(report, metrics=tuple(kept), warnings=(*report.warnings, *said))
    for metric in report.metrics if report.status is Status.COMPLETE else ():
        latency_ms = values.get((metric.phase, "latency_avg_ms"), 0.0)
        is_headline = metric.name in ("tps", "ops_per_s", "requests_per_s", "qps", "nopm", "tpmc")
        if is_headline and metric.value == 0 < latency_ms:
            why = f"0 {metric.unit} beside a latency of {latency_ms:g} ms: one of them cannot be"
            return replace(report, failure=why)
    return report


def _key(report: Report) -> Hashable:
    subject = report.subject
    about = (report.tool, subject.workload, subject.dbms, subject.dbms_version, {m.phase for m in report.metrics} or "")
    return str((about, sorted((name, str(value)) for name, value in report.parameters.items())))


def _factors(heading: dict[str, Scalar], telling: set[str]) -> dict[str, Scalar]:
    words = " / ".join(str(value) for name, value in heading.items() if name in telling and name.startswith("#"))
    named = {name: value for name, value in heading.items() if name in telling and not name.startswith("#")}
    return named | ({"heading": words[:MAX_FACTOR]} if words else {})


def _sections(text: str, form: re.Pattern[str]) -> Iterator[tuple[str, dict[str, Scalar]]]:
    """The text between headings, each with what those above it say: of words its level (`##`) is the name."""
    levels: dict[int, dict[str, Scalar]] = {}
    begin, above = 0, dict[str, Scalar]()
    for match in form.finditer(text):
        if _OPTION.search(match[0]):  # `# pgbench -c 4`, as root
            continue
        yield text[begin : match.start()], above
        begin, groups = match.end(), match.groupdict()
        words, mark = groups.get("text") or groups.get("counted"), groups.get("level") or ""
        level = (int(mark[1]) if mark[0] == "h" else len(mark)) if form is _HEADING and words else 7
        if words:
            factors = _factors_of_heading("#" * level, words)
        else:
            name, value = match["name"], match["value"]
            numbers_repeats = _TIME.search(value) or _REPEAT.fullmatch(f"{name} {value}".lower())
            factors = {} if numbers_repeats else as_factors({name: value})
        if groups.get("counted"):
            factors = {name: value for name, value in factors.items() if name in _COUNTS.values()}
        levels = {other: each for other, each in levels.items() if other < level} | {level: factors}
        above = {name: value for each in levels.values() for name, value in each.items()}
    yield text[begin:], above


def _factors_of_heading(level: str, text: str) -> dict[str, Scalar]:
    """`m5a.large, 4 threads` -> 4 terminals, and what else it says."""
    factors: dict[str, Scalar] = {}
    for counted in _COUNTED.finditer(text.lower()):
        what = (counted["what"] or counted["name"]).removesuffix("s")
        if what in _COUNTS:
            factors[_COUNTS[what]] = int(counted["count"] or counted["number"])
            text = text.replace(text[counted.start() : counted.end()], "")
    words = text.strip(" ,;:-–()*_`")
    return factors if _REPEAT.fullmatch(words.lower()) or _TIME.search(words) else {**factors, level: words}


def warn_of_alike(files: Sequence[ReadFile]) -> None:
    """A warning, in place, at results of one file that share all factors and whose figures are no repeats' figures."""
    for reports in (reports for _, reports in files if len(reports) > 1):
        alike: dict[Hashable, list[tuple[int, Metric]]] = defaultdict(list)
        for at, report in enumerate(reports):
            first = next((metric for metric in report.metrics if metric.better == "higher" and metric.value > 0), None)
            if first and report.status is Status.COMPLETE:
                alike[(_key(report), first.name)].append((at, first))
        for results in alike.values():
            values = sorted(metric.value for _, metric in results)
            if values[-1] >= SEVERAL_FOLD * values[0]:
                span = f"{values[0]:,.6g} to {values[-1]:,.6g} {results[0][1].unit}"
                words = (
                    f"{len(results)} results of this file share all factors and differ "
                    f"{values[-1] / values[0]:.1f}-fold"
                    f" ({span}): name what tells them apart, or they count as repeats of one thing"
                )
                for at, _ in results:
                    reports[at] = replace(reports[at], warnings=(*reports[at].warnings, words))
