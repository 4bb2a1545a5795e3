"""What answers say: the one place where sentences about numbers are made, from the fields of an answer alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runs.answers.answer import REFUSED, Amount, Answer, AnyClaim, FallsOff, LevelChange, Loss, ScalesTo, Standing
from runs.answers.ask import answer_of
from runs.answers.words import gaps
from runs.answers.words.along import falls_off, loss, scales
from runs.answers.words.history import newer, since
from runs.answers.words.pairs import a_against_b, changed, effects, published
from runs.answers.words.ranking import centres, levels_without_ratio, no_winner, ranking
from runs.answers.words.verdicts import best_at_words, explained, why
from runs.compare import asked
from runs.compare.comparison import Comparison
from runs.compare.groups import Contrast
from runs.formatting import few_listed, grouped, joined, listed, mid_sentence, quantity
from runs.stats import Kind

# What is told of a ranking and of a pair beside their claims.
_ALWAYS_TOLD = frozenset({"to_come", "one_configuration", "other_systems", "unmeasured_most"})


def headline(comparison: Comparison) -> str:
    """The answer in words, and what is pooled on request and not compared; empty where nothing may be said."""
    answer = answer_of(comparison)
    return sentence(answer, is_asked=bool(answer.claims or comparison.question.kind))


def sentence(answer: Answer, *, is_asked: bool = True) -> str:
    """The answer in words; where there is none, what is missing, and what stands apart; what names of configurations do
    not say, what is pooled, and what is not compared. What nobody asked for is not said to be missing.
    """
    qualified = (gaps.unsaid_words(answer.unsaid), answer.pooled, gaps.beyond_words(answer.beyond))
    return " ".join(filter(None, (_of_compared(answer) if is_asked else "", *qualified)))


def _of_compared(answer: Answer) -> str:
    """Without what is pooled and what is not compared."""
    words = _SAYS[answer.claims[0].kind](answer) if answer.claims else ""
    if answer.parts:
        parted = answer.lacking[0]
        none = f"{no_winner(answer)} is named: {parted.of} have {gaps.lacking_words(parted)}."
        words = " ".join([none, *map(_of_compared, answer.parts)])
    lost = {label: joined(map(gaps.lacking_words, answer.lost.get(label, []))) for label in answer.unranked}
    few = grouped((lost[label] or "fewer than two levels in common with the others", label) for label in lost)
    unranked = gaps.with_reasons(gaps.set_apart_words(answer) | few)
    # Who names two asks of nobody else.
    is_of_named = any(missing.kind in ("value_of", "unknown", "which") for missing in answer.lacking)
    apart = f"Not ranked: {unranked}." if unranked and not is_of_named else ""
    if not words:
        values, medians = centres(answer.without_order)
        amounts = [
            f"{quantity(value, answer.unit)} of {group.label}"
            for group, value in zip(answer.without_order, values, strict=True)
        ]
        beside = f"{answer.metric_label} is {few_listed(amounts)}{medians}." if amounts else ""
        return " ".join(filter(None, [*gaps.lacking_sentences(answer.lacking), beside, apart]))
    # What there is no claim of is told as well: nothing is left out without a word.
    of_curves = answer.question.kind in (*asked.OF_CURVES, *asked.OF_DATES, asked.EFFECTS)
    untold = [missing for missing in answer.lacking if of_curves or missing.kind in _ALWAYS_TOLD]
    # Where the newest batch has no value, what is said is of one before it.
    newest = [missing for missing in untold if (answer.question.kind, missing.kind) == (asked.NEWER, "no_value")]
    others = [missing for missing in untold if missing not in newest]
    # A winner over levels may have come to nothing, or not have been measured, where another is the best; and so may
    # the two of which none is.
    is_said = all(each.best in words for each in answer.best_by_level)
    is_untold = answer.best_by_level and (answer.sure or not answer.over or not is_said)
    by_level = best_at_words(answer.best_by_level) if is_untold else ""
    places = joined(map(mid_sentence, answer.alike_in))
    differing = gaps.differing_words(answer.differing)
    return " ".join(filter(None, [
        *gaps.lacking_sentences(newest),
        words,
        f"Level by level, {by_level}." if by_level else "",
        f"This is of {places} alone, where each was measured." if places else "",
        levels_without_ratio(answer),
        apart,
        *gaps.lacking_sentences(others),
        f"Not alike: {differing}." if differing else "",
    ]))  # fmt: skip


def missing_sentences(answer: Answer) -> list[str]:
    """What it takes to be sure; where nothing else is lacking, why claims are not decided."""
    said = [words for each in answer.lacking for words in gaps.lacking_sentences([each])]
    if answer.sure or any(missing.kind not in ("unmeasured", "other_systems") for missing in answer.lacking):
        return said
    open_ones = (REFUSED, Kind.TOO_FEW, Kind.UNDECIDED)
    amounts = ((claim.label, amount) for claim in answer.claims for _, amount in claim if isinstance(amount, Amount))
    reasons = ((why(amount), label) for label, amount in amounts if amount.verdict in open_ones)
    return [*said, *gaps.of_curves((words, label) for words, label in reasons if words)]


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


# By the kind of their first claim.
_SAYS: Mapping[str, Callable[[Answer], str]] = {
    "standing": ranking, "level": a_against_b, "loss": loss, "falls_off": falls_off, "scales": scales,
    "effect": effects, "step": since, "newer": newer, "published": published, "claimed": published,
    "changed": changed,
}  # fmt: skip
