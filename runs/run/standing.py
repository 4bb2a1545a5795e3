"""How the result of one run stands against the other repeats of its cell in its batch, and the run before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchagent.catalog import refusal
from django.db.models import Q

from runs import stats
from runs.formatting import number, percent, quantity
from runs.models import Measurement, Run
from runs.models.visible import Reader, listed, readable
from runs.run.likeness import conditions, is_alike, pooled_with

# With fewer others a repeat cannot be called unlike them.
LEAST_OTHERS = 3
CONFIDENCE = 0.95
# Runs before it with its cell's key among which one is looked for that is like it.
LOOKED_BACK = 20


TITLES = {
    "alike": "as its batch", "better": "better than its batch", "worse": "worse than its batch",
    "apart": "unlike its batch", "few": "too few to judge", "alone": "the only repeat",
}  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """`kind` is one of `TITLES`: apart for a metric without a direction; `words` say against what."""

    kind: str
    words: str

    @property
    def title(self) -> str:
        return TITLES[self.kind]


def of_run(run: Run, primary: Measurement, user: Reader) -> Standing:
    """Against the repeats that `user` may open and that are as public as the run."""
    repeats = Run.objects.with_values().filter(readable(user), cell_key=run.cell_key, batch=run.batch_id)
    repeats = repeats.filter(visibility=run.visibility).exclude(pk=run.pk)
    metric = primary.metric
    rows = Measurement.objects.filter(run__in=repeats, metric=metric, phase=primary.phase)
    by_run = {row.run: row.value for row in rows.select_related("run__dbms_version__dbms")}
    pooled = [by_run[other] for other in pooled_with(run, list(by_run))]
    values = [value for value in pooled if not refusal(metric.name, value, metric.unit)]
    return standing(primary.value, values, unit=metric.unit, better=metric.better)


def standing(value: float, others: Sequence[float], *, unit: str, better: str) -> Standing:
    """Unlike is what lies outside of the interval in which the next repeat falls with 95 % (of t, on logs)."""
    if not others:
        return Standing("alone", "in its batch")
    low, high = min(others), max(others)
    span = quantity(low, unit) if low == high else f"{number(low)}–{quantity(high, unit)}"
    words = f"{len(others)} other repeat{'s' if len(others) > 1 else ''}: {span}"
    logs, centre = stats.log_values(others), stats.geometric_mean(others)
    if len(others) < LEAST_OTHERS or logs is None or centre is None or value <= 0:
        return Standing("few", words)
    spread = stats.stdev(logs) or 0.0
    half = stats.t_quantile(0.5 + CONFIDENCE / 2, len(logs) - 1) * spread * math.sqrt(1 + 1 / len(logs))
    difference = math.log(value / centre)
    words = f"{percent(value / centre - 1, signed=True)} from {words}"
    if abs(difference) <= half:
        return Standing("alike", words)
    side = stats.side_of(is_rise=difference > 0, better=better)
    return Standing("apart" if side == stats.Kind.DIFFERENT else side, words)


def cell_keys(run: Run) -> list[str]:
    """Those under which its repeats in its experiment stand, its own first: what never began knows no disk."""
    keys = [run.cell_key]
    if run.experiment_id is not None:
        of_system = Run.objects.present().filter(
            batch=run.batch_id, dbms_version=run.dbms_version_id, config=run.config_id, workload=run.workload_id
        )
        if run.hardware_id is not None:
            of_system = of_system.filter(Q(hardware=None) | Q(hardware=run.hardware_id))
        asked = run.factor_values, run.context
        others = of_system.prefetch_related("factors")
        keys += [other.cell_key for other in others if (other.factor_values, other.context) == asked]
    return [*dict.fromkeys(keys)]


def run_before(run: Run, user: Reader) -> Run | None:
    """The finished run of the same cell that was made before it, of whatever batch; None where there is none."""
    if run.measured_at is None:
        return None
    rows = Run.objects.with_values().filter(listed(user), cell_key=run.cell_key).exclude(pk=run.pk)
    earlier = Q(measured_at__lt=run.measured_at) | Q(measured_at=run.measured_at, repeat__lt=run.repeat)
    latest = rows.filter(earlier).select_related("dbms_version__dbms").order_by("-measured_at", "-repeat")
    return next((before for before in latest[:LOOKED_BACK] if is_alike(conditions(before), conditions(run))), None)
