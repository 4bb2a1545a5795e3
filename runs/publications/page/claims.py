"""What an article claims without an absolute value: ratios, percentages in both readings, bounds, orderings.

Nothing here becomes the value of a run. A bar of a ratio is hatched, a bound is a mark on an axis, an ordering has no
length at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from runs.charts.base import Table, TableCell
from runs.models import Claim
from runs.publications.article import article_of
from runs.publications.page.amounts import Amount, TextCell, Words, computed, text, word_columns
from runs.publications.page.bounds import place
from runs.publications.page.claim_words import EITHER, LESS, against, check_link, figure_words, sides, sides_cells
from runs.publications.page.material import Material
from runs.publications.page.parts import Bound, NamedTable, Ordering, Section

UNSAID = "The article does not say whether this is a difference of time or of speed."


# Both readings of a percentage


def readings(material: Material) -> Section:
    found = [one for one in material.claims if one.metric == EITHER and percents(one)]
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


def percents(claim: Claim) -> list[float]:
    """The amounts of a claim in per cent: one, or both ends of a range."""
    found = claim.details.get("percent_range") or ([claim.percent] if claim.percent else [])
    return [abs(float(one)) for one in found]


def _slower(claim: Claim) -> bool:
    return any(word in claim.sense for word in LESS)


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
    as_time = [time_as_read(claim, one)[1] for one in percents(claim)]
    as_speed = [speed_as_read(claim, one)[0] for one in percents(claim)]
    head = (f"{against(material, claim)}, ", *_parts(figure_words(claim)))
    return [_reading_bound("if it means time", as_time, head), _reading_bound("if it means speed", as_speed)]


def _parts(words: Words) -> Sequence[str | Amount]:
    return (words,) if isinstance(words, str) else words


def _reading_bound(label: str, found: Sequence[Amount], head: Words = "") -> Bound:
    ordered = sorted(found, key=lambda one: one.value)
    return Bound(label, _span(ordered), ordered[0].value, ordered[-1].value, head=head)


def _span(found: Sequence[Amount]) -> Words:
    return (found[0],) if len(found) == 1 else (found[0], " to ", found[-1])


def _reading_row(material: Material, claim: Claim) -> list[TableCell]:
    a, b = sides(material, claim)
    times = [time_as_read(claim, one) for one in percents(claim)]
    speeds = [speed_as_read(claim, one) for one in percents(claim)]
    base = " The baseline is not said either; this one is the natural reading." if claim.ambiguous else ""
    return [
        text(a), text(b), TextCell(words=figure_words(claim), note=claim.summary),
        TextCell(words=(*_span([one for one, _ in times]), " the time"),
                 note=(*_span([one for _, one in times]), " the speed")),
        TextCell(words=(*_span([one for one, _ in speeds]), " the speed"),
                 note=(*_span([one for _, one in speeds]), " the time")),
        text(UNSAID + base),
    ]  # fmt: skip


# Orderings


def orderings(material: Material) -> Section:
    """Orders that the article's text gives as a whole, then each claim of two sides."""
    article = article_of(material.publication)
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
    return Section(
        id="claims",
        title="All claims of the article",
        lead="Each relative statement with its baseline and quantity; what the article's own numbers say to it stands "
        "under the checks.",
        tables=[NamedTable("Claims", Table(columns, rows))] if rows else [],
    )
