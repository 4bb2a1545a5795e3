"""Pages that begin after the last row seen: as fast on page 1,000 as on page 1, and steady while rows are added.

A cursor holds the ordering, the direction and the values of the row it stands at. Rows without a value come last,
whichever way a column is sorted.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from itertools import groupby
from operator import itemgetter, or_
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import (
    Case,
    DateTimeField,
    Exists,
    F,
    Field,
    IntegerField,
    Model,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import OrderBy
from django.db.models.lookups import IsNull
from django.db.models.sql.where import WhereNode

from runs.formatting import natural
from runs.models import DbmsVersion, Run
from runs.models.runs import RunQuerySet, unindexed

# Counting stops here: beyond it "more than" is all that a page can use.
COUNT_LIMIT = 10_000
# What is noted at a query goes with all that comes of it: how far it is counted where each row costs too much, and
# that only the newest rows are looked through, as words, settings and the like stand in no index.
COUNTED_TO, NEWEST_ONLY = "counted_to", "newest_only"
MAX_CURSOR_CHARACTERS = 2_000
# Machines, workloads or versions whose runs are asked for at once.
FIRST_NAMES, MOST_NAMES = 10, 200


class WrongCursor(ValueError):
    """A cursor that is not one of ours, or belongs to another ordering."""


@dataclass(frozen=True)
class Column:
    """One column of an ordering; `path` leads from a run to the value."""

    path: str
    falling: bool = False
    nullable: bool = False
    # Not above any value, of a column with an index: its rows with a value are read by it, then those without.
    least: Any = None

    def ordering(self, *, backward: bool) -> OrderBy:
        by = _rank_of_version() if self.path == VERSION else F(self.path)
        if not self.nullable:
            return by.desc() if self.falling != backward else by.asc()
        if backward:
            return by.asc(nulls_first=True) if self.falling else by.desc(nulls_first=True)
        return by.desc(nulls_last=True) if self.falling else by.asc(nulls_last=True)

    def beyond(self, value: Any, *, backward: bool) -> Q | None:
        """Rows that come strictly later in the direction; None where there can be none."""
        if value is None:
            return Q(**{f"{self.path}__isnull": False}) if backward else None
        smaller = self.falling != backward
        later = Q(**{f"{self.path}__{'lt' if smaller else 'gt'}": value})
        return later | Q(**{f"{self.path}__isnull": True}) if self.nullable and not backward else later

    def same(self, value: Any) -> Q:
        return Q(**{f"{self.path}__isnull": True}) if value is None else Q(**{self.path: value})

    def within(self, value: Any, *, backward: bool) -> Q:
        """Not before the value: a range that an index can start from."""
        if value is None or self.nullable:
            return Q()
        smaller = self.falling != backward
        return Q(**{f"{self.path}__{'lte' if smaller else 'gte'}": value})

    def value_of(self, run: Run) -> Any:
        value: Any = run
        for name in self.path.split("__"):
            value = getattr(value, name) if value is not None else None
        return value


VERSION = "dbms_version__name"


def _rank_of_version() -> Case:
    """Versions as people count them, 9.6 before 10: there are few, and no database sorts them so."""
    names = sorted(DbmsVersion.objects.values_list("pk", "name"), key=lambda row: natural(row[1]))
    ranks = [When(dbms_version=key, then=Value(rank)) for rank, (key, _) in enumerate(names)]
    return Case(*ranks, default=Value(len(ranks)), output_field=IntegerField())


# Orderings by a name, and the field of a run that leads to what has it.
LINKS = {"workload__name": "workload", "dbms_version__name": "dbms_version", "hardware__name": "hardware"}

# Newest first; what was stored at the same moment in its own order.
LAST_COLUMNS = (
    Column("created_at", falling=True),
    Column("order_index", nullable=True),
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
    backward, values = _read_cursor(cursor, columns, name) if cursor else (False, None)
    shown = _of(rows, _ids(rows, columns, values, backward=backward, limit=size + 1))
    more, shown = len(shown) > size, shown[:size]
    if backward:
        shown.reverse()
    has_next, has_previous = (bool(shown), more) if backward else (more, bool(cursor) and bool(shown))
    return Page(
        rows=shown,
        next=cursor_at(shown[-1], columns, name) if has_next else None,
        previous=cursor_at(shown[0], columns, name, backward=True) if has_previous else None,
    )


def _ids(
    rows: QuerySet[Run], columns: Sequence[Column], values: Sequence[Any] | None, *, backward: bool, limit: int
) -> list[UUID]:
    """Of the first `limit` rows after the cursor with these `values`.

    Ids alone: sorting whole rows with all they refer to reads every one that matches.
    """
    read = _by_name if columns[0].path in LINKS else _by_index if columns[0].least is not None else _in_order
    return read(rows, columns, values, backward=backward, limit=limit)


def _in_order(
    rows: QuerySet[Run], columns: Sequence[Column], values: Sequence[Any] | None, *, backward: bool, limit: int
) -> list[UUID]:
    if values is not None:
        rows = rows.filter(_after(columns, values, backward=backward))
    ordered = rows.order_by(*(column.ordering(backward=backward) for column in columns))
    return list(ordered.values_list("pk", flat=True)[:limit])


def _by_index(
    rows: QuerySet[Run], columns: Sequence[Column], values: Sequence[Any] | None, *, backward: bool, limit: int
) -> list[UUID]:
    """Rows with a value, then those without: one that is not below the least is looked up in the column's index, where
    databases would rather sort all rows than begin there with the gaps.
    """
    first, rest = columns[0], columns[1:]
    in_gaps = values is not None and values[0] is None
    with_value = (
        rows.filter(**{f"{first.path}__gte": first.least}),
        [replace(first, nullable=False), *rest],
        None if in_gaps else values,
    )
    without = (rows.filter(IsNull(unindexed(first.path), True)), rest, values[1:] if values and in_gaps else None)
    parts = [without, with_value] if backward else [with_value, without]
    if values is not None and in_gaps != backward:
        parts = parts[1:]
    ids: list[UUID] = []
    for part, by, after in parts:
        if len(ids) < limit:
            ids += _in_order(part, by, after, backward=backward, limit=limit - len(ids))
    return ids


def _of(rows: QuerySet[Run], ids: Sequence[UUID]) -> list[Run]:
    whole = rows.order_by()
    # The filters have found the ids: with them SQLite would go through all that match once more.
    whole.query.where = WhereNode()
    by_key = {run.pk: run for run in whole.filter(pk__in=ids)}
    return [by_key[key] for key in ids if key in by_key]


def _by_name(
    rows: QuerySet[Run], columns: Sequence[Column], values: Sequence[Any] | None, *, backward: bool, limit: int
) -> list[UUID]:
    """The same for an ordering by the name of a machine, workload or version.

    Name after name, each from an index, until the page is full: sorting all runs by a joined name reads all of them.
    """
    link, rest = LINKS[columns[0].path], columns[1:]
    ids: list[UUID] = []
    for name, keys in _names(rows, columns[0], values, backward=backward):
        chosen = rows.filter(Q(**{f"{link}__in": keys}) if keys else Q(**{f"{link}__isnull": True}))
        after = values[1:] if values is not None and name == values[0] else None
        ids += _in_order(chosen, rest, after, backward=backward, limit=limit - len(ids))
        if len(ids) == limit:
            break
    return ids


def _names(
    rows: QuerySet[Run], column: Column, values: Sequence[Any] | None, *, backward: bool
) -> Iterator[tuple[str | None, list[UUID]]]:
    """(name, keys of what has it) in the direction, from the cursor's name on; (None, []) for runs without one."""
    link = LINKS[column.path]
    model: Any = Run._meta.get_field(link).related_model
    start = values[0] if values else None
    smaller = column.falling != backward
    without_name: list[tuple[str | None, list[UUID]]] = [(None, [])] if column.nullable else []
    if backward and (values is not None and start is None):
        yield from without_name
    if start is not None or backward or values is None:
        every = model.objects.order_by().values_list("name", "pk")
        # What two names that count alike have before them is one of them: "1.0" and "1.00".
        ordered = sorted(every, key=lambda row: (natural(row[0]), row[0]), reverse=smaller)
        following = [
            row for row in ordered
            if start is None or row[0] == start or ((natural(row[0]), row[0]) > (natural(start), start)) != smaller
        ]  # fmt: skip
        for name, group in groupby(_with_runs(rows, link, following), key=itemgetter(0)):
            yield name, [key for _, key in group]
    if not backward:
        yield from without_name


