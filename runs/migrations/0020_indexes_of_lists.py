"""Lists of a million runs read no table: by day, label, tag and value of a metric; on SQLite counts neither.

For them indexes go that others begin with too: each run is stored with fewer entries than before.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models.functions import Coalesce

# Model -> fields whose own index goes, with what they refer to by which name.
GOING = {
    "Measurement": {"run": ("runs.run", models.CASCADE, "measurements"),
                    "metric": ("runs.metric", models.PROTECT, "measurements")},
    "RunFactor": {"run": ("runs.run", models.CASCADE, "factors")},
    "RunStorage": {"run": ("runs.run", models.CASCADE, "storage")},
    "SeriesChunk": {"run": ("runs.run", models.CASCADE, "series")},
}  # fmt: skip
OF_EACH = {"workload": "workload", "dbms_version": "dbms", "hardware": "hardware", "config": "config"}


def drop(apps: Any, schema_editor: Any) -> None:
    """By hand: Django would copy the whole tables on SQLite."""
    for name, fields in GOING.items():
        model = apps.get_model("runs", name)
        for field in fields:
            for index in schema_editor._constraint_names(model, [f"{field}_id"], index=True):
                schema_editor.execute(schema_editor._delete_index_sql(model, index))


class Migration(migrations.Migration):
    dependencies = [("runs", "0019_annotations")]
    operations = [
        migrations.RemoveIndex("run", "run_newest"),
        migrations.RemoveIndex("run", "run_latest"),
        migrations.RemoveIndex("run", "run_value"),
        *(migrations.RemoveIndex("run", f"run_newest_of_{short}") for short in OF_EACH.values()),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["-created_at", "order_index", "repeat", "id", "visibility", "owner"],
                condition=models.Q(deleted_at=None), name="run_newest",
            ),
        ),
        *(
            migrations.AddIndex(
                "run",
                models.Index(
                    fields=[name, "-created_at", "visibility", "owner", "deleted_at"], name=f"run_newest_of_{short}"
                ),
            )
            for name, short in OF_EACH.items()
        ),
        migrations.AddIndex(
            "run",
            models.Index(
                Coalesce("started_at", "created_at").desc(), condition=models.Q(deleted_at=None), name="run_latest"
            ),
        ),
        # With the condition of the others: SQLite takes it for a rare one, and would sort what it holds.
        migrations.AddIndex(
            "run", models.Index(fields=["primary_value"], condition=models.Q(deleted_at=None), name="run_value")
        ),
        migrations.AddIndex("batch", models.Index(fields=["tags"], name="batch_tags")),
        migrations.AddIndex("batch", models.Index(fields=["label"], name="batch_label")),
        migrations.AddIndex("run", models.Index(fields=["measured_on"], name="run_measured_on")),
        migrations.AddIndex("run", models.Index(fields=["tags"], name="run_tags")),
        migrations.AddIndex("run", models.Index(fields=["label"], name="run_label")),
        migrations.AddIndex("measurement", models.Index(fields=["metric", "value"], name="measurement_value")),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, migrations.RunPython.noop)],
            state_operations=[
                migrations.AlterField(
                    name.lower(), field,
                    models.ForeignKey(db_index=False, on_delete=on_delete, related_name=related, to=to),
                )
                for name, fields in GOING.items()
                for field, (to, on_delete, related) in fields.items()
            ],
        ),
    ]  # fmt: skip
