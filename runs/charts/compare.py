"""A comparison as chart specs and as rows of a CSV file: the same numbers each time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from runs import formatting
from runs.answers.answer import Amount, Answer, Claimed, Newer, Published, Step, pair_of
from runs.answers.words.drawn import (
    APART_NOTE,
    DOUBT_NOTE,
    EFFECTS_NOTE,
    LOG_BARS_NOTE,
    NO_GEOMETRIC_MEAN,
    NO_PAIRS,
    ORDER_NOTE,
    bars_note,
    centre_label,
)
from runs.answers.words.gaps import (
    MOST_CURVES,
    by_class,
    difference_words,
    not_known_words,
    unranked_by_class,
    unsaid_words,
)
from runs.answers.words.verdicts import against_words, group_against_words, robustness_words, series_words, why
from runs.charts.base import BarGroup, Figure, Multiples, bars, scale_of
from runs.compare.comparison import Comparison
from runs.compare.facts import fact_value
from runs.compare.groups import Contrast, Group
from runs.compare.levels import Levels, levels_words
from runs.compare.panels import COLOURS, panel_groups, panel_key
from runs.run.facets import DOUBT_WORDS
from runs.stats import Ratio, ends_of
from runs.tables import Column, Table, TableCell

OF_SUMMARY = ("geometric_mean", "median", "mean", "minimum", "maximum", "stdev", "cv")
CSV_HEAD = [
    "group", "key", "metric", "unit", "n", *OF_SUMMARY, "interval_low", "interval_high", "ratio", "ratio_low",
    "ratio_high", "baseline", "verdict", "robustness", "ranked", "durability", "doubt", "values", "printed", "gaps",
    "differences", "merged_percentile", "pooled_by", "batches", "over_levels", "over_levels_low", "over_levels_high",
    "over_levels_verdict",
]  # fmt: skip


# How far, in lengths of the longest value, an interval may stretch the axis of panels: that of static/js/chart-bars.js.
WHISKER_REACH = 1.15
# From where on the axis of bars is logarithmic, unless a reader says: from 0 on the shortest could not be seen.
BARS_LOG_FROM = 1000.0
# So many times as high may one class of groups be as another that shares its axis.
SHARED_UP_TO = 10.0
# Up to so many groups without a value have a row of their own among the bars.
MOST_GAPS = 5
# A page has no more bars, and rows of their table; the others are left out by name, and in the CSV file.
MOST_BARS = 200


def bars_figures(comparison: Comparison, *, id: str = "comparison", title: str = "") -> list[Figure]:
    """The ranked groups, and apart from them, class by class, those that are not.

    Many without a value are counted in words.
    """
    comparison, note = _without_lost(comparison)
    figures = [bars_figure(comparison, comparison.ranked, id=id, title=title, note=note)]
    apart = apart_figures(comparison, id="apart" if id == "comparison" else f"{id}-apart")
    # Without any value there is no axis: the rows beneath say what is missing.
    return [*(figures if any(group.dots for group in comparison.ranked) else []), *apart]


def bars_parts(comparison: Comparison, *, id: str = "comparison") -> Sequence[Figure | Multiples]:
    """As `bars_figures`; where a fact cuts panels each class as small multiples."""
    if not comparison.axes.panels:
        return bars_figures(comparison, id=id)
    comparison, note = _without_lost(comparison)
    return [
        _panels(comparison, groups, id=numbered(id, index), words=words, note=note)
        for index, (words, groups) in enumerate(by_class(comparison).items())
        if any(group.dots for group in groups)
    ]


def _without_lost(comparison: Comparison) -> tuple[Comparison, str]:
    """Without groups that have no value, where these are many; and the note of its bars, which counts them."""
    groups, lost = drawn_and_lost(comparison.groups)
    # What the settings change is an answer of ratios, which leaves to the bars whose settings their names leave out.
    unsaid = unsaid_words(comparison.unsaid) if comparison.effects else ""
    notes = (bars_note(groups), unsaid, not_known_words(comparison, lost))
    return replace(comparison, groups=groups), " ".join(filter(None, notes))


def drawn_and_lost(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    """The groups that are drawn as bars; and those without a value, where these are too many for a row each and there
    are others.
    """
    valued, lost = [group for group in groups if group.dots], [group for group in groups if not group.dots]
    if not MOST_GAPS < len(lost) < len(groups):
        lost = []
    return valued[:MOST_BARS] if lost or len(groups) > MOST_BARS else groups, lost


def _panels(comparison: Comparison, groups: Sequence[Group], *, id: str, words: str, note: str) -> Multiples:
    """Small multiples on one scale, named within a panel by the other facts; with one table of all."""
    metric, axes, figures = comparison.metric, comparison.axes, []
    title = f"{metric.label}{f' ({metric.unit})' if metric.unit else ''}" if metric else ""
    names = [*axes.series, *filter(None, [axes.x])]
    labels = {
        group.key: " · ".join(axes.facts[name].in_legend(fact_value(group, name)) for name in names) for group in groups
    }
    panels = panel_groups(groups, axes)
    if not all(labels.values()) or any(len({labels[group.key] for group in of}) < len(of) for _, of in panels):
        labels = {group.key: group.label for group in groups}
    order = {label: index % COLOURS for index, label in enumerate(dict.fromkeys(labels.values()))}
    for label, of in panels:
        named = [replace(group, label=labels[group.key], color=order[labels[group.key]]) for group in of]
        figures.append(bars_figure(comparison, named, id=f"{id}-{panel_key(label)}", title=label, beside=groups))
    return Multiples(
        id, class_title(words, title), figures, [], bars_table(groups, metric.unit if metric else ""),
        note=" ".join(filter(None, [note, figures[0].note])), metric=metric.name if metric else "",
    )  # fmt: skip


def _axis_end(values: Sequence[float], groups: Iterable[BarGroup]) -> float:
    """The largest value, or as much beyond it as intervals may stretch the axis."""
    most = max(values, default=0.0)
    return max([most, *(min(bar["interval"][1], most * WHISKER_REACH) for bar in groups if bar["interval"])])


def _on_one_axis(comparison: Comparison, groups: Sequence[Group]) -> Sequence[Group]:
    """The groups of all classes, which share an axis, so that a bar is not as long as one of a quarter of its value;
    these alone where the bars of some class would be too short to be read.
    """
    classes = [[value for group in each for value in group.values] for each in by_class(comparison).values()]
    tops = [max(values) for values in classes if values]
    is_near = len(tops) > 1 and min(tops) > 0 and max(tops) <= SHARED_UP_TO * min(tops)
    return comparison.valued if is_near else groups


def apart_figures(comparison: Comparison, *, id: str = "apart") -> list[Figure]:
    """One for each class of groups that are not ranked; empty when all are."""
    return [
        bars_figure(
            comparison, groups, id=numbered(id, index), title=f"Not ranked: {words}",
            note=DOUBT_NOTE if groups[0].doubt else APART_NOTE,
        )
        for index, (words, groups) in enumerate(unranked_by_class(comparison).items())
        if any(group.dots for group in groups)
    ]  # fmt: skip


def class_title(words: str, title: str) -> str:
    """The title of the figure of one class of durability; that of the ranked groups has no words."""
    return f"Not ranked: {words}. {title}" if words else title


def second_of_colour(groups: Iterable[Group]) -> set[str]:
    """Keys of those whose colour an earlier one has: their lines are dashed."""
    first_of: dict[int, str] = {}
    return {group.key for group in groups if first_of.setdefault(group.color, group.key) != group.key}


def numbered(id: str, index: int) -> str:
    return f"{id}-{index + 1}" if index else id


def bars_figure(
    comparison: Comparison, groups: Sequence[Group], *, id: str = "comparison", title: str = "", note: str = "",
    beside: Sequence[Group] = (),
) -> Figure:  # fmt: skip
    """Geometric means of these groups as bars with their intervals as whiskers, every repeat as a dot.

    `beside`: the groups of all panels that share its axis.
    """
    metric = comparison.metric
    label, unit, better = (metric.label, metric.unit, metric.better) if metric else ("", "", "none")
    centre = centre_label(groups).lower()
    what = f"the {centre} of {label.lower()}" if centre == "geometric mean" else f"{label.lower()}, {centre}"
    values = formatting.joined(f"{group.label} {formatting.number(group.centre) or 'not known'}" for group in groups)
    sharing = beside or _on_one_axis(comparison, groups)
    shown = [value for group in sharing for value in group.values]
    scale = scale_of(shown, comparison.axes.y_scale, BARS_LOG_FROM)
    # Panels have one table of all.
    rows = {group.key: row for row, group in enumerate(beside or groups)}
    bars_of = [group_bar(group) | {"row": rows[group.key]} for group in groups]
    spec = bars(label=label, unit=unit, better=better, groups=bars_of, scale=scale)
    if len(sharing) > len(groups) or beside:
        spec["least"], spec["most"] = min(shown), _axis_end(shown, map(group_bar, sharing))
    return Figure(
        id=id,
        title=title or (f"{label}, {unit}" if unit else label),
        spec=spec,
        table=bars_table(groups, unit),
        alt=f"Bars of {what}: {values}." if metric else "No run has a number.",
        note=" ".join(filter(None, [note, LOG_BARS_NOTE if scale == "log" else ""])),
    )


def effects_figure(comparison: Comparison) -> Figure:
    """What each setting did, as bars of ratios, the largest change first: the same as the answer says."""
    settings = list(dict.fromkeys(each.setting for each in comparison.effects))
    told: list[RatioBar] = []
    for each, ends in zip(comparison.effects, comparison.effect_ends, strict=True):
        against, name = each.row.against, f"{each.setting} {each.start} → {each.end}"
        color = settings.index(each.setting) % COLOURS
        told.append(RatioBar(name, color, against.ratio, len(each.row.pairs), against_words(against)))
        told += [RatioBar(f"{name}, with {beside}", color, ratio, pairs, "") for beside, ratio, pairs in ends]
    metric = comparison.metric.label if comparison.metric else ""
    title = f"What each setting did to {formatting.mid_sentence(metric)}"
    heads = "Setting", "Pairs"
    return _ratios_figure(told, heads, id="effects", title=title, axis=f"{metric}, as a ratio", note=EFFECTS_NOTE)


def order_figure(comparison: Comparison, levels: Levels) -> Figure:
    """The series that are compared, best first, as bars of their ratios to the baseline's over all levels."""
    color_by_key = {key: group.color for group, key in reversed(levels.group_series)}
    told = []
    for key in levels.order:
        is_base, series = key == levels.base, levels.between(key, levels.base)
        ratio, words = (series.ratio, series_words(series)) if series else (None, "the baseline" * is_base)
        count = len(series.counted) if series else len(levels.groups_of(key))
        told.append(
            RatioBar(levels.names[key], color_by_key[key], ratio, count, words or "not judged", is_base=is_base)
        )
    metric = comparison.metric.label if comparison.metric else ""
    better = {"lower": ", lower is better", "higher": ", higher is better"}.get(comparison.better, "")
    title = f"{metric} against {levels.base_label}, over {levels_words(len(levels.table), levels.held_words)}"
    heads = levels.compared_words, "Levels"
    return _ratios_figure(
        told, heads, id="order", title=title, axis=f"Ratio{better}", note=ORDER_NOTE, one="the baseline"
    )  # fmt: skip


