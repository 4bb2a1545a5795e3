"""Claims of one amount as bars at A / B: hatched, with their baseline and quantity, and a line at 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from runs.charts.base import BarGroup, Column, Figure, Table, bars, single_bar
from runs.models import Claim
from runs.publications.material import Material
from runs.publications.page.amounts import Amount, computed, number_cell, word_columns
from runs.publications.page.claim_words import EITHER, against, check_link, sides_cells
from runs.publications.page.parts import PartSpec, Section

HATCHED = "Hatched: published relative values. No absolute value stands behind them."


def claimed_ratio(claim: Claim) -> Amount | None:
    """A / B, for the length of a bar only; the claim's own words stand beside it."""
    if claim.ratio is not None:
        return Amount(claim.ratio, "×")
    if claim.percent and claim.metric != EITHER:
        sign = "+" if claim.percent > 0 else "−"
        return computed(1 + claim.percent / 100, f"1 {sign} {abs(claim.percent):g} / 100", digits=2)
    return None


class Ratios(PartSpec):
    """Claims with one amount as bars at A / B, with baseline and quantity, and a line at 1.

    `factor` takes only those that set one of its values `against` the other, all else alike, in the order of the runs.
    """

    part: Literal["ratios"] = "ratios"
    label: str = "A / B"
    factor: str = ""
    against: tuple[str, str] = ("", "")

    def section(self, material: Material) -> Section:
        found = [one for one in material.claims if claimed_ratio(one)]
        if self.factor:
            order = list(dict.fromkeys(run.workload.source_id for run in material.runs))
            found = sorted(
                set_apart(found, self.factor, self.against),
                key=lambda one: [*order, one.side_a.get("workload")].index(one.side_a.get("workload")),
            )
        return ratio_section(material, found, label=self.label)


def set_apart(claims: Sequence[Claim], factor: str, against: tuple[str, str]) -> list[Claim]:
    """Claims that set one value of a factor against another, all else alike."""

    def rest(side: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in side.items() if name != factor}

    return [
        claim
        for claim in claims
        if (claim.side_a.get(factor), claim.side_b.get(factor)) == against and rest(claim.side_a) == rest(claim.side_b)
        and claimed_ratio(claim) is not None
    ]  # fmt: skip


def ratio_section(material: Material, claims: Sequence[Claim] | None = None, *, label: str = "A / B") -> Section:
    """Of all claims of one amount, without any given."""
    if claims is None:
        claims = [one for one in material.claims if claimed_ratio(one)]
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
    rows = [[*sides_cells(material, one), number_cell(claimed_ratio(one)), check_link(material, one)] for one in claims]
    said = ", ".join(f"{group['label']} {group.get('text', '')}" for group in groups)
    figure = Figure("ratios-chart", "Ratios as claimed", spec, Table(columns, rows), f"Bars: {said}.", note=HATCHED)
    return Section(
        "ratios", "Ratios as claimed", "Each with its baseline and quantity; no absolute value survives behind them.",
        figures=[figure],
    )  # fmt: skip


def _ratio_bar(material: Material, claim: Claim, index: int) -> BarGroup:
    ratio = claimed_ratio(claim)
    value = f"{ratio.value:.2f}".rstrip("0").rstrip(".") if ratio else ""
    bar = single_bar(
        _ratio_label(material, claim), ratio.value if ratio else None, color=_colour(material, claim, index),
        text=f"{'≈ ' if claim.approximate else ''}{value} ×", origin="a claim, no measured value",
    )  # fmt: skip
    bar["claim"] = True
    return bar


def _ratio_label(material: Material, claim: Claim) -> str:
    """What both sides share, then what differs."""
    shared = {name: value for name, value in claim.side_a.items() if claim.side_b.get(name) == value}
    if set(shared) != set(claim.side_a) - {"disk"}:
        return against(material, claim)
    if not shared:
        return f"{material.name(claim.metric)}: {against(material, claim)}"
    workload = material.words({"": shared.pop("workload")}) if "workload" in shared else ""
    return ": ".join(part for part in (workload, material.words(shared)) if part)


def _colour(material: Material, claim: Claim, index: int) -> int:
    systems = list(dict.fromkeys(str(one.side_a.get("dbms")) for one in material.claims if claimed_ratio(one)))
    return systems.index(str(claim.side_a.get("dbms"))) if len(systems) > 1 else index
