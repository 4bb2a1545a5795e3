"""What tools write as ops/s or tpmC is what the catalogue has as operations/s and new orders/min: one metric, of which
more is better.
"""

from django.db import migrations

# As sources write it, and what the catalogue says of it.
SAME = (
    ("ops_per_s", "ops/s", "operations/s", "higher", "Operations of all types"),
    ("tpmc", "tpmC", "new orders/min", "higher", "New orders a minute (tpmC-like)"),
    ("deadlocks", "errors", "deadlocks", "lower", "Deadlocks in the window"),
)


def join(apps, schema_editor):
    metrics = apps.get_model("runs", "Metric").objects
    for name, written, unit, better, label in SAME:
        old = metrics.filter(name=name, unit=written).first()
        if old is None:
            continue
        own = metrics.filter(name=name, unit=unit).first()
        if own is None:
            metrics.filter(pk=old.pk).update(unit=unit, better=better, label=label)
            continue
        for model in ("Measurement", "SeriesChunk", "Aggregate", "Benchmark"):
            rows = apps.get_model("runs", model).objects.filter(metric=old)
            if model in ("Measurement", "SeriesChunk"):
                # A run that tells both keeps both.
                rows = rows.exclude(run__in=apps.get_model("runs", model).objects.filter(metric=own).values("run"))
            rows.update(metric=own)
        metrics.filter(pk=old.pk).update(better=better)


class Migration(migrations.Migration):

    dependencies = [("runs", "0041_order_of_versions_after_a_dash")]

    operations = [migrations.RunPython(join, migrations.RunPython.noop)]
