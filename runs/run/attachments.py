"""What lay beside a run's files and is no run: plans (`EXPLAIN (ANALYZE, FORMAT JSON)`) and pg_stat_statements."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

from runs.models import Artefact, Run
from runs.run import artefacts
from runs.tables import Column, Table, TableCell

MAX_BYTES, MAX_FILES, MAX_ROWS, MAX_DEPTH = 256 * 1024, 10, 40, 40
MAX_TEXT = 200
STATEMENTS = {"calls": "calls", "total_exec_time": "total ms", "mean_exec_time": "mean ms", "rows": "rows"}


def attachments_of(run: Run) -> list[tuple[str, Table]]:
    """(title, table) of each file of its import that no importer took for a run's."""
    taken = run.upload.file_import if run.upload is not None else None
    if taken is None:
        return []
    names = {item["file"] for item in taken.items if item["status"] == "not_understood"}
    files = taken.artefacts.filter(name__in=names, size_bytes__lte=MAX_BYTES).order_by("position")[:MAX_FILES]
    return [table for file in files if (table := _table(file))]


def _table(file: Artefact) -> tuple[str, Table] | None:
    try:
        text = artefacts.content(file).decode("utf-8-sig", "replace")
        if text.lstrip().startswith("["):
            parts = json.loads(text)
            return _plan(file.name, parts[0]) if "Plan" in parts[0] else _statements(file.name, parts)
        return _statements(file.name, list(csv.DictReader(text.splitlines())))
    except (FileNotFoundError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, csv.Error):
        return None


def _plan(name: str, plan: dict[str, Any]) -> tuple[str, Table]:
    rows: list[list[TableCell]] = []
    for depth, node in _nodes(plan["Plan"], 0):
        on = node.get("Relation Name") or node.get("Index Name") or ""
        label = f"{'· ' * depth}{node['Node Type']}{f' on {on}' if on else ''}"
        # Times and rows are of one loop.
        loops = node.get("Actual Loops") or 1
        numbers = (
            node.get("Actual Total Time", 0) * loops, node.get("Actual Rows", 0) * loops, node.get("Plan Rows", 0),
            node.get("Shared Read Blocks", 0),
        )  # fmt: skip
        rows.append([TableCell(text=label[:MAX_TEXT]), *(TableCell(float(number)) for number in numbers)])
    time_ms = plan.get("Execution Time")
    title = f"Plan: {name}" + (f", {time_ms:,.3f} ms" if isinstance(time_ms, int | float) else "")
    numeric = [Column("all loops", "ms"), Column("rows"), Column("rows expected"), Column("blocks read")]
    return title, Table([Column("node", numeric=False), *numeric], rows[:MAX_ROWS])


def _nodes(node: dict[str, Any], depth: int) -> Iterator[tuple[int, dict[str, Any]]]:
    yield depth, node
    for child in node.get("Plans", []) if depth < MAX_DEPTH else []:
        yield from _nodes(child, depth + 1)


def _statements(name: str, statements: list[dict[str, Any]]) -> tuple[str, Table] | None:
    if not statements or not {"query", *STATEMENTS} <= statements[0].keys():
        return None
    rows = sorted(statements, key=lambda row: -float(row["total_exec_time"]))[:MAX_ROWS]
    cells = [
        [TableCell(text=str(row["query"])[:MAX_TEXT]), *(TableCell(float(row[key])) for key in STATEMENTS)]
        for row in rows
    ]
    return f"Statements: {name}", Table([Column("query", numeric=False), *map(Column, STATEMENTS.values())], cells)
