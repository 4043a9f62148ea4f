"""Small clusters in which gangs reclaim, and what may happen in them by the rules alone: every set of units is tried.

There is one resource, cpu, on two nodes. What queues deserve is as the policy says; that has tests of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product
from random import Random

import msgspec

from engine.model.objects import DisruptionBudget
from engine.model.queue_tree import WEIGHT_ONE, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.deserved import Parameters, share_statuses
from tests.engine import gang_worlds
from tests.engine.gang_worlds import OTHER, TEST, Answer, Unit

CPU = "cpu"
OWN = "root.t.prod"


@dataclass(frozen=True)
class World:
    """A small world, read for policy ``deserved``: what is promised is what is reserved."""

    base: gang_worlds.World
    weights: tuple[int, int, int] = (1, 1, 1)
    """Of the gang's queue, ``test`` and ``other``."""
    told: tuple[bool, bool] = (True, True)
    """Whether ``test`` and ``other`` had a notice, long ago."""
    urgent: bool = False
    """Whether the class of the gang's pods may take beyond what is deserved."""
    budget: int | None = None
    """How many of all pods a disruption budget lets go."""

    def tree(self) -> QueueTree:
        """The queues."""
        weights = dict(zip((OWN, f"root.{TEST}", f"root.{OTHER}"), self.weights, strict=True))
        queues = self.base.tree().queues.values()
        return QueueTree(msgspec.structs.replace(one, weight=weights.get(one.path, 1) * WEIGHT_ONE) for one in queues)

    def snapshot(self) -> Snapshot:
        """The cluster with its pods."""
        at = self.base.snapshot()
        pods = tuple(
            msgspec.structs.replace(pod, priority_class="urgent") if self.urgent and pod.node is None else pod
            for pod in at.pods
        )
        budgets = () if self.budget is None else (DisruptionBudget(namespace="ns", name="one", allowed=self.budget),)
        return msgspec.structs.replace(at, tree=self.tree(), pods=pods, budgets=budgets, notices=self.notices())

    def notices(self) -> dict[str, int]:
        """Which queues were notified, and when."""
        return {f"root.{name}": 0 for name, told in zip((TEST, OTHER), self.told, strict=True) if told}

    def parameters(self) -> Parameters:
        """The policy's parameters."""
        return Parameters(high_priority=("urgent",) if self.urgent else ())


class Oracle:
    """The rules of the policy for gangs in one world. ``placed``: the members that fit without any eviction."""

    def __init__(self, world: World, at: Snapshot, placed: dict[int, int]) -> None:
        self.world, self.base, self.placed = world, world.base, placed
        self.standings = share_statuses(at, world.tree())
        self.missing = max(1, self.base.at_once) - len(placed)

    def lawful(self, *, told: bool) -> Iterator[Answer]:
        """Every way to start the gang that the rules allow. ``told``: with those alone that were notified in time."""
        others = [k for k in range(len(self.base.members)) if k not in self.placed]
        for chosen in combinations(others, self.missing):
            for nodes in product((0, 1), repeat=len(chosen)):
                places = {**self.placed, **dict(zip(chosen, nodes, strict=True))}
                if not self.entitled(Answer(places, frozenset())):
                    continue
                numbers = range(len(self.base.units))
                for units in chain.from_iterable(combinations(numbers, count) for count in range(len(numbers) + 1)):
                    if self.allows(answer := Answer(places, frozenset(units)), told=told):
                        yield answer

    def allows(self, answer: Answer, *, told: bool) -> bool:
        """Whether a way keeps all rules but that of what each member may have."""
        return (
            self._fits(answer)
            and all(self._may_go(self.base.units[k], answer, told=told) for k in answer.units)
            and self._queues_keep_theirs(answer)
            and self._keeps_budget(answer)
        )

    def beyond(self, answer: Answer) -> dict[int, bool]:
        """Of each member that needs eviction: whether it and those before it would have more than is deserved."""
        own, found = self.standings[OWN], {}
        cores = own.used.get(CPU, 0) + sum(self._size(k) for k in self.placed)
        pods = own.used.get("pods", 0) + len(self.placed)
        for k in answer.places:
            if k not in self.placed:
                cores, pods = cores + self._size(k), pods + 1
                found[k] = cores > own.deserved.get(CPU, 0) or pods > own.deserved.get("pods", 0)
        return found

    def entitled(self, answer: Answer) -> bool:
        """Whether each member that needs eviction may have more, after those before it."""
        return self.world.urgent or not any(self.beyond(answer).values())

    def mixed(self, answer: Answer) -> bool:
        """Whether only some of the members exceed what their queue deserves."""
        return len({*self.beyond(answer).values()}) > 1

    def minimal(self, answer: Answer) -> bool:
        """Whether no unit could stay."""
        return not any(self.allows(answer._replace(units=answer.units - {k}), told=False) for k in answer.units)

    def _size(self, member: int) -> int:
        return self.base.members[member] * 1000

    def _lost(self, queue: str, answer: Answer) -> int:
        return 1000 * sum(unit.size for unit in (self.base.units[k] for k in answer.units) if unit.queue == queue)

    def _fits(self, answer: Answer) -> bool:
        gone = [self.base.units[k] for k in answer.units]
        for at in (0, 1):
            free = self.base.free[at] + sum(sum(unit.sizes[at]) for unit in gone)
            if sum(self.base.members[k] for k, place in answer.places.items() if place == at) > free:
                return False
        return True

    def _may_go(self, unit: Unit, answer: Answer, *, told: bool) -> bool:
        path = f"root.{unit.queue}"
        if self.base.fence and unit.queue != TEST:
            return False
        beyond = self.beyond(answer)
        urgent, calm = (
            any(unit.sizes[place] for k, place in answer.places.items() if beyond.get(k, False) is wanted)
            for wanted in (True, False)
        )
        calm = calm and not all(beyond.values())
        one = self.standings[path]
        overused = one.used.get(CPU, 0) > one.deserved.get(CPU, 0)
        told_in_time = not told or path in self.world.notices()
        return (urgent and unit.priority < 1) or (calm and overused and told_in_time)

    def _queues_keep_theirs(self, answer: Answer) -> bool:
        comes = sum(self._size(k) for k in answer.places)
        for name in (TEST, OTHER):
            one, lost = self.standings[f"root.{name}"], self._lost(name, answer)
            if lost and one.used.get(CPU, 0) - lost < one.reserved.get(CPU, 0):
                return False
        above, lost = self.standings["root.t"], self._lost(TEST, answer)
        used = above.used.get(CPU, 0)
        if lost and used - lost + comes < min(above.reserved.get(CPU, 0), used):
            return False
        return used - lost + comes <= above.hard.get(CPU, 10**9)

    def _keeps_budget(self, answer: Answer) -> bool:
        going = sum(self.base.units[k].number for k in answer.units)
        return self.world.budget is None or not going or going <= self.world.budget


def some_world(random: Random) -> World:
    """A random world with all that may be said of queues."""
    base = gang_worlds.some_world(random)
    promised = random.choice((0, 0, base.promised, 1))
    return World(
        base=base._replace(promised=promised, rival=0),
        weights=(random.choice((1, 1, 3, 5)), random.choice((1, 1, 2)), random.choice((1, 1, 2))),
        told=(random.random() < 0.8, random.random() < 0.8),
        urgent=random.random() < 0.25,
        budget=random.choice((None, None, None, 1, 2, 3)),
    )
