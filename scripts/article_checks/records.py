"""A publication's rows as the formulas of checks.json ask for them, and what they may do with them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, pairwise
from typing import Any

from runs.publications.check import Result, rounded
from runs.publications.document import ClaimRow, IndexRow, TableRow
from runs.publications.material import Material
from scripts.article_checks.formula import FormulaError
from scripts.article_checks.judging import all_of, decimals, judge, judge_bounds
from scripts.article_checks.language import MissingInputError, Record

GIB = 1024**3
_SIZES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
Function = Callable[..., Any]


def functions_of(material: Material) -> dict[str, Function]:
    """Each finds rows by their fields; one that should be there and is not raises MissingInputError."""
    configs = [
        Record(f"the configuration {config.source_id}", {
            "id": config.source_id, "file": config.file_name,
            "database": _record("the database", config.details.get("database", {})),
            "parameters": [
                Record(f"{row.name} in {config.source_id}",
                       {"name": row.name, "text": row.value or "", "number": _number(row.value or "")})
                for row in config.parameters.all()
            ],
        })
        for config in material.configs
    ]  # fmt: skip
    config = _by(configs, "the configuration {}")
    claims = [_claim(claim) for claim in material.statements.claims]
    indexes = [_columns(row, row.index) for row in material.statements.index_stats]
    tables = [_columns(row, row.table) for row in material.statements.table_stats]
    workloads = {run.workload.source_id: run.workload for run in material.runs}
    queries = [
        Record(f"query {query.number}", {
            **{row.name: row.value for row in query.metrics}, "number": float(query.number),
            "count": _float(query.count_result), "sql": query.sql, "plan": query.plan,
        })
        for query in material.statements.query_stats
    ]  # fmt: skip
    stated = [
        Record(f"the statement {statement.get('id')}", {
            **statement, "text": str(statement.get("what", "")), "printed": str(statement.get("as_printed", "")),
            "value": _float(statement.get("value")),
        })
        for statement in material.publication.details.get("stated", [])
    ]  # fmt: skip
    observations = [
        Record(seen.metric, {**_inner(seen.details), **_inner(seen.factors), "metric": seen.metric, "unit": seen.unit,
                             "value": seen.value, "provenance": seen.provenance})
        for seen in material.statements.observations
    ]  # fmt: skip
    machines = [
        Record(
            f"the machine {machine.source_id}",
            {"id": machine.source_id, "ram_gb": machine.ram_bytes and machine.ram_bytes / GIB},
        )
        for machine in material.hardware
    ]

    def observation(metric: str, **factors: Any) -> Record:
        return _only(observations, f"the observation {metric}", metric=metric, **factors)

    def parameters(key: str, name: str) -> list[Record]:
        """Every value that a configuration gives a parameter, in order."""
        return _all(config(key)["parameters"], {"name": name}) or _missing(f"{name} in {key}")

    def fact(title: str) -> Record:
        """The fact whose title begins so."""
        facts = (fact for fact in material.statements.facts if fact.title.startswith(title))
        row = next(facts, None) or _missing(f"the fact {title}")
        return Record(f"the fact {title}", _inner(row.details))

    return _of_runs(material) | _HELP | {
        "publication": lambda: Record("the publication", _inner(material.publication.details)),
        "stated": _by(stated, "the statement {}"),
        "claim": _by(claims, "the claim {}"),
        "claims": lambda **fields: _all(claims, fields),
        "observation": observation,
        "config": config,
        # The database that is described with a configuration.
        "database": lambda key: config(key)["database"],
        "parameters": parameters,
        # The text of the value in force.
        "last": lambda key, name: str(parameters(key, name)[-1]["text"]),
        "workload": _by([Record(f"the workload {name}", {**_inner(workload.details), "id": name})
                         for name, workload in workloads.items()], "the workload {}"),
        "fact": fact,
        "machine": _by(machines, "the machine {}"),
        "tables": lambda: tables or _missing("the table statistics"),
        "table": _by(tables, "the table {}", "table"),
        "indexes": lambda **fields: _all(indexes or _missing("the index statistics"), fields),
        "index": _by(indexes, "the index {}", "index"),
        "queries": lambda: queries or _missing("the queries"),
        "query": _by(queries, "query {:g}", "number"),
    }  # fmt: skip


def _by(rows: Sequence[Record], words: str, field: str = "id") -> Function:
    """Finds the row whose field has a value; `words` say what is missing where none has."""
    return lambda key: _only(rows, words.format(key), **{field: key})


def _of_runs(material: Material) -> dict[str, Function]:
    rows = [
        Record(f"the run {run.source_id}", {
            "id": run.source_id, "version": run.dbms_version.source_id, "workload": run.workload.source_id,
            "config": run.config.source_id if run.config else "", "durability": run.durability,
            **{factor.name: _float(factor.value) for factor in run.factors.all()},
            **{measurement.metric.name: measurement.value for measurement in run.measurements.all()},
        })
        for run in material.runs
    ]  # fmt: skip

    def runs(has: str = "", **fields: Any) -> list[Record]:
        """The runs of this id, version, workload, config or factor; a factor of None is not set. `has`: with this
        number only.
        """
        wanted = [row for row in _all(rows, fields) if not has or row.get(has) is not None]
        if has and not wanted:
            raise MissingInputError(
                f"{has} of {' '.join(str(field) for field in fields.values() if field is not None)}"
            )
        return wanted

    def series(metric: str, **fields: Any) -> list[Record]:
        """Runs with this number and a size, smallest first; `value` is the number."""
        sized = [row for row in _all(rows, fields) if metric in row and isinstance(row.get("size_gb"), float)]
        if len(sized) < 2:
            raise MissingInputError(f"the series of {metric}")
        return sorted(
            (Record(row.what, {**row, "value": row[metric]}) for row in sized), key=lambda row: row["size_gb"]
        )

    def medians(version: str) -> list[float]:
        """Printed medians of a system's repeats."""
        ids = {run.dbms_version_id for run in material.runs if run.dbms_version.source_id == version}
        return [
            aggregate.value
            for aggregate in material.aggregates
            if aggregate.statistic == "median" and aggregate.dbms_version_id in ids
        ]

    def versions(dbms: str) -> list[Record]:
        """Versions of a DBMS that were run; `text` holds their names and notes."""
        used = {run.dbms_version for run in material.runs if run.dbms_version.dbms.slug == dbms}
        return [
            Record(row.name, {"text": f"{row.version} {row.note} {' '.join(map(str, row.aliases or []))}"})
            for row in sorted(used, key=lambda row: row.version)
        ]

    return {"runs": runs, "series": series, "medians": medians, "versions": versions}


