"""People, their tokens, and what they changed."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from runs.models.base import UUIDModel
from runs.models.choices import UserRole
from runs.models.stored import StoredJSON

SCOPES = ("read", "upload", "schedule", "script", "connection", "agent")
TOKEN_PREFIX = "bst_"


def digest_secret(secret: str) -> str:
    """SHA-256 of a random secret. Slow hashing would add nothing: the secret has 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


class User(AbstractUser):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    role = models.CharField(max_length=16, choices=UserRole.choices, default=UserRole.VIEWER)


class LoginTries(models.Model):
    """Wrong passwords for a name from an address, or for a name from all (runs/access/backoff.py)."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(default=timezone.now, db_index=True)
    # A right password has come from the address.
    known = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.count} until {self.last_at:%Y-%m-%d %H:%M}"


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def live(self, now: datetime | None = None) -> ApiTokenQuerySet:
        now = now or timezone.now()
        return self.filter(revoked_at=None).filter(models.Q(expires_at=None) | models.Q(expires_at__gt=now))


class ApiToken(UUIDModel):
    """A person's or program's key to the API: shown once, stored as a digest, scoped, revocable."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    scopes = StoredJSON(shape=list[str], default=list)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @classmethod
    def issue(
        cls, *, owner: User, name: str, scopes: Iterable[str], expires_at: datetime | None = None
    ) -> tuple[ApiToken, str]:
        """A new token and its secret, which is not stored. Raises ValueError naming an unknown scope."""
        chosen = list(dict.fromkeys(scopes))
        for scope in chosen:
            if scope not in SCOPES:
                raise ValueError(f"unknown scope {scope!r}; known: {', '.join(SCOPES)}")
        if not chosen:
            raise ValueError(f"a token needs at least one scope of: {', '.join(SCOPES)}")
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = cls.objects.create(
            owner=owner,
            name=name,
            prefix=secret[:10],
            digest=digest_secret(secret),
            scopes=chosen,
            expires_at=expires_at,
        )
        return token, secret


class Change(models.Model):
    """One edited field of one object: who, when, the old value and the new. Never edited, purged with its object."""

    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=40)
    field = models.CharField(max_length=80)
    old = StoredJSON(shape=Any, null=True)
    new = StoredJSON(shape=Any, null=True)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["target_type", "target_id"])]

    def __str__(self) -> str:
        return f"{self.target_type} {self.target_id}: {self.field}"


class AnsweredRequest(models.Model):
    """The answer to a request that carried an `Idempotency-Key`: sent again, it makes nothing more."""

    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    # It is taken of method, path and body: the same key with another request is a mistake.
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    answer = StoredJSON(shape=Any, null=True)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="answered_request_once")]

    def __str__(self) -> str:
        return f"{self.key}: {self.status}"
