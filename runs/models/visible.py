"""Who sees what: the one rule for everything that has an owner and a visibility.

Lists, counts, choices of filters and exports show public things and one's own (`listed`). An address opens unlisted
things too (`readable`). A private thing is there for its owner and for administrators only; for all others it does
not exist.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, Q, QuerySet

from runs.models.accounts import User
from runs.models.choices import UserRole, Visibility

Reader = User | AnonymousUser
# None: the system itself.
Person = Reader | None
M = TypeVar("M", bound=Model)


def sees_all(user: Reader) -> bool:
    return isinstance(user, User) and user.is_active and user.role == UserRole.ADMIN


def listed(user: Reader, *, owner: str = "owner", prefix: str = "") -> Q:
    """Rows that lists show to this person. `prefix` leads from another model to them: `runs__`."""
    if sees_all(user):
        return Q()
    return Q(**{f"{prefix}visibility": Visibility.PUBLIC}) | _own(user, f"{prefix}{owner}")


def readable(user: Reader, *, owner: str = "owner") -> Q:
    """Rows that this person may open by their address."""
    if sees_all(user):
        return Q()
    return Q(visibility__in=[Visibility.PUBLIC, Visibility.UNLISTED]) | _own(user, owner)


def _own(user: Reader, owner: str) -> Q:
    return Q(**{owner: user.pk}) if user.pk else Q()


class VisibleQuerySet(QuerySet[M]):
    """Rows of a model with a visibility. `owner_field` names who made it."""

    owner_field = "owner"

    def listed_for(self, user: Reader) -> Self:
        """What lists, counts, facets, exports and filters show to this person: what is public and their own."""
        return self.filter(listed(user, owner=self.owner_field))

    def readable_by(self, user: Reader) -> Self:
        """What this person may open by its address: what is listed, and what is unlisted."""
        return self.filter(readable(user, owner=self.owner_field))


def may_open(user: Reader, row: Any) -> bool:
    """The same for one object: an experiment, an upload, a report or a run."""
    return sees_all(user) or row.visibility != Visibility.PRIVATE or bool(user.pk and owner_id_of(row) == user.pk)


def owner_id_of(row: Any) -> Any:
    """Experiments call their owner `created_by`."""
    return row.created_by_id if hasattr(row, "created_by_id") else row.owner_id
