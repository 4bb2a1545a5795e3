from django.db import migrations, models


def file_anew(apps, schema_editor):
    """Batches of a benchmark that are 0 in each repeat had no centre, and were left out."""
    ids = apps.get_model("runs", "SeriesBatch").objects.filter(centre=None).values("batch")
    apps.get_model("runs", "Batch").objects.filter(pk__in=ids).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0045_deleted_runs")]

    operations = [
        migrations.AlterField(
            "changepoint", "kind",
            models.CharField(
                choices=[
                    ("step", "Step"), ("drift", "Slow drift"), ("noise", "Noise"), ("zero", "From or to zero"),
                ],
                default="step", max_length=8,
            ),
        ),
        migrations.RunPython(file_anew, migrations.RunPython.noop),
    ]
