"""The bytes that a load wrote a second are its data load rate: "Load rate by bytes of the values" asked what values."""

from django.db import migrations

OLD, NEW = "Load rate by bytes of the values", "Data load rate"


def rename(apps, schema_editor):
    apps.get_model("runs", "Metric").objects.filter(name="load_mb_per_s", unit="MB/s", label=OLD).update(label=NEW)


class Migration(migrations.Migration):

    dependencies = [("runs", "0046_batches_of_zero")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
