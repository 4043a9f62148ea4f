"""Writing of a tree into Kueue's objects: values that agree keep their notation, and unrelated objects are kept."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.formats.kueue.preemption_rules import write_rules
from engine.formats.kueue.queue_names import (
    CLUSTER_QUEUE,
    COHORT,
    GROUP,
    LOCAL_QUEUE,
    cohort_above,
    is_queue,
    local_queues,
    namespace_of,
    parent_field,
    target_cluster_queue,
)
from engine.formats.kueue.read import DEFAULT_LOCAL_QUEUE, IMPLIED_ROOT, Read, read_objects
from engine.formats.kueue.resource_groups import ResourceGroups, flavors_of, write_quotas
from engine.formats.tree_json.percentages import without_shares
from engine.formats.tree_json.queue_annotation import annotate, rename, unsupported_settings
from engine.formats.written_document import Written
from engine.formats.yaml.object_list import Object, ObjectList
from engine.model.message import Message, gettext_noop
from engine.model.notes import Note, NoteCollector, Severity
from engine.model.queue_settings import SETTINGS
from engine.model.queue_tree import ROOT, PreemptionPolicy, Queue, QueueTree

Names = dict[str, tuple[str, str]]
"""Path -> kind and name of the queue's object."""

NEWEST = "v1beta2"
"""API version of new objects in a text that has no queues of Kueue yet."""
RESOURCE_FLAVOR = "ResourceFlavor"

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_TAKES = frozenset(one.name for one in SETTINGS if one.kueue and one.decided_by_policy)
"""Settings that Kueue's objects can't leave unset."""
_LONGEST_NAME = 200
"""Longest object name derived from a path, in characters; Kubernetes allows 253."""


def write(text: str, tree: QueueTree) -> Written:
    """Write the queues of ``tree`` into a text of Kueue's objects; ``read`` returns the tree again.

    An empty text means a new document. Placement rules are left out, and every parent is declared as a parent. Queues
    that the tree does not have are removed with their LocalQueues. Raise ImportFailure for a text that ``read``
    rejects.
    """
    tree = QueueTree(map(without_shares, tree.queues.values()), tree.placement)
    manifests = ObjectList(text, changing=True)
    current = read_objects(manifests, NoteCollector()) if text.strip() else Read({}, {}, {}, {})
    if current.queues and {ROOT: IMPLIED_ROOT, **current.queues} == tree.queues:
        described = {path: place.object for path, place in current.places.items() if place.object is not None}
        return Written(text=text, notes=tuple(_annotate(current.native, described, tree)))
    implied = _is_implied(current, tree, new=not text.strip())
    names = _names(tree, current, [path for path in tree.walk() if path != tree.root or not implied])
    _remove_queues(manifests, current, names)
    objects = _write_queues(manifests, current, tree, names)
    _write_local_queues(manifests, current, tree, names)
    if not text.strip():
        _add_flavors(manifests)
    native = read_objects(manifests, NoteCollector()).native if objects else {}
    notes = tuple(_annotate(native, objects, tree))
    return Written(text=manifests.written(), notes=notes)


def _is_implied(current: Read, tree: QueueTree, *, new: bool) -> bool:
    """Return whether the root needs no Cohort, which means that top-level queues can't preempt each other."""
    if ROOT in current.places or tree.is_leaf(tree.root) or _declared(tree[tree.root]) != IMPLIED_ROOT:
        return False
    return not new or all(tree[path].preemption_policy is PreemptionPolicy.FENCE for path in tree.children[tree.root])


def _kind(tree: QueueTree, path: str) -> str:
    return CLUSTER_QUEUE if tree.is_leaf(path) else COHORT


def _names(tree: QueueTree, current: Read, paths: list[str]) -> Names:
    """Return kind and name of the object of each queue, by path.

    A new or moved queue gets its own name if that is valid and unused.
    """
    names = {
        path: (_kind(tree, path), place.name)
        for path in paths
        if (place := current.places.get(path)) and place.kind == _kind(tree, path)
    }
    used = set(names.values())
    for path in paths:
        if path in names:
            continue
        kind, name = _kind(tree, path), tree[path].name.replace("_", ".")
        if (kind, name) in used or not _NAME.fullmatch(name):
            name = re.sub(r"[^a-z0-9]+", "-", path.partition(".")[2].lower()).strip("-")[:_LONGEST_NAME] or "queue"
        unused, number = name, 1
        while (kind, unused) in used:
            number += 1
            unused = f"{name}-{number}"
        names[path] = (kind, unused)
        used.add(names[path])
    return {path: names[path] for path in paths}


def _remove_queues(manifests: ObjectList, current: Read, names: Names) -> None:
    """Remove the queues that the tree does not have, and the LocalQueues that point to them."""
    remaining = set(names.values())
    manifests.remove([obj for obj in manifests.objects if is_queue(obj) and (obj.kind, obj.name) not in remaining])
    removed = {place.name for place in current.places.values() if place.kind == CLUSTER_QUEUE} - {
        name for _kind, name in remaining
    }
    manifests.remove([one for one in local_queues(manifests) if target_cluster_queue(one) in removed])


