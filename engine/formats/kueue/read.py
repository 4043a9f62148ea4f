"""Reading of Kueue's objects into a queue tree, with notes about their content.

A Cohort is a parent and a ClusterQueue a leaf; a LocalQueue lets a leaf claim its namespace. Guaranteed is
nominalQuota, max is nominalQuota + borrowingLimit, and lendable is lendingLimit; for weight and take_* see
``preemption_rules``. Top-level queues can't preempt each other, so below an implied root each has a fence. A
ClusterQueue without a Cohort can't borrow, so its max is its guaranteed amount.

Source: Kueue's API, v1beta1 and v1beta2.
"""

from collections import Counter

import msgspec

from engine.formats.import_result import Imported, QueueSource
from engine.formats.kueue.preemption_rules import read_rules, rule_fields
from engine.formats.kueue.queue_names import (
    COHORT,
    FIELDS,
    LOCAL_FIELDS,
    KueueQueue,
    cohort_above,
    is_queue,
    local_queues,
    namespace_of,
    note_dropped,
    parent_field,
    place_queues,
    target_cluster_queue,
)
from engine.formats.kueue.resource_groups import Flavors, flavors_of, read_quotas
from engine.formats.tree_json.queue_annotation import with_annotation
from engine.formats.yaml.documents import line_of, note_others
from engine.formats.yaml.object_list import ObjectList
from engine.model.message import gettext_noop
from engine.model.notes import ImportFailure, NoteCollector, Severity
from engine.model.queue_tree import ROOT, PreemptionPolicy, Queue, QueueTree, is_namespace

IMPLIED_ROOT = Queue(path=ROOT, parent_declared=True)
"""Parent of the Cohorts and ClusterQueues that have no parent of their own."""
DEFAULT_LOCAL_QUEUE = "default"
"""Name of the LocalQueue that gets the jobs of its namespace that name no queue."""


class Read(msgspec.Struct, frozen=True):
    """The content of a text's objects, object by object."""

    places: dict[str, KueueQueue]
    flavors: Flavors
    native: dict[str, Queue]
    """Path -> the queue as its object describes it, without our annotation."""
    queues: dict[str, Queue]


def read(text: str) -> Imported:
    """Return the tree of Kueue's objects in a text of YAML documents or JSON.

    Raise ImportFailure, with every error in it, for a text without queues, or whose objects form no tree.
    """
    book = NoteCollector()
    manifests = ObjectList(text)
    manifests.note_unnamed(book)
    result = read_objects(manifests, book)
    _note_others(manifests, book)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    root = {} if ROOT in result.queues else {ROOT: IMPLIED_ROOT}
    sources = {path: QueueSource(f"{place.kind} {place.name}", place.line) for path, place in result.places.items()}
    return Imported(
        form="kueue",
        tree=QueueTree([*root.values(), *result.queues.values()]),
        notes=tuple(book.notes),
        sources=sources,
    )


def read_objects(manifests: ObjectList, book: NoteCollector) -> Read:
    """Return the queues that the objects describe.

    Raise ImportFailure if the objects form no tree; other errors are added to ``book``.
    """
    places = place_queues(manifests, book)
    flavors = flavors_of(filter(is_queue, manifests.objects))
    claims = _claims(manifests, places, book)
    native: dict[str, Queue] = {}
    queues: dict[str, Queue] = {}
    for path, placed in places.items():
        border = path.count(".") == 1 and ROOT not in places
        queue = _read_queue(path, placed, flavors, border=border, book=book)
        native[path] = msgspec.structs.replace(queue, namespaces=tuple(sorted(claims.get(path, ()))))
        queues[path] = with_annotation(placed.object, native[path], book) if placed.object else native[path]
    return Read(places, flavors, native, queues)


def _read_queue(path: str, placed: KueueQueue, flavors: Flavors, *, border: bool, book: NoteCollector) -> Queue:
    """Return the queue that an object describes, without our annotation.

    ``border``: whether it is a top-level queue below an implied root, so that it must have a fence.
    """
    obj = placed.object
    granted = read_quotas(obj.spec if obj else {}, path, flavors, book)
    rules = {}
    if obj is not None:
        dropped = note_dropped(obj, path, book)
        known_fields = {"resourceGroups", parent_field(obj)} | rule_fields(obj.kind)
        note_others(obj.spec, known_fields | dropped, path, book, known=FIELDS[obj.kind])
        rules = read_rules(obj, path, book)
    borrows = placed.kind == COHORT or (obj is not None and cohort_above(obj))
    return Queue(
        path=path,
        parent_declared=placed.kind == COHORT,
        guaranteed=granted.guaranteed,
        max=granted.max if borrows else dict(granted.guaranteed),
        lendable=granted.lendable if obj is not None and cohort_above(obj) else {},
        preemption_policy=PreemptionPolicy.FENCE if border else PreemptionPolicy.DEFAULT,
        **rules,
    )


def _claims(manifests: ObjectList, places: dict[str, KueueQueue], book: NoteCollector) -> dict[str, set[str]]:
    """Return the namespaces that each ClusterQueue claims, by path.

    A namespace is claimed if all of its LocalQueues point to the same ClusterQueue, or through its default LocalQueue.
    """
    paths = {place.name: path for path, place in places.items() if place.kind != COHORT}
    leading: dict[str, dict[str, str]] = {}
    for local_queue in local_queues(manifests):
        target = target_cluster_queue(local_queue)
        note_others(local_queue.spec, LOCAL_FIELDS, paths.get(target, ""), book)
        if not is_namespace(namespace_of(local_queue)):
            message = gettext_noop("%(name)s is not a valid namespace name.")
            book.add(Severity.ERROR, "", local_queue.line, message, name=repr(namespace_of(local_queue)))
        elif target not in paths:
            message = gettext_noop(
                "ClusterQueue %(name)s does not exist. The LocalQueue is kept and written back unchanged."
            )
            book.add(
                Severity.WARNING,
                "",
                line_of(local_queue.spec, "clusterQueue") or local_queue.line,
                message,
                name=repr(target),
            )
        else:
            leading.setdefault(namespace_of(local_queue), {})[local_queue.name] = paths[target]
    claimed: dict[str, set[str]] = {}
    for namespace, queues in leading.items():
        path = queues.get(DEFAULT_LOCAL_QUEUE) or min(queues.values())
        if DEFAULT_LOCAL_QUEUE in queues or len(set(queues.values())) == 1:
            claimed.setdefault(path, set()).add(namespace)
    for local_queue in local_queues(manifests):
        path = paths.get(target_cluster_queue(local_queue), "")
        if path and namespace_of(local_queue) not in claimed.get(path, ()):
            message = gettext_noop(
                "The LocalQueues of namespace %(namespace)s point to several ClusterQueues. This one is kept unchanged."
            )
            book.add(Severity.INFO, path, local_queue.line, message, namespace=namespace_of(local_queue))
    return claimed


def _note_others(manifests: ObjectList, book: NoteCollector) -> None:
    """Add a note for each kind of other object, at the first of them, with the number of objects that are kept."""
    locals_ = {id(local_queue) for local_queue in local_queues(manifests)}
    others = [obj for obj in manifests.objects if not is_queue(obj) and id(obj) not in locals_]
    count = Counter(other.kind for other in others)
    firsts = {other.kind: other for other in reversed(others)}
    for kind, number in count.items():
        first = firsts[kind]
        message = gettext_noop(
            "Objects of kind %(kind)s (%(count)s) have no counterpart here. They are kept and written back unchanged."
        )
        book.add(Severity.INFO, "", first.line, message, count=str(number), kind=kind)
