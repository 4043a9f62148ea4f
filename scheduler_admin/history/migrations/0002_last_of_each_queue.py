from django.db import migrations, models

from scheduler_admin.beside import AddIndexBeside


class Migration(migrations.Migration):
    """The last preemption of each queue is found by an index; beside it nothing asks for a victim's queue alone."""

    atomic = False

    dependencies = [
        ("history", "0001_initial"),
    ]

    operations = [
        AddIndexBeside(
            model_name="decision",
            index=models.Index(fields=["cluster", "ask_queue", "state", "id"], name="decision_last"),
        ),
        AddIndexBeside(
            model_name="victim",
            index=models.Index(fields=["cluster", "queue", "state", "decision"], name="victim_last"),
        ),
        migrations.AlterField(
            model_name="victim",
            name="queue",
            field=models.CharField(max_length=500),
        ),
    ]
