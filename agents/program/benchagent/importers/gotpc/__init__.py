"""go-tpc (TPC-C, TPC-H and CH-benCHmark of PingCAP): plain, table and JSON output of `run`, and `prepare`/`check`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.gotpc.rows import command_of, events_of
from benchagent.importers.gotpc.runs import reports
from benchagent.importers.report import Report, Scalar, Status, Subject, not_understood
from benchagent.importers.source import NotUnderstood, SourceFile
from benchagent.redaction import redact_text

TOOL = "go-tpc"
# Words of it may stand in the output of others, who are asked before it.
ASKED = 600

MARKS = re.compile(
    r"^[^\n]{0,80}?(?:"
    r"\[(?:Current|Summary)\] [A-Z][\w-]*\s*(?:- (?:Takes\(s\)|Count): |: \d+\.\d+s\s*$)"
    r"|\[\{\"[^\n]*\"Prefix\":\s*\"\[(?:Current|Summary)\]"
    r"|[|│]\s*\[(?:Current|Summary)\]\s*[|│]"
    r"|[A-Z][\w-]* *- Takes\(s\): [\d.]+, Count: \d+, TPM: "
    r"|tpmC: [\d.]+(?:,|$)"
    r"|load to \w+ in warehouse \d+(?: district \d+)?\s*$"
    r"|begin to check warehouse \d+ at condition )",
    re.MULTILINE,
)
WORDS = ("[Current]", "[Summary]", ", TPM: ", "tpmC: ", "load to ", "begin to check warehouse ")


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS, WORDS)


def read(file: SourceFile) -> Sequence[Report]:
    head, rest = split_load(file)
    if head is not None and any(event.kind != "note" for event in events_of(head)):
        raise NotUnderstood("figures of a run amid the lines of a load: lines are out of order")
    runs = reports(events_of(rest))
    if head is not None:
        # Without a run after it, all of the file is the load's: a panic may follow its end.
        return [load_of(head if runs else file), *runs]
    if not runs:
        raise NotUnderstood("no figures of a run and no list of loaded tables in it")
    return runs


# `prepare` and `check`: what was loaded and checked. go-tpc prints no times for them.

_LOAD = re.compile(r"^\s*load to (?P<table>\w+)(?: in warehouse (?P<warehouse>\d+))?(?: district (?P<district>\d+))?$")
_CHECK = re.compile(r"^\s*begin to check warehouse (?P<warehouse>\d+) at condition (?P<condition>[\d.]+)$")
_FAILED = re.compile(
    r"^panic: |a fatal occurred|^Error: |check prepare failed|check .* failed|execute (?:prepare|check) failed|"
    r"count of table .* (?:should be|not|!=)|^fatal error: "
)
_SIGNAL = re.compile(r"Got signal \[|force exit")


def split_load(file: SourceFile) -> tuple[SourceFile | None, SourceFile]:
    """What a file holds of loading and checking, up to go-tpc's "Finished", and the rest: runs that follow."""
    lines = [line.rstrip() for line in file.lines]
    last = max((at for at, line in enumerate(lines) if _LOAD.match(line) or _CHECK.match(line)), default=None)
    if last is None:
        return None, file
    end = next((at for at in range(last, len(lines)) if lines[at].strip() == "Finished"), len(lines) - 1) + 1
    tail = "\n".join(lines[end:]) + ("\n" if file.last_line_is_whole else "")
    head = SourceFile(file.name, ("\n".join(lines[:end]) + "\n").encode())
    return head, SourceFile(file.name, tail.encode())


def load_of(file: SourceFile) -> Report:
    lines = [line.rstrip() for line in file.lines]
    loaded = [match for line in lines if (match := _LOAD.match(line))]
    checked = [match for line in lines if (match := _CHECK.match(line))]
    finished = sum(1 for line in lines if line.strip() == "Finished")
    # A `prepare` with the `check` after it is one load: everything was created once.
    created = [line for line in lines if line.startswith("creating table ")]
    if finished > 1 and (not created or len(created) != len(set(created))):
        return not_understood("several loads in one file; send one each", tool=TOOL)
    failure, reason = next((line for line in lines if _FAILED.search(line)), None), ""
    if failure is not None:
        reason = f"go-tpc failed: {redact_text(failure.strip())[:200]}"
    elif any(_SIGNAL.search(line) for line in lines):
        reason = "stopped before its end"
    elif not finished:
        reason = "the log ends before go-tpc's word that it finished"
    commands = [command for line in lines if (command := command_of(line))]
    parameters: dict[str, Scalar] = dict(commands[-1][2]) if commands else {}
    parameters.pop("duration_s", None)
    warnings: list[str] = []
    numbers = {int(match["warehouse"]) for match in (*loaded, *checked) if match["warehouse"]}
    if numbers and not reason:
        if min(numbers) == 1 and max(numbers) == len(numbers):
            parameters.setdefault("warehouses", max(numbers))
        else:
            warnings.append("the numbers of the warehouses have gaps: their count is not known")
    kind = "load" if loaded else "check"
    return Report(
        TOOL, Status.COMPLETE if failure is None else Status.FAILED, reason=reason, parameters=parameters,
        warnings=(*warnings, "go-tpc prints no times of loading and checking"),
        subject=Subject(workload=f"tpcc-go-tpc-{kind}", workload_name=f"TPC-C {kind} (go-tpc)"),
        command_lines=tuple(line for line, _, _ in commands[-1:]),
    )  # fmt: skip
