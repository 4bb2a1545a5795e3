"""What an article claims without an absolute value: ratios, percentages in both readings, bounds, orderings.

Nothing here becomes the value of a run. A bar of a ratio is hatched, a bound is a mark on an axis, an ordering has no
length at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runs.charts.base import BarGroup, Cell, Column, Figure, Table, bars
from runs.charts.publications.amounts import (
    Amount,
    TextCell,
    Words,
    computed,
    number_cell,
    plain,
    text,
    word_columns,
)
from runs.charts.publications.material import Material
from runs.charts.publications.parts import Bound, BoundsAxis, NamedTable, Ordering, Section
from runs.literature.articles import ARTICLES
from runs.models import Claim, Observation

# A percentage of this metric says neither time nor rate.
EITHER = "backup time/speed"
UNSAID = "The article does not say whether this is a difference of time or of speed."
HATCHED = "Hatched: published relative values. No absolute value stands behind them."
_SIGN = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}
_LESS = ("slower", "lower")


def sections(material: Material) -> list[Section]:
    return [ratios(material), readings(material), bounds(material), orderings(material), all_claims(material)]


# Words


def figure_words(claim: Claim) -> Words:
    """About 5 ×, −17 %, more than 4 ×; without an amount, what the claim says instead."""
    about = "about " if claim.approximate else ""
    if claim.ratio is not None:
        return (about, Amount(claim.ratio, "×"))
    if claim.percent is not None:
        return (about, Amount(claim.percent, "%")) if claim.percent else f"{about}equal"
    if bound := printed_bound(claim):
        sign, amount = bound
        return (f"{_SIGN[sign]} ", amount)
    if claim.details.get("percent_range"):
        low, high = claim.details["percent_range"]
        return (Amount(low), " to ", Amount(high, "%"))
    return "no amount given"


def printed_bound(claim: Claim) -> tuple[str, Amount] | None:
    """("<=", 10 ×) of a claim that prints a bound."""
    for name, unit in (("ratio_as_printed", "×"), ("percent_as_printed", "%")):
        if found := re.fullmatch(r"([<>]=?)([\d.]+)", str(claim.details.get(name, ""))):
            return found[1], Amount(float(found[2]), unit)
    return None


def sides(material: Material, claim: Claim) -> tuple[str, str]:
    """What is compared, and its baseline: A and B, turned round where the ratio is B to A."""
    a, b = material.words(claim.side_a), material.words(claim.side_b)
    return (b, a) if _turned(claim) else (a, b)


def _against(material: Material, claim: Claim) -> str:
    """What both sides share, then what differs: "Firebird 1.5.3: local protocol against localhost"."""
    shared = {name: value for name, value in claim.side_a.items() if claim.side_b.get(name) == value}
    if len(shared) in (0, len(claim.side_a), len(claim.side_b)):
        shared = {}
    a, b = (
        material.words({name: value for name, value in side.items() if name not in shared})
        for side in (claim.side_a, claim.side_b)
    )
    a, b = (b, a) if _turned(claim) else (a, b)
    return f"{material.words(shared)}: {a} against {b}" if shared else f"{a} against {b}"


def _turned(claim: Claim) -> bool:
    """The claim's ratio is that of B to A."""
    return bool(re.match(r"\w+ B / ", claim.sense))


# Ratios


def claimed_ratio(claim: Claim) -> Amount | None:
    """A / B, for the length of a bar only; the claim's own words stand beside it."""
    if claim.ratio is not None:
        return Amount(claim.ratio, "×")
    if claim.percent and claim.metric != EITHER:
        sign = "+" if claim.percent > 0 else "−"
        return computed(1 + claim.percent / 100, f"1 {sign} {abs(claim.percent):g} / 100", digits=2)
    return None


def ratios(material: Material) -> Section:
    """Every claim with one amount as a bar at A / B, with its baseline and quantity, and a line at 1."""
    return ratio_section(material, [one for one in material.claims if claimed_ratio(one)])


