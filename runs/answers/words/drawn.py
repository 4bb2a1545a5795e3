"""What is said of a chart: what stands for the repeats, what it holds and leaves out, and why it is empty."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from runs.answers.answer import Answer
from runs.answers.places import x_label
from runs.answers.words import sentence
from runs.answers.words.gaps import gap_reasons, no_metric_words, with_reasons
from runs.answers.words.questions import question_words
from runs.compare.axes import BARS, LATENCY, ON_AXES, TIME, TRADE_OFF
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.compare.panels import stands_at
from runs.formatting import grouped, mid_sentence
from runs.models import Publication
from runs.run.facets import Facet
from runs.stats import CELL_CONFIDENCE

# So wide that it holds in about 95 % of cases of skewed noise too.
INTERVAL_WORDS = f"its {100 * CELL_CONFIDENCE:g} % interval"
NO_GEOMETRIC_MEAN = "a value is zero or negative, so that the bar is the median"
APART_NOTE = "A commit here promises less than in the first chart, so the bars do not compare."
EFFECTS_NOTE = (
    "Bar: from 1, no change, to the ratio over the pairs of groups that differ in this setting alone, or of a fit over "
    "all configurations. Whisker: its interval."
)
ORDER_NOTE = "Bar: from 1, the baseline, to the ratio over all levels that both have. Whisker: its interval."
NO_PAIRS = "a fit over all configurations"
LOG_BARS_NOTE = "The axis is logarithmic and has no 0: a mark stands where a bar would end."
DOUBT_NOTE = "More TPS than the terminals times the syncs a second that were measured of the disk."
# What views of the inside of a run say if none of the runs holds it, and what brings it.
_INSIDE = {
    TIME: "No run holds samples over time. Runs of an agent do, tools' files with progress, and uploads with series.",
    LATENCY: "No run holds a histogram of its latencies. Runs of an agent do, tools' logs of every transaction, and "
    "uploads with a histogram. None states a latency, either.",
}
_BEYOND = "beyond what one chart shows"
_LEFT_OUT = {TIME: _BEYOND, LATENCY: _BEYOND, BARS: _BEYOND, TRADE_OFF: "without the second metric"}
_LACKS = {TIME: "without samples over time", LATENCY: "without latencies"}


def centre_label(groups: Iterable[Group]) -> str:
    """What stands for the repeats of a group: of a percentile that of them all."""
    return "All repeats together" if any(group.percentile for group in groups) else "Geometric mean"


def centre_words(groups: Sequence[Group]) -> str:
    """The same in a sentence, with what stands for a group that has no geometric mean."""
    is_median = any(group.summary and group.summary.centre_name == "median" for group in groups)
    return f"{centre_label(groups).lower()}{', the median where a value is zero or negative' if is_median else ''}"


def bars_note(groups: Sequence[Group]) -> str:
    return (
        f"Bar: {centre_words(groups)}. Whisker: {INTERVAL_WORDS}, from three repeats on; an arrow where it "
        "leaves the axis. Tick: median. Dots: every repeat."
    )


def empty_words(comparison: Comparison) -> str:
    """Why there is nothing to draw, and what to do about it; empty where a run has a number."""
    runs = comparison.all_runs
    if any(group.dots for group in comparison.groups) or not runs:
        return _INSIDE.get(comparison.axes.view, "")
    if any(run.is_open for run in runs):
        remedy = "The chart appears here when the first of them has finished."
    elif any(run.invalid_at for run in runs):
        remedy = "Who marked a run invalid can restore it on its page."
    else:
        remedy = "Choose another metric or other runs, or send results that hold it."
    return f"No run has {'a number of this' if comparison.metric else 'a number'}: {gap_reasons(comparison)}. {remedy}"


def source_words(publications: Collection[Publication | None], common: Mapping[str, str]) -> str:
    """The article of all runs, whose `publications` these are; else their workload and machine of what is `common`."""
    (publication,) = publications if len(publications) == 1 else [None]
    if publication:
        year = str(publication.published_on.year) if publication.published_on else ""
        return ", ".join(filter(None, [f"“{publication}”", publication.author or publication.publisher, year]))
    return ", ".join(str(common[label]) for label in ("Workload", "Machine") if label in common)


def left_out_words(comparison: Comparison, group: Group, *, lacks: bool) -> str:
    """Why a run of a group that has a number is not drawn. `lacks`: it has none of what the view shows."""
    axes = comparison.axes
    if not stands_at(group, axes.fixed):
        return "held at another level"
    if lacks:
        return _LACKS[axes.view]
    no_place = f"no {mid_sentence(x_label(axes))} is known of it" if axes.x and comparison.metric else "not drawn"
    return _LEFT_OUT.get(axes.view, no_place)


def without_dot_words(groups: Sequence[Group], across: Mapping[str, Group]) -> str:
    """Which groups have no dot, by the kind of reason; the table of the numbers has the reasons of each run."""
    gaps = ((group.gap or across[group.key].gap, group.label) for group in groups)
    without = grouped((why.partition(":")[0], label) for why, label in gaps if why)
    return f"No dot: {with_reasons(without)}." if without else ""


def held_words(comparison: Comparison, *, is_alone: bool) -> list[str]:
    """What a reader must know of the chart besides its axes, once: what is held, pooled, follows, or is not drawn.

    `is_alone`: no other metric stands beside it.
    """
    axes = comparison.axes
    words = [
        f"Only {axes.facts[name].label}: {axes.facts[name].words.get(value, value)}."
        for name, value in axes.fixed.items()
    ]
    if axes.pooled:
        words.append(f"Pooled: {', '.join(axes.facts[name].label for name in axes.pooled)}.")
    if axes.view in ON_AXES:
        if follow := [axes.facts[name].label for name in axes.follow]:
            words.append(f"Vary in step with these: {', '.join(follow)}.")
        if is_alone and (others := no_metric_words(comparison)):
            words.append(others)
    return words


def common_words(common: Iterable[Facet]) -> str:
    """What is the same in all groups: "Machine: alpha; Data storage: nvme0n1"."""
    return "; ".join(f"{fact.label}: {fact.words}" for fact in common)


def as_markdown(
    answer: Answer, common: str, table: Sequence[Sequence[str]], source: str, *, of: int, warnings: Sequence[str]
) -> str:
    """Question, answer, warnings, what is the same in all groups and a table, the head first, of so many rows in all,
    with the address of the page.
    """
    head, *rows = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in table)
    lines = [f"| {head} |", f"|{'---|' * len(table[0])}", *(f"| {row} |" for row in rows)]
    more = [f"{len(rows)} of {of:,} groups; the page has all.", ""] if len(rows) < of else []
    same = [f"**The same in all groups:** {common}", ""] if common else []
    warned = [*(f"* {words}" for words in warnings), ""] if warnings else []
    said = [f"### {question_words(answer)}", "", sentence(answer), "", *warned, *same]
    return "\n".join([*said, *lines, "", *more, f"<{source}>", ""])
