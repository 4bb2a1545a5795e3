"""Agents that measure again what is suspected to have changed."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0008_schedules'),
        ('runs', '0028_files_in_parts'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='again_after_s',
            field=models.PositiveIntegerField(default=3600),
        ),
        migrations.AddField(
            model_name='agent',
            name='again_daily_s',
            field=models.PositiveIntegerField(default=7200),
        ),
        migrations.AddField(
            model_name='agent',
            name='measures_again',
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name='Confirmation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='confirmations', to='agents.agent')),
                ('batch', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='confirmation', to='runs.batch')),
                ('point', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='confirmations', to='runs.changepoint')),
            ],
            options={
                'indexes': [models.Index(fields=['agent', 'made_at'], name='confirmation_of_day')],
            },
        ),
    ]
