"""A run can be a copy of another; equal series are found by their totals."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0024_ordinary_indexes")]
    operations = [
        migrations.AddField(
            "run",
            "copy_of",
            models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="copies",
                to="runs.run",
            ),
        ),
        migrations.AddIndex("serieschunk", models.Index(fields=["metric", "total"], name="series_total")),
    ]  # fmt: skip
