import zlib
from urllib.parse import parse_qsl, urlencode

import msgspec
from django.db import migrations, models

from scheduler_admin.core.database.migration_operations import AddIndexBeside, rename_values


STATES = {"noted": "recorded", "held": "on-hold", "intended": "planned"}
ENDINGS = {
    "taken": "capacity-taken",
    "expired": "timed-out",
    "gone": "pod-gone",
    "overtaken": "superseded",
    "refused": "rejected",
}
SAFEGUARDS = {
    "lease": "other-installation",
    "rival": "other-scheduler",
    "scope": "out-of-scope",
    "stopped": "stopped-in-cluster",
}
OUTCOMES = {**ENDINGS, "held": "on-hold", "shown": "dry-run", "against": "failed-checks", "again": "repeated"}
"""Of the history's filter ``outcome``, in the addresses of saved filters."""


def rename_in_counts(apps, _schema_editor):
    """Rename states and endings in the packed counts, which begin with the names that their columns refer to."""
    tally = apps.get_model("history", "Tally")
    rows = tally.objects.filter(document__isnull=False)
    for row in rows.order_by("pk").iterator(chunk_size=200):
        row.document, row.totals = _renamed(row.document), _renamed(row.totals)
        row.save(update_fields=["document", "totals"])


def _renamed(packed):
    if not packed:
        return packed
    names, *columns = msgspec.msgpack.decode(packed)
    sorts, queues = msgspec.msgpack.decode(zlib.decompress(names))
    for sort in sorts:
        sort[2], sort[3] = STATES.get(sort[2], sort[2]), ENDINGS.get(sort[3], sort[3])
    return msgspec.msgpack.encode([zlib.compress(msgspec.msgpack.encode((sorts, queues)), 1), *columns])


def rename_in_events(apps, _schema_editor):
    """Rename what events about queues below their guarantee call their pending pods; they are kept for a week."""
    for row in apps.get_model("history", "Happening").objects.filter(kind="below-guarantee", facts__has_key="asks"):
        row.facts["pending_pods"] = row.facts.pop("asks")
        row.save(update_fields=["facts"])


def rename_in_filters(apps, _schema_editor):
    """Rename the outcome in the addresses of saved filters."""
    for row in apps.get_model("history", "SavedFilter").objects.filter(address__contains="outcome="):
        asked = [
            (name, OUTCOMES.get(value, value) if name == "outcome" else value) for name, value in parse_qsl(row.address)
        ]
        row.address = urlencode(asked)
        row.save(update_fields=["address"])


class Migration(migrations.Migration):
    """Stored values have the names that pages and the API show."""

    atomic = False

    dependencies = [("clusters", "0011_plain_values"), ("history", "0007_plain_texts"), ("queues", "0007_plain_texts")]

    operations = [
        migrations.RemoveIndex(model_name="decision", name="decision_refused"),
        migrations.RemoveIndex(model_name="happening", name="happening_loop"),
        migrations.AlterField(
            model_name="decision",
            name="ending",
            field=models.CharField(
                blank=True,
                choices=[
                    ("bound", "bound"),
                    ("bound-elsewhere", "bound elsewhere"),
                    ("capacity-taken", "capacity taken"),
                    ("timed-out", "timed out"),
                    ("pod-gone", "pending pod gone"),
                    ("superseded", "superseded"),
                    ("blocked", "blocked"),
                    ("rejected", "rejected"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="decision",
            name="state",
            field=models.CharField(
                choices=[
                    ("recorded", "recorded"),
                    ("on-hold", "on hold"),
                    ("planned", "planned"),
                    ("evicting", "evicting"),
                    ("waiting", "waiting"),
                    ("closed", "closed"),
                ],
                default="recorded",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="happening",
            name="kind",
            field=models.CharField(
                choices=[
                    ("decision", "decision"),
                    ("decision-ended", "decision ended"),
                    ("eviction-refused", "eviction refused"),
                    ("preempted-repeatedly", "preempted repeatedly"),
                    ("preemption-loop", "preemption loop"),
                    ("below-guarantee", "below guarantee"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="step",
            name="kind",
            field=models.CharField(
                choices=[
                    ("seen", "seen"),
                    ("decided", "decided"),
                    ("on-hold", "on hold"),
                    ("reserved", "node reserved"),
                    ("evicted", "eviction accepted"),
                    ("refused", "eviction refused"),
                    ("exited", "victim exited"),
                    ("released", "node released"),
                    ("closed", "closed"),
                ],
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="victim",
            name="state",
            field=models.CharField(
                choices=[
                    ("chosen", "chosen"),
                    ("on-hold", "on hold: disruption budget"),
                    ("evicted", "evicted"),
                    ("exited", "exited"),
                    ("spared", "spared"),
                ],
                default="chosen",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="wait",
            name="ending",
            field=models.CharField(
                blank=True, choices=[("bound", "bound"), ("pod-gone", "no longer pending")], max_length=10
            ),
        ),
        rename_values("history", "Decision", "state", STATES),
        rename_values("history", "Decision", "ending", ENDINGS),
        rename_values("history", "Decision", "hold", SAFEGUARDS),
        rename_values("history", "Victim", "state", {"held": "on-hold", "gone": "exited"}),
        rename_values("history", "Step", "note", SAFEGUARDS, kind="held"),
        rename_values("history", "Step", "kind", {"held": "on-hold"}),
        rename_values(
            "history",
            "Happening",
            "kind",
            {
                "ended": "decision-ended",
                "refused": "eviction-refused",
                "repeated": "preempted-repeatedly",
                "loop": "preemption-loop",
            },
        ),
        rename_values("history", "Wait", "ending", {"gone": "pod-gone"}),
        migrations.RunPython(rename_in_counts, migrations.RunPython.noop),
        migrations.RunPython(rename_in_events, migrations.RunPython.noop),
        migrations.RunPython(rename_in_filters, migrations.RunPython.noop),
        AddIndexBeside(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("ending", "rejected")), fields=["cluster", "last_seen"], name="decision_rejected"
            ),
        ),
        AddIndexBeside(
            model_name="happening",
            index=models.Index(
                condition=models.Q(("kind", "preemption-loop")), fields=["cluster", "at"], name="happening_loop"
            ),
        ),
    ]
