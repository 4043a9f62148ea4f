"""Every small world of one resource, and an oracle that tries all sets of pods by the rules alone."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations, combinations_with_replacement, product

import msgspec

from engine.queues import QueueTree
from engine.snapshot import Pod, Snapshot
from tests.builders import ask, node, pod, queue, snapshot, tree

Running = tuple[str, int, str, int]
"""A pod: queue, size, node, priority."""

SIZES = (1, 2)
NODES = ("n1", "n2")
LOW, HIGH = 0, 1
_SWAPPED = {"n1": "n2", "n2": "n1"}


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A tree: queue -> queue above ("" for the root); leaf ``a`` is the asker's."""

    above: Mapping[str, str]
    guaranteed: Mapping[str, int]
    max: Mapping[str, int] = {}
    fences: tuple[str, ...] = ()

    def lineage(self, leaf: str) -> list[str]:
        """The queue and all above it but the root, which promises and limits nothing here."""
        return [leaf, *self.lineage(self.above[leaf])] if leaf else []

    def path(self, name: str) -> str:
        """The path below the root."""
        return ".".join(reversed(self.lineage(name)))

    def tree(self) -> QueueTree:
        """The same in the engine's types."""
        return tree(
            {
                self.path(name): queue(
                    {"cpu": self.guaranteed[name]} if name in self.guaranteed else None,
                    max={"cpu": self.max[name]} if name in self.max else None,
                    fence=name in self.fences,
                )
                for name in self.above
            }
        )


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Pods on nodes that have ``free`` left each, and an ask of ``a`` that is larger than that."""

    shape: Shape
    pods: tuple[Running, ...]
    ask: int
    free: int
    priority: int = HIGH
    """The ask's."""

    def snapshot(self, tree: QueueTree) -> Snapshot:
        """The same in the engine's types; pod ``p0`` is the first, and so on."""
        running = [
            pod(f"p{i}", queue=self.shape.path(leaf), cpu=size, node=where, priority=priority)
            for i, (leaf, size, where, priority) in enumerate(self.pods)
        ]
        held = {name: sum(size for _, size, where, _ in self.pods if where == name) for name in NODES}
        nodes = [node(name, held[name] + self.free) for name in NODES]
        return snapshot(tree, nodes, running, self._asking())

    def _asking(self) -> Pod:
        return ask("ask", queue=self.shape.path("a"), cpu=self.ask, priority=self.priority)

    def lawful_sets(self) -> set[frozenset[str]]:
        """All sets of pods of one node whose going makes room and breaks no law."""
        entitling = next((one for one in self.shape.lineage("a") if one in self.shape.guaranteed), None)
        if entitling is None or self._used(entitling) >= self.shape.guaranteed[entitling]:
            return set()
        fence = next((one for one in self.shape.lineage("a") if one in self.shape.fences), "")
        allowed = [
            i
            for i, (leaf, _, _, priority) in enumerate(self.pods)
            if entitling not in self.shape.lineage(leaf)
            and leaf != "a"
            and priority <= self.priority
            and (not fence or fence in self.shape.lineage(leaf))
        ]
        on_nodes = ([i for i in allowed if self.pods[i][2] == name] for name in NODES)
        subsets = chain.from_iterable(
            combinations(here, count) for here in on_nodes for count in range(1, len(here) + 1)
        )
        return {frozenset(f"p{i}" for i in chosen) for chosen in subsets if self._lawful(chosen)}

    def _lawful(self, chosen: tuple[int, ...]) -> bool:
        if self.free + sum(self.pods[i][1] for i in chosen) < self.ask:
            return False
        for name in self.shape.above:
            used = self._used(name)
            gone = sum(self.pods[i][1] for i in chosen if name in self.shape.lineage(self.pods[i][0]))
            mine = name in self.shape.lineage("a")
            if mine and used - gone + self.ask > self.shape.max.get(name, 99):
                return False
            promised = self.shape.guaranteed.get(name, 0)
            if gone and mine and used - gone + self.ask < min(promised, used):
                return False
            if gone and not mine and used - gone < promised:
                return False
        return True

    def _used(self, name: str) -> int:
        return sum(size for leaf, size, _, _ in self.pods if name in self.shape.lineage(leaf))


def all_pods(most: int, leaves: str = "abc", priorities: tuple[int, ...] = (LOW,)) -> Iterator[tuple[Running, ...]]:
    """Every choice of up to ``most`` pods; of two that differ in the names of the nodes alone, one."""
    kinds = sorted(product(leaves, SIZES, NODES, priorities))
    for count in range(most + 1):
        for pods in combinations_with_replacement(kinds, count):
            if pods <= tuple(sorted((leaf, size, _SWAPPED[where], priority) for leaf, size, where, priority in pods)):
                yield pods


def flat_worlds(leaves: str, most: int) -> Iterator[World]:
    """Every world of leaves side by side with pods and asks of two priorities, up to what makes no difference.

    The ask's leaf is below its guarantee, by how much does not matter; another's guarantee is none, or anything that it
    keeps, just keeps or lacks. An ask of two on nodes with one free is as one of one on full nodes.
    """
    above = dict.fromkeys(leaves, "")
    for pods in all_pods(most, leaves, (LOW, HIGH)):
        used = {leaf: sum(size for one, size, _, _ in pods if one == leaf) for leaf in leaves}
        options = {leaf: (None, *range(1, used[leaf] + 2)) if used[leaf] else (None,) for leaf in leaves}
        for promised in _promises(options | {"a": (used["a"] + 1,)}):
            shape = Shape(above=above, guaranteed=promised)
            for size, priority in product(SIZES, (LOW, HIGH)):
                yield World(shape=shape, pods=pods, ask=size, free=0, priority=priority)


def _promises(options: Mapping[str, tuple[int | None, ...]]) -> Iterator[dict[str, int]]:
    for amounts in product(*options.values()):
        yield {name: amount for name, amount in zip(options, amounts, strict=True) if amount is not None}


FLAT = {"a": "", "b": "", "c": ""}
ASKER_DEEP = {"t": "", "a": "t", "b": "t", "c": ""}
VICTIMS_DEEP = {"t": "", "a": "", "b": "t", "c": "t"}


def flat_shapes() -> list[Shape]:
    """Three leaves side by side."""
    return [Shape(above=FLAT, guaranteed=g) for g in _promises({"a": (None, 1, 3), "b": (None, 1, 2), "c": (None, 1)})]


def shapes_with_the_asker_deep() -> list[Shape]:
    """The ask's leaf and a sibling under a parent with a guarantee, a max or a fence, and a leaf beside."""
    promises = list(_promises({"t": (None, 2, 4), "a": (None, 3), "b": (None, 1), "c": (None, 1)}))
    limits = ({}, {"t": 3}, {"a": 3})
    return [
        Shape(above=ASKER_DEEP, guaranteed=promised, max=limit, fences=fences)
        for promised, limit, fences in product(promises, limits, ((), ("t",)))
    ]


def shapes_with_victims_deep() -> list[Shape]:
    """Both other leaves under a parent that has a guarantee of its own."""
    return [
        Shape(above=VICTIMS_DEEP, guaranteed=promised)
        for promised in _promises({"a": (2, 4), "t": (None, 2, 3), "b": (None, 1), "c": (None, 1)})
    ]


def worlds(shape: Shape, most: int) -> Iterator[World]:
    """Every world of a shape: pods, a free unit on each node or none, an ask of each size that does not fit yet."""
    for pods in all_pods(most):
        for size, free in ((1, 0), (2, 0), (2, 1)):
            yield World(shape=shape, pods=pods, ask=size, free=free)
