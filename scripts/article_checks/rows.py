"""Consistency checks as formulas, and how one is computed from a publication's rows.

A row has a title, what is stated, formulas with named inputs, the formula of its result, and words for each result.
Titles, labels and words may hold formulas in braces. `example.json` beside this shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from runs.publications.check import Check, Computed, Input, Result, Stated
from runs.publications.document import Spec
from runs.publications.material import Material
from scripts.article_checks.formula import FormulaError, written
from scripts.article_checks.language import Evaluator, MissingInputError, Record, filled
from scripts.article_checks.records import functions_of

_NAME = re.compile(r"[A-Za-z_]\w*")


class InputSpec(Spec):
    """`of` is the formula of a number or a list of numbers; `what` says which row it is."""

    of: str
    what: str = ""
    unit: str = ""
    provenance: str = "printed"


class ComputedSpec(Spec):
    """A formula over inputs. In % it is shown times 100. `each` computes it for every row of a list.

    With `value` the formula is words, and the number is what `value` gives. `name` is how later formulas call it.
    """

    formula: str
    value: str = ""
    unit: str = ""
    digits: int | str = 2
    signed: bool = False
    label: str = ""
    name: str = ""
    each: dict[str, str] = {}
    inputs: dict[str, InputSpec] = {}


class StatedSpec(Spec):
    text: str
    where: str = ""
    value: str = ""
    unit: str = ""
    each: dict[str, str] = {}


class CheckSpec(Spec):
    """`let` names values before, `then` after the computed ones. `claims`: those that it checks, or their formula.

    `result` is the formula of a result: 'derived', agrees(…), judge(stated, computed), within(…), all_of(…).
    `words` for the result alone, or for each result that has words of its own.
    """

    number: Annotated[str, Field(pattern=r"^[\w.-]{1,20}$")]
    title: str
    # Stands for a title whose formulas have no value.
    name: str = ""
    claims: list[str] | str = []
    let: dict[str, str] = {}
    inputs: dict[str, InputSpec] = {}
    stated: list[str | StatedSpec] = []
    computed: list[ComputedSpec] = []
    then: dict[str, str] = {}
    result: str
    words: str | dict[Result, str]


class TopicSpec(Spec):
    topic: str
    checks: list[CheckSpec]


class FormulasFile(Spec):
    topics: list[TopicSpec] = []


def compute_checks(file: FormulasFile, material: Material) -> list[Check]:
    """Every check of a publication, in the order of its file; one that lacks a row says so."""
    functions = functions_of(material)
    return [_checked(spec, topic.topic, functions) for topic in file.topics for spec in topic.checks]


def _checked(spec: CheckSpec, topic: str, functions: Mapping[str, Callable[..., Any]]) -> Check:
    try:
        return _check(spec, topic, Evaluator({}, functions))
    except (MissingInputError, FormulaError) as error:
        words = f"Cannot be computed: {error} is not there."
        return Check(spec.name or spec.title, Result.GAP, words, number=spec.number, topic=topic)


def _check(spec: CheckSpec, topic: str, evaluator: Evaluator) -> Check:
    for name, formula in spec.let.items():
        evaluator.names[name] = evaluator.value(formula)
    computed: list[Computed] = []
    inputs: dict[tuple[str, str], Input] = {}
    for row in spec.computed:
        results = [_computed(row, spec.inputs, evaluator, inputs) for _ in _each(row.each, evaluator)]
        computed += results
        if row.name:
            rows = [
                Record(done.label, {"value": done.value, "rounded": done.rounded, "label": done.label})
                for done in results
            ]
            evaluator.names[row.name] = rows if row.each else rows[0]
    for name, formula in spec.then.items():
        evaluator.names[name] = evaluator.value(formula)
    result = _result(evaluator.value(spec.result))
    return Check(
        title=filled(spec.title, evaluator), result=result, explanation=_words(spec, result, evaluator),
        stated=[stated for row in spec.stated for stated in _stated(row, evaluator)], computed=computed,
        claims=tuple(evaluator.value(spec.claims) if isinstance(spec.claims, str) else spec.claims),
        number=spec.number, topic=topic, inputs=list(inputs.values()),
    )  # fmt: skip


def _each(each: Mapping[str, str], evaluator: Evaluator) -> Iterator[None]:
    """Once, or once for every row of a list, which has the name then."""
    if not each:
        yield
    for name, rows in each.items():
        for row in evaluator.value(rows):
            evaluator.names[name] = row
            yield


def _computed(
    spec: ComputedSpec, shared: Mapping[str, InputSpec], evaluator: Evaluator, used: dict[tuple[str, str], Input]
) -> Computed:
    """Its inputs are added to those that are `used`, each once: by its name and what it is."""
    formula, label = filled(spec.formula, evaluator), filled(spec.label, evaluator)
    digits = spec.digits if isinstance(spec.digits, int) else int(evaluator.value(spec.digits))
    shape: dict[str, Any] = {"unit": spec.unit, "digits": digits, "label": label, "signed": spec.signed}
    if spec.value:
        return Computed(float(evaluator.value(spec.value)), formula, formula, **shape)
    specs = {**shared, **spec.inputs}
    inputs = [_input(name, specs[name], evaluator) for name in dict.fromkeys(_NAME.findall(formula)) if name in specs]
    for given in inputs:
        used.setdefault((given.name, given.what), given)
    values = {given.name: given.value for given in inputs}
    value = Evaluator(values).value(formula) * (100 if spec.unit == "%" else 1)
    return Computed(value, written(formula, values), formula, **shape)


def _input(name: str, spec: InputSpec, evaluator: Evaluator) -> Input:
    value = evaluator.value(spec.of)
    numbers = value if isinstance(value, list) else [value]
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise FormulaError(f"{spec.of}: no number")
    value = [float(number) for number in value] if isinstance(value, list) else float(value)
    return Input(name, filled(spec.what, evaluator), value, filled(spec.unit, evaluator), spec.provenance)


def _stated(spec: str | StatedSpec, evaluator: Evaluator) -> Iterator[Stated]:
    if isinstance(spec, str):
        rows = evaluator.value(spec)
        for row in rows if isinstance(rows, list) else [rows]:
            text, where = row.field("text"), row.get("where") or ""
            yield Stated(text, where, row.get("value"), row.get("unit") or "", row.get("printed") or "")
        return
    for _ in _each(spec.each, evaluator):
        value = float(evaluator.value(spec.value)) if spec.value else None
        yield Stated(filled(spec.text, evaluator), filled(spec.where, evaluator), value, spec.unit)


def _result(value: Any) -> Result:
    try:
        return Result(value)
    except ValueError as error:
        raise FormulaError(f"no result: {value}") from error


def _words(spec: CheckSpec, result: Result, evaluator: Evaluator) -> str:
    """A sentence never says more than its result: one that was written for another goes."""
    if isinstance(spec.words, str):
        return filled(spec.words, evaluator)
    if result not in spec.words:
        return f"With these rows: {result}. The article's own give another result."
    return filled(spec.words[result], evaluator)
