"""Where each pod is found; the next pass of each cluster writes the rows."""

import django.db.models.deletion
from django.db import migrations, models

TABLE = "history_podplace"
COLUMNS = {"namespace": 63, "name": 253, "application": 300}


def collate(_apps, schema_editor):
    """Compare texts byte by byte on PostgreSQL, so that indexes find beginnings; SQLite does so anyway."""
    if schema_editor.connection.vendor == "postgresql":
        changes = (f'ALTER COLUMN {name} TYPE varchar({length}) COLLATE "C"' for name, length in COLUMNS.items())
        schema_editor.execute(f"ALTER TABLE {TABLE} {', '.join(changes)}")


class Migration(migrations.Migration):
    dependencies = [("clusters", "0012_group_scheduling"), ("history", "0010_partitions")]

    operations = [
        migrations.AlterField(
            model_name="nodepods",
            name="applications",
            field=models.BinaryField(db_default=b"", default=b"", help_text="Empty. Earlier versions used it for lookups."),
        ),
        migrations.CreateModel(
            name="PodPlace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("namespace", models.CharField(max_length=63)),
                ("name", models.CharField(max_length=253)),
                ("queue", models.CharField(blank=True, max_length=500)),
                ("application", models.CharField(blank=True, max_length=300)),
                ("place", models.CharField(help_text="Node of the pod. /1 and so on: the pod has no node.", max_length=253)),
                (
                    "cluster",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pod_places",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={"ordering": ["namespace", "name"]},
        ),
        migrations.RunPython(collate, migrations.RunPython.noop),
        migrations.AddIndex("podplace", models.Index(fields=["namespace", "name"], name="pod_place_pod")),
        migrations.AddIndex("podplace", models.Index(fields=["name"], name="pod_place_name")),
        migrations.AddIndex(
            "podplace", models.Index(fields=["application", "namespace"], name="pod_place_application")
        ),
    ]
