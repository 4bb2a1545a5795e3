"""Tries of a login: after a few wrong passwords each further one costs a longer wait.

Counted per user name and address, and apart from it per user name over all addresses but those from which the person
has logged in before; so nobody can lock somebody out, neither by that name nor by others. A try is counted before its
password is looked at: of many at once no more pass than one after the other. How many tries one address has over all
names is limited by benchsite.limits.
"""

from __future__ import annotations

import hashlib
import math
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from runs.models import LoginTries

FREE_TRIES = 5
FIRST_WAIT_S = 10
LONGEST_WAIT_S = 900
FREE_TRIES_OF_A_NAME = 50
LONGEST_WAIT_OF_A_NAME_S = 60
REMEMBER = timedelta(hours=1)
KNOWN_FOR = timedelta(days=30)


def begin(*, username: str, address: str, now: datetime | None = None) -> int:
    """0: the try is counted as a wrong one, and its password may be looked at; else the seconds until one may be."""
    now = now or timezone.now()
    with transaction.atomic():
        here = _locked(_key(username, address), now)
        counted = [(here, FREE_TRIES, LONGEST_WAIT_S)]
        if not here.known:
            counted.append((_locked(_key(username), now), FREE_TRIES_OF_A_NAME, LONGEST_WAIT_OF_A_NAME_S))
        wait_s = max(_left_s(tries, free, longest_s, now) for tries, free, longest_s in counted)
        if not wait_s:
            for tries, _, _ in counted:
                tries.count, tries.last_at = tries.count + 1, now
                tries.save()
        return wait_s


def succeed(*, username: str, address: str, now: datetime | None = None) -> None:
    """After a right password: the tries from this address are forgotten, and the person is known there."""
    tries = {"count": 0, "last_at": now or timezone.now(), "known": True}
    LoginTries.objects.filter(pk=_key(username, address)).update(**tries)


def forget_old(now: datetime | None = None) -> None:
    now = now or timezone.now()
    LoginTries.objects.filter(known=False, last_at__lt=now - REMEMBER).delete()
    LoginTries.objects.filter(last_at__lt=now - KNOWN_FOR).delete()


def _key(username: str, address: str = "") -> str:
    """Any name makes a valid key."""
    return hashlib.sha256(f"{username.lower()}\n{address}".encode("utf-8", "replace")).hexdigest()


def _locked(key: str, now: datetime) -> LoginTries:
    """What is older than an hour does not count."""
    tries, _ = LoginTries.objects.select_for_update().get_or_create(pk=key, defaults={"last_at": now})
    if tries.last_at < now - REMEMBER:
        tries.count = 0
    if tries.last_at < now - KNOWN_FOR:
        tries.known = False
    return tries


def _left_s(tries: LoginTries, free: int, longest_s: int, now: datetime) -> int:
    if tries.count < free:
        return 0
    wait_s: int = min(FIRST_WAIT_S * 2 ** min(tries.count - free, 10), longest_s)
    return max(0, math.ceil((tries.last_at - now).total_seconds() + wait_s))
