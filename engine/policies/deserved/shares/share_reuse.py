"""Shares that were worked out a moment ago, as long as they are the same: within a pass few ask more or less."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from engine.model.columns.node_columns import Numbers
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.policies.deserved.shares.requested_amounts import Requests, changed


class Ceilings(NamedTuple):
    """Of one resource what the exact share of each queue right below the root is, rounded up."""

    number: Mapping[str, int]
    """Path -> the row of the queue in its frame, of which the first is the root's."""
    amounts: Numbers

    def of(self, path: str) -> int:
        """That of one queue."""
        return int(self.amounts[self.number[path] - 1])


class Lasting(msgspec.Struct, frozen=True, kw_only=True):
    """What all deserve, and what of."""

    tree: QueueTree
    requests: Requests
    capacity: Amounts
    shares: dict[str, Amounts]
    exact: Mapping[str, Ceilings]
    """By resource, where there are no areas."""

    def holds(self, requests: Requests, capacity: Mapping[str, int]) -> bool:
        """Whether they are the same for these, as far as that is seen without dividing anew."""
        if capacity != self.capacity or list(requests) != list(self.requests):
            return False
        return all(self._stays(leaf, self.requests[leaf], requests[leaf]) for leaf in changed(self.requests, requests))

    def _stays(self, leaf: str, before: Mapping[str, int], after: Mapping[str, int]) -> bool:
        """Whether one that asks otherwise changes nothing.

        So it is right below the root, where all are divided at once, while it asks for all things in the same
        proportion, asked for more of each than it has, so that something that is used up has stopped it, and asks for
        no less than that: then the same stops it.
        """
        if before == after:
            return True
        asked, now = self._dividable(before), self._dividable(after)
        if self.tree.parents[leaf] != self.tree.root or asked.keys() != now.keys():
            return False
        limits = self.tree[leaf].max
        one = next(iter(asked), "")
        return all(
            amount * now[one] == now[name] * asked[one]
            and self._reach(leaf, name) < amount
            and self._reach(leaf, name) <= now[name]
            and limits.get(name, max(amount, now[name])) >= max(amount, now[name])
            for name, amount in asked.items()
        )

    def _reach(self, leaf: str, name: str) -> int:
        """What neither its exact share nor its whole one is beyond."""
        share = self.shares[leaf].get(name, 0)
        return max(share, self.exact[name].of(leaf)) if name in self.exact else share + 2

    def _dividable(self, amounts: Mapping[str, int]) -> Amounts:
        return {name: amount for name, amount in amounts.items() if amount > 0 and self.capacity.get(name, 0) > 0}
