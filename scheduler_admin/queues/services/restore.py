"""A queue that was deleted is put back with all below it, as a revision has them, in a draft on the tree in force."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.formats.tree_json.document import write_queue
from engine.model.notes import MOST_QUEUES
from engine.model.queue_paths import is_inside
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Scope, scope_of
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.drafts.storage import changed
from scheduler_admin.queues.drafts.texts import typed
from scheduler_admin.queues.models import Draft, DraftQueue, Revision
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.queues.subtrees import FOREIGN, GIVEN


def restorable(revision: Revision, scope: Scope) -> frozenset[str]:
    """The queues of a revision that the tree in force no longer has, by whichever path, and the scope may put back.

    Without those below another one of them, which come back with it.
    """
    if revision.hierarchy.current is None:
        return frozenset()
    tree, now = tree_of(revision), tree_of(revision.hierarchy.current)
    gone = tree.queues.keys() - {path for path in tree.queues if now.now(path) in now}
    tops = (path for path in gone if tree[path].parent not in gone)
    return frozenset(path for path in tops if scope.may_change(now.now(path)))


@transaction.atomic
def restore(*, revision: Revision, path: str, author: User) -> Draft:
    """A draft on the tree in force in which a queue of a revision is back, with all below it, as it was there.

    Where queues above it are gone as well, it is the topmost of them that comes back. Raises ValidationError for a
    queue that the revision does not have, that is there (again), or that is not the author's to put back.
    """
    tree = tree_of(revision)
    if path not in tree:
        raise ValidationError(_("Revision %(number)s does not contain this queue.") % {"number": revision.number})
    name = _("Restore %(queue)s from revision %(number)s") % {"queue": tree[path].name, "number": revision.number}
    draft = start(hierarchy=revision.hierarchy, name=name, author=author)
    top = _top(tree, tree_of(draft.base), path)
    place, scope = tree_of(draft.base).now(top), scope_of(author, "edit")
    if not scope.may_change(place):
        raise ValidationError(f"{place}: {_(GIVEN if scope.has_path(place) else FOREIGN)}")
    rows = _rows(draft, tree, top)
    if draft.queues.count() + len(rows) > MOST_QUEUES:
        raise ValidationError(_("There are more than %(most)s queues.") % {"most": MOST_QUEUES})
    details = {"queue": top, "revision": revision.number}
    record(actor=author, verb="draft.restore", target=str(draft), details=details)
    return changed(draft, author, *rows)


def _top(tree: QueueTree, now: QueueTree, path: str) -> str:
    """The topmost of a queue and those above it that is gone. Raises ValidationError where its name is taken."""
    top = next((one for one in reversed(tree.lineage(path)) if now.now(one) not in now), path)
    there = [one for one in now.queues if one.lower() == now.now(top).lower()]
    if there:
        raise ValidationError(_("Queue %(name)s already exists.") % {"name": there[0]})
    return top


def _rows(draft: Draft, tree: QueueTree, top: str) -> list[DraftQueue]:
    """A subtree as rows that are not stored yet, parents before children: below what held it, as that is called now."""
    now = tree_of(draft.base)
    rows: dict[str, DraftQueue] = {}
    for path in tree.walk():
        if is_inside(path, top):
            parent = tree[path].parent or ""
            rows[path] = DraftQueue(
                draft=draft,
                parent=rows.get(parent) or draft.queues.get(origin=now.now(parent)),
                name=tree[path].name,
                settings=typed(write_queue(tree[path])),
            )
    return list(rows.values())
