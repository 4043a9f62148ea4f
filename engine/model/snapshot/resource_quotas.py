"""Caps the leaf of a namespace by what the namespace's ResourceQuotas allow.

Source: the proposal of k8s-arbitrator, by which hard and deserved are at most what the namespace's quota allows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from engine.model.objects.kubernetes import ClassQuota, Namespace
from engine.model.placement import Submission, leaf_for
from engine.model.quantities import Amounts
from engine.model.queue_tree import Queue, QueueTree

SYSTEM = "kube-system"
"""The namespace that deserves what its pods request, and that is no consumer."""


class TighterQuota(NamedTuple):
    """A namespace whose ResourceQuotas allow less than the settings of its leaf."""

    namespace: str
    allows: Amounts


def quota_limits(quotas: Iterable[ClassQuota]) -> dict[str, Amounts]:
    """Return the most that the pods of each namespace may request of each resource: all of its quotas apply."""
    found: dict[str, Amounts] = {}
    for quota in quotas:
        for resource, amount in quota.requests.items():
            allowed = found.setdefault(quota.namespace, {})
            allowed[resource] = min(amount, allowed.get(resource, amount))
    return found


def namespace_leaves(tree: QueueTree, namespaces: Mapping[str, Namespace]) -> dict[str, str]:
    """Return the leaf that the tree assigns to each namespace, if it assigns any.

    Other namespaces may share the leaf, and the namespace need not have pods yet.
    """
    found = {name: _leaf(tree, one) for name, one in namespaces.items() if name != SYSTEM}
    return {name: leaf for name, leaf in found.items() if leaf is not None}


def unshared_leaves(places: Mapping[str, str]) -> dict[str, str]:
    """Return the namespaces that share their leaf with no other namespace, with that leaf."""
    many = Counter(places.values())
    return {name: leaf for name, leaf in places.items() if many[leaf] == 1}


def tighter_quotas(
    tree: QueueTree, namespaces: Mapping[str, Namespace], quotas: Mapping[str, Amounts]
) -> dict[str, TighterQuota]:
    """Return, by leaf, its only namespace if the quotas of that allow less than the leaf is guaranteed or may have."""
    found = {}
    for leaf, (namespace, allowed) in _quotas(tree, namespaces, quotas).items():
        queue = tree[leaf]
        said = {name: max(one.get(name, 0) for one in (queue.guaranteed, queue.max)) for name in allowed}
        if less := {name: amount for name, amount in allowed.items() if said[name] > amount}:
            found[leaf] = TighterQuota(namespace, less)
    return found


def cap_by_quotas(tree: QueueTree, namespaces: Mapping[str, Namespace], quotas: Mapping[str, Amounts]) -> QueueTree:
    """Return the tree in which a leaf of a single namespace may have no more than the namespace's quotas allow."""
    found = _quotas(tree, namespaces, quotas)
    if not found:
        return tree
    queues = [_capped(queue, found[path][1]) if path in found else queue for path, queue in tree.queues.items()]
    return QueueTree(queues, tree.placement, tree.capacity)


def _capped(queue: Queue, most: Amounts) -> Queue:
    return msgspec.structs.replace(
        queue, max=queue.max | {name: min(amount, queue.max.get(name, amount)) for name, amount in most.items()}
    )


def _quotas(
    tree: QueueTree, namespaces: Mapping[str, Namespace], quotas: Mapping[str, Amounts]
) -> dict[str, tuple[str, Amounts]]:
    """Return, by leaf, its only namespace and what that namespace's quotas allow."""
    places = unshared_leaves(namespace_leaves(tree, namespaces)) if quotas else {}
    return {leaf: (name, quotas[name]) for name, leaf in places.items() if name in quotas and leaf in tree}


def _leaf(tree: QueueTree, namespace: Namespace) -> str | None:
    if tree.placement:
        return leaf_for(tree, Submission(namespace=namespace.name, parent_queue=namespace.parent_queue))
    return tree.leaf_by_namespace.get(namespace.name)
