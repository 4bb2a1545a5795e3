"""How a claim is said: its sides, its amount, the check that belongs to it."""

from __future__ import annotations

import re

from runs.charts.base import TableCell
from runs.models import Claim
from runs.publications.material import Material
from runs.publications.page.amounts import Amount, TextCell, Words, text

# A percentage of this metric says neither time nor rate.
EITHER = "backup time/speed"
NO_AMOUNT = "no amount given"
LESS = ("slower", "lower")
_SIGN = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}


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
    return NO_AMOUNT


def printed_bound(claim: Claim) -> tuple[str, Amount] | None:
    """("<=", 10 ×) of a claim that prints a bound."""
    for name, unit in (("ratio_as_printed", "×"), ("percent_as_printed", "%")):
        if found := re.fullmatch(r"([<>]=?)([\d.]+)", str(claim.details.get(name, ""))):
            return found[1], Amount(float(found[2]), unit)
    return None


def sides(material: Material, claim: Claim) -> tuple[str, str]:
    """What is compared, and its baseline: A and B, turned round where the ratio is B to A."""
    a, b = material.words(claim.side_a), material.words(claim.side_b)
    return (b, a) if turned(claim) else (a, b)


def against(material: Material, claim: Claim) -> str:
    """What both sides share, then what differs: "Firebird 1.5.3: local protocol against localhost"."""
    shared = {name: value for name, value in claim.side_a.items() if claim.side_b.get(name) == value}
    if len(shared) in (0, len(claim.side_a), len(claim.side_b)):
        shared = {}
    a, b = (
        material.words({name: value for name, value in side.items() if name not in shared})
        for side in (claim.side_a, claim.side_b)
    )
    a, b = (b, a) if turned(claim) else (a, b)
    return f"{material.words(shared)}: {a} against {b}" if shared else f"{a} against {b}"


def turned(claim: Claim) -> bool:
    """The claim's ratio is that of B to A."""
    return bool(re.match(r"\w+ B / ", claim.sense))


def sides_cells(material: Material, claim: Claim) -> list[TableCell]:
    a, b = sides(material, claim)
    return [text(a), text(b), text(material.name(claim.metric)), TextCell(words=figure_words(claim))]


def check_link(material: Material, claim: Claim) -> TableCell:
    """To the check of this claim with its result, where the article's own numbers say anything to it."""
    found = material.checks_of_claim(claim.source_id)
    if not found:
        return TableCell()
    own = min(reversed(found), key=lambda one: len(one.claims))
    return TableCell(text=f"{own.number} {own.result}", href=f"#check-{own.number}")
