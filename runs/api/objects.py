"""The objects that a request is about: 404 for what the person may not see, 403 for what they may not change."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.shortcuts import get_object_or_404
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from runs.access.rules import may_change
from runs.access.visibility import Target
from runs.models import Run, User
from runs.models.runs import RunQuerySet

T = TypeVar("T", bound=Target)


def readable_runs(request: Request) -> RunQuerySet:
    """Also deleted ones."""
    return Run.objects.readable_by(request.user)


def changeable_run(request: Request, run_id: UUID, *, deleted: bool = False) -> Run:
    """A present run, or with `deleted` also one that can be restored."""
    rows = readable_runs(request) if deleted else readable_runs(request).present()
    return changeable(request, get_object_or_404(rows.select_related("experiment", "upload"), id=run_id))


def changeable(request: Request, thing: T) -> T:
    if not may_change(request.user, thing):
        raise PermissionDenied("This belongs to somebody else. Its owner, operators and administrators may change it.")
    return thing


def person_of(request: Request) -> User | None:
    return request.user if isinstance(request.user, User) else None
