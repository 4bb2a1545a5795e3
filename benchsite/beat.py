"""Celery's file scheduler, with a sign of life at each tick."""

from __future__ import annotations

from typing import Any

from celery.beat import PersistentScheduler

from benchsite.liveness import renew


class Scheduler(PersistentScheduler):
    def tick(self, *args: Any, **kwargs: Any) -> float:
        renew("beat")
        return float(super().tick(*args, **kwargs))
