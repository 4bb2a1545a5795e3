"""What an article claims without an absolute value: ratios, percentages in both readings, bounds, orderings.

Nothing here becomes the value of a run. A bar of a ratio is hatched, a bound is a mark on an axis, an ordering has no
length at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from runs.charts.base import BarGroup, Figure, bars, single_bar
from runs.publications.article import article_of
from runs.publications.document import ClaimRow
from runs.publications.material import Material
from runs.publications.page.parts import (
    Amount,
    Bound,
    BoundsAxis,
    Content,
    NamedTable,
    Ordering,
    PartSpec,
    Rows,
    Section,
    TextCell,
    Words,
    computed,
    table,
)
from runs.tables import Column, TableCell

# How a claim is said: its sides, its amount, the check that belongs to it

# A percentage of a metric that is called so ("backup time/speed") says neither time nor rate.
TIME_OR_SPEED = " time/speed"
NO_AMOUNT = "no amount given"
LESS = ("slower", "lower")
_SIGN = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}


def figure_words(claim: ClaimRow) -> Words:
    """About 5 ×, −17 %, more than 4 ×; without an amount, what the claim says instead."""
    about = "about " if claim.approximate else ""
    if claim.ratio is not None:
        return (about, Amount(claim.ratio, "×"))
    if claim.percent is not None:
        return (about, Amount(claim.percent, "%")) if claim.percent else f"{about}equal"
    bound = bound_of(claim)
    return bound.words if bound else NO_AMOUNT


def bound_of(claim: ClaimRow) -> Bound | None:
    """The bound ("<=10" times) or the range that a claim prints."""
    for name, unit in (("ratio_as_printed", "×"), ("percent_as_printed", "%")):
        if match := re.fullmatch(r"([<>]=?)([\d.]+)", str(claim.details.get(name, ""))):
            sign, amount = match[1], Amount(float(match[2]), unit)
            low, high = (amount.value, None) if sign.startswith(">") else (None, amount.value)
            return Bound("", (f"{_SIGN[sign]} ", amount), low, high, strict="=" not in sign, note=claim.summary)
    if claim.details.get("percent_range"):
        low, high = claim.details["percent_range"]
        return Bound("", (Amount(low, measured_in="%"), " to ", Amount(high, "%")), low, high, note=claim.summary)
    return None


def sides(material: Material, claim: ClaimRow, without: Collection[str] = ()) -> tuple[str, str]:
    """What is compared, and its baseline, without what both share: A and B, turned where the ratio is B to A."""
    a, b = (
        material.words({name: value for name, value in side.items() if name not in without})
        for side in (claim.side_a, claim.side_b)
    )
    return (b, a) if re.match(r"\w+ B / ", claim.sense) else (a, b)


def shared_facts(claim: ClaimRow) -> dict[str, Any]:
    """What both sides have alike."""
    return {name: value for name, value in claim.side_a.items() if claim.side_b.get(name) == value}


def against(material: Material, claim: ClaimRow) -> str:
    """What both sides share, then what differs: "Firebird 1.5.3: local protocol against localhost"."""
    shared = shared_facts(claim)
    if len(shared) in (len(claim.side_a), len(claim.side_b)):
        shared = {}
    one, other = sides(material, claim, shared)
    return f"{material.words(shared)}: {one} against {other}" if shared else f"{one} against {other}"


def sides_cells(material: Material, claim: ClaimRow) -> list[Content]:
    return [*sides(material, claim), material.name(claim.metric), TextCell(words=figure_words(claim))]


def check_link(material: Material, claim: ClaimRow) -> TableCell:
    """To the check of this claim with its result, where the article's own numbers say anything to it."""
    checks = material.checks_of_claim(claim.id)
    if not checks:
        return TableCell()
    own = min(reversed(checks), key=lambda check: len(check.claims))
    return TableCell(text=f"{own.number} {own.result}", href=f"#check-{own.number}")


# Both readings of a percentage

UNSAID = "The article does not say whether this is a difference of time or of speed."
MEANINGS = ("time", "speed")


@dataclass(frozen=True)
class PercentReading:
    """What A is of B in time and in speed, if the percentage means one of these."""

    percent: float
    means: str
    time: Amount
    speed: Amount


def readings_of(claim: ClaimRow) -> list[PercentReading]:
    """Both readings of its percentage, or of each end of a range; empty where the article says what it means."""
    if not claim.metric.endswith(TIME_OR_SPEED):
        return []
    percents = claim.details.get("percent_range") or ([claim.percent] if claim.percent else [])
    readings = []
    for percent in (abs(float(percent)) for percent in percents):
        for means in MEANINGS:
            more = any(word in claim.sense for word in LESS) == (means == "time")
            value = 1 + (percent if more else -percent) / 100
            formula = f"1 {'+' if more else '−'} {percent:g} / 100"
            meant = computed(value, formula, unit="×", digits=2)
            inverse = computed(1 / value, f"1 / ({formula})", unit="×", digits=2)
            in_order = (meant, inverse) if means == "time" else (inverse, meant)
            readings.append(PercentReading(percent, means, *in_order))
    return readings


