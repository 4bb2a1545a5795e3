"""How facts look on a page: numbers with units, badges, times; who may see and change what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from html import escape
from typing import Any
from uuid import UUID

from benchagent.catalog import (
    DURABILITY_WORDS,
    FACTORS,
    Durability,
    factor_label,
    factor_phrase,
    factor_unit,
    factor_words,
)
from benchagent.catalog.durability import HOST, Statement
from django import template
from django.http import QueryDict
from django.template import Context
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.formats import localize
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs import formatting
from runs.access import rules
from runs.access.rules import Target, source_of
from runs.answers.words import gaps, verdicts
from runs.answers.words.verdicts import why
from runs.answers.words.warnings import failed_checks_words, subjects
from runs.charts.pivots import Pivot, heat, shade
from runs.compare import markdown
from runs.compare.groups import Contrast, Group
from runs.compare.levels import Levels, LevelSeries
from runs.listing.filters import MOST_OFFERED
from runs.machines.usage import MOST_COUNTED
from runs.models import (
    Batch,
    Benchmark,
    Change,
    Config,
    Experiment,
    HardwareProfile,
    Publication,
    Run,
    SeriesBatch,
)
from runs.models.choices import OPEN_STATES, SHORT_DURABILITY, Precision, Provenance, RunState, Visibility
from runs.results.names import metric_label
from runs.run.facets import DOUBT_WORDS, TESTED, SettingRow
from runs.stats import Ratio, ends_of
from runs.tables import TableCell

register = template.Library()
SAID: tuple[Callable[..., Any], ...] = (
    factor_label, failed_checks_words, formatting.duration, formatting.number, formatting.percent, formatting.quantity,
    formatting.telling_line, formatting.three_digits, formatting.times, gaps.difference_words, gaps.gap_notes,
    gaps.gap_words, metric_label, rules.may_change, rules.may_contribute, rules.may_describe, rules.may_manage_people,
    rules.may_operate, shade, subjects, verdicts.against_words, verdicts.group_against_words, verdicts.ratio_words,
    verdicts.robustness_words, verdicts.series_words, why,
)  # fmt: skip
for said in SAID:
    register.filter(said)
# So many characters of the heading of a row stand in one line.
ONE_LINE = 20
register.filter("file_size", formatting.byte_size)
register.filter("markdown", markdown.rendered)
register.filter("markdown_text", markdown.plain)


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], name: str, label: str) -> SafeString:
    """A link of the top bar, marked when it leads to the page or to the one above it."""
    url, path = reverse(name), context["request"].path
    current = "page" if path == url else "true" if path.startswith(url) else ""
    return format_html('<a href="{}"{}>{}</a>', url, attribute("aria-current", current), label)


def attribute(name: str, value: str) -> SafeString:
    """An attribute of an HTML element; nothing without a value."""
    return format_html(' {}="{}"', name, value) if value else SafeString("")


@register.filter
def words(name: str) -> str:
    """`not_understood`, `dbms.version` as they are said."""
    return {"dbms.name": "DBMS", "dbms.version": "version", "hardware": "machine"}.get(name, name.replace("_", " "))


@register.simple_tag
def table_cells(row: Iterable[TableCell]) -> SafeString:
    """The cells of one row: a chart's table has thousands."""
    return SafeString("".join(table_cell(cell, heads_row=not at) for at, cell in enumerate(row)))


def table_cell(cell: TableCell, *, heads_row: bool) -> str:
    """A cell of a chart's table; the exact number is in data-value."""
    if cell.gap:
        kind = "not counted" if cell.uncounted else "not known"
        gap = escape(cell.gap)
        return f'<td data-gap title="{gap}">{kind}: {gap}</td>'
    if cell.hint and cell.value is None:
        return f'<td class="num"><span class="muted" title="{escape(cell.hint)}">–</span></td>'
    shown = escape(cell.text or formatting.number(cell.value))
    if cell.hint:
        shown = f'<strong title="{escape(cell.hint)}">{shown} ▲</strong>'
    if cell.href:
        shown = f'<a href="{escape(cell.href)}">{shown}</a>'
    if cell.value is not None:
        tag = "th" if heads_row else "td"
        return f'<{tag} class="num" data-value="{float(cell.value)!r}">{shown}</{tag}>'
    return f'<th scope="row">{shown}</th>' if heads_row else f"<td>{shown}</td>"