def _with_runs(rows: QuerySet[Run], link: str, named: Sequence[tuple[str, UUID]]) -> Iterator[tuple[str, UUID]]:
    """Those (name, key) that any of the runs leads to: the first few soon fill a page, then ever more at a time.

    A question for each key: PostgreSQL knows of a key how many runs have it, and of "each key" only the average, for
    which it would read all runs when there is none.
    """
    model: Any = Run._meta.get_field(link).related_model
    at, size = 0, FIRST_NAMES
    while some := named[at : at + size]:
        conditions = (Q(Exists(rows.order_by().filter(**{link: key})), pk=key) for _, key in some)
        kept = set(model.objects.order_by().filter(reduce(or_, conditions)).values_list("pk", flat=True))
        yield from (row for row in some if row[1] in kept)
        at, size = at + size, min(2 * size, MOST_NAMES)


def numbered(
    rows: QuerySet[Run], *, columns: Sequence[Column], name: str, start: int, size: int, few: bool = False
) -> Page:
    """The page that begins at row `start`, counted from 0: its cost grows with `start`. `few` rows are just sorted by
    a name.
    """
    read = _in_order if few and columns[0].path in LINKS else _ids
    shown = _of(rows, read(rows, columns, None, backward=False, limit=start + size + 1)[start:])
    more, shown = len(shown) > size, shown[:size]
    return Page(
        rows=shown,
        next=cursor_at(shown[-1], columns, name) if more else None,
        previous=cursor_at(shown[0], columns, name, backward=True) if start and shown else None,
    )


