"""The controls of a comparison as plain selects: what its address asks for, what it could ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from runs.answers.words.drawn import held_words
from runs.charts.drawing import Drawing
from runs.charts.tradeoff import PAID_WITH
from runs.compare.axes import BARS, CURVE, NONE, ON_AXES, POOL, SCALES, TRADE_OFF, VIEWS, X_AS, Y_AS
from runs.compare.compare import MOST_METRICS
from runs.compare.facts import Fact
from runs.compare.panels import SIZE
from runs.models import Metric

# Facts of more levels are not offered to be held at one.
MOST_LEVELS = 60
# So many bars need no panels.
FEW_BARS = 3


@dataclass(frozen=True)
class Select:
    """`options`: value and words; `chosen` is one of the values."""

    name: str
    id: str
    label: str
    options: list[tuple[str, str]]
    chosen: str


def controls_of(drawing: Drawing, params: QueryDict) -> dict[str, Any]:
    """Context of templates/_comparison_controls.html."""
    axes, metrics = drawing.axes, [each.metric for each in drawing.comparisons if each.metric]
    on_axes = axes.view in ON_AXES
    selects: tuple[str, ...] = ("x", "series", "panels") if on_axes else ()
    if axes.view == BARS and (axes.panels or len(drawing.comparisons[0].groups) > FEW_BARS):
        # Who chose another x, and came to bars by it, finds the select where it was.
        selects = ("x", "panels") if params.get("x") and not params.get("view") else ("panels",)
    twice = drawing.comparisons[0].said_twice
    facts = [fact for fact in axes.facts.values() if fact.field not in twice]
    held = [_hold(fact, drawing) for fact in facts if fact.field != axes.x or not on_axes]
    return {
        "tabs": [(name, label, name == axes.view) for name, label in VIEWS.items()],
        "axis_selects": [_axis(name, drawing, params) for name in selects],
        "held": [select for select in held if len(select.options) > 1],
        "holds": bool(axes.fixed or axes.pooled),
        "against_select": _against(drawing) if axes.view == TRADE_OFF else None,
        "scales": _scales(drawing, params) if on_axes or axes.view == BARS else [],
        "scaled": any(params.get(name) for name in ("x_as", "y_as", "x_scale", "y_scale")),
        "more_metrics": _more(drawing.comparisons[0].metrics, metrics),
        "most_metrics": MOST_METRICS,
        "drawn_words": held_words(drawing.comparisons[0], is_alone=len(drawing.comparisons) == 1),
    }  # fmt: skip


def _more(every: Sequence[Metric], shown: Sequence[Metric]) -> list[tuple[Metric, bool]]:
    """Those that could stand beside the first, chosen ones first, then what is mostly looked at."""
    order = {name: at for at, name in enumerate(PAID_WITH)}
    others = sorted(every, key=lambda metric: (metric not in shown, order.get(metric.name, len(order))))
    return [(metric, metric in shown) for metric in others if metric not in shown[:1]]


def _against(drawing: Drawing) -> Select | None:
    """The second metric of a trade-off."""
    first, *others = drawing.comparisons
    if not others or others[0].metric is None:
        return None
    options = [(metric.name, str(metric)) for metric in first.metrics if metric != first.metric]
    return Select("metric", "against-metric", "Against", options, others[0].metric.name)


def _axis(name: str, drawing: Drawing, params: QueryDict) -> Select:
    axes = drawing.axes
    taken = {"x": [axes.x], "series": axes.series, "panels": [axes.panels]}[name]
    fields = [field for field in taken if field in axes.facts]
    by_rule = " · ".join(axes.facts[field].label for field in fields) or "none"
    wanted = params.get(name, "")
    chosen = wanted if wanted in axes.facts or wanted == NONE else ""
    # What the rule chose is not said twice.
    rule_chose = "" if chosen or len(fields) > 1 else next(iter(fields), NONE)
    every = [(fact.field, fact.label) for fact in axes.facts.values()]
    if name == "x":
        settings = drawing.comparisons[0].settings
        every += [(field, fact.label) for field, (fact, _) in settings.items() if field not in axes.facts]
    every.append((NONE, "none"))
    options = [
        ("", "automatic" if chosen else by_rule),
        *((field, label) for field, label in every if field != rule_chose),
    ]
    return Select(name, f"axis-{name}", {"x": "x axis", "series": "Series", "panels": "Panels"}[name], options, chosen)


def _hold(fact: Fact, drawing: Drawing) -> Select:
    """A fact at all its levels, at one, or pooled."""
    axes = drawing.axes
    chosen = axes.fixed.get(fact.field, POOL if fact.field in axes.pooled else None)
    options = [("", "each level")]
    if len(fact.values) <= MOST_LEVELS:
        options += [(f"{fact.field}={value}", f"only {fact.words.get(value, value)}") for value in fact.values]
    if fact.field not in (axes.x, axes.panels):
        options.append((f"{fact.field}={POOL}", "pooled"))
    return Select(
        "fix", f"hold-{fact.field.replace(':', '-')}", fact.label, options,
        "" if chosen is None else f"{fact.field}={chosen}",
    )  # fmt: skip


def _scales(drawing: Drawing, params: QueryDict) -> list[Select]:
    axes = drawing.axes
    scales = [("", "by the span"), *((scale, f"{scale}arithmic" if scale == "log" else scale) for scale in SCALES)]
    y_scale = Select("y_scale", "y-scale", "y scale", scales, axes.y_scale)
    if axes.view == BARS:
        return [y_scale]
    values = [("" if name == "absolute" else name, words) for name, words in Y_AS.items()]
    selects = [Select("y_as", "y-as", "Values", values, "" if axes.y_as == "absolute" else axes.y_as)]
    x_as = params.get("x_as")
    units = [("", X_AS[axes.x_as]), *((name, words) for name, words in X_AS.items() if name != axes.x_as)]
    if x_as:
        units = [("", "automatic"), *X_AS.items()]
    if axes.view == CURVE and axes.kind == SIZE:
        selects.append(Select("x_as", "x-as", "x as", units, x_as if x_as in X_AS else ""))
    if axes.view == CURVE:
        selects += [
            Select("x_scale", "x-scale", "x scale", scales, axes.x_scale),
            y_scale,
        ]
    return selects
