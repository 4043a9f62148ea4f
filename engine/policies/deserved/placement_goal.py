"""Checks where a pending pod can have room: on one node, or anywhere in the cluster."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from engine.model.objects import Pod
from engine.model.quantities import Amounts, total
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.shares.share_status import pending_reservations


class SingleNode:
    """One node as the place for the pending pod, checked by all rules that decide whether a pod may run there."""

    def __init__(self, attempt: ReclaimAttempt, place: int) -> None:
        columns = attempt.nodes.columns
        self._spot = attempt.nodes.feasibility.on(place)
        self._leaving = [pod.uid for pod in columns.on(place) if pod.terminating]
        self._wanted = attempt.wanted
        on_node = np.array([place])
        self._free = {name: int(attempt.free_on(name, on_node)[0]) for name in attempt.wanted}

    def lacks(self, gone: Sequence[Pod]) -> bool:
        """Return whether the pending pod does not fit on the node once these pods are evicted."""
        return self._spot.refusal(self._departing(gone)) is not None

    def short(self, gone: Sequence[Pod]) -> Collection[str]:
        """Return the resources of which the node has too little once these pods are evicted.

        If something else prevents the pod from running there, return all requested resources.
        """
        return _short_resources(self._wanted, self._free, gone) or self._wanted

    def helping(self, gone: Sequence[Pod]) -> Callable[[Pod], bool]:
        """Return a function that tells whether evicting another pod would provide some of what is still missing."""
        needed = self._spot.needed(self._departing(gone))
        return lambda pod: needed is None or pod.uid in needed

    def _departing(self, gone: Sequence[Pod]) -> list[str]:
        return [*self._leaving, *(pod.uid for pod in gone)]


class AnyNode:
    """All ready nodes together as the place for the pending pod. The scheduler decides on which of them it runs.

    Source: the proposal of k8s-arbitrator, which leaves fragmentation open and nodes to the scheduler.
    """

    def __init__(self, attempt: ReclaimAttempt) -> None:
        columns = attempt.nodes.columns
        usable = ~columns.not_ready & ~columns.unschedulable
        kept = total(room.requests for room in pending_reservations(attempt.snapshot))
        self._open = frozenset(columns.nodes[place].name for place in np.flatnonzero(usable).tolist())
        self._asked, self._wanted = attempt.ask.requests, attempt.wanted
        self.free: Amounts = {}
        """Requested resource -> the free amount on all open nodes, less what is reserved for other pending pods."""
        for name in self._asked:
            self.free[name] = int(attempt.free[name][usable].sum()) - kept.get(name, 0)

    def lacks(self, gone: Sequence[Pod]) -> bool:
        """Return whether too little of any resource is free once these pods are evicted."""
        return bool(_short_resources(self._asked, self.free, self._freeing(gone)))

    def short(self, gone: Sequence[Pod]) -> Collection[str]:
        """Return the resources of which too little is free once these pods are evicted.

        If enough of all resources is free, return all requested resources.
        """
        return _short_resources(self._wanted, self.free, self._freeing(gone)) or self._wanted

    def helping(self, gone: Sequence[Pod]) -> Callable[[Pod], bool]:
        """Return a function that tells whether evicting another pod would provide some of what is still missing."""
        short = _short_resources(self._asked, self.free, self._freeing(gone))
        return lambda pod: pod.node in self._open and any(pod.requests.get(name, 0) > 0 for name in short)

    def _freeing(self, gone: Sequence[Pod]) -> list[Pod]:
        """Return those of the evicted pods whose nodes accept new pods."""
        return [pod for pod in gone if pod.node in self._open]


PlacementGoal = SingleNode | AnyNode


def _short_resources(wanted: Amounts, free: Amounts, gone: Sequence[Pod]) -> list[str]:
    left = total([free, *(pod.requests for pod in gone)])
    return [name for name, amount in wanted.items() if left.get(name, 0) < amount]
