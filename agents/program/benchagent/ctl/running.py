"""`benchctl schedule`, `repeat`, `watch`, `cancel`: experiments on registered machines."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchagent.arguments import by_name
from benchagent.catalog import number_in
from benchagent.ctl.api import Api, connect, id_of
from benchagent.ctl.files import described
from benchagent.ctl.lists import dbms_of, headline
from benchagent.ctl.output import ProgressLine, UsageError, counted, print_json, print_line, print_table
from benchagent.link.client import Refused

EXIT_FAILED, EXIT_CANCELLED, EXIT_LOST, EXIT_TIME_OUT, EXIT_INTERRUPTED = 20, 21, 22, 23, 130
EXIT_REFUSED = 3
ENDED = {"finished": 0, "failed": EXIT_FAILED, "cancelled": EXIT_CANCELLED, "lost": EXIT_LOST, "value_missing": 0}
POLL_S = 3.0


def schedule(options: argparse.Namespace) -> int:
    plan = _plan(options)  # what is told wrongly is said before a server is looked for
    return _started(connect(), "/experiments/", plan, options)


def repeat(options: argparse.Namespace) -> int:
    """The plan of an experiment once more."""
    changes = {name: getattr(options, name) for name in ("name", "repeats", "agent") if getattr(options, name)}
    return _started(connect(), f"/experiments/{quote(options.experiment, safe='')}/repeat/", changes, options)


def _started(api: Api, path: str, body: Any, options: argparse.Namespace) -> int:
    answer = api.post(path, body)
    if options.json:
        print_json(answer)
    else:
        print(answer["url"])
        print_line(f"{counted(len(answer['runs']))}, about {_duration(answer.get('estimated_s'))}: {answer['slug']}")
        for warning in answer.get("warnings", ()):
            print_line(f"warning: {warning}")
    return _watch(api, answer["slug"], options) if options.watch else 0


def _plan(options: argparse.Namespace) -> dict[str, Any]:
    plan = plan_of(options.file) if options.file else {}
    if options.engine:
        if twice := [text for text, count in Counter(options.engine).items() if count > 1]:
            raise UsageError(f"--engine {twice[0]} is given twice: --repeats N measures it more often")
        plan["engines"] = [_engine(text) for text in options.engine]
    if options.factor:
        try:
            factors = by_name("--factor", map(_factor, options.factor))
        except ValueError as error:
            raise UsageError(f"{error}; or as NAME=VALUE,VALUE to have each of them run") from error
        plan["factors"] = {**plan.get("factors", {}), **factors}
    for name in ("workload", "template", "part", "repeats", "agent", "name", "label", "note", "visibility"):
        if getattr(options, name) is not None:
            plan[name] = getattr(options, name)
    dbmss = list(dict.fromkeys(engine["dbms"] for engine in plan.get("engines", ())))
    for text in options.config or ():
        dbms, slug = _of_dbms("--config", text, dbmss)
        plan.setdefault("configs", {}).setdefault(dbms, []).append(slug)
    for text in options.set or ():
        dbms, pair = _of_dbms("--set", text, dbmss)
        name, separator, values = pair.partition("=")
        if not separator or not name:
            raise UsageError(f"--set {text!r}: say NAME=VALUE, as shared_buffers=4GB, or NAME=VALUE,VALUE")
        plan.setdefault("swept", {}).setdefault(dbms, {})[name] = values.split(",")
    plan |= described(options)
    if "template" not in plan and ("workload" not in plan or not plan.get("engines")):
        raise UsageError("say --workload and at least one --engine, or --template SLUG, or --file PLAN.json")
    return plan


def plan_of(name: str) -> dict[str, Any]:
    try:
        plan = json.loads(sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from error
    if not isinstance(plan, dict):
        raise UsageError(f"{name}: a plan is a JSON object")
    return plan


def _engine(text: str) -> dict[str, str]:
    """postgresql:15.14, or postgresql:15.14@shop on a connection"""
    dbms, separator, rest = text.partition(":")
    version, _, connection = rest.partition("@")
    if not separator or not dbms or not version:
        raise UsageError(f"--engine {text!r}: say DBMS:VERSION, as postgresql:15.14, or DBMS:VERSION@CONNECTION")
    return {"dbms": dbms, "version": version, **({"connection": connection} if connection else {})}


def _of_dbms(option: str, text: str, dbmss: Sequence[str]) -> tuple[str, str]:
    """postgresql:tuned, or tuned where the plan has one DBMS."""
    dbms, separator, rest = text.partition(":")
    if separator and dbms in dbmss:
        return dbms, rest
    if len(dbmss) != 1:
        raise UsageError(f"{option} {text!r}: say of which DBMS, as {(dbmss or ['postgresql'])[0]}:{text}")
    return dbmss[0], text


def _factor(text: str) -> tuple[str, int | float | str | list[int | float | str]]:
    """terminals=8, terminals=1,4,16 (each is run), cache_state=cold"""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"--factor {text!r}: say NAME=VALUE, as terminals=8, or NAME=VALUE,VALUE")
    values = [number_in(word) for word in value.split(",")]
    return name, values[0] if len(values) == 1 else values


def watch(options: argparse.Namespace) -> int:
    return _watch(connect(), options.what, options)


def cancel(options: argparse.Namespace) -> int:
    """Each that is named; the exit status is 3 where the server refused one."""
    api, status = connect(), 0
    for what in options.what:
        try:
            print_line(f"{what}: {_cancel(api, what)}")
        except Refused as error:
            print_line(f"{what}: {error.detail}")
            status = EXIT_REFUSED
    return status


def _cancel(api: Api, what: str) -> str:
    if not (run := id_of(what)):
        answer = api.post(f"/experiments/{quote(what, safe='')}/cancel/", None)
        return f"{counted(answer['cancelled'])} cancelled"
    state = api.post(f"/runs/{run}/cancel/", None)
    return "ends as soon as its agent hears of it" if state["cancel_requested"] else str(state["status"])


def _watch(api: Api, what: str, options: argparse.Namespace) -> int:
    """Until every run has ended, or the time is over. The exit status is that of the worst end."""
    try:
        rows = until_ended(api, what, poll_s=options.poll, timeout_s=options.timeout)
        if not rows:
            print_line("not ended yet")
            return EXIT_TIME_OUT
    except KeyboardInterrupt:
        print_line(f"It goes on: `benchctl watch {what}` watches it again, `benchctl cancel {what}` ends it.")
        return EXIT_INTERRUPTED
    if options.json:
        print_json(rows)
    else:
        table = [(row["id"], dbms_of(row), row["status"], headline(row)) for row in rows]
        print_table(table, heading=("RUN", "DBMS", "STATUS", "RESULT"))
        for row in rows:
            if row["status"] != "finished" and row.get("message"):
                print_line(f"{row['id']}: {row['message']}")
    # A repeat that failed and was made up for since does not count.
    if not id_of(what) and api.get(f"/experiments/{quote(what, safe='')}/").get("failed") == 0:
        rows = [row for row in rows if row["status"] not in ("failed", "lost")]
    return max((ENDED[row["status"]] for row in rows), default=0)


def until_ended(api: Api, what: str, *, poll_s: float, timeout_s: float | None = None) -> list[dict[str, Any]]:
    """The run, or the runs of the experiment in their order, when all have ended; empty where the time is over first.

    Shows how far they are.
    """
    api.patient, started, progress = True, time.monotonic(), ProgressLine()
    try:
        while True:
            rows = _rows(api, what)
            progress.show(_line(rows, time.monotonic() - started))
            if all(row["status"] in ENDED for row in rows):
                return rows
            if timeout_s is not None and time.monotonic() - started > timeout_s:
                return []
            time.sleep(poll_s)
    finally:
        progress.end()


def _rows(api: Api, what: str) -> list[dict[str, Any]]:
    """The run, or the runs of the experiment."""
    if run := id_of(what):
        return [api.get(f"/runs/{run}/")]
    if not (rows := list(api.pages("/runs/", [("experiment", what), ("page_size", "500")]))):
        raise UsageError(f"{what!r}: no experiment of that name with runs that you may see")
    return sorted(rows, key=lambda row: (row.get("order_index") is None, row.get("order_index") or 0))


def _line(rows: Sequence[dict[str, Any]], elapsed_s: float) -> str:
    states = Counter(row["status"] for row in rows)
    ended = sum(count for state, count in states.items() if state in ENDED)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    return f"{ended}/{len(rows)} ended · {counts}" + (f" · {_duration(elapsed_s)}" if sys.stderr.isatty() else "")


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return "an unknown time"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
