"""10.0-rc1 stands before 10.0, and 18beta1 before 18rc1: series with such versions are filed anew."""

from django.db import migrations

BEFORE = r"(dev|snapshot|pre|dmr|alpha|beta|rc)"


def file_anew(apps, schema_editor):
    batches = apps.get_model("runs", "Batch").objects
    ids = apps.get_model("runs", "SeriesBatch").objects.filter(version__version__iregex=BEFORE).values("batch")
    batches.filter(pk__in=ids).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0040_files_of_publications")]

    operations = [migrations.RunPython(file_anew, migrations.RunPython.noop)]
