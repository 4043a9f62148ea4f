"""Repeat a decision of any policy, with a change to a pod, a queue or the pending pod."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from engine.model.collections.overlay import PatchedSequence
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.policy_types import Decide

_MOST_TRIES = 24
"""Largest number of decisions for one counterfactual: even with 5,000 nodes they take less than a second."""
_LARGE = 20_000
"""Number of pods above which deciding again takes some tenths of a second, so that fewer changes are tried."""
_TRIES, _FEW = 48, 4
Made = TypeVar("Made")


class Tries:
    """How often a decision may still be made again for one counterfactual."""

    def __init__(self, left: int = _MOST_TRIES) -> None:
        self.left = left

    def take(self) -> bool:
        """Use up one more decision and return whether there was one left."""
        self.left -= 1
        return self.left >= 0


class Again:
    """One pending pod of a snapshot under a tree, and how a policy decides about it if something changes."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, decide: Decide) -> None:
        self.snapshot = snapshot.without_reservation(ask.uid)
        self.tree, self.ask, self._decide = tree, ask, decide
        self._made: dict[str, Any] = {}

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """Return what was made under a key, and make it the first time."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def seeing(self, snapshot: Snapshot) -> "Again":
        """Return the same attempt for another snapshot."""
        return Again(snapshot, self.tree, self.ask, self._decide)

    def tries(self) -> Tries:
        """Return how often the policy may decide again to find one counterfactual."""
        return Tries(_TRIES if len(self.snapshot.pods) <= _LARGE else _FEW)

    def as_it_was(self) -> Decision:
        """Return the decision without any change."""
        return self._decide(self.snapshot, self.tree, self.ask)

    def ask_with(self, **changes: Any) -> Decision:
        """Return the decision for a changed pending pod."""
        return self._decide(self.snapshot, self.tree, msgspec.structs.replace(self.ask, **changes))

    def pod_with(self, uid: str, **changes: Any) -> Decision:
        """Return the decision with another pod changed."""
        place = next(place for place, pod in enumerate(self.snapshot.pods) if pod.uid == uid)
        changed = msgspec.structs.replace(self.snapshot.pods[place], **changes)
        pods = PatchedSequence(self.snapshot.pods, {place: changed})
        return self._decide(msgspec.structs.replace(self.snapshot, pods=pods), self.tree, self.ask)

    def queue_with(self, path: str, **changes: Any) -> Decision:
        """Return the decision with changed settings of a queue."""
        return self._decide(self.snapshot, self.tree_with(path, **changes), self.ask)

    def tree_with(self, path: str, **changes: Any) -> QueueTree:
        """Return the tree with changed settings of a queue."""
        changed = {**self.tree.queues, path: msgspec.structs.replace(self.tree[path], **changes)}
        return QueueTree(changed.values(), self.tree.placement)


Decided = TypeVar("Decided")
"""The type of a decision that depends on a number."""


def least(
    low: int,
    high: int,
    decided: Callable[[int], Decided],
    does: Callable[[Decided], bool],
    tries: Tries,
    guess: int,
) -> int | None:
    """Return the least number above ``low``, up to ``high``, for which the decision satisfies ``does``.

    All higher numbers are assumed to satisfy it too, and ``low`` not to. Returns None if not even ``high`` does, or if
    no number was found within ``tries``. ``guess`` is tried first, and then the number below it.
    """
    if low < guess <= high and tries.take() and does(decided(guess)):
        high = guess
        if guess - 1 == low or (tries.take() and not does(decided(guess - 1))):
            return guess
    elif high <= low or not tries.take() or not does(decided(high)):
        return None
    while high - low > 1:
        if not tries.take():
            return None
        middle = (low + high) // 2
        low, high = (low, middle) if does(decided(middle)) else (middle, high)
    return high
