"""Results of tools that people run already, read from their files: recognised by content, never by name."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache, reduce
from typing import Protocol, TypeVar, runtime_checkable

from benchagent import plugins
from benchagent.importers import plain_csv
from benchagent.importers.apart import agreeing, told_apart, warn_of_alike
from benchagent.importers.described import shipped
from benchagent.importers.margins import DOCUMENTS, Claimed, Margin, bare, began, logged, proposals
from benchagent.importers.report import Metric, ReadFile, Report, Series, Status, Subject, as_json, not_understood
from benchagent.importers.source import PIECE_BYTES, NotUnderstood, SourceFile

LOG = logging.getLogger(__name__)
Kind = TypeVar("Kind")
FAILED = "its reader fails on it: a fault of this program"
# Rises where files that were read are read differently from now on: imports from before are offered to be read again.
PARSER_VERSION = 17
# How the refusal of a file begins in which its tool shows, and no run.
NO_RUN = "no run of "
# How early an importer is asked that does not say so itself (`ASKED`).
ASKED = 500


class Importer(Protocol):
    """One module, an entry point of `benchsite.importers`."""

    TOOL: str

    def claims(self, file: SourceFile) -> bool:
        """Whether the content is this tool's. Cheap, by marks that no other tool prints. May raise NotUnderstood."""

    def read(self, file: SourceFile) -> Sequence[Report]:
        """Every run of the file, in order. Raises NotUnderstood rather than guess."""


@runtime_checkable
class Streaming(Importer, Protocol):
    """One that reads some of its files as a stream, so that a large one needs no memory."""

    def streams(self, head: SourceFile) -> bool:
        """Whether a file that begins so is read as a stream: it is this tool's then, and `claims` is not asked."""


@runtime_checkable
class Marking(Importer, Protocol):
    """One of a tool whose output may stand in one file with another's."""

    # What only this tool prints; where it begins to stand, its part of the file begins.
    MARKS: re.Pattern[str]
    # One of these stands wherever the marks do: looked for first.
    WORDS: Collection[str]


@runtime_checkable
class Combining(Importer, Protocol):
    """One of a tool that leaves several files of one run."""

    def combine(self, files: list[ReadFile]) -> None:
        """Put together what belongs together, in place (logs of the threads of one run, files of one run).

        The files and their order stay. Files of one run: the first holds the whole, the others' reports
        have `part_of` and no numbers of their own, so that nothing counts twice.
        """


@cache
def importers() -> tuple[Importer, ...]:
    """In the order in which they are asked: described tools, then by `ASKED`, others' before ours, by name."""
    modules: Sequence[Importer] = tuple(plugins.offered(plugins.IMPORTERS).values())
    return (*shipped(), *sorted(modules, key=lambda module: getattr(module, "ASKED", ASKED)))


def inspect(
    files: Sequence[SourceFile],
    begin: Callable[[SourceFile], None] = lambda file: None,
    own_tools: Sequence[Importer] = (),
) -> list[ReadFile]:
    """Every file with its runs; what belongs together is put together. Never raises for any content.

    `begin` is told each file before it is read. `own_tools`: what somebody described, asked before all others.
    """
    of_files: list[Outputs] = []
    for file in files:
        begin(file)
        of_files.append(_understood(file, own_tools))
    outputs = [*itertools.chain.from_iterable(of_files)]
    for importer in _that_are(Combining) if len(outputs) > 1 else ():
        together: list[ReadFile] = [(file, reports) for file, reader, reports in outputs if reader is importer]
        if len(together) < 2:
            continue
        before, reason = [reports for _, reports in together], ""
        try:
            importer.combine(together)
        except NotUnderstood as error:
            reason = str(error)
        except Exception:
            LOG.exception("the importer of %s fails on files of one run", importer.TOOL)
            reason = FAILED
        for kept, (_, reports) in zip(before, together, strict=True):
            kept[:] = [not_understood(reason, tool=importer.TOOL)] if reason else reports
    read: list[ReadFile] = [
        (file, [agreeing(report) for _, _, reports in of_file for report in reports])
        for file, of_file in zip(files, of_files, strict=True)
    ]
    for _, reports in read:
        if len(tools := {report.tool for report in reports if report.tool}) > 1:
            words = f"output of {' and '.join(sorted(tools))} in one file: each is read by itself"
            reports[:] = [replace(report, warnings=(*report.warnings, words)) for report in reports]
    warn_of_alike(read)
    return read


