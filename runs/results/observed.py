"""What a second agent sampled on the machine of a run's server: its figures, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from benchagent.protocol import NOT_SAMPLED
from benchagent.protocol.observed import OBSERVED_MAXIMA, OBSERVED_MEANS
from django.db import transaction

from runs.models import Measurement, Run
from runs.models.choices import Provenance
from runs.models.text import clean
from runs.results.names import resolve_metrics
from runs.run import series

LONG_TEXT = 1000


@dataclass(frozen=True)
class Observed:
    """`clock`, `load_clock`: ClockFacts of observer and load generator, empty where unknown; `over`: no more will come.

    `problem`: why there are no samples, or not all.
    """

    agent: str
    observation: str
    problem: str
    clock: Mapping[str, float]
    load_clock: Mapping[str, float]
    over: bool

    @property
    def words(self) -> str:
        offset = self.offset
        told = f"{1000 * offset[0]:.1f} ms ± {1000 * offset[1]:.1f} ms" if offset else "not known"
        return f"server sampled by agent {self.agent} on its machine ({self.observation}); clock offset {told}"

    @property
    def offset(self) -> tuple[float, float] | None:
        """What was added to the observer's clock for the load generator's, and how wrong that may be, in s."""
        if not self.clock or not self.load_clock:
            return None
        return (
            self.clock["offset_s"] - self.load_clock["offset_s"],
            self.clock["uncertainty_s"] + self.load_clock["uncertainty_s"],
        )


def note_observer(*, run: Run, observed: Observed) -> None:
    """Put it into a run that has ended. May be called again, with more."""
    with transaction.atomic():
        sampled = _measured(run)
        if any(sampled.values()):
            words, warning = observed.words, _partly(run, observed, len(sampled.get("server_cpu_cores", [])))
        else:
            problem = observed.problem or ("nothing came" if observed.over else "nothing has come yet")
            words, warning = NOT_SAMPLED, f"{NOT_SAMPLED}: {problem}"
        _store(run, observed, words, clean(warning, LONG_TEXT))
        figures = {name: fmean(values) for name, values in sampled.items() if values and name in OBSERVED_MEANS}
        figures |= {name: max(values) for name, values in sampled.items() if values and name in OBSERVED_MAXIMA}
        metrics = resolve_metrics(figures)
        for name, value in figures.items():
            Measurement.objects.update_or_create(
                run=run, metric=metrics[name], phase="run",
                defaults={"value": value, "provenance": Provenance.MEASURED},
            )  # fmt: skip
        series.merge(run)


def _measured(run: Run) -> dict[str, list[float]]:
    """The values of the measured seconds by metric, gaps left out."""
    begin_s = _begin_s(run)
    wanted = {*OBSERVED_MEANS, *OBSERVED_MAXIMA}
    return {
        sampled.name: [value for t_s, value in sampled.points() if value is not None and t_s >= begin_s]
        for sampled in series.read_all(run)
        if sampled.name in wanted
    }


def _begin_s(run: Run) -> float:
    """Of the measured window, from the begin of the warm-up."""
    warm_up_s = run.factor("warm_up_s")
    return warm_up_s if isinstance(warm_up_s, int | float) else 0.0


def _partly(run: Run, observed: Observed, count: int) -> str:
    """Empty when every measured second was sampled."""
    if not observed.over:
        return "samples of the server are still to come"
    measured = len([t_s for t_s, _ in series.read(run, "tps").points() if t_s >= _begin_s(run)])
    part = f"the server was sampled in {count} of {measured} measured seconds" if count < measured else ""
    return "; ".join(filter(None, (part, observed.problem)))


def _store(run: Run, observed: Observed, words: str, warning: str) -> None:
    """Replaces what was said before: by the agent of the load, or here."""
    before = run.statistics.get("observer", {}).get("warning", "")
    told: dict[str, str | float] = {
        "agent": observed.agent, "observation": observed.observation, "warning": warning
    }  # fmt: skip
    if observed.offset:
        told["clock_offset_s"], told["clock_uncertainty_s"] = observed.offset
    conditions = {**run.statistics.get("conditions", {}), "server_sampling": words}
    run.statistics = {**run.statistics, "conditions": conditions, "observer": told}
    others = [text for text in run.warnings if text != before and not text.startswith(NOT_SAMPLED)]
    run.warnings = [*others, warning] if warning else others
    run.save(update_fields=["statistics", "warnings"])
