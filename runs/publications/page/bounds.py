"""Bounds and ranges as marks on an axis from 0: more than 4, at most 10, 20 to 40 %."""

from __future__ import annotations

from collections.abc import Sequence

from runs.models import Claim, Observation
from runs.publications.material import Material
from runs.publications.page.amounts import Amount, Words
from runs.publications.page.claim_words import EITHER, against, figure_words, printed_bound
from runs.publications.page.parts import Bound, BoundsAxis, Section


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
    label, note = f"{against(material, claim)}: {material.name(claim.metric)}", claim.summary
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