def bounded_count(rows: QuerySet[Any], column: str = "") -> tuple[int, bool]:
    """(number of rows, whether it is exact): never counts further than `COUNT_LIMIT`, or than the runs say.

    `column`: one that the index of the condition holds, where SQLite would read the table for a key.
    """
    most = COUNT_LIMIT
    if isinstance(rows, RunQuerySet):
        most, column = getattr(rows.query, COUNTED_TO, COUNT_LIMIT), column or "created_at"
    count = rows.order_by().values(column or "pk")[: most + 1].count()
    return min(count, most), count <= most


def newest(rows: RunQuerySet, most: int) -> RunQuerySet:
    """The newest of them, about `most`; where there are others it says so."""
    oldest = rows.order_by("-created_at").values_list("created_at", flat=True)[most - 1 : most].first()
    if oldest is not None:
        rows = rows.filter(created_at__gte=oldest)
        setattr(rows.query, NEWEST_ONLY, True)
    return rows


def distinct(model: type[Model], column: str, most: int = 2_000) -> list[str] | None:
    """The texts of an indexed column but "", one after the other from the index; None if there are more than `most`.

    It costs as much as there are different ones, however many rows have them.
    """
    quote = connection.ops.quote_name
    table, name = quote(model._meta.db_table), quote(column)
    following = f"SELECT MIN({name}) FROM {table} WHERE {name} >"  # noqa: S608 - names of ours
    statement = (
        f"WITH RECURSIVE each(value) AS ({following} '' UNION ALL SELECT ({following} each.value) FROM each "  # noqa: S608
        f"WHERE each.value IS NOT NULL) SELECT value FROM each WHERE value IS NOT NULL LIMIT {most + 1}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        values = [value for (value,) in cursor.fetchall()]
    return values if len(values) <= most else None


def _after(columns: Sequence[Column], values: Sequence[Any], *, backward: bool) -> Q:
    beyond, same = Q(pk__in=[]), Q()
    for column, value in zip(columns, values, strict=True):
        later = column.beyond(value, backward=backward)
        if later is not None:
            beyond |= same & later
        same &= column.same(value)
    return columns[0].within(values[0], backward=backward) & beyond


def cursor_at(run: Run, columns: Sequence[Column], name: str, *, backward: bool = False) -> str:
    values = [column.value_of(run) for column in columns]
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    text = json.dumps([name, int(backward), plain], separators=(",", ":"), default=str)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, columns: Sequence[Column], name: str) -> tuple[bool, list[Any]]:
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS:
            raise ValueError("too long")
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        of, backward, values = json.loads(text, parse_constant=_refuse)
        if of != name:
            raise WrongCursor("It belongs to another ordering.")
        if backward not in (0, 1) or len(values) != len(columns):
            raise ValueError("not of this list")
        return bool(backward), [_value(column, value) for column, value in zip(columns, values, strict=True)]
    except (ValueError, TypeError, OverflowError, RecursionError, ValidationError, binascii.Error) as error:
        message = str(error) if isinstance(error, WrongCursor) else "It is not a cursor of this list."
        raise WrongCursor(message) from error


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _value(column: Column, value: Any) -> Any:
    """As the column holds it. Raises for anything that the column cannot hold."""
    if value is None:
        if not column.nullable:
            raise ValueError("no value")
        return None
    if isinstance(value, bool) or (isinstance(value, str) and "\x00" in value):
        raise ValueError("no value of this column")
    kept = _field(column).to_python(value)
    if isinstance(kept, datetime) and kept.tzinfo is None:
        raise ValueError("a time without a zone")
    if isinstance(kept, int) and abs(kept) >= 2**31:
        raise ValueError("too large")
    return kept


def _field(column: Column) -> Field[Any, Any]:
    field: Any = None
    model: Any = Run
    for name in column.path.split("__"):
        field = model._meta.get_field(name)
        model = field.related_model
    return field if isinstance(field, Field) else DateTimeField()
