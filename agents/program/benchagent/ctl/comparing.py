"""`benchctl compare`: cells against a baseline, for people and for a CI."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from benchagent.ctl.api import Api, connect, id_of
from benchagent.ctl.lists import a_filter
from benchagent.ctl.output import UsageError, plain_number, print_json, print_line, print_table

# Only verdicts that --fail-if names change the exit status; of several groups the first of these that is named and
# present decides. "refused": the two may not be compared at all.
EXIT_OF = {
    "worse": 10, "refused": 17, "no_value": 18, "different": 16, "undecided": 14, "too_few": 15, "too_small": 12,
    "better": 11, "equivalent": 13,
}  # fmt: skip
_CELL = re.compile(r"[0-9a-f]{8,64}")


def verdicts(text: str) -> tuple[str, ...]:
    """`--fail-if worse,undecided`."""
    names = tuple(name.strip().replace("-", "_") for name in text.split(",") if name.strip())
    for name in names:
        if name not in EXIT_OF:
            raise argparse.ArgumentTypeError(f"unknown verdict {name!r}: known are {', '.join(EXIT_OF)}")
    return names


def run(options: argparse.Namespace) -> int:
    api = connect()
    baseline = options.baseline or _chosen(api, options)
    given = {"group": options.group, "metric": options.metric, "threshold": options.threshold}
    said = [(name, str(value)) for name, value in given.items() if value is not None]
    chosen = list(dict.fromkeys([*(_parameter(text) for text in [*options.what, baseline]), *said]))
    first = api.get("/compare/", chosen)
    runs = _runs_of(api, baseline, options.group or "")
    # Never the first group for want of a better one.
    held = (group["key"] for group in first.get("groups", []) if runs & set(map(str, group["runs"])))
    if (key := next(held, None)) is None:
        words = "is it deleted, or not yours to see?"
        raise UsageError(f"the server's answer does not hold the baseline {baseline}: {words}")
    answer = first if first.get("baseline") == key else api.get("/compare/", [*chosen, ("baseline", key)])
    if answer.get("baseline") != key:
        raise UsageError("the server compares with another baseline than the one that was asked for")
    kinds = {group["key"]: kind_of(group) for group in answer["groups"] if group["key"] != key}
    if not kinds:
        raise UsageError("there is nothing to compare: all runs are repeats of the baseline")
    status = exit_status(kinds.values(), options.fail_if or ())
    if options.json:
        print_json({**answer, "verdicts": kinds, "exit_status": status})
    else:
        _show(answer, key)
    return status


def _chosen(api: Api, options: argparse.Namespace) -> str:
    """The newest run of the cell that is compared which the filters choose, but none of its own batch."""
    kind, value = _parameter(options.what[0])
    own = api.get(f"/runs/{value}/") if kind == "run" else {}
    filters = [*map(a_filter, options.baseline_filter), *not_older(options.since)]
    cell = own.get("cell_key") or value
    for row in api.pages("/runs/", [*filters, ("workload", own["workload"]["slug"])] if own else filters):
        if row["cell_key"].startswith(cell) and (not own or row["batch"] != own["batch"]):
            return str(row["id"])
    raise UsageError(f"no run of this cell is chosen by {' '.join(options.baseline_filter)}")


def days(text: str) -> int:
    """`30d`"""
    if not re.fullmatch(r"[1-9]\d{0,4}d", text):
        raise argparse.ArgumentTypeError("say days, as 30d")
    return int(text[:-1])


def not_older(days: int | None) -> list[tuple[str, str]]:
    """The filter of runs that are not older than so many days; none without."""
    return [("measured_from", (datetime.now(UTC) - timedelta(days=days)).date().isoformat())] if days else []


def exit_status(kinds: Any, fail_if: Sequence[str]) -> int:
    decisive = set(kinds) & set(fail_if)
    return next((status for kind, status in EXIT_OF.items() if kind in decisive), 0)


def kind_of(group: Mapping[str, Any]) -> str:
    verdict = group.get("verdict")
    if isinstance(verdict, dict) and verdict.get("kind"):
        kind = str(verdict["kind"])
        # A verdict of a newer server must not pass for a good one.
        return kind if kind in EXIT_OF else "undecided"
    return "refused" if group.get("refused") else "no_value"


def _parameter(text: str) -> tuple[str, str]:
    if run := id_of(text):
        return "run", run
    if _CELL.fullmatch(text):
        return "cell", text
    raise UsageError(f"{text!r} is neither the id of a run nor the key of a cell")


def _runs_of(api: Api, text: str, grouping: str) -> set[str]:
    """The ids of the runs that are meant: the run itself, or all repeats of the cell."""
    kind, value = _parameter(text)
    if kind == "run":
        return {value}
    pooled = [("group", grouping)] if grouping else []
    groups = api.get("/compare/", [("cell", value), *pooled]).get("groups", [])
    if len(groups) > 1:
        raise UsageError(
            f"{text} begins the keys of {len(groups)} cells, or of one that was measured in several batches: "
            "give more of it, name a run, or pool batches with --group all"
        )
    return {str(run) for group in groups for run in group["runs"]}


def _show(answer: Mapping[str, Any], baseline: str) -> None:
    metric = answer.get("metric")
    if metric:
        print_line(f"metric: {metric['label']} ({metric['unit']})")
    rows = []
    for group in answer["groups"]:
        summary = group.get("summary") or {}
        means = ("–" if value is None else plain_number(float(value)) for value in (
            group.get("value", summary.get("geometric_mean")), group.get("median")
        ))  # fmt: skip
        verdict = "baseline" if group["key"] == baseline else _words(group)
        label = str(group.get("label") or group["key"])
        rows.append((label, str(group.get("n", "")), *means, _ratio(group), verdict))
    statistic = next((group["statistic"] for group in answer["groups"] if group.get("statistic")), "geometric mean")
    ratio = "RATIO OF MEANS" if statistic == "geometric mean" else "RATIO"
    print_table(rows, heading=("GROUP", "N", statistic.upper(), "MEDIAN", ratio, "VERDICT"))
    for group in answer["groups"]:
        if isinstance(group.get("verdict"), dict) and group["verdict"].get("robustness"):
            print_line(f"{group.get('label') or group['key']}: {group['verdict']['robustness']}")
    if answer.get("headline"):
        print_line(str(answer["headline"]))
    if answer.get("family", 0) > 1:
        print_line(f"{answer['family']} comparisons are judged together (Holm)")
    for group in answer["groups"]:
        notes = [
            difference
            for difference in group.get("differences") or ()
            if difference["severity"] == "note" and difference["a"] != difference["b"]
        ]
        for difference in notes if group.get("ratio") else ():
            print_line(
                f"{group['label']}, not alike: {difference['label']}: {difference['a']} against {difference['b']}"
            )
    for warning in answer.get("warnings") or ():
        print_line(f"warning: {warning}")


def _ratio(group: Mapping[str, Any]) -> str:
    ratio = group.get("ratio")
    if not ratio:
        return ""
    interval = "" if ratio.get("low") is None else f" ({ratio['low']:.3f} to {ratio['high']:.3f})"
    return f"{ratio['value']:.3f}{interval}"


def _words(group: Mapping[str, Any]) -> str:
    verdict = group.get("verdict")
    if isinstance(verdict, dict) and verdict.get("words"):
        return str(verdict["words"])
    return str(group.get("refused") or "; ".join(group.get("gaps") or ()) or "no value")
