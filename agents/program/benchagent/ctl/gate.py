"""`benchctl gate`: results to the server, each cell judged against a baseline, for a pipeline that must decide."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree

from benchagent.ctl.api import Api, connect
from benchagent.ctl.lists import dbms_of
from benchagent.ctl.output import UsageError, counted, plain_number, print_json, print_line, print_table
from benchagent.ctl.running import plan_of, until_ended
from benchagent.ctl.uploading import DONE, NOT_UNDERSTOOD, Outcome, import_files
from benchagent.link.client import InsecureUrl, Refused, Unreachable

EXIT_WORSE, EXIT_UNDECIDED, EXIT_COULD_NOT, EXIT_UNREACHABLE = 1, 2, 3, 4
FORMATS = ("table", "markdown", "junit", "json")
HEADING = ("BENCHMARK", "METRIC", "NEW", "CHANGE", "INTERVAL", "VERDICT")
LEAST_REPEATS = 3
# So many metrics that were not judged are named.
MOST_METRICS_NAMED = 4
Cell = Mapping[str, Any]


def run(options: argparse.Namespace) -> int:
    """0: no cell is worse; 1: one is; 2: one could not be decided; 3: something was not stored or has no number.

    A pipeline keeps what is printed: also where nothing could be judged it is in the form that was asked for.
    """
    if bool(options.run) == bool(options.files):
        raise UsageError("name files that were measured, or --run PLAN.json to measure two sides")
    try:
        answer = _in_turn(options) if options.run else _against(options)
        status = exit_status(answer)
    except (UsageError, InsecureUrl, Refused, Unreachable) as error:
        answer = _nothing(options, [(options.run or ", ".join(options.files), str(error))])
        status = EXIT_UNREACHABLE if isinstance(error, Unreachable) else EXIT_COULD_NOT
    _print(answer, options.format, status)
    return status


def _against(options: argparse.Namespace) -> dict[str, Any]:
    """What files hold against the baseline; of no cell where not all of it is stored."""
    outcomes = import_files(options)
    if lacking := [each for outcome in outcomes for each in _not_stored(outcome)]:
        return _nothing(options, lacking)
    runs = [str(run["id"]) for outcome in outcomes for run in outcome.runs]
    if not runs:
        return _nothing(options, [(name, "it holds no run") for outcome in outcomes for name in outcome.files])
    for outcome in outcomes:
        if outcome.message:
            print_line(f"{', '.join(outcome.files)}: {outcome.message}")
    return _judged(connect(), options, {"runs": runs, "than": options.than})


def _judged(api: Api, options: argparse.Namespace, body: dict[str, Any]) -> dict[str, Any]:
    """The server's answer, with the reasons of runs that were not judged, which an older server does not say."""
    # An older server knows no metrics.
    asked = {"metrics": options.metric} if options.metric else {}
    answer = api.post("/gate/", {**body, **asked, "allow_pct": options.allow})
    without = zip_longest(answer["without"], answer.get("why_without", ()), fillvalue="no reason given")
    return {**answer, "not_judged": [{"what": run, "why": why} for run, why in without]}


def _not_stored(outcome: Outcome) -> list[tuple[str, str]]:
    """The files of a group that is not stored, or not whole, with the reason of each."""
    if outcome.done:
        return []
    unread = {item["file"]: item["reason"] for item in outcome.items if item["status"] == NOT_UNDERSTOOD}
    if outcome.state in DONE:
        return [*unread.items()]
    return [(name, outcome.message or outcome.state) for name in outcome.files]


