"""What an article claims without an absolute value: ratios, percentages in both readings, bounds, orderings.

Nothing here becomes the value of a run. A bar of a ratio is hatched, a bound is a mark on an axis, an ordering has no
length at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runs.charts.base import Table, TableCell
from runs.models import Claim
from runs.publications.article import article_of
from runs.publications.material import Material
from runs.publications.page.amounts import Amount, TextCell, Words, computed, text, word_columns
from runs.publications.page.bounds import place
from runs.publications.page.claim_words import (
    EITHER,
    LESS,
    NO_AMOUNT,
    against,
    check_link,
    figure_words,
    sides,
    sides_cells,
)
from runs.publications.page.parts import Bound, NamedTable, Ordering, Section

UNSAID = "The article does not say whether this is a difference of time or of speed."
MEANINGS: tuple[Literal["time"], Literal["speed"]] = ("time", "speed")


# Both readings of a percentage


@dataclass(frozen=True)
class PercentReading:
    """What A is of B in time and in speed, if the percentage means one of these."""

    percent: float
    means: Literal["time", "speed"]
    time: Amount
    speed: Amount


def readings_of(claim: Claim) -> list[PercentReading]:
    """Both readings of its percentage, or of each end of a range; empty where the article says what it means."""
    if claim.metric != EITHER:
        return []
    percents = claim.details.get("percent_range") or ([claim.percent] if claim.percent else [])
    return [_read(claim, abs(float(one)), means) for one in percents for means in MEANINGS]


def _read(claim: Claim, percent: float, means: Literal["time", "speed"]) -> PercentReading:
    more = any(word in claim.sense for word in LESS) == (means == "time")
    value = 1 + (percent if more else -percent) / 100
    formula = f"1 {'+' if more else '−'} {percent:g} / 100"
    meant = computed(value, formula, unit="×", digits=2)
    inverse = computed(1 / value, f"1 / ({formula})", unit="×", digits=2)
    return PercentReading(percent, means, *((meant, inverse) if means == "time" else (inverse, meant)))


def readings(material: Material) -> Section:
    read = [(claim, readings_of(claim)) for claim in material.claims if readings_of(claim)]
    if not read:
        return Section("readings", "Percentages")
    columns = word_columns(
        "What", "Baseline", "As printed", "If it means time", "If it means speed", "What is not said"
    )
    table = Table(columns, [_reading_row(material, claim, ends) for claim, ends in read])
    bounds = [bound for claim, ends in read for bound in _reading_bounds(material, claim, ends)]
    return Section(
        "readings", "Percentages, read both ways",
        f"{UNSAID} So each is shown in both readings: as a share of the time, and as a share of the speed.",
        bounds=[place("×", "speed, as a ratio to the baseline", bounds, line=1.0)],
        tables=[NamedTable("Both readings of each percentage", table)],
    )  # fmt: skip


def _reading_bounds(material: Material, claim: Claim, ends: Sequence[PercentReading]) -> list[Bound]:
    claimed = figure_words(claim)
    head = (f"{against(material, claim)}, ", *((claimed,) if isinstance(claimed, str) else claimed))
    bounds: list[Bound] = []
    for means in MEANINGS:
        speeds = sorted((one.speed for one in ends if one.means == means), key=lambda one: one.value)
        label = f"if it means {means}"
        bounds.append(Bound(label, _span(speeds), speeds[0].value, speeds[-1].value, head="" if bounds else head))
    return bounds


def _span(ends: Sequence[Amount]) -> Words:
    return (ends[0],) if len(ends) == 1 else (ends[0], " to ", ends[-1])


def _reading_row(material: Material, claim: Claim, ends: Sequence[PercentReading]) -> list[TableCell]:
    a, b = sides(material, claim)
    base = " The baseline is not said either; this one is the natural reading." if claim.ambiguous else ""
    cells = []
    for means, other in (MEANINGS, MEANINGS[::-1]):
        meant = [one for one in ends if one.means == means]
        words, note = (_span([getattr(one, kind) for one in meant]) for kind in (means, other))
        cells.append(TextCell(words=(*words, f" the {means}"), note=(*note, f" the {other}")))
    claimed = TextCell(words=figure_words(claim), note=claim.summary)
    return [text(a), text(b), claimed, *cells, text(UNSAID + base)]


# Orderings


def orderings(material: Material) -> Section:
    """Orders that the article's text gives as a whole, then each claim of two sides."""
    article = article_of(material.publication)
    told = [
        Ordering(one.quantity, [(">" if at else "", name) for at, name in enumerate(one.items)], one.note)
        for one in (article.orders if article else ())
    ]
    without_amount = [one for one in material.claims if one.percent == 0 or figure_words(one) == NO_AMOUNT]
    return Section(
        "orderings", "Orderings as claimed",
        "Claims without an amount: which is more, or that both are alike. They have no length, so no bar is drawn.",
        orderings=[*told, *(_ordering(material, claim) for claim in without_amount)],
    )  # fmt: skip


def _ordering(material: Material, claim: Claim) -> Ordering:
    a, b = sides(material, claim)
    more, less = (b, a) if any(word in claim.sense for word in LESS) else (a, b)
    sign = "≈" if claim.percent == 0 else "≳" if "slightly" in claim.sense else ">"
    quantity = "speed of the backup" if claim.metric == EITHER else material.name(claim.metric)
    return Ordering(quantity, [("", more), (sign, less)], claim.summary)


# All of them


def all_claims(material: Material) -> Section:
    """Relative statements as the article makes them: never turned into numbers that were not printed."""
    columns = word_columns("What", "Baseline", "Quantity", "Claim", "In words", "Check")
    rows = [
        [*sides_cells(material, one), TextCell(text=one.summary, note=one.sense), check_link(material, one)]
        for one in material.claims
    ]
    lead = (
        "Each relative statement with its baseline and quantity; what the article's own numbers say to it stands under "
        "the checks."
    )
    return Section.of_table("claims", "All claims of the article", columns, rows, lead=lead, table="Claims")
