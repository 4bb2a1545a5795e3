from __future__ import annotations

import os

from celery import Celery

from benchsite.liveness import SignOfLife

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
app = Celery("benchsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A message that nobody took before the next one is due is stale: they do not pile up while the worker is away.
app.conf.beat_schedule = {
    "sweep": {"task": "agents.sweep", "schedule": 3.0, "options": {"expires": 3.0}},
    "housekeeping": {"task": "agents.housekeeping", "schedule": 3600.0, "options": {"expires": 3600.0}},
}
app.steps["worker"].add(SignOfLife)
