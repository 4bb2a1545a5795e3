"""Numbers over the size of the data: bars of the sizes, curves with a line per system and disk, tables of what follows.

Lost values are gaps, and a mark stands where the size passes the RAM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median
from typing import Any, Literal
from urllib.parse import urlencode

from benchagent.configfiles.units import GIB

from runs.answers.words import articles as words
from runs.answers.words.drawn import LOG_BARS_NOTE
from runs.charts.base import (
    LEAP_NOTE,
    Axis,
    BandSpec,
    Figure,
    LineGap,
    LineSeries,
    Mark,
    Scale,
    bars,
    leaps_of,
    lines,
    single_bar,
)
from runs.formatting import exact
from runs.models import Metric, Run
from runs.models.choices import RunState
from runs.publications.document import Spec
from runs.publications.material import Material
from runs.publications.page.parts import (
    Amount,
    Content,
    NamedTable,
    PartSpec,
    Rows,
    Section,
    Tile,
    Words,
    cell,
    change,
    computed,
    listed,
    origin_of,
    plain,
    quotient,
    stored,
    table,
)
from runs.run.facets import FACTOR, Facet, facets
from runs.run.number import number_of
from runs.tables import Column

SIZE = "size_gb"
SERIES = "disk"
GB_PER_TB = 1024
# From this span on a linear axis would press all small sizes into one point.
LOG_FROM = 20.0
# A size that is so many times the one before stands apart from the dense series.
APART = 10


class Sizes(PartSpec):
    """Bars of the sizes of a kind of workload: the dense series (`dense`: id of the chart), and all of them (`all`)."""

    part: Literal["sizes"] = "sizes"
    workload_kind: str
    dense: str
    all: str

    def section(self, material: Material) -> Section:
        runs = _of_kind(material, self.workload_kind)
        sizes = sorted(set(map(size_of, runs)))
        if not sizes:
            return Section(self.id, self.title)
        small = [size for size in sizes if size * APART < sizes[-1]] or sizes
        listed = _size_bars(runs, small, id=self.dense, title="The databases of the first series, GB", log=False)
        whole = _size_bars(runs, sizes, id=self.all, title="All databases, GB, log axis", log=True)
        return Section(
            id=self.id, title=self.title, figures=[listed, whole],
            tiles=[
                Tile("Size of the large database", (Amount(sizes[-1], "GB"),)),
                Tile("the same in TB of 1024 GB", (quotient(sizes[-1], GB_PER_TB, unit="TB"),)),
            ],
        )  # fmt: skip


class CurveSpec(Spec):
    """`show`: all sizes with their gaps; `dense` and `known` leave the gaps out, the first also the sizes that stand
    apart; `percent` is of the smallest size; `lost` ends where the gaps end. The title may say `{dense}`, the last
    dense size.
    """

    id: str
    title: str
    metric: str
    show: Literal["all", "dense", "known", "percent", "lost"] = "all"
    note: str = ""
    log: bool = False
    # Another line of which nothing is left, and why.
    gap: str = ""
    gap_reason: str = ""


class ColumnSpec(Spec):
    """`of`: "#", "size_gb" or a metric. `against`: in per cent above or below the first row's, or that before it.
    `per`: divided by another one, `times` so much.
    """

    label: str
    unit: str = ""
    of: str
    against: Literal["", "first", "before"] = ""
    per: str = ""
    times: float = 1


class TableSpec(Spec):
    title: str
    columns: list[ColumnSpec]


class Curves(PartSpec):
    """Charts of a kind of workload over the size. `say`: the range of the first metric, its losses, or a claim."""

    part: Literal["curves"] = "curves"
    workload_kind: str
    figures: list[CurveSpec]
    table: TableSpec | None = None
    frames: tuple[str, ...] = ()
    say: Literal["", "range", "loss", "claim"] = ""
    claim: str = ""
    compare: bool = True

    def section(self, material: Material) -> Section:
        runs = _of_kind(material, self.workload_kind)
        metrics = {
            measurement.metric.name: measurement.metric for run in runs for measurement in run.measurements.all()
        }
        drawn = [figure for figure in self.figures if figure.metric in metrics]
        if not drawn:
            return Section(self.id, self.title)
        compared = {"publication": material.publication.slug, "workload": runs[0].workload.slug}
        first = _without_lost(_curves(runs, metrics[drawn[0].metric]))[0]
        return Section(
            id=self.id, title=self.title, lead=self._words(material, first, metrics[drawn[0].metric].unit),
            figures=[_drawn(figure, runs, metrics[figure.metric]) for figure in drawn],
            tables=[_table_of(self.table, runs)] if self.table else [],
            frames=self.frames, compare=urlencode(compared) if self.compare else "",
        )  # fmt: skip

    def _words(self, material: Material, curve: Curve, unit: str) -> Words:
        claim = material.statements.claim(self.claim)
        sizes, amounts = list(curve.amounts), sorted(curve.amounts.values(), key=lambda amount: amount.value)
        if self.say == "range":
            smallest, largest = Amount(sizes[0]), Amount(sizes[-1], "GB")
            return words.between(
                curve.label, amounts[0], amounts[-1], unit=unit, smallest=smallest, largest=largest
            )  # fmt: skip
        if self.say == "loss":
            changes = [(change, Amount(size, "GB")) for _, size, change in curve.losses]
            return words.losses(curve.label, changes, Amount(sizes[0], "GB"))
        return words.claimed_factor(self.lead, Amount(claim.ratio, "×")) if claim and claim.ratio else self.lead


def _of_kind(material: Material, kind: str) -> list[Run]:
    return [run for run in material.runs if run.workload.kind == kind and isinstance(run.factor(SIZE), int | float)]


def _axis(metric: Metric) -> Axis:
    """Without saying a thing twice: "Business operations" in "business operations/s" are one."""
    label, unit = metric.label.partition(" (")[0], metric.unit.partition(" (")[0]
    if unit.lower().startswith(label.lower()):
        label, unit = unit[:1].upper() + unit[1:], ""
    return {"label": label, "unit": unit, "zero": True}


def _drawn(spec: CurveSpec, runs: Sequence[Run], metric: Metric) -> Figure:
    shown = _curves(runs, metric)
    known, y = _without_lost(shown), _axis(metric)
    small = known[0].dense_end
    bands: list[BandSpec] = []
    lost_xs = sorted({x for curve in shown for x in curve.lost})
    if spec.log:
        y = {**y, "zero": False, "scale": "log"}
    if spec.show == "percent":
        shown, y = [curve.relative() for curve in known], {"label": "Of the smallest size", "unit": "%", "zero": True}
        bands = [
            {"from": left, "to": right, "label": plain((change,)), "below": True, "clear": number > 0}
            for number, (left, right, change) in enumerate(known[0].losses)
        ]
    elif spec.show in ("dense", "known"):
        shown = [curve.up_to(small) for curve in known] if spec.show == "dense" else known
    elif spec.show == "lost" and lost_xs:
        shown = [curve.up_to(lost_xs[-1]) for curve in shown]
    gaps: list[LineGap] = [
        {"label": curve.label, "color": curve.color, "xs": list(curve.lost),
         "reason": "; ".join(dict.fromkeys(curve.lost.values()))}
        for curve in shown if curve.lost
    ]  # fmt: skip
    if spec.gap and lost_xs:
        gaps.append({"label": spec.gap, "color": 3, "xs": lost_xs, "reason": spec.gap_reason})
    xs = sorted({x for curve in shown for x in (*curve.amounts, *curve.lost)})
    scale: Scale = "log" if xs and xs[-1] / xs[0] >= LOG_FROM else "linear"
    series: list[LineSeries] = [
        {"label": curve.label, "color": curve.color, "dash": False,
         "points": [(size, amount.value) for size, amount in curve.amounts.items()],
         "origin": origin_of(curve.amounts.values())}
        for curve in shown if curve.amounts
    ]  # fmt: skip
    x: Axis = {"label": "Database size", "unit": "GB", "scale": scale, "even": True}
    for line in series:
        line["leaps"] = leaps_of(x, line["points"])
    leap_note = LEAP_NOTE if any(line["leaps"] for line in series) else ""
    chart = lines(x=x, y=y, series=series, marks=_ram_mark(runs), bands=bands)
    if gaps:
        chart["gaps"] = gaps
    rows: Rows = [[Amount(x), *(cell(curve.amounts.get(x), gap=curve.lost.get(x, "")) for curve in shown)] for x in xs]
    numbers = table([Column("Size", "GB"), *(Column(curve.label, y["unit"]) for curve in shown)], rows)
    title = spec.title.replace("{dense}", exact(small))
    said = [curve.words for curve in shown if curve.amounts]
    said += [f"{gap['label']}: {len(gap['xs'])} values not known." for gap in gaps]
    return Figure(spec.id, title, chart, numbers, f"{title}. {' '.join(said)}", note=f"{spec.note} {leap_note}".strip())


def _table_of(spec: TableSpec, runs: Sequence[Run]) -> NamedTable:
    """A row per run with numbers, in the order of the sizes."""
    valued = sorted((run for run in runs if run.measurements.all()), key=size_of)
    rows = [
        {number.metric.name: stored(number) for number in run.measurements.all()}
        | {SIZE: Amount(size_of(run)), "#": Amount(at)}
        for at, run in enumerate(valued, 1)
    ]
    cells: Rows = [[_column_cell(column, rows, at) for column in spec.columns] for at in range(len(rows))]
    return NamedTable(spec.title, table([Column(column.label, column.unit) for column in spec.columns], cells))


def _column_cell(spec: ColumnSpec, rows: Sequence[Mapping[str, Amount]], at: int) -> Content:
    if spec.against and not at:
        return None
    amount = rows[at].get(spec.of)
    before = rows[0 if spec.against == "first" else at - 1] if spec.against else rows[at]
    other = before.get(spec.per or spec.of)
    if amount is None or other is None or not (spec.against or spec.per):
        return cell(amount, gap="not printed")
    if spec.against:
        return change(amount.value, other.value)
    formula = f"{amount.value:.10g} × {spec.times:g} / {other.value:.10g}"
    return computed(amount.value * spec.times / other.value, formula)


def _size_bars(runs: Sequence[Run], sizes: Sequence[float], *, id: str, title: str, log: bool) -> Figure:
    groups = [
        single_bar(f"test {number}", size, text=exact(size), origin=origin_of([Amount(size)]))
        for number, size in enumerate(sizes, start=1)
    ]
    spec = bars(label="Size", unit="GB", better="none", groups=groups, scale="log" if log else "linear")
    spec["marks"] = _ram_mark(runs)
    rows: Rows = [[Amount(number), Amount(size)] for number, size in enumerate(sizes, start=1)]
    alt = f"Bars of the database sizes from {exact(sizes[0])} to {exact(sizes[-1])} GB, the RAM as a line."
    note = "1 GB = 1024 MB." + (f" {LOG_BARS_NOTE}" if log else "")
    return Figure(id, title, spec, table([Column("Test"), Column("Size", "GB")], rows), alt, note=note)


@dataclass(frozen=True)
class Curve:
    """Values of one line by size; `lost` are sizes whose value is not known, with the reason."""

    label: str
    color: int
    amounts: dict[float, Amount]
    lost: dict[float, str]

    def up_to(self, size: float) -> Curve:
        amounts = {x: amount for x, amount in self.amounts.items() if x <= size}
        return replace(self, amounts=amounts, lost={x: why for x, why in self.lost.items() if x <= size})

    def relative(self) -> Curve:
        """In per cent of its value at its smallest size."""
        first = next(iter(self.amounts.values())).value
        shares = {
            x: computed(100 * amount.value / first, f"100 × {amount.value:.10g} / {first:.10g}", digits=2)
            for x, amount in self.amounts.items()
        }
        return replace(self, amounts=shares)

    @property
    def dense_end(self) -> float:
        """The last size of the dense series."""
        at = list(self.amounts)
        return at[-2] if len(at) > 2 and at[-1] / at[-2] >= APART else at[-1]

    @property
    def losses(self) -> list[tuple[float, float, Amount]]:
        """(from, to, change against the smallest size) of the dense series, and from there to the largest size."""
        at, small = list(self.amounts), self.dense_end
        stretches = [(at[0], small)] + ([(small, at[-1])] if at[-1] > small else [])
        first = self.amounts[at[0]].value
        return [(left, right, change(self.amounts[right].value, first)) for left, right in stretches]

    @property
    def words(self) -> str:
        ends = list(self.amounts.items())
        (small, first), (large, last) = ends[0], ends[-1]
        sizes = f"from {exact(first.value)} at {exact(small)} GB to {exact(last.value)} at {exact(large)} GB"
        return f"{self.label}: {sizes}."


def size_of(run: Run) -> float:
    """In GB, as the run states it; 0 where it states none."""
    return float(run.factor(SIZE) or 0)


def _curves(runs: Sequence[Run], metric: Metric) -> list[Curve]:
    """In the order of the source; of repeats the median. All runs have a size."""
    curves: list[Curve] = []
    for color, (label, its_own) in enumerate(_lines_of(runs).items()):
        curve = Curve(label, color, {}, {})
        for size, same in groupby(sorted(its_own, key=size_of), key=size_of):
            repeats = list(same)
            numbers = [number for run in repeats if (number := number_of(run, metric.name, metric.unit))]
            if numbers:
                values = [number.value for number in numbers]
                one = len(values) == 1
                curve.amounts[size] = (
                    stored(numbers[0]) if one else computed(median(values), f"median({listed(values)})")
                )
            elif any(run.state == RunState.VALUE_MISSING for run in repeats):
                curve.lost[size] = "; ".join(dict.fromkeys(run.missing_reason for run in repeats if run.missing_reason))
        curves.append(curve)
    return curves


def _lines_of(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Label -> runs: of each system where there are several, of each disk, and of whatever else differs at one size."""
    alike: dict[tuple[Any, ...], list[dict[str, Facet]]] = {}
    for run in runs:
        alike.setdefault((run.dbms_version_id, run.factor(SERIES), size_of(run)), []).append(facets(run))
    fields = ["dbms"] if len({run.dbms_version_id for run in runs}) > 1 else []
    fields.append(f"{FACTOR}{SERIES}")
    for of in alike.values():
        fields += [field for field in of[0] if any(each.get(field) != of[0][field] for each in of)]
    lines_of: dict[str, list[Run]] = {}
    for run in runs:
        of_run = facets(run)
        label = " · ".join(of_run[field].text for field in dict.fromkeys(fields) if field in of_run)
        lines_of.setdefault(label or "all", []).append(run)
    return lines_of


def _ram_mark(runs: Sequence[Run]) -> list[Mark]:
    """Where the data outgrows the machine's memory; nothing when the runs' machines differ in it."""
    sizes = {run.hardware.ram_bytes for run in runs if run.hardware and run.hardware.ram_bytes}
    if len(sizes) != 1:
        return []
    ram_gb = sizes.pop() / GIB
    return [{"axis": "x", "value": ram_gb, "label": f"RAM {exact(ram_gb)} GB"}]


def _without_lost(curves: Sequence[Curve]) -> list[Curve]:
    """The curves that have values, without their gaps."""
    return [replace(curve, lost={}) for curve in curves if curve.amounts]
