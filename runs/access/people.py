"""People and their tokens: made, changed, taken away. Nobody takes away the last administrator."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from runs.access import changes
from runs.access.rules import SCOPES_BY_ROLE
from runs.models import ApiToken, User
from runs.models.choices import UserRole
from runs.models.visible import Person

logger = logging.getLogger(__name__)


class LastAdministrator(ValueError):
    """Without an administrator nobody could make another one."""

    def __init__(self) -> None:
        super().__init__("This is the last active administrator. Make somebody else one first.")


def issue_token(*, owner: User, name: str, scopes: Iterable[str], expires_at: datetime | None) -> tuple[ApiToken, str]:
    """A token and its secret, shown once. Raises ValueError for a scope that the owner's role does not have."""
    chosen = list(scopes)
    allowed = SCOPES_BY_ROLE[owner.role]
    if beyond := [scope for scope in chosen if scope not in allowed]:
        raise ValueError(f"the role {owner.role} has no scope {', '.join(beyond)}; it has {', '.join(allowed)}")
    return ApiToken.issue(owner=owner, name=name, scopes=chosen, expires_at=expires_at)


def revoke_token(token: ApiToken) -> bool:
    """False: it was revoked before."""
    revoked = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()) == 1
    if revoked:
        logger.info("token %r %s… of %r revoked", token.name, token.prefix, token.owner.username)
    return revoked


def add_person(*, username: str, role: str, by: Person) -> User:
    """A person without a password: `password_link` lets them choose one."""
    with transaction.atomic():
        person = User(username=username, role=role)
        person.set_unusable_password()
        person.save()
        changes.record(target=person, field="role", old=None, new=role, by=by)
        return person


def set_role(person: User, *, role: str, by: Person) -> bool:
    """False: it was that already. Raises LastAdministrator."""
    with transaction.atomic():
        if role != UserRole.ADMIN:
            _keep_an_administrator(person)
        old = User.objects.values_list("role", flat=True).get(pk=person.pk)
        User.objects.filter(pk=person.pk).update(role=role)
        return changes.record(target=person, field="role", old=old, new=role, by=by) is not None


def set_active(person: User, *, active: bool, by: Person) -> bool:
    """A person who is not active can neither log in nor use a token. Raises LastAdministrator."""
    with transaction.atomic():
        if not active:
            _keep_an_administrator(person)
        old = User.objects.values_list("is_active", flat=True).get(pk=person.pk)
        User.objects.filter(pk=person.pk).update(is_active=active)
        return changes.record(target=person, field="active", old=old, new=active, by=by) is not None


def _keep_an_administrator(person: User) -> None:
    """Locks the administrators: two of them cannot take each other away at once."""
    active = User.objects.select_for_update().filter(role=UserRole.ADMIN, is_active=True)
    if set(active.values_list("pk", flat=True)) == {person.pk}:
        raise LastAdministrator


def password_link(person: User) -> tuple[str, str]:
    """The two parts of the address under which the person chooses a password, once, within PASSWORD_RESET_TIMEOUT."""
    return urlsafe_base64_encode(force_bytes(person.pk)), default_token_generator.make_token(person)


def person_of_link(uid: str, token: str) -> User | None:
    try:
        person = User.objects.filter(pk=urlsafe_base64_decode(uid).decode(), is_active=True).first()
    except (ValueError, ValidationError):
        return None
    return person if default_token_generator.check_token(person, token) else None
