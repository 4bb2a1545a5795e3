"""Databases in memory become a class of their own; a run that cannot have waited for its disk says so in a column."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models

# As the agent has always worded it: benchagent.configfiles.engines, H2 and HSQLDB.
IN_MEMORY = "the database is in memory"
WAITED = "waited_for_disk"


def in_memory(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("runs", "Run").objects
    runs.filter(durability="none", durability_reason__startswith=IN_MEMORY).update(durability="memory")


def not_in_memory(apps: Any, schema_editor: Any) -> None:
    apps.get_model("runs", "Run").objects.filter(durability="memory").update(durability="none")


def doubts(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("runs", "Run").objects
    # The check counted transactions that only read, too.
    only_read = apps.get_model("runs", "RunFactor").objects.filter(name="load", text__startswith="select")
    rows = runs.filter(durability="power_loss").exclude(checks=[]).exclude(pk__in=only_read.values("run"))
    for key, checks in rows.values_list("pk", "checks").iterator():
        found = [check.get("detail", "") for check in checks if check.get("name") == WAITED and not check.get("ok")]
        if found:
            runs.filter(pk=key).update(durability_doubt=found[0])


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_run_statistics")]
    operations = [
        migrations.AlterField(
            model_name="run",
            name="durability",
            field=models.CharField(
                blank=True,
                max_length=20,
                choices=[
                    ("power_loss", "a commit survives power loss"),
                    ("dbms_crash", "a commit survives a crash of the DBMS, not of the machine"),
                    ("bounded_loss", "the last moments of commits may be lost in a crash"),
                    ("none", "a commit may be lost in any crash"),
                    ("memory", "the database is in memory: nothing outlives the process"),
                ],
            ),
        ),
        migrations.AddField(model_name="run", name="durability_doubt", field=models.TextField(blank=True)),
        migrations.RunPython(in_memory, not_in_memory),
        migrations.RunPython(doubts, migrations.RunPython.noop),
    ]
