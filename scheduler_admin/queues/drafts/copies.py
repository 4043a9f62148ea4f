"""A queue is copied, with all below it."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.model.notes import MOST_QUEUES
from engine.model.queue_settings import SETTINGS, Kind
from scheduler_admin.accounts.models import User
from scheduler_admin.core import limits
from scheduler_admin.queues.drafts.edits import subtree, theirs
from scheduler_admin.queues.drafts.storage import changed, locked, put, said
from scheduler_admin.queues.models import Draft, DraftQueue

_NOT_COPIED = tuple(one.typed_as for one in SETTINGS if one.kind is Kind.NAMES)
"""The settings that belong to one queue."""


@transaction.atomic
def copy(*, draft: Draft, row: int, parent: int, actor: User) -> tuple[Draft, DraftQueue]:
    """Put a copy of a queue, with all below it, under a parent, which may be its own; under a name that is free there.

    Everything is copied but the namespaces and former paths: each belongs to one queue. Raises ValidationError for the
    root and where there would be too many queues, DraftQueue.DoesNotExist for a queue or a parent that is gone.
    """
    draft = locked(draft)
    queue, target = theirs(draft, row, actor, below=True), theirs(draft, parent, actor, below=True)
    if queue.parent_id is None:
        raise ValidationError(_("The root queue can't be copied."))
    copied = subtree(draft, queue)
    if draft.queues.count() + len(copied) > MOST_QUEUES:
        raise ValidationError(_("There are more than %(most)s queues.") % {"most": MOST_QUEUES})
    made: dict[int, DraftQueue] = {}
    for one in copied:
        made[one.pk] = DraftQueue(draft=draft)
        put(made[one.pk], said(one) | {"origin": ""} | dict.fromkeys(_NOT_COPIED, ""))
        made[one.pk].parent = made.get(one.parent_id or 0, target)
    top = made[queue.pk]
    top.name = _free(queue.name, {name.lower() for name in target.children.values_list("name", flat=True)})
    return changed(draft, actor, *made.values()), top


def _free(name: str, taken: set[str]) -> str:
    """The name itself, or the first of ``name-copy``, ``name-copy-2`` ... that is not taken."""
    ends = ["", "-copy", *(f"-copy-{number}" for number in range(2, len(taken) + 3))]
    tried = (f"{name[: limits.QUEUE_NAME - len(end)]}{end}" for end in ends)
    return next(one for one in tried if one.lower() not in taken)
