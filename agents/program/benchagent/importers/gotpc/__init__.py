"""go-tpc (TPC-C, TPC-H and CH-benCHmark of PingCAP): plain, table and JSON output of `run`, and `prepare`/`check`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.gotpc.rows import command_of, events_of
from benchagent.importers.gotpc.runs import reports
from benchagent.importers.report import Report, Subject, not_understood
from benchagent.importers.source import Line, NotUnderstood, SourceFile, printed_lines, shown_by
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
claims = shown_by(MARKS, WORDS)


def read(file: SourceFile) -> Sequence[Report]:
    if not _LOADING.search(file.text):
        return reports(events_of(printed_lines(file)))
    # What is told of loading ends with go-tpc's word that it finished; runs follow.
    lines = [*printed_lines(file)]
    last = max((at for at, line in enumerate(lines) if _LOADING.fullmatch(line.text)), default=0)
    end = next((at + 1 for at in range(last, len(lines)) if lines[at].text == "Finished"), len(lines))
    if any(event.kind in ("row", "total", "broken") for event in events_of(lines[:end])):
        raise NotUnderstood("figures of a run amid the lines of a load: lines are out of order")
    runs = reports(events_of(lines[end:]))
    # Without a run after it, all of the file is the load's: a panic may follow its end.
    return [load_of(lines[:end] if runs else lines), *runs]


_LOADING = re.compile(
    r"^[ \t]*(?:load to \w+|begin to check)(?:(?: in)? warehouse (?P<number>\d+))?"
    r"(?: district \d+| at condition [\d.]+)?[ \t]*$",
    re.MULTILINE,
)
_FAILED = re.compile(
    r"^panic: |a fatal occurred|^Error: |check .* failed|execute (?:prepare|check) failed|"
    r"count of table .* (?:should be|not|!=)|^fatal error: "
)


def load_of(lines: Sequence[Line]) -> Report:
    """What `prepare` loaded and `check` checked: go-tpc prints no times for them."""
    texts = [line.text for line in lines]
    steps = [step for text in texts if (step := _LOADING.fullmatch(text))]
    finished = texts.count("Finished")
    # A `prepare` with the `check` after it is one load: everything was created once.
    created = [text for text in texts if text.startswith("creating table ")]
    if finished > 1 and (not created or len(created) != len(set(created))):
        return not_understood("several loads in one file; send one each", tool=TOOL)
    failure, reason = next(filter(_FAILED.search, texts), ""), ""
    if any("Got signal [" in text or "force exit" in text for text in texts):
        reason = "stopped before its end"
    elif not finished:
        reason = "the log ends before go-tpc's word that it finished"
    line, _, parameters = next(filter(None, map(command_of, reversed(texts))), ("", "", {}))
    parameters.pop("duration_s", None)
    warnings = ["go-tpc prints no times of loading and checking"]
    numbers = {int(step["number"]) for step in steps if step["number"]}
    ended = not (reason or failure)
    if numbers and ended and numbers == {*range(1, len(numbers) + 1)}:
        parameters.setdefault("warehouses", len(numbers))
    elif numbers and ended:
        warnings.insert(0, "the numbers of the warehouses have gaps: their count is not known")
    kind = "load" if any("load" in step[0] for step in steps) else "check"
    return Report(
        TOOL, reason=reason, failure=failure and f"go-tpc failed: {redact_text(failure)[:200]}", parameters=parameters,
        warnings=tuple(warnings), subject=Subject(f"tpcc-go-tpc-{kind}", f"TPC-C {kind} (go-tpc)"),
        command_lines=(line,),
    )  # fmt: skip
