"""`benchctl runs`: the list of runs with the API's own filters."""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Sequence
from typing import Any

from benchagent.ctl.api import connect
from benchagent.ctl.output import UsageError, plain_number, print_json, print_table, say

DEFAULT_LIMIT = 50
PAGE = 500
HEADLINES = ("tps", "tpmc", "nopm", "qps", "ops_per_s", "requests_per_s", "read_iops", "write_iops")


def run(options: argparse.Namespace) -> int:
    params = [_filter(text) for text in options.filters]
    limit = None if options.all else options.limit
    page = min(limit or PAGE, PAGE)
    rows = list(itertools.islice(connect().pages("/runs/", [*params, ("page_size", str(page))]), limit))
    if options.json:
        print_json(rows)
    elif options.csv:
        _csv(rows)
    else:
        _table(rows)
        if limit is not None and len(rows) == limit:
            say(f"the first {limit}; --all shows all, --limit N more")
    return 0


def _filter(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"{text!r}: a filter is NAME=VALUE, as workload=tpcb or factor.scale_factor=10")
    return name, value


def _table(rows: Sequence[dict[str, Any]]) -> None:
    table = []
    for row in rows:
        hardware = row["hardware"]["name"] if row.get("hardware") else ""
        what = (row["id"], row["workload"]["slug"], dbms_of(row), hardware)
        table.append((*what, row["status"], headline(row), row["created_at"][:10]))
    print_table(table, heading=("RUN", "WORKLOAD", "DBMS", "MACHINE", "STATUS", "RESULT", "STORED"))


def headline(row: dict[str, Any]) -> str:
    """The number that people ask for first; its unit is in its name."""
    metrics = row.get("metrics") or {}
    name = next((name for name in HEADLINES if name in metrics), next(iter(metrics), ""))
    return f"{plain_number(float(metrics[name]))} {name}" if name else ""


def dbms_of(row: dict[str, Any]) -> str:
    """Name and version; the name of a version often holds it already."""
    name, version = row["dbms"]["name"], row["dbms"]["version"]
    return name if version in name else f"{name} {version}"


def _csv(rows: Sequence[dict[str, Any]]) -> None:
    """One line a run: what it is, its factors, its metrics; columns in the order in which they first appear."""
    lines = []
    for row in rows:
        named = {name: (row.get(name) or {}).get("slug", "") for name in ("workload", "hardware", "config")}
        line = {
            "id": row["id"], **named, "dbms": row["dbms"]["name"], "dbms_version": row["dbms"]["version"],
            "status": row["status"], "repeat": row.get("repeat"), "created_at": row.get("created_at"),
            "url": row.get("url"),
        }  # fmt: skip
        factors = {f"factor.{name}": value for name, value in (row.get("factors") or {}).items()}
        lines.append({**line, **factors, **(row.get("metrics") or {})})
    writer = csv.DictWriter(sys.stdout, list(dict.fromkeys(name for line in lines for name in line)), restval="")
    writer.writeheader()
    writer.writerows(lines)
