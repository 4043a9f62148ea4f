"""One's own last act in a draft is taken back, and done again. What somebody changed since is never overwritten."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import NoReturn

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.model.notes import MOST_QUEUES
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.queues.drafts.rows import rows_of
from scheduler_admin.queues.drafts.storage import ConflictError, Said, locked, put, put_itself, said, said_itself, store
from scheduler_admin.queues.drafts.tree_document import placed
from scheduler_admin.queues.models import Draft, DraftAct, DraftQueue
from scheduler_admin.queues.services.hierarchies import tree_of

_OVERTAKEN = gettext_noop(
    "This can't be undone or redone, because someone else changed the same part of the draft in the meantime."
)


class OvertakenError(ConflictError):
    """What an act did was changed since. ``setting``: of the queue; empty: the queue was, or what is below it."""


Refusal = OvertakenError | ValidationError | DraftQueue.DoesNotExist


def undo(*, draft: Draft, actor: User) -> tuple[Draft, int | None]:
    """Take back the actor's last act, and tell a queue (pk) that it was about; without an act nothing happens.

    Raises OvertakenError, DraftQueue.DoesNotExist and ValidationError where what others did since keeps it from being
    taken back: then it stays for good, and the next one is the act before.
    """
    return _step(draft, actor, back=True)


def redo(*, draft: Draft, actor: User) -> tuple[Draft, int | None]:
    """Do again what the actor took back last. Raises as ``undo``."""
    return _step(draft, actor, back=False)


def next_act(draft: Draft, actor: User, *, back: bool) -> DraftAct | None:
    """What would be undone (``back``) or redone next."""
    acts = draft.acts.filter(actor=actor, undone=not back)
    return acts.last() if back else acts.first()


def _step(draft: Draft, actor: User, *, back: bool) -> tuple[Draft, int | None]:
    with transaction.atomic():
        draft = locked(draft)
        act = next_act(draft, actor, back=back)
        if act is None:
            return draft, None
        try:
            return _taken(draft, actor, act, back=back)
        except (OvertakenError, ValidationError, DraftQueue.DoesNotExist) as error:
            act.delete()
            refusal: Refusal = error
    raise refusal


@transaction.atomic
def _taken(draft: Draft, actor: User, act: DraftAct, *, back: bool) -> tuple[Draft, int | None]:
    """The draft after an act was taken back, or done again."""
    there = rows_of(draft)
    changed, gone = [], []
    for one in act.changes:
        now, then = (one["after"], one["before"]) if back else (one["before"], one["after"])
        if one["row"] is None:
            _put_own(draft, now, then)
        elif now is None:
            changed.append(_back(draft, there, one["row"], then))
        else:
            queue = _unchanged(draft, actor, there, one["row"], now, whole=then is None)
            if then is None:
                gone.append(queue)
            else:
                put(queue, then)
                changed.append(queue)
    removed = {queue.pk for queue in gone}
    left = {pk: queue for pk, queue in there.items() if pk not in removed} | {queue.pk: queue for queue in changed}
    _check_places(draft, left, changed, gone)
    store(draft, actor, changed, gone)
    act.undone, act.version = back, draft.version
    act.save(update_fields=["undone", "version"])
    return draft, changed[0].pk if changed else gone[0].parent_id if gone else None


def _put_own(draft: Draft, now: Said, then: Said) -> None:
    has = said_itself(draft)
    if any(has.get(name, "") != value for name, value in now.items()):
        raise ValidationError(_(_OVERTAKEN))
    put_itself(draft, then)


def _back(draft: Draft, there: Mapping[int, DraftQueue], row: int, settings: Said) -> DraftQueue:
    """A queue that is gone, as the same one: under its own key, and from where it was in the base."""
    queue = DraftQueue(pk=row, draft=draft)
    put(queue, settings)
    taken = any(one.origin == queue.origin for one in there.values())
    if taken or queue.origin not in tree_of(draft.base):  # which somebody may have merged since
        queue.origin = ""
    return queue


def _unchanged(
    draft: Draft, actor: User, there: Mapping[int, DraftQueue], row: int, settings: Said, *, whole: bool
) -> DraftQueue:
    """A queue, to be changed, in which these settings are as the act left them; ``whole``: and there are no others."""
    if row not in there:
        raise DraftQueue.DoesNotExist
    queue = copy(there[row])
    has = said(queue)
    names = (*settings, *has) if whole else tuple(settings)
    differing = next((name for name in names if name != "origin" and has.get(name, "") != settings.get(name, "")), None)
    if differing is not None:
        _overtaken(draft, actor, there, queue, differing)
    return queue


def _overtaken(
    draft: Draft, actor: User, there: Mapping[int, DraftQueue], queue: DraftQueue, setting: str = ""
) -> NoReturn:
    path = next(one.path for one in placed(there.values()) if one.pk == queue.pk)
    if not scope_of(actor, "view").has_path(path):  # a merge may have changed it all the same
        raise ValidationError(_(_OVERTAKEN))
    if setting == "parent":
        now = queue.parent.name if queue.parent else ""
    else:
        now = str(said(queue).get(setting, "")) if setting else queue.name
    raise OvertakenError(now, draft, queue, setting)


def _check_places(
    draft: Draft, left: Mapping[int, DraftQueue], changed: Sequence[DraftQueue], gone: Sequence[DraftQueue]
) -> None:
    """Raise where the queues would form no tree any more, by what others added, moved or deleted since.

    Two of one name are an error to mend, as after a merge.
    """
    if len(left) > MOST_QUEUES:
        raise ValidationError(_("There are more than %(most)s queues.") % {"most": MOST_QUEUES})
    removed = {queue.pk for queue in gone}
    for queue in left.values():
        if queue.parent_id in removed:
            raise OvertakenError(queue.name, draft, queue)
    for queue in changed:
        at, above = queue, set[int]()
        while at.parent_id is not None:
            above.add(at.pk)
            if at.parent_id in above:
                raise ValidationError(_("A queue can't be moved below itself."))
            if at.parent_id not in left:
                raise DraftQueue.DoesNotExist
            at = left[at.parent_id]
