"""Whether the tables are of this version: an older one would write what a newer one no longer understands."""

from __future__ import annotations

from django.db.migrations.loader import MigrationLoader

APPS = ("runs", "agents")


def why_newer(loader: MigrationLoader) -> str:
    """Why this version must not start on this database; empty where it may."""
    unknown = [
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in APPS and (app, name) not in loader.disk_migrations
    ]
    if not unknown:
        return ""
    return (
        f"the database belongs to a newer version of Benchsite: it has {', '.join(sorted(unknown))}, which this "
        "version does not know. Nothing was changed. Start the newer version, or restore a backup made with this one."
    )
