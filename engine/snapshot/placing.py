"""What the tree and the protection make of a pod: its queue and application, and whether it is spared."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from engine.placement import Submission, grown, leaf_for, template_of
from engine.queues import BARE, QueueTree
from engine.snapshot.objects import SYSTEM_PRIORITY, Namespace, Pod, PriorityClass, Shield


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """Which pods are never victims of our acting."""

    namespaces: frozenset[str] = frozenset({"kube-system"})
    min_run_ms: int = 0
    """Pods that have run for less are spared: what has just begun would lose its start and bring back no less load."""


class Placing:
    """Pods as they stand in a snapshot, remembered until the next: of most nothing has changed between two passes."""

    def __init__(self) -> None:
        self._last: tuple[QueueTree | None, Protection | None, dict[str, _Placed]]
        self._last = (None, None, {})
        """By uid, under this tree and protection."""
        self._grown: tuple[QueueTree | None, tuple[str, ...], QueueTree] = (None, (), BARE)
        """A tree, the leaves that were wanted besides, and the tree grown with them."""

    def of(
        self,
        pods: Mapping[str, Pod],
        classes: Mapping[str, PriorityClass],
        namespaces: Mapping[str, Namespace],
        tree: QueueTree,
        protection: Protection | None,
    ) -> tuple[list[Pod], QueueTree]:
        """Those of ``pods`` (by uid) that are not finished, with queue, application and, under a protection, shield.

        And the tree with the dynamic queues that they are in; while these are the same it is the same tree.
        """
        last_tree, last_protection, known = self._last
        if last_tree is not tree or last_protection != protection:
            known = {}
        above_by = {name: one.parent_queue for name, one in namespaces.items() if tree.placement and one.parent_queue}
        found = {}
        for uid, pod in pods.items():
            if pod.finished:
                continue
            priority_class = classes.get(pod.priority_class)
            above = above_by.get(pod.namespace, "")
            before = known.get(uid)
            if before is None or before[0] is not pod or before[1] is not priority_class or before[2] != above:
                one = placed(pod, tree, priority_class, above)
                before = _Placed(pod, priority_class, above, _shielded(one, tree, protection))
            found[uid] = before
        # Replaced, never changed: copies of a state share this, and may be frozen from several threads.
        self._last = (tree, protection, found)
        return self._within([one.pod_placed for one in found.values()], tree, protection)

    def _within(self, pods: list[Pod], tree: QueueTree, protection: Protection | None) -> tuple[list[Pod], QueueTree]:
        """The pods, and the tree with their queues. Of leaves that can't both be, that of the oldest pod is."""
        if not tree.placement:
            return pods, tree
        wanted = _wanted(pods, tree)
        last_tree, last_wanted, tree_grown = self._grown
        if last_tree is not tree or last_wanted != wanted:
            tree_grown = grown(tree, wanted)
            self._grown = (tree, wanted, tree_grown)
        if refused := {path for path in wanted if path not in tree_grown or not tree_grown.is_leaf(path)}:
            pods = [_unplaced(pod, protection) if pod.queue in refused else pod for pod in pods]
        return pods, tree_grown


class _Placed(NamedTuple):
    """A pod, its class and what its namespace says as they were then, and what was made of them."""

    pod: Pod
    priority_class: PriorityClass | None
    parent_queue: str
    pod_placed: Pod


def _wanted(pods: list[Pod], tree: QueueTree) -> tuple[str, ...]:
    """The leaves of the pods that the tree does not have. Where one is above another, those of older pods first."""
    missing = sorted(path for path in {pod.queue for pod in pods} if path is not None and path not in tree)
    above = {path[:dot] for path in missing for dot, mark in enumerate(path) if mark == "."}
    if above.isdisjoint(missing):
        return tuple(missing)
    first: dict[str, tuple[int, str]] = {}
    for pod in pods:
        if pod.queue is not None and pod.queue not in tree:
            came = (pod.created_ms, pod.key)
            first[pod.queue] = min(came, first.get(pod.queue, came))
    return tuple(sorted(missing, key=lambda path: (first[path], path)))


