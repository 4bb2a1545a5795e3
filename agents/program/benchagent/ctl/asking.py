"""`benchctl ask`: a question about runs, answered by the server in words and in claims."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchagent.ctl.api import connect, id_of
from benchagent.ctl.comparing import exit_status, not_older
from benchagent.ctl.lists import open_words
from benchagent.ctl.output import UsageError, plain_number, print_json, print_line, print_table

# There is no claim: the answer says what is missing. The verdicts that --fail-if names have those of `compare`.
EXIT_NO_ANSWER = 19
NO_RATIO = "no ratio"


def run(options: argparse.Namespace) -> int:
    answer = connect().get("/answers/", [*parameters(options.what), *not_older(options.since)])
    # Where something falls off is told by a shape, which may be undecided, too.
    kinds = [_change(claim).get("verdict") or claim.get("shape", "") for claim in answer.get("claims") or ()]
    status = exit_status(kinds, options.fail_if or ()) if kinds else EXIT_NO_ANSWER
    if options.json:
        print_json({**answer, "exit_status": status})
    else:
        _show(answer)
    return status


def parameters(what: list[str]) -> list[tuple[str, str]]:
    """The parameters of the API: NAME=VALUE as it stands, the id of a run as `run`, a bare word as the question."""
    chosen: list[tuple[str, str]] = []
    for text in what:
        name, separator, value = text.partition("=")
        if separator and name:
            chosen.append((name, value))
        elif id_of(text):
            chosen.append(("run", text))
        elif any(name == "ask" for name, _ in chosen):
            raise UsageError(f"{text!r}: a question has been asked already; a filter is NAME=VALUE, as label=sweep")
        else:
            chosen.append(("ask", text))
    return chosen


def _change(claim: Mapping[str, Any]) -> Mapping[str, Any]:
    return claim.get("ratio") or claim.get("change") or claim.get("gain") or {}


def _show(answer: Mapping[str, Any]) -> None:
    if answer.get("asked"):
        print_line(str(answer["asked"]))
    print(answer.get("words") or "")
    rows = [
        (str(claim["kind"]), str(claim.get("label") or "all"), _found(claim, str(answer.get("unit") or "")),
         _number(claim), _verdict(claim))
        for claim in answer.get("claims") or ()
    ]  # fmt: skip
    if rows:
        # In a standing the ratio is that of the first to each; a level names its two.
        ranks = any(claim["kind"] == "standing" for claim in answer["claims"])
        ratio = "FIRST ÷ THIS" if ranks else "RATIO OR CHANGE"
        print_table(rows, heading=("CLAIM", "OF", "FOUND", ratio, "VERDICT"))
    for words in answer.get("missing") or ():
        print_line(f"missing: {words}")
    for words in answer.get("warnings") or ():
        print_line(f"warning: {words}")
    counts = answer.get("counts") or {}
    if counts.get("unnumbered") or counts.get("left_out"):
        print_line("{drawn} of {selected} runs, {unnumbered} without a number, {left_out} left out".format(**counts))
    counted = Counter[str]()
    for each in answer.get("left_out") or ():
        counted[str(each["reason"])] += int(each.get("count", 1))
    for reason, count in counted.items():
        print_line(f"left out: {count:,} × {reason}")


def _found(claim: Mapping[str, Any], unit: str) -> str:
    """What a claim of its kind found, besides the ratio."""
    words = ""
    match claim["kind"]:
        case "standing":
            centre = "" if claim["centre"] is None else f", {plain_number(float(claim['centre']))} {unit}".rstrip()
            # Of many each is set against the best alone, which gives no place among the others.
            rank = "below the best" if claim["rank"] is None else f"rank {claim['rank']}"
            over = f", over {claim['over']}" if claim.get("over") else ""
            words = f"{'no rank' if _verdict(claim) == NO_RATIO else rank}{centre}{over}"
        case "level" if claim.get("second"):
            words = f"{claim['first']} ÷ {claim['second']}"
        case "loss":
            words = " → ".join(claim["levels"])
        case "falls_off":
            # Two lines that meet beside a turn are not where it turns.
            shape, at = (
                (claim["turn"], claim["turns_at"]) if claim["shape"] == "turn" else (claim["shape"], claim["at"])
            )
            words = shape if at is None else f"{shape} at {at:.4g}"
            if claim.get("step"):
                words += f" from {claim['interval'][0]:.4g} to {claim['interval'][1]:.4g}"
        case "scales":
            words = f"most {plain_number(float(claim['most']))} {unit} at {claim['most_at']:.4g}"
        case "effect":
            # Without pairs it is of a fit over configurations.
            name = "configuration" if claim.get("configurations") else "pair"
            count = claim.get("configurations") or claim["pairs"]
            words = f"{claim['start']} → {claim['end']}, {count} {name}{'s' * (count != 1)}"
        case "step":
            at = " ".join(filter(None, (claim["day"], claim["tested"])))
            is_open = "suspected " if claim.get("is_suspected") else open_words(claim)
            words = f"{is_open}since {at}" if at else f"no step in {claim['batches']} batches"
        case "newer":
            words = f"{claim['newest']} against {claim['batches']} batch{'' if claim['batches'] == 1 else 'es'}"
        case "published":
            here, printed, mean = (
                "–" if side is None else plain_number(float(side))
                for side in (claim["here"], claim["printed"], claim.get("mean"))
            )
            words = f"{here} here, printed {printed}"
            words += "" if mean in (printed, "–") else f", {mean} the mean of its repeats"
        case "changed":
            words = f"{claim['a']} → {claim['b']}"
    return words


def _verdict(claim: Mapping[str, Any]) -> str:
    change = _change(claim)
    verdict = str(change.get("verdict") or "")
    is_judged = verdict not in ("", "refused") and "ratio" in claim
    return NO_RATIO if is_judged and change.get("value") is None else verdict


def _number(claim: Mapping[str, Any]) -> str:
    """A ratio as a factor, a change in per cent, with the interval."""
    change = _change(claim)
    is_factor = bool(claim.get("ratio"))
    value, *ends = (change.get(name) for name in ("value", "low", "high"))
    if value is None:
        return ""
    if claim["kind"] == "scales":
        # What grows 256 times is no change in per cent.
        is_factor, value, ends = True, value + 1, [None if end is None else end + 1 for end in ends]
    words, *between = (_factor(each) if is_factor else f"{each:+.1%}" for each in (value, *ends) if each is not None)
    return f"{words} ({' to '.join(between)})" if len(between) == 2 else words


def _factor(value: float) -> str:
    return f"{value:.3f}" if value >= 0.01 else f"{value:.3g}"