def _claim(claim: ClaimRow) -> Record:
    low, high = (claim.details.get("percent_range") or (None, None))[:2]
    bound = _number(str(claim.details.get("ratio_as_printed", "")).lstrip("<>=≤≥"))
    fields = {
        "id": claim.id, "text": claim.summary, "where": "", "percent": claim.percent, "ratio": claim.ratio,
        "approximate": claim.approximate, "bound": bound, "low": _float(low), "high": _float(high),
        "side_a": _record(f"side A of {claim.id}", claim.side_a),
        "side_b": _record(f"side B of {claim.id}", claim.side_b),
    }  # fmt: skip
    return Record(
        f"the claim {claim.id}", _inner(claim.details) | fields | {"where": str(claim.details.get("where", ""))}
    )


def _columns(row: TableRow | IndexRow, name: str) -> Record:
    return Record(name, {field: _float(value) for field, value in row})


def _inner(value: dict[str, Any]) -> dict[str, Any]:
    return {str(name): _record(str(name), inner) for name, inner in value.items()}


def _record(what: str, value: Any) -> Any:
    """JSON with records for objects and floats for numbers."""
    if isinstance(value, dict):
        return Record(what, _inner(value))
    if isinstance(value, list):
        return [_record(what, inner) for inner in value]
    return _float(value)


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _all(rows: Sequence[Record], fields: dict[str, Any]) -> list[Record]:
    return [row for row in rows if all(row.get(name) == value for name, value in fields.items())]


