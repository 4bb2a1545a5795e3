"""Tries of a login: after a few wrong passwords each further one costs a longer wait.

Counted per user name and address, and per address over all names, in the cache that all web processes share. Behind a
proxy the address is the proxy's, so that the name alone counts. Nobody is locked out for longer than `LONGEST_WAIT_S`.
"""

from __future__ import annotations

import hashlib
import math
import time

from django.core.cache import cache

FREE_TRIES = 5
FIRST_WAIT_S = 10
LONGEST_WAIT_S = 900
FREE_TRIES_OF_AN_ADDRESS = 100
REMEMBER_S = 3600


def wait_s(*, username: str, address: str, now: float | None = None) -> int:
    """Seconds until the next try is looked at; 0: now."""
    now = time.time() if now is None else now
    return max(_left(key, free, now) for key, free in _keys(username, address))


def note_failure(*, username: str, address: str, now: float | None = None) -> None:
    now = time.time() if now is None else now
    for key, _ in _keys(username, address):
        count, _ = cache.get(key, (0, 0.0))
        cache.set(key, (count + 1, now), REMEMBER_S)


def forget(*, username: str, address: str) -> None:
    """After a right password. What the address did with other names stays."""
    cache.delete(_keys(username, address)[0][0])


def _keys(username: str, address: str) -> list[tuple[str, int]]:
    """Cache keys with the number of free tries; hashed, so that any name makes a valid key."""
    name = hashlib.sha256(f"{username.lower()}\n{address}".encode("utf-8", "replace")).hexdigest()
    origin = hashlib.sha256(address.encode()).hexdigest()
    return [(f"login-{name}", FREE_TRIES), (f"login-from-{origin}", FREE_TRIES_OF_AN_ADDRESS)]


def _left(key: str, free: int, now: float) -> int:
    tries: tuple[int, float] = cache.get(key, (0, 0.0))
    count, failed_at = tries
    if count < free:
        return 0
    wait: float = min(FIRST_WAIT_S * 2 ** min(count - free, 10), LONGEST_WAIT_S)
    return max(0, math.ceil(failed_at + wait - now))
