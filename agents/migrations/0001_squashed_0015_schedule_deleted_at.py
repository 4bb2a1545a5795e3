"""All tables of agents at once, as those 15 make them one after another."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from runs.create_models import CreateModels


class Migration(migrations.Migration):

    replaces = [
        ('agents', '0001_initial'),
        ('agents', '0002_places'),
        ('agents', '0003_observations'),
        ('agents', '0004_observer_order'),
        ('agents', '0005_confinement'),
        ('agents', '0006_fleet'),
        ('agents', '0007_queue'),
        ('agents', '0008_schedules'),
        ('agents', '0009_measure_again'),
        ('agents', '0010_experiments'),
        ('agents', '0011_queue_templates'),
        ('agents', '0012_bisections'),
        ('agents', '0013_reservations'),
        ('agents', '0014_errands'),
        ('agents', '0015_schedule_deleted_at'),
    ]

    initial = True

    dependencies = [
        ('runs', '0032_notices'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Agent',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('slug', models.SlugField(max_length=120, unique=True)),
                    ('name', models.CharField(max_length=200)),
                    ('status', models.CharField(choices=[('pending', 'Waiting for approval'), ('approved', 'Approved'), ('disabled', 'Disabled'), ('retired', 'Retired')], default='pending', max_length=10)),
                    ('token_digest', models.CharField(max_length=64, unique=True)),
                    ('engines', models.JSONField(blank=True, default=list)),
                    ('facts', models.JSONField(blank=True, default=dict)),
                    ('agent_version', models.CharField(blank=True, max_length=40)),
                    ('registered_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                    ('hardware', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='agents', to='runs.hardwareprofile')),
                    ('places', models.JSONField(blank=True, default=list)),
                    ('observations', models.JSONField(blank=True, default=list)),
                    ('confinement', models.JSONField(blank=True, default=dict)),
                    ('labels', models.JSONField(blank=True, default=list)),
                    ('again_after_s', models.PositiveIntegerField(default=3600)),
                    ('again_daily_s', models.PositiveIntegerField(default=7200)),
                    ('measures_again', models.BooleanField(default=False)),
                    ('errands', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='Job',
                fields=[
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='job', serialize=False, to='runs.run')),
                    ('spec', models.JSONField()),
                    ('assigned_at', models.DateTimeField(blank=True, null=True)),
                    ('claimed_at', models.DateTimeField(blank=True, null=True)),
                    ('token_digest', models.CharField(blank=True, db_index=True, max_length=64)),
                    ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                    ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                    ('last_seq', models.PositiveIntegerField(default=0)),
                    ('closed_at', models.DateTimeField(blank=True, null=True)),
                    ('log_bytes', models.PositiveBigIntegerField(default=0)),
                    ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='agents.agent')),
                    ('requested_agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='requested_jobs', to='agents.agent')),
                    ('not_after', models.DateTimeField(blank=True, null=True)),
                    ('priority', models.IntegerField(default=0)),
                    ('is_baseline', models.BooleanField(default=False)),
                ],
            ),
            migrations.CreateModel(
                name='ObserverOrder',
                fields=[
                    ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='observation', serialize=False, to='agents.job')),
                    ('agent_name', models.CharField(max_length=200)),
                    ('name', models.CharField(max_length=40)),
                    ('problem', models.CharField(blank=True, max_length=500)),
                    ('claimed_at', models.DateTimeField(blank=True, null=True)),
                    ('token_digest', models.CharField(blank=True, max_length=64)),
                    ('begun_at', models.FloatField(blank=True, null=True)),
                    ('load_clock', models.JSONField(blank=True, default=dict)),
                    ('clock', models.JSONField(blank=True, default=dict)),
                    ('last_seq', models.PositiveIntegerField(default=0)),
                    ('closed_at', models.DateTimeField(blank=True, null=True)),
                    ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='observed', to='agents.agent')),
                ],
            ),
            migrations.CreateModel(
                name='EnrolmentCode',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('expires_at', models.DateTimeField()),
                    ('used_at', models.DateTimeField(blank=True, null=True)),
                    ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='agents.agent')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Schedule',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('slug', models.SlugField(max_length=120, unique=True)),
                    ('name', models.CharField(max_length=200)),
                    ('plan', models.JSONField(default=dict)),
                    ('cron', models.CharField(blank=True, max_length=100)),
                    ('zone', models.CharField(default='UTC', max_length=64)),
                    ('due_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                    ('ends_at', models.DateTimeField(blank=True, null=True)),
                    ('is_paused', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='schedules', to=settings.AUTH_USER_MODEL)),
                    ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['name', 'created_at'],
                },
            ),
            migrations.CreateModel(
                name='Occurrence',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('due_at', models.DateTimeField()),
                    ('begun_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('note', models.CharField(blank=True, max_length=500)),
                    ('experiment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='occurrences', to='runs.experiment')),
                    ('schedule', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='occurrences', to='agents.schedule')),
                ],
                options={
                    'ordering': ['-due_at'],
                    'constraints': [models.UniqueConstraint(fields=('schedule', 'due_at'), name='occurrence_once')],
                },
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
            migrations.CreateModel(
                name='Template',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('slug', models.SlugField(max_length=120, unique=True)),
                    ('name', models.CharField(max_length=200)),
                    ('note', models.CharField(blank=True, max_length=500)),
                    ('is_shared', models.BooleanField(default=True)),
                    ('plan', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='plan_templates', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['name', 'created_at'],
                },
            ),
            migrations.CreateModel(
                name='Bisection',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(max_length=100)),
                    ('plan', models.JSONField(default=dict)),
                    ('points', models.JSONField(default=list)),
                    ('low', models.PositiveSmallIntegerField()),
                    ('high', models.PositiveSmallIntegerField()),
                    ('steps', models.JSONField(default=list)),
                    ('outcome', models.CharField(blank=True, max_length=1000)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bisections', to='agents.agent')),
                    ('experiment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='bisections', to='runs.experiment')),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bisections', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at'],
                },
            ),
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
            migrations.CreateModel(
                name='JobLogChunk',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('offset', models.PositiveBigIntegerField()),
                    ('text', models.TextField()),
                    ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='log_chunks', to='agents.job')),
                ],
                options={
                    'ordering': ['job', 'offset'],
                    'constraints': [models.UniqueConstraint(fields=('job', 'offset'), name='log_chunk_offset')],
                },
            ),
            migrations.CreateModel(
                name='Errand',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('command', models.CharField(max_length=40)),
                    ('words', models.JSONField(default=list)),
                    ('state', models.CharField(choices=[('waiting', 'Waits until the agent has no run'), ('running', 'Going on'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='waiting', max_length=10)),
                    ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('begun_at', models.DateTimeField(blank=True, null=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('log', models.TextField(blank=True)),
                    ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asked', to='agents.agent')),
                    ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-asked_at'],
                },
            ),
        ]),
    ]
