"""A telling rule may be of one metric or of one benchmark."""

import django.db.models.deletion
from django.db import migrations, models

CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("runs", "0048_procedures_of_benchmarks")]
    operations = [
        migrations.AddField(
            "tellingrule", name, models.ForeignKey(blank=True, null=True, on_delete=CASCADE, related_name="+", to=to)
        )
        for name, to in (("metric", "runs.metric"), ("benchmark", "runs.benchmark"))
    ]
