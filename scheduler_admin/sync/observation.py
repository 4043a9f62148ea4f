"""Looking at a cluster's copy of its tree: what is seen is stored, and pages never wait on the cluster."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import F, Q

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ClusterError
from engine.cluster.sync.copies import ClusterCopy as Seen
from engine.cluster.sync.copies import CopyEffect, SchedulerAnswer
from engine.formats import registry
from engine.formats.registry import Format
from engine.formats.tree_json.canonical import encode_tree
from engine.model.notes import ImportFailure
from scheduler_admin.clusters.status.store import mark_news
from scheduler_admin.queues.models import Revision
from scheduler_admin.sync.kinds import form_of, kind_of
from scheduler_admin.sync.models import Copy
from scheduler_admin.sync.used_trees import note_used

SETTLES = timedelta(seconds=30)
"""So long a scheduler has to take over what was written before it counts as not using it."""
_SHOWN = ("error", "there", "version", "agreed_with_id", "effect", "effect_note")


def look(*, copy: Copy, connection: Connection, namespaces: Iterable[str], now: datetime) -> None:
    """Read it and store what it says. ``namespaces``: where to look for it unless somebody said where it is."""
    known = (copy.namespace,) if copy.namespace else ()
    current = in_force(copy)
    copy.form = form_of(current.source_format if current else copy.form)
    try:
        seen = kind_of(copy.form).read(connection, dict.fromkeys((*known, *namespaces)))
    except ClusterError as error:
        keep_error(copy=copy, sentence=str(error))
        return
    keep(copy=copy, seen=seen, now=now)
    if seen is not None:
        answer = kind_of(copy.form).effect(connection, copy.cluster.yunikorn_service, seen.text)
        keep_effect(copy=copy, answer=answer, now=now)


@transaction.atomic
def keep_effect(*, copy: Copy, answer: SchedulerAnswer, now: datetime) -> None:
    """Store whether the scheduler uses what was seen; what it uses is kept, to be put back."""
    effect, settled = answer.effect, copy.changed_at is None or now - copy.changed_at >= SETTLES
    if effect is CopyEffect.REJECTED and not settled:
        effect = CopyEffect.PENDING
    elif effect is CopyEffect.PENDING and settled:
        effect = CopyEffect.UNKNOWN  # nobody looks at it: the scheduler does not run
    found: dict[str, object] = {"effect": effect.value, "effect_note": answer.why}
    if effect is CopyEffect.APPLIED:
        found |= {"good": copy.text, "good_at": now}
    _store(copy, **found)
    note_used(copy=copy, now=now)


@transaction.atomic
def keep_error(*, copy: Copy, sentence: str) -> None:
    """Say why it can't be read; what was last seen stays."""
    _store(copy, error=sentence)


@transaction.atomic
def keep(
    *, copy: Copy, seen: Seen | None, now: datetime, written: Revision | None = None, put_back: bool = False
) -> None:
    """Take over what was seen; None: there is none.

    ``written``: the revision that was just written there; ``put_back``: that was what the scheduler last used.
    """
    if seen is None:
        _store(copy, error="", there=False, looked_at=now, form=copy.form)
        return
    found: dict[str, object] = {"error": "", "there": True, "looked_at": now, "form": copy.form, "text": seen.text}
    found |= {"namespace": seen.namespace or copy.namespace, "version": seen.version}
    found |= {"writer": seen.writer[:150], "written_at": seen.written_at}
    if seen.text != copy.text or not copy.there:
        found |= _read(seen.text, copy.form)
        found |= {"changed_at": now, "effect": CopyEffect.UNKNOWN.value, "effect_note": ""}
    document = str(found.get("document", copy.document))
    current = written or in_force(copy)
    if document and current is not None:
        found |= _agreement(copy, seen.text, document, current, written=written is not None, put_back=put_back)
    _store(copy, **found)


def in_force(copy: Copy) -> Revision | None:
    """The revision in force, as it is now."""
    return Revision.objects.filter(hierarchy__clusters=copy.cluster_id, pk=F("hierarchy__current")).first()


def _read(text: str, form: str) -> dict[str, object]:
    try:
        return {"document": encode_tree(registry.read(text, Format(form)).tree).decode(), "problems": []}
    except ImportFailure as failure:
        return {"document": "", "problems": [msgspec.to_builtins(note) for note in failure.notes]}


def _agreement(
    copy: Copy, text: str, document: str, current: Revision, *, written: bool, put_back: bool
) -> dict[str, object]:
    """Where the two are known to belong together from now on."""
    if written or document == current.document:
        return {"agreed": document, "agreed_with": current}
    if copy.agreed and not put_back:
        return {}
    # Seen for the first time: it belongs to the revision that was made of it to the letter, or says the same.
    rows = Revision.objects.filter(Q(source=text) | Q(document=document), hierarchy=current.hierarchy_id)
    source = rows.order_by("number").first()
    return {"agreed": document, "agreed_with": source} if source or put_back else {}


def _store(copy: Copy, **found: object) -> None:
    """Write the row, and let pages know where they would look different."""
    before = {field: getattr(copy, field) for field in _SHOWN}
    for field, value in found.items():
        setattr(copy, field, value)
    copy.save(update_fields=[*found])
    if before != {field: getattr(copy, field) for field in _SHOWN}:
        mark_news(copy.cluster_id)
