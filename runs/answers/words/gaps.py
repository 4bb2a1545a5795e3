"""Why runs have no number, groups no ratio and no rank, curves no knee and no law, and questions no answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from benchagent.catalog import factor_label
from benchagent.configfiles.refusals import refused_words

from runs.answers.answer import Answer
from runs.compare.asked import Lacking, Missing
from runs.compare.comparison import Comparison
from runs.compare.groups import Contrast, Group, Repeat
from runs.compare.guard import Difference
from runs.compare.panels import CLIENTS, of_measured_workloads
from runs.compare.select import MAX_RUNS
from runs.formatting import (
    MOST_IN_A_SENTENCE,
    few_listed,
    grouped,
    joined,
    listed,
    mid_sentence,
    number,
    percent,
    share_words,
)
from runs.listing.cursor import COUNT_LIMIT
from runs.machines.facts import MACHINE_LABELS
from runs.stats import Ratio
from runs.stats.curves import LEAST_FOR_KNEE, LEAST_VALUES_FOR_KNEE, Knee
from runs.stats.scaling import LEAST_FOR_LAW, Scaling, Unfitted

LONG_REASON = 80
# What a message has of its run alone: a time, a process, a file.
_OF_ONE_RUN = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]*(?: [A-Z]{3,4})?|\[\d+\]|/\S+")
# What is said of so many curves stands in a sentence.
MOST_CURVES = 6

_LACKING: Mapping[Lacking, str] = {
    "run": "no run is selected",
    "number": "no run has a number of this{why}",
    "ranked": "nothing that has a number is ranked",
    "positive": "a value is zero or negative",
    "load_speed": "no run says how fast its loading was, or how long",
    "better_side": "{names} has no better side",
    "long_window": "short demonstration windows rank nothing",
    "varying": "all that stands here has one {thing}, or none that is known",
    "order": "groups that differ in this have no order: {differing}{unless}",
    "judging": "not judged",
    "unknown": "nothing here is “{first}”; there are: {others}",
    "unknown_too": "nothing here is “{first}” either",
    "which": "several are called “{first}” here: {others}",
    "value_of": "no value of {levels} is known: {first}",
    "another": "there is one only: add another to set it against",
    "another_ranked": "only one is ranked: add another that may be set against it",
    "to_come": "still to come: {names}",
    "repeats": "it takes at least {least} repeats of {names}",
    "once_a_cell": "more repeats of {names} bring none: each experiment measures it once a cell, where it verifies the "
    "backup; start the experiment {least} times and pool its batches",
    "level_repeats": "some levels have fewer than the {least} repeats that it takes to be sure",
    "more_repeats": "about {count} more repeat{s} a group",
    "shared_levels": "no two series have two levels in common",
    "own_levels": "measured at {names}",
    "zero_at_each": "there is no ratio to zero, which is all that was measured of {names}",
    "above_zero": "above zero at {names}",
    "parts_unlike": "no ratio to each other: {differing}",
    "parts": "no levels in common{own}",
    "levels_with_ratio": "fewer than two levels have a ratio",
    "two_groups": "choose two groups, or two runs",
    "difference": "nothing that is recorded of them differs",
    "one_configuration": "the same settings under several names: {names}",
    "other_systems": "it says nothing of {names}: choose one of them",
    "settings_together": "no two groups differ in one of these settings alone: {names}",
    "interactions": "estimated together over {count} configurations, by least squares: what settings do to each other "
    "is not parted from what each does, and makes intervals wider",
    "unpaired": "{count} of {least} configurations {are} in none of these: in one setting alone no other differs",
    "single_setting": "no two groups differ in one setting of their configurations and in nothing else",
    "printed": "nothing here was asked the same as something published: a re-run sets its cells beside the figures",
    "no_repeats_printed": "its repeats are not printed, so that no interval can be given",
    "printed_lost": "the number that is published of the same is not known: {first}",
    "published": "nothing published is among these runs: add a set of it, {names}",
    "number_axis": "no size and no other number varies: measure at a second one",
    "clients_axis": "no number of terminals varies on the axis: measure at a second one",
    "rate": "{names} is no rate, of which more is better: choose one that is",
    "value": "none of its values is known{why}",
    "unmeasured": "{first} was not measured at {levels}",
    "unmeasured_most": "{first} was not measured at {levels}, where it may have more",
    "level": "one level only, measure a second",
    "batches_apart": "each batch has one level only: pool those that belong together",
    "again": "measured again in batches of their own, which are not pooled: {names}",
    "no_value": "no value at {levels}: {first}",
    "zero": "the value is zero at {names}",
    "zero_in_part": "a value is zero or negative at {names}, so that there is no ratio to it",
    "zero_now": "{first}: zero in every repeat, and in none of the baseline",
    "zero_before": "{first}: zero in every repeat of the baseline, and in none of these",
    "zero_both": "{first}: zero in every repeat, as in the baseline",
    "zero_as": "undecided: zero in every repeat, and in some of the baseline",
    "zero_in_part_of": "undecided: zero in some repeats of each batch of the baseline",
    "all_zero": "zero in every repeat of all {count} batches",
    "level_asked": "not measured at {names}",
    "two_levels": "both ends lie at one level",
    "positive_levels": "fewer than two of its levels are above zero",
    "levels_for_knee": "too few levels to tell where it falls off, {count} of {least}",
    "levels_above_zero": "too few levels above 0 to tell where it falls off per doubling, {count} of {least}",
    "values_for_knee": "too few values to tell where it falls off, {count} of {least}",
    "days": "nothing here was measured in two batches",
    "days_apart": "each was measured on days of its own: ask since when it has changed, or pool the runs of all days",
    "batch": "one batch only, measure a second",
    "base_batch": "no batch before it with this metric is “{names}”",
    "first_batch": "its benchmark has no batch before it on the main branch",
    "first_of_sender": "its sender has sent no batch before it: of a machine that is sent by its name alone each "
    "sender has series of their own, of one with a hardware.machine_id all have the same",
    "baseline": "no selected batch before it is “{names}”",
    "unlike_baseline": "{count} of the batches before it {are} left out, as they are not alike: {differing}",
    "batches": "too few batches to tell a change, {count} of {least}",
    "unlike_batches": "the batches differ too much to tell since when",
    "batches_for_less": "a change of {names} would show in about {count} batches",
    "batches_like_it": "a change of {names} would show in about {count} more batches like it",
    "first_batches": "a change of {names} would not show in its first three batches: the batches differ too much",
    "steadier_batches": "a change of {names} would not show: the batches differ too much",
    "step_within": "the batches that it is set against changed on {names}: ask since when",
    "visibilities": "{count} of its {least} batches {are} {names}, which a benchmark keeps apart: choose a visibility",
    "steady_batches": "the batches vary beyond all measure",
    "lost_batches": "batches without a value before the last: {count} ({levels}): {first}",
    "lost_repeats": "repeats without a number: {count} ({levels}): {first}",
    "absent": "days without a batch: {count} ({names}), where {least} have one",
    "copies": "batches of copies, which count nowhere: {count} ({names})",
    "noise": "the spread of the repeats has changed since {first}: {change}, in {count} batches against {least}",
    "standing_apart": "batches that stand apart from their neighbours: {count} ({names})",
    "left_out": "batches that stand apart from the others of the baseline and are left out of it: {count} ({names})",
    "followed": "since {first} {follows}, another series: {change}, its first {count} batches against the last {least}",
}


def first_of(said: Sequence[str], end: str = "", most: int = MOST_CURVES) -> list[str]:
    """What is said of the first curves, and of how many more something is."""
    more = len(said) - most
    return [*said[:most], *([f"{more} more in the table{end}"] if more > 0 else [])]


def with_reasons(labels_by_reason: Mapping[str, Sequence[str]], most: int = MOST_IN_A_SENTENCE) -> str:
    """The names before each reason, `most` of each: "A and B (failed); C (not measured)". A name that tells the reason
    is told without it; where it tells nothing else it stands alone.
    """
    words = []
    for why, labels in labels_by_reason.items():
        others = [" · ".join(part for part in label.split(" · ") if part != why) for label in labels]
        words.append(f"{few_listed(others, most)} ({why})" if all(others) else few_listed(labels, most))
    return "; ".join(words)


def thing_words(fact: str, versions_of: str = "") -> str:
    """What is ranked by a fact, empty for groups: system, version of a single one, disk, machine, commit group."""
    if fact == "dbms" and versions_of:
        return f"version of {versions_of}"
    if fact.startswith("storage"):
        return "disk"
    named = {"": "group", "dbms": "system", "hardware": "machine", "config": "configuration"}
    named |= {name: mid_sentence(label) for name, label in MACHINE_LABELS.items()}
    bare = fact.partition(":")[2] or fact
    return named.get(fact) or (f"number of {bare}" if bare in CLIENTS else mid_sentence(factor_label(bare)))


def lacking_words(missing: Missing) -> str:
    first, others = "".join(missing.names[:1]), missing.names[1:]
    # Two groups may have a reason in common of several.
    reasons = (reason for name in missing.names for reason in name.split("; "))
    # Nothing that a sender says of a part of them gives an order to groups that differ in the rest, too.
    all_are_own = all(each.is_own_question for each in missing.differing)
    own = [mid_sentence(each.label) for each in missing.differing] if all_are_own else []
    return _LACKING[missing.kind].format(
        count=missing.count, least=missing.least, s="" if missing.count == 1 else "s",
        are="is" if missing.count == 1 else "are", change=change_words(missing.change),
        names=few_listed(missing.names), first=_short_reason(first), others=joined(others), levels=few_listed(others),
        follows=" follows ".join(others), thing=thing_words(first),
        differing="; ".join(map(difference_words, missing.differing)),
        own=f", as each has its own {listed(missing.names)}" if missing.names else "",
        unless=f"; sent with the role “condition”, {joined(own)} would have one" if own else "",
        why=f": {few_listed([*dict.fromkeys(map(_short_reason, reasons))])}" if missing.names else "",
    )  # fmt: skip


def change_words(change: Ratio | None) -> str:
    """What came or went, with the interval where there is one: −17.5 % (−20.1 to −15.0)."""
    if change is None:
        return "not known"
    ends = (change.interval.low, change.interval.high) if change.interval else ()
    return share_words([each - 1 for each in (change.value, *ends)])


def _short_reason(reason: str) -> str:
    """A long one stands whole at its run; here its beginning, which says what happened. Of a setting that a DBMS has
    refused that, also of what was not started for it.
    """
    if refused := refused_words(reason):
        return f"{reason.partition(':')[0]}: {refused}"
    return reason if len(reason) <= LONG_REASON else reason.partition(":")[0]


def _short_reasons(gaps: Iterable[Repeat]) -> str:
    return "; ".join(dict.fromkeys(_short_reason(gap.reason) for gap in gaps))


def lacking_sentences(lacking: Iterable[Missing]) -> list[str]:
    return of_curves((lacking_words(missing), missing.of) for missing in lacking)


def of_curves(said: Iterable[tuple[str, str]]) -> list[str]:
    """One sentence for all curves of which the same is said, each as (words, curve). A name stays as it is."""
    return [
        f"{few_listed([*filter(None, curves)])}: {words}." if any(curves) else f"{words[:1].upper()}{words[1:]}."
        for words, curves in grouped(said).items()
    ]


def difference_words(difference: Difference) -> str:
    of_both = f" against {difference.b}" if difference.a != difference.b else ""
    return f"{difference.label}: {difference.a}{of_both}"


def differing_words(differing: Mapping[str, Sequence[Difference]]) -> str:
    """In what the first of a claim is not like those that it is set against; a single thing with its values. A claim
    names two: of what is not so of all of them is said whose it is.
    """
    by_field: dict[str, dict[str, Difference]] = {}
    for label, of_one in differing.items():
        for difference in of_one:
            by_field.setdefault(difference.field, {})[label] = difference
    values = {f"{each.a} against {each.b}" for found in by_field.values() for each in found.values()}
    labels_by_whose = grouped((tuple(found), next(iter(found.values())).label) for found in by_field.values())
    words = []
    for labels_of_claim, labels in labels_by_whose.items():
        whose = "" if len(labels_of_claim) == len(differing) else f" of {few_listed(labels_of_claim)}"
        with_values = len(by_field) == len(values) == 1
        label = listed(labels) if whose else joined(labels)
        words.append(f"{label} ({values.pop()}{whose})" if with_values else f"{label}{whose}")
    return joined(words)


def knee_words(knee: Knee) -> str:
    """Why there is no knee."""
    if knee.bend == "too_few":
        if knee.levels < LEAST_FOR_KNEE:
            return too_few_words(knee.levels, "level", LEAST_FOR_KNEE, " to find a knee")
        return too_few_words(knee.values, "value", LEAST_VALUES_FOR_KNEE, " to find a knee")
    return {
        "none": "one line fits as well", "smooth": "a smooth curve fits better",
        "undecided": "a smooth curve fits as well", "step": "a line with a step fits better",
    }.get(knee.bend, "the curve bends, but gets no worse behind")  # fmt: skip


def law_words(law: Scaling | Unfitted, levels: int) -> str:
    """Why no law of scaling is told of so many levels; empty where one is."""
    if isinstance(law, Scaling):
        far = "the repeats scatter too much to tell" if law.scattered else f"its levels lie {percent(law.off)} off it"
        return far if law.poor else ""
    return {
        "too_few": too_few_words(levels, "level", LEAST_FOR_LAW),
        "below_one": "the law of scaling begins at 1", "no_fit": "the law of scaling cannot be fitted",
    }[law]  # fmt: skip


def too_few_words(count: int, thing: str, least: int, to: str = "") -> str:
    counted = f"1 {thing} is" if count == 1 else f"{count} {thing}s are"
    return f"{counted} too few{to}, it takes {least}"


def beyond_words(count: int) -> str:
    """Of so many runs that match beyond those that are compared, which are counted so far only; empty of none."""
    more = f"{count:,}{' or more' if count >= COUNT_LIMIT - MAX_RUNS else ''}"
    return f"{beyond_reason().capitalize()}: {more} others match." if count else ""


def beyond_reason() -> str:
    return f"only about the newest {MAX_RUNS:,} runs are compared, each with all repeats of its cell"


def unsaid_words(settings: str) -> str:
    """Which settings of the baseline hold where the name of a configuration leaves them out; empty of none."""
    return f"Where a name does not say it: {settings}." if settings else ""


def gap_words(group: Group) -> str:
    """Why it has no value, as what it is: one that is not known, or one that is known and not counted."""
    uncounted = any(gap.uncounted for gap in group.gaps)
    return f"{'not counted' if uncounted else 'not known'}: {group.gap}" if group.gap else ""


def counted(reasons: Iterable[str]) -> list[str]:
    """With their counts, what most say first: "2 × the cell is empty". Of those that differ in time, process and folder
    alone, as the end of a server's log does, the first stands for all.
    """
    alike = grouped((_OF_ONE_RUN.sub("", reason), reason) for reason in reasons)
    in_order = sorted(alike.values(), key=len, reverse=True)
    return [f"{len(same)} × {same[0]}" if len(same) > 1 else same[0] for same in in_order]


def gap_notes(gaps: Iterable[Repeat]) -> list[str]:
    return counted(gap.reason for gap in gaps)


def gap_reasons(comparison: Comparison) -> str:
    """Why runs have no number."""
    return "; ".join(gap_notes(gap for group in comparison.groups for gap in group.gaps))


def not_known_words(comparison: Comparison, groups: Sequence[Group]) -> str:
    """Of groups without a value: "11 groups are not known: 11 × lost in a picture. 23 groups of another workload have
    no throughput."
    """
    could_have = {group.key for group in of_measured_workloads(comparison.groups)}
    gaps = [group.gap or "" for group in groups if group.key in could_have]
    groups_are = "group is" if len(gaps) == 1 else "groups are"
    lost = f"{number(len(gaps))} {groups_are} not known: {', '.join(counted(gaps))}." if gaps else ""
    return " ".join(filter(None, (lost, no_metric_words(comparison) if len(gaps) < len(groups) else "")))


def no_metric_words(comparison: Comparison) -> str:
    """How many groups no value of the metric is lost of, as their workload has none; empty of none."""
    others = len(comparison.groups) - len(of_measured_workloads(comparison.groups))
    if not others or comparison.metric is None:
        return ""
    thing, has = ("group", "has") if others == 1 else ("groups", "have")
    return f"{number(others)} {thing} of another workload {has} no {comparison.metric.label.lower()}."


def lost_words(group: Group) -> str:
    """How many of its repeats have no number, and why: "4 of 7 repeats have no number: failed". Empty of none lost."""
    if not group.lost or not group.dots:
        return ""
    has, do = ("has", "does") if len(group.lost) == 1 else ("have", "do")
    verb = f"{do} not count" if all(map(_is_invalid, group.lost)) else f"{has} no number"
    of, reasons = _lost(group, group.lost)
    return f"{of} repeats {verb}: {reasons}"


def _lost(group: Group, lost: Sequence[Repeat]) -> tuple[str, str]:
    """How many of its repeats, and why: "1 of 3", "failed: disk full"."""
    return f"{len(lost)} of {len(group.lost) + group.n}", _short_reasons(lost)


def _is_invalid(gap: Repeat) -> bool:
    """Whether it has its number, which somebody has marked as not to be counted."""
    return gap.uncounted and gap.run.invalid_at is not None


def lost_repeats_words(groups: Iterable[Group], *, invalid: bool) -> str:
    """Of which groups some repeats have no number, or one that does not count: "H2 (1 of 3: failed)". Empty of none."""
    losing = [(group, [gap for gap in group.lost if _is_invalid(gap) == invalid]) for group in groups if group.dots]
    return with_reasons(grouped((": ".join(_lost(group, lost)), group.label) for group, lost in losing if lost))


def refusal_words(against: Contrast | None) -> str:
    """Why the two may not be compared; empty where they may."""
    if against is None:
        return ""
    blocking = "; ".join(map(difference_words, against.blocking))
    return blocking or (f"survivors only: {lost_words(against.survivors)}" if against.survivors else "")


def unranked_by_class(comparison: Comparison) -> dict[str, list[Group]]:
    """The groups that are not ranked, by the words of their class, else by why: each class stands for itself."""
    return grouped((_class_words(group), group) for group in comparison.groups if not group.ranked)


def _class_words(group: Group) -> str:
    return f"survivors only: {lost_words(group)}" if group.of_survivors else group.durability_words


def set_apart_words(answer: Answer) -> dict[str, list[str]]:
    """What has no group that is ranked, by why."""

    def words(group: Group) -> str:
        if not group.dots:
            return _short_reasons(group.gaps)
        return "no value is above zero" if group.ranked else _class_words(group)

    return grouped((words(group), label) for label, group in answer.set_apart.items())


def by_class(comparison: Comparison) -> dict[str, list[Group]]:
    """The ranked groups under "", then those apart by the words of their class: each has a chart of its own."""
    return {"": comparison.ranked, **unranked_by_class(comparison)}
