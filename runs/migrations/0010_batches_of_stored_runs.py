"""Runs made before there were batches: those of an experiment, an import, an upload or a publication belong together.

A few thousand at a time, each in a transaction of its own: it can be stopped and goes on where it was.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from django.db import migrations, transaction
from django.db.models import OuterRef, Subquery, UUIDField
from django.db.models.functions import Coalesce

AT_ONCE = 5_000


def fill(apps: Any, schema_editor: Any) -> None:
    run, batch, upload = (apps.get_model("runs", name) for name in ("Run", "Batch", "Upload"))
    # An upload that was read from dropped files belongs to them.
    sent = upload.objects.filter(pk=OuterRef("upload")).values("file_import")[:1]
    made_by = Coalesce(
        "experiment_id", Subquery(sent), "upload_id", "publication_id", "pk", output_field=UUIDField()
    )
    rows = run.objects.order_by("pk").annotate(made_by=made_by)
    while some := list(rows.filter(batch=None).values_list("pk", "made_by", "owner", "created_at")[:AT_ONCE]):
        first, last = some[0][0], some[-1][0]
        with transaction.atomic():
            batch.objects.bulk_create(
                (batch(pk=pk, owner_id=owner, created_at=at) for _, pk, owner, at in sorted(some, key=itemgetter(3))),
                ignore_conflicts=True, batch_size=500,
            )  # fmt: skip
            run.objects.filter(batch=None, pk__gte=first, pk__lte=last).update(batch=made_by)


def label(apps: Any, schema_editor: Any) -> None:
    """An experiment that somebody gave a name is called by it."""
    experiment, batch = apps.get_model("runs", "Experiment"), apps.get_model("runs", "Batch")
    for pk, name, plan in experiment.objects.values_list("pk", "name", "plan").iterator():
        if name == plan.get("name"):
            batch.objects.filter(pk=pk, label="").update(label=name[:120])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("runs", "0009_batches")]
    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(label, migrations.RunPython.noop),
    ]
