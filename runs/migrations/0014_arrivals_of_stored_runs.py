"""Runs at a fixed rate from before its transactions could come in two ways: they came at even distances."""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import Exists, OuterRef

AT_ONCE = 5_000


def name_them(apps: Any, schema_editor: Any) -> None:
    factor = apps.get_model("runs", "RunFactor")
    told = factor.objects.filter(run=OuterRef("run"), name="arrivals")
    rates = factor.objects.filter(name="rate_per_s", number__gt=0, run__provenance="measured").exclude(Exists(told))
    while some := list(rates.order_by("pk").values_list("run", flat=True)[:AT_ONCE]):
        factor.objects.bulk_create(factor(run_id=run, name="arrivals", text="even") for run in some)


class Migration(migrations.Migration):
    dependencies = [("runs", "0013_role_of_a_factor")]
    operations = [migrations.RunPython(name_them, migrations.RunPython.noop)]
