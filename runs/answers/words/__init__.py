"""What answers say: the one place where sentences about numbers are made, from the fields of an answer alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchagent.catalog import Role, factor_role

from runs.answers.answer import (
    REFUSED,
    Amount,
    Answer,
    AnyClaim,
    Changed,
    Claim,
    Effect,
    FallsOff,
    LevelChange,
    Loss,
    Newer,
    Published,
    ScalesTo,
    Standing,
    Step,
    as_share,
)
from runs.answers.ask import answer_of
from runs.answers.places import Place, from_to, place_words
from runs.answers.words import gaps
from runs.answers.words.verdicts import (
    NOT_APART,
    best_at_words,
    by_level_words,
    is_perhaps_noise,
    no_ratio_words,
    parted_words,
    share_words,
    times_words,
    verdict_words,
)
from runs.compare import asked
from runs.compare.comparison import Comparison
from runs.compare.groups import Contrast, Group
from runs.compare.levels import LevelRow, equal_words, levels_words
from runs.compare.panels import CLIENT, SIZE
from runs.formatting import grouped, joined, listed, mid_sentence, number, percent_of, quantity
from runs.run.facets import FACTOR, Facet
from runs.stats import MIN_REPEATS, WINNERS, Kind, Verdict

MOST_CURVES = 6
# Batches by what a baseline names them by.
_NAMED = {"label": "labelled", "commit": "of commit", "version": "of version"}
# What is told of a ranking and of a pair beside their claims.
_ALWAYS_TOLD = frozenset({"to_come", "one_configuration"})
# What a step is called that is not settled, wherever it is told.
SUSPECTED, NOT_YET_SURE = "suspected", "not yet sure"
# How far beside the memory a knee may lie and be told to be there.
NEAR = 1.1


def headline(comparison: Comparison) -> str:
    """The answer in words, and what is pooled on request and not compared; empty where nothing may be said."""
    answer = answer_of(comparison)
    if answer.claims or comparison.question.kind:
        return sentence(answer)
    qualified = (gaps.unsaid_words(comparison.unsaid), comparison.pooled, gaps.beyond_words(comparison.left_out))
    return " ".join(filter(None, qualified))


def sentence(answer: Answer) -> str:
    """The answer in words; where there is none, what is missing, and what stands apart; what names of configurations do
    not say, what is pooled, and what is not compared.
    """
    qualified = (gaps.unsaid_words(answer.unsaid), answer.pooled, gaps.beyond_words(answer.beyond))
    return " ".join(filter(None, (_of_compared(answer), *qualified)))


def _of_compared(answer: Answer) -> str:
    """Without what is pooled and what is not compared."""
    words = _SAYS[type(answer.claims[0])](answer) if answer.claims else ""
    lost = {label: joined(map(gaps.lacking_words, answer.lost.get(label, []))) for label in answer.unranked}
    few = grouped((lost[label] or "fewer than two levels in common with the others", label) for label in lost)
    unranked = gaps.with_reasons(gaps.set_apart_words(answer) | few)
    # Who names two asks of nobody else.
    is_of_named = any(missing.kind in ("value_of", "unknown") for missing in answer.lacking)
    apart = f"Not ranked: {unranked}." if unranked and not is_of_named else ""
    if not words:
        values, medians = _centres(answer.without_order)
        amounts = [
            f"{quantity(value, answer.unit)} of {group.label}"
            for group, value in zip(answer.without_order, values, strict=True)
        ]
        beside = f"{answer.metric_label} is {gaps.names(amounts)}{medians}." if amounts else ""
        return " ".join(filter(None, [*gaps.lacking_sentences(answer.lacking), beside, apart]))
    # What there is no claim of is told as well: nothing is left out without a word.
    of_curves = answer.question.kind in (*asked.OF_CURVES, *asked.OF_DATES, asked.EFFECTS)
    untold = [missing for missing in answer.lacking if of_curves or missing.kind in _ALWAYS_TOLD]
    # Where the newest batch has no value, what is said is of one before it.
    newest = [missing for missing in untold if (answer.question.kind, missing.kind) == (asked.NEWER, "no_value")]
    others = [missing for missing in untold if missing not in newest]
    # A winner over levels may have come to nothing, or not have been measured, where another is the best.
    is_untold = answer.best_by_level and (answer.sure or not answer.over)
    by_level = best_at_words(answer.best_by_level) if is_untold else ""
    places = joined(map(mid_sentence, answer.alike_in))
    differing = gaps.differing_words(answer.differing)
    return " ".join(filter(None, [
        *gaps.lacking_sentences(newest),
        words,
        f"Level by level, {by_level}." if by_level else "",
        f"This is of {places} alone, where each was measured." if places else "",
        _levels_without_ratio(answer),
        apart,
        *gaps.lacking_sentences(others),
        f"Not alike: {differing}." if differing else "",
    ]))  # fmt: skip


def _levels_without_ratio(answer: Answer) -> str:
    """The levels that a ratio over several leaves out, and why: it would read as one of all that was measured. At some
    of them one of several is the best all the same.
    """

    def reason(row: LevelRow) -> str:
        verdict, lost = row.against.verdict, row.against.lost
        # Others than these two may have been measured there.
        absent = answer.second if any(group.dots for group in row.groups) else answer.first
        words = verdict_words(verdict) if verdict else no_ratio_words(row.against, f"{absent} was not measured")
        values = {answer.first: [group.judged for group, _ in row.pairs],
                  answer.second: [base.judged for _, base in row.pairs]}  # fmt: skip
        if none := [label for label, of_side in values.items() if of_side and not any(map(any, of_side))]:
            words = _nothing(answer, none)
        if lost and any(group.dots for group in (*row.groups, *row.bases)):
            is_of_first = lost.key in {group.key for group in row.groups}
            words = f"{answer.first if is_of_first else answer.second}: {words}"
        return words

    apart = {group.key for group in answer.set_apart.values()}

    def is_apart(row: LevelRow) -> bool:
        return {group.key for group in (*row.groups, *row.bases)} <= apart

    rows = answer.series.rows if answer.series else []
    # Where nothing but what is not ranked was measured, that is told; unless such levels have ratios.
    are_compared = any(row.against.ratio is not None and is_apart(row) for row in rows)
    without = [row for row in rows if row.against.ratio is None and (are_compared or not is_apart(row))]
    told = {row.label for row, _ in answer.best_by_level}
    labels_by_reason = grouped((reason(row), row.label) for row in without if row.label not in told)
    of_told = grouped((reason(row).removeprefix("no ratio: "), row.label) for row in without if row.label in told)
    return " ".join([
        *([f"Left out: {gaps.with_reasons(labels_by_reason)}."] if labels_by_reason else []),
        *([f"No ratio at {gaps.with_reasons(of_told)}."] if of_told else []),
    ])  # fmt: skip


def missing_sentences(answer: Answer) -> list[str]:
    """What it takes to be sure; where nothing else is lacking, why claims are not decided."""
    if answer.sure or answer.lacking:
        return [words for each in answer.lacking for words in gaps.lacking_sentences([each])]
    open_ones = (REFUSED, Kind.TOO_FEW, Kind.UNDECIDED)
    amounts = ((claim.label, amount) for claim in answer.claims for _, amount in claim if isinstance(amount, Amount))
    reasons = ((why(amount), label) for label, amount in amounts if amount.verdict in open_ones)
    return gaps.of_curves((words, label) for words, label in reasons if words)


def with_words(claim: AnyClaim) -> AnyClaim:
    """The claim with its reasons in words, for the API."""
    words: dict[str, object] = {name: explained(amount) for name, amount in claim if isinstance(amount, Amount)}
    match claim:
        case LevelChange(ratio=Amount(basis=Contrast() as refused)):
            words["ratio"] = claim.ratio.model_copy(update={"why": f"no ratio: {gaps.refusal_words(refused)}"})
        case Standing(group=group) if group:
            words["lost"] = gaps.lost_words(group)
        case Loss():
            words["falls_off"] = with_words(claim.falls_off)
        case FallsOff(knee=knee) if knee and claim.at is None:
            words["why"] = gaps.knee_words(knee)
        case ScalesTo(law=law) if law:
            words["why_no_law"] = gaps.law_words(law, claim.levels)
    return claim.model_copy(update=words)


def explained(amount: Amount) -> Amount:
    """With its reason in words, for the API."""
    return amount.model_copy(update={"why": why(amount)})


def why(amount: Amount) -> str:
    """What its verdict says, or why there is none."""
    if isinstance(amount.basis, Verdict):
        return verdict_words(amount.basis)
    if isinstance(amount.basis, Contrast):
        return gaps.refusal_words(amount.basis)
    return gaps.lacking_words(amount.basis) if amount.basis else ""


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


# Numbers


def ratio(change: Amount) -> str:
    return "" if change.value is None else times_words(change.value, change.low, change.high)


def share(change: Amount) -> str:
    """−17.5 % (−20.1 to −15.0)."""
    if change.value is None:
        return "not known"
    ends = [change.low, change.high] if change.low is not None and change.high is not None else []
    return share_words([change.value, *ends])


def upward(change: Amount, better: str) -> Amount:
    """The better against the worse as a ratio above 1: what is lower by half is told as half of it elsewhere."""
    if better != "lower" or not change.value:
        return change
    low, high = (1 / change.high if change.high else None), (1 / change.low if change.low else None)
    return change.model_copy(update={"value": 1 / change.value, "low": low, "high": high})


def _no_ratios(refused: Mapping[str, Amount], of: int = 0) -> list[str]:
    """Why these have no ratio, each reason with what it is said of, but for one that holds of all `of` them."""
    labels_by_reason = grouped((why(change).removeprefix("no ratio: "), label) for label, change in refused.items())
    is_of_all = len(refused) == of and len(labels_by_reason) == 1
    return _first([
        f"No ratio{'' if is_of_all else f' of {gaps.names(labels)}'}: {reason}."
        for reason, labels in labels_by_reason.items()
    ], ".")  # fmt: skip


def _first(said: Sequence[str], end: str = "", most: int = MOST_CURVES) -> list[str]:
    """What is said of the first curves, and of how many more something is."""
    more = len(said) - most
    return [*said[:most], *([f"{more} more in the table{end}"] if more > 0 else [])]


# Which is best


def _ranking(answer: Answer) -> str:
    if answer.parts:
        leaders = listed([part.claims[0].label for part in answer.parts])
        return " ".join([f"No winner is named: {leaders} share no levels.", *map(_of_compared, answer.parts)])
    standings = [claim for claim in answer.claims if isinstance(claim, Standing)]
    first, *others = standings
    if not others:
        return ""
    open_ones = [claim for claim in others if claim.ratio.verdict not in WINNERS]
    words = _no_winner(answer, first, open_ones) if open_ones else _winner(answer, first, others)
    shown = [first, *(open_ones or others[:1])][: gaps.MOST_NAMED]
    lost_by_label = {each.label: gaps.lost_words(each.group) for each in shown if each.group}
    if answer.worse_by:
        label, worse = answer.worse_by
        words = f"{words} By {mid_sentence(label)} {first.label} is worse: {ratio(worse)} that of {others[0].label}."
    return " ".join([words, *(f"{label}: {lost}." for label, lost in lost_by_label.items() if lost)])


def _winner(answer: Answer, first: Standing, others: Sequence[Standing]) -> str:
    what, is_lower, second = mid_sentence(answer.metric_label), answer.better == "lower", others[0]
    is_of_groups = second.variants > 1 if answer.over else answer.ranked_at == "best"
    the_next, comma = _at_its_best(second) if is_of_groups else second.label, ""
    if len(others) > 1:
        the_next, comma = f"{the_next}, the next", ","
    words = ratio(upward(second.ratio, answer.better))
    if answer.over:
        subject = _at_its_best(first) if first.variants > 1 else first.label
        series = answer.series.turned if answer.series and is_lower else answer.series
        if parted := parted_words(series, answer.threshold):
            ratios, where, lie = parted
            if is_lower:
                return f"{subject} has the lowest {what} at {where}, where {the_next}{comma} has {ratios} of it; {lie}."
            return f"{subject} has {ratios} the {what} of {the_next}{comma} at {where}; {lie}."
        if is_lower:
            claim = f"{subject} has the lowest {what} over {answer.over}; {the_next}{comma} has {words} of it"
        else:
            claim = f"{subject} has {words} the {what} of {the_next}{comma} over {answer.over}"
        by_level = by_level_words(series)
        return f"{claim}: {by_level}." if by_level else f"{claim}."
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
    named = _amounts(answer, every)
    where = f" over {answer.over}" if answer.over else ", each at its best" if answer.ranked_at == "best" else ""
    if Kind.TOO_FEW in kinds:
        if answer.over:
            # Some levels of a series may have enough repeats: the verdict says what is lacking.
            claim = next(each for each in open_ones if each.ratio.verdict == Kind.TOO_FEW)
            return f"No winner is named{where}: {named}; {first.label} against {claim.label}: {why(claim.ratio)}."
        few = [each.label for each in every if each.n is not None and each.n < MIN_REPEATS]
        whose = "a group" if len(few) in (0, len(every)) else f"of {gaps.names(few)}"
        return f"No winner is named{where}, with fewer than {MIN_REPEATS} repeats {whose}: {named}."
    if REFUSED in kinds:
        where = where if not answer.series or answer.series.with_ratio else ""
        return f"No winner is named{where}: {named} may not all be set against each other."
    if none_at_all := _none_at_all(answer, every):
        return none_at_all
    if kinds <= NOT_APART:
        return f"No winner{where}: less than {percent_of(answer.threshold)} lie between {named}."
    return _undecided(answer, first, open_ones, where, named)


def _undecided(answer: Answer, first: Standing, open_ones: Sequence[Standing], where: str, named: str) -> str:
    # What takes the most repeats, which is all that it takes to be sure.
    undecided = [each for each in open_ones if each.ratio.verdict in (Kind.UNDECIDED, Kind.MIXED)]
    claim = max(undecided, key=lambda each: each.ratio.more_repeats or math.inf, default=open_ones[0])
    change, pair = claim.ratio, f"{first.label} against {claim.label}"
    if change.verdict == Kind.MIXED:
        return _no_single_number(answer)
    if answer.over and change.value is not None:
        return f"No winner{where}: {pair} {ratio(change)}, {why(change)}."
    says_side = why(change).partition(",")[0] in WINNERS
    of_pair = f"{pair} is " if says_side else "" if len(open_ones) == 1 else f"{pair}: "
    # No repeat decides between two names of one configuration.
    is_open = change.low is not None and not (isinstance(change.basis, Verdict) and change.basis.fewest is None)
    begin = f"No winner{where}" if not is_open else f"No winner yet{where}, repeats scatter too much"
    most = 1 + answer.threshold
    is_close = all(each.ratio.value and 1 / most < each.ratio.value < most for each in open_ones)
    spreads = [each.group.summary.cv for each in (first, *open_ones) if each.group and each.group.summary]
    if change.low is not None and is_close and all(cv is not None and cv < answer.threshold for cv in spreads):
        begin, named = f"No winner{where}", f"less than {percent_of(answer.threshold)} lie between the means of {named}"
    return f"{begin}: {named}; {of_pair}{why(change)}."


def _none_at_all(answer: Answer, standings: Sequence[Standing]) -> str:
    """Where less is better and some have none in any repeat: nothing is a multiple of it."""
    values = {each.label: each.group.judged for each in standings if each.group}
    none = [label for label, judged in values.items() if not any(judged)]
    others = [each for each in standings if each.label not in none]
    if answer.better != "lower" or not none or not others or min(min(values[each.label]) for each in others) <= 0:
        return ""
    return f"No ratio: {_nothing(answer, none)}, beside {_amounts(answer, others)}."


def _nothing(answer: Answer, none: Sequence[str]) -> str:
    have = "has" if len(none) == 1 else "have"
    return f"{gaps.names(none)} {have} {quantity(0, answer.unit)} in every repeat"


def _no_single_number(answer: Answer) -> str:
    if answer.best_by_level and sum(isinstance(claim, Standing) for claim in answer.claims) > 2:
        # More levels than those of the ratio of two, where one of these was not measured or came to nothing.
        levels = levels_words(len(answer.best_by_level), answer.held)
        return f"No single winner over {levels}: {best_at_words(answer.best_by_level)}."
    lower = " (lower is better)" if answer.better == "lower" else ""
    pair = f"{answer.first} against {answer.second}{lower} is {by_level_words(answer.series)}"
    number = "winner" if is_perhaps_noise(answer.series) else "single number"
    return f"No {number} over {answer.over}: {pair}."


def _amounts(answer: Answer, standings: Sequence[Standing]) -> str:
    groups = [each.group for each in standings if each.group]
    values, medians = _centres(groups) if len(groups) == len(standings) else ([each.centre for each in standings], "")
    amounts = [
        f"{each.label} ({quantity(value, answer.unit)})" if value is not None else each.label
        for each, value in zip(standings, values, strict=True)
    ]
    named = listed(amounts) if len(amounts) <= gaps.MOST_NAMED else f"{amounts[0]} and {len(amounts) - 1} others"
    return f"{named}{medians}"


def _centres(groups: Sequence[Group]) -> tuple[list[float | None], str]:
    """What stands for the repeats of groups that are told beside each other, and what it is called where it is no
    geometric mean: the medians of all, where some repeats of one come to 0 or less.
    """
    if any(any(group.values) and min(group.values) <= 0 for group in groups):
        return [group.median for group in groups], " as medians"
    return [group.centre for group in groups], ""


def _a_against_b(answer: Answer) -> str:
    first, *levels = [claim for claim in answer.claims if isinstance(claim, LevelChange)]
    change, what, where = first.ratio, mid_sentence(answer.metric_label), f" over {answer.over}" if answer.over else ""
    if change.verdict == Kind.MIXED:
        return _no_single_number(answer)
    of_levels = [level for level in levels if level.ratio.value is not None]
    if change.value is None and len(of_levels) == 1:
        (only,) = of_levels
        place = f"at {mid_sentence(only.label)}, the only level that has a ratio"
        return f"{answer.first} has {ratio(only.ratio)} the {what} of {answer.second} {place}: {why(only.ratio)}."
    if change.value is None:
        no_ratio = "no ratio, " if isinstance(change.basis, Contrast) else ""
        return f"{answer.first} against {answer.second}: {no_ratio}{why(change)}."
    if parted := parted_words(answer.series, answer.threshold):
        ratios, apart_at, lie = parted
        return f"{answer.first} has {ratios} the {what} of {answer.second} at {apart_at}; {lie}."
    words = f"{answer.first} has {ratio(change)} the {what} of {answer.second}{where}"
    return f"{words}: {(levels and by_level_words(answer.series)) or why(change)}."


# Along a curve


def _loss(answer: Answer) -> str:
    every = [claim for claim in answer.claims if isinstance(claim, Loss)]
    losses = [claim for claim in every if claim.change.value is not None]
    without = _no_ratios({claim.label: claim.change for claim in every if claim.change.value is None}, len(every))
    if not losses:
        return " ".join(without)
    spans = [from_to(claim.start, claim.end, answer.x) for claim in losses]
    levels = {claim.levels for claim in losses}
    changes = [f"{claim.label} {share(claim.change)}".strip() for claim in losses]
    is_one_span = len({(claim.start, claim.end) for claim in losses}) == 1
    if is_one_span or len(levels) == 1:
        if len(changes) > MOST_CURVES:
            changes = [f"{changes[0]} to {changes[-1]}, {len(losses)} curves"]
        # Engines store the same rows in more or fewer bytes.
        words = f"{joined(changes)} from {spans[0] if is_one_span else ' to '.join(levels.pop())}"
    else:
        words = "; ".join(_first([f"{change} from {span}" for change, span in zip(changes, spans, strict=True)]))
    lower = " (lower is better)" if answer.better == "lower" else ""
    of_turns = [claim for claim in losses if claim.falls_off.turns_at is not None]
    turned = [claim for claim in of_turns if claim.start < (claim.falls_off.turns_at or 0.0) < claim.end]
    turns = [f"{claim.label} {_turn(answer, claim.falls_off)}".strip() for claim in turned]
    between = f"; between them {joined(_first(turns))}" if turns else ""
    # Two lines that meet where the curve turns are no knee that it falls off at, but for one at the memory.
    bent = [each.falls_off for each in losses if each not in of_turns or _at_memory(each.falls_off)]
    return " ".join([f"{words}{lower}{between}{_and_falls_off(answer, bent)}.", *without])


def _turn(answer: Answer, claim: FallsOff) -> str:
    """Highest at 64 MB (2,500 TPS), not surely higher than at 128 MB."""
    at, than = place_words(claim.turns_at or 0.0, answer.x), not_surely_the_turn(claim, answer.x)
    return f"{claim.turn} at {at} ({quantity(claim.turns_to, answer.unit)}){than}"


def not_surely_the_turn(claim: FallsOff, x: Place) -> str:
    return not_surely("higher" if claim.turn == "highest" else "lower", claim.turns_alike, x)


def _and_falls_off(answer: Answer, claims: Sequence[FallsOff]) -> str:
    bent = [claim for claim in claims if claim.at is not None or claim.step]
    if not bent:
        return ""
    if len(bent) == len(claims) and len({claim.memory_words for claim in bent}) == 1 and all(map(_at_memory, bent)):
        subject = "it falls" if len(bent) == 1 else "both fall" if len(bent) == 2 else f"all {len(bent)} fall"
        return f"; {subject} off at {bent[0].memory_words}"
    knees = [f"{claim.label} {_knee(answer, claim)}".strip() for claim in bent if not claim.step]
    steps = [f"{claim.label} {step_between(claim, answer.x)}".strip() for claim in bent if claim.step]
    return "".join(f"; {name}: {joined(_first(each))}" for name, each in (("knee", knees), ("step", steps)) if each)


def _at_memory(claim: FallsOff) -> bool:
    """Whether the memory lies in its interval or next to it: an engine has not all of it for its pages."""
    low, high = claim.interval or (0.0, 0.0)
    return claim.memory is not None and low <= NEAR * claim.memory and claim.memory <= NEAR * high


def _knee(answer: Answer, claim: FallsOff) -> str:
    at = place_words(claim.at or 0.0, answer.x)
    if claim.interval is None:
        return at
    return f"{at} ({from_to(*claim.interval, answer.x, named=False)})"


def step_between(claim: FallsOff, x: Place) -> str:
    """−28.0 % (−29.1 to −26.9) from 17.3 to 21.6 GB; empty without a step."""
    return f"{share(claim.step)} from {from_to(*claim.interval, x)}" if claim.step and claim.interval else ""


def _falls_off(answer: Answer) -> str:
    def words(claim: FallsOff) -> str:
        memory = f", at {claim.memory_words}" if _at_memory(claim) else ""
        up_to, behind = ("rises", "falls") if claim.turn == "highest" else ("falls", "rises")
        there, it = ("these levels", "them") if claim.turns_alike else ("there", "it")
        return {
            "turn": f"{_turn(answer, claim)}: it {up_to} up to {there} and {behind} behind {it}" if claim.turn else "",
            "knee": f"knee at {_knee(answer, claim)}{memory}",
            "step": f"step of {step_between(claim, answer.x)}{memory}",
            "smooth": "falls off smoothly, without a knee",
            "undecided": "falls off, and whether at a knee or smoothly cannot be told",
            "none": f"no knee up to {place_words(claim.up_to or 0.0, answer.x)}",
        }[claim.shape]

    said = ((words(claim), claim.label) for claim in answer.claims if isinstance(claim, FallsOff))
    return " ".join(_first(gaps.of_curves(said), "."))


def _scales(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, ScalesTo)]
    extreme, more = ("least", "less") if answer.better == "lower" else ("most", "more")

    def most_at(claim: ScalesTo) -> str:
        # Whether it grows on behind the last level nobody has measured.
        return f"{place_words(claim.most_at, answer.x)}{', the last level that was measured' * claim.still_grows}"

    if len(claims) > 1 and all(claim.still_grows for claim in claims) and len({claim.most_at for claim in claims}) == 1:
        amounts = [f"{claim.label} ({quantity(claim.most, answer.unit)})" for claim in claims]
        subject = "Both" if len(claims) == 2 else f"All {len(claims)}"
        return f"{subject} have their {extreme} at {most_at(claims[0])}: {joined(_first(amounts))}."
    sentences = []
    for claim in claims:
        words = f"{claim.label or 'It'} has its {extreme} at {most_at(claim)}, {quantity(claim.most, answer.unit)}"
        if claim.peak_at is not None and claim.peak_measured and claim.peak_interval:
            peak = from_to(*claim.peak_interval, answer.x, named=False)
            words += f" (peak of the scaling law at {place_words(round(claim.peak_at), answer.x)}, {peak})"
        sentences.append(f"{words}{not_surely(more, claim.as_high, answer.x)}.")
    return " ".join(_first(sentences, "."))


def not_surely(more: str, alike: Sequence[float], x: Place) -> str:
    """Than at which levels; empty where it is surely the most. A table has the interval of each change by itself, and
    one level may surely be less there.
    """
    if not alike:
        return ""
    *levels, last = alike
    than = listed([*map(number, levels), place_words(last, x)])
    return f", with all levels judged together not surely {more} than at {than}"


# Settings


def _effects(answer: Answer) -> str:
    effects = [claim for claim in answer.claims if isinstance(claim, Effect)]
    small = [claim for claim in effects if claim.ratio.verdict in NOT_APART and not claim.ends]
    others = [claim for claim in effects if claim not in small]
    sentences = []
    for claim in others:
        words = share(as_share(claim.ratio)) if claim.ratio.value else ""
        if claim.ends:
            ends = " to ".join(f"{share(as_share(end.ratio))} with {end.beside}" for end in claim.ends)
            words = f"{ends}, on average {words}"
        elif claim.ratio.verdict not in WINNERS:
            words = "no ratio" if claim.ratio.verdict == REFUSED else words
            words = f"{words}, {why(claim.ratio)}" if words else why(claim.ratio)
        sentences.append(f"{claim.label} {claim.start} → {claim.end}: {words}{_besides(claim)}.")
    if small:
        told = {claim.label for claim in others}
        names = [f"{each.label} {each.start} → {each.end}" if each.label in told else each.label for each in small]
        of_small = listed([*dict.fromkeys(name + _besides(each) for name, each in zip(names, small, strict=True))])
        sentences.append(f"{of_small}: below {percent_of(answer.threshold)}.")
    return " ".join(sentences)


def _besides(claim: Effect) -> str:
    only_with = f" with {gaps.names(claim.only_with)} alone" if claim.only_with else ""
    return only_with + (f" ({gaps.names([mid_sentence(words) for words in claim.besides])})" if claim.besides else "")


# Over time


def _since(answer: Answer) -> str:
    steps = [claim for claim in answer.claims if isinstance(claim, Step)]
    not_settled = [claim for claim in steps if claim.is_suspected or claim.is_unsure]
    open_ones = _first([
        f"{f'{claim.label}: ' if claim.label else ''}{open_step(claim, answer.metric_label)}" for claim in not_settled
    ], ".")  # fmt: skip
    besides = [*open_ones, *filter(None, [_newer(answer)])]
    of_zero = _first([
        f"{_of_series(answer, claim)} {step(claim)} {_what_changed(claim)}"
        for claim in sorted(steps, key=lambda claim: claim.day, reverse=True) if claim.zero
    ], ".")  # fmt: skip
    steps = [claim for claim in steps if claim not in not_settled and not claim.zero]
    settled = sorted((claim for claim in steps if claim.day), key=lambda claim: claim.day, reverse=True)
    by_series = [*grouped((claim.label, claim) for claim in settled).values()]
    # Of series whose only step is of one day that is told once.
    alike = [last for last, *before in by_series[1:] if not before and last.day == settled[0].day]
    names = gaps.names([f"{each.label} {share(each.change)}" for each in alike])
    told = []
    for last, *before in by_series:
        if last not in alike:
            on_day = f" On the same day: {names}." if alike and last is settled[0] else ""
            told.append(f"{_of_series(answer, last)} {step(last)} {_what_changed(last)}{on_day}{_earlier(before)}")
    unchanged = ((_no_step(claim, answer.metric_label), claim.label) for claim in steps if not claim.day)
    no_step = _first(gaps.of_curves(unchanged), ".")
    return " ".join([*of_zero, *_first(told, "."), *no_step, *besides])


def _earlier(claims: Sequence[Step]) -> str:
    """What is told of the steps of a series before its last."""
    steps = sum(not claim.is_drift for claim in claims)
    drifted = [
        f"Before it {share(claim.change)} from {claim.day} on, a slow drift in {claim.batches} batches."
        for claim in claims if claim.is_drift
    ]  # fmt: skip
    more = [f"{steps} more step{'s' * (steps > 1)} before."] if steps else []
    return "".join(f" {words}" for words in [*drifted, *more])


def _of_series(answer: Answer, claim: Step) -> str:
    return f"{claim.label}: {mid_sentence(answer.metric_label)}" if claim.label else answer.metric_label


def _what_changed(claim: Step) -> str:
    """What was tested is named by the step itself."""
    if claim.is_drift:
        return "No batch stands out as its first."
    if not claim.besides:
        return f"Nothing {'else ' if claim.tested else ''}that was recorded changed."
    return f"{'Besides' if claim.tested else 'Changed there'}: {gaps.names(claim.besides)}."


def step(claim: Step) -> str:
    """−10.1 % (−10.7 to −9.5) since 2026-11-01 (0dfa28901d), against the 42 batches before: worse. Above 0 in 20
    batches since 2026-11-10, 0 in each repeat of the 40 before: worse.
    """
    if not claim.day:
        return f"{_no_step(claim).capitalize()}."
    day = f"{claim.day} ({claim.tested})" if claim.tested else claim.day
    since = f"since {day}" if claim.is_last else f"from {day} on"
    side = f": {claim.change.verdict}" if claim.change.verdict in ("better", "worse") else ""
    expected = " It was said to be expected." if claim.is_expected else ""
    if claim.zero:
        at_zero, above = "0 in each repeat of", "above 0 in"
        own, before = (above, at_zero) if claim.zero == "from" else (at_zero, above)
        counted = f"{own} {claim.batches} batches {since}, {before} the {claim.batches_before} before"
        return f"{counted}{side}.{expected}"
    of = f"against the {claim.batches_before} batches before" if claim.batches_before else f"in {claim.batches} batches"
    of = f"a slow drift {of}" if claim.is_drift else of
    first, last = claim.days_near or (claim.day, claim.day)
    perhaps = f" It may have begun on any day from {first} to {last}." if first < last else ""
    back = f" That is nearly the level of before {claim.back_to}." if claim.back_to else ""
    return f"{share(claim.change)} {since}, {of}{side}.{expected}{back}{perhaps}"


def to_or_from_zero(is_to_zero: bool) -> str:
    """A change from zero or to it, where others have their share."""
    return "to 0" if is_to_zero else "from 0"


def open_words(claim: Step) -> str:
    """What a step is that is not settled; empty of others."""
    return SUSPECTED if claim.is_suspected else NOT_YET_SURE if claim.is_unsure else ""


def open_step(claim: Step, metric_label: str) -> str:
    """Suspected: throughput −15.8 % since 2026-11-24, against the 14 batches before: worse."""
    return f"{open_words(claim).capitalize()}: {mid_sentence(metric_label)} {step(claim)}"


def _no_step(claim: Step, metric_label: str = "") -> str:
    of = f" of {mid_sentence(metric_label)}" if metric_label else ""
    least = f" {'by' if of else 'of'} {percent_of(claim.threshold)} or more" if claim.threshold else ""
    lasted = f"over {claim.days} days" if claim.days > 1 else "of one day"
    return f"no lasting change{of}{least} in {claim.batches} batches {lasted}"


def _newer(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, Newer)]
    # What is sure comes first.
    claims.sort(key=lambda claim: claim.ratio.verdict not in WINNERS)
    return " ".join(_first([newest_words(claim, answer.metric_label) for claim in claims], "."))


def newest_words(claim: Newer, metric_label: str) -> str:
    day, _, tested = claim.newest.partition(" · ")
    batch = f"the batch of {day}{f' ({tested})' if tested else ''}"
    subject = f"{claim.label}: {batch}" if claim.label else f"{batch[:1].upper()}{batch[1:]}"
    kind, _, value = claim.of.partition(":")
    batches = f"the {claim.batches} batches" if claim.batches > 1 else "the batch"
    before = f"{batches} {_NAMED[kind]} {value}" if kind in _NAMED else f"{batches} before it"
    reason = why(claim.ratio)
    if claim.ratio.value is None:
        is_refused = claim.ratio.verdict in (REFUSED, Kind.TOO_FEW)
        return f"{subject} against {before}{': no ratio, ' if is_refused else ' is '}{reason}."
    words = f": {reason}" if reason else ""
    return f"{subject} has {ratio(claim.ratio)} the {mid_sentence(metric_label)} of {before}{words}."


# Beside what is printed, and what differs


def _published(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, Published)]
    told = [claim for claim in claims if claim.ratio.value is not None]
    refused = {f"{claim.label} to {claim.beside}": claim.ratio for claim in claims if claim.ratio.value is None}
    ratios = [f"{claim.label}: {ratio(claim.ratio)} of what is printed of {claim.beside}." for claim in told]
    return " ".join([*_first(ratios, ".", gaps.MOST_NAMED), *_no_ratios(refused)])


def _changed(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, Changed)]
    return f"They differ in {gaps.names([f'{claim.label} ({claim.a} against {claim.b})' for claim in claims])}."


# Questions


def question_words(answer: Answer) -> str:
    """The question as a person asks it."""
    question, metric = answer.question, mid_sentence(answer.metric_label)
    extreme = "lowest" if answer.better == "lower" else "highest"
    over = f" over {mid_sentence(answer.x_label)}" if answer.x_label else ""
    if question.kind == asked.LOSS:
        if question.start is not None and question.end is not None:
            over = f" from {from_to(question.start, question.end, answer.x)}"
        # The same before and after it is answered; nobody loses by more workers.
        is_loss = answer.x_kind in ("", SIZE) and not answer.is_gain
        begin = "What is lost" if is_loss else f"How does {metric or 'it'} change"
        return f"{begin}{over}?"
    if question.kind == asked.NEWER:
        return f"Is the newest batch worse than {baseline_words(question.than)}?"
    scales = f"How far does it scale{over or ' over terminals'}?"
    if answer.x_label and answer.x_kind != CLIENT:
        scales = f"At which {mid_sentence(answer.x_label)} is {metric or 'it'} {extreme}?"
    words = {
        asked.FALLS_OFF: f"Where does it fall off{over}?",
        asked.SCALES: scales,
        asked.EFFECTS: "What did each setting do?",
        asked.LOAD: f"Which {gaps.thing_words('dbms', answer.versions_of)} loads fastest?",
        asked.SINCE: f"Has {f'the {metric}' if metric else answer.first or 'it'} changed, and since when?",
        asked.PUBLISHED: "How does it compare with what is published?",
        asked.CHANGED: "What differs between these two?",
        asked.A_B: f"How does {answer.first} compare with {answer.second}?" if answer.first else "How do two compare?",
    }
    if question.kind in words:
        return words[question.kind]
    # Best and rank. Nobody asks which size of a value is best: each is a question of its own.
    asks = question.fact.startswith(FACTOR) and factor_role(question.fact.removeprefix(FACTOR)) == Role.QUESTION
    if metric and (answer.better == "none" or (asks and any(missing.kind == "order" for missing in answer.lacking))):
        return f"How do they differ in {metric}?"
    is_best = f"has the {extreme} {metric}" if metric else "is best"
    where = {"": "", "best": " at its best", "equal_levels": f" {equal_words(answer.held)}"}[answer.ranked_at]
    return f"Which {gaps.thing_words(question.fact, answer.versions_of)} {is_best}{where}, and is it sure?"


def baseline_words(than: str) -> str:
    """A baseline, as read by `runs.compare.baseline.Baseline`, beside the batch that is set against it."""
    kind, _, value = than.partition(":")
    if kind in _NAMED:
        return f"those {_NAMED[kind]} {value}"
    return {"last": f"the {value} before it", "days": f"those of {value} days before"}.get(kind, "those before it")


_SAYS: Mapping[type[Claim], Callable[[Answer], str]] = {
    Standing: _ranking, LevelChange: _a_against_b, Loss: _loss, FallsOff: _falls_off, ScalesTo: _scales,
    Effect: _effects, Step: _since, Newer: _newer, Published: _published, Changed: _changed,
}  # fmt: skip
