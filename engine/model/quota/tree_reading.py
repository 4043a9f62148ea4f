"""Reads a tree of queues as quota: a parent is a cohort, a leaf is a queue with quota of its own.

Which nodes a flavor has is not known here, so the amounts of all flavors of a resource are added up.
docs/policies/cohort.md has the rules.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

import msgspec

from engine.model.quantities import Amounts, base
from engine.model.queue_tree import WEIGHT_ONE, PreemptionPolicy, Queue, QueueTree
from engine.model.quota import (
    BorrowWithinCohort,
    ClusterQueue,
    Cohort,
    FlavorQuota,
    FlavorResource,
    Preemption,
    QuotaTree,
    ResourceGroup,
    Take,
)

FLAVOR = "default"
"""The only flavor, which all quota is for."""


class QuotaReading(msgspec.Struct, frozen=True, kw_only=True):
    """How a tree is read as quota."""

    nested: bool = True
    """Whether a parent's guarantee contains those below it, and a queue may borrow what it does not name.

    Otherwise as in Kueue: a parent's guarantee is on top of those below it, and a queue has only what it names.
    """
    preemption: Preemption = Preemption(within=Take.LOWER_PRIORITY, reclaim=Take.ANY)
    """The preemption settings of leaves that have none of their own."""


class DerivedQuota(msgspec.Struct, frozen=True, kw_only=True):
    """The quota of a tree; queues and cohorts are named by their paths."""

    queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    resources: frozenset[str]
    """The resources that some queue names. Other resources are unlimited, and are not counted."""
    disabled: frozenset[str]
    """The queues whose workloads nothing may preempt, because preemption is turned off in them or above."""
    tree: QuotaTree

    def counted(self, amounts: Mapping[str, int]) -> dict[FlavorResource, int]:
        """Return the part of some amounts that quota limits."""
        return {(FLAVOR, name): amount for name, amount in amounts.items() if name in self.resources}


class _ResourceSettings(msgspec.Struct, frozen=True):
    """The settings of a queue for a resource, summed over its flavors."""

    guaranteed: int
    most: int | None
    lendable: int | None


def derive_quota(tree: QueueTree, reading: QuotaReading) -> DerivedQuota:
    """Return the quota that a tree gives. A fence is the top of a cohort of its own, and so is the root."""
    said = {path: _said(queue) for path, queue in tree.queues.items()}
    resources = frozenset(name for amounts in said.values() for name in amounts)
    quotas = _nested(tree, said) if reading.nested else {path: _alone(amounts) for path, amounts in said.items()}
    leaves = set(tree.leaves)
    queues = {
        path: _queue(tree, path, quotas[path], reading, resources if reading.nested else quotas[path])
        for path in tree.walk()
        if path in leaves
    }
    cohorts = {
        path: Cohort(name=path, parent=_above(tree, path), quotas=_of_flavor(quotas[path]), weight=_weight(tree[path]))
        for path in tree.walk()
        if path not in leaves
    }
    return DerivedQuota(
        queues=queues,
        cohorts=cohorts,
        resources=resources,
        disabled=frozenset(path for path in queues if tree.disabled_by(path) is not None),
        tree=QuotaTree(queues.values(), cohorts.values()),
    )


def preemption_of(tree: QueueTree, leaf: str, reading: QuotaReading) -> Preemption:
    """Return the preemption settings of a leaf: its own, and those of the reading where it has none.

    Where preemption is turned off, the leaf may preempt nothing.
    """
    if tree.disabled_by(leaf) is not None:
        return Preemption()
    queue, otherwise = tree[leaf], reading.preemption
    allowed = otherwise.borrow.allowed if queue.take_borrowing is None else queue.take_borrowing
    return Preemption(
        within=otherwise.within if queue.take_within is None else queue.take_within,
        reclaim=otherwise.reclaim if queue.take_reclaim is None else queue.take_reclaim,
        borrow=BorrowWithinCohort(allowed=allowed, threshold=queue.take_threshold),
    )


def _queue(
    tree: QueueTree, path: str, quotas: Mapping[str, FlavorQuota], reading: QuotaReading, covered: Iterable[str]
) -> ClusterQueue:
    names = tuple(sorted(covered))
    return ClusterQueue(
        name=path,
        cohort=_above(tree, path),
        quotas=_of_flavor(quotas),
        groups=(ResourceGroup(names, (FLAVOR,)),) if names else (),
        preemption=preemption_of(tree, path, reading),
        weight=_weight(tree[path]),
    )


def _above(tree: QueueTree, path: str) -> str:
    """Return the cohort that a queue is in, or an empty string if it is in none."""
    return "" if tree[path].preemption_policy is PreemptionPolicy.FENCE else tree[path].parent or ""


def _weight(queue: Queue) -> Fraction:
    return Fraction(queue.weight, WEIGHT_ONE)


def _of_flavor(quotas: Mapping[str, FlavorQuota]) -> dict[FlavorResource, FlavorQuota]:
    return {(FLAVOR, name): quota for name, quota in quotas.items()}


def _said(queue: Queue) -> dict[str, _ResourceSettings]:
    by_resource: dict[str, list[str]] = {}
    for name in {**queue.guaranteed, **queue.max, **queue.lendable}:
        by_resource.setdefault(base(name), []).append(name)
    return {resource: _together(queue, names) for resource, names in by_resource.items()}


def _together(queue: Queue, names: list[str]) -> _ResourceSettings:
    """Return a queue's settings for a resource; without a limit in one flavor there is none in all flavors together."""
    unlimited = any(name not in queue.max for name in names)
    lends_all = all(name not in queue.lendable for name in names)
    guaranteed: Amounts = {name: queue.guaranteed.get(name, 0) for name in names}
    return _ResourceSettings(
        sum(guaranteed.values()),
        None if unlimited else sum(queue.max[name] for name in names),
        None if lends_all else sum(queue.lendable.get(name, guaranteed[name]) for name in names),
    )


def _alone(said: Mapping[str, _ResourceSettings]) -> dict[str, FlavorQuota]:
    """Return the quota of a queue as in Kueue, where it does not contain the quota below it."""
    return {name: _quota(one, one.guaranteed, one.guaranteed) for name, one in said.items()}


def _nested(tree: QueueTree, said: Mapping[str, Mapping[str, _ResourceSettings]]) -> dict[str, dict[str, FlavorQuota]]:
    """Return the quota by path; that of a parent is what its guarantee has beyond those below it."""
    has: dict[str, Amounts] = {}
    quotas: dict[str, dict[str, FlavorQuota]] = {}
    for path in reversed(tree.walk()):
        top = not _above(tree, path)
        below: Amounts = {}
        for child in tree.children[path]:
            for name, amount in has[child].items():
                below[name] = below.get(name, 0) + amount
        amounts = {name: _promised(one, top=top) for name, one in said[path].items()}
        has[path] = {name: max(below.get(name, 0), amounts.get(name, 0)) for name in {**below, **amounts}}
        quotas[path] = {
            name: _quota(one, has[path][name] - below.get(name, 0), has[path][name]) for name, one in said[path].items()
        }
    return quotas


def _promised(said: _ResourceSettings, *, top: bool) -> int:
    """Return what a queue is promised of a resource.

    The top of a tree has nobody to borrow from: if it is guaranteed nothing, its max is what there is.
    """
    if said.most is None:
        return said.guaranteed
    return said.most if top and not said.guaranteed else min(said.guaranteed, said.most)


def _quota(said: _ResourceSettings, own: int, whole: int) -> FlavorQuota:
    return FlavorQuota(own, None if said.most is None else max(0, said.most - whole), said.lendable)
