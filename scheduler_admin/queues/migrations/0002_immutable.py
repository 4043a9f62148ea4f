from django.db import migrations

from scheduler_admin.queues import immutable


def protect(apps, editor):
    immutable.protect(editor.connection)


def release(apps, editor):
    immutable.release(editor.connection)


class Migration(migrations.Migration):
    """Published rows are changed by nobody."""

    dependencies = [("queues", "0001_initial")]

    operations = [migrations.RunPython(protect, release)]
