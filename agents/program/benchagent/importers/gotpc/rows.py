"""Lines of go-tpc's output -> rows of figures, whatever the output style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from benchagent.importers.commands import Commands
from benchagent.importers.report import Scalar
from benchagent.importers.source import Line, NotUnderstood, json_of, number
from benchagent.redaction import redact_text

_COMMANDS = Commands(
    ("go-tpc", "tiup bench"),
    follows=r"(?:\S+ +)*?(?:tpcc|tpch|ch|rawsql)\b",
    operand="benchmark",
    numbers={
        "-T --threads": "terminals", "-t --acThreads": "analytical_terminals", "--warehouses": "warehouses",
        "--parts": "partitions", "--time": "duration_s", "--count": "transactions", "--sf": "scale_factor",
    },
    texts={
        "--isolation": "isolation", "--weight": "weights", "-d --driver": "driver",
        "-H -P -U -D -p --interval --pprof --max-procs --output-type --output-dir --output": "",
    },
    switches={"--wait": "keying_and_thinking", "--silence --dropdata --no-check": ""},
)  # fmt: skip


def command_of(text: str) -> tuple[str, str, dict[str, Scalar]] | None:
    """(the redacted line, tpcc | tpch | ch | rawsql, parameters), where the line is a command line of go-tpc."""
    line = redact_text(_COMMANDS.find(text))
    parameters = _COMMANDS.parameters([line])
    benchmark = str(parameters.pop("benchmark", ""))
    return (line, benchmark, parameters) if benchmark in ("tpcc", "tpch", "ch", "rawsql") else None


# Heading as printed -> field. Percentiles: (s) and (ms) both occur, by version and workload.
FIELDS = {
    "Takes(s)": "takes_s", "Count": "count", "TPM": "tpm", "Sum(ms)": "sum_ms", "Avg(ms)": "avg_ms",
    "50th(ms)": "p50_ms", "90th(ms)": "p90_ms", "95th(ms)": "p95_ms", "99th(ms)": "p99_ms",
    "99.9th(ms)": "p999_ms", "Max(ms)": "max_ms", "Avg(s)": "avg_s",
}  # fmt: skip
TOTALS = {"tpmC": "tpmc", "tpmTotal": "tpm", "efficiency": "efficiency_pct", "QphH": "qphh"}
# Tables print their headings in capitals.
_HEADINGS = {heading.upper(): heading for heading in ("Prefix", "Operation", *FIELDS, *TOTALS)}

_PREFIXES = ("[Current]", "[Summary]")
_ROW = re.compile(r"(\[(?:Current|Summary)\]) ([A-Z][\w-]*) *- ([A-Z0-9].*)")
# The first versions say neither: what follows "Finished" is the summary.
_BARE = re.compile(r"[A-Z][\w-]* *- Takes\(s\): .*\bTPM: ")
# The one figure of a query is printed without its heading.
_SECONDS = re.compile(r"(?<=[\dQ]) *(?:: |- )(?=\d+\.\d+s$)")


class Event(NamedTuple):
    """A line: a `row` of figures of a transaction type or query, the `total` of a run, `broken` figures, which spoil
    their run, a `command` line of go-tpc, or a `note`, any other line.
    """

    number: int
    kind: str
    # As it stands there; of broken figures why they cannot be read.
    text: str = ""
    operation: str = ""
    is_summary: bool = False
    # The values by the names of `FIELDS` or of `TOTALS`.
    values: Mapping[str, float] = MappingProxyType({})


# The figures of a row by their headings, in whatever style they are printed.
Pairs = list[tuple[str, str]]


def events_of(lines: Iterable[Line]) -> list[Event]:
    events: list[Event] = []
    header: list[str] = []
    finished = False
    for line in lines:
        text = line.text
        cells = re.split(r"\s*[|│]\s*", text)[1:-1] if text.count("│") + text.count("|") >= 3 else []
        folded = [cell.upper().replace(" ", "") for cell in cells]
        if folded[:1] in (["PREFIX"], ["TPMC"]):
            # A table of somebody else's may begin alike.
            header = [_HEADINGS[cell] for cell in folded] if set(folded) <= _HEADINGS.keys() else []
            continue
        if _BARE.match(text):
            text = f"{_PREFIXES[finished]} {text}"
        try:
            rows: list[Pairs] | None = []
            if not cells:
                rows = _of_line(line, text)
            elif len(cells) == len(header):
                rows = [[*zip(header, cells, strict=True)]]
            elif cells[0] in _PREFIXES:
                raise NotUnderstood("a row of a table without its header, or of another width")
            if rows is None:
                events.append(Event(line.number, "command" if _COMMANDS.find(text) else "note", text))
            else:
                events += [_event(line.number, pairs) for pairs in rows]
        except NotUnderstood as error:
            if line.whole:
                events.append(Event(line.number, "broken", str(error)))
        last = events[-1] if events else Event(0, "note")
        finished = last.text == "Finished" or (finished and last.kind not in ("total", "command"))
    return events


def _of_line(line: Line, text: str) -> list[Pairs] | None:
    """The rows of a line, plain or JSON; None for one of something else."""
    if row := _ROW.fullmatch(_SECONDS.sub(" - Avg(s): ", text) if text.endswith("s") else text):
        prefix, operation, figures = row.groups()
        # Only a unit shows that a line is not cut; keying and thinking print a time alone.
        if re.match(r"[\d.]+s$", figures) or not (line.whole or text.endswith("s")):
            return []
        return [[("Prefix", prefix), ("Operation", operation), *_pairs(figures)]]
    if text.startswith(("tpmC: ", "QphH: ")):
        # Where the line is cut its number may go on; go-tpc prints one decimal.
        is_whole = line.whole or re.search(r"%$|\.\d$", text)
        return [_pairs(text) if is_whole else _pairs(text)[:-1]]
    if text.startswith("[{"):
        rows = json_of(text)
        if not all(isinstance(row, dict) and all(isinstance(value, str) for value in row.values()) for row in rows):
            raise NotUnderstood("JSON of another form than go-tpc's")
        return [[*row.items()] for row in rows]
    if text.startswith(_PREFIXES):
        raise NotUnderstood(f"not the form of a row of figures: {text[:60]!r}")
    return None


def _pairs(text: str) -> Pairs:
    return [(name, value) for name, _, value in (part.partition(": ") for part in text.split(", "))]


def _event(at: int, pairs: Pairs) -> Event:
    """The event of a row; times of keying and thinking say nothing."""
    row = {name: value.strip() for name, value in pairs}
    if len(row) != len(pairs):
        raise NotUnderstood("a figure stands twice in one row")
    prefix, operation = row.pop("Prefix", None), row.pop("Operation", "")
    if operation.startswith(("KEYINGTIME", "THINKINGTIME")):
        return Event(at, "note")
    names, values = TOTALS if prefix is None else FIELDS, dict[str, float]()
    for heading, text in row.items():
        # Only the efficiency has a sign of per cent.
        if heading not in names or (heading == "efficiency") != text.endswith("%"):
            raise NotUnderstood(f"not the form of a figure: {heading[:40]!r} {text[:20]!r}")
        values[names[heading]] = number(text.removesuffix("%").removesuffix("s" if "Avg(s)" in row else ""))
    if prefix is None and not operation:
        return Event(at, "total", values=values)
    if prefix not in _PREFIXES or not re.fullmatch(r"[A-Z][\w-]*", operation):
        raise NotUnderstood("a row without its kind or its operation")
    if not values.keys() & {"count", "avg_s"}:
        raise NotUnderstood("a row of figures without Count")
    return Event(at, "row", operation=operation, is_summary=prefix == "[Summary]", values=values)
