from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0003_observations'),
    ]

    operations = [
        migrations.RenameModel(old_name='Observation', new_name='ObserverOrder'),
    ]
