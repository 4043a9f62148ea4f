"""A tree written into Kueue's objects: what agrees already is left as it was typed, and what is not ours is kept."""

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
    target_of,
)
from engine.formats.kueue.read import DEFAULT_LOCAL_QUEUE, IMPLIED_ROOT, Read, read_objects
from engine.formats.kueue.resource_groups import ResourceGroups, flavors_of, write_quotas
from engine.formats.tree_json.percentages import without_shares
from engine.formats.tree_json.queue_annotation import annotate, differing, rename
from engine.formats.written_document import Written
from engine.formats.yaml.object_list import Object, ObjectList
from engine.model.notes import Note, Notebook, Severity, gettext_noop
from engine.model.queue_tree import ROOT, PreemptionPolicy, Queue, QueueTree

Names = dict[str, tuple[str, str]]
"""Path -> kind and name of its object."""

NEWEST = "v1beta2"
"""Of what is written where nothing is there yet."""
RESOURCE_FLAVOR = "ResourceFlavor"

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_TAKES = ("take_within", "take_reclaim", "take_borrowing")
"""Which Kueue has no way not to say."""
_LONGEST_NAME = 200
"""Of one made up of a path, in characters; Kubernetes allows 253."""


def write(text: str, tree: QueueTree) -> Written:
    """A text of Kueue's objects, empty for a new one, with its queues made those of ``tree``.

    ``read`` gives the tree back, without placement rules, and with all parents declared as such. Queues that the tree
    does not have are left out with their LocalQueues. Raises ImportFailure for a text that ``read`` refuses.
    """
    tree = QueueTree(map(without_shares, tree.queues.values()), tree.placement)
    manifests = ObjectList(text, changing=True)
    found = read_objects(manifests, Notebook()) if text.strip() else Read({}, {}, {}, {})
    implied = _is_implied(found, tree, new=not text.strip())
    names = _names(tree, found, [path for path in tree.walk() if path != tree.root or not implied])
    _leave_out(manifests, found, names)
    objects = _put_in(manifests, found, tree, names)
    _lead(manifests, found, tree, names)
    if not text.strip():
        _add_flavors(manifests)
    notes = tuple(_annotate(manifests, objects, tree))
    return Written(text=manifests.written(), notes=notes)


def _is_implied(found: Read, tree: QueueTree, *, new: bool) -> bool:
    """Whether no Cohort is needed for the root: what stands at the top does not reach each other then."""
    if ROOT in found.places or tree.is_leaf(tree.root) or _declared(tree[tree.root]) != IMPLIED_ROOT:
        return False
    return not new or all(tree[path].preemption_policy is PreemptionPolicy.FENCE for path in tree.children[tree.root])


def _kind(tree: QueueTree, path: str) -> str:
    return CLUSTER_QUEUE if tree.is_leaf(path) else COHORT


def _names(tree: QueueTree, found: Read, paths: list[str]) -> Names:
    """Path -> what each queue is called there, a new or moved one as here where that is free and allowed."""
    names = {
        path: (_kind(tree, path), one.name)
        for path in paths
        if (one := found.places.get(path)) and one.kind == _kind(tree, path)
    }
    taken = set(names.values())
    for path in paths:
        if path in names:
            continue
        kind, name = _kind(tree, path), tree[path].name.replace("_", ".")
        if (kind, name) in taken or not _NAME.fullmatch(name):
            name = re.sub(r"[^a-z0-9]+", "-", path.partition(".")[2].lower()).strip("-")[:_LONGEST_NAME] or "queue"
        made, number = name, 1
        while (kind, made) in taken:
            number += 1
            made = f"{name}-{number}"
        names[path] = (kind, made)
        taken.add(names[path])
    return {path: names[path] for path in paths}


def _leave_out(manifests: ObjectList, found: Read, names: Names) -> None:
    """Take away what the tree does not have, and what leads there."""
    kept = set(names.values())
    for one in [one for one in manifests.objects if is_queue(one) and (one.kind, one.name) not in kept]:
        manifests.remove(one)
    gone = {one.name for one in found.places.values() if one.kind == CLUSTER_QUEUE} - {name for _kind, name in kept}
    for one in [one for one in local_queues(manifests) if target_of(one) in gone]:
        manifests.remove(one)


