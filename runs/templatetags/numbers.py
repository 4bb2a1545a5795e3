"""Numbers that say where they come from on hover, focus and touch: `number_html` and `computed_html`.

A stored number shows all digits that its source prints, with decimal point and thousands commas whatever the source's
own spelling. A computed one has its formula in `data-formula` and in the hint; in templates (`{% load numbers %}`):

    {% computed 59.87 "1813.969025 / 30.3" unit="×" %}                          59.87 ×

Both take `tab=False` where many stand together (tables): hover, touch and click still show the hint, the Tab key passes
by. The look is static/css/numbers.css.
"""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.formatting import MINUS, THIN, decimal, exact, plain
from runs.formatting import printed as as_source_prints
from runs.models.choices import Provenance

register = template.Library()


def number_html(
    value: float, *, unit: str = "", printed: str = "", provenance: str = "", source: str = "", note: str = "",
    digits: int | None = None, signed: bool = False, tab: bool = True,
) -> SafeString:  # fmt: skip
    """A stored number. With `digits` it is rounded, and the hint names the stored value."""
    whole = as_source_prints(float(value), printed)
    shown = whole if digits is None else decimal(float(value), digits, signed=signed)
    origin = str(Provenance(provenance).label) if provenance in Provenance.values else provenance
    if printed and provenance == Provenance.PRINTED:
        origin = f"{origin} as “{printed}”"
    hints = [origin, source, f"stored as {whole}" if shown != whole else "", note]
    hint = "; ".join(part for part in hints if part)
    return format_html(
        '<data class="number" value="{}" data-provenance="{}" data-origin="{}" tabindex="{}">{}</data>',
        plain(float(value)), provenance, hint, "0" if tab else "-1", _with_unit(shown, unit),
    )  # fmt: skip


@register.simple_tag(name="computed")
def computed_html(
    value: float, formula: str, *, unit: str = "", digits: int | None = None, note: str = "",
    signed: bool = False, tab: bool = True,
) -> SafeString:  # fmt: skip
    """A number computed by us, in its unit; `note` adds words to the hint."""
    shown = exact(value) if digits is None else decimal(value, digits, signed=signed)
    return format_html(
        '<data class="number computed" value="{}" data-exact="{}" data-formula="{}" data-origin="{}" tabindex="{}">{}'
        "</data>",
        shown.replace(MINUS, "-").replace(",", ""), plain(value), formula, f"; {note}" if note else "",
        "0" if tab else "-1", _with_unit(shown, unit),
    )  # fmt: skip


def _with_unit(shown: str, unit: str) -> str:
    return f"{shown}{THIN}{unit}" if unit else shown
