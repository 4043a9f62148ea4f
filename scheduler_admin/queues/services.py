"""Writes to trees: hierarchies are made, trees imported and published as revisions."""

from functools import lru_cache

from django.db import transaction
from django.db.models import Max

from engine.formats.notes import Note
from engine.formats.tree import decode_tree, encode_tree
from engine.formats.yunikorn import read
from engine.queues import QueueTree
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services import record
from scheduler_admin.queues.models import Hierarchy, Queue, Revision


@lru_cache(maxsize=64)
def _decoded(document: str) -> QueueTree:
    return decode_tree(document.encode())


def tree_of(revision: Revision) -> QueueTree:
    """A revision's tree, as the engine reads it."""
    return _decoded(revision.document)


@transaction.atomic
def import_yunikorn(
    *, hierarchy: str, text: str, author: User | None, reason: str
) -> tuple[Revision, tuple[Note, ...]]:
    """Publish a queues.yaml as the next revision of a hierarchy, made when there is none of that name.

    Returns the revision and what the import has to say. Raises ImportFailure, and ValidationError for a bad name.
    """
    imported = read(text)
    found = Hierarchy.objects.filter(name=hierarchy).first()
    if found is None:
        found = Hierarchy(name=hierarchy)
        found.full_clean()
        found.save()
    revision = publish(
        hierarchy=found, tree=imported.tree, author=author, reason=reason, source_format="yunikorn", source=text
    )
    return revision, imported.notes


@transaction.atomic
def publish(
    *,
    hierarchy: Hierarchy,
    tree: QueueTree,
    author: User | None,
    reason: str,
    policy: str = Revision.Policy.FENCE,
    dialect: str = "design",
    parameters: dict[str, object] | None = None,
    source_format: str = "",
    source: str = "",
) -> Revision:
    """Make a tree the next, and current, revision of its hierarchy. Raises ValidationError."""
    hierarchy = Hierarchy.objects.select_for_update().get(pk=hierarchy.pk)
    last = hierarchy.revisions.aggregate(last=Max("number"))["last"] or 0
    author_name = author.get_username() if author else "system"
    revision = Revision(
        hierarchy=hierarchy,
        number=last + 1,
        document=encode_tree(tree).decode(),
        source_format=source_format,
        source=source,
        policy=policy,
        dialect=dialect,
        parameters=parameters or {},
        author=author,
        author_name=author_name,
        reason=reason,
    )
    revision.full_clean()
    revision.save()
    _store_queues(revision, tree)
    hierarchy.current = revision
    hierarchy.save(update_fields=["current"])
    record(actor=author, verb="tree.publish", target=str(revision), reason=reason)
    return revision


def _store_queues(revision: Revision, tree: QueueTree) -> None:
    stored: dict[str, Queue] = {}
    for position, path in enumerate(tree.walk()):
        queue = tree[path]
        row = Queue(
            revision=revision,
            parent=stored.get(queue.parent or ""),
            path=path,
            position=position,
            leaf=tree.is_leaf(path),
            guaranteed=queue.guaranteed,
            max=queue.max,
            preemption_policy=queue.preemption_policy.value,
            delay_ms=queue.delay_ms,
            priority_policy=queue.priority_policy.value,
            priority_offset=queue.priority_offset,
            namespaces=list(queue.namespaces),
            evict_uncontrolled=queue.evict_uncontrolled,
        )
        row.full_clean(exclude=["parent"])
        row.save()
        stored[path] = row
