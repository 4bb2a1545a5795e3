from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("runs", "0044_benchmarks_of_sizes")]

    operations = [
        migrations.AddIndex(
            "run",
            models.Index(fields=["-deleted_at"], condition=models.Q(deleted_at__isnull=False), name="run_deleted"),
        ),
    ]
