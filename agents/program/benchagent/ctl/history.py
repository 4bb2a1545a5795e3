"""`benchctl benchmarks`: what is measured again and again, and whether it moved."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from benchagent.ctl.api import connect
from benchagent.ctl.output import UsageError, plain_number, print_json, print_table, say


def run(options: argparse.Namespace) -> int:
    """All that filters choose, or one by its id with its changes."""
    parameters = [("than", options.than)] if options.than else []
    api, ids = connect(), [text for text in options.what if "=" not in text]
    if ids:
        if len(options.what) > 1 or not _is_id(ids[0]):
            raise UsageError("give filters as NAME=VALUE, or the id of one benchmark")
        answer = api.get(f"/benchmarks/{ids[0]}/", parameters)
    else:
        answer = api.get("/benchmarks/", [*(tuple(text.split("=", 1)) for text in options.what), *parameters])
    if options.json:
        print_json(answer)
    elif ids:
        _show(answer)
    else:
        rows = [
            (str(row["id"]), str(row["name"]), str(row["machine"]), _newest(row), _change(row))
            for row in answer["results"]
        ]
        print_table(rows, heading=("ID", "BENCHMARK", "MACHINE", "NEWEST", "CHANGE"))
        if answer["count"] > len(rows):
            say(f"the first {len(rows)} of {answer['count']}")
    return 0


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _newest(row: Mapping[str, Any]) -> str:
    return "" if row["newest"] is None else f"{plain_number(float(row['newest']))} {row['unit']}".rstrip()


def _change(row: Mapping[str, Any]) -> str:
    """In per cent, with its verdict."""
    change = row.get("change") or {}
    return f"{change['value'] - 1:+.1%} {change.get('verdict', '')}".rstrip() if change.get("value") else ""


def _show(answer: Mapping[str, Any]) -> None:
    say(f"{answer['name']}, {answer['batches']} batches on {answer['machine']}")
    print(answer["words"])
    for change in answer["changes"]:
        if change["state"] != "refuted":
            print(f"{change['state']}: {change['words']}")
