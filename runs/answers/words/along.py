"""What is said along a curve: what is lost, where it falls off, how far it scales."""

from __future__ import annotations

from collections.abc import Sequence

from runs.answers.answer import Amount, Answer, FallsOff, Loss, ScalesTo
from runs.answers.places import Place, from_to, place_words
from runs.answers.words import gaps
from runs.answers.words.gaps import MOST_CURVES, first_of
from runs.answers.words.verdicts import no_ratios, share
from runs.formatting import joined, listed, number, percent, quantity, share_words
from runs.stats import MIN_REPEATS

# How far beside the memory a knee may lie and be told to be there.
NEAR_THE_MEMORY = 1.1


def loss(answer: Answer) -> str:
    every = [claim for claim in answer.claims if isinstance(claim, Loss)]
    losses = [claim for claim in every if claim.change.value is not None]
    without = no_ratios({claim.label: claim.change for claim in every if claim.change.value is None}, len(every))
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
        words = "; ".join(first_of([f"{change} from {span}" for change, span in zip(changes, spans, strict=True)]))
    lower = " (lower is better)" if answer.better == "lower" else ""
    of_turns = [claim for claim in losses if claim.falls_off.turns_at is not None]
    turned = [claim for claim in of_turns if claim.start < (claim.falls_off.turns_at or 0.0) < claim.end]
    turns = [f"{claim.label} {_turn(answer, claim.falls_off)}".strip() for claim in turned]
    between = f"; between them {joined(first_of(turns))}" if turns else ""
    # Two lines that meet where the curve turns are no knee that it falls off at, but for one at the memory.
    bent = [each.falls_off for each in losses if each not in of_turns or _falls_at_memory(each.falls_off)]
    return " ".join([f"{words}{lower}{between}{_and_falls_off(answer, bent)}.", *_without_interval(losses), *without])


def _without_interval(losses: Sequence[Loss]) -> list[str]:
    """That losses are of ends that have too few repeats, and of which of them no change is sure by all levels."""
    bare = [claim for claim in losses if claim.change.low is None and claim.change.value not in (None, -1.0)]
    if not bare:
        return []
    of = f" of {joined(first_of([claim.label for claim in bare]))}" if len(bare) < len(losses) else ""
    unsure = [
        (f"no change is sure, by one fit over all levels: {pace_words(pace)}", claim.label)
        for claim in bare if (pace := claim.falls_off.per_doubling) and (pace.low or 0.0) <= 0 <= (pace.high or 0.0)
    ]  # fmt: skip
    few = f"The ends{of} have no interval, of fewer than {MIN_REPEATS} repeats each."
    return [few, *first_of(gaps.of_curves(unsure))]


def pace_words(change: Amount) -> str:
    """−0.6 % per doubling (−1.7 to +0.4)."""
    return share_words([each for each in (change.value, change.low, change.high) if each is not None], " per doubling")


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
    all_fall = len(bent) == len(claims) and all(map(_falls_at_memory, bent))
    if all_fall and len({claim.memory_words for claim in bent}) == 1:
        subject = "it falls" if len(bent) == 1 else "both fall" if len(bent) == 2 else f"all {len(bent)} fall"
        return f"; {subject} off at {bent[0].memory_words}"
    knees = [f"{each.label} {knee_place(each.at, each.interval, answer.x)}".strip() for each in bent if not each.step]
    steps = [f"{claim.label} {step_between(claim, answer.x)}".strip() for claim in bent if claim.step]
    # Of what is silent beside them a reader would take the loss for even.
    neither = [claim.label for claim in claims if claim not in bent]
    kinds = (("knee", knees), ("step", steps), ("no sure knee", neither))
    return "".join(f"; {name}: {joined(first_of(each))}" for name, each in kinds if each)


def _at_memory(claim: FallsOff) -> bool:
    """Whether the memory lies in its interval or next to it: an engine has not all of it for its pages."""
    low, high = claim.interval or (0.0, 0.0)
    return claim.memory is not None and low <= NEAR_THE_MEMORY * claim.memory and claim.memory <= NEAR_THE_MEMORY * high


def _falls_at_memory(claim: FallsOff) -> bool:
    return claim.falls and _at_memory(claim)


def knee_place(at: float | None, interval: tuple[float, float] | None, x: Place) -> str:
    near = f" ({from_to(*interval, x, named=False)})" if interval else ""
    return f"{place_words(at or 0.0, x)}{near}"


def paces(before: float | None, after: float | None, first: str = "before", last: str = "after") -> str:
    return f"{share_words([before or 0.0])} per doubling {first}, {share_words([after or 0.0])} {last}"


def step_between(claim: FallsOff, x: Place) -> str:
    """−28.0 % (−29.1 to −26.9) from 17.3 to 21.6 GB; empty without a step."""
    return f"{share(claim.step)} from {from_to(*claim.interval, x)}" if claim.step and claim.interval else ""


def falls_off(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, FallsOff)]
    said = (
        ("; ".join(filter(None, (_shape(answer, claim), kept_words(claim, answer.x)))), claim.label) for claim in claims
    )
    return " ".join(first_of(gaps.of_curves(said), "."))


