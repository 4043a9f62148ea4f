"""Small clusters in which gangs preempt, and what may happen in them by the rules alone: every set of units is tried.

There is one resource, cpu, on two nodes. The oracle shares nothing with the policy but where members go that need no
eviction.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, combinations_with_replacement, product
from random import Random
from typing import NamedTuple

from engine.model.objects import Pod
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Snapshot
from tests.builders import ask, node, pod, pod_group, queue, snapshot, tree

NODES = ("n0", "n1")
TEST, OTHER = "t.test", "other"


class Unit(NamedTuple):
    """Running pods that go together: their sizes by node, their queue, and their priority."""

    sizes: tuple[tuple[int, ...], tuple[int, ...]]
    queue: str = TEST
    priority: int = 0

    @property
    def number(self) -> int:
        """How many pods it has."""
        return sum(map(len, self.sizes))

    @property
    def size(self) -> int:
        """What they hold together."""
        return sum(map(sum, self.sizes))


class World(NamedTuple):
    """What is in a cluster, and what its queues are promised."""

    units: tuple[Unit, ...]
    members: tuple[int, ...]
    """What each member of the gang requests."""
    at_once: int
    free: tuple[int, int] = (0, 0)
    """What is free on each node."""
    promised: int = 4
    """To the gang's queue, or to the queue above it and ``test``."""
    shared: bool = False
    """Whether the guarantee is that of the queue above."""
    test: int = 0
    """What queue ``test`` is promised."""
    other: int = 0
    above_max: int | None = None
    """The max of the queue above the gang's and ``test``."""
    fence: bool = False
    used: int = 0
    """What pods of the gang's queue use on the first node."""
    rival: int = 0
    """What the only member of a second gang requests, which is older; 0: there is none."""

    def tree(self) -> QueueTree:
        """The queues."""
        own: dict[str, Queue] = {
            "t": queue(self.promised if self.shared else None, max=self.above_max, fence=self.fence),
            "t.prod": queue(None if self.shared else self.promised),
            TEST: queue(self.test or None),
            OTHER: queue(self.other or None),
        }
        return tree(own)

    def snapshot(self) -> Snapshot:
        """The cluster with its pods."""
        nodes = [node(name, self._held(at) + self.free[at]) for at, name in enumerate(NODES)]
        groups = [pod_group(f"u{k}", whole=True, priority=unit.priority) for k, unit in enumerate(self.units)]
        waiting = [
            ask(f"gang-{k}", queue="t.prod", cpu=size, scheduling_group="gang", app="gang", created_ms=k, priority=1)
            for k, size in enumerate(self.members)
        ]
        rival = [
            ask("rival", queue="t.prod", cpu=self.rival, scheduling_group="rivals", app="rival", priority=2)
        ] * bool(self.rival)
        own = [pod("own", queue="t.prod", cpu=self.used, node="n0")] * bool(self.used)
        gangs = pod_group("gang", at_once=self.at_once, priority=1), pod_group("rivals", at_once=1, priority=2)
        return snapshot(self.tree(), nodes, self.running(), waiting, rival, own, groups, gangs)

    def running(self) -> list[Pod]:
        """The pods of the units, unit by unit."""
        return list(chain.from_iterable(self.pods_of(k) for k in range(len(self.units))))

    def pods_of(self, number: int) -> list[Pod]:
        """The pods of one unit."""
        unit = self.units[number]
        return [
            pod(
                f"u{number}-{at}-{k}",
                queue=unit.queue,
                cpu=size,
                node=NODES[at],
                scheduling_group=f"u{number}" if unit.number > 1 else "",
                priority=unit.priority,
            )
            for at in (0, 1)
            for k, size in enumerate(unit.sizes[at])
        ]

    def _held(self, at: int) -> int:
        return sum(sum(unit.sizes[at]) for unit in self.units) + (self.used if at == 0 else 0)


class Answer(NamedTuple):
    """Where each member goes, by its number, and which units go for them."""

    places: dict[int, int]
    units: frozenset[int]


