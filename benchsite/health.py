"""Is it alive, is it ready: `/healthz` asks nobody, `/readyz` asks every part and never waits long."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock

import redis
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchsite import liveness

logger = logging.getLogger(__name__)

DATABASE_TIMEOUT_S = 2.0
OK = "ok"


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": OK})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """200 or 503: {"status", "failing": [part], "parts": {part: "ok" or what is wrong}}."""
    parts = {"database": database(), **broker_and_its_users()}
    failing = [part for part, words in parts.items() if words != OK and not words.startswith("unknown")]
    body = {"status": "failing" if failing else OK, "failing": failing, "parts": parts}
    return JsonResponse(body, status=503 if failing else 200)


def broker_and_its_users() -> dict[str, str]:
    try:
        alive = liveness.alive()
    except redis.RedisError as error:
        unknown = "unknown: the broker does not answer"
        return {"broker": wrong("broker", error), **dict.fromkeys(liveness.PARTS, unknown)}
    silent = f"no sign of life for {liveness.ALIVE_FOR_S} s"
    return {"broker": OK, **{part: OK if lives else silent for part, lives in alive.items()}}


def wrong(part: str, error: Exception) -> str:
    """The page is public: addresses and user names, which drivers like to tell, go to the log."""
    logger.warning("the %s does not answer: %s", part, error)
    return f"does not answer ({type(error).__name__})"


def database() -> str:
    """Asked in a thread of its own: a database that hangs must not hang the answer, nor gather threads."""
    try:
        return _pending.ask().result(DATABASE_TIMEOUT_S)
    except TimeoutError:
        return f"no answer within {DATABASE_TIMEOUT_S:.0f} s"


def _ask_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return OK
    except Exception as error:  # whatever a driver raises is what is wrong with the database
        return wrong("database", error)
    finally:
        connection.close()


class _OneQuestion:
    """One question to the database at a time: whoever asks meanwhile waits for the same answer."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answer: Future[str] | None = None

    def ask(self) -> Future[str]:
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer = _executor().submit(_ask_database)
            return self._answer


@cache
def _executor() -> ThreadPoolExecutor:
    """Made on first use."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="readyz")


_pending = _OneQuestion()
