"""What is said of one against another, of settings, of what is published beside what is here, and of what differs."""

from __future__ import annotations

from runs.answers.answer import REFUSED, Answer, Changed, Claimed, Effect, LevelChange, Published, as_share
from runs.answers.words.gaps import first_of
from runs.answers.words.ranking import no_single_number
from runs.answers.words.verdicts import NOT_APART, by_level_words, no_ratios, parted_words, ratio, share, why
from runs.compare.groups import Contrast
from runs.formatting import MOST_IN_A_SENTENCE, THIN, few_listed, listed, mid_sentence, percent_of
from runs.stats import WINNERS, Kind


def a_against_b(answer: Answer) -> str:
    first, *levels = [claim for claim in answer.claims if isinstance(claim, LevelChange)]
    change, what, where = first.ratio, mid_sentence(answer.metric_label), f" over {answer.over}" if answer.over else ""
    if change.verdict == Kind.MIXED:
        return no_single_number(answer)
    of_levels = [level for level in levels if level.ratio.value is not None]
    if change.value is None and len(of_levels) == 1:
        (only,) = of_levels
        place = f"at {mid_sentence(only.label)}, the only level that has a ratio"
        return f"{answer.first} has {ratio(only.ratio)} the {what} of {answer.second} {place}: {why(only.ratio)}."
    if change.value is None:
        no_ratio = "no ratio, " if isinstance(change.basis, Contrast) else ""
        return f"{answer.first} against {answer.second}: {no_ratio}{why(change)}."
    if parted := parted_words(answer.series, answer.threshold):
        claim = f"{answer.first} has {parted.ratios} the {what} of {answer.second} ({parted.kind})"
        return f"{claim} at {parted.at}; {parted.others}."
    words = f"{answer.first} has {ratio(change)} the {what} of {answer.second}{where}"
    return f"{words}: {(levels and by_level_words(answer.series)) or why(change)}."


def effects(answer: Answer) -> str:
    effects = [claim for claim in answer.claims if isinstance(claim, Effect)]
    small = [claim for claim in effects if claim.ratio.verdict in NOT_APART and not claim.ends]
    others = [claim for claim in effects if claim not in small]
    sentences = []
    for claim in others:
        is_refused = claim.ratio.verdict == REFUSED
        has_verdict = not claim.ends and claim.ratio.verdict not in WINNERS
        change = share(as_share(claim.ratio), with_verdict=has_verdict) if claim.ratio.value else ""
        words = "no ratio" if is_refused else change
        if claim.ends:
            ends = " to ".join(f"{share(as_share(end.ratio))} with {end.beside}" for end in claim.ends)
            words = f"{ends}, on average {words}"
        words = (words + _besides(claim)).strip()
        if has_verdict:
            words = ", ".join(filter(None, [words, why(claim.ratio)]))
        sentences.append(f"{claim.label} {claim.start} → {claim.end}: {words}.")
    if small:
        told = {claim.label for claim in others}
        names = [f"{each.label} {each.start} → {each.end}" if each.label in told else each.label for each in small]
        of_small = listed([*dict.fromkeys(name + _besides(each) for name, each in zip(names, small, strict=True))])
        sentences.append(f"{of_small}: below {percent_of(answer.threshold)}.")
    return " ".join(sentences)


def _besides(claim: Effect) -> str:
    only_with = f" with {few_listed(claim.only_with)} alone" if claim.only_with else ""
    return only_with + (f" ({few_listed([mid_sentence(words) for words in claim.besides])})" if claim.besides else "")


def published(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, Published)]
    told = [claim for claim in claims if claim.ratio.value is not None]
    refused = {
        claim.label if claim.mean is None else f"{claim.label} to {claim.beside}": claim.ratio
        for claim in claims
        if claim.ratio.value is None
    }
    ratios = [f"{claim.label}: {ratio(claim.ratio)} of what is printed of {claim.beside}." for claim in told]
    claimed = [
        f"{claim.label}: {ratio(claim.ratio)} of {claim.beside}, where {claim.claimed:.3g}{THIN}× is claimed."
        for claim in answer.claims
        if isinstance(claim, Claimed) and claim.ratio.value is not None
    ]
    return " ".join([
        *first_of(ratios, ".", MOST_IN_A_SENTENCE), *first_of(claimed, ".", MOST_IN_A_SENTENCE), *no_ratios(refused),
    ])  # fmt: skip


def changed(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, Changed)]
    return f"They differ in {few_listed([f'{claim.label} ({claim.a} against {claim.b})' for claim in claims])}."
