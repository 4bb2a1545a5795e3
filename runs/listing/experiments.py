"""Experiments as lists show them: what each is in, and how many of its runs are in which state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from runs.models import Experiment, Run
from runs.models.choices import ON_AGENT_STATES, RunState

_ENDED_BADLY = (RunState.FAILED, RunState.LOST, RunState.CANCELLED)
# What an experiment is in: what one of its runs is in, the first of these.
_TELLING = (
    *(state for state in RunState.values if state in ON_AGENT_STATES),
    RunState.QUEUED, *_ENDED_BADLY, RunState.FINISHED,
)  # fmt: skip


@dataclass(frozen=True)
class ExperimentRow:
    """`state`: of its runs the one that tells most; empty of none. `counts`: 12 finished, 1 failed."""

    experiment: Experiment
    state: str
    is_part: bool
    counts: str


def experiment_rows(experiments: Iterable[Experiment]) -> list[ExperimentRow]:
    shown = list(experiments)
    states: dict[UUID | None, Counter[str]] = {each.pk: Counter() for each in shown}
    counts = Run.objects.present().filter(experiment__in=states).order_by().values_list("experiment", "state")
    for key, state, count in counts.annotate(count=Count("pk")):
        states[key][state] = count
    return [_row(each, states[each.pk]) for each in shown]


def _row(experiment: Experiment, states: Counter[str]) -> ExperimentRow:
    state = next((state for state in _TELLING if states[state]), "")
    counts = ", ".join(f"{states[each]} {RunState(each).label.lower()}" for each in RunState.values if states[each])
    return ExperimentRow(experiment, state, state in _ENDED_BADLY and states[RunState.FINISHED] > 0, counts)