def readings(material: Material) -> Section:
    bounds: list[Bound] = []
    rows: Rows = []
    for claim in material.statements.claims:
        if ends := readings_of(claim):
            first, *others = reading_bounds(claim)
            bounds += [replace(first, head=(f"{against(material, claim)}, ", *figure_words(claim))), *others]
            rows.append(_reading_row(material, claim, ends))
    if not rows:
        return Section("readings", "Percentages")
    columns = ("What", "Baseline", "As printed", "If it means time", "If it means speed", "What is not said")
    return Section(
        "readings", "Percentages, read both ways",
        f"{UNSAID} So each is shown in both readings: as a share of the time, and as a share of the speed.",
        bounds=[axis_of("×", "speed, as a ratio to the baseline", bounds)],
        tables=[NamedTable("Both readings of each percentage", table(columns, rows))],
    )  # fmt: skip


def reading_bounds(claim: ClaimRow) -> list[Bound]:
    """Its speed as a ratio to the baseline, if its percentage means time, and if it means speed."""
    bounds: list[Bound] = []
    for means in MEANINGS:
        speeds = sorted((end.speed for end in readings_of(claim) if end.means == means), key=lambda end: end.value)
        if speeds:
            bounds.append(Bound(f"if it means {means}", _span(speeds), speeds[0].value, speeds[-1].value))
    return bounds


def _span(ends: Sequence[Amount]) -> Words:
    return (ends[0],) if len(ends) == 1 else (ends[0], " to ", ends[-1])


def _reading_row(material: Material, claim: ClaimRow, ends: Sequence[PercentReading]) -> list[Content]:
    base = " The baseline is not said either; this one is the natural reading." if claim.ambiguous else ""
    cells = []
    for means, other in (MEANINGS, MEANINGS[::-1]):
        meant = [end for end in ends if end.means == means]
        words, note = (_span([getattr(reading, kind) for reading in meant]) for kind in (means, other))
        cells.append(TextCell(words=(*words, f" the {means}"), note=(*note, f" the {other}")))
    claimed = TextCell(words=figure_words(claim), note=claim.summary)
    return [*sides(material, claim), claimed, *cells, UNSAID + base]


# Orderings


def orderings(material: Material) -> Section:
    """Orders that the article's text gives as a whole, then each claim of two sides."""
    article = article_of(material.publication)
    orderings = [Ordering(order.quantity, order.items, order.note) for order in (article.orders if article else ())]
    for claim in material.statements.claims:
        if claim.percent == 0 or figure_words(claim) == NO_AMOUNT:
            a, b = sides(material, claim)
            more, less = (b, a) if any(word in claim.sense for word in LESS) else (a, b)
            sign = "≈" if claim.percent == 0 else "≳" if "slightly" in claim.sense else ">"
            what, either, _ = claim.metric.partition(TIME_OR_SPEED)
            quantity = f"speed of the {what}" if either else material.name(claim.metric)
            orderings.append(Ordering(quantity, (more, less), claim.summary, sign))
    lead = "Claims without an amount: which is more, or that both are alike. They have no length, so no bar is drawn."
    return Section("orderings", "Orderings as claimed", lead, orderings=orderings)


# All of them


def all_claims(material: Material) -> Section:
    """Relative statements as the article makes them: never turned into numbers that were not printed."""
    rows = [
        [*sides_cells(material, claim), TextCell(text=claim.summary, note=claim.sense), check_link(material, claim)]
        for claim in material.statements.claims
    ]
    lead = (
        "Each relative statement with its baseline and quantity; what the article's own numbers say to it stands under "
        "the checks."
    )
    shown = table(["What", "Baseline", "Quantity", "Claim", "In words", "Check"], rows)
    return Section.of_table("claims", "All claims of the article", shown, lead=lead, name="Claims")


# Bounds and ranges as marks on an axis from 0


def bounds(material: Material) -> Section:
    """More than 4, at most 10, 20 to 40 %: marks on an axis from 0, one axis per unit."""
    stated: dict[tuple[str, str], list[Bound]] = {}
    for claim in material.statements.claims:
        if bound := bound_of(claim):
            either = ", of time or of speed" if claim.metric.endswith(TIME_OR_SPEED) else ""
            is_ratio = "ratio_as_printed" in claim.details
            kind = ("×", "ratio to the baseline") if is_ratio else ("%", f"difference{either}")
            label = f"{against(material, claim)}: {material.name(claim.metric)}"
            stated.setdefault(kind, []).append(replace(bound, label=label))
    for seen in material.statements.observations:
        low, high = seen.value_min, seen.value_max
        if seen.value is None and low is not None and high is not None:
            where = material.words(seen.factors)
            words = (Amount(low, measured_in=seen.unit), " to ", Amount(high, seen.unit))
            bound = Bound(f"{seen.metric}{f' ({where})' if where else ''}", words, low, high, note=seen.qualifier)
            stated.setdefault((seen.unit, "range as stated"), []).append(bound)
    axes = [axis_of(unit, what, bounds) for (unit, what), bounds in stated.items()]
    lead = "The article states a limit or a range only: the true value may lie anywhere in it." if axes else ""
    return Section("bounds", "Bounds and ranges as claimed", lead, bounds=axes)