@register.simple_tag
def pivot_rows(pivot: Pivot) -> SafeString:
    """The rows of its body. They have up to 4,000 cells: empty ones say nothing but in cards, which need a heading."""
    labels = [attribute("data-label", column if pivot.stacks else "") for column in pivot.columns]
    rows = []
    for heading, groups in pivot.rows:
        cells = (_pivot_cell(pivot, group, label) for group, label in zip(groups, labels, strict=True))
        rows.append(f'<tr><th scope="row">{escape(heading)}</th>{"".join(cells)}</tr>')
    return SafeString("".join(rows))


def _pivot_cell(pivot: Pivot, group: Group | None, label: str) -> str:
    """`label`: an attribute, or nothing."""
    if group is None:
        return f'<td class="num muted"{label}>–</td>'
    if not group.dots:
        return f'<td class="num"{label} data-gap title="{escape(group.gap or "")}">not known</td>'
    ends = (group.interval.low, group.interval.high) if group.interval and not pivot.scale else ()
    between = f'<span class="sub">{"–".join(map(formatting.number, ends))}</span>' if ends else ""
    step = heat(group.centre, pivot.scale)
    colour = "" if step is None else f' data-heat="{step}"'
    return (
        f'<td class="num"{label} data-value="{group.centre}"{colour} title="{group.n} repeat{pluralize(group.n)}">'
        f"{formatting.number(group.centre)}{between}</td>"
    )


@register.simple_tag
def level_lines(series: LevelSeries, levels: Levels, most: int) -> SafeString:
    """The rows of a series against the baseline's, of which a page may have a thousand; where `most` are shown those
    first that both sides were measured at.
    """
    rows = sorted(series.rows, key=lambda row: not row.pairs)[:most] if most else series.rows
    label, base_label, of_all = escape(series.label), escape(levels.base_label), series.notes
    of_series = f'<th scope="row"{_wraps(series.label)}>{label}</th>' if len(levels.series) > 1 else ""
    heads = {fact.label: f'<th scope="row" data-label="{escape(fact.label)}"' for fact in levels.headings}
    lines = []
    for row in rows:
        headings = "".join(f"{heads[name]}{_wraps(words)}>{escape(words)}</th>" for name, words in row.words.items())
        against, verdict = row.against, row.against.verdict
        notes = [verdicts.robustness_words(verdict)] if verdict and verdict.ranks else []
        notes += [gaps.difference_words(note) for note in row.notes if note not in of_all]
        noted = format_html_join("", ' <span class="sub">{}</span>', ((note,) for note in notes))
        told = verdicts.level_against_words(row, series.label, levels.base_label)
        lines.append(
            f'<tr data-level="{escape(row.label)}">{headings}{of_series}'
            f"{_level_value(row.value, row.groups, label)}{_level_value(row.base_value, row.bases, base_label)}"
            f'<td class="num" data-label="Ratio"{exact_ratio(against)}>{ratio_lines(against.ratio)}</td>'
            f'<td class="wide"><span class="verdict" data-verdict="{row.kind}">{escape(told)}</span>{noted}</td></tr>\n'
        )
    return SafeString("".join(lines))


@register.filter
def ratio_lines(ratio: Ratio | None) -> SafeString:
    """The ratio, and beneath it its interval: in one line they took the room of the verdict beside them."""
    value, _, interval = verdicts.ratio_words(ratio).partition(" (")
    return format_html('{} <span class="sub">({}</span>', value, interval) if interval else SafeString(escape(value))


@register.simple_tag
def exact_ratio(against: Contrast | None, *, judged: bool = False) -> SafeString:
    """What the CSV of a table has of a ratio that is shown rounded: attributes of its cell; the verdict only where no
    cell beside it has that.
    """
    if against is None or against.ratio is None:
        return SafeString("")
    numbers = {"ratio": against.ratio.value, **dict(zip(("low", "high"), ends_of(against.ratio.interval), strict=True))}
    told = {"data-judged": verdicts.against_words(against)} if judged else {}
    exact = {f"data-{name}": localize(value) for name, value in numbers.items() if value is not None}
    return format_html_join("", ' {}="{}"', (exact | told).items())


