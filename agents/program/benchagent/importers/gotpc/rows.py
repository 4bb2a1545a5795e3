"""Lines of go-tpc's output -> rows of figures, whatever the output style.

Wordings after `pkg/measurement/hist.go`, `tpcc/workload.go`, `tpch/workload.go`, `ch/workload.go` and
`pkg/util/output.go`, 2020 to 2026.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchagent.importers.commands import Commands
from benchagent.importers.report import Scalar
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, number
from benchagent.redaction import redact_text

# The command line of go-tpc where a log shows it.
_BENCHMARKS = ("tpcc", "tpch", "ch", "rawsql")
_COMMANDS = Commands(
    ("go-tpc", "tiup bench"),
    follows=r"(?:\S+ +)*?(?:tpcc|tpch|ch|rawsql)\b",
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
    words = (word for option, word in _COMMANDS.options(line) if not option)
    benchmark = next((word for word in words if word in _BENCHMARKS), "")
    return (line, benchmark, _COMMANDS.parameters([line])) if benchmark else None


# Heading as printed -> field. Percentiles: (s) and (ms) both occur, by version and workload.
FIELDS = {
    "Takes(s)": "takes_s", "Count": "count", "TPM": "tpm", "Sum(ms)": "sum_ms", "Avg(ms)": "avg_ms",
    "50th(ms)": "p50_ms", "90th(ms)": "p90_ms", "95th(ms)": "p95_ms", "99th(ms)": "p99_ms",
    "99.9th(ms)": "p999_ms", "Max(ms)": "max_ms", "Avg(s)": "avg_s",
}  # fmt: skip
TOTALS = {"tpmC": "tpmc", "tpmTotal": "tpm", "efficiency": "efficiency_pct", "QphH": "qphh"}
# Tables print their headings in capitals.
_HEADINGS = {heading.upper() for heading in (*FIELDS, *TOTALS)} | {"PREFIX", "OPERATION"}
_FOLDED = {heading.upper(): heading for heading in (*FIELDS, "tpmC", "tpmTotal", "efficiency")}

_PLAIN = re.compile(r"\[(?P<kind>Current|Summary)\] (?P<op>[A-Z][\w-]*) *- (?P<body>[A-Z0-9][^\n]*)$")
# The first versions say neither: what follows "Finished" is the summary.
_BARE = re.compile(r"[A-Z][\w-]* *- Takes\(s\): [^\n]*\bTPM: ")
_WAIT = re.compile(r"^[\d.]+s$")
_SECONDS = re.compile(r"\[(?P<kind>Current|Summary)\] (?P<op>Q\d+) *(?:: |- (?:Avg\(s\): )?)(?P<value>\d+\.\d+)s\s*$")
_TOTAL = re.compile(r"(?P<body>tpmC: .*|QphH: .*)$")
_CELLS = re.compile(r"\s*[|│]\s*")


@dataclass(frozen=True)
class Row:
    """Figures of one transaction type or query. `values` by the names of `FIELDS`."""

    line: int
    summary: bool
    operation: str
    values: dict[str, float]


@dataclass(frozen=True)
class Total:
    line: int
    values: dict[str, float]


@dataclass(frozen=True)
class Note:
    """Any other line."""

    line: int
    text: str


@dataclass(frozen=True)
class Broken:
    """A row of figures that cannot be read; it spoils its run."""

    line: int
    reason: str


Event = Row | Total | Note | Broken


def events_of(file: SourceFile) -> list[Event]:
    events: list[Event] = []
    header: list[str] = []
    finished = False
    with Lines(file, with_cut=True) as lines:
        for line in lines:
            text = line.text
            try:
                if text.count("│") + text.count("|") >= 3:
                    cells = [cell.strip() for cell in _CELLS.split(text.strip())[1:-1]]
                    folded = [cell.upper().replace(" ", "") for cell in cells]
                    if folded and folded[0] in ("PREFIX", "TPMC"):
                        # A table of somebody else's may begin alike.
                        header = folded if set(folded) <= _HEADINGS else []
                    else:
                        events += _of_cells(line.number, cells, header)
                else:
                    if _BARE.match(text.strip()):
                        text = f"[{'Summary' if finished else 'Current'}] {text.strip()}"
                    events += _of_line(line.number, text, cut=not line.whole)
                    match events[-1] if events else None:
                        case Note(text=text) if text.strip() == "Finished":
                            finished = True
                        case Total():
                            finished = False
                        case Note(text=text) if command_of(text):
                            finished = False
            except NotUnderstood as error:
                if line.whole:
                    events.append(Broken(line.number, f"line {line.number}: {error}"))
    return events


def _of_line(at: int, line: str, *, cut: bool) -> Iterator[Event]:
    text = line.strip()
    if match := _SECONDS.match(text):
        yield Row(at, match["kind"] == "Summary", match["op"], {"avg_s": number(match["value"])})
    elif match := _PLAIN.match(text):
        if not cut and not _WAIT.match(match["body"].strip()):
            pairs = [part.partition(": ")[::2] for part in match["body"].strip().split(", ")]
            yield Row(at, match["kind"] == "Summary", match["op"], _figures(pairs))
    elif match := _TOTAL.match(text):
        pairs = [part.partition(": ")[::2] for part in match["body"].strip().split(", ")]
        if cut and not re.search(r"%$|\.\d$", text):
            pairs = pairs[:-1]  # its number may go on; go-tpc prints one decimal
        yield Total(at, _totals(pairs))
    elif text.startswith("[{"):
        yield from _of_json(at, text)
    elif text.startswith(("[Current]", "[Summary]")):
        raise NotUnderstood(f"not the form of a row of figures: {text[:60]!r}")
    else:
        yield Note(at, text)


def _figures(pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    values: dict[str, float] = {}
    for heading, text in pairs:
        if heading not in FIELDS:
            raise NotUnderstood(f"unknown figure {heading[:40]!r}")
        if FIELDS[heading] in values:
            raise NotUnderstood(f"{heading} stands twice in one row")
        values[FIELDS[heading]] = number(text)
    if "count" not in values and "avg_s" not in values:
        raise NotUnderstood("a row of figures without Count")
    return values


def _totals(pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    values: dict[str, float] = {}
    for heading, text in pairs:
        name = TOTALS.get(heading)
        if name is None or (name == "efficiency_pct") != text.endswith("%"):
            raise NotUnderstood(f"not the form of a figure: {heading[:20]!r} {text[:20]!r}")
        values[name] = number(text.removesuffix("%"))
    return values


def _of_json(at: int, text: str) -> Iterator[Event]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise NotUnderstood(f"broken JSON: {error}") from error
    for row in rows:
        if not isinstance(row, dict) or not all(isinstance(value, str) for value in row.values()):
            raise NotUnderstood("JSON of another form than go-tpc's")
        if "Prefix" in row:
            yield from _of_record(at, row)
        elif set(row) <= set(TOTALS):
            yield Total(at, _totals(row.items()))
        else:
            raise NotUnderstood("JSON of another form than go-tpc's")


def _of_record(at: int, row: dict[str, str]) -> Iterator[Event]:
    prefix, operation = row["Prefix"].strip(), row.get("Operation", "").strip()
    if prefix not in ("[Current]", "[Summary]") or not re.fullmatch(r"[A-Z][\w-]*", operation):
        raise NotUnderstood("a row without its kind or its operation")
    if not operation.startswith(("KEYINGTIME", "THINKINGTIME")):
        pairs = [(name, value) for name, value in row.items() if name not in ("Prefix", "Operation")]
        if "Avg(s)" in row:
            pairs = [(name, value.removesuffix("s")) for name, value in pairs]
        yield Row(at, prefix == "[Summary]", operation, _figures(pairs))


def _of_cells(at: int, cells: list[str], header: list[str]) -> Iterator[Event]:
    """What a row of a table says, under the header in force."""
    if not cells or not header or len(cells) != len(header):
        if cells and cells[0] in ("[Current]", "[Summary]"):
            raise NotUnderstood("a row of a table without its header, or of another width")
        return
    totals = header[0] == "TPMC"
    names = [_FOLDED.get(heading, "") for heading in header[0 if totals else 2 :]]
    if not all(names):
        raise NotUnderstood(f"unknown column in {', '.join(header)[:60]!r}")
    if totals:
        yield Total(at, _totals(zip(names, cells, strict=True)))
        return
    if header[:2] != ["PREFIX", "OPERATION"]:
        raise NotUnderstood("a table without the column Operation")
    yield from _of_record(at, {"Prefix": cells[0], "Operation": cells[1], **dict(zip(names, cells[2:], strict=True))})