@dataclass(frozen=True)
class RatioBar:
    """A ratio with what it is of: `count` pairs or levels, 0 where it is a fit over all; `words` is its verdict."""

    label: str
    color: int
    ratio: Ratio | None
    count: int
    words: str
    is_base: bool = False


def _ratios_figure(
    told: Sequence[RatioBar], heads: tuple[str, str], *, id: str, title: str, axis: str, note: str,
    one: str = "no change",
) -> Figure:  # fmt: skip
    """`heads`: of the column of the labels, and of that of the counts; `one`: what a ratio of 1 is."""
    bars_of: list[BarGroup] = []
    rows: list[list[TableCell]] = []
    for each in told:
        ratio, words = each.ratio, each.words
        value = 1.0 if each.is_base else ratio.value if ratio else None
        bars_of.append(
            BarGroup(
                label=each.label, color=each.color, value=value, text=formatting.times(value) if value else "",
                interval=pair_of(ratio.interval if ratio else None),
                dots=[], gap=None if value else words, ranked=True, origin=words, row=len(rows),
            )
        )  # fmt: skip
        numbers = [TableCell(value, gap="" if value else words)]
        numbers += map(TableCell, ends_of(ratio.interval if ratio else None))
        count = TableCell(each.count) if each.count else TableCell(gap=NO_PAIRS)
        rows.append([TableCell(text=each.label), *numbers, count, TableCell(text=words)])
    spec = bars(label=axis, unit="", better="none", groups=bars_of)
    spec["base"], spec["marks"] = 1.0, [{"axis": "x", "value": 1.0, "label": f"1, {one}"}]
    spec["most"] = _axis_end([1.0, *(bar["value"] for bar in bars_of if bar["value"])], bars_of)
    columns = [
        Column(heads[0], numeric=False), *map(Column, ("Ratio", "Interval from", "to", heads[1])),
        Column("Verdict", numeric=False),
    ]  # fmt: skip
    in_words = formatting.joined(f"{bar['label']} {bar['text'] or 'no ratio'}" for bar in bars_of)
    return Figure(id, title, spec, Table(columns, rows), f"Bars of ratios: {in_words}.", note=note)