def _wraps(words: str) -> str:
    """The class of a heading that is too long for one line."""
    return ' class="name"' if len(words) > ONE_LINE else ""


def _level_value(value: float | None, groups: Sequence[Group], label: str) -> str:
    """What one side has at a level, and of how many repeats where it has one group there. `label`: escaped."""
    if value is None:
        return f'<td class="num" data-label="{label}" data-gap>–</td>'
    repeats = f' <span class="sub">n = {groups[0].n}</span>' if len(groups) == 1 else ""
    shown = f"{formatting.number(value)}{repeats}"
    return f'<td class="num" data-label="{label}" data-value="{localize(value)}">{shown}</td>'


@register.simple_tag
def state_badge(state: str, is_part: bool = False) -> SafeString:
    """`is_part`: it is that of a part of an experiment's runs, while others have finished."""
    open_mark = SafeString(" data-open") if state in OPEN_STATES and state != RunState.QUEUED else ""
    label = f"{RunState(state).label}{' in part' * is_part}"
    return format_html('<span class="badge state" data-state="{}"{}>{}</span>', state, open_mark, label)


@register.simple_tag
def doubt_badges(run: Run | None) -> SafeString:
    """What speaks against the number of a finished run; nothing where nothing does."""
    badge = '<span class="badge demonstration" data-doubt="{}" title="{}">{}</span>'
    return format_html_join(" ", badge, ((word, why, word) for word, why in (run.doubts if run else ())))


@register.simple_tag
def provenance_badge(provenance: str) -> SafeString:
    return format_html(
        '<span class="badge provenance" data-provenance="{}" title="Where the numbers come from">{}</span>',
        provenance, Provenance(provenance).label,
    )  # fmt: skip


@register.simple_tag
def durability_badge(durability: str, reason: str = "", doubt: str = "") -> SafeString:
    """What a commit promises, with the reason as a hint; nothing where it is not known. `doubt` gets its own badge."""
    if not durability:
        return SafeString("")
    promise = Durability(durability)
    words = DURABILITY_WORDS[promise]
    of_host = HOST if reason.endswith(HOST) else ""
    badge = format_html(
        '<span class="badge durability" data-durability="{}" title="{}">{}</span>',
        durability, f"{words}: {reason}" if reason and reason != words else words,
        f"{SHORT_DURABILITY[promise]}{of_host}",
    )  # fmt: skip
    if doubt:
        badge += format_html(' <span class="badge demonstration" data-doubt title="{}">{}</span>', doubt, DOUBT_WORDS)
    return badge


@register.simple_tag
def durability_statement(statement: Statement) -> SafeString:
    """Class and reason of one of a run's three statements."""
    if statement.durability is None:
        return format_html('<strong>not known</strong><span class="sub">{}</span>', statement.reason)
    return format_html('{}<span class="sub">{}</span>', durability_badge(statement.durability), statement.reason)


@register.simple_tag
def demonstration_badge(run: Run) -> SafeString:
    """Short windows made to show the product at work are marked wherever they appear."""
    if not (run.demonstration or (run.experiment and run.experiment.demonstration)):
        return SafeString("")
    window = run.factor("duration_s")
    return format_html(
        '<span class="badge demonstration" title="Made to show the product at work; never ranked as best">'
        "demonstration, {} windows</span>",
        "short" if window is None else f"{window} s",
    )


@register.simple_tag
def moment(value: datetime | date | None, style: str = "minute") -> SafeString:
    """A time in UTC that times.js turns into the visitor's zone, of one of style "utc" as its title; a date without a
    time stays a date.
    """
    if value is None:
        return SafeString("")
    if not isinstance(value, datetime):
        return format_html('<time datetime="{}">{}</time>', value.isoformat(), value.isoformat())
    utc = value.astimezone(UTC)
    text = f"{utc:%H:%M:%S} UTC" if style == "clock" else f"{utc:%Y-%m-%d %H:%M} UTC"
    return format_html('<time datetime="{}" data-style="{}">{}</time>', f"{utc:%Y-%m-%dT%H:%M:%SZ}", style, text)


@register.simple_tag
def batch_moment(value: datetime) -> SafeString:
    """When a batch was measured, of the same day as sentences and charts tell it, in UTC; one of which the day alone is
    known stands at midnight.
    """
    return moment(value.date() if value.astimezone(UTC).time() == time.min else value, "utc")


