"""Every small world of one resource, up to what makes no difference.

A world is a tree in which leaf ``a`` asks, up to four pods of two sizes and two priorities in its leaves and on two
nodes, and what is promised to whom. Of worlds that differ in this alone there is one:

- the order of pods, the names of nodes, and which of two siblings is ``b`` and which ``c``;
- what a node without pods could hold: worlds of one node are those in which the other is empty;
- the priority of pods in ``a``: none of them goes for another;
- how much a queue lacks beyond one unit of what it is promised: it keeps all, or may ask;
- a max or a fence of queues that only victims are in: they bind their own asks.

Left out are asks that fit, and those of a queue that lacks nothing: nobody goes for them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations_with_replacement, product
from random import Random
from typing import NamedTuple

import msgspec

MOST = 4
"""Pods."""
SIZES = (1, 2)
NODES = (0, 1)
PRIORITIES = (0, 1)
FREE = (0, 1)
"""What may be free on a node beside its pods: less than an ask of two."""
_TOGETHER = 2000


class Running(NamedTuple):
    """A pod on a node."""

    leaf: str
    size: int
    node: int
    priority: int


class Ask(NamedTuple):
    """A pod of leaf ``a`` without a node."""

    size: int
    priority: int


class World(NamedTuple):
    """Pods, what is free on each node, and what is promised to each of the shape's ``others``; 0: nothing."""

    pods: tuple[Running, ...]
    free: tuple[int, ...]
    promised: tuple[int, ...]

    def used(self, leaves: str) -> int:
        """What the pods of some leaves hold."""
        return sum(pod.size for pod in self.pods if pod.leaf in leaves)


class Above(NamedTuple):
    """What is said of the queue above the ask's."""

    spare: int | None = None
    """What it uses beyond its guarantee; None: it has none."""
    over: int = 0
    """By how much the ask would exceed its max; 0: it has none."""
    fence: bool = False
    claimed: bool = False
    """Whether the ask claims what this queue lacks; else its own queue lacks something, and it claims that."""


class Shape(msgspec.Struct, frozen=True, dict=True):
    """A tree: queue -> queue above, "" for the root."""

    above: Mapping[str, str]

    @cached_property
    def leaves(self) -> str:
        """The queues with none below, a letter each."""
        return "".join(name for name in self.above if name not in self.above.values())

    @property
    def shared(self) -> str:
        """The queue above the ask's, "" where that is the root."""
        return self.above["a"]

    @cached_property
    def others(self) -> tuple[str, ...]:
        """The queues that are neither the ask's nor above it."""
        return tuple(name for name in self.above if name not in ("a", self.shared))

    def below(self, name: str) -> str:
        """The leaves in a queue's subtree, which may be the queue itself; "" below no queue."""
        return "".join(leaf for leaf in self.leaves if name and name in (leaf, self.above[leaf]))

    @cached_property
    def beside(self) -> str:
        """The other leaves below the ``shared`` queue."""
        return self.below(self.shared).replace("a", "")

    def aboves(self, size: int, below: int) -> Iterator[Above]:
        """All that can be said of the ``shared`` queue where ``beside`` use so much, for an ask of that size.

        To have more to spare than that is as good as no guarantee; to be over by more than may go, as by one more. A
        fence or a claim of this queue leaves nothing to tell of both: all who may go are inside it, or outside.
        """
        if not self.shared:
            yield Above()
            return
        for spare in (None, *range(below - size)):
            most = below if spare is None else spare + size
            yield from (Above(spare, over) for over in range(most + 2))
        for over in (0, 1):
            yield Above(over=over, fence=True)
            yield Above(over=over, claimed=True)


