"""What is lost along a size, where it falls off, how far it scales: a claim for each curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.answers.answer import Amount, Answer, AnyClaim, FallsOff, Loss, ScalesTo, begun, change_of, pair_of, share_of
from runs.answers.places import groups_of, memory_places, place_of
from runs.compare.asked import FALLS_OFF, LOSS, Question
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.compare.panels import Axes, Curve, Panel, ends_of_curve, kind_of, levels_of
from runs.formatting import mid_sentence
from runs.stats import ratio
from runs.stats.curves import LEAST_FOR_KNEE, Knee, knee
from runs.stats.scaling import Scaling, scaling

TOO_FEW, KNEE, SMOOTH, UNDECIDED, NONE = "too_few", "knee", "smooth", "undecided", "none"


def of_curves(comparison: Comparison, question: Question) -> Answer:
    axes, panels = comparison.axes, comparison.panels
    place = place_of(axes, [group for panel in panels for group in groups_of(panel)])
    answer = begun(comparison, question.model_copy(update={"x": axes.x})).model_copy(
        update={"x_label": place.label, "x_unit": place.unit, "x_kind": kind_of(axes)}
    )
    if not kind_of(axes):
        return answer.model_copy(update={"missing": ["No size and no other number varies: measure at a second one."]})
    claims: list[AnyClaim] = []
    missing = []
    for curve, label in labelled(panels):
        of_curve = _OfCurve(comparison, axes, curve, label)
        made = {LOSS: of_curve.loss, FALLS_OFF: of_curve.falls_off}.get(question.kind, of_curve.scales)()
        if isinstance(made, str):
            missing.append(f"{label}: {made}" if label else made)
        else:
            claims.append(made)
    claims.sort(key=_order)
    return answer.model_copy(update={"claims": claims, "missing": missing, "sure": any(map(_is_sure, claims))})


def labelled(panels: Sequence[Panel]) -> Iterator[tuple[Curve, str]]:
    """Each curve with its name among those of all panels."""
    for panel in panels:
        for curve in panel.curves:
            yield curve, " · ".join(filter(None, (panel.label, curve.label)))


def _order(claim: AnyClaim) -> float:
    """What loses most comes first."""
    return claim.change.value or 0.0 if isinstance(claim, Loss) else 0.0


def _is_sure(claim: AnyClaim) -> bool:
    if isinstance(claim, Loss):
        return claim.change.verdict in ("better", "worse", "different", "too_small", "equivalent")
    if isinstance(claim, FallsOff):
        return claim.shape in (KNEE, SMOOTH)
    return isinstance(claim, ScalesTo) and claim.gain.low is not None


@dataclass(frozen=True)
class _OfCurve:
    """The claims of one curve; a text says why there is none."""

    comparison: Comparison
    axes: Axes
    curve: Curve
    label: str

    @property
    def runs(self) -> list[UUID]:
        return [run for point in self.curve.points for run in point.run_ids]

    def loss(self) -> Loss | str:
        pair = ends_of_curve(self.curve, self.comparison.question)
        if isinstance(pair, str):
            return pair
        first, last = pair
        verdict = self.comparison.verdicts.along.get((last.key, first.key))
        change = change_of(verdict, less=1.0) if verdict else share_of(ratio(last.judged, first.judged))
        return Loss(
            label=self.label, runs=[*first.run_ids, *last.run_ids], start=first.x, end=last.x,
            levels=(self._asked_level(first), self._asked_level(last)), change=change, falls_off=self.falls_off(),
        )  # fmt: skip

    def _asked_level(self, point: Group) -> str:
        fact = self.axes.x_fact
        return mid_sentence(fact.in_legend(point.level)) if fact else point.level

    def falls_off(self) -> FallsOff:
        levels = levels_of(self.curve)
        places = memory_places(self.curve.points, self.axes)
        memory_words, memory = next(iter(places), ("", None))
        claim = FallsOff(
            label=self.label, runs=self.runs, shape=NONE, memory=memory, memory_words=memory_words,
            up_to=levels[-1][0] if levels else None,
        )  # fmt: skip
        if len(levels) < LEAST_FOR_KNEE:
            why = f"{len(levels)} levels are too few, it takes {LEAST_FOR_KNEE}"
            return claim.model_copy(update={"shape": TOO_FEW, "why": why})
        bent = knee(levels)
        if self._falls_faster(bent):
            if bent.at is None:
                return claim.model_copy(update={"shape": SMOOTH if bent.is_smooth else UNDECIDED, "why": bent.why})
            return claim.model_copy(update={"shape": KNEE, "at": bent.at, "interval": pair_of(bent.interval)})
        shape = TOO_FEW if bent.gain is None else NONE
        why = bent.why or "the curve bends, but gets no worse behind"
        return claim.model_copy(update={"shape": shape, "why": why})

    def _falls_faster(self, bent: Knee) -> bool:
        """Whether it gets worse faster behind the knee than before it."""
        if bent.before is None or bent.after is None or self.comparison.metric is None:
            return False
        return bent.after > bent.before if self.comparison.metric.better == "lower" else bent.after < bent.before

    def scales(self) -> ScalesTo | str:
        levels = levels_of(self.curve)
        if len(levels) < 2:
            return "one level only, measure a second"
        means = {point.x: point.centre or 0.0 for point in self.curve.points if point.dots}
        first, last = levels[0][0], levels[-1][0]
        most_at = max((x for x, _ in levels), key=lambda x: means.get(x, 0.0))
        law = scaling(levels)
        fitted = isinstance(law, Scaling) and not law.poor
        peak = law.peak if isinstance(law, Scaling) and fitted else None
        gain = ratio(dict(levels)[most_at], levels[0][1]) if most_at != first else None
        why = law if isinstance(law, str) else "" if fitted else f"its levels lie {law.off:.0%} off"
        has_peaked = bool(peak and peak.value <= last and peak.interval and peak.interval.high <= last)
        return ScalesTo(
            label=self.label, runs=self.runs, most_at=most_at, most=means[most_at], last=last,
            efficiency=means[last] * first / (means[first] * last) if means.get(first) else None,
            gain=share_of(gain) if gain else Amount(),
            peak_at=peak.value if peak else None, peak_interval=pair_of(peak.interval) if peak else None,
            peak_measured=has_peaked, still_grows=most_at == last and not has_peaked, why_no_law=why,
        )  # fmt: skip