CLUSTER_QUEUE_LABEL = "kueue.x-k8s.io/cluster-queue-name"
"""Of the pods that Kueue admitted."""


def queue_of(pod: Pod, tree: QueueTree, parent_queue: str = "") -> str | None:
    """The leaf a pod runs in: the one that the tree's rules give, by what its namespace says too; it may be dynamic.

    Of a tree without rules: its queue label, else the leaf called as the ClusterQueue that Kueue admitted it to, else
    the leaf that claims its namespace, else none.
    """
    if tree.placement:
        return leaf_for(tree, Submission(pod.queue_label, pod.user, pod.groups, pod.namespace, parent_queue))
    if pod.queue_label:
        path = pod.queue_label if pod.queue_label.startswith(f"{tree.root}.") else f"{tree.root}.{pod.queue_label}"
        if path in tree and tree.is_leaf(path):
            return path
    admitted = pod.labels.get(CLUSTER_QUEUE_LABEL, "").replace(".", "_")
    if admitted in tree.leaf_by_name:
        return tree.leaf_by_name[admitted]
    return tree.leaf_by_namespace.get(pod.namespace)


def placed(pod: Pod, tree: QueueTree, priority_class: PriorityClass | None, parent_queue: str = "") -> Pod:
    """The pod with its queue and application, and what its class says of it."""
    return msgspec.structs.replace(
        pod,
        queue=queue_of(pod, tree, parent_queue),
        application=pod.application_label or pod.controller or pod.name,
        opted_out=priority_class is not None and priority_class.opted_out,
        scheduler_preempts=not _never_by_scheduler(pod, priority_class),
        never_preempts=pod.never_preempts and not (priority_class is not None and priority_class.may_preempt),
    )


def _never_by_scheduler(pod: Pod, priority_class: PriorityClass | None) -> bool:
    # It has its room, and its policy for good. The pod that comes after it takes that of the class.
    return (priority_class or pod).never_preempts if pod.node is not None else pod.never_preempts


def originators(pods: Iterable[Pod]) -> set[str]:
    """The uids of each application's first pod: the oldest, ties by name."""
    first: dict[tuple[str, str], Pod] = {}
    for pod in pods:
        key = (pod.namespace, pod.application)
        other = first.get(key)
        if other is None or (pod.created_ms, pod.name) < (other.created_ms, other.name):
            first[key] = pod
    return {pod.uid for pod in first.values()}


def _unplaced(pod: Pod, protection: Protection | None) -> Pod:
    pod = msgspec.structs.replace(pod, queue=None)
    spared = protection is not None and pod.shield in {Shield.NONE, Shield.NO_CONTROLLER}
    return msgspec.structs.replace(pod, shield=Shield.NO_QUEUE) if spared else pod


def _shielded(pod: Pod, tree: QueueTree, protection: Protection | None) -> Pod:
    shield = _shield(pod, tree, protection)
    return pod if shield is Shield.NONE else msgspec.structs.replace(pod, shield=shield)


def _shield(pod: Pod, tree: QueueTree, protection: Protection | None) -> Shield:
    if pod.unread:
        return Shield.UNREAD
    if protection is None:
        return Shield.NONE
    if pod.mirror:
        return Shield.MIRROR
    if pod.daemonset:
        return Shield.DAEMONSET
    if pod.priority >= SYSTEM_PRIORITY:
        return Shield.SYSTEM_PRIORITY
    if pod.namespace in protection.namespaces:
        return Shield.NAMESPACE
    if pod.queue is None:
        return Shield.NO_QUEUE
    queue = tree.queues.get(pod.queue) or template_of(tree, pod.queue)
    if not pod.controller and not queue.evict_uncontrolled:
        return Shield.NO_CONTROLLER
    return Shield.NONE


def sparing(pod: Pod, *, since_ms: int) -> Pod:
    """The pod, shielded if it was started after ``since_ms``."""
    if pod.shield is Shield.NONE and pod.started_ms is not None and pod.started_ms > since_ms:
        return msgspec.structs.replace(pod, shield=Shield.JUST_STARTED)
    return pod
