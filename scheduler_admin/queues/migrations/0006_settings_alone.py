from django.db import migrations

from scheduler_admin.core.database import immutable_tables

DRAFT = (
    "parent_declared",
    "guaranteed",
    "max",
    "preemption_policy",
    "delay",
    "quota_delay",
    "priority_policy",
    "priority_offset",
    "namespaces",
    "former_paths",
    "evict_uncontrolled",
    "weight",
    "lendable",
    "take_within",
    "take_reclaim",
    "take_borrowing",
    "take_threshold",
    "template",
)
PUBLISHED = (
    "guaranteed",
    "max",
    "preemption_policy",
    "delay_ms",
    "quota_delay_ms",
    "priority_policy",
    "priority_offset",
    "namespaces",
    "former_paths",
    "evict_uncontrolled",
    "weight",
    "lendable",
    "take_within",
    "take_reclaim",
    "take_borrowing",
    "take_threshold",
)


def release(apps, editor):
    immutable_tables.release(editor.connection)


def protect(apps, editor):
    immutable_tables.release(editor.connection)
    immutable_tables.protect(editor.connection)


class Migration(migrations.Migration):
    """The columns that the settings were in go, once all are in one."""

    dependencies = [("queues", "0005_settings")]

    operations = [
        *(migrations.RemoveField("draftqueue", name) for name in DRAFT),
        *(migrations.RemoveField("queue", name) for name in PUBLISHED),
        migrations.RunPython(protect, release),
    ]
