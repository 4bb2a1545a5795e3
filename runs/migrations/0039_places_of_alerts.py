"""An alert has all causes that it may have, as a step's place is known as far as noise lets it be."""

from django.db import migrations, models
from django.db.models import F
from django.utils import timezone


def of_one_place(apps, schema_editor):
    alerts = apps.get_model("runs", "Alert").objects
    alerts.update(latest=F("since"))
    for alert in alerts.exclude(cause=""):
        alerts.filter(pk=alert.pk).update(causes=[alert.cause])


def of_the_likeliest(apps, schema_editor):
    alerts = apps.get_model("runs", "Alert").objects
    for alert in alerts.exclude(causes=[]):
        alerts.filter(pk=alert.pk).update(cause=alert.causes[0])


class Migration(migrations.Migration):

    dependencies = [("runs", "0038_cause_of_alerts")]

    operations = [
        migrations.AddField("alert", "causes", models.JSONField(blank=True, default=list)),
        migrations.AddField("alert", "latest", models.DateTimeField(default=timezone.now), preserve_default=False),
        migrations.RunPython(of_one_place, of_the_likeliest),
        migrations.RemoveField("alert", "cause"),
    ]
