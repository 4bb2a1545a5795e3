"""Rows of DBMSs and their versions, by name: from the catalogue, or made on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchagent.catalog import DBMSS
from django.utils.text import slugify

from runs.models import Dbms, DbmsVersion, UnknownName
from runs.models.text import clean


def resolve_dbms_version(dbms_slug: str, version: str) -> DbmsVersion:
    """A version of a catalogue DBMS. Raises UnknownName for a DBMS that the catalogue does not have."""
    entry = DBMSS.get(dbms_slug)
    if entry is None:
        raise UnknownName(f"unknown DBMS {dbms_slug!r}; known: {', '.join(sorted(DBMSS))}")
    dbms, _ = Dbms.objects.get_or_create(slug=entry.slug, defaults={"name": entry.name, "vendor": entry.vendor})
    return version_of(dbms, version)


def version_of(dbms: Dbms, version: str, architecture: str = "", *, aliases: Sequence[str] = ()) -> DbmsVersion:
    """The row of a DBMS's version, made on first use with a slug such as `postgresql-15-8`.

    `aliases` are other names of the same version: a row that has one of them is taken, and keeps all of them.
    """
    version, architecture = clean(version, 120), clean(architecture, 60)
    rows = list(DbmsVersion.objects.filter(dbms=dbms).select_related("dbms"))
    named = (matching_version(rows, name, architecture) for name in (version, *aliases))
    row = next(filter(None, named), None) or make_version(dbms, version, architecture)
    known = {row.version, *row.aliases}
    if missing := [name for name in (version, *aliases) if name not in known]:
        row.aliases = [*row.aliases, *dict.fromkeys(missing)]
        row.save(update_fields=["aliases"])
    return row


def matching_version(rows: Iterable[DbmsVersion], version: str, architecture: str) -> DbmsVersion | None:
    """The row of this version and architecture; its other names count after every row's own."""
    alike = [row for row in rows if row.architecture == architecture]
    for row in alike:
        if row.version == version:
            return row
    wanted = version.casefold()
    return next((row for row in alike if wanted in (str(alias).casefold() for alias in row.aliases)), None)


def make_version(dbms: Dbms, version: str, architecture: str) -> DbmsVersion:
    name = " ".join(part for part in (dbms.name, version, architecture) if part)
    slug = slugify("-".join(part for part in (dbms.slug, version.replace(".", "-"), architecture) if part))
    return DbmsVersion.objects.create(
        dbms=dbms, version=version, architecture=architecture, slug=DbmsVersion.free_slug(slug), name=name[:200]
    )
