"""Cells of a publication's tables: numbers, text, code, gaps, with badges and marks."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.charts.base import Cell
from runs.charts.publications.parts import TextCell
from runs.templatetags.show import provenance_badge, table_cell

register = template.Library()


@register.simple_tag
def rich_cell(cell: Cell, heads_row: bool = False) -> SafeString:
    """Like `table_cell`, and a gap says only its reason: whole grids of them stay readable."""
    if cell.gap:
        return format_html('<td data-gap title="not known: {}">{}</td>', cell.gap, cell.gap)
    if not isinstance(cell, TextCell):
        return table_cell(cell, heads_row)
    words = format_html("<code>{}</code>", cell.text) if cell.code else format_html("{}", cell.text)
    extra = [format_html(' <span class="badge mark">{}</span>', cell.mark)] if cell.mark else []
    extra += [format_html(" {}", provenance_badge(cell.badge))] if cell.badge else []
    extra += [format_html('<span class="sub">{}</span>', cell.note)] if cell.note else []
    inner = SafeString("".join((words, *extra)))
    if cell.value is not None:
        return format_html('<td class="num" data-value="{}">{}</td>', repr(float(cell.value)), inner)
    return format_html('<th scope="row">{}</th>' if heads_row else "<td>{}</td>", inner)