# What stands in one file, each with who understood it.
Outputs = list[tuple[SourceFile, Importer | None, list[Report]]]
# One margin in another: a quoted mail of what a container logged.
MOST_MARGINS = 3


def _understood(file: SourceFile, own_tools: Sequence[Importer]) -> Outputs:
    """A file as it is; without the margins of its lines where more is read then."""
    try:
        if not file.is_large:
            outputs, margins = _without_margins(file, own_tools)
            return _with_surroundings(outputs, file, margins)
    except NotUnderstood:
        return _outputs(file, own_tools)
    # A large one is read twice only where it did not come to its end; the margins of its beginning are those of all.
    outputs = _outputs(file, own_tools) if streaming(file) else []
    if outputs and _worth(outputs)[1]:
        return outputs
    _, margins = _without_margins(file.head, own_tools)
    if outputs and not margins:
        return outputs
    return _with_surroundings(_outputs(reduce(bare, margins, file), own_tools), file, margins)


def _without_margins(file: SourceFile, own_tools: Sequence[Importer]) -> tuple[Outputs, tuple[Margin, ...]]:
    """What is read, and the margins without which it is. Raises NotUnderstood for what is no text."""
    best, known, margins = _outputs(file, own_tools), tuple[Margin, ...](), tuple[Margin, ...]()
    outputs = best
    if _worth(best)[1] and all(_is_of_logs(importer) for _, importer, _ in best):
        return best, known
    while len(margins) < MOST_MARGINS:
        start = file.text[:PIECE_BYTES]
        tries: list[tuple[Outputs, SourceFile, Margin]] = []
        words = tuple(word for _, importer, _ in outputs for word in getattr(importer, "WORDS", ()))
        rank, ended, _ = _worth(outputs)
        claimed, understood = _claimed(outputs), rank % 2 == 1
        for margin in proposals(start, claimed=claimed, ended=ended, understood=understood, words=words):
            without = bare(file, margin)
            tries.append((_outputs(without, own_tools), without, margin))
        if not tries:
            break
        before = outputs
        outputs, file, margin = max(tries, key=lambda each: _worth(each[0]))
        if _worth(outputs) < _worth(best) or (any(_worth(outputs)) and outputs == before):
            break
        margins = (*margins, margin)
        # A margin in another shows nothing before both are gone; that there is no run hides what is wrong with one.
        is_empty = all(report.refusal.startswith(NO_RUN) for _, _, reports in outputs for report in reports)
        if any(_worth(outputs)) and (_worth(outputs) > _worth(best) or not is_empty):
            best, known = outputs, margins
    return best, known


def _outputs(file: SourceFile, own_tools: Sequence[Importer]) -> Outputs:
    """The outputs of different tools that stand in one file, each by itself where all can be told apart."""
    shown = _shown(file)
    if len(tools := sorted({importer.TOOL for importer in shown})) > 1:
        outputs = [(part, *_read(part, own_tools)) for part in _parts(file, shown)]
        # Words of one tool in the output of another are no output of their own.
        if all(importer is not None for _, importer, _ in outputs):
            return outputs
        words = f"words of {' and '.join(tools)} stand in one file, not all of which could be told apart"
        file.remarks.append(f"{words}: send one file each")
    return [(file, *_read(file, own_tools))]


def _claimed(outputs: Outputs) -> Claimed:
    """Who knows what stands there, whatever is then said of it."""
    reports = [report for _, _, reports in outputs for report in reports]
    if any(report.tool != plain_csv.TOOL and not report.is_of_no_tool for report in reports):
        return Claimed.BY_TOOL
    return Claimed.BY_TABLE if any(report.tool for report in reports) else Claimed.NOT


def _worth(outputs: Outputs) -> tuple[int, bool, int]:
    """Who understands it: a tool, no tool that knows it, a table, nobody; whether to its end; how much it says."""
    reports = [report for _, _, reports in outputs for report in reports]
    of_tools = [report for report in reports if report.tool not in ("", plain_csv.TOOL)]
    understood = [report for report in reports if report.status is not Status.NOT_UNDERSTOOD]
    details = sum(
        len(report.metrics) + sum(series.points for series in report.series) + len(report.parameters)
        + len(report.subject.settings) + len(report.command_lines) + bool(report.started_at) + bool(report.subject.dbms)
        + (report.status is Status.FAILED)
        for report in of_tools
    )  # fmt: skip
    rank = 2 * bool(of_tools) + any(report in understood for report in of_tools or reports)
    return rank, all(report.status is Status.COMPLETE for report in reports), details