def ratio_section(material: Material, claims: Sequence[Claim], *, label: str = "A / B") -> Section:
    if not claims:
        return Section("ratios", "Ratios as claimed")
    groups = [_ratio_bar(material, claim, index) for index, claim in enumerate(claims)]
    spec = bars(label=label, unit="", better="none", groups=groups)
    spec["marks"] = [{"axis": "x", "value": 1.0, "label": "1.0, no difference"}]
    columns = [
        *word_columns("What", "Baseline", "Quantity", "As claimed"),
        Column("As a ratio"),
        *word_columns("Check"),
    ]
    rows = [
        [*_sides_cells(material, one), number_cell(claimed_ratio(one)), check_link(material, one)] for one in claims
    ]
    said = ", ".join(f"{group['label']} {group.get('text', '')}" for group in groups)
    figure = Figure("ratios-chart", "Ratios as claimed", spec, Table(columns, rows), f"Bars: {said}.", note=HATCHED)
    return Section(
        "ratios", "Ratios as claimed", "Each with its baseline and quantity; no absolute value survives behind them.",
        figures=[figure],
    )  # fmt: skip


def _ratio_bar(material: Material, claim: Claim, index: int) -> BarGroup:
    ratio = claimed_ratio(claim)
    return {
        "label": _ratio_label(material, claim), "color": _colour(material, claim, index),
        "value": ratio.value if ratio else None, "interval": None, "dots": [], "gap": None, "ranked": True,
        "claim": True, "text": _bar_text(claim, ratio), "origin": "a claim, no measured value",
    }  # fmt: skip


def _bar_text(claim: Claim, ratio: Amount | None) -> str:
    value = f"{ratio.value:.2f}".rstrip("0").rstrip(".") if ratio else ""
    about = "≈ " if claim.approximate else ""
    return f"{about}{value} ({plain((Amount(claim.percent, '%'),))})" if claim.percent else f"{about}{value} ×"


def _ratio_label(material: Material, claim: Claim) -> str:
    """What both sides share, then what differs."""
    shared = {name: value for name, value in claim.side_a.items() if claim.side_b.get(name) == value}
    if set(shared) != set(claim.side_a) - {"disk"}:
        return _against(material, claim)
    if not shared:
        return f"{material.name(claim.metric)}: {_against(material, claim)}"
    workload = material.words({"": shared.pop("workload")}) if "workload" in shared else ""
    return ": ".join(part for part in (workload, material.words(shared)) if part)


def _colour(material: Material, claim: Claim, index: int) -> int:
    systems = list(dict.fromkeys(str(one.side_a.get("dbms")) for one in material.claims if claimed_ratio(one)))
    return systems.index(str(claim.side_a.get("dbms"))) if len(systems) > 1 else index


def _sides_cells(material: Material, claim: Claim) -> list[Cell]:
    a, b = sides(material, claim)
    return [text(a), text(b), text(material.name(claim.metric)), TextCell(words=figure_words(claim))]


def check_link(material: Material, claim: Claim) -> Cell:
    """To the check of this claim with its result, where the article's own numbers say anything to it."""
    found = material.checks_of_claim(claim.source_id)
    if not found:
        return Cell()
    own = min(found, key=lambda one: len(one.claims))
    return Cell(text=f"{own.number} {own.result}", href=f"#check-{own.number}")


# Both readings of a percentage


def readings(material: Material) -> Section:
    found = [one for one in material.claims if one.metric == EITHER and _percents(one)]
    if not found:
        return Section("readings", "Percentages")
    rows: list[Bound] = []
    for claim in found:
        rows += _reading_bounds(material, claim)
    columns = [
        *word_columns("What", "Baseline", "As printed"), *word_columns("If it means time", "If it means speed"),
        *word_columns("What is not said"),
    ]  # fmt: skip
    table = Table(columns, [_reading_row(material, claim) for claim in found])
    return Section(
        "readings", "Percentages, read both ways",
        f"{UNSAID} So each is shown in both readings: as a share of the time, and as a share of the speed.",
        bounds=[place("×", "speed, as a ratio to the baseline", rows, line=1.0)],
        tables=[NamedTable("Both readings of each percentage", table)],
    )  # fmt: skip


