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

from runs.charts.numbers import exact
from runs.models.choices import Provenance
from runs.publications.checks.formula import evaluate

register = template.Library()

NO_BREAK = "\u202f"
_MINUS = "−"


def decimal_text(value: float, digits: int, *, signed: bool = False) -> str:
    """−17.54, 1,813.97: fixed decimals, thousands apart, a real minus."""
    text = f"{value:+,.{digits}f}" if signed and round(value, digits) else f"{value:,.{digits}f}"
    return text.replace("-", _MINUS)


def printed_text(value: float, as_printed: str) -> str:
    """The value with as many decimals as the source prints, where its spelling is this value: "0,80" is 0.80."""
    plain = as_printed.strip().replace(_MINUS, "-").replace(",", ".")
    try:
        same = plain.count(".") <= 1 and float(plain) == value
    except ValueError:
        same = False
    return decimal_text(value, len(plain.partition(".")[2])) if same else exact(value)


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
    whole = printed_text(float(amount), printed)
    shown = whole if digits is None else decimal_text(float(amount), digits, signed=signed)
    hints = [_provenance_words(provenance, printed), source, f"stored as {whole}" if shown != whole else "", note]
    hint = "; ".join(part for part in hints if part)
    return format_html(
        '<data class="number" value="{}" data-provenance="{}" data-origin="{}" tabindex="{}">{}</data>',
        _plain(float(amount)), provenance, hint, "0" if tab else "-1", _with_unit(shown, unit),
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
    shown = exact(value) if digits is None else decimal_text(value, digits, signed=signed)
    return format_html(
        '<data class="number computed" value="{}" data-exact="{}" data-formula="{}" data-origin="{}" tabindex="{}">{}'
        "</data>",
        shown.replace(_MINUS, "-").replace(",", ""), _plain(value), formula, f"; {note}" if note else "",
        "0" if tab else "-1", _with_unit(shown, unit),
    )  # fmt: skip


def _with_unit(shown: str, unit: str) -> str:
    return f"{shown}{NO_BREAK}{unit}" if unit else shown


def _plain(value: float) -> str:
    return repr(value).removesuffix(".0")
