from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from agents.jobs import dispatch, life
from agents.models import Job
from agents.plans import schedule
from runs.models import Run
from tests.agents.conftest import Machine, plan_of


@dataclass
class Attempt:
    """A run that its agent has claimed."""

    machine: Machine
    run: Run
    token: str

    def batch(self, seq: int, *items: dict[str, Any]):
        return self.machine.batch(self.run.pk, self.token, seq, *items)

    def heartbeat(self):
        return self.machine.heartbeat(self.run.pk, self.token)

    @property
    def now(self) -> Run:
        return Run.objects.get(pk=self.run.pk)

    @property
    def job(self) -> Job:
        return Job.objects.get(pk=self.run.pk)


@pytest.fixture
def assigned(machine):
    """A run assigned to an agent that has not fetched it yet: (machine, run)."""
    bench = machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    dispatch.assign_queued()
    return bench, run


@pytest.fixture
def attempt(assigned) -> Attempt:
    bench, run = assigned
    return Attempt(bench, run, life.claim(agent=bench.agent, run_id=run.pk)["job_token"])
