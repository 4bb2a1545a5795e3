"""The numbers of an article as its checks ask for them, and how a check is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from runs.publications.check import Check, Input, Result, Stated, rounded
from runs.publications.document import ClaimRow, Factor, FactRow, Results, RunRow, StatedRow
from scripts.article_checks.quantities import Shown

T = TypeVar("T")


class Article:
    """What stands in its results.json. What is asked for and is not there raises LookupError."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._stated = {row["id"]: StatedRow(**row) for row in results.publication.details.get("stated", [])}

    def stated(self, id: str) -> Stated:
        row = self._stated[id]
        value = None if row.value is None else float(row.value)
        return Stated(row.what, row.where, value, row.unit, row.as_printed)

    def number(self, id: str) -> float:
        """A stated number."""
        value = self._stated[id].value
        return float(_there(value, id))

    def claim(self, id: str) -> ClaimRow:
        return _there(self.results.claim(id), id)

    def claimed(self, id: str, of: str = "") -> Stated:
        """A claim as what is stated; `of` is what it is said of."""
        claim = self.claim(id)
        return Stated(f"{of}: {claim.summary}" if of else claim.summary, str(claim.details.get("where", "")))

    def percent(self, id: str) -> float:
        return _there(self.claim(id).percent, id)

    def ratio(self, id: str) -> float:
        return _there(self.claim(id).ratio, id)

    def runs(self, metric: str = "", **fields: Any) -> list[RunRow]:
        """Those that have a number of this metric, and these ids or values of factors; None: not set."""
        return [
            run
            for run in self.results.runs
            if (not metric or number_of(run, metric) is not None)
            and all(_field(run, name) == value for name, value in fields.items())
        ]

    def numbers(self, metric: str, **fields: Any) -> list[float]:
        return [_there(number_of(run, metric), metric) for run in self.runs(metric, **fields)]

    def factor(self, name: str) -> float:
        """A factor that all runs have alike."""
        return factor_of(self.results.runs[0], name)

    def details(self, workload: str) -> dict[str, Any]:
        return _one(self.results.workloads, workload, lambda row: row.id).details

    def observed(self, metric: str, **factors: Any) -> float:
        rows = [row for row in self.results.observations if factors.items() <= row.factors.items()]
        return _there(_one(rows, metric, lambda row: row.metric).value, metric)

    def between(self, metric: str) -> tuple[float, float]:
        """The ends of an observed range."""
        row = _one(self.results.observations, metric, lambda row: row.metric)
        return float(_there(row.value_min, metric)), float(_there(row.value_max, metric))

    def fact(self, title: str) -> FactRow:
        """The fact whose title begins so."""
        return _there(next((row for row in self.results.facts if row.title.startswith(title)), None), title)

    def parameters(self, config: str, name: str = "") -> list[str]:
        """Every value that a configuration gives a parameter, in order; without a name all of them."""
        rows = _one(self.results.configs, config, lambda row: row.id).parameters
        return [row.value or "" for row in rows if name in ("", row.name)]

    def parameter(self, config: str, name: str) -> str:
        """The value in force."""
        return self.parameters(config, name)[-1]

    def database(self, config: str) -> dict[str, Any]:
        """What is known of the database that a configuration was used with."""
        database: dict[str, Any] = _one(self.results.configs, config, lambda row: row.id).details["database"]
        return database


def check(
    number: str,
    title: str,
    result: Result,
    words: str | Mapping[str, str],
    *,
    computed: Sequence[Shown] = (),
    stated: Sequence[Stated] = (),
    claims: Sequence[str] = (),
) -> Check:
    """`words` for every result, or for each that has words of its own: a sentence never says more than its result."""
    if not isinstance(words, str):
        words = words.get(result, f"With these rows: {result}. The article's own give another result.")
    inputs: dict[tuple[str, str], Input] = {}
    for row in computed:
        for each in row.inputs:
            inputs.setdefault((each.name, each.what), each)
    return Check(title, result, words, stated, computed, tuple(claims), number, inputs=list(inputs.values()))


def judge(stated: float, computed: float) -> Result:
    """Agrees when the computed value rounds to the stated one at its printed decimals.

    Rounded up or down when both are the same at one significant digit; disagrees otherwise.
    """
    if rounded(computed, decimals(stated)) == stated:
        return Result.AGREES
    if stated and _one_digit(stated) == _one_digit(computed):
        return Result.ROUNDED_UP if abs(stated) > abs(computed) else Result.ROUNDED_DOWN
    return Result.DISAGREES


def agrees(holds: bool) -> Result:
    return Result.AGREES if holds else Result.DISAGREES


def all_of(*results: Result) -> Result:
    """Agrees when all do; otherwise the first that does not."""
    return next((result for result in results if result != Result.AGREES), Result.AGREES)


def decimals(number: float) -> int:
    """Printed decimals of a stated number: 2 for 6.55, 0 for 60."""
    return len(repr(float(number)).removesuffix(".0").partition(".")[2])


def _one_digit(value: float) -> float:
    return rounded(value, -Decimal(repr(abs(value))).adjusted()) if value else 0.0


def number_of(run: RunRow, metric: str) -> float | None:
    return next((number.value for number in run.metrics if number.name == metric), None)


def factor_of(run: RunRow, name: str) -> float:
    return float(_field(run, name))


def first_number(text: str) -> float:
    """16 KB -> 16."""
    return float(re.findall(r"\d+(?:\.\d+)?", text)[0])


def _field(run: RunRow, name: str) -> Any:
    if name in ("id", "version", "workload", "config"):
        return getattr(run, name)
    factor = run.factors.get(name)
    return factor.value if isinstance(factor, Factor) else factor


def _there(value: T | None, what: str) -> T:
    if value is None:
        raise LookupError(what)
    return value


def _one(rows: Sequence[T], key: Any, field: Callable[[T], Any]) -> T:
    return _there(next((row for row in rows if field(row) == key), None), str(key))
