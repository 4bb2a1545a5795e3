"""How benchmarks and alerts are named. Sentences about numbers are made in `runs.answers.words`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time

from benchagent.catalog import Durability

from runs.answers.answer import Amount, Step
from runs.answers.history import batches_apart, unsure_verdict
from runs.answers.words.history import SUSPECTED, open_step, open_words, step, to_or_from_zero
from runs.answers.words.verdicts import share, why
from runs.compare.asked import Missing
from runs.formatting import listed, mid_sentence
from runs.history.causes import OWN_OF_A_BATCH, commit_given
from runs.models import Alert, ChangePoint, SeriesBatch
from runs.models.choices import BEGIN_WITH_A_BATCH, SHORT_DURABILITY, ChangeKind, ChangeState
from runs.run.facets import SHORT_COMMIT
from runs.stats import Interval


def tested_of(row: SeriesBatch) -> str:
    return " · ".join(filter(None, (row.build, row.commit[:SHORT_COMMIT])))


def moments(rows: Sequence[SeriesBatch]) -> list[str]:
    """When each of these was measured: its day, and its time where several are of one day."""
    days = Counter(row.measured_at.date() for row in rows)
    return [moment_words(row.measured_at, is_alone=days[row.measured_at.date()] == 1) for row in rows]


def moment_words(at: datetime, *, is_alone: bool) -> str:
    """One of which the day alone is known stands at midnight."""
    with_time = not is_alone and at.astimezone(UTC).time() != time.min
    return f"{at:%Y-%m-%d %H:%M}" if with_time else f"{at:%Y-%m-%d}"


def apart_of(rows: Sequence[tuple[SeriesBatch, float]]) -> list[Missing]:
    """Those that a baseline does without, by their days."""
    return batches_apart("left_out", "", [(moment_words(row.measured_at, is_alone=True), ratio) for row, ratio in rows])


def change_in_turn(change: Amount, promised: str, promises: str) -> Amount:
    """With its reason in words, and that commits promise something else than on the other side."""
    reasons = [why(change)]
    if promises != promised:
        promise_words = [SHORT_DURABILITY[Durability(each)] if each else "not told" for each in (promised, promises)]
        reasons.append(f"a commit survives less or more than before: {' → '.join(promise_words)}")
    return change.model_copy(update={"why": "; ".join(filter(None, reasons))})


def claim_of(point: ChangePoint, *, is_last: bool = True) -> Step:
    """A change as the claim of an answer."""
    row, change = point.at, point.change
    # Its alert knows of the batch before it.
    is_alone = point.alert is None or point.alert.after.date() != row.measured_at.date()
    least, value, low, high = point.benchmark.metric.threshold, *(change.get(name) for name in ("value", "low", "high"))
    interval = None if low is None or high is None else Interval(1 + low, 1 + high)
    verdict = unsure_verdict(interval, least) if point.is_unsure else point.side
    amount = Amount(value=value, low=low, high=high, verdict=verdict)
    near = [moment_words(at, is_alone=is_alone) for at in (point.earliest, point.latest) if at]
    return Step(
        label=point.benchmark.name, runs=row.runs, day=moment_words(row.measured_at, is_alone=is_alone),
        tested=tested_of(row), change=amount, batches=point.batches_after, days=0, threshold=least,
        zero="" if point.kind != ChangeKind.ZERO else "to" if row.centre == 0 else "from",
        batches_before=point.batches_before, is_last=is_last, is_suspected=point.state == ChangeState.SUSPECTED,
        days_near=(near[0], near[-1]) if near else None,
    )  # fmt: skip


def change_words(point: ChangePoint, *, is_last: bool = True) -> str:
    """Throughput −6.1 % (−6.5 to −5.8) since 2026-05-27 (f3eb639a), against the 40 batches before: worse."""
    claim, metric = claim_of(point, is_last=is_last), point.benchmark.metric.label
    if open_words(claim):
        return open_step(claim, metric)
    subject = metric
    if point.kind == ChangeKind.NOISE:
        subject = "The spread of the repeats:"
    elif point.kind == ChangeKind.DRIFT:
        subject = f"A slow drift: {mid_sentence(metric)}"
    if point.state == ChangeState.REFUTED:
        begin = "Taken back by later batches" if point.confirmed_at else "Not confirmed"
        subject = f"{begin}: {mid_sentence(subject)}"
    return f"{subject} {step(claim)}"


def short_change(point: ChangePoint) -> str:
    """−6.1 %, +233 % noise, from 0, not yet sure −6.1 %."""
    claim = claim_of(point)
    if claim.zero:
        return to_or_from_zero(is_to_zero=claim.zero == "to")
    kind = "" if point.kind == ChangeKind.STEP else f" {point.get_kind_display().lower()}"
    is_open = f"{open_words(claim)} " if open_words(claim) else ""
    return f"{is_open}{share(Amount(value=point.change.get('value', 0.0)))}{kind}"


def _side_words(point: ChangePoint) -> str:
    if point.is_unsure:
        return open_words(claim_of(point))
    side = f"slowly {point.side}" if point.kind == ChangeKind.DRIFT else point.side
    if point.kind == ChangeKind.NOISE:
        side = "noisier" if point.side == "worse" else "less noisy"
    return f"{SUSPECTED} {side}" if point.state == ChangeState.SUSPECTED else side


def alert_title(alert: Alert, watched: int, ends: Mapping[int, datetime]) -> str:
    """27 of 40 benchmarks on alpha since 2026-11-02: worse. `ends`: when levels that its changes began ended.

    Steps that are placed at several batches began between the first and the last of them.
    """
    standing = alert.standing()
    names = {point.benchmark_id: point.benchmark for point in standing}
    machines = sorted({each.hardware.name for each in names.values() if each.hardware})
    on = f" on {listed(machines)}" if machines else ""
    begin = moment_words(alert.since, is_alone=alert.after.date() != alert.since.date())
    steps = [point.at for point in standing if point.kind in BEGIN_WITH_A_BATCH]
    days, commits = sorted({f"{at.measured_at:%Y-%m-%d}" for at in steps}), {at.commit for at in steps}
    is_spread = len(days) > 1 and (len(commits) > 1 or "" in commits)
    is_of_a_batch = bool(alert.causes) and alert.causes[0].startswith(OWN_OF_A_BATCH)
    if is_spread:
        begin = f"between {days[0]} and {days[-1]}"
    if alert.causes and len(machines) > 1 and not is_spread:
        begin = f"{_cause_words(alert.causes[0])}, {begin}"
    elif alert.causes and not is_of_a_batch:
        begin = f"{begin}, with {_cause_words(alert.causes[0])}"
    since = f"begun {begin}" if is_spread else f"since {begin}"
    if standing and all(point.pk in ends for point in standing):
        last = max(ends[point.pk] for point in standing)
        until = moment_words(last, is_alone=last.date() != alert.since.date())
        since = f"begun {begin}, until {until}" if is_spread else f"from {begin} until {until}"
    told = {_side_words(point) for point in standing if point.side}
    # What is confirmed of one is not suspected of others besides.
    sides = listed(sorted(told - {f"{SUSPECTED} {side}" for side in told}))
    if len(names) == 1:
        (benchmark,) = names.values()
        return f"{benchmark.name}{on} {since}: {sides}"
    return f"{len(names)} of {watched} benchmarks{on} {since}: {sides}"


def _cause_words(cause: str) -> str:
    """commit f3eb639a12, of which the alert keeps all."""
    first, *others = cause.splitlines()
    commit = commit_given(first)
    shown = f"commit {commit[:SHORT_COMMIT]}" if commit else first
    return f"{shown} and {len(others)} more" if others else shown
