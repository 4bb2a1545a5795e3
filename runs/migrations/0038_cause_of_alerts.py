from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0037_values_of_factors_counted'),
    ]

    operations = [
        migrations.AddField(
            model_name='alert',
            name='cause',
            field=models.TextField(blank=True, default=''),
            preserve_default=False,
        ),
    ]
