"""Pages that begin after the last row seen: steady while rows are added.

A cursor holds the ordering, the direction and the values of the row it stands at. Rows without a value come last,
whichever way a column is sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core import signing
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from django.db.models.expressions import OrderBy
from django.db.models.lookups import Exact, GreaterThan, LessThan

from runs.formatting import natural, version_order
from runs.models import DbmsVersion, Run

# Counting stops here: beyond it "more than" is all that a page can use.
COUNT_LIMIT = 10_000
VERSION = "dbms_version__name"


class WrongCursor(ValueError):
    """A cursor that is not one of ours, or belongs to another ordering."""


def _ranks() -> dict[str, int]:
    """Versions as people count them, 9.6 before 10: there are few, and no database sorts them so."""
    rows = DbmsVersion.objects.values_list("dbms__name", "version", "name", "pk")
    in_order = sorted((natural(dbms), version_order(version), name, str(key)) for dbms, version, name, key in rows)
    return {key: rank for rank, (*_, key) in enumerate(in_order)}


@dataclass(frozen=True)
class Column:
    """One column of an ordering; `path` leads from a run to the value."""

    path: str
    falling: bool = False
    nullable: bool = False

    @property
    def expression(self) -> F | Case:
        if self.path != VERSION:
            return F(self.path)
        ranks = [When(dbms_version=key, then=Value(rank)) for key, rank in _ranks().items()]
        return Case(*ranks, default=Value(len(ranks)), output_field=IntegerField())

    def ordering(self, *, backward: bool) -> OrderBy:
        descending, first_or_last = self.falling != backward, {}
        if self.nullable:
            first_or_last = {"nulls_first": True} if backward else {"nulls_last": True}
        return OrderBy(self.expression, descending=descending, **first_or_last)

    def is_(self, lookup: str, value: Any) -> Q:
        if self.path != VERSION:
            return Q(**{f"{self.path}__{lookup}": value})
        return Q({"lt": LessThan, "gt": GreaterThan, "exact": Exact}[lookup](self.expression, value))

    def beyond(self, value: Any, *, backward: bool) -> Q:
        """Rows that come strictly later in the direction."""
        if value is None:
            return self.is_("isnull", False) if backward else Q(pk__in=[])
        later = self.is_("lt" if self.falling != backward else "gt", value)
        return later | self.is_("isnull", True) if self.nullable and not backward else later

    def same(self, value: Any) -> Q:
        return self.is_("isnull", True) if value is None else self.is_("exact", value)

    def value_of(self, run: Run) -> Any:
        """As JSON holds it. Of a version its key: ranks change when versions are added."""
        value: Any = run
        for name in ("dbms_version_id" if self.path == VERSION else self.path).split("__"):
            value = getattr(value, name) if value is not None else None
        if isinstance(value, datetime):
            return value.isoformat()
        return value if value is None or isinstance(value, int | float) else str(value)


# Newest first; what was stored at the same moment in its own order, else as it was measured, cell by cell.
LAST_COLUMNS = (
    Column("created_at", falling=True),
    Column("order_index", nullable=True),
    Column("measured_at", falling=True, nullable=True),
    Column("cell_key"),
    Column("repeat"),
    Column("id"),
)


@dataclass(frozen=True)
class Page:
    """`next` and `previous` are cursors, None where there is nothing more."""

    rows: list[Run]
    next: str | None
    previous: str | None


def page(rows: QuerySet[Run], *, columns: Sequence[Column], name: str, cursor: str = "", size: int) -> Page:
    """One page of `rows`. `name` is that of the ordering: a cursor of another one is refused. Raises WrongCursor."""
    backward = False
    if cursor:
        backward, values = _read(cursor, columns, name)
        rows = rows.filter(_after(columns, values, backward=backward))
    shown = of_ids(rows, first_ids(rows, columns, size + 1, backward=backward))
    more, shown = len(shown) > size, shown[:size]
    if backward:
        shown.reverse()
    has_next, has_previous = (bool(shown), more) if backward else (more, bool(cursor and shown))
    return Page(
        rows=shown,
        next=cursor_at(shown[-1], columns, name) if has_next else None,
        previous=cursor_at(shown[0], columns, name, backward=True) if has_previous else None,
    )


def first_rows(ordered: QuerySet[Run], size: int) -> list[Run]:
    """Their ids are asked for first: PostgreSQL plans a query of more than eight tables as it is written, and would
    join all rows with all that they refer to before it takes the first of them.
    """
    return of_ids(ordered, list(ordered.values_list("pk", flat=True)[:size]))


def of_ids(rows: QuerySet[Run], ids: Sequence[UUID]) -> list[Run]:
    """The rows with these ids, in their order."""
    by_id = rows.in_bulk(ids)
    return [by_id[key] for key in ids if key in by_id]


def first_ids(rows: QuerySet[Run], columns: Sequence[Column], most: int, *, backward: bool = False) -> list[UUID]:
    """In the order of the columns. Runs without a value of the first are asked for by themselves: PostgreSQL reads
    them first where it reads an index downwards.
    """
    first, later = columns[0], [column.ordering(backward=backward) for column in columns[1:]]
    if not first.nullable:
        parts = [rows.order_by(first.ordering(backward=backward), *later)]
    else:
        of_values = OrderBy(first.expression, descending=first.falling != backward)
        with_value = rows.filter(first.is_("isnull", False)).order_by(of_values, *later)
        parts = [with_value, rows.filter(first.is_("isnull", True)).order_by(*later)]
    ids: list[UUID] = []
    for part in reversed(parts) if backward else parts:
        if len(ids) < most:
            ids += part.values_list("pk", flat=True)[: most - len(ids)]
    return ids


def numbered(rows: QuerySet[Run], *, columns: Sequence[Column], name: str, start: int, size: int) -> Page:
    """The page that begins at row `start`, counted from 0."""
    shown = of_ids(rows, first_ids(rows, columns, start + size + 1)[start:])
    more, shown = len(shown) > size, shown[:size]
    return Page(
        rows=shown,
        next=cursor_at(shown[-1], columns, name) if more else None,
        previous=cursor_at(shown[0], columns, name, backward=True) if start and shown else None,
    )


def bounded_count(rows: QuerySet[Any]) -> tuple[int, bool]:
    """(number of rows, whether it is exact): never counts further than `COUNT_LIMIT`."""
    count = rows.order_by().values("pk")[: COUNT_LIMIT + 1].count()
    return min(count, COUNT_LIMIT), count <= COUNT_LIMIT


def _after(columns: Sequence[Column], values: Sequence[Any], *, backward: bool) -> Q:
    beyond, same = Q(pk__in=[]), Q()
    for column, value in zip(columns, values, strict=True):
        beyond |= same & column.beyond(value, backward=backward)
        same &= column.same(value)
    return beyond


def cursor_at(run: Run, columns: Sequence[Column], name: str, *, backward: bool = False) -> str:
    return signing.dumps([name, backward, [column.value_of(run) for column in columns]], salt=__name__)


def _read(cursor: str, columns: Sequence[Column], name: str) -> tuple[bool, list[Any]]:
    """It is signed: what is in it is ours."""
    try:
        of, backward, values = signing.loads(cursor, salt=__name__)
    except signing.BadSignature as error:
        raise WrongCursor("It is not a cursor of this list.") from error
    if of != name:
        raise WrongCursor("It belongs to another ordering.")
    if len(values) != len(columns):
        raise WrongCursor("It is of an earlier version of this list: begin with its first page.")
    ranks = _ranks() if any(column.path == VERSION for column in columns) else {}
    return backward, [
        ranks.get(value, len(ranks)) if column.path == VERSION else value
        for column, value in zip(columns, values, strict=True)
    ]