def _only(rows: Sequence[Record], what: str, **fields: Any) -> Record:
    return next(iter(_all(rows, fields)), None) or _missing(what)


def _missing(what: str) -> Any:
    raise MissingInputError(what)


# What formulas may do with rows and texts.


def _numbers(text: str) -> list[float]:
    """16 KB -> 16; tbl_200 ~ tbl_239 -> 200, 239."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)] or _missing(f"a number in {text[:40]!r}")


def _bytes(text: str) -> float:
    """16M, 4G, 300."""
    size = re.fullmatch(r"(\d+)([KMG]?)", text.strip().upper())
    return float(size[1]) * _SIZES[size[2]] if size else _missing(f"a size in {text[:40]!r}")


def _compared(text: str, column: str) -> list[float]:
    """Numbers that SQL compares a column with."""
    return [float(number) for number in re.findall(rf"{re.escape(column)}\s*[=<>]+\s*(\d+)", text, re.IGNORECASE)]


def _cut(value: float, digits: float) -> float:
    """Without the digits after those."""
    return int(value * 10**digits + 1e-9) / 10**digits


def _ordered(rows: Sequence[Any], by: Sequence[float]) -> list[Any]:
    """Rows by the numbers beside them, smallest first."""
    return [row for _, _, row in sorted((key, at, row) for at, (key, row) in enumerate(zip(by, rows, strict=True)))]


def _flat(lists: Iterable[Iterable[Any]]) -> list[Any]:
    return [row for many in lists for row in many]


# A table printed without spaces, cut back into cells: every way to cut each row, kept where the medians fit.
# The rows are independent given the medians: in a column with n values the median is printed, so per column only the
# number of cells below, at and above it counts. All combinations of cuts are walked row by row, and a combination is
# left as soon as a column has more cells on one side than its median allows.

Cells = tuple[int | None, ...]
LENGTHS = range(2, 5)
MOST_DIGITS, MOST_STEPS = 24, 200_000
SPREAD = 1.5


@dataclass(frozen=True)
class Solution:
    medians: tuple[int, ...]
    rows: tuple[Cells, ...]

    def column(self, index: int) -> list[int]:
        return [value for row in self.rows if (value := row[index]) is not None]


def cuts(digits: str, columns: int) -> list[tuple[int, ...]]:
    """Every way to cut digits into so many numbers, none with a leading zero."""
    if columns == 0:
        return [()] if not digits else []
    numbers: list[tuple[int, ...]] = []
    for length in LENGTHS:
        head = digits[:length]
        if len(head) == length and head[0] != "0":
            numbers += [(int(head), *rest) for rest in cuts(digits[length:], columns - 1)]
    return numbers


def row_cuts(digits: str, columns: int) -> list[Cells]:
    """All cells filled, or one of them empty, at any place."""
    partly = cuts(digits, columns - 1)
    with_a_gap: list[Cells] = [(*cut[:at], None, *cut[at:]) for cut in partly for at in range(columns)]
    return [*cuts(digits, columns), *with_a_gap]


def ways(digits: str, columns: float) -> int:
    """In how many ways a row can be cut."""
    return len(row_cuts(_limited(digits), int(columns)))


def _limited(digits: str) -> str:
    if not digits.isdigit() or len(digits) > MOST_DIGITS:
        raise FormulaError(f"no row of at most {MOST_DIGITS} digits: {digits[:MOST_DIGITS]}")
    return digits


@lru_cache(maxsize=8)
def solutions(rows: tuple[str, ...], medians: str, columns: int) -> tuple[Solution, ...]:
    """Tables whose every column has the printed median and repeats within `SPREAD` times of it.

    Cached by the digits themselves: the same rows have the same solutions.
    """
    candidates = [row_cuts(_limited(row), columns) for row in rows]
    tables = []
    for median in cuts(_limited(medians), columns):
        near = [_near(row, median) for row in candidates]
        if all(near):
            tables += [Solution(median, chosen) for chosen in _walk(near, median) if _fits(chosen, median)]
    return tuple(tables)


def _near(row: list[Cells], medians: Sequence[int]) -> list[Cells]:
    """Column by column, as the first ones leave few."""
    for at, median in enumerate(medians):
        low, high = median / SPREAD, median * SPREAD
        row = [cut for cut in row if (value := cut[at]) is None or low <= value <= high]
    return row


def _walk(rows: Sequence[Sequence[Cells]], medians: Sequence[int]) -> Iterator[tuple[Cells, ...]]:
    """Combinations of one cut per row, without those that have too many cells above or below a median already."""
    half, steps = len(rows) // 2, count()

    def balanced(chosen: Sequence[Cells]) -> bool:
        for index, median in enumerate(medians):
            column = [value for row in chosen if (value := row[index]) is not None]
            if sum(value < median for value in column) > half or sum(value > median for value in column) > half:
                return False
        return True

    def extend(chosen: tuple[Cells, ...]) -> Iterator[tuple[Cells, ...]]:
        if len(chosen) == len(rows):
            yield chosen
            return
        for cut in rows[len(chosen)]:
            if next(steps) > MOST_STEPS:
                raise FormulaError("too many tables have these medians")
            longer = (*chosen, cut)
            if balanced(longer):
                yield from extend(longer)

    yield from extend(())


def _fits(rows: Sequence[Cells], medians: Sequence[int]) -> bool:
    for index, median in enumerate(medians):
        column = sorted(value for row in rows if (value := row[index]) is not None)
        if not column or len(column) % 2 == 0 or column[len(column) // 2] != median:
            return False
    return True


_HELP: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "floor": lambda value: float(math.floor(value)),
    "rounded": lambda value, digits=0: rounded(value, int(digits)),
    "numbers": _numbers,
    "number": lambda text: _numbers(str(text))[0],
    "bytes": _bytes,
    "compared": _compared,
    "parts": lambda text, sign: [word.strip() for word in text.split(sign)],
    "squeezed": lambda text: "".join(text.split()),
    "words": lambda text: text.split(),
    "join": lambda texts, sign: sign.join(map(str, texts)),
    "distinct": lambda rows: list(dict.fromkeys(rows)),
    "flat": _flat,
    "pairs": lambda rows: [Record("a pair", {"before": before, "after": other}) for before, other in pairwise(rows)],
    "nearest": lambda rows, field, value: (
        min(rows, key=lambda row: abs(row.field(field) - value), default=None) or _missing(field)
    ),
    "ordered": _ordered,
    "has": lambda row, field: row.get(field) is not None,
    "missing": _missing,
    "row": lambda **fields: Record("a row", fields),
    "entry": lambda row, field: row.field(field),
    "beside": lambda left, other: [Record("a pair", {"a": a, "b": b}) for a, b in zip(left, other, strict=True)],
    "numbered": lambda rows: [Record("a row", {"number": float(at), "one": row}) for at, row in enumerate(rows, 1)],
    "decimals": decimals,
    # Results of checks.
    "agrees": lambda holds: Result.AGREES if holds else Result.DISAGREES,
    "judge": judge,
    "cut_or_judge": lambda stated, computed: (
        Result.AGREES if _cut(computed, decimals(stated)) == stated else judge(stated, computed)
    ),
    "within": lambda value, low=None, high=None: judge_bounds(value, low=low, high=high),
    "all_of": lambda *results: all_of(*_flat(result if isinstance(result, list) else [result] for result in results)),
    # A table that is printed without spaces.
    "ways": ways,
    "solutions": lambda rows, medians, columns: [
        Record("a table", {"medians": [float(median) for median in table.medians],
                           "columns": [[float(number) for number in table.column(at)] for at in range(int(columns))]})
        for table in solutions(tuple(rows), medians, int(columns))
    ],
}  # fmt: skip
