from django.db import migrations

from scheduler_admin.core.database import immutable_tables


def protect(apps, editor):
    immutable_tables.protect(editor.connection)


def release(apps, editor):
    immutable_tables.release(editor.connection)


class Migration(migrations.Migration):
    """Published rows are changed by nobody."""

    dependencies = [("queues", "0001_initial")]

    operations = [migrations.RunPython(protect, release)]
