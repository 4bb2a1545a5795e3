"""Numbers that say where they come from: `{% load numbers %}`.

A stored number, with its provenance on hover, focus and touch:

    {% number measurement %}            a row with .value, and .as_printed, .provenance, .unit or .metric if it has them
    {% number 5.3 unit="MB/s" printed="5,3" provenance="printed" source="line 101" note="average" %}

It shows all digits that the source prints, decimal point and thousands commas whatever the source's own spelling.
`digits=2` rounds, and the hint then names the stored value.

A number computed by us, with the formula in `data-formula` and in the hint:

    {% computed formula="407.97 / 494.73 − 1" unit="%" digits=2 %}              −17.54 %
    {% computed 59.87 "1813.969025 / 30.3" unit="×" %}                          59.87 ×

Without a value the formula is evaluated (`runs.publications.checks.formula` says what it may hold) and, for the unit %,
multiplied by 100. `note` adds words to the hint, `signed=True` a plus. `data-exact` holds the value unrounded.

Both take `tab=False` where many stand together (tables): hover, touch and click still show the hint, the Tab key passes
by. From Python, for cells of tables: `number_html` and `computed_html`. The look is static/css/numbers.css.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.formatting import MINUS, THIN, decimal, exact, plain
from runs.formatting import printed as as_source_prints
from runs.models.choices import Provenance
from runs.publications.checks.formula import evaluate

register = template.Library()


@register.simple_tag(name="number")
def number_html(
    value: Any, *, unit: str | None = None, printed: str = "", provenance: str = "", source: str = "", note: str = "",
    digits: int | None = None, signed: bool = False, tab: bool = True,
) -> SafeString:  # fmt: skip
    """A stored number. `value` is a number or a row that has one; what is given by name goes before the row's own."""
    amount = value if isinstance(value, int | float) else getattr(value, "value", None)
    if amount is None:
        return SafeString("")
    printed = printed or str(getattr(value, "as_printed", "") or "")
    provenance = provenance or str(getattr(value, "provenance", "") or "")
    note = note or str(getattr(value, "note", "") or "")
    unit = _unit_of(value) if unit is None else unit
    whole = as_source_prints(float(amount), printed)
    shown = whole if digits is None else decimal(float(amount), digits, signed=signed)
    hints = [_provenance_words(provenance, printed), source, f"stored as {whole}" if shown != whole else "", note]
    hint = "; ".join(part for part in hints if part)
    return format_html(
        '<data class="number" value="{}" data-provenance="{}" data-origin="{}" tabindex="{}">{}</data>',
        plain(float(amount)), provenance, hint, "0" if tab else "-1", _with_unit(shown, unit),
    )  # fmt: skip


def _unit_of(value: Any) -> str:
    metric = getattr(value, "metric", None)
    return str(getattr(value, "unit", "") or getattr(metric, "unit", "") or "")


def _provenance_words(provenance: str, printed: str) -> str:
    words = str(Provenance(provenance).label) if provenance in Provenance.values else provenance
    return f"{words} as “{printed}”" if printed and provenance == Provenance.PRINTED else words


@register.simple_tag(name="computed")
def computed_html(
    value: float | None = None, formula: str = "", *, unit: str = "", digits: int | None = None, note: str = "",
    signed: bool = False, tab: bool = True,
) -> SafeString:  # fmt: skip
    """A number computed by us, in its unit. Raises FormulaError where it has neither value nor computable formula."""
    if value is None:
        value = evaluate(formula) * (100 if unit == "%" else 1)
    shown = exact(value) if digits is None else decimal(value, digits, signed=signed)
    return format_html(
        '<data class="number computed" value="{}" data-exact="{}" data-formula="{}" data-origin="{}" tabindex="{}">{}'
        "</data>",
        shown.replace(MINUS, "-").replace(",", ""), plain(value), formula, f"; {note}" if note else "",
        "0" if tab else "-1", _with_unit(shown, unit),
    )  # fmt: skip


def _with_unit(shown: str, unit: str) -> str:
    return f"{shown}{THIN}{unit}" if unit else shown
