from __future__ import annotations

import os
from typing import Any

from celery import Celery, bootsteps

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
app = Celery("benchsite")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


class SignOfLife(bootsteps.StartStopStep):
    """Runs in the worker's main loop: it falls silent when the worker is stopped, hangs or waits for the broker."""

    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        from benchsite import liveness

        liveness.renew("worker")
        worker.timer.call_repeatedly(liveness.EVERY_S, liveness.renew, ("worker",))


app.steps["worker"].add(SignOfLife)
