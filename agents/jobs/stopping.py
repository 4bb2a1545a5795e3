"""Repeats end where they are enough, by the rule of their plan (`runs.stats.stopping`).

All repeats that may be made are queued from the beginning, so that they keep their place; what is not needed any more
is cancelled, and says why. Any number of workers may look at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from agents.jobs import life
from runs.models import Experiment, Run
from runs.models.choices import RunState
from runs.stats.stopping import interval_after, is_enough


def stop_where_enough() -> int:
    """Returns how many runs were cancelled."""
    waiting = Experiment.objects.filter(runs__state=RunState.QUEUED, runs__job__isnull=False).distinct()
    return sum(_stop(experiment, rule["percent"]) for experiment in waiting if (rule := experiment.plan.get("stop")))


def _stop(experiment: Experiment, percent: float) -> int:
    """The baseline goes on until every other cell of its machine has enough."""
    runs = Run.objects.present().filter(experiment=experiment, job__isnull=False).select_related("job")
    machines: dict[Any, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs.order_by("repeat"):
        machines[run.job.requested_agent_id][run.job.cell].append(run)
    stopped = 0
    for cells in machines.values():
        baseline = next((cell for cell in cells.values() if cell[0].job.is_baseline), None)
        others = [cell for cell in cells.values() if cell is not baseline]
        stopped += sum(_stop_cell(cell, percent, baseline) for cell in others)
        if baseline is not None and not any(_waiting(cell) for cell in others):
            stopped += _cancel(baseline, "no other cell needs more repeats of the baseline")
    return stopped


def _stop_cell(cell: Sequence[Run], percent: float, baseline: Sequence[Run] | None) -> int:
    interval = interval_after(_values(cell), None if baseline is None else _values(baseline))
    if interval is None or not _waiting(cell) or not is_enough(interval, percent=percent):
        return 0
    what = "mean" if baseline is None else "ratio to the baseline"
    width = 100 * (interval.high / interval.low - 1)
    return _cancel(cell, f"not needed: after {len(_values(cell))} repeats the {what} is known to {width:.2g} %")


def _values(runs: Sequence[Run]) -> list[float]:
    return [run.primary_value for run in runs if run.state == RunState.FINISHED and run.primary_value is not None]


def _waiting(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.state == RunState.QUEUED]


def _cancel(runs: Sequence[Run], why: str) -> int:
    count = 0
    for run in _waiting(runs):
        count += life.cancel(run, message=why)
        run.state = RunState.CANCELLED
    return count