def axis_of(unit: str, quantity: str, bounds: Sequence[Bound]) -> BoundsAxis:
    """The bounds with their positions in per cent of an axis from 0 to a fifth beyond the largest."""
    line = 1.0 if unit == "×" else 0.0
    most = max(value for bound in bounds for value in (bound.low, bound.high, line) if value is not None) * 1.2

    def percent(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else round(100 * value / most, 2)

    placed = [
        replace(bound, from_percent=percent(bound.low, 0.0), to_percent=percent(bound.high, 100.0)) for bound in bounds
    ]
    return BoundsAxis(unit, quantity, placed, line_percent=percent(line or None, 0.0))


# Ratios, as bars

HATCHED = "Hatched: published relative values."


def claimed_ratio(claim: ClaimRow) -> Amount | None:
    """A / B, for the length of a bar only; the claim's own words stand beside it."""
    if claim.ratio is not None:
        return Amount(claim.ratio, "×")
    if claim.percent and not claim.metric.endswith(TIME_OR_SPEED):
        sign = "+" if claim.percent > 0 else "−"
        ratio = computed(1 + claim.percent / 100, f"1 {sign} {abs(claim.percent):g} / 100", digits=2)
        return replace(ratio, measured_in="×")
    return None


def _has_numbers(material: Material, claim: ClaimRow) -> bool:
    """Whether the article prints a number of this metric of one of its systems."""
    printed = {(run.dbms_version, row.metric) for run in material.runs for row in run.measurements.all()}
    printed |= {(row.dbms_version, row.metric) for row in material.aggregates if row.dbms_version}
    return any(metric.name == claim.metric and of.source_id in claim.versions for of, metric in printed)


class Ratios(PartSpec):
    """Claims with one amount as bars at A / B, with baseline and quantity, and a line at 1.

    `factor` takes only those that set one of its values `against` the other, all else alike, in the order of the runs.
    """

    part: Literal["ratios"] = "ratios"
    label: str = "A / B"
    factor: str = ""
    against: tuple[str, str] = ("", "")

    def section(self, material: Material) -> Section:
        claims = [claim for claim in material.statements.claims if claimed_ratio(claim)]
        systems = list(dict.fromkeys(str(claim.side_a.get("dbms")) for claim in claims))
        if self.factor:
            order = list(dict.fromkeys(run.workload.source_id for run in material.runs))
            claims = sorted(
                set_apart(claims, self.factor, self.against),
                key=lambda claim: [*order, claim.side_a.get("workload")].index(claim.side_a.get("workload")),
            )
        if not claims:
            return Section(self.id, self.title)
        groups: list[BarGroup] = []
        rows: Rows = []
        for claim, ratio in ((claim, ratio) for claim in claims if (ratio := claimed_ratio(claim))):
            value = f"{ratio.value:.2f}".rstrip("0").rstrip(".")
            groups.append(single_bar(
                _ratio_label(material, claim), ratio.value, text=f"{'≈ ' if claim.approximate else ''}{value} ×",
                color=systems.index(str(claim.side_a.get("dbms"))) if len(systems) > 1 else len(groups),
                origin="a claim, no measured value",
            ) | {"claim": True})  # fmt: skip
            rows.append([*sides_cells(material, claim), ratio, check_link(material, claim)])
        spec = bars(label=self.label, unit="", better="none", groups=groups)
        spec["marks"] = [{"axis": "x", "value": 1.0, "label": "1.0, no difference"}]
        shown = table(["What", "Baseline", "Quantity", "As claimed", Column("As a ratio"), "Check"], rows)
        labels = ", ".join(f"{group['label']} {group.get('text', '')}" for group in groups)
        title = self.title or "Ratios as claimed"
        lost = not any(_has_numbers(material, claim) for claim in claims)
        note = HATCHED + (" No absolute value stands behind them." if lost else "")
        figure = Figure(f"{self.id}-chart", title, spec, shown, f"Bars: {labels}.", note=note)
        behind = "; no absolute value survives behind them" if lost else ""
        lead = self.lead or f"Each with its baseline and quantity{behind}."
        return Section(self.id, title, lead, figures=[figure])


def set_apart(claims: Sequence[ClaimRow], factor: str, against: tuple[str, str]) -> list[ClaimRow]:
    """Claims that set one value of a factor against another, all else alike."""

    def rest(side: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in side.items() if name != factor}

    return [
        claim
        for claim in claims
        if (claim.side_a.get(factor), claim.side_b.get(factor)) == against and rest(claim.side_a) == rest(claim.side_b)
        and claimed_ratio(claim) is not None
    ]  # fmt: skip


def _ratio_label(material: Material, claim: ClaimRow) -> str:
    """What both sides of a claim on two disks share."""
    shared = shared_facts(claim)
    if set(shared) != set(claim.side_a) - {"disk"}:
        return against(material, claim)
    if not shared:
        return f"{material.name(claim.metric)}: {against(material, claim)}"
    workload = material.words({"": shared.pop("workload")}) if "workload" in shared else ""
    return ": ".join(part for part in (workload, material.words(shared)) if part)
