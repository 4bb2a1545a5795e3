"""Why runs have no number, why groups have no ratio, and why they have no rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runs.compare.comparison import Comparison
from runs.compare.groups import Against, Group, Repeat

LONG_REASON = 80


def gap_words(group: Group) -> str:
    """Why it has no value, as what it is: one that is not known, or one that is known and not counted."""
    uncounted = any(gap.uncounted for gap in group.gaps)
    return f"{'not counted' if uncounted else 'not known'}: {group.gap}" if group.gap else ""


def gap_notes(gaps: Sequence[Repeat]) -> list[str]:
    """The reasons with their counts ("2 × the cell is empty")."""
    counts = Counter(gap.reason for gap in gaps)
    return [f"{count} × {reason}" if count > 1 else reason for reason, count in counts.items()]


def gap_reasons(comparison: Comparison) -> str:
    """Why runs have no number, what most of them say first."""
    reasons = Counter(gap.reason for group in comparison.groups for gap in group.gaps)
    return "; ".join(f"{count} × {why}" if reasons.total() > 1 else why for why, count in reasons.most_common())


def missing_words(comparison: Comparison) -> str:
    """Where no run has a number: what is missing, and what brings one."""
    gaps = [gap for group in comparison.groups for gap in group.gaps]
    if len(gaps) < comparison.run_count:
        return ""
    if any(gap.run.is_open for gap in gaps):
        remedy = "The chart appears here when the first of them has finished."
    elif any(gap.run.invalid_at for gap in gaps):
        remedy = "Who marked a run invalid can restore it on its page."
    else:
        remedy = "Choose another metric or other runs, or send results that hold it."
    return f"No run has {'a number of this' if comparison.metric else 'a number'}: {gap_reasons(comparison)}. {remedy}"


def not_known_words(groups: Sequence[Group]) -> str:
    """ "34 groups are not known: 23 × no throughput in this run, 11 × lost in a picture." """
    reasons = Counter(group.gap for group in groups)
    counts = ", ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
    return f"{len(groups)} groups are not known: {counts}." if groups else ""


def lost_words(group: Group) -> str:
    """How many of its repeats have no number, and why: "4 of 7 repeats have no number: failed". Empty of none lost.

    A long reason stands whole at its run; here its beginning, which says what happened.
    """
    if not group.lost or not group.dots:
        return ""
    heads = (gap.reason if len(gap.reason) <= LONG_REASON else gap.reason.partition(":")[0] for gap in group.lost)
    count = len(group.lost)
    return f"{count} of {count + group.n} repeats have no number: {'; '.join(dict.fromkeys(heads))}"


def refusal_words(against: Against | None) -> str:
    """Why the two may not be compared; empty where they may."""
    if against is None:
        return ""
    return against.refused or (f"survivors only: {lost_words(against.survivors)}" if against.survivors else "")


def unranked_by_class(comparison: Comparison) -> dict[str, list[Group]]:
    """The groups that are not ranked, by the words of their class, else by why: each class stands for itself."""
    classes: dict[str, list[Group]] = {}
    for group in comparison.groups:
        if not group.ranked:
            words = f"survivors only: {lost_words(group)}" if group.of_survivors else group.durability_words
            classes.setdefault(words, []).append(group)
    return classes


def by_class(comparison: Comparison) -> dict[str, list[Group]]:
    """The ranked groups under "", then those apart by the words of their class: each has a chart of its own."""
    return {"": comparison.ranked, **unranked_by_class(comparison)}
