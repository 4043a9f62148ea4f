"""The Allocation that reports what a namespace deserves, and the Consumer that a namespace without one gets.

A namespace gets the deserved amounts of its leaf, provided that no other namespace uses the leaf. Source: the proposal
of k8s-arbitrator.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from engine.formats.arbitrator.consumers import HARD, RESERVED, WEIGHT, consumer_resource
from engine.model.objects import Allocation, AllocationCondition, Consumer, Namespace
from engine.model.quantities import Amounts, format_amounts
from engine.model.queue_tree import WEIGHT_ONE, QueueTree
from engine.model.snapshot.resource_quotas import SYSTEM, TighterQuota, namespace_leaves, unshared_leaves
from engine.policies.deserved import ShareStatus

NAME = "defaults"
"""Name of every object that is written, as in the proposal."""
OVERUSED, RESERVED_KEPT, HARD_ABOVE_QUOTA = "Overused", "ReservedKept", "HardAboveQuota"
_TRUE, _FALSE, _UNKNOWN = "True", "False", "Unknown"


def missing_consumers(
    tree: QueueTree, namespaces: Mapping[str, Namespace], consumers: Iterable[Consumer]
) -> dict[str, dict[str, Any]]:
    """Return the spec of the Consumer that each namespace without one gets, by namespace.

    The spec has the settings of the leaf. If the tree has no leaf for the namespace, the spec is empty: no limit,
    nothing reserved. Namespaces that share a leaf get none, because a Consumer represents a leaf of a single namespace.
    """
    places = namespace_leaves(tree, namespaces)
    own_leaves, known = unshared_leaves(places), {consumer.namespace for consumer in consumers}
    namespaces_without = sorted(namespaces.keys() - known - {SYSTEM} - (places.keys() - own_leaves.keys()))
    return {name: _spec(tree, own_leaves.get(name)) for name in namespaces_without}


def _spec(tree: QueueTree, leaf: str | None) -> dict[str, Any]:
    queue = tree.queues.get(leaf) if leaf else None
    if queue is None:
        return {}
    spec: dict[str, Any] = {HARD: _spelled(queue.max), RESERVED: _spelled(queue.guaranteed)}
    if queue.weight != WEIGHT_ONE and queue.weight % WEIGHT_ONE == 0:
        spec[WEIGHT] = queue.weight // WEIGHT_ONE
    return {field: value for field, value in spec.items() if value or field == WEIGHT}


@dataclass(frozen=True, kw_only=True)
class AllocationInputs:
    """The state from which Allocations are computed."""

    tree: QueueTree
    standings: Mapping[str, ShareStatus]
    namespaces: Mapping[str, Namespace]
    notified_ms: Mapping[str, int]
    """Queue -> the time in milliseconds at which it was notified to give back what it borrows."""
    less: Mapping[str, TighterQuota] | None
    """Leaf -> its namespace, if ResourceQuotas there allow less than the tree does; None if quotas can't be read."""
    now_ms: int


def allocations(picture: AllocationInputs, known: Collection[Allocation] = ()) -> dict[str, Allocation]:
    """Return the Allocation of each namespace, by namespace.

    ``known`` holds the existing Allocations. A condition whose status does not change keeps its time. A namespace that
    no longer has a leaf of its own deserves nothing.
    """
    before = {allocation.namespace: allocation for allocation in known if allocation.name == NAME}
    places = unshared_leaves(namespace_leaves(picture.tree, picture.namespaces))
    result = {name: _allocation(picture, name, leaf) for name, leaf in places.items() if leaf in picture.standings}
    result |= {name: _unplaced(name) for name in before.keys() & picture.namespaces.keys() - result.keys()}
    return {name: _dated(allocation, before.get(name), picture.now_ms) for name, allocation in sorted(result.items())}


def _allocation(picture: AllocationInputs, namespace: str, leaf: str) -> Allocation:
    status = picture.standings[leaf]
    return Allocation(
        namespace=namespace,
        name=NAME,
        deserved=format_amounts(status.deserved),
        hard=_spelled(status.hard),
        reserved=_spelled(status.reserved),
        conditions=(_overused(picture, leaf), _reserved_kept(status), _hard_above_quota(picture, leaf)),
    )


def _unplaced(namespace: str) -> Allocation:
    message = "The tree in force has no queue for this namespace alone."
    return Allocation(
        namespace=namespace, name=NAME, conditions=(AllocationCondition(OVERUSED, _UNKNOWN, "NoQueue", message, ""),)
    )


def _overused(picture: AllocationInputs, leaf: str) -> AllocationCondition:
    over = picture.standings[leaf].over
    if not over:
        return AllocationCondition(OVERUSED, _FALSE, "WithinDeserved", "It uses no more than it deserves.", "")
    excess = ", ".join(f"{name} {amount}" for name, amount in format_amounts(over).items())
    notified_ms = picture.notified_ms.get(leaf)
    if notified_ms is None:
        message = f"It uses {excess} more than it deserves, which may be asked back at any time."
        return AllocationCondition(OVERUSED, _TRUE, "Borrows", message, "")
    due = _time(notified_ms + picture.tree.delay_ms(leaf, inherited=True))
    message = f"It uses {excess} more than it deserves, and others ask for that. From {due} on its pods may be evicted."
    return AllocationCondition(OVERUSED, _TRUE, "AskedBack", message, "")


def _reserved_kept(status: ShareStatus) -> AllocationCondition:
    short = sorted(name for name, amount in status.reserved.items() if status.deserved.get(name, 0) < amount)
    if not short:
        return AllocationCondition(RESERVED_KEPT, _TRUE, "Kept", "It deserves all that is reserved for it.", "")
    message = f"More {', '.join(short)} is reserved than there is: all that is reserved of it shrinks alike."
    return AllocationCondition(RESERVED_KEPT, _FALSE, "ClusterTooSmall", message, "")


def _hard_above_quota(picture: AllocationInputs, leaf: str) -> AllocationCondition:
    if picture.less is None:
        return AllocationCondition(HARD_ABOVE_QUOTA, _UNKNOWN, "QuotasUnread", "ResourceQuotas may not be read.", "")
    less = picture.less.get(leaf)
    if less is None:
        return AllocationCondition(
            HARD_ABOVE_QUOTA, _FALSE, "WithinQuota", "No ResourceQuota of the namespace allows less.", ""
        )
    allowed = ", ".join(f"{name} {amount}" for name, amount in format_amounts(less.allows).items())
    message = f"ResourceQuotas of the namespace allow no more than {allowed}: it deserves no more than that."
    return AllocationCondition(HARD_ABOVE_QUOTA, _TRUE, "QuotaIsLess", message, "")


def _dated(allocation: Allocation, before: Allocation | None, now_ms: int) -> Allocation:
    since = {(condition.type, condition.status): condition.since for condition in before.conditions} if before else {}
    now = _time(now_ms)
    conditions = tuple(
        condition._replace(since=since.get((condition.type, condition.status)) or now)
        for condition in allocation.conditions
    )
    return msgspec.structs.replace(allocation, conditions=conditions)


def _time(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _spelled(amounts: Amounts) -> dict[str, str]:
    return {consumer_resource(name): text for name, text in format_amounts(amounts).items()}
