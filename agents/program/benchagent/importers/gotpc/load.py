"""`prepare` and `check`: what was loaded and checked."""

from __future__ import annotations

import re

from benchagent.importers.base import Report, Scalar, SourceFile, Status, Subject
from benchagent.importers.gotpc.command import command_of
from benchagent.importers.gotpc.rows import TIME_IN_FRONT
from benchagent.redaction import redact_text

TOOL = "go-tpc"
_LOAD = re.compile(r"^\s*load to (?P<table>\w+)(?: in warehouse (?P<warehouse>\d+))?(?: district (?P<district>\d+))?$")
_CHECK = re.compile(r"^\s*begin to check warehouse (?P<warehouse>\d+) at condition (?P<condition>[\d.]+)$")
_FAILED = re.compile(
    r"^panic: |a fatal occurred|^Error: |check prepare failed|check .* failed|execute (?:prepare|check) failed|"
    r"count of table .* (?:should be|not|!=)|^fatal error: "
)
_SIGNAL = re.compile(r"Got signal \[|force exit")


def loads(file: SourceFile) -> list[Report]:
    """The report of a prepare or check; none where the file holds neither. go-tpc prints no times for them."""
    lines = _lines(file)
    loaded = [match for line in lines if (match := _LOAD.match(line))]
    checked = [match for line in lines if (match := _CHECK.match(line))]
    if not loaded and not checked:
        return []
    finished = sum(1 for line in lines if line.strip() == "Finished")
    if finished > 1 and not _one_load(lines):
        return [Report(tool=TOOL, status=Status.NOT_UNDERSTOOD, reason="not understood: several loads in one file")]
    status, reason = _status(lines, bool(finished))
    parameters: dict[str, Scalar] = {}
    warnings: list[str] = []
    numbers = {int(match["warehouse"]) for match in (*loaded, *checked) if match["warehouse"]}
    commands = [found for line in lines if (found := command_of(line))]
    if commands:
        parameters |= {
            name: value for name, value in commands[-1][2].items() if name not in ("interval_s", "duration_s")
        }
    if status is Status.COMPLETE and numbers:
        if numbers == set(range(1, max(numbers) + 1)):
            parameters.setdefault("warehouses", max(numbers))
        else:
            warnings.append("the numbers of the warehouses have gaps: their count is not known")
    warnings.append("go-tpc prints no times of loading and checking")
    name = "TPC-C load (go-tpc)" if loaded else "TPC-C check (go-tpc)"
    return [
        Report(
            tool=TOOL, status=status, reason=reason, parameters=parameters, warnings=tuple(warnings),
            subject=Subject(workload="tpcc-go-tpc-load" if loaded else "tpcc-go-tpc-check", workload_name=name),
            command_lines=tuple(found[0] for found in commands[-1:]),
        )
    ]  # fmt: skip


def split_load(file: SourceFile) -> tuple[SourceFile | None, SourceFile]:
    """What a file holds of loading and checking, up to go-tpc's "Finished", and the rest: runs that follow."""
    lines = _lines(file)
    last = max((place for place, line in enumerate(lines) if _LOAD.match(line) or _CHECK.match(line)), default=None)
    if last is None:
        return None, file
    end = next((place for place in range(last, len(lines)) if lines[place].strip() == "Finished"), len(lines) - 1) + 1
    tail = "\n".join(lines[end:]) + ("\n" if file.last_line_is_whole else "")
    head = SourceFile(file.name, ("\n".join(lines[:end]) + "\n").encode())
    return head, SourceFile(file.name, tail.encode())


def _lines(file: SourceFile) -> list[str]:
    return [re.sub(TIME_IN_FRONT, "", line).rstrip() for line in file.lines]


def _one_load(lines: list[str]) -> bool:
    """Whether everything was created once: a `prepare` with the `check` after it is one load."""
    created = [line for line in lines if line.startswith("creating table ")]
    return len(created) == len(set(created)) and bool(created)


def _status(lines: list[str], finished: bool) -> tuple[Status, str]:
    failure = next((line for line in lines if _FAILED.search(line)), None)
    if failure is not None:
        return Status.FAILED, f"go-tpc failed: {redact_text(failure.strip())[:200]}"
    if any(_SIGNAL.search(line) for line in lines):
        return Status.ABORTED, "stopped before its end"
    if not finished:
        return Status.ABORTED, "the log ends before go-tpc's word that it finished"
    return Status.COMPLETE, ""