@register.simple_tag
def run_moment(run: Run) -> SafeString:
    """When a run was measured, as well as it is known."""
    if run.measured_at_precision == Precision.UNKNOWN:
        return SafeString('<span class="muted">not stated</span>')
    if run.measured_at_precision == Precision.STORED:
        title = "When it was stored; when it was measured is not stated"
        return format_html('<span class="muted" title="{}">{}</span>', title, moment(run.created_at))
    return moment(run.started_at or run.measured_on)


@register.filter
def counted(runs: int) -> str:
    """A number of runs that were counted to `MOST_COUNTED` + 1."""
    return f"{MOST_COUNTED:,}+" if runs > MOST_COUNTED else str(runs)


@register.filter
def measure(value: float | None, unit: str) -> str:
    """A number whose unit stands in a column of its own; bytes stay readable with their own unit."""
    return formatting.byte_size(value) if unit == "bytes" else formatting.number(value)


@register.filter
def factor_said(value: bool | float | str, name: str) -> str:
    """4 terminals, scale factor 10, new connection yes."""
    if name in FACTORS and not isinstance(value, bool | str):
        return factor_phrase(name, value)
    words = ("yes" if value else "no") if isinstance(value, bool) else factor_words(name, value, factor_unit(name))
    return f"{factor_label(name).lower()} {words}"


@register.filter
def code_words(text: str) -> SafeString:
    """Words of an agent, in which names of views and counters stand in backticks."""
    parts = enumerate(text.split("`"))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in parts)
    )


@register.inclusion_tag("_more_settings.html")
def more_settings(rows: list[SettingRow]) -> dict[str, Any]:
    """The settings in force that nobody gave, folded away."""
    return {"rows": [row for row in rows if not row.given]}


# Filters whose selects hold the first of many.
CAPPED = ("hardware", "experiment")


@register.inclusion_tag("_filter_select.html", takes_context=True)
def filter_select(context: dict[str, Any], name: str, label: str, anything: str) -> dict[str, Any]:
    """A filter of the list as one select; it takes several values only where the address already has several."""
    options = [choice for choice in context["filter"].form.fields[name].choices if choice[0] != ""]
    # As (heading, options); plain ones under no heading.
    grouped = [(str(head), text) if isinstance(text, list) else ("", [(head, text)]) for head, text in options]
    return {
        "name": name, "label": label, "anything": anything, "chosen": context["params"].getlist(name),
        "options": grouped, "options_count": len(options),
        "capped": name in CAPPED and len(options) >= MOST_OFFERED,
    }  # fmt: skip


# What selects the runs of a thing (docs/use/choosing.md).
_SELECTED_BY: dict[type[Any], tuple[str, str]] = {
    Run: ("run", "pk"), Batch: ("batch", "pk"), Experiment: ("experiment", "slug"),
    Publication: ("publication", "slug"), HardwareProfile: ("hardware", "slug"), Config: ("config", "slug"),
}  # fmt: skip


@register.inclusion_tag("_over_time.html", takes_context=True)
def over_time(context: Context, batch: UUID, run: Run | None = None) -> dict[str, Any]:
    """The benchmarks in whose series a batch, or this run of it, stands beside others."""
    seen = Benchmark.objects.readable_by(context["user"]).of_main_metric().filter(batches__gt=1)
    held = SeriesBatch.objects.filter(batch=batch, benchmark__in=seen).values_list("benchmark", "runs")
    found = {benchmark for benchmark, runs in held if run is None or str(run.pk) in runs}
    return {"benchmarks": list(found), "batch": batch}


@register.simple_tag
def hidden(params: QueryDict, *without: str) -> SafeString:
    """What a form sends along of an address, which names up to a thousand runs: a loop of a template is slow."""
    fields = ((name, value) for name, values in params.lists() for value in values if name not in without)
    rows = (f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in fields)
    return SafeString("".join(rows))


@register.simple_tag
def options(choices: Iterable[tuple[Any, Any]], chosen: Any = None) -> SafeString:
    """The options of a select: `choices` are (value, words)."""
    rows = ((value, SafeString(" selected" if value == chosen else ""), words) for value, words in choices)
    return format_html_join("", '<option value="{}"{}>{}</option>', rows)


