"""One time by which a run is listed, filtered, sorted and asked about, from the best that is known of it."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

from django.db import migrations, models
from django.db.models import F


def tell(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("runs", "Run").objects.order_by()
    runs.exclude(started_at=None).update(measured_at=F("started_at"))
    of_days = runs.filter(started_at=None).exclude(measured_on=None)
    for day in list(of_days.values_list("measured_on", flat=True).distinct()):
        of_days.filter(measured_on=day).update(measured_at=datetime.combine(day, time.min, UTC))
    runs.filter(started_at=None, measured_on=None, publication=None).update(measured_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [("runs", "0022_selections_of_strangers")]
    operations = [
        migrations.AddField("run", "measured_at", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.RunPython(tell, migrations.RunPython.noop),
        migrations.RemoveIndex("run", "run_newest"),
        migrations.RemoveIndex("run", "run_latest"),
        migrations.RemoveIndex("run", "run_measured_on"),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=[
                    "-created_at", "order_index", "repeat", "id", "visibility", "owner", "deleted_at", "state",
                    "provenance", "publication", "workload", "dbms_version", "hardware", "config", "primary_value",
                    "measured_at", "durability", "demonstration", "invalid_at",
                ],
                condition=models.Q(deleted_at=None), name="run_newest",
            ),
        ),
        migrations.AddIndex("run", models.Index(fields=["measured_at"], name="run_measured_at")),
    ]  # fmt: skip
