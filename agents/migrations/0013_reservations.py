import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def take_over(apps, schema_editor):
    """The pauses of agents and of the queue."""
    reservation, agent, pause = (apps.get_model("agents", name) for name in ("Reservation", "Agent", "QueuePause"))
    for each in agent.objects.exclude(paused_at=None):
        reservation.objects.create(
            agent=each, begins_at=each.paused_at, ends_at=each.paused_until, by_id=each.paused_by_id,
            reason=each.pause_reason,
        )
    for each in pause.objects.all():
        reservation.objects.create(begins_at=each.at, ends_at=each.until, by_id=each.by_id, reason=each.reason)


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0012_bisections'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('begins_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ends_at', models.DateTimeField(blank=True, null=True)),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='agents.agent')),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['begins_at'],
            },
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
        migrations.RemoveField(model_name='agent', name='pause_reason'),
        migrations.RemoveField(model_name='agent', name='paused_at'),
        migrations.RemoveField(model_name='agent', name='paused_by'),
        migrations.RemoveField(model_name='agent', name='paused_until'),
        migrations.DeleteModel(name='QueuePause'),
    ]
