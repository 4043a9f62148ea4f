"""The capacity of a cluster, as far as lint needs it, and a check of queues against its ResourceQuotas."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.objects import Namespace
from engine.model.quantities import Amounts, format_amount
from engine.model.queue_tree import QueueTree
from engine.model.snapshot.resource_quotas import tighter_quotas
from engine.tree.lint.found import make_note


class ClusterRoom(NamedTuple):
    """The capacity that a cluster has for the queues of a tree."""

    capacity: Mapping[str, int]
    """What the cluster's nodes can hold."""
    quotas: Mapping[str, Amounts] = {}
    """Namespace -> the most that its ResourceQuotas let its pods request."""


def above_quotas(tree: QueueTree, room: ClusterRoom) -> Iterator[Note]:
    """Yield leaves of one namespace that are promised, or limited to, more than its ResourceQuotas allow.

    Source: the proposal of k8s-arbitrator, by which hard and deserved are at most what the quota allows.
    """
    names = {*room.quotas, *tree.leaf_by_namespace}
    less = tighter_quotas(tree, {name: Namespace(name=name) for name in names}, room.quotas)
    for path in tree.walk():
        for resource, allowed in less[path].allows.items() if path in less else ():
            queue = tree[path]
            setting = "max" if queue.max.get(resource, 0) > allowed else "guaranteed"
            message = gettext_noop(
                "Its %(setting)s of %(resource)s is %(amount)s, but the ResourceQuotas of namespace "
                "%(namespace)s allow only %(allowed)s, so its deserved share is at most that."
            )
            remedy = gettext_noop("Lower it to %(allowed)s, or raise the ResourceQuota.")
            params = {
                "setting": setting,
                "amount": format_amount(resource, getattr(queue, setting)[resource]),
                "allowed": format_amount(resource, allowed),
                "namespace": less[path].namespace,
            }
            yield make_note(Severity.WARNING, path, message, remedy, setting, resource, resource=resource, **params)
