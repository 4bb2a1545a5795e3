"""Lines of go-tpc's output -> rows of figures, whatever the output style.

Wordings after `pkg/measurement/hist.go`, `tpcc/workload.go`, `tpch/workload.go`, `ch/workload.go` and
`pkg/util/output.go`, 2020 to 2026.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from benchagent.importers.base import NotUnderstood, SourceFile, number

# Heading as printed -> field. Percentiles: (s) and (ms) both occur, by version and workload.
FIELDS = {
    "Takes(s)": "takes_s",
    "Count": "count",
    "TPM": "tpm",
    "Sum(ms)": "sum_ms",
    "Avg(ms)": "avg_ms",
    "50th(ms)": "p50_ms",
    "90th(ms)": "p90_ms",
    "95th(ms)": "p95_ms",
    "99th(ms)": "p99_ms",
    "99.9th(ms)": "p999_ms",
    "Max(ms)": "max_ms",
    "Avg(s)": "avg_s",
}
TOTALS = {"tpmC": "tpmc", "tpmTotal": "tpm", "efficiency": "efficiency_pct"}
_FOLDED = {heading.upper(): field for heading, field in {**FIELDS, **TOTALS}.items()}

TIME_IN_FRONT = r"^(?:\w{3} \d{1,2} [\d:.]+ |\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)? )?\s*"
_PLAIN = re.compile(TIME_IN_FRONT + r"\[(?P<kind>Current|Summary)\] (?P<op>[A-Z][\w-]*) *- (?P<body>[A-Z0-9][^\n]*)$")
_WAIT = re.compile(r"^[\d.]+s$")
_SECONDS = re.compile(
    TIME_IN_FRONT + r"\[(?P<kind>Current|Summary)\] (?P<op>Q\d+) *(?:: |- (?:Avg\(s\): )?)(?P<value>\d+\.\d+)s\s*$"
)
_TOTAL = re.compile(TIME_IN_FRONT + r"(?P<body>tpmC: .*|QphH: .*)$")
# Output in an answer to a message, or in a document.
_QUOTED = re.compile(r"(?:> ?)+\[(?:Current|Summary)\] ")
_QUOTE = re.compile(r"^(?:> ?)+")
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


Event = Row | Total | Note


def events(file: SourceFile) -> list[Event]:
    """Raises NotUnderstood for a row of figures that cannot be read, unless it is the last line and cut."""
    found: list[Event] = []
    table: list[str] = []
    lines = file.lines
    if any(_QUOTED.match(line) for line in lines):
        lines = [_QUOTE.sub("", line) for line in lines]
    for number_, line in enumerate(lines, start=1):
        cut = number_ == len(lines) and not file.last_line_is_whole
        try:
            if line.count("│") + line.count("|") >= 3:
                table, rows = _table_line(number_, line, table)
                found += rows
                continue
            found += _line(number_, line, cut=cut)
        except NotUnderstood as error:
            if cut:
                continue
            raise NotUnderstood(f"line {number_}: {error}") from error
    return found


def _line(line_number: int, line: str, *, cut: bool) -> list[Event]:
    text = re.sub(TIME_IN_FRONT, "", line).strip()
    if match := _SECONDS.match(line):
        return [Row(line_number, match["kind"] == "Summary", match["op"], {"avg_s": number(match["value"])})]
    if match := _PLAIN.match(line):
        waiting = _WAIT.match(match["body"].strip())
        row = None if cut or waiting else _pairs(match["body"])
        return [Row(line_number, match["kind"] == "Summary", match["op"], row)] if row else []
    if match := _TOTAL.match(line):
        return [] if cut and not text.endswith("%") else [Total(line_number, _totals(match["body"]))]
    if text.startswith("[{"):
        return _json_line(line_number, text)
    if text.startswith(("[Current]", "[Summary]")):
        raise NotUnderstood(f"not the form of a row of figures: {text[:60]!r}")
    return [Note(line_number, text)]


def _pairs(body: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in body.strip().split(", "):
        heading, separator, text = part.partition(": ")
        if not separator or heading not in FIELDS:
            raise NotUnderstood(f"unknown figure {part[:40]!r}")
        if FIELDS[heading] in values:
            raise NotUnderstood(f"{heading} stands twice in one row")
        values[FIELDS[heading]] = number(text)
    if "count" not in values and "avg_s" not in values:
        raise NotUnderstood("a row of figures without Count")
    return values


def _totals(body: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in body.strip().split(", "):
        heading, _, text = part.partition(": ")
        name = "qphh" if heading == "QphH" else TOTALS.get(heading)
        if name is None:
            raise NotUnderstood(f"unknown figure {part[:40]!r}")
        if (name == "efficiency_pct") != text.endswith("%"):
            raise NotUnderstood(f"not the form of a figure: {part[:40]!r}")
        values[name] = number(text.removesuffix("%"))
    return values


def _json_line(line_number: int, text: str) -> list[Event]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise NotUnderstood(f"broken JSON: {error}") from error
    found: list[Event] = []
    for row in rows:
        if not isinstance(row, dict) or not all(isinstance(value, str) for value in row.values()):
            raise NotUnderstood("JSON of another form than go-tpc's")
        if "Prefix" in row:
            found += _cells(line_number, row)
        elif set(row) <= set(TOTALS):
            found.append(Total(line_number, _totals(", ".join(f"{name}: {value}" for name, value in row.items()))))
        else:
            raise NotUnderstood("JSON of another form than go-tpc's")
    return found


def _cells(line_number: int, row: dict[str, str]) -> list[Event]:
    prefix, operation = row["Prefix"].strip(), row.get("Operation", "").strip()
    if prefix not in ("[Current]", "[Summary]") or not re.fullmatch(r"[A-Z][\w-]*", operation):
        raise NotUnderstood("a row without its kind or its operation")
    if operation.startswith(("KEYINGTIME", "THINKINGTIME")):
        return []
    body = ", ".join(f"{name}: {value}" for name, value in row.items() if name not in ("Prefix", "Operation"))
    if "Avg(s)" in row:
        body = body.replace("s, ", ", ").removesuffix("s")
    return [Row(line_number, prefix == "[Summary]", operation, _pairs(body))]


def _table_line(line_number: int, line: str, header: list[str]) -> tuple[list[str], list[Event]]:
    """The header in force after this line of a table, and what the line says."""
    cells = [cell.strip() for cell in _CELLS.split(line.strip())[1:-1]]
    folded = [cell.upper().replace(" ", "") for cell in cells]
    if folded and (folded[0] == "PREFIX" or folded[0] == "TPMC"):
        return folded, []
    if not cells or not header or len(cells) != len(header):
        if cells and cells[0] in ("[Current]", "[Summary]"):
            raise NotUnderstood("a row of a table without its header, or of another width")
        return header, []
    if header[0] == "TPMC":
        names = [name for heading in header for name in TOTALS if name.upper() == heading]
        if len(names) != len(cells):
            raise NotUnderstood(f"unknown columns in {line.strip()[:60]!r}")
        return header, [Total(line_number, _totals(", ".join(f"{a}: {b}" for a, b in zip(names, cells, strict=True))))]
    unknown = [heading for heading in header[2:] if heading not in _FOLDED]
    if unknown:
        raise NotUnderstood(f"unknown column {unknown[0]!r}")
    if header[:2] != ["PREFIX", "OPERATION"]:
        raise NotUnderstood("a table without the column Operation")
    back = {heading.upper(): heading for heading in FIELDS}
    row = {"Prefix": cells[0], "Operation": cells[1]}
    row |= {back[heading]: cell for heading, cell in zip(header[2:], cells[2:], strict=True)}
    return header, _cells(line_number, row)
