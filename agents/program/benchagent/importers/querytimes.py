"""A plain list of query times (TPC-H, TPC-DS, one's own): `Q1: 0.046 s`, `query 1 | 46 ms`, or CSV under a heading.

The unit must stand there. Each list is a run; where the same query comes again another list has begun. Where a stream
stands before each query (`stream 2 Q14: 1.2 s`, `stream,query,time_s`), all of them are one run, in any order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import geometric_mean

from benchagent.importers.report import Report, Scalar, Status, Subject, all_measured, measured
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, number
from benchagent.importers.tables import Told, damage_of, reports_of

TOOL = "query-times"
UNITS = {"s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "ms": 0.001, "msec": 0.001, "milliseconds": 0.001}
_LABEL = r"(?:Query|query|QUERY|Q|q)"
_STREAM = r"(?:(?i:stream)[ #_-]{0,2}(?P<stream>\d{1,3}) ?[:,;|.-]? ?)?"
_GAP = r" {0,8}[:=|,;]? {0,8}"
_TIME = rf"(?P<value>\d+(?:\.\d+)?) {{0,8}}(?P<unit>{'|'.join(UNITS)})\.?"
# `Q01: 0.046 s`, `query 1 | 46 ms`; after a heading that says the unit, `1,0.046` or `q1;46`.
_ROW = re.compile(rf"{_STREAM}(?:{_LABEL}[ #_-]{{0,2}}0?(?P<query>\d{{1,3}})|RF(?P<refresh>[12])){_GAP}{_TIME}")
_HEADED = re.compile(
    rf"(?:\"?(?P<stream>\d{{1,3}})\"?[,;\t])?(?:\"?{_LABEL}[ #_-]{{0,2}})?0?(?P<query>\d{{1,3}})\"?[,;\t]"
    r"(?P<value>\d+(?:\.\d+)?)"
)
_HEADING = re.compile(
    rf"(?i:(?P<stream>\"?stream(?:[ _]?(?:id|no|nr|number))?\"?[,;\t])?\"?{_LABEL}"
    r"(?:[ _]?(?:id|no|nr|number|name))?\"?[,;\t]\"?(?:time|duration|elapsed|runtime|latency)?"
    r"[ _]?\(?(?P<unit>s|sec|secs|seconds|ms|msec|milliseconds)?\)?\"?)"
)
_FAILED = re.compile(
    rf"{_STREAM}\"?(?:{_LABEL}[ #_-]{{0,2}})?0?(?P<query>\d{{1,3}})\"?{_GAP}\t?\"?"
    r"(?P<why>(?i:time(?:d ?)?-?out|fail(?:ed|ure)?|error|cancell?ed|killed|oom|out of memory|n/?a|nan)\b[^\n]{0,80})"
)
_BEGINS = re.compile(rf"{_STREAM}{_LABEL}[ #_-]{{0,2}}\d")
_SCALE = re.compile(r"\b(?:scale[ _-]?factor|SF)[ =:]{1,3}(\d+(?:\.\d+)?)\b", re.IGNORECASE)
_TITLE = re.compile(r"[-=#* ]*stream[ #_-]{0,2}(\d{1,3})[ :=*#-]*", re.IGNORECASE)
# A row where it stands, and three of them, one under the other: words that others print are no list.
_ANCHOR = rf"^[ |]*(?=[QqSsR]){re.sub(r'[?]P<[a-z]+>', '?:', _ROW.pattern)}[ |]*$"
_ANCHORS = re.compile(_ANCHOR, re.MULTILINE)
MARKS = re.compile(rf"(?:{_ANCHOR}\s*){{3}}", re.MULTILINE)
WORDS = ("Q", "q")
# What a benchmark of queries has, no more and no less.
_SUITES = {"tpch": ("TPC-H", 22), "tpcds": ("TPC-DS", 99)}
_LEAST = 3


@dataclass
class _List(Told):
    stream: str = ""
    # Seconds, or why a query has none.
    queries: dict[int, float | str] = field(default_factory=dict)
    refresh: dict[int, float | str] = field(default_factory=dict)


def claims(file: SourceFile) -> bool:
    first = next((line for line in file.lines if line.strip() and not line.startswith("#")), "")
    headed = _HEADING.fullmatch(first.strip())
    if headed and headed["unit"]:
        return sum(1 for line in file.lines if _HEADED.fullmatch(line.strip())) >= _LEAST
    return len(_ANCHORS.findall(file.text)) >= _LEAST


def read(file: SourceFile) -> Sequence[Report]:
    lists: list[_List] = []
    unit, scale, titled, with_stream, is_cut = "", "", "", False, False
    with Lines(file, with_cut=True) as lines:
        for line in lines:
            text = line.text.strip(" \t|")
            headed = _HEADED.fullmatch(text) if unit else None
            time = _ROW.fullmatch(text) or (headed if headed and bool(headed["stream"]) is with_stream else None)
            begins = _BEGINS.match(text) or (unit and re.match(r"\"?\d+\"?[,;\t]", text))
            if heading := _HEADING.fullmatch(text):
                unit, with_stream = heading["unit"] or "", bool(heading["stream"])
            elif title := _TITLE.fullmatch(text):
                titled = title[1]
            elif not line.whole and (time is headed if time else begins):  # its number may go on
                is_cut = True
            elif time:
                seconds = number(time["value"]) * UNITS[(time.groupdict().get("unit") or unit).lower()]
                _add(lists, line.number, time, seconds, titled)
            elif failed := begins and _FAILED.fullmatch(text):
                _add(lists, line.number, failed, failed["why"], titled)
            elif begins:
                why = f"line {line.number}: {damage_of(text, 'a list of query times')}: {text[:60]!r}"
                lists = lists or [_List(line.number)]
                lists[-1].refusal = lists[-1].refusal or why
            elif scale_factor := _SCALE.search(text):
                scale = scale_factor[1]
    if not lists:
        raise NotUnderstood("no list of query times")
    if {bool(each.stream) for each in lists} == {True, False}:
        raise NotUnderstood("some queries are of a stream, and some are not")
    most = max(len(each.queries) for each in lists)
    suite = next((name for name in _SUITES if re.search(name[:3] + r"[-_ ]?" + name[3:], file.text, re.IGNORECASE)), "")

    def report(each: _List) -> Report:
        if len(each.queries) < most:
            raise NotUnderstood(f"lists of different numbers of queries: this has {len(each.queries)}, another {most}")
        return _report(each, suite, scale, is_cut=is_cut and each is lists[-1])

    reports = reports_of(lists, report, TOOL)
    if lists[0].stream and (refused := next((each for each in reports if each.status is Status.NOT_UNDERSTOOD), None)):
        raise NotUnderstood(refused.refusal)
    return [_streams(lists, reports)] if lists[0].stream else reports


def _add(lists: list[_List], line: int, row: re.Match[str], time_or_reason: float | str, titled: str) -> None:
    """To the list of its stream, else to the last one, or to a new one where the query comes again."""
    groups, stream = row.groupdict(), row["stream"] or titled
    is_refresh, query = bool(groups.get("refresh")), int(groups["query"] or groups["refresh"])
    into = next((each for each in reversed(lists) if each.stream == stream), None)
    known = {} if into is None else into.refresh if is_refresh else into.queries
    if query in known and (stream or (known[query] == time_or_reason and [*known][-1] == query)):
        words = f" in stream {stream}" if stream else " with the same time"
        raise NotUnderstood(f"query {query} stands there twice{words}")
    if into is None or query in known:
        into = _List(line, stream)
        lists.append(into)
    (into.refresh if is_refresh else into.queries)[query] = time_or_reason


def _streams(lists: list[_List], of_each: list[Report]) -> Report:
    """A test of throughput: what each stream took, told apart, and the longest of them."""
    totals = [report.metric("queries_total_s") for report in of_each]
    metrics = [] if None in totals else [measured("longest_stream_s", max(filter(None, totals), default=0.0))]
    for each, report in zip(lists, of_each, strict=True):
        metrics += [replace(metric, name=f"stream_{each.stream}_{metric.name}") for metric in report.metrics]
    cut = [report for report in of_each if report.status is not Status.COMPLETE]
    parameters = of_each[0].parameters | {"streams": len(lists)}
    return replace((cut or of_each)[0], metrics=tuple(metrics), parameters=parameters)


def _report(queries: _List, suite: str, scale: str, *, is_cut: bool) -> Report:
    title, count = _SUITES.get(suite, ("", 0))
    by_query, refresh = queries.queries, [time_s for time_s in queries.refresh.values() if isinstance(time_s, float)]
    seconds = {query: time_s for query, time_s in by_query.items() if isinstance(time_s, float)}
    failed = ", ".join(f"query {query}: {why}" for query, why in sorted(by_query.items()) if query not in seconds)
    if missing := [query for query in range(1, (count or max(by_query)) + 1) if query not in by_query]:
        raise NotUnderstood(f"the list lacks queries {', '.join(map(str, missing[:10]))}")
    if count and len(by_query) != count:
        raise NotUnderstood(f"{title} has {count} queries, and these are {len(by_query)}")
    times = [*seconds.values()]
    # Without one of them nobody knows what all took.
    totals = {} if failed else {"queries_total_s": round(sum(times), 6)}
    if all(times) and not failed:
        totals["queries_geomean_s"] = round(geometric_mean(times), 6)
        if suite == "tpch" and len(refresh) == 2 and all(refresh) and scale:
            # Clause 5.4.1 of TPC-H: power, of 22 queries and two refresh functions.
            totals = {"power_qphh": round(3600 * float(scale) / geometric_mean([*times, *refresh]), 3)} | totals
    of_each = {f"query_{query}_s": round(time_s, 9) for query, time_s in sorted(seconds.items())}
    of_each |= {f"refresh_{name}_s": round(time_s, 9) for name, time_s in zip(queries.refresh, refresh, strict=True)}
    # Nobody says how long other lists are: a total belongs to its number of queries.
    parameters: dict[str, Scalar] = {} if suite else {"queries": len(by_query)}
    if scale:
        parameters["scale_factor"] = int(scale) if scale.isdecimal() else float(scale)
    subject = Subject(workload=f"{suite}-queries", workload_name=f"{title} queries") if suite else Subject()
    return Report(
        TOOL, reason="the last line ends in the middle" if is_cut else "", failure=failed, parameters=parameters,
        metrics=all_measured(totals) + all_measured(of_each, "query"), subject=subject,
    )  # fmt: skip
