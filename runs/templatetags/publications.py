"""What stands on a publication's page: cells, words with numbers in them, checks, states of figures.

Numbers say where they come from on hover, focus and touch: `number_html` and `computed_html`. A stored number shows all
digits that its source prints, with decimal point and thousands commas whatever the source's own spelling. A computed
one has its formula in `data-formula` and in the hint; in templates (`{% load publications %}`):

    {% computed 59.87 "1813.969025 / 30.3" unit="×" %}                          59.87 ×

Both take `tab=False` where many stand together (tables): hover, touch and click still show the hint, the Tab key passes
by. The look is static/css/numbers.css.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it.token import Token

from runs.formatting import MINUS, THIN, decimal, exact, plain
from runs.formatting import printed as as_source_prints
from runs.models.choices import Provenance
from runs.publications.article import MARKDOWN, FigureState
from runs.publications.check import Check, Computed, Result, Stated
from runs.publications.page.page import Page
from runs.publications.page.parts import Amount, Section, TextCell, Words, readable
from runs.publications.page.reruns import Slot
from runs.tables import Column, TableCell
from runs.templatetags.show import provenance_badge, table_cell

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


# Longer formulas show their names, and their numbers on hover and focus.
FORMULA_LENGTH = 60


@register.filter
def by_result(checks: Sequence[Check]) -> list[tuple[str, int]]:
    """How many checks have each result, in the order of `Result`."""
    counts = Counter(check.result for check in checks)
    return [(result.value, counts[result]) for result in Result if counts[result]]


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
    formula = computed.formula if short else computed.words
    return format_html('<dt>{}</dt><dd>{} <span class="formula">= {}</span></dd>', computed.label, value, formula)


def amount(shown: Amount, tab: bool = True) -> SafeString:
    """A number with where it comes from on hover, focus and touch."""
    look: dict[str, Any] = {"unit": shown.unit, "note": shown.note, "digits": shown.digits, "signed": shown.signed}
    if shown.formula:
        return computed_html(shown.value, shown.formula, tab=tab, **look)
    return number_html(shown.value, printed=shown.printed, provenance=str(shown.provenance), tab=tab, **look)


@register.simple_tag
def words(parts: Words, tab: bool = True, rounded: bool = False) -> SafeString:
    """A text with its numbers marked; `rounded` to what a reader can use, the stored value in the hint."""
    if isinstance(parts, str):
        return format_html("{}", parts)
    pieces = (part if isinstance(part, str) else amount(readable(part) if rounded else part, tab=tab) for part in parts)
    return format_html_join("", "{}", ((piece,) for piece in pieces))


_NUMBER = re.compile(r"(?<![\w.,−-])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")
_MARKUP = {
    "em_open": "<em>", "em_close": "</em>", "strong_open": "<strong>", "strong_close": "</strong>",
    "link_close": "</a>", "softbreak": " ", "hardbreak": " ",
}  # fmt: skip


@register.filter
def prose(markdown: str) -> SafeString:
    """A text of ours, its Markdown as HTML, with the article's numbers marked; parts of names stay text."""
    (inline,) = MARKDOWN.parseInline(markdown)
    return format_html_join("", "{}", ((_piece(token),) for token in inline.children or ()))


def _piece(token: Token) -> str:
    if token.type == "text":
        return _numbers_marked(token.content)
    if token.type == "link_open":
        return format_html('<a href="{}" rel="noreferrer nofollow">', token.attrGet("href"))
    if token.type == "code_inline":
        return format_html("<code>{}</code>", token.content)
    return SafeString(_MARKUP[token.type]) if token.type in _MARKUP else token.content


def _numbers_marked(text: str) -> SafeString:
    pieces: list[str | SafeString] = []
    at = 0
    for match in _NUMBER.finditer(text):
        value = match[0].rstrip(",")
        pieces += [text[at : match.start()], _printed_number(value)]
        at = match.start() + len(value)
    return format_html_join("", "{}", ((piece,) for piece in [*pieces, text[at:]]))


def _printed_number(number: str) -> SafeString:
    return format_html(
        '<data class="number" value="{}" data-provenance="{}" data-origin="{}" tabindex="-1">{}</data>',
        number.replace(",", ""), Provenance.PRINTED, f"{Provenance.PRINTED.label}; told in our words", number,
    )  # fmt: skip


@register.simple_tag
def rich_cell(cell: TableCell, heads_row: bool = False) -> SafeString:
    """Like `table_cell`, and a gap says only its reason: whole grids of them stay readable."""
    if cell.gap:
        return format_html('<td data-gap title="not known: {}">{}</td>', cell.gap, cell.gap)
    if not isinstance(cell, TextCell):
        return SafeString(table_cell(cell, heads_row=heads_row))
    if cell.amount:
        return _number(cell, cell.amount, heads_row)
    inner = format_html("<code>{}</code>", cell.text) if cell.code else format_html("{}", cell.text)
    if cell.words:
        inner = words(cell.words, tab=False)
    return format_html('<th scope="row">{}{}</th>' if heads_row else "<td>{}{}</td>", inner, _extras(cell))


@register.simple_tag
def card_row(row: Sequence[TableCell], columns: Sequence[Column]) -> SafeString:
    """Cells that carry their column's heading, for tables whose rows are cards on a phone."""
    first, *others = (rich_cell(cell, heads_row=not column) for column, cell in enumerate(row))
    cells: list[str] = [first]
    for cell, column in zip(others, columns[1:], strict=True):
        labelled = cell.replace("<td", format_html('<td data-label="{}"', column.heading), 1)
        cells.append(cell if cell == "<td></td>" else labelled)
    return SafeString("".join(cells))


def _number(cell: TextCell, shown: Amount, heads_row: bool) -> SafeString:
    tag = "th" if heads_row else "td"
    inner = amount(shown, tab=False)
    if cell.href:
        inner = format_html('<a href="{}">{}</a>', cell.href, inner)
    return format_html(
        '<{} class="num" data-value="{}">{}{}</{}>', tag, repr(float(shown.value)), inner, _extras(cell), tag
    )


def _extras(cell: TextCell) -> SafeString:
    extras = [format_html(' <span class="badge mark">{}</span>', cell.mark)] if cell.mark else []
    extras += [format_html(" {}", provenance_badge(cell.badge))] if cell.badge else []
    extras += [format_html('<span class="sub">{}</span>', words(cell.note, tab=False))] if cell.note else []
    return SafeString("".join(extras))


@register.simple_tag
def figure_state(state: FigureState, count: int = 0) -> SafeString:
    """What is left of a figure; with `count` of how many."""
    words = f"{count} {state}" if count else state
    return format_html('<span class="badge figure-state" data-figure-state="{}">{}</span>', state, words)


@register.simple_tag
def frames_of(page: Page, section: Section) -> list[Slot]:
    """The frames of lost figures that stand in this section, as far as the article has these figures."""
    framed = {slot.figure.id: slot for slot in page.figures if slot.figure and slot.figure.frame}
    return [framed[id] for id in section.frames if id in framed]


@register.simple_tag
def slots_of(page: Page, section: Section) -> list[Slot]:
    """Figures of this section that a re-run fills and that have no frame with a slot of its own."""
    ids = {section.id, *(figure.id for figure in section.figures)}
    plain = [slot for slot in page.figures if slot.rerun and slot.figure and slot.figure.frame is None]
    return [slot for slot in plain if slot.figure and slot.figure.place in ids]


@register.filter
def minus(value: float, other: float) -> float:
    return round(value - other, 2)
