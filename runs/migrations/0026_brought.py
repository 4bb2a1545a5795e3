"""Experiments that came with a bundle are not taken for measured here until an operator accepts them."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def mark(apps: Any, schema_editor: Any) -> None:
    """A bundle's runs came by uploads; those of a schedule have none."""
    uploaded = apps.get_model("runs", "Run").objects.exclude(upload=None).exclude(experiment=None)
    rows = apps.get_model("runs", "Experiment").objects
    rows.filter(pk__in=uploaded.values_list("experiment", flat=True)).update(brought=True)


class Migration(migrations.Migration):
    dependencies = [("runs", "0025_copies")]
    operations = [
        migrations.AddField("experiment", "brought", models.BooleanField(default=False)),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
