"""What all models share; text from outside made storable on both databases (secrets: `benchagent.redaction`)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from string import ascii_lowercase, digits
from typing import Any, TypeVar

from django.db import models
from django.utils.crypto import get_random_string
from django.utils.text import slugify

T = TypeVar("T")


class UnknownName(ValueError):
    """A workload or DBMS that the catalogue does not have."""


class UUIDModel(models.Model):
    """UUID primary key; a client's own is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True

    def change(self, **values: Any) -> list[str]:
        """Set these columns and save those that differ. -> their names."""
        changed = [name for name, value in values.items() if getattr(self, name) != value]
        for name in changed:
            setattr(self, name, values[name])
        if changed:
            self.save(update_fields=changed)
        return changed


class NamedModel(UUIDModel):
    """Has a name that may change and a unique slug that survives renaming."""

    slug = models.SlugField(max_length=120, unique=True)
    name = models.CharField(max_length=200)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    @classmethod
    def free_slug(cls, wanted: str, *, is_hidden: bool = False) -> str:
        """`wanted` as a slug, with -2, -3… appended while it is taken.

        What is hidden takes no name that another may want, whose -2 would tell of it: letters by chance are appended.
        """
        stem = slugify(wanted)[:100] or "unnamed"
        if is_hidden:
            stem = f"{stem[:90]}-{get_random_string(8, ascii_lowercase + digits)}"
        slug, number = stem, 1
        while cls._default_manager.filter(slug=slug).exists():
            number += 1
            slug = f"{stem}-{number}"
        return slug


def in_parts(rows: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """At most so many of them at a time."""
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


def clean(value: object, limit: int) -> str:
    """Text cut to a column's length; without NUL and lone surrogates, which a database refuses."""
    if value is None:
        return ""
    text = str(value).replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return text[:limit]