def _shape(answer: Answer, claim: FallsOff) -> str:
    x, memory = answer.x, f", at {claim.memory_words}" if _at_memory(claim) else ""
    if claim.turn:
        up_to, behind = ("rises", "falls") if claim.turn == "highest" else ("falls", "rises")
        there, it = ("these levels", "them") if claim.turns_alike else ("there", "it")
        return f"{_turn(answer, claim)}: it {up_to} up to {there} and {behind} behind {it}"
    if claim.shape == "knee":
        return f"knee at {knee_place(claim.at, claim.interval, x)}{memory}: {paces(claim.before, claim.after)}"
    if claim.shape == "step":
        return f"step of {step_between(claim, x)}{memory}"
    if claim.shape == "smooth" and claim.knee:
        at_ends = paces(claim.knee.before, claim.knee.after, "at first", "at last")
        return f"falls off smoothly, without a knee: {at_ends}"
    undecided = "falls off, and whether at a knee or smoothly cannot be told"
    return undecided if claim.shape == "undecided" else _without_bend(answer, claim)


def _without_bend(answer: Answer, claim: FallsOff) -> str:
    x, pace, scales, last = answer.x, claim.per_doubling, claim.scales, place_words(claim.up_to or 0.0, answer.x)
    if claim.evenly and pace:
        falls = "falls" if (pace.value or 0.0) < 0 else "rises"
        return f"{falls} evenly, without a knee: {pace_words(pace)} up to {last}"
    # What levels off, or is linear, falls off nowhere: as it is told how far it scales.
    if scales and scales.flat:
        return f"levels off: {flat_words(scales, answer.unit, x)}"
    return f"linear up to {place_words(scales.last, x)}" if scales and scales.linear else f"no knee up to {last}"


def kept_words(claim: FallsOff, x: Place) -> str:
    """Up to which offered rate the throughput is as high; empty of another axis."""
    if claim.kept is None:
        return ""
    return f"the offered rate is kept up to {place_words(claim.kept, x)}" if claim.kept else "no offered rate is kept"


def scales(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, ScalesTo)]
    extreme, more = ("least", "less") if answer.better == "lower" else ("most", "more")

    def most_at(claim: ScalesTo) -> str:
        # Whether it grows on behind the last level nobody has measured.
        return f"{place_words(claim.most_at, answer.x)}{', the last level that was measured' * claim.still_grows}"

    if len(claims) > 1 and all(claim.still_grows for claim in claims) and len({claim.most_at for claim in claims}) == 1:
        amounts = [f"{claim.label} ({quantity(claim.most, answer.unit)}{_linear(claim)})" for claim in claims]
        subject = "Both" if len(claims) == 2 else f"All {len(claims)}"
        return f"{subject} have their {extreme} at {most_at(claims[0])}: {joined(first_of(amounts))}."
    sentences = []
    for claim in claims:
        name = claim.label or "It"
        if claim.flat:
            sentences.append(f"{name} levels off: {flat_words(claim, answer.unit, answer.x)}.")
            continue
        words = f"{name} has its {extreme} at {most_at(claim)}, {quantity(claim.most, answer.unit)}{_linear(claim)}"
        if claim.peak_at is not None and claim.peak_measured and claim.peak_interval:
            peak = from_to(*claim.peak_interval, answer.x, named=False)
            words += f" (peak of the scaling law at {place_words(round(claim.peak_at), answer.x)}, {peak})"
        sentences.append(f"{words}{not_surely_the_most(claim, answer.x, more)}.")
    return " ".join(first_of(sentences, "."))


def _linear(claim: ScalesTo) -> str:
    return f", linear: {percent(claim.efficiency_at_most or 0.0)} of ideal" if claim.linear else ""


def flat_words(claim: ScalesTo, unit: str, x: Place) -> str:
    """From 32 terminals on 17,400 to 18,041 TPS."""
    least, most = claim.flat or (0.0, 0.0)
    span = f"from {place_words(claim.flat_from or 0.0, x)} on {number(least)} to {quantity(most, unit)}"
    return f"{span} up to {place_words(claim.last, x)}, with all levels judged together none surely the most"


def not_surely_the_most(claim: ScalesTo, x: Place, more: str = "more") -> str:
    """Than at which levels of enough repeats; of a most that has too few itself nothing is judged."""
    if claim.most_at in claim.few_repeats:
        count = claim.repeats_at_most
        return f", of {count} repeat{'s' if count > 1 else ''} only, so that it is judged against no level"
    return not_surely(more, [at for at in claim.as_high if at not in claim.few_repeats], x)


def not_surely(more: str, alike: Sequence[float], x: Place) -> str:
    """Than at which levels; empty where it is surely the most. A table has the interval of each change by itself, and
    one level may surely be less there.
    """
    if not alike:
        return ""
    *levels, last = alike
    than = listed([*map(number, levels), place_words(last, x)])
    return f", with all levels judged together not surely {more} than at {than}"
