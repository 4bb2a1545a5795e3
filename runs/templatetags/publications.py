"""What stands on a publication's page: cells, words with numbers in them, states of figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it.token import Token

from runs.charts.base import Column, TableCell
from runs.models.choices import Provenance
from runs.publications.article import MARKDOWN, FigureState
from runs.publications.page.amounts import Amount, TextCell, Words, readable
from runs.publications.page.page import Page
from runs.publications.page.parts import Section
from runs.publications.page.reruns import FigureView
from runs.templatetags.numbers import computed_html, number_html
from runs.templatetags.show import provenance_badge, table_cell

register = template.Library()


@register.simple_tag
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
def prose(markdown: str, provenance: str = Provenance.PRINTED) -> SafeString:
    """A text of ours, its Markdown as HTML, with the article's numbers marked; parts of names stay text."""
    (inline,) = MARKDOWN.parseInline(markdown)
    return format_html_join("", "{}", ((_piece(token, provenance),) for token in inline.children or ()))


def _piece(token: Token, provenance: str) -> str:
    if token.type == "text":
        return _numbers_marked(token.content, provenance)
    if token.type == "link_open":
        return format_html('<a href="{}" rel="noreferrer nofollow">', token.attrGet("href"))
    if token.type == "code_inline":
        return format_html("<code>{}</code>", token.content)
    return SafeString(_MARKUP[token.type]) if token.type in _MARKUP else token.content


def _numbers_marked(text: str, provenance: str) -> SafeString:
    pieces: list[str | SafeString] = []
    at = 0
    for match in _NUMBER.finditer(text):
        value = match[0].rstrip(",")
        pieces += [text[at : match.start()], _told(value, provenance)]
        at = match.start() + len(value)
    return format_html_join("", "{}", ((piece,) for piece in [*pieces, text[at:]]))


def _told(number: str, provenance: str) -> SafeString:
    return format_html(
        '<data class="number" value="{}" data-provenance="{}" data-origin="{}" tabindex="-1">{}</data>',
        number.replace(",", ""), provenance, f"{Provenance(provenance).label}; told in our words", number,
    )  # fmt: skip


@register.simple_tag
def rich_cell(cell: TableCell, heads_row: bool = False) -> SafeString:
    """Like `table_cell`, and a gap says only its reason: whole grids of them stay readable."""
    if cell.gap:
        return format_html('<td data-gap title="not known: {}">{}</td>', cell.gap, cell.gap)
    if not isinstance(cell, TextCell):
        return table_cell(cell, heads_row)
    if cell.amount:
        return _number(cell, cell.amount, heads_row)
    inner = format_html("<code>{}</code>", cell.text) if cell.code else format_html("{}", cell.text)
    if cell.words:
        inner = words(cell.words, tab=False)
    return format_html('<th scope="row">{}{}</th>' if heads_row else "<td>{}{}</td>", inner, _extras(cell))


@register.simple_tag
def card_row(row: Sequence[TableCell], columns: Sequence[Column]) -> SafeString:
    """Cells that carry their column's heading, for tables whose rows are cards on a phone."""
    cells = [rich_cell(cell, heads_row=not column) for column, cell in enumerate(row)]
    labelled = [
        cells[0],
        *(_labelled(cell, column.heading) for cell, column in zip(cells[1:], columns[1:], strict=True)),
    ]
    return SafeString("".join(labelled))


def _labelled(cell: SafeString, heading: str) -> SafeString:
    empty = cell == "<td></td>"
    return cell if empty else SafeString(cell.replace("<td", format_html('<td data-label="{}"', heading), 1))


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
def frames_of(page: Page, section: Section) -> list[FigureView]:
    return page.frames_of(section)


@register.simple_tag
def slots_of(page: Page, section: Section) -> list[FigureView]:
    return page.slots_of(section)


@register.filter
def minus(value: float, other: float) -> float:
    return round(value - other, 2)
