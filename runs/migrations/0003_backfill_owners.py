"""Rows made before there were owners: a run belongs to who scheduled or uploaded it, a configuration to its DBMS.

And values that lists sort by, with the index that Django cannot declare for both databases.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import F, OuterRef, Subquery


def backfill(apps: Any, schema_editor: Any) -> None:
    model = lambda name: apps.get_model("runs", name)  # noqa: E731
    owner_of_token = model("ApiToken").objects.filter(pk=OuterRef("token")).values("owner")[:1]
    model("Upload").objects.filter(owner=None).exclude(token=None).update(owner=Subquery(owner_of_token))
    for name, column in (("Experiment", "created_by"), ("Upload", "owner")):
        link = name.lower()
        person = model(name).objects.filter(pk=OuterRef(link)).values(column)[:1]
        model("Run").objects.filter(owner=None).exclude(**{link: None}).update(owner=Subquery(person))
    dbms = model("Run").objects.filter(config=OuterRef("pk")).order_by("pk").values("dbms_version__dbms")[:1]
    model("Config").objects.filter(dbms=None).update(dbms=Subquery(dbms))


def values(apps: Any, schema_editor: Any) -> None:
    run, measurement = apps.get_model("runs", "Run"), apps.get_model("runs", "Measurement")
    numbers = measurement.objects.filter(
        run=OuterRef("pk"), metric__name=F("run__workload__primary_metric"), phase="run"
    )
    run.objects.update(primary_value=Subquery(numbers.order_by("metric__unit").values("value")[:1]))


def falling(apps: Any, schema_editor: Any) -> None:
    """Values falling with the gaps last. SQLite sorts: it cannot say where an index puts its gaps."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("CREATE INDEX run_value_falling ON runs_run (primary_value DESC NULLS LAST)")


def no_falling(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX run_value_falling")


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_repository")]
    operations = [
        migrations.RunPython(backfill, migrations.RunPython.noop),
        migrations.RunPython(values, migrations.RunPython.noop),
        migrations.RunPython(falling, no_falling),
    ]
