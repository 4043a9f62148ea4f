"""Reuses shares calculated earlier as long as they are still right; within a pass, few requests change."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from engine.model.columns.node_columns import Numbers
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.policies.deserved.shares.amounts_by_path import changed_paths, same_paths
from engine.policies.deserved.shares.requested_amounts import Requests


class Ceilings(NamedTuple):
    """The exact shares of one resource, rounded up, for all children of the root."""

    number: Mapping[str, int]
    """Path -> the queue's row in its frame, in which the first row is the root's."""
    amounts: Numbers

    def of(self, path: str) -> int:
        """Return the rounded-up exact share of one queue."""
        return int(self.amounts[self.number[path] - 1])


class ReusableShares(msgspec.Struct, frozen=True, kw_only=True):
    """What all queues deserve, with the requests and the capacity from which that was calculated."""

    tree: QueueTree
    requests: Requests
    capacity: Amounts
    shares: dict[str, Amounts]
    exact: Mapping[str, Ceilings]
    """Resource -> its exact shares rounded up; only if all queues are children of the root."""

    def holds(self, requests: Requests, capacity: Mapping[str, int]) -> bool:
        """Return whether the shares are certain to be right for these requests and this capacity too."""
        if capacity != self.capacity or not same_paths(self.requests, requests):
            return False
        return all(
            self._stays(leaf, self.requests[leaf], requests[leaf]) for leaf in changed_paths(self.requests, requests)
        )

    def _stays(self, leaf: str, before: Mapping[str, int], after: Mapping[str, int]) -> bool:
        """Return whether the changed requests of a leaf change no shares.

        That is certain if the leaf is a child of the root, where all leaves are divided at once, and meets three
        conditions. Its requests stay in the same proportion. It requested more of every resource than it has, so that a
        used-up resource has stopped it. It still requests no less than it has. Then the same resource stops it again.
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
        """Return an upper bound of both the exact and the rounded share of a leaf."""
        share = self.shares[leaf].get(name, 0)
        return max(share, self.exact[name].of(leaf)) if name in self.exact else share + 2

    def _dividable(self, amounts: Mapping[str, int]) -> Amounts:
        return {name: amount for name, amount in amounts.items() if amount > 0 and self.capacity.get(name, 0) > 0}
