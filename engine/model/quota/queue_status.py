"""Where every queue and cohort stands: its quota, what is used, borrowed and lent of it, and its share, exactly."""

import msgspec

from engine.model.objects import Cohort, FlavorResource, QuotaCluster
from engine.model.quota.fair_shares import BorrowedShare, share_of
from engine.model.quota.quota_tree import QuotaTree
from engine.model.quota.quota_usage import QuotaUsage


class FlavorStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One resource in one flavor, in the resource's integer units."""

    flavor: str
    resource: str
    nominal: int
    """Its own."""
    total: int
    """A cohort's with what its members lend it; a queue's own."""
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    used: int
    """Of a cohort: by its members, beyond what they keep to themselves."""
    borrowed: int
    """What it uses beyond its total."""
    lent: int
    """What it does not use and could not have now, as others hold it."""
    available: int
    """What it could use more now."""


class ShareParts(msgspec.Struct, frozen=True, kw_only=True):
    """A share under fair sharing with what it comes from."""

    text: str
    """As Kueue shows it: ``187.5``, ``+Inf``."""
    weight: str
    borrows: bool
    resource: str = ""
    """What it borrows most of; empty: nothing, or nothing that could be lent."""
    borrowed: int = 0
    lendable: int = 0
    """What its cohort could lend of that resource at most, over all flavors."""


class QuotaStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A queue or a cohort."""

    cohort: bool
    """Whether it is one; else a queue."""
    name: str
    called: str = ""
    """In our tree, where that is not its name."""
    above: str = ""
    """The cohort that it is in."""
    depth: int = 0
    active: bool = True
    lines: tuple[FlavorStatus, ...] = ()
    share: ShareParts | None = None
    """None at the top of a tree, which borrows from nobody."""


def standings(cluster: QuotaCluster) -> tuple[QuotaStatus, ...]:
    """All of them, cohorts before what is in them. Raises QuotaError where cohorts form no tree."""
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
