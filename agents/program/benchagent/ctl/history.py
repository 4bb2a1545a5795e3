"""`benchctl benchmarks`: what is measured again and again, and whether it moved."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from benchagent.ctl import lists
from benchagent.ctl.api import connect
from benchagent.ctl.output import UsageError, print_json, say


def run(options: argparse.Namespace) -> int:
    """All that filters choose, or one by its id with its changes."""
    parameters = [("than", options.than)] if options.than else []
    ids = [text for text in options.filters if "=" not in text]
    if not ids and options.json and not options.fields:
        print_json(connect().get("/benchmarks/", [*map(lists.a_filter, options.filters), *parameters]))
        return 0
    if not ids:
        return lists.show(argparse.Namespace(**vars(options), parameters=parameters))
    if len(options.filters) > 1 or not _is_id(ids[0]):
        raise UsageError("give filters as NAME=VALUE, or the id of one benchmark")
    answer = connect().get(f"/benchmarks/{ids[0]}/", parameters)
    if options.json:
        print_json(answer)
    else:
        _show(answer)
    return 0


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _show(answer: Mapping[str, Any]) -> None:
    say(f"{answer['name']}, {answer['batches']} batches on {answer['machine']}")
    print(answer["words"])
    for change in answer["changes"]:
        if change["state"] != "refuted":
            print(f"{change['state']}: {change['words']}")
