"""The result of a system in ClickBench: JSON with the seconds of 43 queries, each run three times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchagent.importers.report import Metric, Report, Scalar, Status, Subject, dbms_called, measured
from benchagent.importers.source import NotUnderstood, SourceFile, decoded, number_in, once, slug

TOOL = "ClickBench"
QUERIES, TRIES = 43, 3
MARK = re.compile(r'"system"\s*:.*"result"\s*:\s*\[\s*\[', re.DOTALL)
PARAMETERS = ("cluster_size", "tuned", "proprietary", "hardware", "comment")


@once
def document(file: SourceFile) -> Any:
    """None for other JSON. Raises NotUnderstood for what is broken."""
    text = file.text.strip()
    if not text.startswith("{") or MARK.search(text) is None:
        return None
    content, end = decoded(text)
    if text[end:].strip():
        raise NotUnderstood("something follows the JSON")
    return content if {"system", "result", "load_time"} <= set(content) else None


def claims(file: SourceFile) -> bool:
    return document(file) is not None


def read(file: SourceFile) -> Sequence[Report]:
    content = document(file)
    rows, system = content["result"], content["system"]
    if not isinstance(system, str) or not isinstance(rows, list) or len(rows) != QUERIES:
        raise NotUnderstood(f"ClickBench has {QUERIES} queries, and these are not as many")
    tries = [seconds_of(number, row) for number, row in enumerate(rows)]
    failed = [str(number) for number, row in enumerate(tries) if None in row]
    metrics: list[Metric] = []
    known = {number: [value for value in row if value is not None] for number, row in enumerate(tries)}
    known = {number: row for number, row in known.items() if len(row) == TRIES}
    if not failed:
        metrics = [
            measured("hot_total_s", round(sum(min(row[1:]) for row in known.values()), 6)),
            measured("cold_total_s", round(sum(row[0] for row in known.values()), 6)),
        ]
    for name, key in (("load_s", "load_time"), ("data_size_bytes", "data_size")):
        if value := number_in(content, key):
            metrics.append(measured(name, value))
    for number, row in known.items():
        metrics += [
            measured(f"query_{number}_s", min(row[1:]), "query"),
            measured(f"query_{number}_cold_s", row[0], "query"),
        ]
    name = re.split(r"\s*\(", system)[0]
    parameters: dict[str, Scalar] = {"system": system} if name != system else {}
    parameters |= {
        key: content[key] for key in PARAMETERS if isinstance(content.get(key), str | int) and content[key] != ""
    }
    machine, date = content.get("machine"), content.get("date")
    return [
        Report(
            tool=TOOL,
            status=Status.FAILED if failed else Status.COMPLETE,
            reason=f"queries {', '.join(failed)} failed" if failed else "",
            parameters=parameters | ({"machine": machine} if isinstance(machine, str) else {}),
            metrics=tuple(metrics),
            subject=Subject(
                workload="clickbench", workload_name="ClickBench", dbms=dbms_called(name) or slug(name, "-")
            ),
            started_at=date if isinstance(date, str) and re.fullmatch(r"20\d\d-\d\d-\d\d", date) else "",
        )
    ]


def seconds_of(number: int, row: Any) -> list[float | None]:
    """Of one query: cold, then hot twice; None where it failed. Raises NotUnderstood."""
    if not isinstance(row, list) or len(row) != TRIES:
        raise NotUnderstood(f"query {number} has not {TRIES} times")
    times = [number_in({"time": value}, "time") for value in row]
    if any(value is not None and not 0 <= value < 1e7 for value in times):
        raise NotUnderstood(f"query {number} has a time that is none")
    return times