def _percents(claim: Claim) -> list[float]:
    found = claim.details.get("percent_range") or ([claim.percent] if claim.percent else [])
    return [abs(float(one)) for one in found]


def _slower(claim: Claim) -> bool:
    return any(word in claim.sense for word in _LESS)


def _ratio_formula(percent: float, more: bool) -> tuple[float, str]:
    sign = "+" if more else "−"
    return 1 + (percent if more else -percent) / 100, f"1 {sign} {percent:g} / 100"


def time_as_read(claim: Claim, percent: float) -> tuple[Amount, Amount]:
    """(time A / B, speed A / B) if the percentage means time."""
    value, formula = _ratio_formula(percent, more=_slower(claim))
    return computed(value, formula, unit="×", digits=2), computed(1 / value, f"1 / ({formula})", unit="×", digits=2)


def speed_as_read(claim: Claim, percent: float) -> tuple[Amount, Amount]:
    """(speed A / B, time A / B) if the percentage means speed."""
    value, formula = _ratio_formula(percent, more=not _slower(claim))
    return computed(value, formula, unit="×", digits=2), computed(1 / value, f"1 / ({formula})", unit="×", digits=2)


def _reading_bounds(material: Material, claim: Claim) -> list[Bound]:
    as_time = [time_as_read(claim, one)[1] for one in _percents(claim)]
    as_speed = [speed_as_read(claim, one)[0] for one in _percents(claim)]
    head = (f"{_against(material, claim)}, ", *_parts(figure_words(claim)))
    return [_reading_bound("if it means time", as_time, head), _reading_bound("if it means speed", as_speed)]


def _parts(words: Words) -> Sequence[str | Amount]:
    return (words,) if isinstance(words, str) else words


def _reading_bound(label: str, found: Sequence[Amount], head: Words = "") -> Bound:
    ordered = sorted(found, key=lambda one: one.value)
    return Bound(label, _span(ordered), ordered[0].value, ordered[-1].value, head=head)


def _span(found: Sequence[Amount]) -> Words:
    return (found[0],) if len(found) == 1 else (found[0], " to ", found[-1])


def _reading_row(material: Material, claim: Claim) -> list[Cell]:
    a, b = sides(material, claim)
    times = [time_as_read(claim, one) for one in _percents(claim)]
    speeds = [speed_as_read(claim, one) for one in _percents(claim)]
    base = " The baseline is not said either; this one is the natural reading." if claim.ambiguous else ""
    return [
        text(a), text(b), TextCell(words=figure_words(claim), note=claim.summary),
        TextCell(words=(*_span([one for one, _ in times]), " the time"),
                 note=(*_span([one for _, one in times]), " the speed")),
        TextCell(words=(*_span([one for one, _ in speeds]), " the speed"),
                 note=(*_span([one for _, one in speeds]), " the time")),
        text(UNSAID + base),
    ]  # fmt: skip


# Bounds and ranges


def bounds(material: Material) -> Section:
    """More than 4, at most 10, 20 to 40 %: marks on an axis from 0, one axis per unit."""
    found: dict[tuple[str, str], list[Bound]] = {}
    for claim in material.claims:
        if one := _claim_bound(material, claim):
            unit = "×" if "ratio_as_printed" in claim.details else "%"
            found.setdefault((unit, _bounded(claim, unit)), []).append(one)
    for seen in material.observations:
        if seen.value is None and "value_min" in seen.details:
            found.setdefault((seen.unit, "range as stated"), []).append(_observed_bound(material, seen))
    axes = [place(unit, what, rows, line=1.0 if unit == "×" else None) for (unit, what), rows in found.items()]
    lead = "An open end or a range is all that is stated: no value inside it is preferred." if axes else ""
    return Section("bounds", "Bounds and ranges as claimed", lead, bounds=axes)


