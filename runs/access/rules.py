"""Who may see and who may change what is stored: the table of docs/operate/access.md.

tests/test_access_table.py holds every route to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404

from runs.access import changes
from runs.models import (
    SCOPES,
    ApiToken,
    Batch,
    Config,
    Dbms,
    DbmsVersion,
    Experiment,
    HardwareProfile,
    Report,
    Run,
    Upload,
    User,
    Workload,
    take_out,
)
from runs.models.choices import UserRole, Visibility
from runs.models.runs import RunQuerySet
from runs.models.visible import Person, Reader, listed, owner_id_of, readable

Target = Experiment | Upload | Report | Run
T = TypeVar("T", bound=Target | Batch)
D = TypeVar("D", bound=HardwareProfile | Config)
M = TypeVar("M", bound=Model)

# How a run refers to what it was made with; to a DBMS by its version.
_FROM_RUN: dict[type[Model], str] = {
    Config: "config",
    Dbms: "dbms_version",
    DbmsVersion: "dbms_version",
    HardwareProfile: "hardware",
    Workload: "workload",
}
# What a token may be made for, by the role of its owner: it never reaches further than the person.
SCOPES_BY_ROLE: dict[str, tuple[str, ...]] = {
    UserRole.VIEWER: ("read",),
    UserRole.CONTRIBUTOR: ("read", "upload"),
    UserRole.OPERATOR: SCOPES,
    UserRole.ADMIN: SCOPES,
}
_OPERATORS = (UserRole.OPERATOR, UserRole.ADMIN)
_CONTRIBUTORS = (UserRole.CONTRIBUTOR, *_OPERATORS)


def default_visibility() -> str:
    """What new experiments, uploads and reports are unless somebody says otherwise: the setting's word."""
    return str(settings.DEFAULT_VISIBILITY)


def change_visibility(*, target: Target, visibility: str, by: User | None) -> bool:
    """Give `target` and its runs this visibility and note who did so. False: it had it already.

    Raises ValueError for a word that is no visibility.
    """
    if visibility not in Visibility.values:
        raise ValueError(f"visibility must be one of {', '.join(Visibility.values)}, not {visibility!r}")
    with transaction.atomic():
        rows = type(target)._default_manager.select_for_update()
        before = rows.values_list("visibility", flat=True).get(pk=target.pk)
        type(target)._default_manager.filter(pk=target.pk).update(visibility=visibility)
        if isinstance(target, Experiment | Upload):
            target.runs.update(visibility=visibility)
            take_out(set(target.runs.order_by().values_list("batch", flat=True)))
        target.visibility = visibility
        return changes.record(target=target, field="visibility", old=before, new=visibility, by=by) is not None


def source_of(run: Run) -> Target | None:
    """What decides who may see the run: its experiment or upload, else itself. None: published results are public."""
    if run.publication_id is not None:
        return None
    return run.experiment or run.upload or run


def candidates(user: Reader, *, experiments: Iterable[str] = ()) -> RunQuerySet:
    """Present runs that filters may choose from: the listed ones, and those of experiments named by their address.

    An unlisted experiment can be compared and listed by whoever was given its address.
    """
    chosen = listed(user)
    slugs = list(experiments)
    # An empty condition is an administrator's, who sees all; it would vanish beside another one.
    if chosen and slugs:
        chosen |= Q(experiment__slug__in=slugs) & readable(user)
    return Run.objects.present().filter(chosen)


def nameable(rows: QuerySet[M], user: Reader, *, by_address: bool = False) -> QuerySet[M]:
    """Machines, configurations, workloads, DBMSs without those that only runs use which this person may not see.

    A name can tell as much as a number. Those that no run uses yet stay, and what the person described; those of
    deleted runs go with them. `by_address`: for a page of one of them, which an unlisted run leads to.
    """
    seen = readable(user) if by_address else listed(user)
    if not seen:
        return rows
    runs = Run.objects.filter(**{_FROM_RUN[rows.model]: OuterRef("pk")})
    using: QuerySet[Any] = runs
    visible: QuerySet[Any] = runs.present().filter(seen)
    if rows.model is Dbms:
        versions = DbmsVersion.objects.filter(dbms=OuterRef("pk"))
        using, visible = versions.filter(Exists(using)), versions.filter(Exists(visible))
    # Each by itself is a look into an index; PostgreSQL reads all runs for one that is asked "or".
    of_runs, unused = rows.filter(Exists(visible)), rows.filter(~Exists(using))
    shown = Q(pk__in=of_runs.order_by().values("pk")) | Q(pk__in=unused.order_by().values("pk"))
    if user.pk and rows.model in (Config, HardwareProfile):
        shown |= Q(created_by=user.pk)
    return rows.filter(shown)


def may_contribute(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role in _CONTRIBUTORS


def may_operate(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role in _OPERATORS


def may_manage_people(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.role == UserRole.ADMIN


def scopes_of(user: Person, token: ApiToken | None = None) -> set[str]:
    """What somebody may do: by a login all that their role has, by a token what both it and the role have."""
    granted = set(SCOPES_BY_ROLE[user.role]) if isinstance(user, User) and user.is_active else set()
    return granted if token is None else granted & set(token.scopes)


def readable_batch(user: Reader, batch_id: UUID) -> Batch:
    """One with a run that this person may open. Raises Http404."""
    runs = Run.objects.present().readable_by(user).filter(batch=OuterRef("pk"))
    return get_object_or_404(Batch.objects.filter(Exists(runs)).select_related("owner"), pk=batch_id)


def may_change(user: Person, target: Target | Batch) -> bool:
    """Contributors change what is theirs, operators and administrators whatever they can open."""
    return _may_edit(user, owner_id_of(target))


def changeable(user: Person, target: T) -> T:
    """The thing. Raises PermissionDenied for a contributor who does not own it."""
    if not may_change(user, target):
        raise PermissionDenied("This belongs to somebody else. Its owner, operators and administrators may change it.")
    return target


def changeable_run(user: Reader, run_id: UUID, *, deleted: bool = False) -> Run:
    """A present run, or with `deleted` also one that can be restored. Raises Http404 for what they may not see."""
    rows = Run.objects.readable_by(user).select_related("experiment", "upload")
    return changeable(user, get_object_or_404(rows if deleted else rows.present(), id=run_id))


def may_describe(user: Person, row: HardwareProfile | Config) -> bool:
    """The same for machines and configurations; what an article prints nobody may edit."""
    return row.publication_id is None and _may_edit(user, row.created_by_id)


def describable(user: Person, rows: QuerySet[D], slug: str) -> D:
    """The one of `rows` with this slug. Raises Http404, and PermissionDenied for what is not theirs to describe."""
    row = get_object_or_404(rows, slug=slug)
    if not may_describe(user, row):
        raise PermissionDenied("Only operators may change what somebody else described, nobody what was published.")
    return row


def _may_edit(user: Person, owner_id: UUID | None) -> bool:
    return may_operate(user) or (user is not None and may_contribute(user) and owner_id == user.pk)
