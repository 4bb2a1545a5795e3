"""Lists that many runs match are read from one index alone, and sorted by their start from one.

PostgreSQL's own index of falling values goes: values are read before gaps, for which that of all values serves.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def no_falling(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS run_value_falling")


def falling(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE INDEX run_value_falling ON runs_run (primary_value DESC NULLS LAST)")


class Migration(migrations.Migration):
    dependencies = [("runs", "0020_indexes_of_lists")]
    operations = [
        migrations.RemoveIndex("run", "run_newest"),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=[
                    "-created_at", "order_index", "repeat", "id", "visibility", "owner", "deleted_at", "state",
                    "provenance", "publication", "workload", "dbms_version", "hardware", "config", "primary_value",
                    "measured_on", "durability", "demonstration", "invalid_at",
                ],
                condition=models.Q(deleted_at=None), name="run_newest",
            ),
        ),
        migrations.RemoveIndex("run", "run_value"),
        migrations.AddIndex("run", models.Index(fields=["primary_value"], name="run_value")),
        migrations.AddIndex("run", models.Index(fields=["started_at"], name="run_started")),
        migrations.RunPython(no_falling, falling),
    ]  # fmt: skip
