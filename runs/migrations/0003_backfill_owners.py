"""Rows made before there were owners: a run belongs to who scheduled or uploaded it, a configuration to its DBMS."""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import OuterRef, Subquery


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


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_repository")]
    operations = [migrations.RunPython(backfill, migrations.RunPython.noop)]
