"""A report as a table of its lines: how each reads, what it says, and in which order they come. One reader for all.

A line of a table is written as the tool prints it, with a mark for what changes:

    ("transactions", "transactions: {transactions:int} ({tps:num} per sec.)")

`{name:KIND}` is a value (KINDS, or the words it may be: `{mode:simple|prepared}`), `{one|another}` one of some
wordings, `[…]` what may be missing, `[[…][…]]` parts that may be missing and stand in any order, a blank any number
of blanks; a backslash takes the next character as it is. A count is read as int, a decimal as float, a nan as None,
anything else stays text; what is missing has no value. What stands before the first value is how the line begins (a
third entry, a regular expression, where that is not enough): a line that begins so and goes on otherwise is damaged,
and its report is refused with its number. A key that stands there again is another wording of the same line. Keys
with # are headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Status, check_count, not_understood
from benchagent.importers.source import Line, NotUnderstood, SourceFile, printed_lines, seconds_of, without_comment
from benchagent.redaction import redact_text

_DECIMAL = r"\d+(?:\.\d+)?"
KINDS = {
    "int": r"\d+", "num": _DECIMAL, "signed": rf"-?{_DECIMAL}", "num?": rf"-?(?:nan|NaN|N/A|{_DECIMAL})",
    "exp": rf"{_DECIMAL}(?:[eE][+-]?\d+)?", "grouped": r"(?:\d{1,3}(?:,\d{3})+|\d+)", "word": r"\w+", "token": r"\S+",
    "quoted": r"[^\"]+", "rest": r".+", "words": r"[^\s|]+(?: [^\s|]+)*", "label": r"[^\s:][^:]*",
    "cell": r'"[^"]*"|[^,]*',
    "mib": _DECIMAL, "time": rf"{_DECIMAL}(?:ms|s)?", "size": rf"{_DECIMAL}[KMGT]?i?[Bb]?", "name": r"[A-Za-z][\w ]*?",
    "cells": r"[-\d.,]+(?: +[-\d.,]+)*", "span": rf"(?:{_DECIMAL}(?:ms|us|µs|ns|[hms]))+",
    "clock": r"(?:\d+:)?\d+:\d\d", "fill": r"[.·_=─═-]+", "gap": r" {12,}",
}  # fmt: skip
PIECE = re.compile(r"\\(.)|\{(\w*):([^{}]*)\}|\{([^{}]*)\}|([\[\]])|( +)|([^\\{}\[\] ]+)")
_READ: dict[str, Callable[[str], int | float | None]] = {
    "int": int, "grouped": lambda text: int(text.replace(",", "")), "num": float, "signed": float, "exp": float,
    "num?": lambda text: None if "n" in text.lower() else float(text),
    "span": seconds_of, "mib": lambda text: round(float(text) * 1.048576, 4),
    # Milliseconds where no unit stands there.
    "time": lambda text: round(float(text.rstrip("ms")) * (1000 if re.search(r"\ds$", text) else 1), 6),
    "clock": lambda text: sum(int(part) * 60**power for power, part in enumerate(reversed(text.split(":")))),
}  # fmt: skip
# Where a line ends with one of these, its form does not show that it is whole.
_OPEN_KIND = re.compile(r":(?:rest|word|token|words|cell|label|span|size)\}\]?$")
_NOTE = re.compile(r" {2}(?:#|--|//)")
_OPEN_END = re.compile(r"(?:\d\.?|,)$")


def pattern_of(template: str, *, careful: bool = False) -> tuple[str, str]:
    """The regular expressions of a line's beginning and of the whole line.

    `careful`: of a template that a stranger wrote. No part of it gives back what it took, so that no line takes long.
    """
    whole, start = "", None
    group, once = ("(?>", "+") if careful else ("(?:", "")
    pieces, closings = PIECE.findall(template), list[str]()
    for at, (escaped, name, kind, wordings, bracket, blanks, text) in enumerate(pieces):
        value = KINDS.get(kind) or _one_of(kind)
        value = f"(?>{value})" if careful else value
        if start is None and (kind or bracket == "["):
            start = whole or (value if kind else "")
        if kind:
            whole += f"(?P<{name}>{value})" if name else f"(?:{value})"
        elif bracket == "[":
            is_one_of_some = bool(closings) and closings[-1].startswith(")*")
            whole += "|" * (is_one_of_some and whole.endswith(")")) + group
            holds_some = pieces[at + 1 : at + 2] and pieces[at + 1][4] == "["
            closings.append(")" if is_one_of_some else f")*{once}" if holds_some else f")?{once}")
        elif bracket:
            whole += closings.pop() if closings else ")"
        elif blanks:
            whole += r"[ \t]++" if careful else " +"
        else:
            whole += _one_of(wordings) if wordings else re.escape(escaped or text)
    return (whole if start is None else start.removesuffix(r"[ \t]++").removesuffix(" +")), whole


def _one_of(wordings: str) -> str:
    # The longest first, so that none is taken for the beginning of another.
    return f"(?:{'|'.join(re.escape(wording) for wording in sorted(wordings.split('|'), key=len, reverse=True))})"


def damage_of(text: str, tool: str) -> str:
    comma = re.search(r"\d,\d", text)
    return "a decimal comma may mean two things" if comma else f"not a wording or number that {tool} prints"


class Match(NamedTuple):
    """What a line says, by the row of the table that it follows; `cut`: the last line of a file, which may go on."""

    key: str
    rank: int
    values: dict[str, Any]
    cut: bool = False


class _Row(NamedTuple):
    key: str
    start: re.Pattern[str]
    whole: re.Pattern[str]
    # Readers of the values that are not text, by name.
    read: dict[str, Callable[[str], int | float | None]]
    # Whether what begins so must be this line.
    strict: bool
    # Whether its last value is the rest of the line, and whether its form does not show where it ends.
    takes_rest: bool
    is_open: bool


class Table:
    """The lines of a report in the order in which the tool prints them."""

    def __init__(self, tool: str, *rows: tuple[str, ...], strict: bool = True, careful: bool = False) -> None:
        self.tool = tool
        self.rank: dict[str, int] = {}
        self._rows: list[_Row] = []
        for key, template, *starts in rows:
            start, whole = pattern_of(template, careful=careful)
            self.rank.setdefault(key, len(self.rank))
            rest, is_open = template.endswith((":rest}", ":rest}]")), bool(_OPEN_KIND.search(template))
            read = {name: _READ[kind] for _, name, kind, *_ in PIECE.findall(template) if name and kind in _READ}
            # Not so where others print the same words; a stranger's line must begin with some of its own.
            own = strict and (not careful or len(re.findall(r"[A-Za-z]", re.sub(r"\\.|\?P?<\w*", "", start))) > 2)
            begins = re.compile(starts[0] if starts else start)
            self._rows.append(_Row(key, begins, re.compile(whole), read, own, rest, is_open))
        # The group tells the first row that begins so.
        self._any = re.compile("|".join(f"(?P<_{at}>{row.start.pattern})" for at, row in enumerate(self._rows)))

    def match(self, line: Line) -> Match | None:
        """What a line says; None for a line of something else.

        Raises NotUnderstood for a line that begins like one of the table and goes on otherwise: a decimal comma, a
        damaged number, a wording that is not known. A last line without its end is taken only where its form shows
        that it is whole.
        """
        # An empty line would be one of which everything may be missing.
        begun = self._any.match(line.text) if line.text else None
        if begun is None:
            return None
        first = int((begun.lastgroup or "_0")[1:])
        for row in self._rows[first:]:
            text = _NOTE.split(line.text, maxsplit=1)[0] if row.takes_rest else line.text
            match = row.whole.fullmatch(text)
            if match is None and line.whole and row.start.match(line.text):
                match = row.whole.fullmatch(without_comment(line.text))
            if match:
                texts = {name: text for name, text in match.groupdict().items() if text is not None}
                if not line.whole and (row.is_open or _OPEN_END.search(line.text)):
                    # The line is there, but for its last value, which may go on.
                    last = match.lastgroup or ""
                    if last in texts and match.end(last) == len(text):
                        del texts[last]
                    if not texts:
                        return Match(row.key, self.rank[row.key], {}, cut=True)
                values = {name: row.read[name](text) if name in row.read else text for name, text in texts.items()}
                return Match(row.key, self.rank[row.key], values)
        if not self._rows[first].strict:
            return None
        if not line.whole:
            return Match(self._rows[first].key, self.rank[self._rows[first].key], {}, cut=True)
        raise NotUnderstood(f"{damage_of(line.text, self.tool)}: {line.text[:80]!r}")


@dataclass
class Told:
    """What stands in one part of a file: where it begins, and why it cannot be read."""

    line: int = 1
    refusal: str = field(default="", kw_only=True)
    command_lines: list[str] = field(default_factory=list, kw_only=True)
    # Lines that say that it did not end well.
    problems: list[str] = field(default_factory=list, kw_only=True)
    # What is to be said of its report.
    warnings: list[str] = field(default_factory=list, kw_only=True)


@dataclass
class Figures(Told):
    """What the lines of one report say. A line may stand there twice, but say nothing else and not come too late."""

    # Rows by the keys of the table, and all together.
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    rank: int = -1

    def add(self, line: Line, match: Match) -> None:
        """Raises NotUnderstood for what contradicts an earlier line, or comes after what it stands before."""
        before = self.rows.get(match.key)
        if before == match.values:
            return
        if before is not None or any(self.values.get(name, value) != value for name, value in match.values.items()):
            raise NotUnderstood(f"says {line.text[:60]!r}, an earlier line something else")
        if match.rank < self.rank:
            raise NotUnderstood(f"out of order: {line.text[:60]!r}")
        self.rank = match.rank
        self.rows[match.key] = match.values
        self.values |= match.values


AnyPart = TypeVar("AnyPart", bound=Told)


@dataclass
class Run(Figures):
    """A run of which one table tells."""

    # The rows that repeat (a distribution, progress) in their order.
    repeated: list[Match] = field(default_factory=list)
    # The row that the file ends in the middle of.
    cut: str = ""

    @property
    def has_begun(self) -> bool:
        """Whether more than a command line stands there of it."""
        return bool(self.rows or self.repeated or self.refusal)

    def repeat(self, line: Line, match: Match) -> None:
        """Raises NotUnderstood for a row that comes after what it stands before."""
        if match.rank < self.rank:
            raise NotUnderstood(f"out of order: {line.text[:60]!r}")
        self.rank = match.rank
        self.repeated.append(match)

    def rows_of(self, key: str) -> list[dict[str, Any]]:
        """What the rows say that repeat under this key."""
        return [row.values for row in self.repeated if row.key == key]


def says_more(run: Run, match: Match) -> bool:
    """Whether a row is not the only one of a run once more."""
    return [*run.rows.items()] != [(match.key, match.values)]


@dataclass(kw_only=True)
class Runs:
    """The runs of a tool with one table, each begun by a row of `begins`, by a command line, or by what comes first.

    `called`: the tool's command lines, which are kept for the run that follows.
    """

    table: Table
    # What a logger puts in front of the words of the tool.
    front: re.Pattern[str] | None = None
    begins: Container[str]
    lists: Container[str] = ()
    called: Commands | None = None
    # Whether one call runs several, so that its command line is that of all of them.
    several_a_call: bool = False
    # Whether a row that begins a run begins another than the one before it.
    another: Callable[[Run, Match], bool] = says_more

    def reports(self, file: SourceFile, report: Callable[[Run], Report], nothing: str) -> list[Report]:
        """The reports of all runs of a file, as `reports_of`."""
        return reports_of(self.read(file), report, self.table.tool, nothing)

    def read(self, file: SourceFile) -> list[Run]:
        return [run for run in parts_of(printed_lines(file), Run(), self.take) if run.has_begun]

    def take(self, run: Run, line: Line) -> Run:
        """The run that the line is of: a new one where it begins one."""
        if self.front:
            line = line._replace(text=self.front.sub("", line.text).strip())
        match = self.table.match(line)
        if match is None:
            if self.called and (command := self.called.find(line.text)):
                run = Run() if run.has_begun else run
                run.command_lines = [redact_text(command)]
        elif match.cut:
            run.cut = match.key
        else:
            run.line = run.line if run.has_begun else line.number
            run = self.take_row(run, line, match)
        return run

    def take_row(self, run: Run, line: Line, match: Match) -> Run:
        if match.key in self.begins and run.has_begun and (run.refusal or self.another(run, match)):
            run = Run(command_lines=run.command_lines if self.several_a_call else [])
        run.repeat(line, match) if match.key in self.lists else run.add(line, match)
        return run


def parts_of(lines: Iterable[Any], first: AnyPart, take: Callable[[AnyPart, Any], AnyPart]) -> list[AnyPart]:
    """The parts of a file, which begins with `first`; each of its lines has a `number`.

    `take` gives a line to the part before it, or to a new one that it begins, and returns that. What it raises spoils
    the part before, which takes further lines all the same: they show where the next one begins.
    """
    parts = [first]
    for line in lines:
        part = parts[-1]
        try:
            part = take(part, line)
        except NotUnderstood as error:
            part.refusal = part.refusal or f"line {line.number}: {error}"
        if part is not parts[-1]:
            part.line = line.number
            parts.append(part)
            check_count(len(parts))
    return parts


def reports_of(
    parts: Iterable[Any], read: Callable[[Any], Report | Iterable[Report]], tool: str, nothing: str = ""
) -> list[Report]:
    """What `read` makes of each part; one that contradicts itself spoils no other.

    Raises NotUnderstood where none is understood, and where there is none, if that is worth words.
    """
    reports: list[Report] = []
    for part in parts:
        line, refusal = (part.line, part.refusal) if isinstance(part, Told) else (0, "")
        try:
            if refusal:
                raise NotUnderstood(refusal)
            made = read(part)
            reports += [made] if isinstance(made, Report) else made
        except NotUnderstood as error:
            where = f"line {line}: " if line and not str(error).startswith("line ") else ""
            reports.append(not_understood(f"{where}{error}", tool=tool))
    check_count(len(reports))
    if all(report.status is Status.NOT_UNDERSTOOD for report in reports) and (reports or nothing):
        raise NotUnderstood(reports[0].refusal if reports else nothing)
    return reports
