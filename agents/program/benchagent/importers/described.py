"""A tool described in YAML instead of Python: its lines as it prints them, what they say, and in which unit.

docs/use/importers/own-tools.md has the whole language with examples. The lines are those of `tables.Table`, the
objects of a tool that writes JSON those of `described_json`.

Strangers write these: no regular expressions, and what is made of their lines never goes back over a line.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from benchagent.importers.commands import Commands
from benchagent.importers.described_json import BadDescription, JsonObject
from benchagent.importers.report import Metric, Report, Scalar, Subject, dbms_named, entries, unit_of
from benchagent.importers.source import BEGINS_JSON, Line, NotUnderstood, SourceFile, documents, printed_lines, slug
from benchagent.importers.tables import KINDS, PIECE, Match, Run, Runs, Table, pattern_of, reports_of

__all__ = ["SHIPPED", "BadDescription", "Described", "described", "shipped", "tried"]

SHIPPED = Path(__file__).parent / "described_tools"
MAX_BYTES, MAX_LINES, MAX_TEMPLATE, MAX_DEPTH = 20_000, 60, 600, 6
# That of libyaml, where PyYAML was built with it, is ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KEYS = {
    "tool", "version", "workload", "dbms", "lines", "json", "metrics", "parameters", "computed", "checks", "command",
    "interim", "repeats",
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_TOOL = re.compile(r"[A-Za-z][\w .+-]{0,59}")
_VALUE = re.compile(r"\{(\w+):")
_CHECK = re.compile(
    rf"({_NAME.pattern}|\d+)((?: *[*/+-] *(?:{_NAME.pattern}|\d+(?:\.\d+)?)){{1,4}}) *= *({_NAME.pattern})"
)
_PROGRAM = re.compile(r"[\w.+-]{2,60}(?: [\w.+-]{1,60})?")
_OPTION = re.compile(r"-{0,2}([A-Za-z][\w.-]{0,59})")
# As kinds of values were called before.
_LETTERS = {
    "N": "int", "X": "num", "Y": "signed", "Z": "num?", "W": "word", "S": "token", "G": "grouped", "Q": "quoted",
    "T": "rest", "E": "exp", "L": "words", "C": "cell",
}  # fmt: skip
_LETTER = re.compile(rf":([{''.join(_LETTERS)}])\}}")
_KINDS = ("maybe", "each", "heading", "part", "run")
_REPEATED = ("each", "run")
_OPERATORS: dict[str, Callable[[Any, Any], float]] = {
    "*": operator.mul, "+": operator.add, "-": operator.sub, "/": lambda value, by: value / by if by else math.inf,
}  # fmt: skip


@dataclass(frozen=True)
class _Measured:
    name: str
    unit: str
    better: str
    times: float = 1.0

    def metric(self, value: Any) -> Metric:
        """Raises NotUnderstood."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise NotUnderstood(f"{self.name} is no number: {value!r:.40}")
        value = value if self.times == 1 else round(value * self.times, 12)
        return Metric(self.name, self.unit, value, better=self.better)


class _Equation(NamedTuple):
    """`transactions / elapsed_s = tps`, from left to right."""

    left: str
    steps: tuple[tuple[str, str], ...]
    right: str

    def result(self, values: Mapping[str, Any]) -> float | None:
        """None where one of its values is not there."""
        names = (self.left, *(name for _, name in self.steps))
        operands = [values.get(name) if _NAME.fullmatch(name) else float(name) for name in names]
        if not all(isinstance(operand, int | float) for operand in operands):
            return None
        value = float(operands[0] or 0)
        for (sign, _), operand in zip(self.steps, operands[1:], strict=True):
            value = _OPERATORS[sign](value, operand)
        return value


@dataclass(kw_only=True)
class _Calls(Runs):
    last: str
    # Whether rows may stand in any order, below their headings.
    is_free: bool

    def take_row(self, run: Run, line: Line, match: Match) -> Run:
        if match.key not in self.lists:
            return super().take_row(run, line, match)
        if self.is_free and not run.refusal and self.last in run.rows and match.rank < self.table.rank[self.last]:
            run = Run()
        run.repeat(line, match._replace(rank=run.rank) if self.is_free else match)
        return run


