from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from celery import Celery
from celery.apps.beat import Beat
from celery.signals import worker_init

from benchsite.liveness import SignOfLife
from benchsite.schema import end_on_other_tables


class TasklessBeat(Beat):
    """It sends tasks by their names, and loads neither them nor the models (docs/decisions/0017)."""

    def init_loader(self) -> None:
        app.finalize()


class Site(Celery):
    @cached_property
    def Beat(self) -> type[Beat]:
        return self.subclass_with_self(TasklessBeat)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
app = Site("benchsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A message that nobody took before the next one is due is stale: they do not pile up while the worker is away.
app.conf.beat_schedule = {
    "sweep": {"task": "agents.sweep", "schedule": 3.0, "options": {"expires": 3.0}},
    "tick": {"task": "agents.tick", "schedule": 60.0, "options": {"expires": 60.0}},
    "housekeeping": {"task": "agents.housekeeping", "schedule": 3600.0, "options": {"expires": 3600.0}},
}
app.steps["worker"].add(SignOfLife)


@worker_init.connect
def begin(**_: Any) -> None:
    end_on_other_tables()
