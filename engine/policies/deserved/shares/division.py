"""Divides a cluster: calculates what every queue of a tree deserves.

Source: the proposal of k8s-arbitrator: what is deserved is within the cluster and hard, and at least reserved if the
cluster has that.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.policies.deserved.shares.claims import Claims
from engine.policies.deserved.shares.progressive_filling import ShareBounds, fill
from engine.policies.deserved.shares.requested_amounts import DeservedByPath, RequestedAmounts, Requests
from engine.policies.deserved.shares.rounding import raisable_rows, raise_alone, round_shares
from engine.policies.deserved.shares.share_reuse import Ceilings, ReusableShares
from engine.policies.deserved.shares.tree_columns import frame_of


class Method(StrEnum):
    """The method by which a cluster is divided."""

    DRF = "drf"
    """By dominant shares of all resources together."""
    PROPORTIONAL = "proportional"
    """Each resource is divided separately."""


def deserved(
    tree: QueueTree, requests: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int], method: Method = Method.DRF
) -> dict[str, Amounts]:
    """Return, by path, what each queue deserves of ``capacity``; ``requests`` are those of the leaves.

    Only resources that the cluster has are divided. Resources of which a queue deserves nothing are left out. Entries
    of the requests and of the result are never modified: if an entry is the same object, nothing has changed.
    """
    cache = _cache_of(tree, method)
    latest = cache.latest
    shares, exact = (
        (latest.shares, latest.exact)
        if latest and latest.holds(requests, capacity)
        else _shares(cache, requests, capacity)
    )
    cache.latest = ReusableShares(tree=tree, requests=requests, capacity=dict(capacity), shares=shares, exact=exact)
    return shares


class _DivisionCache:
    """The results of the previous division, from which the next one is updated incrementally."""

    def __init__(self, tree: QueueTree, method: Method) -> None:
        self.tree, self.method = tree, method
        self.latest: ReusableShares | None = None
        self.asked: dict[tuple[str, ...], RequestedAmounts] = {}
        self.reported: DeservedByPath | None = None


@lru_cache(maxsize=16)
def _cache_of(tree: QueueTree, method: Method) -> _DivisionCache:
    return _DivisionCache(tree, method)


def _shares(
    cache: _DivisionCache, requests: Requests, capacity: Mapping[str, int]
) -> tuple[dict[str, Amounts], dict[str, Ceilings]]:
    """Return what each queue deserves, and by resource the upper bounds of the exact shares, as far as known."""
    available = {name: capacity[name] for name in sorted(capacity) if capacity[name] > 0}
    if not available:
        return {path: {} for path in frame_of(cache.tree, (), np.int64).paths}, {}
    together = [available] if cache.method is Method.DRF else [{name: amount} for name, amount in available.items()]
    divisions = [_Division(_requested(cache, requests, some), some) for some in together]
    amounts = np.concatenate([division.run() for division in divisions], axis=1)
    cache.reported = DeservedByPath(divisions[0].frame.paths, tuple(available), amounts, cache.reported)
    return cache.reported.shares, {name: one for division in divisions for name, one in division.ceilings().items()}


def _requested(cache: _DivisionCache, requests: Requests, capacity: Mapping[str, int]) -> RequestedAmounts:
    names = tuple(capacity)
    cache.asked[names] = found = RequestedAmounts(cache.tree, requests, capacity, cache.asked.get(names))
    return found


class _Division:
    """One division of a cluster, from the root of the tree down.

    It is repeated as long as a queue can use what other queues were given and could not use.
    """

    def __init__(self, asked: RequestedAmounts, capacity: Mapping[str, int]) -> None:
        self.frame = frame = asked.frame
        self.capacity = list(capacity.values())
        self.requests = asked.rows
        self.pool = [min(one, cap) for one, cap in zip(self.capacity, frame.caps[0].tolist(), strict=True)]
        self.floors: Numbers = frame.floors.copy()
        self.floors[0] = np.minimum(self.floors[0], np.array(self.capacity, self.floors.dtype))
        self.held: Numbers = np.zeros_like(self.floors)
        """What each queue has; a parent has what its children have, or what is reserved for it if that is more."""
        self.used: Numbers = np.zeros_like(self.floors)
        """What a queue's children have; a leaf uses all it has."""
        self.all = self._claims(slice(None), self.requests)
        """The claims of all queues, each considered separately, which give what a queue could use at most."""
        self.filled: list[ShareBounds] = []
        """The unrounded results of all progressive fillings."""

    def run(self) -> Numbers:
        """Divide the cluster and return what each queue deserves."""
        self._round(self.all.usable)
        while (open_ := self._open()).any():
            before = self.held
            self._round(np.where(open_[:, None], self.all.usable, before))
            if np.array_equal(before, self.held):
                self._give_rest()
                break
        return self.held

    def ceilings(self) -> dict[str, Ceilings]:
        """Return, by resource, the exact shares rounded up.

        The result is empty unless all queues are children of the root and were filled exactly once.
        """
        if len(self.frame.parents) != 1 or len(self.filled) != 1:
            return {}
        columns = self.filled[0].high.T
        return {name: Ceilings(self.frame.number, one) for name, one in zip(self.frame.resources, columns, strict=True)}

    def _round(self, wanted: Numbers) -> None:
        frame, floors = self.frame, self.floors.copy()
        asked = np.where(frame.bottom[:, None], np.maximum(floors, wanted), 0)
        for row in reversed(frame.parents):
            below = frame.below[row]
            floors[row] = np.minimum(np.maximum(floors[row], floors[below].sum(axis=0)), frame.caps[row])
            asked[row] = np.minimum(asked[below].sum(axis=0), frame.caps[row])
        asked[frame.bottom] = self.requests[frame.bottom]
        got = floors.copy()
        got[0] = self.pool
        if frame.bottom[0]:
            got[0] = self._divided(slice(0, 1), floors, asked, self.pool)[0]
        for row in frame.parents:
            got[frame.below[row]] = self._divided(frame.below[row], floors, asked, got[row].tolist())
        self._keep(got)

    def _divided(self, below: slice, floors: Numbers, asked: Numbers, pool: list[int]) -> Numbers:
        claims = self._claims(below, asked, floors, pool)
        if claims.all_fit:
            return claims.enough
        self.filled.append(fill(claims))
        return round_shares(claims, self.filled[-1])

    def _claims(
        self, rows: slice, request: Numbers, floors: Numbers | None = None, pool: list[int] | None = None
    ) -> Claims:
        frame = self.frame
        return Claims(
            request=request[rows],
            floor=(np.zeros_like(request) if floors is None else floors)[rows],
            cap=frame.caps[rows],
            weight=frame.weights[rows],
            pool=self.capacity if pool is None else pool,
            capacity=self.capacity,
        )

    def _keep(self, got: Numbers) -> None:
        """Store what each queue got as its floor from now on; a parent's floor is only what was reserved for it."""
        frame = self.frame
        bottom = frame.bottom[:, None]
        held = np.where(bottom, got, 0)
        cache = self.floors.copy()
        cache[1:] = np.minimum(cache[1:], got[1:])
        self.floors = np.where(bottom, got, cache)
        self.used = held.copy()
        for row in reversed(frame.parents):
            self.used[row] = held[frame.below[row]].sum(axis=0)
            held[row] = np.maximum(self.floors[row], self.used[row])
        self.held = held

    def _open(self) -> Flags:
        """Return for every row whether the queue could still have more."""
        room = self._room()
        found = np.zeros(len(room), np.bool_)
        for row in raisable_rows(self.all, self.held, self.all.usable, room).tolist():
            found[row] = any(self._alone(row, room[row]))
        return found

    def _alone(self, row: int, room: Numbers) -> list[int]:
        """Return how much more a leaf could have if it alone were given what is idle."""
        lines = (self.requests[row], self.held[row], self.all.usable[row], room)
        return raise_alone(*(line.tolist() for line in lines))

    def _room(self) -> Numbers:
        """Return for every row how much more the queue could have.

        That is what is idle, or held for an ancestor and not used below it, limited by the caps on the path to the
        root.
        """
        room = self.frame.caps - self.held
        room[0] = np.minimum(room[0], np.array(self.capacity, room.dtype) - self.held[0])
        idle = self.held - self.used
        for level in self.frame.levels:
            above = self.frame.above[level]
            room[level] = np.minimum(room[level], room[above] + idle[above])
        return room

    def _give_rest(self) -> None:
        """Give what the rounds did not distribute to the leaves that can use it, in the order of their names."""
        open_ = np.flatnonzero(self._open()).tolist()
        for row in sorted(open_, key=self.frame.paths.__getitem__):
            self._add(row, np.array(self._alone(row, self._room()[row]), self.held.dtype))

    def _add(self, row: int, more: Numbers) -> None:
        self.held[row] += more
        while row:
            row = int(self.frame.above[row])
            self.used[row] += more
            after = np.maximum(self.held[row], self.used[row])
            more, self.held[row] = after - self.held[row], after
