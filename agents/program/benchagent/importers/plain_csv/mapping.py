"""What the columns of a table mean; JSON both ways, so that a form or `benchctl` can carry it."""

from __future__ import annotations

import math
from collections.abc import Mapping as JsonObject
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from benchagent.importers.source import NotUnderstood

Choice = TypeVar("Choice", bound=StrEnum)


class Role(StrEnum):
    # A number that was measured: becomes a metric, or a series where rows are samples.
    METRIC = "metric"
    # What was set for the run: becomes a parameter.
    FACTOR = "factor"
    # When a sample's interval ended.
    TIME = "time"
    # Which repeat of the same factors a row is; kept apart so that it does not become a factor.
    REPEAT = "repeat"
    DBMS = "dbms"
    DBMS_VERSION = "dbms_version"
    WORKLOAD = "workload"
    STARTED_AT = "started_at"
    # Whether a run came to its end.
    STATUS = "status"
    IGNORE = "ignore"


class Rows(StrEnum):
    # One run a row.
    RUNS = "runs"
    # All rows are samples of one run, in the order of time.
    SAMPLES = "samples"


@dataclass(frozen=True)
class Column:
    """`heading` as in the file; `name` and `unit` in the catalogue's words (tps/TPS, latency_p95_ms/ms).

    `scale` turns the printed number into that unit: 0.001 for microseconds of a metric in ms. For a time it gives
    seconds.
    """

    heading: str
    role: Role
    name: str = ""
    unit: str = ""
    scale: float = 1.0
    better: str | None = None


@dataclass(frozen=True)
class Mapping:
    """Columns by heading; a heading that is not listed is ignored."""

    columns: tuple[Column, ...]
    rows: Rows = Rows.RUNS
    phase: str = "run"
    workload: str = ""

    def of(self, role: Role) -> list[Column]:
        return [column for column in self.columns if column.role is role]

    def as_json(self) -> dict[str, Any]:
        columns = [{**vars(column), "role": column.role.value} for column in self.columns]
        return {"rows": self.rows.value, "phase": self.phase, "workload": self.workload, "columns": columns}

    @classmethod
    def from_json(cls, content: Any) -> Mapping:
        """Raises NotUnderstood naming the field."""
        known = {"rows", "phase", "workload", "columns"}
        if not isinstance(content, dict) or not set(content) <= known:
            raise NotUnderstood(f"mapping: an object with {', '.join(sorted(known))} is expected")
        columns = content.get("columns")
        if not isinstance(columns, list) or not columns:
            raise NotUnderstood("mapping.columns: a list of columns is expected")
        return cls(
            columns=tuple(_column(number, column) for number, column in enumerate(columns)),
            rows=_choice(Rows, content.get("rows", Rows.RUNS.value), "mapping.rows"),
            phase=_text(content, "phase", "mapping.phase", 20) or "run",
            workload=_text(content, "workload", "mapping.workload", 100),
        )


def _column(number: int, content: Any) -> Column:
    where = f"mapping.columns[{number}]"
    known = {"heading", "role", "name", "unit", "scale", "better"}
    if not isinstance(content, dict) or not set(content) <= known:
        raise NotUnderstood(f"{where}: an object with {', '.join(sorted(known))} is expected")
    heading = _text(content, "heading", f"{where}.heading", 200)
    if not heading:
        raise NotUnderstood(f"{where}.heading: a text is expected")
    role = _choice(Role, content.get("role"), f"{where}.role")
    scale = content.get("scale", 1.0)
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not math.isfinite(scale) or scale <= 0:
        raise NotUnderstood(f"{where}.scale: a number above 0 is expected")
    better = content.get("better")
    if better not in (None, "higher", "lower", "none"):
        raise NotUnderstood(f"{where}.better: higher, lower or none is expected")
    name, unit = _text(content, "name", f"{where}.name", 100), _text(content, "unit", f"{where}.unit", 30)
    if role in (Role.METRIC, Role.FACTOR) and not name:
        raise NotUnderstood(f"{where}.name: a {role.value} needs a name")
    return Column(heading, role, name, unit, float(scale), better)


def _text(content: JsonObject[str, Any], name: str, where: str, longest: int) -> str:
    value = content.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise NotUnderstood(f"{where}: a text of at most {longest} characters is expected")
    return value


def _choice(choices: type[Choice], value: Any, where: str) -> Choice:
    try:
        return choices(value)
    except ValueError as error:
        raise NotUnderstood(f"{where}: one of {', '.join(choices)} is expected") from error
