"""What a run's page and rows of lists say besides charts: values, gaps, settings side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any

from benchagent.catalog import METRICS

from runs.models import Config, Measurement, Run, StateChange
from runs.run.facets import factor_label

DRIVER_LABELS = {
    "name": "Load generator",
    "version": "Load generator version",
    "jdbc_driver": "JDBC driver",
    "jdbc_driver_version": "JDBC driver version",
    "agent": "Agent version",
    "cpu": "Driver CPU contains",
}


@dataclass(frozen=True)
class SettingRow:
    """A setting as given (all its values, in order) and as the DBMS says it is in force; None where it says nothing."""

    name: str
    given: list[str]
    effective: str | None
    ignored: bool


def ordered_measurements(run: Run) -> list[Measurement]:
    """Those of the run first, in the order of the catalogue, then by name."""
    order = {name: position for position, name in enumerate(METRICS)}
    return sorted(
        run.measurements.all(),
        key=lambda row: (row.phase != "run", order.get(row.metric.name, len(order)), row.metric.name, row.phase),
    )


def origin(run: Run) -> list[tuple[str, str]]:
    """(label, text) of what generated the load, of its data, and of the sender's own facts; empty ones are left out."""
    facts = [(DRIVER_LABELS.get(name) or factor_label(name), value) for name, value in run.driver.items()]
    for kind, stated in (("Data", run.dataset), ("Context", run.context), ("Info", run.info)):
        facts += [(f"{kind}: {factor_label(name).lower()}", value) for name, value in stated.items()]
    return [(label, _words(value)) for label, value in facts if value not in ("", None, {}, [])]


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def setting_rows(run: Run) -> list[SettingRow]:
    """Given settings in their order, then the effective ones that nobody gave."""
    effective = {str(name): str(value) for name, value in run.effective_settings}
    lower = {name.lower(): name for name in effective}
    ignored = {str(name).lower() for name in run.ignored_settings}
    rows, seen = [], set()
    for name, values in _given(run.config).items():
        match = lower.get(name.lower())
        seen.add(match)
        rows.append(SettingRow(name, values, effective[match] if match else None, name.lower() in ignored))
    return rows + [SettingRow(name, [], value, False) for name, value in effective.items() if name not in seen]


def _given(config: Config | None) -> dict[str, list[str]]:
    """Parameter name -> its values in order; a flag stands alone and has an empty value."""
    values: dict[str, list[str]] = {}
    for parameter in config.parameters.all() if config else ():
        value = "" if parameter.value is None else f"{parameter.value} {parameter.unit}".strip()
        values.setdefault(parameter.name, []).append(value)
    return values


def time_line(run: Run) -> list[tuple[StateChange, float | None]]:
    """The states, each with how many seconds it lasted: None for the last one, and where the clock went back."""
    changes = list(run.state_changes.all())
    lasted_s = [(after.at - change.at).total_seconds() for change, after in pairwise(changes)]
    return [(change, s if s is not None and s >= 0 else None) for change, s in zip_longest(changes, lasted_s)]