def group_bar(group: Group) -> BarGroup:
    bar: BarGroup = {
        "label": group.label,
        "color": group.color,
        "value": group.centre,
        "interval": pair_of(group.interval),
        "dots": group.values,
        "gap": group.gap,
        "ranked": group.ranked,
    }
    if group.summary:
        bar |= {"statistic": group.summary.centre_name, "median": group.summary.median}
    return bar


def bars_table(groups: Sequence[Group], unit: str) -> Table:
    """Every number of the bars, the median, and each repeat in its order, gaps with their reasons."""
    repeats = repeat_columns(groups, unit)
    columns = [
        Column("Group", numeric=False), Column("n"), Column(centre_label(groups), unit), Column("Interval from", unit),
        Column("to", unit), Column("Median", unit), *repeats,
    ]  # fmt: skip
    rows = []
    for group in groups:
        label = f"{group.label} ({DOUBT_WORDS})" if group.doubt else group.label
        centre = TableCell(gap=group.gap or NO_GEOMETRIC_MEAN)
        if group.summary and group.summary.centre_name != "median":
            centre = TableCell(group.summary.centre)
        numbers = [TableCell(group.n), centre, *map(TableCell, ends_of(group.interval)), TableCell(group.median)]
        rows.append([TableCell(text=label), *numbers, *repeat_cells(group, len(repeats))])
    return Table(columns, rows)


