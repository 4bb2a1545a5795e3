"""An older release that is measured on beside a newer one is a benchmark of its own: the worker looks for them in each
series in which one was measured after a newer one.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Max, Min


def look_for_releases(apps, schema_editor):
    batches = apps.get_model("runs", "SeriesBatch").objects
    spans = {}
    rows = batches.filter(benchmark__branch="").order_by().values_list("benchmark", "version_order")
    for benchmark, order, first, last in rows.annotate(Min("measured_at"), Max("measured_at")):
        spans.setdefault(benchmark, []).append((order, first, last))
    for benchmark, versions in spans.items():
        versions.sort(reverse=True)
        newer_since = [min(first for _, first, _ in versions[:place]) for place in range(1, len(versions))]
        if any(last.date() >= since.date() for (*_, last), since in zip(versions[1:], newer_since, strict=True)):
            row = batches.filter(benchmark=benchmark).order_by("measured_at").last()
            batches.filter(pk=row.pk).update(is_watched=False)
            apps.get_model("runs", "Batch").objects.filter(pk=row.batch_id).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0051_places_of_steps")]

    operations = [
        migrations.AddField(
            "benchmark", "release_of",
            models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="releases",
                to="runs.benchmark",
            ),
        ),
        migrations.RunPython(look_for_releases, migrations.RunPython.noop),
    ]