def _with_surroundings(outputs: Outputs, file: SourceFile, margins: Sequence[Margin]) -> Outputs:
    """What was taken off says more: words above the documents of a text tell them apart, a stamp when a run began."""
    if len(outputs) != 1 or (importer := outputs[0][1]) is None:
        return outputs
    ((part, _, reports),) = outputs

    def read(section: SourceFile) -> Sequence[Report]:
        without = reduce(bare, margins, section)
        return importer.read(without) if importer.claims(without) else []

    if DOCUMENTS in margins:
        reports = told_apart(file, reports, read)
    if len(reports) == 1 and not reports[0].started_at:
        began_at = began(file, margins) if margins else logged(file) if _is_of_logs(importer) else ""
        reports = [replace(reports[0], started_at=began_at)] if began_at else reports
    return [(part, importer, reports)]


def _is_of_logs(importer: Importer | None) -> bool:
    """Whether its lines stand in a log, whatever that puts in front of them: nothing need be taken off."""
    return bool(getattr(importer, "IN_LOGS", False))


@cache
def _that_are(kind: type[Kind]) -> list[Kind]:
    return [importer for importer in importers() if isinstance(importer, kind)]


def _shown(file: SourceFile) -> list[Marking]:
    """Whose marks stand in a file; of a large one, in which there is one tool's output, nobody's."""
    try:
        every = [] if file.is_large else _that_are(Marking)
        return [importer for importer in every if file.shows(importer.MARKS, importer.WORDS)]
    except NotUnderstood:
        return []


def _parts(file: SourceFile, shown: Sequence[Marking]) -> list[SourceFile]:
    """The file in parts at their lines: another one begins behind the empty line before a tool's mark, else there."""
    text, cuts = file.text, [0]
    marks = sorted(
        (text.rfind("\n", 0, mark.start() + 1) + 1, importer.TOOL)
        for importer in shown
        for mark in importer.MARKS.finditer(text)
    )
    for (before, tool), (begins, other) in itertools.pairwise(marks):
        if tool != other:
            gap = text.rfind("\n\n", before, begins)
            cuts.append(begins if gap < 0 else gap + 2)
    return [
        SourceFile(file.name, ("\n" * (file.lines_in_front + text.count("\n", 0, start)) + text[start:end]).encode())
        for start, end in itertools.pairwise([*cuts, len(text)])
    ]


def streaming(file: SourceFile) -> Importer | None:
    """The importer that reads this file as a stream; None for a small file and for any other."""
    return streaming_from(file) if file.is_large else None


def streaming_from(file: SourceFile) -> Importer | None:
    """The importer that reads a large file as a stream that begins as this one does."""
    try:
        return next((importer for importer in _that_are(Streaming) if importer.streams(file.head)), None)
    except NotUnderstood:
        return None


def _in_order(file: SourceFile, own_tools: Sequence[Importer]) -> list[Importer]:
    """A large table whose beginning is no tool's is not searched for what each of them prints."""
    every = [*own_tools, *importers()]
    if not file.is_large:
        return every
    *tools, table = every
    try:
        return every if any(tool.claims(file.head) for tool in tools) else [table, *tools]
    except NotUnderstood:
        return every


def _read(file: SourceFile, own_tools: Sequence[Importer] = ()) -> tuple[Importer | None, list[Report]]:
    """The importer that understood the file, and what it read."""
    tool = reason = ""
    try:
        if importer := streaming(file) or next((one for one in _in_order(file, own_tools) if one.claims(file)), None):
            tool = importer.TOOL
            reports = told_apart(file, [*importer.read(file)], importer.read)
            if not reports:
                raise NotUnderstood(f"{NO_RUN}{tool} stands in it")
            if file.remarks:
                reports = [replace(report, warnings=(*report.warnings, *file.remarks)) for report in reports]
            return importer, reports
        reason = "" if file.head.text.strip() else "an empty file"
    except NotUnderstood as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply"
    except (ValueError, OverflowError):  # as Python says it: thousands of digits
        reason = "a number in it is larger than any that a tool prints"
    except Exception:  # an importer that trips costs its file, and nothing else
        LOG.exception("the importer of %s fails on %s", tool or "no tool", file.name)
        reason = FAILED
    return None, [not_understood(reason, tool=tool)]


__all__ = [
    "PARSER_VERSION", "Importer", "Metric", "NotUnderstood", "Report", "Series", "SourceFile", "Status", "Subject",
    "as_json", "importers", "inspect", "streaming", "streaming_from",
]  # fmt: skip