def tables_of_claims(answer: Answer) -> list[tuple[str, Table]]:
    """Every claim of what was measured here against what articles print and say, and of series over time where a
    sentence has no room for all, by the name of its table.
    """
    here, of_unit = Column("Here", numeric=False), answer.unit
    ratio = [*map(Column, ("Ratio", "Interval from", "to")), Column("Verdict", numeric=False)]
    printed = [
        here, Column("Geometric mean", of_unit), Column("Of what is printed of", numeric=False),
        Column("As printed", of_unit), *ratio,
    ]  # fmt: skip
    claimed = [here, Column("Against", numeric=False), Column("As claimed, ×"), Column("Claim", numeric=False), *ratio]
    pairs = [
        [
            TableCell(text=each.label), TableCell(each.here), TableCell(text=each.beside), TableCell(each.printed),
            *_ratio_cells(each.ratio),
        ]
        for each in answer.claims if isinstance(each, Published)
    ]  # fmt: skip
    claims = [
        [
            TableCell(text=each.label), TableCell(text=each.beside), TableCell(each.claimed),
            TableCell(text=each.claim), *_ratio_cells(each.ratio),
        ]
        for each in answer.claims if isinstance(each, Claimed)
    ]  # fmt: skip
    over_time = [*(Column(name, numeric=False) for name in ("Series", "Batch")), Column("Batches before"), *ratio]
    series = [
        [TableCell(text=each.label), TableCell(text=each.newest), TableCell(each.batches), *_ratio_cells(each.ratio)]
        if isinstance(each, Newer) else
        [TableCell(text=each.label), TableCell(text=each.day or "no change"), TableCell(each.batches_before),
         *_ratio_cells(each.change)]
        for each in answer.claims if isinstance(each, Newer | Step)
    ]  # fmt: skip
    tables = {
        "Series by series": Table(over_time, series if len(series) > MOST_CURVES else []),
        "Measured here against what is printed": Table(printed, pairs),
        "Measured here against what is claimed": Table(claimed, claims),
    }
    return [(name, table) for name, table in tables.items() if table.rows]


