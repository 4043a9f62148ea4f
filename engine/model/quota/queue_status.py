"""The status of every queue and cohort: its quota, what is used, borrowed and lent of it, and its share, exactly."""

import msgspec

from engine.model.objects import Cohort, FlavorResource, QuotaCluster
from engine.model.quota.fair_shares import BorrowedShare, share_of
from engine.model.quota.quota_tree import QuotaTree
from engine.model.quota.quota_usage import QuotaUsage


class FlavorStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one resource in one flavor, in the resource's integer units."""

    flavor: str
    resource: str
    nominal: int
    """The node's own quota."""
    total: int
    """For a cohort, its quota with what its members lend it; for a queue, its own quota."""
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    used: int
    """What is used; of a cohort, what its members use beyond what they keep to themselves."""
    borrowed: int
    """What the node uses beyond its total."""
    lent: int
    """What the node does not use and could not get now, because others hold it."""
    available: int
    """How much more the node could use now."""


class ShareParts(msgspec.Struct, frozen=True, kw_only=True):
    """A share under fair sharing, with the values that it is computed from."""

    text: str
    """The share as Kueue shows it: ``187.5``, ``+Inf``."""
    weight: str
    borrows: bool
    resource: str = ""
    """The resource that it borrows most of; empty: it borrows nothing, or nothing that could be lent."""
    borrowed: int = 0
    lendable: int = 0
    """The most of that resource that its cohort could lend, over all flavors."""


class QuotaStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a queue or a cohort."""

    cohort: bool
    """Whether it is a cohort; otherwise it is a queue."""
    name: str
    called: str = ""
    """Its name in our queue tree, if that is different."""
    above: str = ""
    """The cohort that it is in; empty: none."""
    depth: int = 0
    active: bool = True
    lines: tuple[FlavorStatus, ...] = ()
    share: ShareParts | None = None
    """The share under fair sharing. None at the top of a tree, which borrows from nobody."""


def quota_statuses(cluster: QuotaCluster) -> tuple[QuotaStatus, ...]:
    """Return the status of all queues and cohorts, cohorts before what is in them.

    Raises QuotaError if the cohorts do not form a tree.
    """
    tree = QuotaTree(cluster.queues.values(), cluster.cohorts.values())
    usage = QuotaUsage(tree)
    for queue, held in cluster.holding().items():
        for one in held:
            usage.add(tree.queue[queue], one.usage)
    return tuple(_standing(cluster, usage, node) for node in tree.order)


def _standing(cluster: QuotaCluster, usage: QuotaUsage, node: int) -> QuotaStatus:
    tree, parent = usage.tree, usage.tree.parents[node]
    name, is_queue = tree.names[node], tree.is_queue(node)
    given = cluster.queues[name] if is_queue else cluster.cohorts.get(name, Cohort(name=name))
    return QuotaStatus(
        cohort=not is_queue,
        name=name,
        called=given.called,
        above="" if parent is None else tree.names[parent],
        depth=sum(1 for _ in tree.above(node)),
        active=cluster.queues[name].active if is_queue else True,
        lines=tuple(
            _line(usage, node, of)
            for of in sorted(tree.subtree[node])
            if of in tree.stated[node] or usage.used(node, of)
        ),
        share=None if parent is None else _share(share_of(usage, node)),
    )


def _line(usage: QuotaUsage, node: int, of: FlavorResource) -> FlavorStatus:
    quota, total, used = usage.tree.quota(node, of), usage.tree.subtree[node][of], usage.used(node, of)
    available = usage.available(node, of)
    return FlavorStatus(
        flavor=of[0],
        resource=of[1],
        nominal=quota.nominal,
        total=total,
        borrowing_limit=quota.borrowing,
        lending_limit=quota.lending,
        used=used,
        borrowed=max(0, used - total),
        lent=max(0, total - used - available),
        available=available,
    )


def _share(share: BorrowedShare) -> ShareParts:
    weight = share.weight
    return ShareParts(
        text=share.text,
        weight=str(weight.numerator) if weight.denominator == 1 else str(float(weight)),
        borrows=share.borrows,
        resource=share.resource,
        borrowed=share.borrowed,
        lendable=share.lendable,
    )
