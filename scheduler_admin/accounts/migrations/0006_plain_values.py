from django.db import migrations, models

from scheduler_admin.core.database.migration_operations import rename_values


class Migration(migrations.Migration):
    """Stored values have the names that pages and the API show."""

    atomic = False

    dependencies = [("accounts", "0005_plain_texts")]

    operations = [
        migrations.AlterField(
            model_name="site",
            name="preemptor",
            field=models.CharField(
                choices=[
                    ("none", "None"),
                    ("queue", "Queue"),
                    ("uid", "Queue and pod UID"),
                    ("name", "Queue, pod UID, and pod name"),
                ],
                default="queue",
                max_length=10,
            ),
        ),
        rename_values("accounts", "Site", "preemptor", {"nothing": "none"}),
    ]
