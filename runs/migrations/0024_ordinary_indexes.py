"""Ordinary indexes: what lists choose by, each with the order of lists."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0023_when_a_run_was_measured'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='run',
            name='run_newest_of_dbms',
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_newest_of_hardware',
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_newest_of_config',
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_newest_of_workload',
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_newest',
        ),
        migrations.AlterField(
            model_name='run',
            name='provenance',
            field=models.CharField(choices=[('measured', 'Measured'), ('uploaded', 'Uploaded'), ('printed', 'Printed'), ('reconstructed', 'Reconstructed'), ('recovered', 'Recovered from another page'), ('inferred', 'Inferred'), ('computed', 'Computed'), ('lost_in_picture', 'Lost in a picture')], default='measured', max_length=20),
        ),
        migrations.AlterField(
            model_name='run',
            name='state',
            field=models.CharField(choices=[('queued', 'Queued'), ('assigned', 'Assigned'), ('preparing', 'Preparing'), ('loading', 'Loading'), ('warming_up', 'Warming up'), ('measuring', 'Measuring'), ('collecting', 'Collecting'), ('finished', 'Finished'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('lost', 'Lost'), ('value_missing', 'Value missing')], default='queued', max_length=20),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['-created_at', 'order_index', 'repeat', 'id'], name='run_newest'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['workload', '-created_at'], name='run_newest_of_workload'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['dbms_version', '-created_at'], name='run_newest_of_dbms'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['hardware', '-created_at'], name='run_newest_of_hardware'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['config', '-created_at'], name='run_newest_of_config'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['state', '-created_at'], name='run_newest_of_state'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['provenance', '-created_at'], name='run_newest_of_provenance'),
        ),
    ]
