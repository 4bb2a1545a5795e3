"""What was stored by older rules is judged by today's: fairness, steadiness, stalls, windows, errors, percentiles."""

from __future__ import annotations

from collections import Counter

from benchagent import histogram
from benchagent.catalog import PERCENTILES, too_many_failed
from django.db import transaction

from runs.models import Run
from runs.models.choices import RunState
from runs.results.live import add_computed, judge_run
from runs.results.upload import OF_HISTOGRAM

CHUNK = 200


def judge_stored(*, is_trial: bool = False) -> Counter[str]:
    """Each run that has finished, one transaction a run. -> how many got what. `is_trial`: only count.

    Articles print numbers without terminals and seconds: there is nothing to judge.
    """
    counts: Counter[str] = Counter()
    runs = Run.objects.filter(state=RunState.FINISHED, publication=None).select_related("workload").order_by("pk")
    for run in runs.iterator(chunk_size=CHUNK):
        with transaction.atomic():
            counts.update(_judge(run))
            if is_trial:
                transaction.set_rollback(True)
    return +counts


def _judge(run: Run) -> list[str]:
    changes = ["metrics from its histogram"] if add_computed(run, _percentiles_ms(run), OF_HISTOGRAM) else []
    if judge_run(run):
        changes.append("checks and warnings")
    metrics = {row.metric.name: row.value for row in run.measurements.select_related("metric") if row.phase == "run"}
    if why := too_many_failed(metrics):
        Run.objects.filter(pk=run.pk, state=RunState.FINISHED).update(state=RunState.FAILED, message=run.message or why)
        changes.append("the state failed: too many transactions failed")
    return changes


def _percentiles_ms(run: Run) -> dict[str, float]:
    """Empty where there is no histogram that can be read."""
    try:
        values = histogram.decode(run.latency_histogram).percentiles_us(list(PERCENTILES.values()))
    except ValueError:
        return {}
    return {name: value / 1000 for name, value in zip(PERCENTILES, values, strict=True)}