@register.inclusion_tag("_compare_with.html")
def compare_with(thing: Any, small: bool = False, runs: str = "") -> dict[str, Any]:
    """`runs`: how many, of what holds runs of many tests, of which one is asked for first."""
    name, field = _SELECTED_BY[type(thing)]
    query, page = f"{name}={getattr(thing, field)}", "compare-which" if runs else "compare"
    return {"thing": thing, "query": query, "small": small, "runs": runs, "page": page}


@register.filter
def up_to(count: int, is_exact: bool) -> str:
    """A number of rows that were counted so far only."""
    return f"{formatting.number(count)}{'' if is_exact else '+'}"


@register.simple_tag(takes_context=True)
def sort_head(context: dict[str, Any], name: str, label: str, css: str = "") -> SafeString:
    """Head of a column that sorts by it: first rising (values and times falling), then the other way round."""
    request, current = context["request"], context.get("ordering", "")
    first = f"-{name}" if name in ("value", "measured_at") else name
    other = name if first.startswith("-") else f"-{name}"
    query = context["params"].copy()
    query.pop("page", None)
    query["ordering"] = other if current == first else first
    url = f"{request.path}?{query.urlencode()}"
    sorts = {name: "ascending", f"-{name}": "descending"}.get(current, "")
    return format_html(
        '<th scope="col" class="{}"{}><a href="{}" hx-get="{}" hx-target="#run-table" hx-swap="outerHTML" '
        'hx-push-url="true">{}</a></th>',
        css, attribute("aria-sort", sorts), url, url, label,
    )  # fmt: skip


VISIBILITY_WORDS = {
    Visibility.PUBLIC: "in all lists, charts and exports",
    Visibility.UNLISTED: "in no list; whoever has the address sees it",
    Visibility.PRIVATE: "for its owner and administrators only",
}


@register.filter
def lookup(table: dict[Any, Any], key: Any) -> Any:
    return table.get(key, "")


@register.simple_tag
def visibility_badge(thing: Target) -> SafeString:
    """Nothing for what is public."""
    if thing.visibility == Visibility.PUBLIC:
        return SafeString("")
    shown = Visibility(thing.visibility)
    return format_html(
        '<span class="badge" data-visibility="{}" title="{}">{}</span>',
        shown.value, VISIBILITY_WORDS[shown].capitalize(), shown.label,
    )  # fmt: skip


@register.simple_tag
def invalid_badge(run: Run) -> SafeString:
    """Nothing for a run that counts; what is there twice is a copy."""
    if run.invalid_at is None:
        return SafeString("")
    words = "copy" if run.copy_of_id else "invalid"
    return format_html('<span class="badge invalid" title="{}">{}</span>', run.invalid_reason, words)


@register.filter
def tested_name(name: str) -> str:
    return TESTED.get(name, name)


@register.filter
def change_words(change: Change) -> str:
    """A recorded change in one line."""
    field = change.field.replace("_", " ")
    if change.field == "invalid":
        return f"marked invalid: {change.new}" if change.new else f"counts again; was invalid: {change.old}"
    return f"{field}: {_quoted(change.old)} → {_quoted(change.new)}"


def _quoted(value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{name} {inner}" for name, inner in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    # A day alone is no time.
    if isinstance(value, str) and "T" in value:
        with suppress(ValueError):
            if (at := parse_datetime(value)) and at.tzinfo:
                return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return "none" if value in (None, "", []) else f"“{value}”"


@register.inclusion_tag("_visibility.html", takes_context=True)
def visibility_control(context: Context, thing: Target) -> dict[str, Any]:
    """Who sees a thing, and for those who may change that one button per choice. A run says what decides for it."""
    target = source_of(thing) if isinstance(thing, Run) else thing
    user = context.get("user")
    return {
        "thing": thing,
        "target": target,
        "of_run": isinstance(thing, Run),
        "kind": target._meta.model_name if target else "",
        "key": (getattr(target, "slug", "") or target.pk) if target else "",
        "choices": [(value, label, VISIBILITY_WORDS[Visibility(value)]) for value, label in Visibility.choices],
        "may_change": target is not None and rules.may_change(user, target),
        "csrf_token": context.get("csrf_token"),
    }
