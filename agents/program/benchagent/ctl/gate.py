"""`benchctl gate`: results to the server, each cell judged against a baseline, for a pipeline that must decide."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree

from benchagent.ctl.api import connect
from benchagent.ctl.lists import dbms_of
from benchagent.ctl.output import UsageError, counted, plain_number, print_json, print_line, print_table
from benchagent.ctl.running import plan_of, until_ended
from benchagent.ctl.uploading import sent

EXIT_WORSE, EXIT_UNDECIDED, EXIT_COULD_NOT = 1, 2, 3
FORMATS = ("table", "markdown", "junit", "json")
HEADING = ("BENCHMARK", "NEW", "CHANGE", "INTERVAL", "VERDICT")
Cell = Mapping[str, Any]


def run(options: argparse.Namespace) -> int:
    """0: no cell is worse; 1: one is; 2: one could not be decided; 3: something was not stored or has no number."""
    if bool(options.run) == bool(options.files):
        raise UsageError("name files that were measured, or --run PLAN.json to measure two sides")
    answer = _in_turn(options) if options.run else _against(options)
    if answer is None:
        return EXIT_COULD_NOT
    status = exit_status(answer)
    _print(answer, options.format, status)
    return status


def _against(options: argparse.Namespace) -> dict[str, Any] | None:
    """What files hold against the baseline; None where not all of it is stored."""
    outcomes = sent(options)
    for outcome in outcomes:
        if outcome.message:
            print_line(f"{', '.join(outcome.files)}: {outcome.message}")
    runs = [str(run["id"]) for outcome in outcomes for run in outcome.runs]
    if not runs or not all(outcome.done for outcome in outcomes):
        print_line("nothing was judged: not every file is stored")
        return None
    return connect().post("/gate/", {"runs": runs, "than": options.than, "allow_pct": options.allow})


def _in_turn(options: argparse.Namespace) -> dict[str, Any] | None:
    """Two sides of a plan measured in turn on one agent, with the same data and disks; None of other plans."""
    api = connect()
    experiment = api.post("/experiments/", plan_of(options.run))
    print_line(f"{experiment['url']}: {counted(len(experiment['runs']))}, base and head in turn")
    rows = until_ended(api, experiment["slug"], poll_s=options.poll)
    sides = sides_of(rows)
    if len(sides) != 2:
        print_line(f"{options.run}: {len(sides)} systems, where a base and a head are needed: nothing was judged")
        return None
    base, head = sides
    names = {}
    for row in rows:
        config = (row.get("config") or {}).get("name", "")
        names[str(row["id"])] = f"{dbms_of(row)} ({config})" if config else dbms_of(row)
    answer = api.post("/gate/", {"runs": head, "base": base, "allow_pct": options.allow})
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
        print(f"### Benchmarks against {answer['than']}: {summary(cells)}\n")
        rows = [("Benchmark", "New", "Change", "Interval", "Verdict"), ("---",) * 5]
        escapes = str.maketrans({mark: f"\\{mark}" for mark in "|[]"})
        rows += [(f"[{cell['benchmark'].translate(escapes)}]({cell['url']})", *_row(cell)[1:]) for cell in cells]
        print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    else:
        print_table([_row(cell) for cell in cells], heading=HEADING)
        print_line(f"against {answer['than']}: {summary(cells)}")
    for run, why in _not_judged(answer):
        print_line(f"not judged: {run}: {why}")


def _not_judged(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Runs with the reasons, which an older server does not say."""
    return zip_longest(answer["without"], answer.get("why_without", ()), fillvalue="no reason given")


def summary(cells: Sequence[Cell]) -> str:
    """2 worse, 5 equivalent."""
    verdicts = ("not worse" if _is_only_not_worse(cell) else cell["change"]["verdict"] for cell in cells)
    counts = Counter(verdict.replace("_", " ") for verdict in verdicts)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()) or "nothing to judge"


def _is_only_not_worse(cell: Cell) -> bool:
    """Whether nothing was lost and it is undecided whether anything was won."""
    return bool(cell["not_worse"]) and cell["change"]["verdict"] == "undecided"


def _row(cell: Cell) -> tuple[str, str, str, str, str]:
    change = cell["change"]
    ends = (change["low"], change["high"])
    return (
        cell["benchmark"],
        "" if cell["value"] is None else f"{plain_number(float(cell['value']))} {cell['unit']}".rstrip(),
        "" if change["value"] is None else f"{change['value'] - 1:+.1%}",
        "" if None in ends else f"{ends[0] - 1:+.1%} to {ends[1] - 1:+.1%}",
        "; ".join(filter(None, ("not worse" * _is_only_not_worse(cell), change["why"]))) or change["verdict"],
    )


def _junit(answer: Mapping[str, Any]) -> ElementTree.Element:
    """A test a cell: worse fails, what is undecided is skipped. A run that could not be judged is an error."""
    suite = ElementTree.Element("testsuite", name=f"benchmarks against {answer['than']}")
    for cell in answer["cells"]:
        case = ElementTree.SubElement(suite, "testcase", classname=cell["machine"], name=cell["benchmark"])
        _, _, change, interval, why = _row(cell)
        kind = {"worse": "failure", "refused": "error"}.get(cell["change"]["verdict"])
        kind = kind or (None if cell["not_worse"] else "skipped")
        if kind:
            ElementTree.SubElement(case, kind, message=f"{change} ({interval}): {why}" if interval else why)
    for run, why in _not_judged(answer):
        case = ElementTree.SubElement(suite, "testcase", classname="not judged", name=run)
        ElementTree.SubElement(case, "error", message=why)
    suite.set("tests", str(len(suite)))
    for name, count in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{count}"))))
    return suite