def _put_in(manifests: ObjectList, found: Read, tree: QueueTree, names: Names) -> dict[str, Object]:
    """Path -> object, saying what it can of its queue; a Cohort that is only named stays so while it says nothing."""
    there = {(one.kind, one.name): one for one in manifests.objects if is_queue(one)}
    objects: dict[str, Object] = {}
    for path, (kind, name) in names.items():
        above = names[parent][1] if (parent := tree[path].parent) in names else ""
        one = there.get((kind, name))
        if one is None and path in found.places and not above and found.native[path] == _declared(tree[path]):
            continue
        one = objects[path] = one or manifests.add(_new(manifests, kind, name))
        rename(one, tree[path].name)
        if cohort_above(one) != above:
            _set_above(one, above)
        queue = tree[path]
        # What stands at the top has nobody to borrow from, or to lend to: Kueue refuses limits there.
        limits, lendable = (queue.max, queue.lendable) if above else ({}, {})
        write_quotas(one, ResourceGroups(queue.guaranteed, limits, lendable), found.flavors)
        write_rules(one, queue)
    return objects


def _declared(queue: Queue) -> Queue:
    return msgspec.structs.replace(queue, parent_declared=True)


def _new(manifests: ObjectList, kind: str, name: str) -> dict[str, Any]:
    """Where the text has others of Kueue's, it is of their version."""
    version = next((one.version for one in manifests.objects if is_queue(one)), NEWEST)
    # Without a selector of namespaces a ClusterQueue takes nobody's work.
    spec: dict[str, Any] = {"namespaceSelector": {}} if kind == CLUSTER_QUEUE else {}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _set_above(one: Object, name: str) -> None:
    if name:
        one.own_spec()[parent_field(one)] = name
    else:
        del one.spec[parent_field(one)]


def _lead(manifests: ObjectList, found: Read, tree: QueueTree, names: Names) -> None:
    """Let LocalQueues lead the namespaces that leaves claim; those of a claim that was given up go."""
    said = {one.name: found.native[path].namespaces for path, one in found.places.items() if one.kind == CLUSTER_QUEUE}
    wanted = {name: tree[path].namespaces for path, (kind, name) in names.items() if kind == CLUSTER_QUEUE}
    for one in list(local_queues(manifests)):
        name, namespace = target_of(one), namespace_of(one)
        if namespace in said.get(name, ()) and namespace not in wanted.get(name, ()):
            manifests.remove(one)
    led = {namespace_of(one) for one in local_queues(manifests)}
    version = next((one.version for one in manifests.objects if is_queue(one)), NEWEST)
    for name, namespaces in wanted.items():
        for namespace in namespaces:
            if namespace not in led:
                led.add(namespace)
                metadata = {"name": DEFAULT_LOCAL_QUEUE, "namespace": namespace}
                fields = {"apiVersion": f"{GROUP}/{version}", "kind": LOCAL_QUEUE, "metadata": metadata}
                manifests.add({**fields, "spec": {"clusterQueue": name}})


def _add_flavors(manifests: ObjectList) -> None:
    """The flavors that quotas name; which nodes are of one, nobody has said yet."""
    known = flavors_of(filter(is_queue, manifests.objects)).values()
    for flavor in sorted({flavor for flavors in known for flavor in flavors}):
        metadata = {"name": flavor}
        manifests.add({"apiVersion": f"{GROUP}/{NEWEST}", "kind": RESOURCE_FLAVOR, "metadata": metadata, "spec": {}})


def _annotate(manifests: ObjectList, objects: Mapping[str, Object], tree: QueueTree) -> Iterator[Note]:
    """What the objects can't say goes into our annotation. Yields what that is, and what is left out altogether."""
    native = read_objects(manifests, Notebook()).native if objects else {}
    silent = 0
    for path, one in objects.items():
        settings = differing(native[path], tree[path])
        annotate(one, settings)
        unsaid = {field for field in _TAKES if field in settings and settings[field] is None}
        silent += bool(unsaid)
        if named := sorted(settings.keys() - unsaid):
            message = gettext_noop(
                "Kueue has nothing for %(settings)s: an annotation keeps it, which Kueue passes over."
            )
            params = {"settings": ", ".join(named)}
            yield Note(severity=Severity.WARNING, path=path, line=None, message=message, params=params)
    if silent:
        message = gettext_noop(
            "Leaves that don't say whom they may preempt (%(count)s) preempt nobody in Kueue; "
            "an annotation keeps that they say nothing."
        )
        params = {"count": str(silent)}
        yield Note(severity=Severity.WARNING, path=tree.root, line=None, message=message, params=params)
    if tree.placement:
        message = gettext_noop("Placement rules are left out: Kueue's jobs name their LocalQueue.")
        yield Note(severity=Severity.WARNING, path="", line=None, message=message)
