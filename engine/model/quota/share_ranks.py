"""Shares as whole numbers, which are compared many times, for the members of one cohort.

They are the exact fractions of engine.model.quota.fair_shares, multiplied by a number that makes all shares of a cohort
whole.
"""

from math import lcm
from typing import NamedTuple

import numpy as np

from engine.model.columns.node_columns import Numbers
from engine.model.columns.node_fields import SAFE
from engine.model.objects import FlavorResource
from engine.model.quota.fair_shares import lendable
from engine.model.quota.quota_tree import QuotaTree
from engine.model.quota.quota_usage import QuotaUsage

Rank = tuple[bool, int]
"""Whether a share is infinite, and how large it is. Only ranks of nodes with the same parent may be compared."""
NO_RANK: Rank = (False, 0)


class _Scale(NamedTuple):
    """The factors that all members of a cohort have in common."""

    lendable: dict[str, int]
    resources: int
    """A common multiple of all amounts that can be lent."""
    weights: int
    """A common multiple of the numerators of all weights."""


class _Measure(NamedTuple):
    """What a node has of one resource by flavor; each unit that it borrows beyond that counts ``factor``."""

    factor: int
    own: tuple[tuple[FlavorResource, int], ...]


class Ranks:
    """The ranks of all nodes of a tree, computed on first use."""

    def __init__(self, tree: QuotaTree) -> None:
        self._tree = tree
        self._scales: dict[int, _Scale] = {}
        self._measures: dict[int, tuple[_Measure, ...]] = {}
        self._factors: dict[str, Numbers] = {}

    def of(self, usage: QuotaUsage, node: int) -> Rank | None:
        """Return the rank of a node's share, or None if it borrows nothing, as is always true of the top of a tree."""
        measures = self._measures.get(node)
        if measures is None:
            measures = self._measures[node] = self._measured(node)
        most = -1
        for factor, own in measures:
            borrowed = 0
            for of, amount in own:
                more = usage.columns[of][node] - amount
                if more > 0:
                    borrowed += more
            if borrowed:
                most = max(most, borrowed * factor)
        if most < 0:
            return None
        return most > 0 and not self._tree.weights[node], most

    def factors(self, resource: str) -> Numbers:
        """Return for each node how much a unit of a resource counts in its rank that it borrows; 0 at the top."""
        if resource not in self._factors:
            found = [self._factor(node, resource) for node in range(len(self._tree.names))]
            self._factors[resource] = np.array(found, np.int64 if max(found, default=0) <= SAFE else object)
        return self._factors[resource]

    def _factor(self, node: int, resource: str) -> int:
        parent = self._tree.parents[node]
        return 0 if parent is None else self._weighted(node, parent).get(resource, 0)

    def _measured(self, node: int) -> tuple[_Measure, ...]:
        tree, parent = self._tree, self._tree.parents[node]
        if parent is None:
            return ()
        own: dict[str, list[tuple[FlavorResource, int]]] = {}
        for of, amount in tree.subtree[node].items():
            own.setdefault(of[1], []).append((of, amount))
        factors = self._weighted(node, parent)
        return tuple(_Measure(factors.get(name, 0), tuple(amounts)) for name, amounts in own.items())

    def _weighted(self, node: int, parent: int) -> dict[str, int]:
        """Return for each resource that ``parent`` could lend how much a unit of it counts that a child borrows."""
        scale, weight = self._scale(parent), self._tree.weights[node]
        by_weight = scale.weights // weight.numerator * weight.denominator if weight else 1
        return {name: scale.resources // most * by_weight for name, most in scale.lendable.items()}

    def _scale(self, cohort: int) -> _Scale:
        scale = self._scales.get(cohort)
        if scale is None:
            most = {name: amount for name, amount in lendable(self._tree, cohort).items() if amount > 0}
            numerators = {self._tree.weights[node].numerator for node in self._tree.children[cohort]}
            scale = self._scales[cohort] = _Scale(most, lcm(*most.values()), lcm(*(numerators - {0})))
        return scale
