"""A plan that comes from elsewhere: what the schedule form asks of one, as far as no machine here decides it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Annotated, Any

from benchagent.catalog import WORKLOADS
from benchagent.redaction import redact_json
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from runs.incoming.reading import messages
from runs.incoming.typed import reader_of
from runs.incoming.values import Line, OneOf, Prose, Slug, Tags, Tested, Text
from runs.models.choices import Visibility
from runs.models.shapes import PlanDocument

MAX_RUNS, MAX_REPEATS = 500, 50
FactorValue = str | int | float
Sets = Mapping[str, FactorValue]
NO_SLUG = Annotated[str, OneOf(("",))]


class BadPlan(ValueError):
    """No form would make it; the text begins with the name of the field."""


class PlanFields(BaseModel):
    """The fields of the form, of which a plan may lack any."""

    model_config = ConfigDict(strict=True, defer_build=True)

    workload: Annotated[str, Text(120, least=0)] = ""
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 1
    agent: Slug | NO_SLUG | None = None
    name: Line = ""
    label: Line = ""
    tags: Tags = []
    tested: Tested = Tested()
    note: Prose = ""
    visibility: Annotated[str, OneOf(("", *Visibility.values))] = ""
    publication: Slug | NO_SLUG = ""
    figure: Slug | NO_SLUG = ""


def read_plan(given: Any) -> PlanDocument:
    """The plan without secrets. A workload, an engine or a factor that is unknown here may be another site's.

    Raises BadPlan.
    """
    plan: PlanDocument = redact_json(given or {})
    for form in (reader_of(PlanDocument), TypeAdapter(PlanFields)):
        try:
            form.validate_python(plan)
        except ValidationError as error:
            where, words = next(iter(messages(error, form).items()))
            raise BadPlan(f"{where}: {words[0]}") from error
    _check_factors(plan)
    return plan


def values_of(
    factors: Sets, sweep: Mapping[str, Sequence[FactorValue]], beyond: Iterable[Sets]
) -> dict[str, tuple[FactorValue, ...]]:
    """Every value that a plan gives a factor, by its name. `beyond`: what overrides and cells beside set."""
    given = {**{name: (value,) for name, value in factors.items()}, **{name: tuple(sweep[name]) for name in sweep}}
    for sets in beyond:
        for name, value in sets.items():
            given[name] = tuple(dict.fromkeys((*given.get(name, ()), value)))
    return given


def _check_factors(plan: PlanDocument) -> None:
    """Raises BadPlan."""
    sweep, extra = plan.get("sweep", {}), plan.get("extra", [])
    runs_count = (prod(map(len, sweep.values())) + len(extra)) * len(plan.get("engines", [])) * plan.get("repeats", 1)
    if runs_count > MAX_RUNS:
        raise BadPlan(f"repeats: {runs_count:,} runs are more than the {MAX_RUNS} one experiment may have.")
    beyond = [*extra, *(sets for _name, _value, sets in plan.get("overrides", []))]
    given = values_of(plan.get("factors", {}), sweep, beyond)
    for name, values in given.items():
        if len(set(values)) < len(values) or not values:
            raise BadPlan(f"factors.{name}: Name every value once.")
    workload = WORKLOADS.get(plan.get("workload", ""))
    for name, refused in workload.refusals(given).items() if workload else ():
        if refused:
            raise BadPlan(f"factors.{name}: {next(iter(refused.values()))}")
