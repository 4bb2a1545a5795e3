"""What somebody said of a table's columns, as JSON: checked, and as the mapping by which its importer reads."""

from __future__ import annotations

from typing import Annotated, Any

from benchagent.catalog import METRICS
from benchagent.catalog import Role as FactorRole
from benchagent.importers import NotUnderstood
from benchagent.importers.plain_csv import Column, Mapping, Role, Rows
from pydantic import Field, ValidationError, model_validator

from runs.incoming.reading import messages
from runs.incoming.values import OneOf, Strict, wrong


class ColumnSaid(Strict):
    heading: Annotated[str, Field(min_length=1, max_length=200)]
    role: Annotated[str, OneOf(tuple(Role))]
    name: Annotated[str, Field(max_length=100)] = ""
    unit: Annotated[str, Field(max_length=30)] = ""
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    better: Annotated[str, OneOf(("higher", "lower", "none"))] | None = None
    compared_as: Annotated[str, OneOf(("", *FactorRole))] = ""
    phase: Annotated[str, Field(max_length=20)] = ""

    @model_validator(mode="after")
    def _is_whole(self) -> ColumnSaid:
        if self.role in (Role.METRIC, Role.FACTOR) and not self.name:
            raise wrong(("name", f"A {self.role} needs a name."))
        if self.role == Role.METRIC and not self.unit and (known := METRICS.get(self.name)):
            self.unit, self.better = known.unit, self.better or known.better
        if self.compared_as and self.role != Role.FACTOR:
            raise wrong(("compared_as", "Only a factor is compared as something."))
        return self


class TableSaid(Strict):
    columns: Annotated[list[ColumnSaid], Field(min_length=1)]
    rows: Annotated[str, OneOf(tuple(Rows))] = Rows.RUNS
    phase: Annotated[str, Field(max_length=20)] = "run"
    workload: Annotated[str, Field(max_length=100)] = ""


def mapping_of(content: Any) -> Mapping:
    """Raises NotUnderstood naming the field."""
    try:
        answered = TableSaid.model_validate(content)
    except ValidationError as error:
        field, (message, *_) = next(iter(messages(error, TableSaid).items()))
        raise NotUnderstood(f"mapping{'' if field == 'detail' else f'.{field}'}: {message}") from error
    columns = tuple(Column(**vars(column) | {"role": Role(column.role)}) for column in answered.columns)
    return Mapping(columns, Rows(answered.rows), answered.phase or "run", answered.workload)
