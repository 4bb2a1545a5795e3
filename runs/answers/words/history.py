"""What is said over time: since when something has changed, and of the newest batch."""

from __future__ import annotations

from collections.abc import Sequence

from runs.answers.answer import REFUSED, Answer, Newer, Step
from runs.answers.words import gaps
from runs.answers.words.gaps import first_of
from runs.answers.words.verdicts import ratio, share, why
from runs.formatting import few_listed, grouped, mid_sentence, percent_of
from runs.stats import WINNERS, Kind

# Batches by what a baseline names them by.
_NAMED = {"label": "labelled", "commit": "of commit", "version": "of version"}
# What a step is called that is not settled, wherever it is told.
SUSPECTED = "suspected"
UNSETTLED: dict[str, str] = {Kind.UNDECIDED: "not yet sure", Kind.TOO_SMALL: "too small"}


def since(answer: Answer) -> str:
    steps = [claim for claim in answer.claims if isinstance(claim, Step)]
    not_settled = [claim for claim in steps if not claim.is_settled]
    open_ones = first_of([
        f"{f'{claim.label}: ' if claim.label else ''}{open_step(claim, answer.metric_label)}" for claim in not_settled
    ], ".")  # fmt: skip
    besides = [*open_ones, *filter(None, [newer(answer)])]
    of_zero = first_of([
        f"{_of_series(answer, claim)} {step(claim)} {_what_changed(claim)}"
        for claim in sorted(steps, key=lambda claim: claim.day, reverse=True) if claim.zero
    ], ".")  # fmt: skip
    steps = [claim for claim in steps if claim not in not_settled and not claim.zero]
    settled = sorted((claim for claim in steps if claim.day), key=lambda claim: claim.day, reverse=True)
    by_series = [*grouped((claim.label, claim) for claim in settled).values()]
    # Of series whose only step is of one day that is told once.
    alike = [last for last, *before in by_series[1:] if not before and last.day == settled[0].day]
    names = few_listed([f"{each.label} {share(each.change)}" for each in alike])
    told = []
    for last, *before in by_series:
        if last not in alike:
            on_day = f" On the same day: {names}." if alike and last is settled[0] else ""
            told.append(f"{_of_series(answer, last)} {step(last)} {_what_changed(last)}{on_day}{_earlier(before)}")
    unchanged = ((_no_step(claim, answer.metric_label), claim.label) for claim in steps if not claim.day)
    no_step = first_of(gaps.of_curves(unchanged), ".")
    return " ".join([*of_zero, *first_of(told, "."), *no_step, *besides])


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
    return f"{'Besides' if claim.tested else 'Changed there'}: {few_listed(claim.besides)}."


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
    return SUSPECTED if claim.is_suspected else UNSETTLED.get(claim.change.verdict, "")


def open_step(claim: Step, metric_label: str) -> str:
    """Suspected: throughput −15.8 % since 2026-11-24, against the 14 batches before: worse. Surely there, below the
    10 % that matter: p99 latency +8.4 % (+7.6 to +9.2) since 2026-11-04, against the 9 batches before.
    """
    words = open_words(claim).capitalize()
    if claim.change.verdict == Kind.TOO_SMALL:
        words = f"Surely there, below the {percent_of(claim.threshold)} that matter"
    return f"{words}: {mid_sentence(metric_label)} {step(claim)}"


def _no_step(claim: Step, metric_label: str = "") -> str:
    of = f" of {mid_sentence(metric_label)}" if metric_label else ""
    least = f" {'by' if of else 'of'} {percent_of(claim.threshold)} or more" if claim.threshold else ""
    lasted = f"over {claim.days} days" if claim.days > 1 else "of one day"
    return f"no lasting change{of}{least} in {claim.batches} batches {lasted}"


def newer(answer: Answer) -> str:
    claims = [claim for claim in answer.claims if isinstance(claim, Newer)]
    # What is sure comes first.
    claims.sort(key=lambda claim: claim.ratio.verdict not in WINNERS)
    told = first_of([newest_words(claim, answer.metric_label) for claim in claims], ".")
    family = max((claim.family for claim in claims if claim.ratio.low is not None), default=1)
    wider = f"Of {family} series that are judged together each interval is wider than of one that is asked alone."
    return " ".join([*told, wider] if family > 1 else told)


def newest_words(claim: Newer, metric_label: str) -> str:
    day, _, tested = claim.newest.partition(" · ")
    batch = f"the batch of {day}{f' ({tested})' if tested else ''}"
    subject = f"{claim.label}: {batch}" if claim.label else f"{batch[:1].upper()}{batch[1:]}"
    kind, _, value = claim.of.partition(":")
    batches = f"the {claim.batches} batches" if claim.batches > 1 else "the batch"
    before = f"{batches} {_NAMED[kind]} {value}" if kind in _NAMED else f"{batches} before it"
    if claim.before_change:
        before += f" since the change of {claim.since}, without {claim.before_change} from before that"
    if claim.by_repeats:
        before += ", by the repeats of each"
    reason = why(claim.ratio)
    if claim.ratio.value is None:
        is_refused = claim.ratio.verdict in (REFUSED, Kind.TOO_FEW)
        return f"{subject} against {before}{': no ratio, ' if is_refused else ' is '}{reason}."
    words = f": {reason}" if reason else ""
    return f"{subject} has {ratio(claim.ratio)} the {mid_sentence(metric_label)} of {before}{words}."


def baseline_words(than: str) -> str:
    """A baseline, as read by `runs.compare.baseline.Baseline`, beside the batch that is set against it."""
    kind, _, value = than.partition(":")
    if kind in _NAMED:
        return f"those {_NAMED[kind]} {value}"
    last = "the batch before it" if value == "1" else f"the {value} before it"
    return {"last": last, "days": f"those of {value} days before"}.get(kind, "those before it")
