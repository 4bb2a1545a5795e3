"""How a check looks: templates/publications/_checks.html."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.publications.checks.model import Check, Computed, Result, Stated
from runs.templatetags.numbers import computed_html, number_html

register = template.Library()

# Computed values of a check that stand open; a list that is longer by more than one is folded.
OPEN = 4
# Longer formulas show their names, and their numbers on hover and focus.
FORMULA_LENGTH = 60


@register.filter
def by_result(checks: Sequence[Check]) -> list[tuple[str, int]]:
    """How many checks have each result, in the order of `Result`."""
    counts = Counter(check.result for check in checks)
    return [(result.value, counts[result]) for result in Result if counts[result]]


@register.filter
def first_of_them(computed: Sequence[Computed]) -> Sequence[Computed]:
    return computed if len(computed) <= OPEN + 1 else computed[:OPEN]


@register.filter
def rest_of_them(computed: Sequence[Computed]) -> Sequence[Computed]:
    return [] if len(computed) <= OPEN + 1 else computed[OPEN:]


@register.simple_tag
def stated_number(stated: Stated) -> SafeString:
    """The stated number in our notation, its own spelling in the hint; words stay in their quotes."""
    if stated.value is None:
        return format_html("<q>{}</q>", stated.printed)
    return number_html(
        stated.value, unit=stated.unit, printed=stated.printed, provenance="printed", source=stated.where
    )


@register.simple_tag
def computed_line(computed: Computed) -> SafeString:
    """Label, value and formula: the numbers where they are few, else the names."""
    short = len(computed.formula) <= FORMULA_LENGTH
    value = computed_html(
        computed.rounded, computed.formula, unit=computed.unit, digits=computed.digits, signed=computed.signed,
        tab=not short, note=computed.words if computed.words != computed.formula else "",
    )  # fmt: skip
    return format_html(
        '<dt>{}</dt><dd>{} <span class="formula">= {}</span></dd>',
        computed.label,
        value,
        computed.formula if short else computed.words,
    )
