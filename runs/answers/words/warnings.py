"""What a reader must know before the numbers of a comparison: what is unlike, disturbed, apart, or too few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from runs.answers.answer import Answer
from runs.answers.words.gaps import lost_repeats_words, set_apart_words, unranked_by_class, with_reasons
from runs.compare.comparison import Comparison
from runs.compare.facts import POOLED
from runs.compare.groups import Group
from runs.compare.guard import blocking
from runs.compare.reports import SinceFrozen
from runs.formatting import joined, mid_sentence
from runs.results.remarks import are_far_apart
from runs.run.likeness import partly_stated
from runs.stats import MIN_REPEATS, Kind

# A warning names groups in so many letters; beyond, it counts them.
MOST_LETTERS = 60
# So many of one class are named; their rows say it of each.
MOST_APART = 6
# What is said of the repeats of a group by the check that does not hold, and what it does to them.
_FAILED_CHECKS = {
    "steady_state": ("Not steady", "see the pages of the runs"),
    "no_stalls": ("Stalls", "see the pages of the runs"),
    "machine_alone": ("Disturbed by other programs", "they took CPU of the machine, or wrote to its disks"),
    "branches_enough": ("Fewer branches than terminals", "terminals wait for each other"),
    "window_long_enough": ("Short window", "checkpoints and flushes may come later"),
}


def failed_checks_words(group: Group) -> list[str]:
    """What was seen of how many of its repeats: "not steady (1 of 3)"."""
    return [
        f"{mid_sentence(words)} ({group.failed_checks[check]} of {group.n})"
        for check, (words, _) in _FAILED_CHECKS.items()
        if group.failed_checks[check]
    ]


def subjects(warnings: Sequence[str]) -> str:
    """What they are about, each once."""
    return " · ".join(dict.fromkeys(warning.partition(":")[0] for warning in warnings))


def since_frozen_words(since: SinceFrozen) -> str:
    """What became of the runs of frozen numbers, which stay as they are."""
    happened = [("marked invalid", len(since.invalid)), ("deleted", len(since.deleted))]
    said = [f"{count} {'was' if count == 1 else 'were'} {what}" for what, count in happened if count]
    if since.invalid:
        said[0] += f" ({'; '.join(dict.fromkeys(since.invalid.values()))})"
    count, _, rest = ", ".join(said).partition(" ")
    return f"Since it was frozen {count} of its {since.runs} run{'s' * (since.runs > 1)} {rest}."


def not_here_words(count: int) -> str:
    """Of runs that an address names; empty of none. Which it is of the two is not said."""
    return f"Not here, as deleted or not for you: {count} of the runs that are named." if count else ""


def warnings_of(comparison: Comparison, answer: Answer | None = None) -> list[str]:
    """Beside an `answer` without the classes that it names as not ranked, but for what was measured against them."""
    warnings = [*filter(None, [not_here_words(comparison.not_here)])]
    named = set_apart_words(answer) if answer else {}
    groups, runs, metric = comparison.groups, comparison.all_runs, comparison.metric

    def which(concerned: Sequence[Group]) -> str:
        """A warning is one line: it names few groups with short names, and counts others; their rows say it of each."""
        if len(concerned) == len(groups) > 1:
            return "all groups"
        names = joined(group.label for group in concerned)
        return names if len(names) <= MOST_LETTERS else f"{len(concerned)} of {len(groups)} groups"

    if any(run.demonstration for run in runs):
        warnings.append("Demonstration, short windows: these runs show the product at work and rank nothing.")
    unranked = unranked_by_class(comparison).items()
    for words, apart in ((words, apart) for words, apart in unranked if words not in named or apart[0].doubt):
        promises_less = not apart[0].doubt and not apart[0].of_survivors
        why = " A commit there promises less than in the ranked groups." if promises_less else ""
        if len(apart) > MOST_APART:
            names = f"{len(apart)} of {len(groups)} groups ({words})"
        elif apart[0].doubt:
            names = "; ".join(f"{group.label} ({group.doubt})" for group in apart)
        else:
            names = with_reasons({words: [group.label for group in apart]})
        warnings.append(f"Shown apart, not ranked: {names}.{why}")
    found = blocking(chain(*(group.against.differences for group in groups if group.against)))
    if questions := {difference.label for difference in found if difference.field != "durability"}:
        names = joined(sorted(questions))
        # What came or went along a curve is told.
        has_changes = any(group.against.change for group in groups if group.against)
        whose = "groups of different curves" if has_changes else "groups"
        warnings.append(f"No ratio between {whose} that differ in {names}: they only stand side by side.")
    if metric is not None:
        measured = {row.metric_id: row for run in runs for row in run.measurements.all()}
        units = {row.metric.unit for row in measured.values() if row.metric.name == metric.name}
        if other_units := sorted(units - {metric.unit}):
            warnings.append(f"Left out: numbers of the same name in another unit ({', '.join(other_units)}).")
    # Of survivors it is told with their class.
    others = [group for group in groups if not group.of_survivors]
    lost = {
        "Repeats without a number": lost_repeats_words(others, invalid=False),
        "Repeats that do not count": lost_repeats_words(others, invalid=True),
    }
    warnings += [f"{what}: {words}." for what, words in lost.items() if words]
    for check, (words, why) in _FAILED_CHECKS.items():
        if concerned := [group for group in groups if group.failed_checks[check]]:
            warnings.append(f"{words}: {which(concerned)}; {why}.")
    # Too far apart for noise: something of them is not told.
    wide = [group for group in groups if are_far_apart(group.values)]
    if wide and metric and metric.better == "higher":
        warnings.append(f"Repeats several times as large as others, although nothing tells them apart: {which(wide)}.")
    uneven = _uneven_pooling(groups, comparison.whole) if comparison.whole else ""
    warnings += filter(None, [partly_stated([group.runs for group in groups]), uneven])
    few = [group for group in groups if 0 < group.n < MIN_REPEATS]
    if few and len(groups) > 1:
        # Of pairs that are judged together, by how their ratios differ, one repeat each is enough.
        overall = [series.overall for series in comparison.levels.series] if comparison.levels else []
        verdicts = [*overall, *(effect.row.against.verdict for effect in comparison.effects)]
        has_judged = any(verdict.kind != Kind.TOO_FEW for verdict in verdicts if verdict)
        alone = " of two groups alone" if has_judged else ""
        warnings.append(f"Fewer than {MIN_REPEATS} repeats, so no verdict{alone}: {which(few)}.")
    return warnings


def _uneven_pooling(groups: Sequence[Group], whole: Comparison) -> str:
    """A warning where pooled groups hold the levels of the `whole` in unlike shares; else empty."""
    group_by_run = {run.id: group for group in whole.groups for run in group.runs}
    uneven = []
    for fact in whole.varying:
        if any(group.facts.get(fact.field) == POOLED for group in groups):
            counts = [Counter(group_by_run[run.id].facts[fact.field] for run in group.runs) for group in groups]
            shares = [{level: n / count.total() for level, n in count.items()} for count in counts if count]
            # Where each group has one, as a machine of each number of cores, none is pooled with another.
            if any(share != shares[0] for share in shares) and any(len(share) > 1 for share in shares):
                uneven.append(fact.label)
    if not uneven:
        return ""
    return f"Pooled, but not repeated alike in all groups: {', '.join(uneven)}. Ratios lean to what was repeated more."
