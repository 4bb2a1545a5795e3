from __future__ import annotations

import pytest

from agents.jobs import dispatch, life
from agents.models import Job
from agents.plans import schedule
from runs.models import Run
from runs.models.choices import RunState
from runs.run import series
from tests.agents.conftest import finish_item, log_item, plan_of, samples_item
from tests.agents.jobs.test_dispatch import in_threads


@pytest.mark.django_db(transaction=True)
def test_it_applies_a_batch_once_however_often_it_arrives_at_the_same_time(machine):
    bench = machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=run.pk)
    batch = {"seq": 1, "items": [samples_item(1.0, 2.0), log_item("once\n"), finish_item()]}
    answers = in_threads(5, lambda: life.apply(run_id=run.pk, batch=batch))
    assert answers == [{"seq": 1, "cancel": False}] * 5
    assert Run.objects.get(pk=run.pk).state == RunState.FINISHED
    assert series.read(run, "tps").values == [1.0, 2.0]
    assert Job.objects.get(pk=run.pk).log_tail() == "once\n"
    assert run.measurements.filter(provenance="measured").count() == 1
