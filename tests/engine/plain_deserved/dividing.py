"""What every queue of a tree deserves of a cluster: each share a fraction, each round of every queue."""

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from engine.model.quantities import Amounts, total
from engine.model.queue_tree import WEIGHT_ONE, QueueTree
from engine.policies.deserved import Method
from tests.engine.plain_deserved.filling import Claim, Exact, fill
from tests.engine.plain_deserved.rounding import raised, usable, whole


def deserved(
    tree: QueueTree, requests: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int], method: Method = Method.DRF
) -> dict[str, Amounts]:
    """Path -> what the queue deserves of ``capacity``; ``requests`` are those of the leaves.

    Only resources that there are any of are divided.
    """
    there = {name: amount for name, amount in capacity.items() if amount > 0}
    if method is Method.DRF:
        return _Division(tree, requests, there).run()
    alone = [_Division(tree, requests, {name: amount}).run() for name, amount in there.items()]
    return {path: total(one[path] for one in alone) for path in tree.queues}


class _Division:
    """From the top down, again as long as somebody can use what others were given and could not."""

    def __init__(self, tree: QueueTree, requests: Mapping[str, Mapping[str, int]], capacity: Mapping[str, int]) -> None:
        self.tree, self.capacity = tree, capacity
        self.caps = {path: _only(capacity, tree[path].max) for path in tree.queues}
        self.floors = {path: _least(_only(capacity, tree[path].guaranteed), self.caps[path]) for path in tree.queues}
        self.floors[tree.root] = _least(self.floors[tree.root], capacity)
        self.requests = {path: _positive(_only(capacity, requests.get(path, {}))) for path in tree.leaves}
        self.held: dict[str, Amounts] = {}
        """What each has, a parent what those below it have, or was reserved for it."""
        self.below: dict[str, Amounts] = {}
        """What those right below it have."""

    def run(self) -> dict[str, Amounts]:
        """Path -> what it deserves."""
        wanted = {leaf: usable(self._claim(leaf, {}, self.requests[leaf])) for leaf in self.tree.leaves}
        while wanted:
            before = dict(self.held)
            self._round(wanted)
            if self.held == before:
                break
            wanted = self._wanted()
        for leaf in sorted(self.tree.leaves):
            self._add(leaf, self._alone(leaf))
        return self.held

    def _wanted(self) -> dict[str, Amounts]:
        """What leaves that could still have more can use; empty where there are none."""
        open_ = {leaf for leaf in self.tree.leaves if self._alone(leaf)}
        if not open_:
            return {}
        return {
            leaf: usable(self._claim(leaf, {}, self.requests[leaf])) if leaf in open_ else self.held[leaf]
            for leaf in self.tree.leaves
        }

    def _round(self, wanted: Mapping[str, Amounts]) -> None:
        floors, requests = self._from_below(wanted)
        got: dict[str, Amounts] = {}
        root, pool = self.tree.root, _least(self.capacity, self.caps[self.tree.root])
        pools = {root: pool}
        if self.tree.is_leaf(root):
            got |= _divided([self._claim(root, floors[root], self.requests[root])], pool, self.capacity)
        for path in self.tree.walk():
            children = self.tree.children[path]
            if children:
                claims = [self._claim(child, floors[child], requests[child]) for child in children]
                pools |= (shares := _divided(claims, pools[path], self.capacity))
                got |= shares
        self._keep(got)

    def _from_below(self, wanted: Mapping[str, Amounts]) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
        """Path -> its floor, at least those of its children; and what it asks, at least what they have."""
        floors = dict(self.floors)
        asked = {leaf: _largest(floors[leaf], wanted[leaf]) for leaf in self.tree.leaves}
        for path in reversed(self.tree.walk()):
            children = self.tree.children[path]
            if children:
                below = total(floors[child] for child in children)
                floors[path] = _least(_largest(floors[path], below), self.caps[path])
                asked[path] = _least(total(asked[child] for child in children), self.caps[path])
        return floors, {path: _positive(amounts) for path, amounts in asked.items()} | self.requests

    def _keep(self, got: Mapping[str, Amounts]) -> None:
        """What each got is its floor from here on; a parent's only what was reserved for it."""
        for path in reversed(self.tree.walk()):
            if self.tree.children[path]:
                self.floors[path] = _least(self.floors[path], got.get(path, {}))
                self.below[path] = total(self.held[child] for child in self.tree.children[path])
                self.held[path] = _largest(self.floors[path], self.below[path])
            else:
                self.floors[path] = self.held[path] = got.get(path, {})

    def _alone(self, leaf: str) -> Amounts:
        """What a leaf could have more, were it alone to be given what idles."""
        claim = self._claim(leaf, {}, self.requests[leaf])
        if not claim.weight:
            return {}
        return raised(claim, self.held[leaf], usable(claim), {name: self._room(leaf, name) for name in claim.request})

    def _room(self, leaf: str, resource: str) -> int:
        """What idles, or is held for a queue above the leaf and used by nobody there, up to the caps on the way."""
        room = self.capacity[resource] - self.held[self.tree.root].get(resource, 0)
        for path in reversed(self.tree.lineage(leaf)):
            held = self.held[path].get(resource, 0)
            room = min(room, self.caps[path].get(resource, held + room) - held)
            if path != leaf:
                room += held - self.below.get(path, {}).get(resource, 0)
        return room

    def _add(self, leaf: str, more: Mapping[str, int]) -> None:
        for resource, amount in more.items():
            grown = amount
            for path in self.tree.lineage(leaf):
                before = self.held[path].get(resource, 0)
                if path == leaf:
                    after = before + grown
                else:
                    self.below[path][resource] = self.below[path].get(resource, 0) + grown
                    after = max(before, self.below[path][resource])
                self.held[path][resource], grown = after, after - before

    def _claim(self, path: str, floor: Mapping[str, int], request: Amounts) -> Claim:
        return Claim(
            name=path,
            request=request,
            floor={name: Fraction(amount) for name, amount in floor.items()},
            cap=self.caps[path],
            weight=Fraction(self.tree[path].weight, WEIGHT_ONE),
        )


def _divided(claims: list[Claim], pool: Mapping[str, int], capacity: Mapping[str, int]) -> dict[str, Amounts]:
    fitting = _kept(claims, pool)
    return whole(fitting, fill(fitting, pool, capacity), pool)


def _kept(claims: list[Claim], pool: Mapping[str, int]) -> list[Claim]:
    """Where the floors together are more than there is of a resource, all of them less by the same fraction."""
    sums: Exact = {}
    for claim in claims:
        for name, amount in claim.floor.items():
            sums[name] = sums.get(name, Fraction(0)) + amount
    parts = {name: Fraction(pool.get(name, 0)) / amount for name, amount in sums.items() if amount > pool.get(name, 0)}
    if not parts:
        return claims
    shrunk = [{name: amount * parts.get(name, 1) for name, amount in one.floor.items()} for one in claims]
    return [msgspec.structs.replace(one, floor=floor) for one, floor in zip(claims, shrunk, strict=True)]


def _only(capacity: Mapping[str, int], amounts: Mapping[str, int]) -> Amounts:
    return {name: amount for name, amount in amounts.items() if name in capacity}


def _positive(amounts: Mapping[str, int]) -> Amounts:
    return {name: amount for name, amount in amounts.items() if amount > 0}


def _least(amounts: Mapping[str, int], limits: Mapping[str, int]) -> Amounts:
    """Each at most its limit; one without a limit is left."""
    return {name: min(amount, limits.get(name, amount)) for name, amount in amounts.items()}


def _largest(one: Mapping[str, int], other: Mapping[str, int]) -> Amounts:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}
