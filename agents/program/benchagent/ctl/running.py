"""`benchctl runs`, `schedule` and `watch`: the list of runs, and experiments on registered machines."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from benchagent.arguments import by_name
from benchagent.catalog import number_in
from benchagent.ctl.api import Api, connect
from benchagent.ctl.files import described
from benchagent.ctl.output import ProgressLine, UsageError, counted, plain_number, print_json, print_table, say
from benchagent.link.client import Unreachable

# `benchctl runs`: the list of runs with the API's own filters.

DEFAULT_LIMIT = 50
PAGE = 500


def list_runs(options: argparse.Namespace) -> int:
    params = [_filter(text) for text in options.filters]
    limit = None if options.all else options.limit
    page = min(limit or PAGE, PAGE)
    rows = list(itertools.islice(connect().pages("/runs/", [*params, ("page_size", str(page))]), limit))
    if options.json:
        print_json(rows)
    elif options.csv:
        _csv(rows)
    else:
        table = []
        for row in rows:
            hardware = row["hardware"]["name"] if row.get("hardware") else ""
            what = (row["id"], row["workload"]["slug"], dbms_of(row), hardware)
            table.append((*what, row["status"], headline(row), row["created_at"][:10]))
        print_table(table, heading=("RUN", "WORKLOAD", "DBMS", "MACHINE", "STATUS", "RESULT", "STORED"))
        if limit is not None and len(rows) == limit:
            say(f"the first {limit}; --all shows all, --limit N more")
    return 0


def _filter(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"{text!r}: a filter is NAME=VALUE, as workload=tpcb or factor.scale_factor=10")
    return name, value


def headline(row: dict[str, Any]) -> str:
    """12.300 s, Backup rate on backup size 159.350 MB/s: the number that counts, then those beside it."""
    first, *beside = row.get("result") or [{}]
    words = [f"{plain_number(float(first['value']))} {first['unit'] or first['label']}"] if first else []
    words += [f"{metric['label']} {plain_number(float(metric['value']))} {metric['unit']}".strip() for metric in beside]
    return ", ".join(words)


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


EXIT_FAILED, EXIT_CANCELLED, EXIT_LOST, EXIT_TIME_OUT = 20, 21, 22, 23
ENDED = {"finished": 0, "failed": EXIT_FAILED, "cancelled": EXIT_CANCELLED, "lost": EXIT_LOST, "value_missing": 0}
POLL_S = 3.0
# A server that restarts is not the end of a run.
PATIENCE_S = 300.0


def schedule(options: argparse.Namespace) -> int:
    plan = _plan(options)
    api = connect()
    answer = api.post("/experiments/", plan)
    if options.json:
        print_json(answer)
    else:
        print(answer["url"])
        say(f"{counted(len(answer['runs']))}, about {_duration(answer.get('estimated_s'))}: {answer['slug']}")
    return _watch(api, answer["slug"], options) if options.watch else 0


def _plan(options: argparse.Namespace) -> dict[str, Any]:
    plan: dict[str, Any] = {}
    if options.file:
        plan = _from_file(options.file)
    if options.workload:
        plan["workload"] = options.workload
    if options.engine:
        engines = [_engine(text) for text in options.engine]
        if twice := [text for text, count in Counter(options.engine).items() if count > 1]:
            raise UsageError(f"--engine {twice[0]} is given twice: --repeats N measures it more often")
        plan["engines"] = engines
    if options.factor:
        try:
            factors = by_name("--factor", map(_factor, options.factor))
        except ValueError as error:
            raise UsageError(f"{error}; or as NAME=VALUE,VALUE to have each of them run") from error
        plan["factors"] = {**plan.get("factors", {}), **factors}
    for name in ("repeats", "agent", "name", "note", "visibility"):
        if getattr(options, name) is not None:
            plan[name] = getattr(options, name)
    plan |= described(options)
    if "workload" not in plan or not plan.get("engines"):
        raise UsageError("say --workload and at least one --engine, or --file PLAN.json")
    return plan


def _from_file(name: str) -> dict[str, Any]:
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
    """postgresql:15.14"""
    dbms, separator, version = text.partition(":")
    if not separator or not dbms or not version:
        raise UsageError(f"--engine {text!r}: say DBMS:VERSION, as postgresql:15.14")
    return {"dbms": dbms, "version": version}


def _factor(text: str) -> tuple[str, int | float | str | list[int | float | str]]:
    """terminals=8, terminals=1,4,16 (each is run), cache_state=cold"""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise UsageError(f"--factor {text!r}: say NAME=VALUE, as terminals=8, or NAME=VALUE,VALUE")
    values = [number_in(word) for word in value.split(",")]
    return name, values[0] if len(values) == 1 else values


def watch(options: argparse.Namespace) -> int:
    return _watch(connect(), options.what, options)


def _watch(api: Api, what: str, options: argparse.Namespace) -> int:
    """Until every run has ended, or the time is over. The exit status is that of the worst end."""
    started = time.monotonic()
    progress = ProgressLine()
    while True:
        rows = _rows(api, what)
        progress.show(_line(rows, time.monotonic() - started))
        states = [row["status"] for row in rows]
        if rows and all(state in ENDED for state in states):
            break
        if options.timeout is not None and time.monotonic() - started > options.timeout:
            progress.end()
            say("not ended yet")
            return EXIT_TIME_OUT
        time.sleep(options.poll)
    progress.end()
    if options.json:
        print_json(rows)
    else:
        _show(rows)
    return max(ENDED[state] for state in states)


def _rows(api: Api, what: str) -> list[dict[str, Any]]:
    """The run, or the runs of the experiment. Waits for a server that does not answer for a while."""
    since = time.monotonic()
    while True:
        try:
            return _fetch(api, what)
        except Unreachable as error:
            if time.monotonic() - since > PATIENCE_S:
                raise
            say(f"{error}; trying again")
            time.sleep(POLL_S)


def _fetch(api: Api, what: str) -> list[dict[str, Any]]:
    try:
        return [api.get(f"/runs/{UUID(what)}/")]
    except ValueError:
        rows = list(api.pages("/runs/", [("experiment", what), ("page_size", "500")]))
    if not rows:
        raise UsageError(f"{what!r}: no experiment of that name with runs that you may see")
    return sorted(rows, key=lambda row: (row.get("order_index") is None, row.get("order_index") or 0))


def _line(rows: Sequence[dict[str, Any]], elapsed_s: float) -> str:
    states = Counter(row["status"] for row in rows)
    ended = sum(count for state, count in states.items() if state in ENDED)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    return f"{ended}/{len(rows)} ended · {counts}" + (f" · {_duration(elapsed_s)}" if sys.stderr.isatty() else "")


def _show(rows: Sequence[dict[str, Any]]) -> None:
    table = [(row["id"], dbms_of(row), row["status"], headline(row)) for row in rows]
    print_table(table, heading=("RUN", "DBMS", "STATUS", "RESULT"))
    for row in rows:
        if row["status"] != "finished" and row.get("message"):
            say(f"{row['id']}: {row['message']}")


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return "an unknown time"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
