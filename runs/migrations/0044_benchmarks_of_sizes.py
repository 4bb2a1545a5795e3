"""Another size of the data is another benchmark: what tells its size beside its factors is filed anew."""

from django.db import migrations

SIZES = (
    "scale_factor", "warehouses", "rows", "rows_per_table", "tables", "dataset_mb", "dataset_gb", "target_size_mb",
)  # fmt: skip


def file_anew(apps, schema_editor):
    batches = apps.get_model("runs", "Batch").objects
    ids = apps.get_model("runs", "SeriesBatch").objects.filter(run__dataset__has_any_keys=[*SIZES]).values("batch")
    batches.filter(pk__in=ids).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0043_labels_of_times")]

    operations = [migrations.RunPython(file_anew, migrations.RunPython.noop)]
