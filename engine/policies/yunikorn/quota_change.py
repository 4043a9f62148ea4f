"""The victims when a queue's max was lowered below its usage (YuniKorn's quota-change preemption).

Source: QuotaPreemptionContext of yunikorn-core (quota_preemptor.go), with its order of victims of 2026-07.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import floor

import msgspec

from engine.model.objects import Pod
from engine.model.quantities import Amounts, add
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn.pod_table import OPTED_OUT, ORIGINATOR, opted_out, table_of
from engine.policies.yunikorn.queue_balances import QueueBalances, fits
from engine.policies.yunikorn.quirks.table import ALL, Quirks

_HOUR_MS = 3_600_000


class Enforcement(msgspec.Struct, frozen=True, kw_only=True):
    """The preemption that brings one queue back under its max."""

    queue: str
    preemptable: Amounts
    """The amount to preempt in the queue."""
    shares: dict[str, Amounts]
    """Leaf -> the part of that amount to preempt there."""
    victims: tuple[Pod, ...]
    """The victims in order. Together they never hold more than the amount to preempt."""


def enforce(snapshot: Snapshot, tree: QueueTree, quirks: Quirks = ALL) -> tuple[Enforcement, ...]:
    """Return the preemption for every queue that is over its max and has a ``quota.preemption.delay``.

    The delay is treated as elapsed. A queue inside another queue that is over its max is handled by the outer one.
    """
    balances = QueueBalances(snapshot, tree, table_of(snapshot, tree, quirks), quirks)
    return tuple(_enforced(snapshot, balances, path) for path in _over(balances, tree.root))


def _over(balances: QueueBalances, path: str) -> Iterator[str]:
    managed = not balances.tree[path].dynamic
    if managed and balances.tree.quota_delay_ms(path) is not None and _excess(balances, path):
        yield path
        return
    for child in balances.tree.children[path]:
        yield from _over(balances, child)


def _excess(balances: QueueBalances, path: str) -> Amounts:
    over = {name: balances.used(path, name) - most for name, most in balances.tree[path].max.items()}
    return {name: amount for name, amount in over.items() if amount > 0}


def _enforced(snapshot: Snapshot, balances: QueueBalances, path: str) -> Enforcement:
    preemptable = _cap_excess(balances, path, _excess(balances, path))
    shares = (
        {path: preemptable} if balances.tree.is_leaf(path) else dict(_divide_among_leaves(balances, path, preemptable))
    )
    victims = [pod for leaf, share in shares.items() for pod in _victims(snapshot, balances, leaf, share)]
    return Enforcement(queue=path, preemptable=preemptable, shares=shares, victims=tuple(victims))


def _cap_excess(balances: QueueBalances, path: str, excess: Amounts) -> Amounts:
    """Limit the excess to the largest amount by which the queue or one above it exceeds its guarantee, if any does.

    Source: QuotaPreemptionContext.setPreemptableResources of yunikorn-core.
    """
    over: Amounts = {}
    for above in balances.tree.lineage(path):
        for name, promised in balances.tree[above].guaranteed.items():
            beyond = balances.used(above, name) - promised
            if beyond > 0:
                over[name] = max(over.get(name, 0), beyond)
    return {name: min(amount, over.get(name, amount)) for name, amount in excess.items()}


def _divide_among_leaves(balances: QueueBalances, path: str, preemptable: Amounts) -> Iterator[tuple[str, Amounts]]:
    """Yield the share of each leaf below a queue, in proportion to what its queues use beyond their guarantees.

    The quotient is a floating-point number, as in YuniKorn. Exact arithmetic would sometimes give more.

    Source: getChildQueuesPreemptableResource of yunikorn-core.
    """
    parts = {child: part for child in balances.tree.children[path] if (part := _part(balances, child)) is not None}
    whole: Amounts = {}
    for part in parts.values():
        whole = add(whole, part)
    for child, part in parts.items():
        share = {
            name: floor(amount / whole[name] * preemptable[name]) if whole[name] else 0
            for name, amount in part.items()
            if name in preemptable
        }
        if balances.tree.is_leaf(child):
            yield child, share
        else:
            yield from _divide_among_leaves(balances, child, share)


def _part(balances: QueueBalances, path: str) -> Amounts | None:
    """Return the amounts by which a queue's share is calculated, None if the queue has no share."""
    allocated, guaranteed = balances.allocated[path], balances.tree[path].guaranteed
    if not allocated:
        return None
    if not guaranteed:
        return allocated
    if all(allocated.get(name, 0) <= promised for name, promised in guaranteed.items()):
        return None
    beyond = {name: allocated.get(name, 0) - promised for name, promised in guaranteed.items()}
    counted: Callable[[int], int] = abs if balances.quirks.quota_counts_underuse else lambda amount: max(0, amount)
    return {name: counted(amount) for name, amount in beyond.items()}


def _victims(snapshot: Snapshot, balances: QueueBalances, leaf: str, share: Amounts) -> list[Pod]:
    if not any(share.values()):
        return []
    running = [pod for pod in snapshot.pods if pod.node is not None and pod.queue == leaf and not pod.terminating]
    pods = [pod for pod in running if pod.required_node is None and any(name in share for name in pod.requests)]
    most = balances.tree[leaf].max
    taken, total = list[Pod](), Amounts()
    for pod in sorted(pods, key=lambda pod: _sort_key(pod, most, share, quirks=balances.quirks)):
        if fits(add(total, pod.requests), share, unlimited=True):
            total = add(total, pod.requests)
            taken.append(pod)
    return taken


def _sort_key(
    pod: Pod, most: Amounts, share: Amounts, *, quirks: Quirks
) -> tuple[int, int, int, tuple[Fraction, ...], str]:
    unwilling = opted_out(pod, own_annotation=quirks.own_annotation)
    dear = (ORIGINATOR if pod.originator else 0) + (OPTED_OUT if unwilling else 0)
    matching = 100 * sum(name in pod.requests for name in share) // len(share)
    score = -(dear + matching) if quirks.quota_dearest_first else dear - matching
    return score, pod.priority, -(pod.created_ms // _HOUR_MS), _shares(pod.requests, most, share), pod.key


def _shares(requests: Mapping[str, int], most: Amounts, share: Amounts) -> tuple[Fraction, ...]:
    """Return the fractions of the max that the pod holds in each resource of the share, the greatest first."""
    parts = (Fraction(requests.get(name, 0), most.get(name, 0) or 1) for name in share)
    return tuple(sorted(parts, reverse=True))
