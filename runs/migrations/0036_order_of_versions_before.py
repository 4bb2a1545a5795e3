"""18beta1 stands before 18.0 and behind 17.6: series with such versions are filed anew, which orders them so."""

from django.db import migrations

BEFORE = r"[0-9](alpha|beta|rc|dev|pre)"


def file_anew(apps, schema_editor):
    batches = apps.get_model("runs", "Batch").objects
    ids = apps.get_model("runs", "SeriesBatch").objects.filter(version__version__iregex=BEFORE).values("batch")
    batches.filter(pk__in=ids).update(is_filed=False)


class Migration(migrations.Migration):

    dependencies = [("runs", "0035_telling_message")]

    operations = [migrations.RunPython(file_anew, migrations.RunPython.noop)]
