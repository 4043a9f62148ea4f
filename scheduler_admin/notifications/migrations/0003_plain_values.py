from django.db import migrations, models

from scheduler_admin.core.database.migration_operations import AddIndexBeside, rename_values


class Migration(migrations.Migration):
    """Stored values have the names that pages and the API show."""

    atomic = False

    dependencies = [("notifications", "0002_plain_texts")]

    operations = [
        migrations.RemoveIndex(model_name="notification", name="notification_dead"),
        migrations.AlterField(
            model_name="notification",
            name="event",
            field=models.CharField(
                choices=[
                    ("about-to-be-preempted", "about to be preempted"),
                    ("preempted", "preempted"),
                    ("eviction-refused", "eviction refused"),
                    ("preempted-repeatedly", "preempted repeatedly"),
                    ("preemption-loop", "preemption loop"),
                    ("below-guarantee", "below guarantee"),
                    ("daily-digest", "daily digest"),
                    ("summary", "summary"),
                    ("test", "test"),
                ],
                max_length=30,
            ),
        ),
        migrations.AlterField(
            model_name="notification",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting"),
                    ("sent", "sent"),
                    ("summarized", "in a summary"),
                    ("failed", "failed"),
                ],
                default="waiting",
                max_length=10,
            ),
        ),
        rename_values(
            "notifications",
            "Notification",
            "event",
            {
                "refused": "eviction-refused",
                "repeated": "preempted-repeatedly",
                "loop": "preemption-loop",
                "digest": "daily-digest",
            },
        ),
        rename_values("notifications", "Notification", "state", {"summed": "summarized", "dead": "failed"}),
        AddIndexBeside(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("state", "failed")), fields=["channel", "id"], name="notification_failed"
            ),
        ),
    ]
