"""Bring rows to what they should be, write only what differs, and count it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from runs.models.base import NamedModel

M = TypeVar("M", bound=Model)


class Sync:
    """`changes` counts created, updated, restored and deleted rows by (model name, verb)."""

    def __init__(self) -> None:
        self.changes: Counter[tuple[str, str]] = Counter()

    def note(self, model: type[Model], verb: str, count: int = 1) -> None:
        if count:
            self.changes[str(model._meta.verbose_name), verb] += count

    def rows(self, model: type[M], wanted: Sequence[dict[str, Any]], *, among: QuerySet[M] | None = None) -> list[M]:
        """Rows of `model` with these column values, by `id`, in the order given.

        `among` are the rows that may be there: those that are not wanted any more are deleted. The slug of a named
        row is set when it is made (a free one, if somebody has it) and left alone afterwards.
        """
        known = model._default_manager.in_bulk([values["id"] for values in wanted])
        new = []
        for values in wanted:
            if values["id"] not in known:
                free = {"slug": model.free_slug(values["slug"])} if issubclass(model, NamedModel) else {}
                new.append(model(**values | free))
        model._default_manager.bulk_create(new)
        self.note(model, "created", len(new))
        rows = {**known, **{row.pk: row for row in new}}
        kept = {"slug"} if issubclass(model, NamedModel) else set()
        for values in wanted:
            if values["id"] in known:
                self.correct(rows[values["id"]], {name: one for name, one in values.items() if name not in kept})
        if among is not None:
            stale = among.exclude(pk__in=list(rows))
            self.note(model, "deleted", stale.count())
            stale.delete()
        return [rows[values["id"]] for values in wanted]

    def correct(self, row: Model, values: dict[str, Any]) -> None:
        different = {name: value for name, value in values.items() if getattr(row, name) != value}
        if not different:
            return
        for name, value in different.items():
            setattr(row, name, value)
        row.save(update_fields=list(different))
        self.note(type(row), "updated")
