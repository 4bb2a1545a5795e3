"""`benchctl bisect`: where between two runs of one agent a benchmark moved, measured in steps by the server."""

from __future__ import annotations

import argparse
import time
from typing import Any
from urllib.parse import quote

from benchagent.ctl.api import Api, connect
from benchagent.ctl.output import UsageError, print_json, print_line, print_table
from benchagent.ctl.running import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_TIME_OUT


def run(options: argparse.Namespace) -> int:
    """Begins with two runs; with the id of what has begun says how far that is."""
    if len(options.what) > 2:
        raise UsageError("name two runs, or one bisection")
    api = connect(patient=options.watch)
    found = api.post("/bisections/", {"runs": options.what}) if len(options.what) == 2 else _state(api, options.what[0])
    if not (options.json or found["steps"]):
        print(found["url"])
    try:
        is_over = not options.watch or _until_ended(api, found["id"], options)
    except KeyboardInterrupt:
        print_line(f"It goes on: `benchctl bisect {found['id']} --watch` watches it again.")
        return EXIT_INTERRUPTED
    found = _state(api, found["id"]) if options.watch else found
    _show(found, options)
    if not is_over:
        return EXIT_TIME_OUT
    return EXIT_FAILED if found["outcome"] and not found["found"] else 0


def _state(api: Api, pk: str) -> dict[str, Any]:
    return api.get(f"/bisections/{quote(pk, safe='')}/")


def _until_ended(api: Api, pk: str, options: argparse.Namespace) -> bool:
    """Whether it ended within the time. Says of each step that it has begun."""
    started, shown = time.monotonic(), -1
    while not (found := _state(api, pk))["outcome"]:
        if len(found["steps"]) > shown:
            shown = len(found["steps"])
            of = f" of about {shown + left}" if (left := found.get("steps_left")) else ""
            print_line(f"step {shown + 1}{of}: {found['experiment']}, {_between(found)}")
        if options.timeout is not None and time.monotonic() - started > options.timeout:
            return False
        time.sleep(options.poll)
    return True


def _show(found: dict[str, Any], options: argparse.Namespace) -> None:
    if options.json:
        print_json(found)
        return
    rows = [
        (str(number), *(cell for half in step["halves"] for cell in (half["words"], f"{half['moved']:+.1%}")))
        for number, step in enumerate(found["steps"], start=1)
    ]
    if rows:
        print_table(rows, heading=("STEP", "FIRST HALF", "MOVED", "SECOND HALF", "MOVED"))
    print_line(found["outcome"] or f"{found['id']} goes on: {_between(found)}")


def _between(found: dict[str, Any]) -> str:
    """What is left: 15.3 → 15.9, or cache_size -2000 → -64000."""
    old, new = found["old"], found["new"]
    words = [f"{old['version']} → {new['version']}"] if old["version"] != new["version"] else []
    words += [f"{name} {old['settings'][name]} → {value}" for name, value in new["settings"].items()]
    return ", ".join(words)
