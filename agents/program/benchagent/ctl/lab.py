"""`benchctl agents`, `reservations`, `templates`, `schedules` beyond their lists: what an operator does with one."""

from __future__ import annotations

import argparse
import time
from typing import Any
from urllib.parse import quote

from benchagent.ctl import lists
from benchagent.ctl.api import connect
from benchagent.ctl.output import UsageError, print_json, print_line
from benchagent.ctl.running import EXIT_FAILED


def agents(options: argparse.Namespace) -> int:
    """The list, or `--pause SLUG` and `--resume SLUG`."""
    if (slug := options.pause or options.resume) is None:
        return lists.show(options)
    change: dict[str, Any] = {"paused": options.pause is not None}
    if options.pause:
        change |= {name: value for name, value in (
            ("pause_reason", options.reason), ("paused_until", options.until)) if value}  # fmt: skip
    changed = connect().patch(f"/agents/{quote(slug, safe='')}/", change)
    print_line(f"{changed['slug']}: {changed['pause'] or 'gets runs'}")
    return 0


def reservations(options: argparse.Namespace) -> int:
    """The list, or `--add AGENT` and `--end ID`."""
    if options.end:
        connect().ask("DELETE", f"/reservations/{quote(options.end, safe='')}/")
        print_line(f"{options.end} has ended")
        return 0
    if not options.add:
        return lists.show(options)
    given = {"agent": options.add, "begins_at": options.begins, "ends_at": options.until, "reason": options.reason}
    reservation = connect().post("/reservations/", {name: value for name, value in given.items() if value})
    print_line(f"{reservation['agent']}: {reservation['words']} ({reservation['id']})")
    return 0


def errand(options: argparse.Namespace) -> int:
    """Waits for its end; interrupted it goes on, as the agent's page shows."""
    # The command may be one word of the shell: "engines remove".
    given = [*options.words[0].split(), *options.words[1:]]
    api, path, line = connect(), f"/agents/{quote(options.agent, safe='')}/", " ".join(given)
    offered = api.get(path)["errands"]
    command = next((each for each in offered if f"{line} ".startswith(f"{each} ")), None)
    if command is None:
        raise UsageError(f"{options.agent} can be asked for: {', '.join(offered) or 'nothing (it is too old)'}")
    words = given[len(command.split()) :]
    order = api.post(f"{path}errands/", {"command": command, "words": words})
    while order["state"] in ("waiting", "running"):
        time.sleep(options.poll)
        order = api.get(f"{path}errands/{order['id']}/")
    print(order["log"])
    print_line(f"{line}: {order['state']}")
    return 0 if order["state"] == "done" else EXIT_FAILED


def templates(options: argparse.Namespace) -> int:
    parameters = [("agent", options.agent)] if options.agent else []
    return lists.show(options, parameters)


def schedules(options: argparse.Namespace) -> int:
    """The list, or `--add EXPERIMENT`, `--pause SLUG`, `--resume SLUG`, `--delete SLUG`."""
    if options.add:
        return _add(options)
    slug = options.pause or options.resume or options.delete
    if slug is None:
        return lists.show(options)
    path, api = f"/schedules/{quote(slug, safe='')}/", connect()
    if options.delete:
        api.ask("DELETE", path)
        print_line(f"{slug} is deleted; what it has measured stays")
        return 0
    schedule = api.patch(path, {"paused": options.pause is not None})
    print_line(f"{schedule['slug']}: {'paused' if schedule['paused'] else f'next {_next(schedule)}'}")
    return 0


def _add(options: argparse.Namespace) -> int:
    if bool(options.cron) == bool(options.at):
        raise UsageError('say --cron "0 22 * * *" for many times, or --at TIME for one')
    given = {
        "experiment": options.add, "name": options.name or options.add, "cron": options.cron or "",
        "timezone": options.timezone, "at": options.at, "ends_at": options.ends,
    }  # fmt: skip
    schedule = connect().post("/schedules/", given)
    if options.json:
        print_json(schedule)
    else:
        print(schedule["url"])
        print_line(f"{schedule['slug']}: next {_next(schedule)}")
    return 0


def _next(schedule: dict[str, Any]) -> str:
    return str(next(iter(schedule["next_times"]), "never"))