THREE_QUEUES = {
    "flat": Shape({"a": "", "b": "", "c": ""}),
    "asker-deep": Shape({"t": "", "a": "t", "b": ""}),
    "victims-deep": Shape({"a": "", "t": "", "b": "t"}),
    "siblings": Shape({"t": "", "a": "t", "b": "t"}),
}
"""Every tree of up to three queues that has somebody to take from; two leaves alone are a flat one with one empty."""
FOUR_QUEUES = {
    "siblings-and-one": Shape({"t": "", "a": "t", "b": "t", "c": ""}),
    "victims-are-siblings": Shape({"a": "", "t": "", "b": "t", "c": "t"}),
    "three-siblings": Shape({"t": "", "a": "t", "b": "t", "c": "t"}),
}
"""Every tree of three leaves with a queue above two or all of them."""


def worlds(shape: Shape, most: int = MOST) -> Iterator[World]:
    """Every world of a shape with up to so many pods."""
    for pods in _pods(shape, most):
        rooms = [FREE if any(pod.node == node for pod in pods) else (0,) for node in NODES]
        used = [sum(pod.size for pod in pods if pod.leaf in shape.below(name)) for name in shape.others]
        promises = [range(amount + 2) if amount else (0,) for amount in used]
        yield from (World(pods, *one) for one in product(product(*rooms), product(*promises)))


def _pods(shape: Shape, most: int) -> Iterator[tuple[Running, ...]]:
    """Every choice of pods; of those that differ in names alone, the first."""
    every = (Running(*one) for one in product(shape.leaves, SIZES, NODES, PRIORITIES))
    kinds = sorted(pod for pod in every if pod.leaf != "a" or pod.priority == min(PRIORITIES))
    leaves = ["abc", "acb"] if shape.above["b"] == shape.above.get("c") else ["abc"]
    renamings = list(product(leaves, (NODES, NODES[::-1])))
    for count in range(most + 1):
        for pods in combinations_with_replacement(kinds, count):
            if all(list(pods) <= _renamed(pods, *names) for names in renamings):
                yield pods


def _renamed(pods: Iterable[Running], leaves: str, nodes: tuple[int, ...]) -> list[Running]:
    return sorted(pod._replace(leaf=leaves["abc".index(pod.leaf)], node=nodes[pod.node]) for pod in pods)


class Batch(NamedTuple):
    """Worlds of one shape to which the same can be put."""

    worlds: list[World]
    sizes: list[int]
    """Of the asks: too large for what is free."""
    below: int
    """What is used ``beside`` the ask."""


def batches(shape: Shape, most: int = MOST) -> Iterator[Batch]:
    """Every world of a shape with up to so many pods, many at a time."""
    found: dict[tuple[int, int], list[World]] = defaultdict(list)
    for world in worlds(shape, most):
        key = max(world.free), world.used(shape.beside)
        found[key].append(world)
        if len(found[key]) == _TOGETHER:
            yield _batch(key, found.pop(key))
    for key, rest in found.items():
        yield _batch(key, rest)


def _batch(key: tuple[int, int], some: list[World]) -> Batch:
    free, below = key
    return Batch(some, [size for size in SIZES if size > free], below)


def some_worlds(random: Random, shape: Shape, count: int) -> tuple[list[World], Above, Ask]:
    """Worlds of a shape, with what is left out of ``worlds``, and what can be put to all of them."""
    ask = Ask(random.choice(SIZES), random.choice(PRIORITIES))
    found = []
    for _ in range(count):
        pods = tuple(_some_pod(random, shape) for _ in range(random.randint(1, MOST)))
        free = tuple(random.randrange(ask.size) for _ in NODES)
        used = [World(pods, free, ()).used(shape.below(name)) for name in shape.others]
        found.append(World(pods, free, tuple(random.randint(0, amount + 3) for amount in used)))
    below = min(world.used(shape.beside) for world in found)
    return found, random.choice(list(shape.aboves(ask.size, below))), ask


def _some_pod(random: Random, shape: Shape) -> Running:
    return Running(
        leaf=random.choice(shape.leaves),
        size=random.choice(SIZES),
        node=random.choice(NODES),
        priority=random.choice(PRIORITIES),
    )
