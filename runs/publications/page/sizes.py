"""Curves over the size of the data: one line per disk, lost values as gaps, a mark where the size passes the RAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.charts.base import (
    BandSpec,
    Cell,
    Column,
    Figure,
    LineGap,
    LineSeries,
    LinesSpec,
    Mark,
    Scale,
    Table,
    YAxis,
    lines,
)
from runs.formatting import exact
from runs.models import Measurement, Metric, Run
from runs.models.choices import RunState
from runs.publications.page.amounts import Amount, computed, number_cell, origin_of, stored

SIZE = "size_gb"
SERIES = "disk"
GIB = 1024**3
# From this span on a linear axis would press all small sizes into one point.
LOG_FROM = 20.0


@dataclass(frozen=True)
class Curve:
    """Values of one disk by size; `lost` are sizes whose value is not known, with the reason."""

    label: str
    color: int
    amounts: dict[float, Amount]
    lost: dict[float, str]

    @property
    def points(self) -> list[tuple[float, float]]:
        return [(size, amount.value) for size, amount in self.amounts.items()]


def size_of(run: Run) -> float | None:
    value = run.factor(SIZE)
    return float(value) if isinstance(value, int | float) else None


def curves(runs: Sequence[Run], metric: Metric) -> list[Curve]:
    """One per value of the disk factor, in the order of the source."""
    names = list(dict.fromkeys(str(run.factor(SERIES) or "all") for run in runs if size_of(run) is not None))
    return [_curve(name, color, [r for r in runs if str(r.factor(SERIES) or "all") == name], metric)
            for color, name in enumerate(names)]  # fmt: skip


def _curve(name: str, color: int, runs: Sequence[Run], metric: Metric) -> Curve:
    amounts: dict[float, Amount] = {}
    lost: dict[float, str] = {}
    for run in sorted(runs, key=lambda run: size_of(run) or 0.0):
        size, number = size_of(run), number_of(run, metric)
        if size is None:
            continue
        if number is not None:
            amounts[size] = stored(number)
        elif run.state == RunState.VALUE_MISSING:
            lost[size] = run.missing_reason
    return Curve(name, color, amounts, lost)


def number_of(run: Run, metric: Metric) -> Measurement | None:
    return next((one for one in run.measurements.all() if one.metric_id == metric.id), None)


def ram_mark(runs: Sequence[Run]) -> list[Mark]:
    """Where the data outgrows the machine's memory; nothing when the runs' machines differ in it."""
    sizes = {run.hardware.ram_bytes for run in runs if run.hardware and run.hardware.ram_bytes}
    if len(sizes) != 1:
        return []
    ram_gb = sizes.pop() / GIB
    return [{"axis": "x", "value": ram_gb, "label": f"RAM {exact(ram_gb)} GB"}]


def only_up_to(found: Sequence[Curve], size: float) -> list[Curve]:
    return [
        Curve(
            one.label, one.color, {x: amount for x, amount in one.amounts.items() if x <= size},
            {x: why for x, why in one.lost.items() if x <= size},
        )
        for one in found
    ]  # fmt: skip


def without_lost(found: Sequence[Curve]) -> list[Curve]:
    """The curves that have values, without their gaps."""
    return [Curve(one.label, one.color, one.amounts, {}) for one in found if one.amounts]


def relative(found: Sequence[Curve]) -> list[Curve]:
    """Each curve in per cent of its value at its smallest size."""
    return [Curve(one.label, one.color, _shares(one.amounts), {}) for one in found if one.amounts]


def _shares(amounts: dict[float, Amount]) -> dict[float, Amount]:
    first = next(iter(amounts.values())).value
    return {
        x: computed(100 * one.value / first, f"100 × {one.value:.10g} / {first:.10g}", digits=2)
        for x, one in amounts.items()
    }


def change(curve: Curve, size: float, base: float) -> Amount:
    """What the value at `size` is above or below that at `base`, in per cent."""
    value, first = curve.amounts[size].value, curve.amounts[base].value
    formula = f"{value:.10g} / {first:.10g} − 1"
    return computed(100 * (value / first - 1), formula, unit="%", digits=2, signed=True)


def size_amount(size: float) -> Amount:
    return Amount(size, "GB")


def figure(
    found: Sequence[Curve], *, id: str, title: str, y: YAxis, marks: Sequence[Mark] = (), note: str = "",
    bands: Sequence[BandSpec] = (), lost: Sequence[LineGap] = (),
) -> Figure:  # fmt: skip
    """`lost` are more gaps than those of the curves."""
    xs = [x for one in found for x in (*(x for x, _ in one.points), *one.lost)]
    scale: Scale = "log" if xs and max(xs) / min(xs) >= LOG_FROM else "linear"
    series: list[LineSeries] = [
        {
            "label": one.label,
            "color": one.color,
            "dash": False,
            "points": [(x, y) for x, y in one.points],
            "origin": origin_of(one.amounts.values()),
        }
        for one in found
        if one.points
    ]
    gaps: list[LineGap] = [_gap(one) for one in found if one.lost]
    gaps += lost
    spec: LinesSpec = lines(
        x={"label": "Database size", "unit": "GB", "scale": scale, "even": True},
        y=y,
        series=series,
        marks=marks,
        bands=bands,
    )
    if gaps:
        spec["gaps"] = gaps
    return Figure(id=id, title=title, spec=spec, table=_table(found, y), alt=_alt(title, found, gaps), note=note)


def _gap(one: Curve) -> LineGap:
    reason = "; ".join(dict.fromkeys(one.lost.values()))
    return {"label": one.label, "color": one.color, "xs": list(one.lost), "reason": reason}


def _table(found: Sequence[Curve], y: YAxis) -> Table:
    xs = sorted({x for one in found for x in (*one.amounts, *one.lost)})
    columns = [Column("Size", "GB"), *(Column(one.label, y["unit"]) for one in found)]
    return Table(columns, [[number_cell(Amount(x)), *(_cell(one, x) for one in found)] for x in xs])


def _cell(one: Curve, x: float) -> Cell:
    return number_cell(one.amounts.get(x), gap=one.lost.get(x, ""))


def _alt(title: str, found: Sequence[Curve], gaps: Sequence[LineGap]) -> str:
    said = [
        f"{one.label}: from {exact(one.points[0][1])} at {exact(one.points[0][0])} GB "
        f"to {exact(one.points[-1][1])} at {exact(one.points[-1][0])} GB."
        for one in found
        if one.points
    ]
    said += [f"{gap['label']}: {len(gap['xs'])} values not known." for gap in gaps]
    return f"{title}. {' '.join(said)}"
