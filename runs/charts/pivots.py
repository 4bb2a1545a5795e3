"""Numbers in a grid, coloured or plain: one level of x against one series in each cell, or ratios by two facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from runs.answers.places import place_of, x_label
from runs.answers.words.drawn import centre_label
from runs.compare.axes import HEAT_MAP
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.compare.levels import LevelRow, Levels
from runs.compare.panels import Panel
from runs.formatting import quantity
from runs.stats import WINNERS, Kind

# So many coloured numbers of a row stand side by side on a phone.
MOST_ABREAST = 4
# Steps of the colour scale in static/css/compare.css.
STEPS = 9
LOG_FROM = 10.0
# Beyond, a table is no picture, and a page of many megabytes.
MOST_COLUMNS, MOST_CELLS = 100, 4_000


@dataclass(frozen=True)
class Pivot:
    """`rows`: label and groups, None where nothing was measured. `scale`: the values at the ends of the colour scale,
    None without colours.
    """

    template: ClassVar[str] = "_pivot.html"
    id: str
    title: str
    corner: str
    columns: list[str]
    rows: list[tuple[str, list[Group | None]]]
    unit: str
    note: str
    scale: tuple[float, float] | None = None
    steps: ClassVar[range] = range(STEPS)

    @property
    def stacks(self) -> bool:
        """Whether its rows are cards on a phone."""
        return len(self.columns) > (MOST_ABREAST if self.scale else 2)


def pivots(comparison: Comparison, *, id: str) -> list[Pivot]:
    """One for each panel: of a heat map x across, series down, all with the same scale of colours; of a table x down,
    series across.
    """
    panels = comparison.shown_panels
    values = [point.centre for panel in panels for point in panel.points if point.centre is not None]
    scale = (min(values), max(values)) if comparison.axes.view == HEAT_MAP and values else None
    return [_pivot(panel, comparison, scale, f"{id}-{panel.key}" if len(panels) > 1 else id) for panel in panels]


def _pivot(panel: Panel, comparison: Comparison, scale: tuple[float, float] | None, id: str) -> Pivot:
    metric, axes, groups = comparison.metric, comparison.axes, comparison.drawn
    label = metric.label if metric else ""
    unit = "%" if axes.y_as != "absolute" else metric.unit if metric else ""
    across = _headings(panel, place_of(axes, groups).unit)
    grid: dict[tuple[float, float], Group] = {
        (point.x, at): point for at, curve in enumerate(panel.curves) for point in curve.points
    }
    curves: list[tuple[float, str]] = [(at, curve.label or label) for at, curve in enumerate(panel.curves)]
    over, down = (across, curves) if scale else (curves, across)
    columns = over[:MOST_COLUMNS]
    rows = []
    for row, name in down[: MOST_CELLS // max(1, len(columns))]:
        places = ((column, row) if scale else (row, column) for column, _ in columns)
        rows.append((name, [grid.get(place) for place in places]))
    title = f"{label}{f', {unit}' if unit else ''}"
    series = ", ".join(axes.facts[name].label for name in axes.series) or "Series"
    x = x_label(axes) or "All"
    corner = f"{series} ↓  {x} →" if scale else f"{x} ↓  {series} →"
    centre = centre_label(panel.points).lower()
    better = f"; {metric.better} is better" if metric and metric.better in ("higher", "lower") else ""
    intervals = "; with intervals" if not scale and any(point.interval for point in panel.points) else ""
    note = f"Number: {centre}{intervals}{better}."
    if len(rows) < len(down) or len(columns) < len(over):
        note += (
            f" The first {len(rows)} of {len(down)} rows, {len(columns)} of {len(over)} columns; the CSV file has all."
        )
    named = f"{title}: {panel.label}" if panel.label else title
    return Pivot(id, named, corner, [words for _, words in columns], rows, unit, note, scale)


def _headings(panel: Panel, unit: str) -> list[tuple[float, str]]:
    """Places on x in their order, with words."""
    places = sorted({point.x: point.x_words for point in panel.points}.items())
    return [(x, words or (quantity(x, unit) if unit == "MB" else f"{x:,.6g} {unit}".rstrip())) for x, words in places]


def heat(value: float | None, scale: tuple[float, float] | None) -> int | None:
    """Step of the colour scale from 0; by logarithms where the values lie far apart."""
    if value is None or scale is None:
        return None
    least, most = scale
    if least > 0 and most / least >= LOG_FROM:
        value, least, most = math.log(value), math.log(least), math.log(most)
    return min(STEPS - 1, int(STEPS * (value - least) / (most - least))) if most > least else STEPS // 2


@dataclass(frozen=True)
class HeatMap:
    """Ratios of one series by the facts that tell the levels apart; `down` names all but the one `across`."""

    series: str
    down: str
    across: str
    columns: list[str]
    rows: list[tuple[str, dict[str, LevelRow | None]]]

    @property
    def stacks(self) -> bool:
        """Whether its rows are cards on a phone."""
        return len(self.columns) > MOST_ABREAST


def heat_maps(levels: Levels) -> list[HeatMap]:
    """One for each series with a ratio, where two facts or more tell the levels apart; across goes the one with the
    most levels, never the first. One of all series, with a level a row, where most of their cells would be empty: two
    sweeps that cross fill one row and one column.
    """
    if len(levels.headings) < 2:
        return []
    first, *others = (fact.label for fact in levels.headings)
    across = max(others, key=lambda label: len({row.words[label] for row in levels.level_rows}))
    down = [first, *(label for label in others if label != across)]
    maps = []
    for series in (each for each in levels.series if each.with_ratio):
        cells: dict[str, dict[str, LevelRow]] = {}
        for row in series.rows:
            cells.setdefault(" · ".join(row.words[label] for label in down), {})[row.words[across]] = row
        columns = list(dict.fromkeys(row.words[across] for row in series.rows))
        lines = [(name, {column: of_row.get(column) for column in columns}) for name, of_row in cells.items()]
        maps.append(HeatMap(series.label, " · ".join(down), across, columns, lines))
    cells_of_all = [cell for each in maps for _, of_row in each.rows for cell in of_row.values()]
    filled = sum(cell is not None and bool(cell.ratio) for cell in cells_of_all)
    if len(maps) > 1 and filled < len(cells_of_all) / 2:
        return [_map_of_all(levels, [each.series for each in maps])]
    return maps


def _map_of_all(levels: Levels, labels: list[str]) -> HeatMap:
    by_label = {series.label: {row.label: row for row in series.rows} for series in levels.series}
    lines = [(level, {label: by_label[label].get(level) for label in labels}) for level in levels.labels]
    shown = [(level, cells) for level, cells in lines if any(cell and cell.ratio for cell in cells.values())]
    down = " · ".join(fact.label for fact in levels.headings)
    return HeatMap("Each", down, levels.compared_words, labels, shown)


def shade(row: LevelRow | None) -> int | None:
    """−3 to 3: how far the ratio lies to the worse and to the better side, 0 where no verdict names one; None without a
    ratio. Steps at 1.05, 1.25 and 2 times.
    """
    if row is None or row.ratio is None:
        return None
    if row.kind not in WINNERS:
        return 0
    steps = sum(max(row.ratio, 1 / row.ratio) >= step for step in (1.05, 1.25, 2.0))
    return -steps if row.kind == Kind.WORSE or (row.kind == Kind.DIFFERENT and row.ratio < 1) else steps
