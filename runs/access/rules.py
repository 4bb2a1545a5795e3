"""Who may change what: the table of docs/operate/access.md, to which tests/test_access_table.py holds every route."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from runs.access.visibility import Target
from runs.models import Config, HardwareProfile, User
from runs.models.choices import UserRole
from runs.models.visible import owner_id_of

Person = User | AnonymousUser | None
T = TypeVar("T", bound=Target)

# What a token may be made for, by the role of its owner: it never reaches further than the person.
SCOPES_BY_ROLE: dict[str, tuple[str, ...]] = {
    UserRole.VIEWER: ("read",),
    UserRole.CONTRIBUTOR: ("read", "upload"),
    UserRole.OPERATOR: ("read", "upload", "schedule", "agent"),
    UserRole.ADMIN: ("read", "upload", "schedule", "agent"),
}
_OPERATORS = (UserRole.OPERATOR, UserRole.ADMIN)
_CONTRIBUTORS = (UserRole.CONTRIBUTOR, *_OPERATORS)


def may_contribute(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role in _CONTRIBUTORS


def may_operate(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role in _OPERATORS


def may_manage_people(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role == UserRole.ADMIN


def may_change(user: Person, thing: Target) -> bool:
    """Contributors change what is theirs, operators and administrators whatever they can open."""
    return _may_edit(user, owner_id_of(thing))


def changeable(user: Person, thing: T) -> T:
    """The thing. Raises PermissionDenied for a contributor who does not own it."""
    if not may_change(user, thing):
        raise PermissionDenied("This belongs to somebody else. Its owner, operators and administrators may change it.")
    return thing


def may_describe(user: Person, thing: HardwareProfile | Config) -> bool:
    """The same of machines and configurations; what an article prints is nobody's to edit."""
    return thing.publication_id is None and _may_edit(user, thing.created_by_id)


def _may_edit(user: Person, owner_id: UUID | None) -> bool:
    return may_operate(user) or (user is not None and may_contribute(user) and owner_id == user.pk)