def _write_queues(manifests: ObjectList, current: Read, tree: QueueTree, names: Names) -> dict[str, Object]:
    """Set the objects of the queues to their settings, as far as possible, and return them by path.

    A Cohort that other objects only name gets no object while it has no settings.
    """
    existing = {(obj.kind, obj.name): obj for obj in manifests.objects if is_queue(obj)}
    objects: dict[str, Object] = {}
    for path, (kind, name) in names.items():
        above = names[parent][1] if (parent := tree[path].parent) in names else ""
        obj = existing.get((kind, name))
        if obj is None and path in current.places and not above and current.native[path] == _declared(tree[path]):
            continue
        obj = objects[path] = obj or manifests.add(_new(manifests, kind, name))
        rename(obj, tree[path].name)
        if cohort_above(obj) != above:
            _set_above(obj, above)
        queue = tree[path]
        # A top-level queue can't borrow from or lend to any other queue, and Kueue rejects limits there.
        limits, lendable = (queue.max, queue.lendable) if above else ({}, {})
        write_quotas(obj, ResourceGroups(queue.guaranteed, limits, lendable), current.flavors)
        write_rules(obj, queue)
    return objects


def _declared(queue: Queue) -> Queue:
    return msgspec.structs.replace(queue, parent_declared=True)


def _new(manifests: ObjectList, kind: str, name: str) -> dict[str, Any]:
    """Return a new object, in the version of the text's other objects of Kueue, else in the newest version."""
    version = next((obj.version for obj in manifests.objects if is_queue(obj)), NEWEST)
    # A ClusterQueue without a namespaceSelector accepts no workloads.
    spec: dict[str, Any] = {"namespaceSelector": {}} if kind == CLUSTER_QUEUE else {}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _set_above(obj: Object, name: str) -> None:
    if name:
        obj.own_spec()[parent_field(obj)] = name
    else:
        del obj.spec[parent_field(obj)]


def _write_local_queues(manifests: ObjectList, current: Read, tree: QueueTree, names: Names) -> None:
    """Add a LocalQueue for each namespace that a leaf claims, and remove those of claims that no longer exist."""
    former_namespaces = {
        place.name: current.native[path].namespaces
        for path, place in current.places.items()
        if place.kind == CLUSTER_QUEUE
    }
    namespaces_of = {name: tree[path].namespaces for path, (kind, name) in names.items() if kind == CLUSTER_QUEUE}
    unclaimed = []
    for local_queue in local_queues(manifests):
        name, namespace = target_cluster_queue(local_queue), namespace_of(local_queue)
        if namespace in former_namespaces.get(name, ()) and namespace not in namespaces_of.get(name, ()):
            unclaimed.append(local_queue)
    manifests.remove(unclaimed)
    with_local_queue = {namespace_of(local_queue) for local_queue in local_queues(manifests)}
    version = next((obj.version for obj in manifests.objects if is_queue(obj)), NEWEST)
    for name, namespaces in namespaces_of.items():
        for namespace in namespaces:
            if namespace not in with_local_queue:
                with_local_queue.add(namespace)
                metadata = {"name": DEFAULT_LOCAL_QUEUE, "namespace": namespace}
                fields = {"apiVersion": f"{GROUP}/{version}", "kind": LOCAL_QUEUE, "metadata": metadata}
                manifests.add({**fields, "spec": {"clusterQueue": name}})


def _add_flavors(manifests: ObjectList) -> None:
    """Add the flavors that quotas name, without node labels, because the nodes of each flavor are not known."""
    known = flavors_of(filter(is_queue, manifests.objects)).values()
    for flavor in sorted({flavor for flavors in known for flavor in flavors}):
        metadata = {"name": flavor}
        manifests.add({"apiVersion": f"{GROUP}/{NEWEST}", "kind": RESOURCE_FLAVOR, "metadata": metadata, "spec": {}})


def _annotate(native: Mapping[str, Queue], objects: Mapping[str, Object], tree: QueueTree) -> Iterator[Note]:
    """Write the settings that the objects can't express into our annotation.

    ``native``: the queues as the objects themselves describe them. Yield notes on the annotated settings, and on
    placement rules, which are left out.
    """
    unset_count = 0
    for path, obj in objects.items():
        settings = unsupported_settings(native[path], tree[path])
        annotate(obj, settings)
        unset = {field for field in _TAKES if field in settings and settings[field] is None}
        unset_count += bool(unset)
        if setting_names := sorted(settings.keys() - unset):
            message = gettext_noop(
                "Kueue does not support %(settings)s. An annotation keeps it, and Kueue ignores the annotation."
            )
            params = {"settings": ", ".join(setting_names)}
            yield Note(severity=Severity.WARNING, path=path, line=None, message=Message(message, params))
    if unset_count:
        message = gettext_noop(
            "Leaf queues without preemption settings (%(count)s) preempt nothing in Kueue. An annotation "
            "records that the settings are not set."
        )
        params = {"count": str(unset_count)}
        yield Note(severity=Severity.WARNING, path=tree.root, line=None, message=Message(message, params))
    if tree.placement:
        message = gettext_noop("Placement rules are left out: in Kueue, each job names its LocalQueue.")
        yield Note(severity=Severity.WARNING, path="", line=None, message=Message(message))
