from django.conf import settings
from django.db import migrations, models

from scheduler_admin.core.database.migration_operations import rename_values


class Migration(migrations.Migration):
    """Stored values have the names that pages and the API show."""

    atomic = False

    dependencies = [
        ("clusters", "0011_plain_values"),
        ("copies", "0005_plain_texts"),
        ("queues", "0007_plain_texts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="writing", name="one_writing_at_a_time"),
        migrations.AlterField(
            model_name="copy",
            name="effect",
            field=models.CharField(
                choices=[
                    ("unknown", "unknown"),
                    ("pending", "pending"),
                    ("applied", "applied"),
                    ("rejected", "rejected"),
                ],
                default="unknown",
                help_text="Whether the scheduler uses the configuration.",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="writing",
            name="state",
            field=models.CharField(
                choices=[
                    ("in-progress", "in progress"),
                    ("written", "written"),
                    ("changed-meanwhile", "not written: changed in the meantime"),
                    ("needs-confirmation", "needs confirmation"),
                    ("rejected", "rejected"),
                    ("failed", "failed"),
                ],
                default="in-progress",
                max_length=20,
            ),
        ),
        rename_values("copies", "Copy", "effect", {"in-force": "applied", "refused": "rejected"}),
        rename_values(
            "copies",
            "Writing",
            "state",
            {
                "intended": "in-progress",
                "done": "written",
                "overtaken": "changed-meanwhile",
                "clash": "needs-confirmation",
                "refused": "rejected",
                "given-up": "failed",
            },
        ),
        migrations.AddConstraint(
            model_name="writing",
            constraint=models.UniqueConstraint(
                models.F("cluster"), condition=models.Q(("state", "in-progress")), name="one_writing_at_a_time"
            ),
        ),
    ]
