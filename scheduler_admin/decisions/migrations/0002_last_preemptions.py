import django.db.models.deletion
from django.db import migrations, models

_AT_ONCE = 1000


def take_down(apps, _schema_editor):
    """What is stored already: of each queue and namespace the newest decision that lost pods of it, or for it."""
    victim, last = apps.get_model("history", "Victim"), apps.get_model("history", "LastPreemption")
    lost = victim.objects.filter(state__in=("evicted", "gone"), decision__cluster=models.F("cluster")).order_by()
    sides = {"out": ("queue", "namespace"), "into": ("decision__ask_queue", "decision__ask_namespace")}
    for side, fields in sides.items():
        newest = lost.values_list("cluster", *fields).annotate(newest=models.Max("decision"))
        rows = [
            last(cluster_id=cluster, side=side, queue=queue, namespace=namespace, decision_id=decision)
            for cluster, queue, namespace, decision in newest
        ]
        for some in (rows[at : at + _AT_ONCE] for at in range(0, len(rows), _AT_ONCE)):
            decisions = apps.get_model("history", "Decision").objects.filter(pk__in=[row.decision_id for row in some])
            times = dict(decisions.values_list("pk", "first_seen"))
            for row in some:
                row.at = times[row.decision_id]
            last.objects.bulk_create(some)


class Migration(migrations.Migration):
    """The last preemption of each queue is kept; beside it nothing asked for a victim's queue alone."""

    dependencies = [
        ("clusters", "0001_initial"),
        ("history", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="LastPreemption",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("side", models.CharField(choices=[("into", "for an ask of it"), ("out", "of its pods")], max_length=4)),
                ("queue", models.CharField(max_length=500)),
                ("namespace", models.CharField(max_length=63)),
                ("at", models.DateTimeField(help_text="When it was first seen.")),
                (
                    "cluster",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="clusters.cluster",
                    ),
                ),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="history.decision"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "side", "queue", "namespace"), name="last_preemption_once"
                    )
                ],
            },
        ),
        migrations.RunPython(take_down, migrations.RunPython.noop),
        migrations.AlterField(model_name="victim", name="queue", field=models.CharField(max_length=500)),
    ]
