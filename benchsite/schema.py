"""Whether the tables are of this version: an older one would write what a newer one no longer understands."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader

APPS = ("runs", "agents")


def steps(migrations: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without those that take steps together: a database names the steps too, and later versions take more together."""
    return {(app, name) for app, name in migrations if "_squashed_" not in name}


def why_newer(loader: MigrationLoader) -> str:
    """Why this version must not start on this database; empty where it may."""
    unknown = [
        f"{app}.{name}"
        for app, name in steps(loader.applied_migrations)
        if app in APPS and (app, name) not in loader.disk_migrations
    ]
    if not unknown:
        return ""
    return (
        f"the database belongs to a newer version of Benchsite: it has {', '.join(sorted(unknown))}, which this "
        "version does not know. Nothing was changed. Start the newer version, or restore a backup made with this one."
    )


def end_on_other_tables() -> None:
    """Where a process of its own begins: web server and worker end, in words, on tables of another version.

    A database that does not answer is no reason to end: who asks is told so, until it does.
    """
    try:
        loader = MigrationLoader(connection)
    except Error:
        return
    finally:
        connection.close()  # nobody inherits it
    if why := why_newer(loader):
        sys.exit(why)
    if any(app in APPS and (app, name) not in loader.applied_migrations for app, name in loader.graph.leaf_nodes()):
        sys.exit(
            "the tables of the database are of an older version of Benchsite: run `python manage.py migrate` first"
        )
