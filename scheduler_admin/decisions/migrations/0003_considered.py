from django.db import migrations, models

from scheduler_admin.core.database.migration_operations import AddIndexBeside


class Migration(migrations.Migration):
    """What passes considered, or refused, lately is found by an index; those that were held alone are among them."""

    atomic = False

    dependencies = [
        ("history", "0002_last_preemptions"),
    ]

    operations = [
        AddIndexBeside(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("state", "closed"), _negated=True),
                fields=["cluster", "last_seen"],
                name="decision_considered",
            ),
        ),
        AddIndexBeside(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("ending", "refused")), fields=["cluster", "last_seen"], name="decision_refused"
            ),
        ),
        migrations.RemoveIndex(model_name="decision", name="decision_held"),
    ]
