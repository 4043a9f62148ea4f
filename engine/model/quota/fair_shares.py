"""The share of a queue or cohort under fair sharing: how much it borrows of what its cohort could lend, exactly.

Source: Kueue's pkg/cache/scheduler, fair_sharing.go. There shares are float64; here they are fractions.
"""

from fractions import Fraction

import msgspec

from engine.model.objects import FlavorResource
from engine.model.quota.quota_tree import QuotaTree
from engine.model.quota.quota_usage import QuotaUsage

_SCALE = 1000
"""The share of a node that borrows as much of a resource as there is to lend."""


class BorrowedShare(msgspec.Struct, frozen=True):
    """The share of a node, for the resource that it borrows most of."""

    ratio: Fraction = Fraction(0)
    """What it borrows, divided by what could be lent, in thousandths."""
    weight: Fraction = Fraction(1)
    resource: str = ""
    borrows: bool = False
    """Whether it borrows anything, even if nothing of that can be lent."""
    borrowed: int = 0
    lendable: int = 0
    """The most of that resource that its cohort could lend."""

    @property
    def infinite(self) -> bool:
        """Return whether the share is infinite, because the node borrows with a weight of 0."""
        return not self.weight and self.ratio > 0

    @property
    def weighted(self) -> Fraction | None:
        """Return the ratio divided by the weight, or None if it is infinite."""
        if self.infinite:
            return None
        return self.ratio / self.weight if self.ratio else Fraction(0)

    @property
    def text(self) -> str:
        """Return the share as Kueue shows it: ``187.5``, ``+Inf``."""
        weighted = self.weighted
        if weighted is None:
            return "+Inf"
        return str(weighted.numerator) if weighted.denominator == 1 else repr(float(weighted))

    @property
    def rank(self) -> tuple[bool, Fraction]:
        """Return the key by which Kueue compares shares: infinite shares by their ratios, above all others."""
        weighted = self.weighted
        return (True, self.ratio) if weighted is None else (False, weighted)


NO_SHARE = BorrowedShare()


def share_of(usage: QuotaUsage, node: int) -> BorrowedShare:
    """Return the share of a node. The top of a tree has none, as it borrows from nobody."""
    tree, parent = usage.tree, usage.tree.parents[node]
    if parent is None:
        return NO_SHARE
    borrowed: dict[str, int] = {}
    for of in tree.subtree[node]:
        more = usage.used(node, of) - tree.subtree[node][of]
        if more > 0:
            borrowed[of[1]] = borrowed.get(of[1], 0) + more
    if not borrowed:
        return BorrowedShare(weight=tree.weights[node])
    most = lendable(tree, parent)
    ratios = {name: Fraction(amount * _SCALE, most[name]) for name, amount in borrowed.items() if most.get(name, 0) > 0}
    if not ratios:
        return BorrowedShare(weight=tree.weights[node], borrows=True)
    resource = min(ratios, key=lambda name: (-ratios[name], name))
    return BorrowedShare(
        ratios[resource],
        tree.weights[node],
        resource,
        borrows=True,
        borrowed=borrowed[resource],
        lendable=most[resource],
    )


def lendable(tree: QuotaTree, node: int) -> dict[str, int]:
    """Return the most that a cohort could lend of each resource, over all flavors that its tree has."""
    found: dict[str, int] = {}
    for of in tree.subtree[tree.root(node)]:
        found[of[1]] = found.get(of[1], 0) + _potential(tree, node, of)
    return found


def _potential(tree: QuotaTree, node: int, of: FlavorResource) -> int:
    return tree.potential[node].get(of, 0)
