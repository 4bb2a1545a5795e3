"""Benchmarks over time: machines above profiles, series of batches, changes and alerts."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0026_brought'),
    ]

    operations = [
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('visibility', models.CharField(choices=[('public', 'Public'), ('unlisted', 'Unlisted'), ('private', 'Private')], default='public', max_length=10)),
                ('state', models.CharField(choices=[('new', 'New'), ('confirmed', 'Confirmed'), ('acknowledged', 'Acknowledged'), ('expected', 'Expected'), ('fixed', 'Fixed'), ('noise', 'Noise'), ('machine', 'Machine')], default='new', max_length=12)),
                ('after', models.DateTimeField()),
                ('since', models.DateTimeField()),
                ('fixed_by', models.CharField(blank=True, max_length=200)),
                ('note', models.TextField(blank=True)),
                ('links', models.JSONField(blank=True, default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('state_changed_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['-since', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('visibility', models.CharField(choices=[('public', 'Public'), ('unlisted', 'Unlisted'), ('private', 'Private')], default='public', max_length=10)),
                ('key', models.CharField(max_length=64, unique=True)),
                ('line', models.CharField(db_index=True, max_length=64)),
                ('name', models.CharField(max_length=400)),
                ('branch', models.CharField(blank=True, max_length=120)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('batches', models.PositiveIntegerField(default=0)),
                ('newest_at', models.DateTimeField(blank=True, null=True)),
                ('recent', models.JSONField(default=list)),
                ('moved', models.FloatField(default=0)),
                ('verdict', models.CharField(blank=True, max_length=20)),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='ChangePoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('step', 'Step'), ('drift', 'Slow drift'), ('noise', 'Noise')], default='step', max_length=8)),
                ('state', models.CharField(choices=[('suspected', 'Suspected'), ('confirmed', 'Confirmed'), ('refuted', 'Not confirmed')], default='suspected', max_length=10)),
                ('side', models.CharField(blank=True, max_length=10)),
                ('change', models.JSONField(default=dict)),
                ('batches_before', models.PositiveIntegerField(default=0)),
                ('batches_after', models.PositiveIntegerField(default=0)),
                ('found_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('confirmed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['at__measured_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Conditions',
            fields=[
                ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('facts', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='Machine',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=64, unique=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SeriesBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('part', models.CharField(max_length=64)),
                ('runs', models.JSONField(default=list)),
                ('values', models.JSONField(default=list)),
                ('centre', models.FloatField(null=True)),
                ('measured_at', models.DateTimeField()),
                ('commit_number', models.BigIntegerField(default=0)),
                ('version_order', models.CharField(blank=True, max_length=200)),
                ('commit', models.CharField(blank=True, max_length=120)),
                ('build', models.CharField(blank=True, max_length=120)),
                ('label', models.CharField(blank=True, max_length=120)),
                ('is_watched', models.BooleanField(default=False)),
            ],
        ),
        migrations.AddField(
            model_name='batch',
            name='is_filed',
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name='config',
            name='filed_as',
            field=models.CharField(blank=True, editable=False, max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='hardwareprofile',
            name='filed_as',
            field=models.CharField(blank=True, editable=False, max_length=420),
        ),
        migrations.AddField(
            model_name='storagedevice',
            name='filed_as',
            field=models.CharField(blank=True, editable=False, max_length=420),
        ),
        migrations.AddIndex(
            model_name='batch',
            index=models.Index(condition=models.Q(('is_filed', False)), fields=['created_at'], name='batch_unfiled'),
        ),
        migrations.AddField(
            model_name='alert',
            name='assignee',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='alerts', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='alert',
            name='owner',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='config',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='benchmarks', to='runs.config'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='dbms',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='benchmarks', to='runs.dbms'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='hardware',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='benchmarks', to='runs.hardwareprofile'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='joined_to',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='joined', to='runs.benchmark'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='metric',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='benchmarks', to='runs.metric'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='owner',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='benchmarks', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='workload',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='benchmarks', to='runs.workload'),
        ),
        migrations.AddField(
            model_name='changepoint',
            name='alert',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='changes', to='runs.alert'),
        ),
        migrations.AddField(
            model_name='changepoint',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='runs.benchmark'),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='machine',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='benchmarks', to='runs.machine'),
        ),
        migrations.AddField(
            model_name='alert',
            name='machine',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='runs.machine'),
        ),
        migrations.AddField(
            model_name='seriesbatch',
            name='batch',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='series', to='runs.batch'),
        ),
        migrations.AddField(
            model_name='seriesbatch',
            name='benchmark',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='series', to='runs.benchmark'),
        ),
        migrations.AddField(
            model_name='seriesbatch',
            name='conditions',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.conditions'),
        ),
        migrations.AddField(
            model_name='seriesbatch',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='series_batches', to='runs.run'),
        ),
        migrations.AddField(
            model_name='seriesbatch',
            name='version',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='runs.dbmsversion'),
        ),
        migrations.AddField(
            model_name='changepoint',
            name='at',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='runs.seriesbatch'),
        ),
        migrations.AddIndex(
            model_name='benchmark',
            index=models.Index(fields=['-moved', 'id'], name='benchmark_moved'),
        ),
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['machine', 'since'], name='alert_place'),
        ),
        migrations.AddIndex(
            model_name='seriesbatch',
            index=models.Index(fields=['benchmark', 'commit_number', 'version_order', 'measured_at', 'id'], name='series_order'),
        ),
        migrations.AddConstraint(
            model_name='seriesbatch',
            constraint=models.UniqueConstraint(fields=('benchmark', 'batch', 'part'), name='series_batch_per_benchmark'),
        ),
        migrations.AddIndex(
            model_name='changepoint',
            index=models.Index(fields=['benchmark', 'state'], name='change_of_benchmark'),
        ),
    ]
