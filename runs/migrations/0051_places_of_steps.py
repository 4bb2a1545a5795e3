"""Between which batches a step may have begun: the worker measures those that are there anew."""

from django.db import migrations, models


def measure_anew(apps, schema_editor):
    batches, points = (apps.get_model("runs", name) for name in ("SeriesBatch", "ChangePoint"))
    order = ("-commit_number", "-version_order", "-measured_at", "-pk")
    steps = points.objects.filter(kind="step", state="confirmed").order_by()
    for benchmark in steps.values_list("benchmark", flat=True).distinct():
        newest = batches.objects.filter(benchmark=benchmark).order_by(*order).first()
        batches.objects.filter(pk=newest.pk).update(is_watched=False)
        apps.get_model("runs", "Batch").objects.filter(pk=newest.batch_id).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0050_metrics_beside")]

    operations = [
        migrations.AddField("changepoint", "earliest", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("changepoint", "latest", models.DateTimeField(blank=True, null=True)),
        migrations.RunPython(measure_anew, migrations.RunPython.noop),
    ]
