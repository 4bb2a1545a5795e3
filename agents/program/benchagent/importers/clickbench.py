"""The result of a system in ClickBench: JSON with the seconds of 43 queries, each run three times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchagent.importers.report import Report, Scalar, Subject, all_measured, dbms_called
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
    seconds = {number: seconds_of(number, row) for number, row in enumerate(rows)}
    failed = [str(number) for number, row in seconds.items() if not row]
    hot = {f"query_{number}_s": min(row[1:]) for number, row in seconds.items() if row}
    cold = {f"query_{number}_cold_s": row[0] for number, row in seconds.items() if row}
    totals: dict[str, float | None] = {
        "hot_total_s": None if failed else round(sum(hot.values()), 6),
        "cold_total_s": None if failed else round(sum(cold.values()), 6),
        "load_s": number_in(content, "load_time") or None, "data_size_bytes": number_in(content, "data_size") or None,
    }  # fmt: skip
    queries = {name: value for both in zip(hot.items(), cold.items(), strict=True) for name, value in both}
    name = re.split(r"\s*\(", system)[0]
    parameters: dict[str, Scalar] = {"system": system} if name != system else {}
    parameters |= {
        key: content[key] for key in PARAMETERS if isinstance(content.get(key), str | int) and content[key] != ""
    }
    date = content.get("date")
    return [
        Report(
            TOOL, failure=f"queries {', '.join(failed)} failed" if failed else "",
            parameters=parameters, metrics=all_measured(totals) + all_measured(queries, "query"),
            subject=Subject("clickbench", "ClickBench", dbms=dbms_called(name) or slug(name, "-")),
            started_at=date if isinstance(date, str) and re.fullmatch(r"20\d\d-\d\d-\d\d", date) else "",
        )
    ]  # fmt: skip


def seconds_of(number: int, row: Any) -> list[float]:
    """The seconds of one query: cold, then hot twice; nothing where it failed. Raises NotUnderstood."""
    if not isinstance(row, list) or len(row) != TRIES:
        raise NotUnderstood(f"query {number} has not {TRIES} times")
    times = [number_in({"time": value}, "time") for value in row]
    if any(value is not None and not 0 <= value < 1e7 for value in times):
        raise NotUnderstood(f"query {number} has a time that is none")
    seconds = [value for value in times if value is not None]
    return seconds if len(seconds) == TRIES else []
