import json

from django.db import migrations, models

import scheduler_admin.core.json_decoder
from scheduler_admin.core.database import immutable_tables

AMOUNTS = ("guaranteed", "max", "lendable")
TEXTS = (
    "preemption_policy",
    "delay",
    "quota_delay",
    "priority_policy",
    "priority_offset",
    "namespaces",
    "former_paths",
    "weight",
    "take_within",
    "take_reclaim",
    "take_borrowing",
    "take_threshold",
)
FLAGS = ("parent_declared", "evict_uncontrolled")


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


def fill(apps, editor):
    fill_published(apps.get_model("queues", "Revision"), apps.get_model("queues", "Queue"))
    fill_drafts(apps.get_model("queues", "DraftQueue"))


def fill_published(revisions, queues):
    """The rows of a revision hold what its document says of them, templates and percentages too."""
    for pk, document in revisions.objects.values_list("pk", "document").iterator(chunk_size=10):
        said = {queue.pop("path"): queue for queue in json.loads(document)["queues"]}
        rows = [row for row in queues.objects.filter(revision=pk).only("pk", "path") if said.get(row.path)]
        for row in rows:
            row.settings = said[row.path]
        queues.objects.bulk_update(rows, ["settings"], batch_size=500)


def fill_drafts(queues):
    """What was typed, in one mapping instead of a column each."""
    changed = []
    for row in queues.objects.iterator(chunk_size=500):
        row.settings = typed(row)
        changed.append(row)
    queues.objects.bulk_update(changed, ["settings"], batch_size=500)


def typed(row):
    texts = {name: text for name in TEXTS if (text := getattr(row, name))}
    texts |= {name: "true" for name in FLAGS if getattr(row, name)}
    for field in (*AMOUNTS, "template"):
        texts |= {f"{field}/{name}": text for name, text in getattr(row, field).items() if text}
    return texts


def spread(apps, editor):
    """The way back: a column for each setting again."""
    spread_rows(apps.get_model("queues", "Queue"), PUBLISHED, lambda row: row.settings)
    spread_rows(apps.get_model("queues", "DraftQueue"), (*TEXTS, *FLAGS, *AMOUNTS, "template"), untyped)


def spread_rows(queues, fields, said_by):
    changed = []
    for row in queues.objects.iterator(chunk_size=500):
        for name, value in said_by(row).items():
            if name in fields:
                setattr(row, name, value)
        changed.append(row)
    queues.objects.bulk_update(changed, fields, batch_size=500)


def untyped(row):
    said = {}
    for name, text in row.settings.items():
        field, slash, rest = name.partition("/")
        if slash:
            said.setdefault(field, {})[rest] = text
        else:
            said[name] = text == "true" if name in FLAGS else text
    return said


class Migration(migrations.Migration):
    """The settings of a queue are one column instead of one each."""

    dependencies = [("queues", "0004_former_paths")]

    operations = [
        migrations.RunPython(release, protect),
        migrations.AddField(
            model_name="draftqueue",
            name="settings",
            field=models.JSONField(
                blank=True,
                decoder=scheduler_admin.core.json_decoder.QuickDecoder,
                default=dict,
                help_text="Setting to text: see draft_texts.",
            ),
        ),
        migrations.AddField(
            model_name="queue",
            name="settings",
            field=models.JSONField(
                blank=True,
                decoder=scheduler_admin.core.json_decoder.QuickDecoder,
                default=dict,
                help_text="Its own settings, as the canonical tree has them.",
            ),
        ),
        migrations.RunPython(fill, spread),
    ]
