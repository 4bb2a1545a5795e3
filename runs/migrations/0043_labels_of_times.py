"""Which system has the lowest load? Metrics of times say so, and failed transactions are told from those of tools."""

from django.db import migrations

NEW = (
    ("errors", "errors", "Failed transactions", "Failed transactions in the window"),
    ("load_s", "s", "Load", "Load time"),
    ("index_s", "s", "Index build", "Index build time"),
    ("backup_s", "s", "Backup", "Backup time"),
    ("restore_s", "s", "Restore", "Restore time"),
)


def rename(apps, schema_editor):
    for name, unit, old, new in NEW:
        apps.get_model("runs", "Metric").objects.filter(name=name, unit=unit, label=old).update(label=new)


class Migration(migrations.Migration):

    dependencies = [("runs", "0042_units_of_the_catalogue")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