@dataclass(eq=False)
class Described:
    """An importer (`benchagent.importers.Importer`) made of a description."""

    TOOL: str
    table: Table
    # Of a tool that writes JSON instead of lines, by the same keys.
    objects: dict[str, JsonObject]
    workload: str
    dbms: str
    # For each line by its key: its kind, the names of its values, the headings below which it stands.
    kinds: dict[str, str]
    values_of: dict[str, tuple[str, ...]]
    below: dict[str, frozenset[str]]
    # The first line that is always there with those before it, what shows that a run has begun, and the last line.
    begins: frozenset[str]
    begun_by: frozenset[str]
    last: str
    # Whether an output that lacks its last line and is followed by another is progress, and no run.
    interim: bool
    # Whether a row may come again right behind itself, below one heading.
    repeats: bool
    # Value -> metric, value -> parameter.
    metrics: dict[str, _Measured]
    parameters: dict[str, tuple[str, float]]
    computed: tuple[_Equation, ...]
    checks: tuple[_Equation, ...]
    called: Commands
    # What shows that a file may be the tool's.
    MARKS: re.Pattern[str]
    # What stands in each of the lines by which it is known, the longest part of each.
    WORDS: tuple[str, ...]

    @cached_property
    def results(self) -> set[str]:
        """Rows that are runs of their own."""
        return {key for key, kind in self.kinds.items() if kind == "run"}

    @cached_property
    def has_headings(self) -> bool:
        return "heading" in self.kinds.values()

    def claims(self, file: SourceFile) -> bool:
        """Where the first line that always stands there is, and another one; of JSON what always stands there."""
        if self.objects:
            return self._claims_json(file)
        if not file.shows(self.MARKS, self.WORDS):
            return False
        known = set[str]()
        for line in printed_lines(file):
            with suppress(NotUnderstood):
                if (match := self.table.match(line)) and not match.cut:
                    known.add(match.key)
                    if known & self.results if self.results and not self.last else len(known) > 1:
                        return True
        return False

    def _claims_json(self, file: SourceFile) -> bool:
        if not re.match(BEGINS_JSON, file.text.lstrip()) or not file.shows(self.MARKS, self.WORDS):
            return False
        try:
            document, *_ = documents(file.text)
        except NotUnderstood:
            return True  # what is wrong with it is said when it is read
        sure = [key for key, kind in self.kinds.items() if not kind] or self.results
        return all(self.objects[key].found_in(document) for key in sure)

    def read(self, file: SourceFile) -> Sequence[Report]:
        if self.objects:
            return reports_of(documents(file.text), lambda each: self._reports(self._run_of(each)), self.TOOL)
        calls = _Calls(
            table=self.table, begins=self.begins, called=self.called, another=self._is_another, last=self.last,
            lists={key for key, kind in self.kinds.items() if kind not in ("", "maybe")},
            is_free=self.has_headings or bool(self.results),
        )  # fmt: skip
        begun = [
            run
            for run in calls.read(file)
            if run.refusal or not self.begun_by.isdisjoint([*run.rows, *(row.key for row in run.repeated)])
        ]
        if self.interim:
            begun = [run for run in begun[:-1] if run.refusal or self.last in run.rows] + begun[-1:]
        return reports_of(begun, self._reports, self.TOOL, f"no run of {self.TOOL}")

    def _run_of(self, document: Any) -> Run:
        """What a JSON document says, as lines would. Raises NotUnderstood."""
        run = Run()
        for key, each in self.objects.items():
            found = each.found_in(document)
            if self.kinds[key] in _REPEATED:
                run.repeated += [Match(key, 0, each.values_of([one])) for one in found]
            elif found:
                run.rows[key] = each.values_of(found)
                run.values |= run.rows[key]
        return run

    def _is_another(self, run: Run, match: Match) -> bool:
        """Where a line comes again that stands in front of others, but for the same one twice."""
        rank = max(run.rank, self.table.rank[run.repeated[-1].key] if run.repeated else -1)
        return rank > match.rank or run.rows.get(match.key, match.values) != match.values

    def _reports(self, call: Run) -> list[Report]:
        """That of a call, or those of its rows that are runs."""
        return reports_of(self._results(call) if self.results else [call], self.report_of, self.TOOL)

    def _results(self, call: Run) -> list[Run]:
        """Rows that tell of the same run are one."""
        telling = {*self.parameters, *re.findall(r"\{(\w+)\}", self.workload)}
        runs: list[Run] = []
        for heading, key, row in self._rows(call):
            if key in self.results:
                values = {**call.values, **heading, **row}
                same = [run for run in runs if all(run.values.get(name) == values.get(name) for name in telling)]
                if self.has_headings and same and not (self.repeats and same[-1] is runs[-1]):
                    raise NotUnderstood(f"{self._in_words(row)} stands twice below its heading")
                if same and not (row.keys() - telling) & same[-1].values.keys():
                    same[-1].values |= row
                else:
                    runs.append(Run(call.line, rows={self.last: {}}, values=values, command_lines=call.command_lines))
        return runs

    def _rows(self, call: Run) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
        """Rows that repeat with the values of the heading above them. Raises NotUnderstood where one was moved."""
        heading: dict[str, Any] | None = None if self.has_headings else {}
        above, parts = "", Counter[str]()
        for key, _, values, _ in call.repeated:
            if self.kinds[key] == "part":
                parts.update(values)
                continue
            heading, above = (values, key) if self.kinds[key] == "heading" else (heading, above)
            if heading is None or (self.below.get(key) and above not in self.below[key]):
                raise NotUnderstood(f"{self._in_words(values)} stands without its heading above it")
            if wrong := [name for name in parts if not math.isclose(parts[name], values.get(name, parts[name]))]:
                raise NotUnderstood(f"{wrong[0]} of the parts are not {values[wrong[0]]} together")
            parts.clear()
            yield heading, key, values

    @staticmethod
    def _in_words(row: dict[str, Any]) -> str:
        return " ".join(map(str, row.values()))[:60]

    def report_of(self, run: Run) -> Report:
        ended = self.last in run.rows or self.last == run.cut
        run.values = self._completed(run.values)
        values = {name: value for heading, *_ in self._rows(run) for name, value in heading.items()} | run.values
        metrics = self._metrics(run) if ended else []
        workload = re.sub(r"\{(\w+)\}", lambda value: str(values.get(value[1], "")), self.workload)
        parameters = self.called.parameters(run.command_lines)
        for value, (name, times) in self.parameters.items():
            if values.get(value) is not None:
                parameters[name] = _scaled(values[value], times)
        lacks = (
            "none of its figures stands there as it prints them" if ended else "the output ends before its last line"
        )
        return Report(
            self.TOOL, tool_version=str(values.get("version", "")), reason="" if metrics else lacks,
            parameters=parameters, metrics=tuple(metrics), command_lines=tuple(run.command_lines),
            subject=Subject(
                workload=slug(workload, "-"), workload_name=workload, dbms=self.dbms,
                dbms_version=str(values.get("dbms_version", "")) if self.dbms else "",
            ),
        )  # fmt: skip

    def _metrics(self, run: Run) -> list[Metric]:
        """Raises NotUnderstood where a line is missing or the checks do not hold."""
        for key in self.kinds if not self.results else ():
            if key not in run.rows and not self.kinds[key] and key != run.cut:
                raise NotUnderstood(f"the line of {', '.join(self.values_of[key]) or key} is missing")
        metrics: dict[str, Metric] = {
            name: measured.metric(run.values[name])
            for name, measured in self.metrics.items()
            if run.values.get(name) is not None
        }
        for heading, key, printed in self._rows(run):
            if self.kinds[key] != "each":
                continue
            # The values before its first figure name a row, else the first behind it.
            names = [*itertools.takewhile(lambda name: name not in self.metrics, self.values_of[key])]
            names = names or [name for name in self.values_of[key] if name not in self.metrics][:1]
            naming = [printed[name] for name in names if printed.get(name)] or heading.values()
            front = f"{slug(' '.join(map(str, naming)))}_".removeprefix("_")
            beside = {name: value for name, value in run.values.items() if name not in self.values_of[key]}
            row = self._completed(printed, beside)
            self._check(row)
            for name, value in entries(row, *self.metrics).items():
                full_name = f"{front}{self.metrics[name].name}"
                if full_name in metrics:
                    raise NotUnderstood(f"{full_name} stands there twice")
                metrics[full_name] = replace(self.metrics[name], name=full_name).metric(value)
        self._check({name: metric.value for name, metric in metrics.items()} | run.values)
        return [*metrics.values()]

    def _check(self, values: Mapping[str, Any]) -> None:
        """Check values, or metrics by their whole names. Raises NotUnderstood."""
        for check in self.checks:
            value, expected = check.result(values), values.get(check.right)
            if value is None or not isinstance(expected, int | float):
                continue
            # What is printed as a whole number is rounded, but for counts that make another one.
            near = 0.0 if isinstance(expected, int) and all(sign in "+-" for sign, _ in check.steps) else 0.02
            if not math.isclose(value, expected, rel_tol=near, abs_tol=0.51 if float(expected).is_integer() else 0.02):
                raise NotUnderstood(f"{check.right} = {expected:g}, but the other figures make {value:g}")

    def _completed(self, values: dict[str, Any], beside: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """With what is computed of them, and of values that hold for all rows, where no line says it."""
        completed = dict(values)
        for equation in self.computed:
            own = {equation.left, *(name for _, name in equation.steps)} & completed.keys()
            result = equation.result({**beside, **completed}) if own else None
            if completed.get(equation.right) is None and result is not None and math.isfinite(result):
                completed[equation.right] = result
        return completed


def described(text: str) -> Described:
    """Raises BadDescription."""
    content = _loaded(text)
    tool, form = content.get("tool"), "json" if "json" in content else "lines"
    if not isinstance(tool, str) or not _TOOL.fullmatch(tool):
        raise BadDescription("tool: a name of letters and digits is expected, as minibench")
    items = [*_items(content.get(form), form)]
    kinds = {key: kind for key, kind, _ in items}
    rows = [(key, line) for key, _, line in items if form == "lines"]
    objects = {key: JsonObject.of(each, key, repeats=kind in _REPEATED) for key, kind, each in items if not rows}
    values_of = {key: _values(line, key) for key, line in rows} | {
        key: (*each.members,) for key, each in objects.items()
    }
    sure = [number for number, kind in enumerate(kinds.values()) if not kind]
    if not sure and "run" not in kinds.values():
        raise BadDescription("lines: one is always there, and the last such one ends a run: without it it is aborted")
    values = {name for names in values_of.values() for name in names}
    equations = _texts(content.get("computed") or [], "computed")
    values |= {text.rpartition("=")[2].strip() for text in equations}
    computed = tuple(_read_check(text, values, set(), "computed") for text in equations)
    metrics = _read_metrics(content.get("metrics"), values)
    abouts = _abouts(content.get("parameters") or [], "parameters", values, ("name", "times"))
    parameters = {value: (name, times) for value, name, times, _ in abouts}
    # The name of a row that repeats begins with what names the row.
    named_so = {metric.name for metric in metrics.values()}
    checks = tuple(_read_check(check, values, named_so) for check in _texts(content.get("checks") or [], "checks"))
    dbms = str(content.get("dbms") or "")
    workload = str(content.get("workload") or tool)
    if unknown := {*re.findall(r"\{(\w*)\}", workload)} - values:
        raise BadDescription(f"workload: no line has a value {unknown.pop()!r}")
    begins = [key for key in [*kinds][: sure[0] + 1 if sure else len(kinds)] if kinds[key] in ("", "maybe")]
    results = [key for key, kind in kinds.items() if kind == "run"]
    shown_by = [key for key, kind in kinds.items() if kind == "heading" and not _is_telling(rows, sure[:1])]
    of_json = next((each.words for key, each in objects.items() if kinds[key] in ("", "run")), ())
    marks, words = _shown(rows, kinds, sure) if rows else ("|".join(map(re.escape, of_json)), of_json)
    return Described(
        TOOL=tool, table=Table(tool, *rows, careful=True), objects=objects, workload=workload[:100],
        dbms=dbms_named(dbms), kinds=kinds, values_of=values_of, below=_below(kinds),
        begins=frozenset(begins), begun_by=frozenset(results or begins + shown_by),
        last=[*kinds][sure[-1]] if sure else "",
        interim=bool(content.get("interim")), repeats=bool(content.get("repeats")),
        metrics=metrics, parameters=parameters, computed=computed, checks=checks,
        called=_read_command(content.get("command")),
        MARKS=re.compile(marks, re.MULTILINE), WORDS=words,
    )  # fmt: skip


def _items(content: Any, form: str) -> Iterator[tuple[str, str, Any]]:
    """A key, its kind and what is said of each line, or of each object of JSON. Raises BadDescription."""
    if not isinstance(content, list) or not (form == "lines") < len(content) <= MAX_LINES:
        raise BadDescription(f"{form}: a list of 2 to {MAX_LINES} lines is expected, as the tool prints them")
    for number, item in enumerate(content, start=1):
        kind, what = next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else ("", item)
        if form == "json" and not isinstance(what, dict):
            kind, what = "", item  # an object with one value
        if kind not in ("", *_KINDS) or (form == "json" and kind in ("heading", "part")):
            raise BadDescription(f"{form}, {number}: {kind!r} is none of {', '.join(_KINDS)}")
        if isinstance(what, str):
            what = _LETTER.sub(lambda letter: f":{_LETTERS[letter[1]]}}}", what)
        yield f"line {number}", kind, what


def _below(kinds: dict[str, str]) -> dict[str, frozenset[str]]:
    """The headings that stand right above each row that repeats and its like."""
    below: dict[str, frozenset[str]] = {}
    for at, (key, kind) in enumerate(kinds.items()):
        if kind in ("each", "part", "run"):
            above = itertools.dropwhile(lambda other: kinds[other] != "heading", [*kinds][:at][::-1])
            below[key] = frozenset(itertools.takewhile(lambda other: kinds[other] in ("heading", "maybe"), above))
    return below


def _shown(rows: list[tuple[str, str]], kinds: dict[str, str], sure: list[int]) -> tuple[str, tuple[str, ...]]:
    """A regular expression of what shows that a file may be the tool's, and the words of which one is in it."""

    def line(at: int) -> str:
        whole = pattern_of(rows[at][1], careful=True)[1]
        return re.sub(r"[?]P<[a-z0-9_]+>", "?:", whole, flags=re.IGNORECASE)

    repeated = [at for at, (key, _) in enumerate(rows) if kinds[key] in ("heading", "run") and _is_telling(rows, [at])]
    if not (sure or repeated):
        raise BadDescription("lines: none that always stands there, no heading and no run has words of its own")
    # A short word stands in many files.
    long = [at for at in repeated if min(map(len, _words([rows[at][1]]) or [""])) > 6]
    shown = sure[:1] if sure and (_is_telling(rows, sure[:1]) or not repeated) else long or repeated
    return rf"^[^\S\n]*+(?:{'|'.join(map(line, shown))})", _words([rows[at][1] for at in shown])


def _words(templates: Sequence[str]) -> tuple[str, ...]:
    """The longest text that always stands in each line; nothing if a line has none."""
    words: set[str] = set()
    for template in templates:
        depth, always = 0, [[""]]
        for _, _, kind, wordings, bracket, _, text in PIECE.findall(template):
            depth += {"[": 1, "]": -1}.get(bracket, 0)
            some = wordings or ("" if kind in KINDS else kind)
            always += [some.split("|") if some else [text]] if not depth else []
        words |= {*max(always, key=lambda some: min(map(len, some)))}
    return () if min(map(len, words)) < 2 else tuple(sorted(words))


def _scaled(value: Any, times: float) -> Scalar:
    if isinstance(value, str):
        return " ".join(value.split())
    scaled = value if times == 1 else round(value * times, 9)
    return int(scaled) if isinstance(value, int) and scaled == int(scaled) else scaled


def _is_telling(rows: list[tuple[str, str]], at: Sequence[int]) -> bool:
    """Whether a line has words of its own."""
    kinds = "|".join(map(re.escape, KINDS))
    return any(re.search(r"[A-Za-z]{2}", re.sub(rf"\{{\w*:(?:{kinds})\}}", "", rows[row][1])) for row in at)


def _loaded(text: str) -> dict[str, Any]:
    if len(text.encode()) > MAX_BYTES:
        raise BadDescription(f"a description has at most {MAX_BYTES:,} bytes")
    try:
        depth = 0
        for event in yaml.parse(text, LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            # Either makes much of little.
            if isinstance(event, yaml.AliasEvent) or depth > MAX_DEPTH:
                raise BadDescription("YAML: aliases (*name) and what is nested deeply are not taken")
        content = yaml.load(text, LOADER)  # noqa: S506  # either is safe
    except BadDescription:
        raise
    except yaml.YAMLError as error:
        raise BadDescription(f"YAML: {' '.join(str(error).split())[:200]}") from error
    except (RecursionError, ValueError) as error:
        raise BadDescription("YAML: nested too deeply, or a value that is none") from error
    if not isinstance(content, dict) or not set(content) <= KEYS:
        raise BadDescription(f"an object with {', '.join(sorted(KEYS))} is expected")
    return content


def _values(template: Any, where: str) -> tuple[str, ...]:
    """The names of a line's values. Raises BadDescription for a line that cannot be read."""
    if not isinstance(template, str) or not template.strip() or len(template) > MAX_TEMPLATE or "\n" in template:
        raise BadDescription(f"{where}: one line of at most {MAX_TEMPLATE} characters is expected")
    names = tuple(_VALUE.findall(template))
    if bad := next((name for name in names if not _NAME.fullmatch(name)), ""):
        raise BadDescription(f"{where}: {bad!r} is no name of small letters, digits and _")
    if len({*names}) != len(names):
        raise BadDescription(f"{where}: a value stands there twice")
    if re.search(r":rest\}(?!\]*$)", template):
        raise BadDescription(f"{where}: {{…:rest}} takes the rest of the line, so nothing can follow it")
    try:
        for pattern in pattern_of(template, careful=True):
            re.compile(pattern)
    except re.error as error:
        raise BadDescription(f"{where}: brackets [ ] and braces {{ }} do not match: {error}") from error
    return names


def _abouts(
    content: Any, where: str, values: set[str], known: Sequence[str]
) -> Iterator[tuple[str, str, float, dict[str, Any]]]:
    """Each value that is named, the name that it gets, what it is multiplied by, and all that is said about it."""
    if not isinstance(content, dict):
        content = dict.fromkeys(_texts(content, where))
    for value, more in content.items():
        about = more or {}
        if value not in values:
            raise BadDescription(f"{where}: no line has a value {str(value)[:60]!r}")
        if not isinstance(about, dict) or not set(about) <= {*known}:
            raise BadDescription(f"{where}, {value}: {', '.join(known)} are expected")
        name = str(about.get("name") or value)
        if not _NAME.fullmatch(name):
            raise BadDescription(f"{where}, {name[:60]!r}: a name of small letters, digits and _ is expected")
        times = about.get("times", 1.0)
        if isinstance(times, bool) or not isinstance(times, int | float) or not 0 < times < 1e12:
            raise BadDescription(f"{where}, {name}: times is a number above 0")
        yield value, name, float(times), about


def _read_metrics(content: Any, values: set[str]) -> dict[str, _Measured]:
    if not isinstance(content, list | dict) or not content:
        raise BadDescription("metrics: the names of at least one value are expected, the headline first")
    metrics: dict[str, _Measured] = {}
    for value, name, times, about in _abouts(content, "metrics", values, ("name", "unit", "better", "times")):
        try:
            unit, better = unit_of(name)
        except KeyError:
            unit, better = "", "none"
            if not about.get("unit"):
                raise BadDescription(
                    f"metrics, {name}: say its unit, or let its name end with one (_ms, _s, tps, ops_per_s, _errors, …)"
                ) from None
        better = str(about.get("better") or better)
        if better not in ("higher", "lower", "none"):
            raise BadDescription(f"metrics, {name}: better is higher, lower or none")
        metrics[value] = _Measured(name, str(about.get("unit") or unit)[:30], better, times)
    return metrics


def _read_command(content: Any) -> Commands:
    if content is None:
        return Commands(())
    known = {"program", "options", "operand", "letters"}
    is_whole = isinstance(content, dict) and {"program", "options"} <= content.keys() <= known
    if not is_whole or not isinstance(content["options"], dict):
        raise BadDescription("command: program and options are expected, as {program: minibench, options: {c: rate}}")
    if not isinstance(content["program"], str) or not _PROGRAM.fullmatch(content["program"]):
        raise BadDescription("command, program: the name of a program is expected")
    options = {str(option).lstrip("-"): str(name or slug(str(option))) for option, name in content["options"].items()}
    operand = str(content.get("operand") or "")
    for option, name in [*options.items(), *([("operand", operand)] if operand else [])]:
        if not _OPTION.fullmatch(option) or not _NAME.fullmatch(name):
            raise BadDescription(f"command, {option[:60]!r}: a name of small letters, digits and _ is expected")
    spelt = {f"{option} -{option} --{option}": name for option, name in options.items()}
    has_letters = bool(content.get("letters"))
    return Commands(
        (content["program"],), r"\S", either=spelt, operand=operand, keeps_others=False, has_letters=has_letters
    )


def _texts(content: Any, where: str) -> list[str]:
    if not isinstance(content, list) or not all(isinstance(text, str) for text in content):
        raise BadDescription(f"{where}: a list of texts is expected")
    return content


def _read_check(text: str, values: set[str], metrics: set[str], where: str = "checks") -> _Equation:
    match = _CHECK.fullmatch(text.strip()) if len(text) < 300 else None
    if match is None:
        raise BadDescription(f"{where}: {text[:60]!r} is not as transactions / elapsed_s = tps")
    steps = tuple(re.findall(r"([*/+-]) *([\w.]+)", match[2]))
    names = [name for name in (match[1], match[3], *(name for _, name in steps)) if not name[0].isdigit()]
    names = [name for name in names if not name.endswith(tuple(f"_{metric}" for metric in metrics))]
    if unknown := [name for name in names if name not in values]:
        raise BadDescription(f"{where}: no line has a value {unknown[0][:60]!r}")
    return _Equation(match[1], steps, match[3])


def tried(text: str, example: str) -> tuple[Described, list[Report]]:
    """A description with what it reads of an example. Raises BadDescription where that is nothing."""
    tool = described(text)
    file = SourceFile("example", example.encode())
    try:
        if not tool.claims(file):
            raise BadDescription("the example has not the first line that is always there, and another one")
        reports = list(tool.read(file))
    except BadDescription:
        raise
    except NotUnderstood as error:
        raise BadDescription(f"the example is not understood: {error}") from error
    except (ValueError, ArithmeticError) as error:  # thousands of digits, infinite
        raise BadDescription("the example holds a number that no tool prints") from error
    shown = [value for report in reports for value in (*report.parameters.values(), *(m.value for m in report.metrics))]
    if any(isinstance(value, int | float) and not abs(value) < 1e18 for value in shown):
        raise BadDescription("the example holds a number that no tool prints")
    if not any(report.metrics for report in reports):
        reasons = "; ".join(report.reason for report in reports)
        raise BadDescription(f"no figure of the example is read: {reasons[:300]}")
    return tool, reports


@cache
def shipped() -> tuple[Described, ...]:
    """Tools that come with the program as descriptions."""
    return tuple(described(path.read_text()) for path in sorted(SHIPPED.glob("*.yaml")))
