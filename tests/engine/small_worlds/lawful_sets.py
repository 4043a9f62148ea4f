"""Which pods may go together in small worlds: every set of them is tried, by the rules alone, many worlds at once."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers
from tests.engine.small_worlds.worlds import MOST, NODES, Above, Ask, Running, Shape, World

SETS: Numbers = np.arange(2**MOST)
"""The sets of a world's pods, a bit each."""
HOLDS: Flags = (SETS[:, None] >> np.arange(MOST) & 1).astype(np.bool_)
"""Set -> pod -> whether it is one of them."""
SMALLER: Flags = ((SETS[:, None] & SETS) == SETS) & (SETS[:, None] != SETS)
"""Set -> set -> whether the second is the first without some."""
_NOBODY = Running(leaf="", size=0, node=-1, priority=0)


def pods_in(chosen: np.int64) -> list[int]:
    """The pods of a set, as so many-th of their world."""
    return np.flatnonzero(HOLDS[chosen]).tolist()


class LawfulSets:
    """The sets of pods in worlds of one shape."""

    def __init__(self, shape: Shape, worlds: Sequence[World]) -> None:
        self.shape = shape
        pods = [[*world.pods, *[_NOBODY] * (MOST - len(world.pods))] for world in worlds]
        self.leaf, self.size, self.node, self.priority = (
            np.array([[pod[part] for pod in row] for row in pods]) for part in range(len(_NOBODY))
        )
        """World -> pod -> its own."""
        self.free: Numbers = np.array([world.free for world in worlds])
        self.promised: Numbers = np.array([world.promised for world in worlds])

    def on_nodes(self, above: Above, ask: Ask) -> Flags:
        """World -> node -> set -> whether it goes from that node, makes room for the ask and breaks no law."""
        lawful = self._all(self._may_go(above, ask)) & self._others_keep_theirs & self._shared(above, ask)
        return np.stack([lawful & here & (room >= ask.size) for here, room in self._rooms], axis=1)

    def _may_go(self, above: Above, ask: Ask) -> Flags:
        """World -> pod -> whether laws 3, 4, 6 and 7 let it go."""
        below = self.shape.below(self.shape.shared)
        kept = self._within("a") | (self.priority > ask.priority)
        if above.claimed:
            kept |= self._within(below)
        if above.fence:
            kept |= ~self._within(below)
        return (self.size > 0) & ~kept

    @cached_property
    def _rooms(self) -> list[tuple[Flags, Numbers]]:
        """Node -> which sets are on it, and how much is free there without them."""
        here = [self.node == node for node in NODES]
        return [(self._all(pods), self.free[:, [node]] + self._gone(pods)) for node, pods in enumerate(here)]

    @cached_property
    def _others_keep_theirs(self) -> Flags:
        """World -> set -> whether no queue gives of what it is promised: laws 2 and 5."""
        keep = np.ones((len(self.size), len(SETS)), np.bool_)
        for number, name in enumerate(self.shape.others):
            gone = self._gone(self._within(self.shape.below(name)))
            used = gone[:, [-1]]  # all go
            keep &= (gone == 0) | (used - gone >= self.promised[:, [number]])
        return keep

    def _shared(self, above: Above, ask: Ask) -> Flags:
        """World -> set -> whether the queue above keeps what it is promised, with the ask, and its max."""
        gone = self._gone(self._within(self.shape.below(self.shape.shared)))
        most = np.inf if above.spare is None else above.spare + ask.size
        return np.asarray((above.over <= gone) & (gone <= most), np.bool_)

    def kinds(self, chosen: Numbers) -> Numbers:
        """World -> node -> a number that tells whose pods are chosen there, what is free, and how all queues stand."""
        pod = np.searchsorted(["a", "b", "c"], self.leaf) * 4 + self.size * 2 + self.priority
        taken = np.where(self.size > 0, 5**pod, 0) @ HOLDS.T
        used = [self._gone(self._within(leaf))[:, -1] for leaf in self.shape.leaves]
        standing = np.column_stack([*self.promised.T, *used]) @ 10 ** np.arange(self.promised.shape[1] + len(used))
        return np.asarray((standing[:, None] * 2 + self.free) * 5**15 + np.take_along_axis(taken, chosen, axis=1))

    def _within(self, leaves: str) -> Flags:
        return np.isin(self.leaf, list(leaves))

    def _all(self, pods: Flags) -> Flags:
        """World -> set -> whether all in it are among these."""
        return np.asarray(~(HOLDS & ~pods[:, None, :]).any(axis=2), np.bool_)

    def _gone(self, pods: Flags) -> Numbers:
        """World -> set -> what those in it hold that are among these."""
        return np.asarray(np.where(pods, self.size, 0) @ HOLDS.T)
