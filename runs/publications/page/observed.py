"""What an article's text says in numbers beside its runs: bars of the observations with one unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from runs.charts.base import Column, Figure, Table, bars, single_bar
from runs.formatting import exact
from runs.models import Observation
from runs.publications.material import Material
from runs.publications.page.amounts import Words, number_cell, origin_of, stored, text
from runs.publications.page.parts import PartSpec, Section
from runs.publications.spec import Spec


class ObservedSpec(Spec):
    """A chart of the observations with this unit."""

    id: str
    name: str
    unit: str
    better: Literal["higher", "lower", "none"] = "none"


class Observed(PartSpec):
    """`say` names what the fastest and slowest rates are of, in the unit of the first chart."""

    part: Literal["observed"] = "observed"
    figures: list[ObservedSpec]
    say: tuple[str, str, str] | None = None

    def section(self, material: Material) -> Section:
        figures = [figure for spec in self.figures if (figure := _bars(material, spec))]
        return Section(self.id, self.title, self._words(material.observations) or self.lead, figures)

    def _words(self, seen: Sequence[Observation]) -> Words:
        unit = self.figures[0].unit
        rates = sorted((one for one in seen if one.unit == unit and one.value), key=lambda one: one.value or 0.0)
        if len(rates) < 2 or not self.say:
            return ""
        before, between, after = self.say
        return (before, stored(rates[-1], unit=unit), between, stored(rates[0], unit=unit), after)


def _bars(material: Material, spec: ObservedSpec) -> Figure | None:
    seen = [one for one in material.observations if one.unit == spec.unit and one.value is not None]
    if not seen:
        return None
    groups = [
        single_bar(
            _label(material, one), one.value, text=f"{'≈ ' if _roughly(one) else ''}{exact(one.value)}",
            origin=origin_of([stored(one)]),
        )
        for one in seen
    ]  # fmt: skip
    table = Table(
        [Column("Where", numeric=False), Column("Value", spec.unit), Column("As said", numeric=False)],
        [[text(_label(material, one)), number_cell(stored(one)), text(one.qualifier)] for one in seen],
    )
    said = ", ".join(f"{_label(material, one)} {exact(one.value)}" for one in seen)
    drawn = bars(label=spec.name, unit=spec.unit, better=spec.better, groups=groups)
    return Figure(spec.id, f"{spec.name}, {spec.unit}", drawn, table, f"Bars: {said}.")


def _label(material: Material, seen: Observation) -> str:
    where = material.words(seen.factors)
    return f"{where}: {seen.metric}" if seen.unit == "%" else where or seen.metric


def _roughly(seen: Observation) -> bool:
    return any(word in seen.qualifier for word in ("about", "approx"))