def _bounded(claim: Claim, unit: str) -> str:
    if unit == "×":
        return "ratio to the baseline"
    return "difference, of time or of speed" if claim.metric == EITHER else "difference"


def _claim_bound(material: Material, claim: Claim) -> Bound | None:
    label, note = f"{_against(material, claim)}: {material.name(claim.metric)}", claim.summary
    if bound := printed_bound(claim):
        sign, amount = bound
        low, high = (amount.value, None) if sign.startswith(">") else (None, amount.value)
        return Bound(label, figure_words(claim), low, high, strict="=" not in sign, note=note)
    if claim.details.get("percent_range"):
        low, high = claim.details["percent_range"]
        return Bound(label, figure_words(claim), low, high, note=note)
    return None


def _observed_bound(material: Material, seen: Observation) -> Bound:
    low, high = seen.details["value_min"], seen.details["value_max"]
    where = material.words(seen.factors)
    words: Words = (Amount(low), " to ", Amount(high, seen.unit))
    return Bound(f"{seen.metric}{f' ({where})' if where else ''}", words, low, high, note=seen.qualifier)


def place(unit: str, quantity: str, found: Sequence[Bound], *, line: float | None = None) -> BoundsAxis:
    """The bounds with their places in per cent of an axis from 0 to a fifth beyond the largest."""
    most = max(value for one in found for value in (one.low, one.high, line) if value is not None) * 1.2

    def percent(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else round(100 * value / most, 2)

    placed = [
        Bound(
            one.label, one.words, one.low, one.high, one.strict, one.note, one.head,
            from_percent=percent(one.low, 0.0), to_percent=percent(one.high, 100.0),
        )
        for one in found
    ]  # fmt: skip
    at = None if line is None else percent(line, 0.0)
    return BoundsAxis(unit, quantity, placed, line_percent=at, line_label="1.0, no difference" if at else "")


# Orderings


def orderings(material: Material) -> Section:
    """Orders that the article's text gives as a whole, then each claim of two sides."""
    article = ARTICLES.get(material.publication.slug)
    found = [
        Ordering(one.quantity, [(">" if place else "", name) for place, name in enumerate(one.items)], one.note)
        for one in (article.orders if article else ())
    ]
    found += [_ordering(material, claim) for claim in material.claims if _is_ordering(claim)]
    return Section(
        "orderings", "Orderings as claimed",
        "Claims without an amount: which is more, or that both are alike. They have no length, so no bar is drawn.",
        orderings=found,
    )  # fmt: skip


def _is_ordering(claim: Claim) -> bool:
    if claim.percent == 0:
        return True
    return figure_words(claim) == "no amount given"


def _ordering(material: Material, claim: Claim) -> Ordering:
    a, b = sides(material, claim)
    more, less = (b, a) if any(word in claim.sense for word in _LESS) else (a, b)
    sign = "≈" if claim.percent == 0 else "≳" if "slightly" in claim.sense else ">"
    quantity = "speed of the backup" if claim.metric == EITHER else material.name(claim.metric)
    return Ordering(quantity, [("", more), (sign, less)], claim.summary)


# All of them


def all_claims(material: Material) -> Section:
    """Relative statements as the article makes them: never turned into numbers that were not printed."""
    columns = word_columns("What", "Baseline", "Quantity", "Claim", "In words", "Check")
    rows = [
        [*_sides_cells(material, one), TextCell(text=one.summary, note=one.sense), check_link(material, one)]
        for one in material.claims
    ]
    return Section(
        id="claims",
        title="All claims of the article",
        lead="Each relative statement with its baseline and quantity; what the article's own numbers say to it stands "
        "under the checks.",
        tables=[NamedTable("Claims", Table(columns, rows))] if rows else [],
    )
