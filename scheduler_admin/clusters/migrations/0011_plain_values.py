from django.db import migrations, models

from scheduler_admin.core.database.migration_operations import rename_values


def _forget_holds(apps, _schema_editor):
    apps.get_model("clusters", "ClusterStatus").objects.update(holds=[])


class Migration(migrations.Migration):
    """Stored values have the names that pages and the API show."""

    atomic = False

    dependencies = [("clusters", "0010_plain_texts")]

    operations = [
        migrations.AlterField(
            model_name="cluster",
            name="room_kept_by",
            field=models.CharField(
                choices=[
                    ("taint", "Taint the node, so that no other pod can use it"),
                    ("nominate", "Only set the nominated node"),
                    ("none", "No reservation (first come, first served)"),
                ],
                default="taint",
                help_text="How freed capacity is reserved for the pending pod.",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="credentials",
            name="kind",
            field=models.CharField(
                choices=[
                    ("token", "a token"),
                    ("client-certificate", "a client certificate"),
                    ("password", "a password"),
                    ("anonymous", "anonymous access"),
                ],
                max_length=20,
            ),
        ),
        rename_values("clusters", "Cluster", "room_kept_by", {"nothing": "none"}),
        rename_values("clusters", "Credentials", "kind", {"client certificate": "client-certificate"}),
        # The next pass finds again what holds decisions back.
        migrations.RunPython(_forget_holds, migrations.RunPython.noop),
    ]
