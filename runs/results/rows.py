"""Rows written many at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection, models

BATCH = 500


def insert(rows: Sequence[models.Model]) -> None:
    """Write unsaved rows of one model; their references must be there. Database errors are Django's, as everywhere.

    COPY where the database is PostgreSQL: it costs a third of what `bulk_create` does, as no SQL is put together and
    no value is quoted one by one.
    """
    if not rows:
        return
    model = type(rows[0])
    if connection.vendor == "postgresql":
        _copy(model, rows)
    else:
        model._default_manager.bulk_create(rows, batch_size=BATCH)


# SQLite has no queue: who waits to write looks whether nobody does every 25 to 100 ms.
LONGEST_LOOK_S = 0.1


def pause_for_writers(spent_s: float) -> None:
    """After a transaction of that time and before the next: long enough that whoever waits finds that nobody writes."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(max(spent_s, LONGEST_LOOK_S))


def _copy(model: type[models.Model], rows: Sequence[models.Model]) -> None:
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in fields)
    statement = f"COPY {quote(model._meta.db_table)} ({names}) FROM STDIN"
    getters = [(field.attname, _preparation(field)) for field in fields]
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            values = row.__dict__
            copy.write_row([prepare(values[name]) if prepare else values[name] for name, prepare in getters])


def _preparation(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """What makes a value of this field into one that the database driver writes; None where it is one already."""
    if isinstance(field, models.JSONField):
        return json.dumps
    if isinstance(field, models.CharField | models.TextField | models.FileField):
        return _text
    return None


def _text(value: Any) -> str | None:
    """Members of enumerations and file names as text."""
    return value if value is None or type(value) is str else str(value)