def _nothing(options: argparse.Namespace, not_judged: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """An answer of no cell, with what kept each file from being judged."""
    faults = [{"what": name, "why": why} for name, why in not_judged]
    return {"than": options.than, "cells": [], "without": [], "why_without": [], "not_judged": faults}


def _in_turn(options: argparse.Namespace) -> dict[str, Any]:
    """Two sides of a plan measured in turn on one agent, with the same data and disks. Raises UsageError."""
    plan = plan_of(options.run)
    repeats = plan.get("repeats", 1)
    if "template" not in plan and isinstance(repeats, int) and repeats < LEAST_REPEATS:
        raise UsageError(f"{options.run}: repeats is {repeats}, and no verdict is made of fewer than {LEAST_REPEATS}")
    api = connect()
    experiment = api.post("/experiments/", plan)
    print_line(f"{experiment['url']}: {counted(len(experiment['runs']))}, base and head in turn")
    rows = until_ended(api, experiment["slug"], poll_s=options.poll)
    sides = sides_of(rows)
    if len(sides) != 2:
        raise UsageError(f"{options.run}: {len(sides)} systems, where a base and a head are needed")
    base, head = sides
    names = {}
    for row in rows:
        config = (row.get("config") or {}).get("name", "")
        names[str(row["id"])] = f"{dbms_of(row)} ({config})" if config else dbms_of(row)
    answer = _judged(api, options, {"runs": head, "base": base})
    return {**answer, "than": f"{names[base[0]]}, measured in turn with {names[head[0]]}"}


def sides_of(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Runs by what they tested, in the order in which they were measured: the base is the first."""
    sides: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        side = (row["dbms"]["slug"], row["dbms"]["version"], (row.get("config") or {}).get("slug", ""))
        sides.setdefault(side, []).append(str(row["id"]))
    return list(sides.values())


def exit_status(answer: Mapping[str, Any]) -> int:
    verdicts = {cell["change"]["verdict"] for cell in answer["cells"]}
    if "worse" in verdicts:
        return EXIT_WORSE
    if answer["without"] or not verdicts or "refused" in verdicts:
        return EXIT_COULD_NOT
    return 0 if all(cell["not_worse"] for cell in answer["cells"]) else EXIT_UNDECIDED


def _print(answer: Mapping[str, Any], form: str, status: int) -> None:
    cells = answer["cells"]
    if form == "json":
        print_json({**answer, "exit_status": status})
    elif form == "junit":
        print(ElementTree.tostring(_junit(answer), encoding="unicode"))
    elif form == "markdown":
        _print_markdown(answer)
    else:
        print_table([_row(cell) for cell in _on_machines(cells)], heading=HEADING)
        print_line(f"{heading(answer)}: {summary(cells)}")
        for cell, title, words in _notes(cells):
            print_line(f"{title}: {cell['benchmark']}: {words}")
    if form in ("table", "markdown") and (others := answer.get("also_measured", ())):
        more = f" and {len(others) - MOST_METRICS_NAMED} more" if len(others) > MOST_METRICS_NAMED else ""
        print_line(
            f"measured and not judged: {', '.join(others[:MOST_METRICS_NAMED])}{more} (--metric NAME judges one)"
        )
    for each in answer["not_judged"]:
        print_line(f"not judged: {each['what']}: {each['why']}")


def _print_markdown(answer: Mapping[str, Any]) -> None:
    cells, escapes = answer["cells"], str.maketrans({mark: f"\\{mark}" for mark in "|[]"})
    print(f"### Benchmarks, {heading(answer)}: {summary(cells)}\n")
    if cells:
        rows = [tuple(name.capitalize() for name in HEADING), ("---",) * len(HEADING)]
        for cell in _on_machines(cells):
            rows.append((f"[{cell['benchmark'].translate(escapes)}]({cell['url']})", *_row(cell)[1:]))
        print("\n".join(f"| {' | '.join(row)} |" for row in rows))
        if notes := [f"* {title}: {cell['benchmark']}: {words}" for cell, title, words in _notes(cells)]:
            print("\n" + "\n".join(notes).translate(escapes))
    for each in answer["not_judged"]:
        what, why = (" ".join(each[name].split()).translate(escapes) for name in ("what", "why"))
        print(f"* not judged: {what}: {why}")


def _on_machines(cells: Sequence[Cell]) -> Sequence[Cell]:
    """These cells, their benchmarks with the machine where they are of several."""
    if len({cell["machine"] for cell in cells}) < 2:
        return cells
    return [{**cell, "benchmark": f"{cell['benchmark']} on {cell['machine'] or 'no machine'}"} for cell in cells]


def _notes(cells: Sequence[Cell]) -> list[tuple[Cell, str, str]]:
    """Of each cell in what its conditions are not those of the baseline, and which batches of that stand apart and do
    not count; an older server says neither.
    """
    titles = {"not alike": "not_alike", "left out": "left_out"}
    return [(cell, title, cell[key]) for cell in _on_machines(cells) for title, key in titles.items() if cell.get(key)]


def heading(answer: Mapping[str, Any]) -> str:
    """Throughput against last:10."""
    metrics = ", ".join(dict.fromkeys(cell["metric"] for cell in answer["cells"]))
    return f"{metrics} against {answer['than']}".lstrip()


def summary(cells: Sequence[Cell]) -> str:
    """2 worse, 5 equivalent."""
    verdicts = ("not worse" if _is_only_not_worse(cell) else cell["change"]["verdict"] for cell in cells)
    counts = Counter(verdict.replace("_", " ") for verdict in verdicts)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()) or "nothing to judge"


def _is_only_not_worse(cell: Cell) -> bool:
    """Whether nothing was lost and it is undecided whether anything was won."""
    return bool(cell["not_worse"]) and cell["change"]["verdict"] == "undecided"


def _row(cell: Cell) -> tuple[str, str, str, str, str, str]:
    change = cell["change"]
    ends = (change["low"], change["high"])
    return (
        cell["benchmark"],
        cell["metric"],
        "" if cell["value"] is None else f"{plain_number(float(cell['value']))} {cell['unit']}".rstrip(),
        "" if change["value"] is None else f"{change['value'] - 1:+.1%}",
        "" if None in ends else f"{ends[0] - 1:+.1%} to {ends[1] - 1:+.1%}",
        "; ".join(filter(None, ("not worse" * _is_only_not_worse(cell), change["why"]))) or change["verdict"],
    )


def _junit(answer: Mapping[str, Any]) -> ElementTree.Element:
    """A test a cell: worse fails, what is undecided is skipped. What could not be judged is an error."""
    suite = ElementTree.Element("testsuite", name=f"benchmarks, {heading(answer)}")
    has_several = len({cell["metric"] for cell in answer["cells"]}) > 1
    for cell in answer["cells"]:
        name = f"{cell['benchmark']}, {cell['metric']}" if has_several else cell["benchmark"]
        case = ElementTree.SubElement(suite, "testcase", classname=cell["machine"], name=name)
        _, _, _, change, interval, why = _row(cell)
        kind = {"worse": "failure", "refused": "error"}.get(cell["change"]["verdict"])
        kind = kind or (None if cell["not_worse"] else "skipped")
        if kind:
            ElementTree.SubElement(case, kind, message=f"{change} ({interval}): {why}" if interval else why)
        if notes := [f"{title}: {words}" for _, title, words in _notes([cell])]:
            ElementTree.SubElement(case, "system-out").text = "\n".join(notes)
    for each in answer["not_judged"]:
        case = ElementTree.SubElement(suite, "testcase", classname="not judged", name=each["what"])
        ElementTree.SubElement(case, "error", message=each["why"])
    suite.set("tests", str(len(suite)))
    for name, count in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{count}"))))
    return suite