class Oracle:
    """The rules of the policy for gangs in one world. ``placed``: the members that fit without any eviction."""

    def __init__(self, world: World, placed: dict[int, int]) -> None:
        self.world, self.placed = world, placed
        self.missing = max(1, world.at_once) - len(placed)

    def lawful(self) -> Iterator[Answer]:
        """Every way to start the gang that the rules allow."""
        others = [k for k in range(len(self.world.members)) if k not in self.placed]
        for chosen in combinations(others, self.missing):
            if self._passes_over(chosen, others) or not self._entitled(chosen):
                continue
            for nodes in product((0, 1), repeat=len(chosen)):
                places = {**self.placed, **dict(zip(chosen, nodes, strict=True))}
                numbers = range(len(self.world.units))
                for units in chain.from_iterable(combinations(numbers, count) for count in range(len(numbers) + 1)):
                    if self.allows(answer := Answer(places, frozenset(units))):
                        yield answer

    def allows(self, answer: Answer) -> bool:
        """Whether a way keeps all rules but that of what each member claims."""
        return (
            self._fits(answer)
            and all(self._may_go(self.world.units[k], answer) for k in answer.units)
            and (self._queues_keep_theirs(answer))
        )

    def entitled(self, answer: Answer) -> bool:
        """Whether each member that needs eviction claims a guarantee that those before it did not use up."""
        return self._entitled([k for k in answer.places if k not in self.placed])

    def _passes_over(self, chosen: Sequence[int], others: Sequence[int]) -> bool:
        """Whether a member that is like a chosen one, and before it, is not chosen."""
        sizes = self.world.members
        passed = (k for k in others if k not in chosen)
        return any(k < one and sizes[k] == sizes[one] for k in passed for one in chosen)

    def _entitled(self, chosen: tuple[int, ...] | list[int]) -> bool:
        world, used = self.world, self.world.used
        if world.shared:
            used += self._used(TEST)
        used += sum(world.members[k] for k in self.placed)
        for k in chosen:
            if not world.promised or used >= world.promised:
                return False
            used += world.members[k]
        return True

    def minimal(self, answer: Answer) -> bool:
        """Whether no unit could stay."""
        return not any(self.allows(answer._replace(units=answer.units - {k})) for k in answer.units)

    def _used(self, queue: str) -> int:
        return sum(unit.size for unit in self.world.units if unit.queue == queue)

    def _fits(self, answer: Answer) -> bool:
        gone = [self.world.units[k] for k in answer.units]
        for at in (0, 1):
            free = self.world.free[at] + sum(sum(unit.sizes[at]) for unit in gone)
            if sum(self.world.members[k] for k, place in answer.places.items() if place == at) > free:
                return False
        return True

    def _may_go(self, unit: Unit, answer: Answer) -> bool:
        world = self.world
        inside = unit.queue == TEST
        near = any(unit.sizes[at] for at in set(answer.places.values()))
        return unit.priority <= 1 and near and not (inside and world.shared) and (inside or not world.fence)

    def _queues_keep_theirs(self, answer: Answer) -> bool:
        world = self.world
        taken = {
            name: sum(world.units[k].size for k in answer.units if world.units[k].queue == name)
            for name in (TEST, OTHER)
        }
        for name, promised in ((TEST, world.test), (OTHER, world.other)):
            if taken[name] and promised and self._used(name) - taken[name] < promised:
                return False
        come, used = sum(world.members[k] for k in answer.places), world.used + self._used(TEST)
        after = used - taken[TEST] + come
        if world.shared and taken[TEST] and after < min(world.promised, used):
            return False
        return world.above_max is None or after <= world.above_max


def units(most: int, count: int) -> Iterator[tuple[Unit, ...]]:
    """Every choice of up to ``count`` units with up to ``most`` pods of one core, for two nodes that are alike."""
    shapes = [((1,) * a, (1,) * b) for a in range(most + 1) for b in range(most + 1 - a) if a + b]
    for number in range(1, count + 1):
        for chosen in combinations_with_replacement(shapes, number):
            mirrored = tuple(sorted((second, first) for first, second in chosen))
            if sum(len(a) + len(b) for a, b in chosen) <= most and chosen <= mirrored:
                yield tuple(Unit(sizes) for sizes in chosen)


def worlds(most: int, count: int) -> Iterator[World]:
    """Every world with up to so many pods in so many units, and a gang of up to three pods that need room at once."""
    members = [sizes for k in (1, 2, 3) for sizes in combinations_with_replacement((2, 1), k)]
    for chosen in units(most, count):
        size = sum(unit.size for unit in chosen)
        for sizes, free, test in product(members, ((0, 0), (1, 0)), range(size + 1)):
            for at_once in range(1, len(sizes) + 1):
                yield from (World(chosen, sizes, at_once, free, promised, test=test) for promised in (1, 2, 4))


def some_world(random: Random) -> World:
    """A random world with all that may be said of queues."""
    chosen, left = [], 5
    for _ in range(random.randint(1, 3)):
        count = random.randint(1, max(1, min(3, left)))
        left -= count
        sizes: tuple[list[int], list[int]] = [], []
        for _ in range(count):
            sizes[random.randrange(2)].append(random.choice((1, 1, 2)))
        queue_of_unit, priority = random.choice((TEST, TEST, OTHER)), random.choice((0, 0, 1, 2))
        chosen.append(Unit((tuple(sizes[0]), tuple(sizes[1])), queue_of_unit, priority))
        if left <= 0:
            break
    members = tuple(random.choice((1, 2, 3)) for _ in range(random.randint(1, 3)))
    total = sum(unit.size for unit in chosen)
    return World(
        units=tuple(chosen),
        members=members,
        at_once=random.randint(1, len(members)),
        free=(random.choice((0, 0, 1, 2)), random.choice((0, 0, 1))),
        promised=random.randint(0, 8),
        shared=random.random() < 0.25,
        test=random.choice((0, 0, random.randint(0, total))),
        other=random.choice((0, 0, random.randint(0, total))),
        above_max=random.choice((None, None, random.randint(1, 8))),
        fence=random.random() < 0.2,
        used=random.choice((0, 0, 1, 2)),
        rival=random.choice((0, 0, 0, 1, 2)),
    )
