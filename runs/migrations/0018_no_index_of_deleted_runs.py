"""No index begins with `deleted_at`: SQLite took it for every list, and sorted all runs that are not deleted."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def drop(apps: Any, schema_editor: Any) -> None:
    """By hand: Django would copy the whole table on SQLite."""
    run = apps.get_model("runs", "Run")
    for name in schema_editor._constraint_names(run, ["deleted_at"], index=True):
        schema_editor.execute(schema_editor._delete_index_sql(run, name))


class Migration(migrations.Migration):
    dependencies = [("runs", "0017_tool_descriptions")]
    operations = [
        migrations.RemoveIndex(model_name="run", name="runs_run_deleted_1bc9ce_idx"),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, migrations.RunPython.noop)],
            state_operations=[
                migrations.AlterField("run", "deleted_at", models.DateTimeField(null=True, blank=True)),
            ],
        ),
    ]
