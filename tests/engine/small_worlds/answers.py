"""Policy and rules held against each other in many small worlds."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine.audit import audit, failed_checks
from engine.model.columns.node_columns import Flags, Numbers
from engine.model.queue_tree import QueueTree
from tests.builders import preempting
from tests.engine.small_worlds.lawful_sets import SMALLER, LawfulSets, pods_in
from tests.engine.small_worlds.side_by_side import SideBySide, node_name, pod_name
from tests.engine.small_worlds.worlds import MOST, PRIORITIES, Above, Ask, Shape, World, batches

Kind = tuple[Above, Ask, int]
"""What decisions have in common in which the laws read the same."""


class Answers(NamedTuple):
    """To one ask in many worlds of a shape, where one thing is said of the queue above it."""

    shape: Shape
    worlds: Sequence[World]
    above: Above
    ask: Ask
    chosen: Numbers
    """World -> node -> the set of pods that would go from there; 0: none."""
    lawful: Flags
    """World -> node -> set -> whether it may."""
    kinds: Numbers
    """World -> node -> a number that is the same where the laws read the same of what is chosen."""

    def wrong(self) -> str:
        """Where a lawful set is missed, or an unlawful one chosen, or more than is needed; empty: nowhere."""
        may = np.take_along_axis(self.lawful, self.chosen[:, :, None], axis=2)[:, :, 0]
        too_many = (self.lawful & SMALLER[self.chosen]).any(axis=2)
        wrong = np.where(self.chosen > 0, ~may | too_many, self.lawful.any(axis=2))
        return next((self._told(world, node) for world, node in np.argwhere(wrong).tolist()), "")

    def refused(self, audited: set[Kind]) -> str:
        """What the audit says against the first decision of each kind that was not ``audited`` yet; empty: nothing."""
        at = np.argwhere(self.chosen > 0)
        numbers, first = np.unique(self.kinds[tuple(at.T)], return_index=True)
        for number, (world, node) in zip(numbers.tolist(), at[first].tolist(), strict=True):
            kind = self.above, self.ask, number
            if kind not in audited and (laws := self._broken(world, node)):
                return f"{laws}: {self._told(world, node)}"
            audited.add(kind)
        return ""

    def _broken(self, world: int, node: int) -> str:
        """The laws that what is chosen for a node breaks, in that world alone."""
        alone = SideBySide(self.shape, [self.worlds[world]])
        pods = [pod_name(0, pod) for pod in pods_in(self.chosen[world, node])]
        decision = preempting(alone.snapshot, alone.asks[self.ask].name, pods, node=node_name(0, node))
        checks = audit(alone.snapshot, alone.tree(self.above, self.ask.size), decision)
        return ", ".join(check.law for check in failed_checks(checks))

    def _told(self, world: int, node: int) -> str:
        may = [pods_in(one) for one in np.flatnonzero(self.lawful[world, node])]
        chosen = pods_in(self.chosen[world, node])
        return f"{chosen} of {may} on node {node} for {self.ask} in {self.worlds[world]}, {self.above}"


def answers(shape: Shape, most: int = MOST) -> Iterator[Answers]:
    """To all asks in all worlds of a shape with up to so many pods, whatever is said above."""
    for batch in batches(shape, most):
        side, sets = SideBySide(shape, batch.worlds), LawfulSets(shape, batch.worlds)
        for size in batch.sizes:
            for above in shape.aboves(size, batch.below):
                tree = side.tree(above, size)
                yield from (_answers(side, tree, sets, above, Ask(size, priority)) for priority in PRIORITIES)


def answers_in(shape: Shape, worlds: list[World], above: Above, ask: Ask) -> Answers:
    """The same in some worlds."""
    side = SideBySide(shape, worlds)
    return _answers(side, side.tree(above, ask.size), LawfulSets(shape, worlds), above, ask)


def _answers(side: SideBySide, tree: QueueTree, sets: LawfulSets, above: Above, ask: Ask) -> Answers:
    chosen = side.chosen(tree, ask)
    return Answers(side.shape, side.worlds, above, ask, chosen, sets.on_nodes(above, ask), sets.kinds(chosen))
