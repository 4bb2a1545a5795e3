"""What stands beside the main metric in the line of a result is watched, too: its batches are filed anew."""

from django.db import migrations, models

BESIDE = ("latency_p99_ms", "backup_mb_per_s", "restore_s")


def file_anew(apps, schema_editor):
    runs = apps.get_model("runs", "Measurement").objects.filter(metric__name__in=BESIDE).values("run")
    filed = apps.get_model("runs", "SeriesBatch").objects.filter(run__in=runs).exclude(
        benchmark__metric__name__in=BESIDE[:1]
    )  # fmt: skip
    apps.get_model("runs", "Batch").objects.filter(pk__in=filed.values("batch")).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0049_rules_of_a_metric_or_a_benchmark")]

    operations = [
        migrations.AddField("benchmark", "is_beside", models.BooleanField(default=False)),
        migrations.RunPython(file_anew, migrations.RunPython.noop),
    ]
