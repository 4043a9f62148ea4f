"""How much a queue or cohort borrows of what its cohort could lend it: its share under fair sharing, exactly.

Source: Kueue's pkg/cache/scheduler, fair_sharing.go. There shares are float64; here they are fractions.
"""

from fractions import Fraction

import msgspec

from engine.model.objects import FlavorResource
from engine.model.quota.quota_tree import QuotaTree
from engine.model.quota.quota_usage import QuotaUsage

_SCALE = 1000
"""A share of 1000 borrows as much of a resource as there is to lend."""


class BorrowedShare(msgspec.Struct, frozen=True):
    """Of the resource that it borrows most of."""

    ratio: Fraction = Fraction(0)
    """Borrowed by lendable, in thousandths."""
    weight: Fraction = Fraction(1)
    resource: str = ""
    borrows: bool = False
    """Whether it borrows anything, also where nothing of that can be lent."""
    borrowed: int = 0
    lendable: int = 0
    """Of that resource, what its cohort could lend at most."""

    @property
    def infinite(self) -> bool:
        """Whether it borrows with a weight of nothing."""
        return not self.weight and self.ratio > 0

    @property
    def weighted(self) -> Fraction | None:
        """The ratio by the weight; None: infinite."""
        if self.infinite:
            return None
        return self.ratio / self.weight if self.ratio else Fraction(0)

    @property
    def text(self) -> str:
        """As Kueue shows it: ``187.5``, ``+Inf``."""
        weighted = self.weighted
        if weighted is None:
            return "+Inf"
        return str(weighted.numerator) if weighted.denominator == 1 else repr(float(weighted))

    @property
    def rank(self) -> tuple[bool, Fraction]:
        """By which shares compare, as Kueue compares them: infinite ones by their ratios, above all others."""
        weighted = self.weighted
        return (True, self.ratio) if weighted is None else (False, weighted)


NO_SHARE = BorrowedShare()


def share_of(usage: QuotaUsage, node: int) -> BorrowedShare:
    """The share of a node; none at the top of a tree, which borrows from nobody."""
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
    """Resource -> what a cohort could hand out at most, over all flavors that its tree has."""
    found: dict[str, int] = {}
    for of in tree.subtree[tree.root(node)]:
        found[of[1]] = found.get(of[1], 0) + _potential(tree, node, of)
    return found


def _potential(tree: QuotaTree, node: int, of: FlavorResource) -> int:
    return tree.potential[node].get(of, 0)
