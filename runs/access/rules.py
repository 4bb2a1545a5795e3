"""Who may change what: the table of docs/operate/access.md, to which tests/test_access_table.py holds every route."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from runs.access.visibility import Target
from runs.models import User
from runs.models.choices import UserRole
from runs.models.visible import owner_id_of

Person = User | AnonymousUser | None

# What a token may be made for, by the role of its owner: it never reaches further than the person.
SCOPES_BY_ROLE: dict[str, tuple[str, ...]] = {
    UserRole.VIEWER: ("read",),
    UserRole.CONTRIBUTOR: ("read", "upload"),
    UserRole.OPERATOR: ("read", "upload", "schedule", "agent"),
    UserRole.ADMIN: ("read", "upload", "schedule", "agent"),
}


def may_contribute(user: Person) -> bool:
    return isinstance(user, User) and user.can_contribute


def may_operate(user: Person) -> bool:
    return isinstance(user, User) and user.can_operate


def may_manage_people(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role == UserRole.ADMIN


def may_change(user: Person, thing: Target) -> bool:
    """Contributors change what is theirs, operators and administrators whatever they can open."""
    if not isinstance(user, User) or not user.can_contribute:
        return False
    return user.can_operate or owner_id_of(thing) == user.pk
