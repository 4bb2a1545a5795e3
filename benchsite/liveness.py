"""Signs of life: worker and beat leave a key in the broker that expires unless they renew it."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import redis
from celery import bootsteps
from celery.beat import PersistentScheduler
from celery.worker import consumer
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger(__name__)

PARTS = ("worker", "beat")
EVERY_S = 2.0
ALIVE_FOR_S = 10
TIMEOUT_S = 2.0
_KEY = "benchsite:alive:"


@cache
def broker() -> redis.Redis:
    """A client of the broker that answers or raises within two seconds, without a second try."""
    url = settings.CELERY_BROKER_URL.replace("redis+socket://", "unix://", 1)
    return redis.Redis.from_url(
        url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 0)
    )


def renew(part: str) -> None:
    """Say that `part` lives. A broker that does not answer is no reason for it to stop."""
    try:
        broker().set(_KEY + part, "1", ex=ALIVE_FOR_S)
        if settings.ALIVE_FILE:
            Path(settings.ALIVE_FILE).touch()
    except redis.RedisError as error:
        logger.warning("the broker does not take the sign of life of %s: %s", part, error)


def alive() -> dict[str, bool]:
    """For each part whether its sign of life is fresh. Raises redis.RedisError within two seconds."""
    signs = broker().mget([_KEY + part for part in PARTS])
    return {part: value is not None for part, value in zip(PARTS, signs, strict=True)}


def forget() -> None:
    """Take back the signs of an earlier life."""
    with suppress(redis.RedisError):
        broker().delete(*(_KEY + part for part in PARTS))


class SignOfLife(bootsteps.StartStopStep):
    """Runs in the worker's main loop: it falls silent when the worker is stopped, hangs or waits for the broker."""

    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        renew("worker")
        worker.timer.call_repeatedly(EVERY_S, renew, ("worker",))


class Consumer(consumer.Consumer):
    """A message that is none of ours is dropped in one line, without what it holds: whoever sends it fills no log."""

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        self._drop(message)

    def on_invalid_task(self, body: Any, message: Any, exc: Exception) -> None:
        self._drop(message)

    def on_unknown_message(self, body: Any, message: Any) -> None:
        self._drop(message)

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        self._drop(message)

    def _drop(self, message: Any) -> None:
        logger.info("a message that is no task of this site was dropped")
        message.reject_log_error(logger, self.connection_errors)  # type: ignore[attr-defined]  # its stubs lack it


class Scheduler(PersistentScheduler):
    """Celery's file scheduler, with a sign of life at each tick."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        renew("beat")
        return float(super().tick(*args, **kwargs))
