"""Which is best, and by how much it is; or why no winner is named."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runs.answers.answer import REFUSED, Answer, Standing
from runs.answers.words import gaps, verdicts
from runs.compare.groups import Group
from runs.compare.levels import LevelRow, levels_words
from runs.formatting import MOST_IN_A_SENTENCE, few_listed, grouped, listed, mid_sentence, percent_of, quantity, times
from runs.stats import MIN_REPEATS, WINNERS, Kind, Verdict

# So many levels that are left out stand by their names in a sentence.
MOST_LEFT_OUT = 2 * MOST_IN_A_SENTENCE


def ranking(answer: Answer) -> str:
    standings = [claim for claim in answer.claims if isinstance(claim, Standing)]
    first, *others = standings
    if not others:
        return ""
    open_ones = [claim for claim in others if claim.ratio.verdict not in WINNERS]
    if open_ones and answer.ahead and all(claim.ratio.verdict != REFUSED for claim in open_ones):
        words = _ahead_at_each(answer, first, open_ones, *answer.ahead)
    else:
        words = _no_winner(answer, first, open_ones) if open_ones else _winner(answer, first, others)
    shown = [first, *(open_ones or others[:1])][:MOST_IN_A_SENTENCE]
    lost_by_label = {each.label: gaps.lost_words(each.group) for each in shown if each.group}
    if answer.worse_by:
        label, worse = answer.worse_by
        than = f"{verdicts.ratio(worse)} that of {others[0].label}"
        words = f"{words} By {mid_sentence(label)} {first.label} is worse: {than}."
    return " ".join([words, *(f"{label}: {lost}." for label, lost in lost_by_label.items() if lost)])


def _winner(answer: Answer, first: Standing, others: Sequence[Standing]) -> str:
    what, is_lower, second = mid_sentence(answer.metric_label), answer.better == "lower", others[0]
    is_of_groups = second.variants > 1 if answer.over else answer.ranked_at == "best"
    the_next, comma = _at_its_best(second) if is_of_groups else second.label, ""
    if len(others) > 1:
        the_next, comma = f"{the_next}, the next", ","
    words = verdicts.ratio(verdicts.upward(second.ratio, answer.better))
    if answer.over:
        subject = _at_its_best(first) if first.variants > 1 else first.label
        series = answer.series.turned if answer.series and is_lower else answer.series
        if parted := verdicts.parted_words(series, answer.threshold):
            words, at, there, beside = parted.ratios, f"at {parted.at}", ", where", f"; {parted.others}"
        else:
            by_level = verdicts.by_level_words(series)
            at, there, beside = f"over {answer.over}", ";", f": {by_level}" if by_level else ""
        if is_lower:
            return f"{subject} has the lowest {what} {at}{there} {the_next}{comma} has {words} of it{beside}."
        return f"{subject} has {words} the {what} of {the_next}{comma} {at}{beside}."
    subject, amount = _at_its_best(first), quantity(first.centre, answer.unit)
    what = f"{what} at its best" if answer.ranked_at == "best" else what
    if is_lower:
        claim = f"{subject} has the lowest {what}, {amount}; {the_next}{comma} has {words} of it."
    else:
        claim = f"{subject} has the highest {what}, {amount}: {words} that of {the_next}."
    if first.variants < 2 or first.variants_differ:
        return claim
    every = "all " if first.variants > 2 else ""
    return f"{claim} The {first.variants} groups of {first.label} cannot {every}be told apart from each other."


def _at_its_best(standing: Standing) -> str:
    """With what tells its best group from its others: a setting, or where on the axis it is."""
    own = f" · {standing.of} · ".replace(f" · {standing.label} · ", " · ", 1).strip(" ·")
    return f"{standing.label} ({own})" if own not in ("", standing.of) else standing.label


def _no_winner(answer: Answer, first: Standing, open_ones: Sequence[Standing]) -> str:
    every, kinds = [first, *open_ones], {claim.ratio.verdict for claim in open_ones}
    named, none = _amounts(answer, every), no_winner(answer)
    where = f" over {answer.over}" if answer.over else ", each at its best" if answer.ranked_at == "best" else ""
    if Kind.TOO_FEW in kinds:
        if answer.over:
            # Some levels of a series may have enough repeats: the verdict says what is lacking.
            claim = next(each for each in open_ones if each.ratio.verdict == Kind.TOO_FEW)
            return f"{none} is named{where}: {named}; {first.label} against {claim.label}: {verdicts.why(claim.ratio)}."
        few = [each.label for each in every if each.n is not None and each.n < MIN_REPEATS]
        whose = "a group" if len(few) in (0, len(every)) else f"of {few_listed(few)}"
        return f"{none} is named{where}, with fewer than {MIN_REPEATS} repeats {whose}: {named}."
    if REFUSED in kinds:
        where = where if not answer.series or answer.series.with_ratio else ""
        return f"{none} is named{where}: {named} may not all be set against each other."
    if none_at_all := _none_at_all(answer, every):
        return none_at_all
    if kinds <= verdicts.NOT_APART:
        return f"{none}{where}: less than {percent_of(answer.threshold)} lie between {named}."
    return _undecided(answer, first, open_ones, where, named)


def no_winner(answer: Answer) -> str:
    """The beginning of its sentence: whoever wins by another metric is told so elsewhere."""
    return f"No winner by {mid_sentence(answer.metric_label)}"


def _ahead_at_each(
    answer: Answer, first: Standing, open_ones: Sequence[Standing], count: int, least: float
) -> str:  # fmt: skip
    """What is the best at each level, where how much it is over all is not decided."""
    what, where = mid_sentence(answer.metric_label), f"at each of {levels_words(count, answer.held)}"
    if answer.better == "lower":
        claim = f"{first.label} has the lowest {what} {where}, all others at least {times(least)} of it"
    else:
        claim = f"{first.label} has the highest {what} {where}, at least {times(least)} that of any other"
    change = open_ones[0].ratio
    pair = f"{first.label} against {open_ones[0].label} {verdicts.ratio(change)}, {verdicts.why(change)}"
    return f"{claim}. There is no single number over the levels: {pair}."


def _undecided(answer: Answer, first: Standing, open_ones: Sequence[Standing], where: str, named: str) -> str:
    # What takes the most repeats, which is all that it takes to be sure.
    undecided = [each for each in open_ones if each.ratio.verdict in (Kind.UNDECIDED, Kind.MIXED)]
    claim = max(undecided, key=lambda each: each.ratio.more_repeats or math.inf, default=open_ones[0])
    change, pair, none = claim.ratio, f"{first.label} against {claim.label}", no_winner(answer)
    if change.verdict == Kind.MIXED:
        return no_single_number(answer)
    if answer.over and change.value is not None:
        return f"{none}{where}: {pair} {verdicts.ratio(change)}, {verdicts.why(change)}."
    says_side = verdicts.why(change).partition(",")[0] in WINNERS
    of_pair = f"{pair} is " if says_side else "" if len(open_ones) == 1 else f"{pair}: "
    # No repeat decides between two names of one configuration.
    is_open = change.low is not None and not (isinstance(change.basis, Verdict) and change.basis.fewest is None)
    begin = f"{none}{where}" if not is_open else f"{none} yet{where}, repeats scatter too much"
    most = 1 + answer.threshold
    is_close = all(each.ratio.value and 1 / most < each.ratio.value < most for each in open_ones)
    spreads = [each.group.summary.cv for each in (first, *open_ones) if each.group and each.group.summary]
    if change.low is not None and is_close and all(cv is not None and cv < answer.threshold for cv in spreads):
        begin, named = f"{none}{where}", f"less than {percent_of(answer.threshold)} lie between the means of {named}"
    return f"{begin}: {named}; {of_pair}{verdicts.why(change)}."


def _none_at_all(answer: Answer, standings: Sequence[Standing]) -> str:
    """Where less is better and some have none in any repeat: nothing is a multiple of it."""
    values = {each.label: each.group.judged for each in standings if each.group}
    none = [label for label, judged in values.items() if not any(judged)]
    others = [each for each in standings if each.label not in none]
    if answer.better != "lower" or not none or not others or min(min(values[each.label]) for each in others) <= 0:
        return ""
    return f"No ratio: {nothing_words(answer, none)}, beside {_amounts(answer, others)}."


def nothing_words(answer: Answer, none: Sequence[str]) -> str:
    have = "has" if len(none) == 1 else "have"
    return f"{few_listed(none)} {have} {quantity(0, answer.unit)} in every repeat"


def no_single_number(answer: Answer) -> str:
    if answer.best_by_level and sum(isinstance(claim, Standing) for claim in answer.claims) > 2:
        # More levels than those of the ratio of two, where one of these was not measured or came to nothing.
        levels = levels_words(len(answer.best_by_level), answer.held)
        by = mid_sentence(answer.metric_label)
        return f"No single winner by {by} over {levels}: {verdicts.best_at_words(answer.best_by_level)}."
    lower = " (lower is better)" if answer.better == "lower" else ""
    pair = f"{answer.first} against {answer.second}{lower} is {verdicts.by_level_words(answer.series)}"
    none = no_winner(answer) if verdicts.is_perhaps_noise(answer.series) else "No single number"
    return f"{none} over {answer.over}: {pair}."


def _amounts(answer: Answer, standings: Sequence[Standing]) -> str:
    groups = [each.group for each in standings if each.group]
    values, medians = centres(groups) if len(groups) == len(standings) else ([each.centre for each in standings], "")
    amounts = [
        f"{each.label} ({quantity(value, answer.unit)})" if value is not None else each.label
        for each, value in zip(standings, values, strict=True)
    ]
    named = listed(amounts) if len(amounts) <= MOST_IN_A_SENTENCE else f"{amounts[0]} and {len(amounts) - 1} others"
    return f"{named}{medians}"


def centres(groups: Sequence[Group]) -> tuple[list[float | None], str]:
    """What stands for the repeats of groups that are told beside each other, and what it is called where it is no
    geometric mean: the medians of all, where some repeats of one come to 0 or less.
    """
    if any(any(group.values) and min(group.values) <= 0 for group in groups):
        return [group.median for group in groups], " as medians"
    return [group.centre for group in groups], ""


def levels_without_ratio(answer: Answer) -> str:
    """The levels that a ratio over several leaves out, and why: it would read as one of all that was measured. At some
    of them one of several is the best all the same.
    """

    def reason(row: LevelRow) -> str:
        verdict, lost = row.against.verdict, row.against.lost
        # Others than these two may have been measured there.
        absent = answer.second if any(group.dots for group in row.groups) else answer.first
        unmeasured = verdicts.no_ratio_words(row.against, f"{absent} was not measured")
        words = verdicts.verdict_words(verdict) if verdict else unmeasured
        values = {answer.first: [group.judged for group, _ in row.pairs],
                  answer.second: [base.judged for _, base in row.pairs]}  # fmt: skip
        if none := [label for label, of_side in values.items() if of_side and not any(map(any, of_side))]:
            words = nothing_words(answer, none)
        if row.against.ratio:
            few = [label for label, of_side in values.items() if min(map(len, of_side)) < MIN_REPEATS]
            words = f"fewer than {MIN_REPEATS} repeats of {listed(few)}"
        if lost and any(group.dots for group in (*row.groups, *row.bases)):
            is_of_first = lost.key in {group.key for group in row.groups}
            words = f"{answer.first if is_of_first else answer.second}: {words}"
        return words

    apart = {group.key for group in answer.set_apart.values()}

    def is_apart(row: LevelRow) -> bool:
        return {group.key for group in (*row.groups, *row.bases)} <= apart

    rows = answer.series.rows if answer.series else []
    few = {row.label for row in answer.series.of_too_few} if answer.series else set()
    # Where nothing but what is not ranked was measured, that is told; unless such levels have ratios.
    are_compared = any(row.against.ratio is not None and is_apart(row) for row in rows)
    without = [
        row for row in rows
        if row.label in few or (row.against.ratio is None and (are_compared or not is_apart(row)))
    ]  # fmt: skip
    told = {each.row.label for each in answer.best_by_level}
    # Of many levels that several reasons leave out each has one as an example: the table beneath holds them all.
    most = MOST_IN_A_SENTENCE if len(without) <= MOST_LEFT_OUT else 1
    labels_by_reason = grouped((reason(row), row.label) for row in without if row.label not in told)
    of_told = grouped((reason(row).removeprefix("no ratio: "), row.label) for row in without if row.label in told)
    return " ".join([
        *([f"Left out: {gaps.with_reasons(labels_by_reason, most)}."] if labels_by_reason else []),
        *([f"No ratio at {gaps.with_reasons(of_told, most)}."] if of_told else []),
    ])  # fmt: skip