def _ratio_cells(ratio: Amount) -> list[TableCell]:
    return [*map(TableCell, (ratio.value, ratio.low, ratio.high)), TableCell(text=why(ratio))]


def repeat_columns(groups: Iterable[Group], unit: str) -> list[Column]:
    """One for each repeat of the group that has the most."""
    most = max((len(group.all_runs) for group in groups), default=0)
    return [Column(f"Repeat {number}", unit) for number in range(1, most + 1)]


def repeat_cells(group: Group, width: int) -> list[TableCell]:
    """Each repeat in its order, with its run; gaps with their reasons."""
    repeats = {dot.run.id: TableCell(dot.value, href=dot.run.get_absolute_url()) for dot in group.dots}
    repeats |= {gap.run.id: TableCell(gap=gap.reason, uncounted=gap.uncounted) for gap in group.gaps}
    ordered = sorted(group.all_runs, key=lambda run: (run.order_index or 0, run.repeat, run.created_at))
    return [*(repeats[run.id] for run in ordered), *[TableCell()] * (width - len(ordered))]


def csv_rows(comparison: Comparison) -> Iterator[list[str]]:
    """The head and one row per group; repeats joined by spaces, gaps by their reasons. Behind them one per effect
    that is asked for, whose key is "effect" and whose n is its pairs.
    """
    yield CSV_HEAD
    metric, base = comparison.metric, comparison.baseline
    levels = comparison.levels
    of_levels = levels.series if levels else []
    series_by_group = {group.key: of for of in of_levels for row in of.rows for group in row.groups}
    for group in comparison.groups:
        series, against = series_by_group.get(group.key), group.against or Contrast()
        over_levels, ratio = series.ratio if series else None, against.ratio
        base_key = against.base if levels else base.key if base else ""
        numbers = [
            *(getattr(group.summary, name, None) for name in OF_SUMMARY),
            *ends_of(group.interval),
            ratio.value if ratio else None,
            *ends_of(ratio.interval if ratio else None),
        ]  # fmt: skip
        yield [
            group.label, group.key, metric.name if metric else "", metric.unit if metric else "", str(group.n),
            *map(formatting.plain, numbers), base_key, group_against_words(group, levels),
            robustness_words(against.verdict),
            "yes" if group.ranked else "no", group.conditions.durability, group.doubt,
            " ".join(map(formatting.plain, group.values)),
            "; ".join(f"{printed.statistic} {printed.as_printed}" for printed in group.printed),
            "; ".join(gap.reason for gap in group.gaps),
            "; ".join(f"{difference.role}: {difference_words(difference)}" for difference in against.differences),
            formatting.plain(group.merged_percentile),
            comparison.grouping, " ".join(map(str, group.batches)),
            formatting.plain(over_levels.value if over_levels else None),
            *map(formatting.plain, ends_of(over_levels.interval if over_levels else None)),
            series_words(series) if series else "",
        ]  # fmt: skip
    of_effect = dict.fromkeys(CSV_HEAD, "") | {"key": "effect", "metric": metric.name if metric else ""}
    for name, *numbers, pairs, verdict in effects_figure(comparison).table.rows if comparison.effects else ():
        ratio_and_ends = (formatting.plain(cell.value) for cell in numbers)
        of_one = {"group": name.text, "n": formatting.plain(pairs.value), "verdict": verdict.text}
        row = of_effect | of_one | dict(zip(("ratio", "ratio_low", "ratio_high"), ratio_and_ends, strict=True))
        yield [*row.values()]
