"""The result of a system in ClickBench: JSON with the seconds of 43 queries, each run three times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchagent.importers.report import Report, Scalar, Status, Subject, all_measured, dbms_called
from benchagent.importers.source import NotUnderstood, SourceFile, json_with, number_in, slug

TOOL = "ClickBench"
QUERIES, TRIES = 43, 3
MARK = re.compile(r'"system"\s*:.*"result"\s*:\s*\[\s*\[', re.DOTALL)
PARAMETERS = ("cluster_size", "tuned", "proprietary", "hardware", "comment", "machine")


def claims(file: SourceFile) -> bool:
    return {"system", "result", "load_time"} <= {*(json_with(file, MARK) or ())}


def read(file: SourceFile) -> Sequence[Report]:
    content = json_with(file, MARK)
    rows, system = content["result"], content["system"]
    if not isinstance(system, str) or not isinstance(rows, list) or len(rows) != QUERIES:
        raise NotUnderstood(f"ClickBench has {QUERIES} queries, and these are not as many")
    tries = [seconds_of(number, row) for number, row in enumerate(rows)]
    failed = [str(number) for number, row in enumerate(tries) if None in row]
    seconds = {number: [value for value in row if value is not None] for number, row in enumerate(tries)}
    seconds = {number: row for number, row in seconds.items() if len(row) == TRIES}
    totals: dict[str, float | None] = {}
    if not failed:
        totals["hot_total_s"] = round(sum(min(row[1:]) for row in seconds.values()), 6)
        totals["cold_total_s"] = round(sum(row[0] for row in seconds.values()), 6)
    totals["load_s"] = number_in(content, "load_time") or None
    totals["data_size_bytes"] = number_in(content, "data_size") or None
    queries: dict[str, float] = {}
    for number, row in seconds.items():
        queries |= {f"query_{number}_s": min(row[1:]), f"query_{number}_cold_s": row[0]}
    name = re.split(r"\s*\(", system)[0]
    parameters: dict[str, Scalar] = {"system": system} if name != system else {}
    parameters |= {
        key: content[key] for key in PARAMETERS if isinstance(content.get(key), str | int) and content[key] != ""
    }
    date = content.get("date")
    return [
        Report(
            TOOL, Status.FAILED if failed else Status.COMPLETE,
            reason=f"queries {', '.join(failed)} failed" if failed else "",
            parameters=parameters, metrics=all_measured(totals) + all_measured(queries, "query"),
            subject=Subject("clickbench", "ClickBench", dbms=dbms_called(name) or slug(name, "-")),
            started_at=date if isinstance(date, str) and re.fullmatch(r"20\d\d-\d\d-\d\d", date) else "",
        )
    ]  # fmt: skip


def seconds_of(number: int, row: Any) -> list[float | None]:
    """The seconds of one query: cold, then hot twice; None where it failed. Raises NotUnderstood."""
    if not isinstance(row, list) or len(row) != TRIES:
        raise NotUnderstood(f"query {number} has not {TRIES} times")
    times = [number_in({"time": value}, "time") for value in row]
    if any(value is not None and not 0 <= value < 1e7 for value in times):
        raise NotUnderstood(f"query {number} has a time that is none")
    return times
