"""How acts on drafts are stored: the version counted up, the queues written, what was changed kept for undo."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.drafts.tree_document import NAMED, PLACEMENT, TERMS, assign, pin, text_of
from scheduler_admin.queues.models import Draft, DraftAct, DraftQueue

MOST_ACTS = 200
"""Of one person in one draft that can be undone."""
_OWN = ("base_id", "conflicts")
"""What a draft itself says beside its flat settings."""
_PLACE = {"parent": "parent_id", "name": "name", "origin": "origin"}
"""What a queue says beside its flat settings -> the model's field."""
Said = dict[str, Any]
"""Setting -> what it says, as ``text_of`` has it; what is not said may be missing."""


class Difference(TypedDict):
    """What an act changed of a queue, or (``row`` is None) of the draft itself: only the settings that differ.

    Of a queue that was, or is, not there, None; then the other one says all of it.
    """

    row: int | None
    before: Said | None
    after: Said | None


class ConflictError(Exception):
    """Somebody else changed meanwhile what this act is about. ``now``: what it says now; ``by``: who, where known.

    ``queue`` is the name of the queue, ``setting`` which of its settings; empty: the act was about that alone.
    """

    def __init__(self, now: str, draft: Draft, at: DraftQueue | Draft, setting: str = "") -> None:
        super().__init__(now)
        self.now = now
        self.by = _changed_by(draft, at)
        self.queue = at.name
        self.setting = setting


def _changed_by(draft: Draft, at: DraftQueue | Draft) -> str:
    if at.changed_in == draft.version:
        return draft.changed_by
    act = draft.acts.filter(version=at.changed_in).select_related("actor").first()
    return act.actor.get_username() if act else ""


def locked(draft: Draft) -> Draft:
    """The draft as it is now, kept from others until the transaction ends. Raises Draft.DoesNotExist."""
    # Apart from the join: after a wait PostgreSQL reads the locked row anew, but not those that it was joined to.
    Draft.objects.select_for_update().only("pk").get(pk=draft.pk)
    return Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)


def changed(draft: Draft, actor: User, *queues: DraftQueue, gone: Sequence[DraftQueue] = ()) -> Draft:
    """Store an act on these queues and those that are ``gone``, and keep what it changed, for its actor to undo."""
    differences = store(draft, actor, queues, gone)
    acts = draft.acts.filter(actor=actor)
    acts.filter(undone=True).delete()
    DraftAct.objects.create(draft=draft, actor=actor, version=draft.version, changes=differences)
    if old := list(acts.order_by("-pk").values_list("pk", flat=True)[MOST_ACTS:]):
        acts.filter(pk__in=old).delete()
    return draft


def store(draft: Draft, actor: User, queues: Iterable[DraftQueue], gone: Sequence[DraftQueue] = ()) -> list[Difference]:
    """Count the version up and write what an act changed. What it was."""
    pin(draft, queues)
    own_before, own_after = said_itself(Draft.objects.defer("source").get(pk=draft.pk)), said_itself(draft)
    draft.version += 1
    draft.changed_by = actor.get_username()
    if own_before != own_after:
        draft.changed_in = draft.version
        draft.full_clean()
    draft.save()
    rows = DraftQueue.objects.in_bulk([queue.pk for queue in queues if queue.pk])
    before = {pk: said(row) for pk, row in rows.items()}
    made = [queue for queue in queues if queue.pk not in before]
    kept = [queue for queue in queues if queue.pk in before and said(queue) != before[queue.pk]]
    for queue in (*kept, *made):
        queue.changed_in = draft.version
        queue.full_clean(exclude=["id", "draft", "parent"], validate_unique=False)
    create_queues(made)
    for queue in kept:
        queue.save()
    DraftQueue.objects.filter(pk__in=[queue.pk for queue in gone]).delete()
    differences = [_difference(None, own_before, own_after)] if own_before != own_after else []
    differences += [_difference(queue.pk, before[queue.pk], said(queue)) for queue in kept]
    differences += [Difference(row=queue.pk, before=None, after=said(queue)) for queue in made]
    return differences + [Difference(row=queue.pk, before=said(queue), after=None) for queue in gone]


def create_queues(rows: Sequence[DraftQueue]) -> None:
    """Write new queues level by level: a row needs its parent's key."""
    while rows:
        ready = [row for row in rows if row.parent_id or row.parent is None or row.parent.pk]
        DraftQueue.objects.bulk_create(ready)
        rows = [row for row in rows if row.pk is None]


def _difference(row: int | None, before: Said, after: Said) -> Difference:
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name, "") != after.get(name, "")]
    return Difference(
        row=row,
        before={name: before.get(name, "") for name in names},
        after={name: after.get(name, "") for name in names},
    )


def said(row: DraftQueue) -> Said:
    """All that a queue says."""
    place: Said = {name: getattr(row, field) for name, field in _PLACE.items()}
    return {**place, **row.settings}


def said_itself(draft: Draft) -> Said:
    """All that a draft says beside its queues."""
    named = {f"{field}/{name}": text for field in NAMED for name, text in getattr(draft, field).items()}
    flat = {name: text for name in (*TERMS, PLACEMENT) if (text := text_of(draft, name))}
    return {name: getattr(draft, name) for name in _OWN} | flat | named


def put_itself(draft: Draft, settings: Said) -> None:
    """Set what ``said_itself`` tells."""
    for name, value in settings.items():
        if name in _OWN:
            setattr(draft, name, value)
        else:
            assign(draft, name, value)


def put(row: DraftQueue, settings: Said) -> None:
    """Set what ``said`` tells."""
    for name, text in settings.items():
        if name in _PLACE:
            setattr(row, _PLACE[name], text)
        else:
            assign(row, name, text)
