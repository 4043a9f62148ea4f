"""The checks of one pod while other pods come to any node, or leave it, one after the other."""

import numpy as np

from engine.feasibility.checks import AmountCheck, RuleCheck
from engine.feasibility.node_feasibility import Feasibility
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.objects import Pod


class MovingChecks:
    """Where a pod can run, updated pod by pod. In contrast to ``Feasibility``, pods leave all nodes at once.

    ``gone``: the pods that are gone at the beginning. ``closed``: by node index, whether the pod is kept out whatever
    its checks say.
    """

    def __init__(self, feasibility: Feasibility, gone: DepartingPods, closed: Flags | None = None) -> None:
        self.shape = feasibility
        columns = self._columns = feasibility.columns
        refused = np.zeros(len(columns.nodes), np.bool_) if closed is None else closed
        for check in feasibility.checks:
            if isinstance(check, RuleCheck):
                refused = refused | check.refused
        self.open: Flags = ~refused
        """By node index, whether the pod may run there as far as it does not depend on other pods."""
        self._amounts = [_MovingAmount(check, gone) for check in feasibility.checks if isinstance(check, AmountCheck)]
        self.local = all(amount.check.topology is None for amount in self._amounts)
        """Whether pods of other nodes make no difference to a node."""
        self.mends = any(amount.check.mends for amount in self._amounts)
        """Whether a pod that leaves can keep the pod from a node."""
        self._allowed: Flags | None = None

    def allowed(self) -> Flags:
        """Return, by node index, whether the pod can run there now. The caller must not change it."""
        if self._allowed is None:
            self._allowed = self.open.copy()
            for amount in self._amounts:
                self._allowed &= ~amount.exceeded()
        return self._allowed

    def allowed_on(self, place: int) -> bool:
        """Return whether the pod can run on one node now."""
        return bool(self.open[place]) and not any(amount.exceeded_on(place) for amount in self._amounts)

    def bind(self, pod: Pod, place: int, times: int = 1) -> None:
        """Let a pending pod come to a node, or take it away again (``times`` -1)."""
        for amount in self._amounts:
            amount.move(pod, place, times * amount.check.times(pod), times)
        self._moved(place)

    def put_back(self, pod: Pod, place: int, times: int) -> None:
        """Let a pod that is gone come back to its node (``times`` 1), or go again (-1)."""
        for amount in self._amounts:
            amount.move(pod, place, times * amount.check.back(pod), times)
        self._moved(place)

    def _moved(self, place: int) -> None:
        if self._allowed is not None and self.local:
            self._allowed[place] = self.allowed_on(place)
        else:
            self._allowed = None

    def left_of(self, limit: AmountCheck) -> Numbers:
        """Return, by node index, what is left of a limit of the nodes; negative where the pod has no room."""
        return next(amount for amount in self._amounts if amount.check is limit).left()

    def counted_elsewhere(self) -> Flags:
        """Return, by row, whether a bound pod may make a difference to other nodes than its own."""
        counted = np.zeros(len(self._columns.pods), np.bool_)
        for amount in self._amounts:
            if amount.check.topology is not None:
                counted |= (amount.check.weight != 0) | self._columns.terminating
        return counted

    def left_on(self, place: int) -> list[tuple[Numbers, int]]:
        """Return the limits of a node where pods of other nodes make no difference.

        Each item is the weights of the bound pods (by row), and what is left of the limit.
        """
        return [(amount.check.weight, amount.left_on(place)) for amount in self._amounts]


class _MovingAmount:
    """A limit, with what is held of it at each node, or in each topology."""

    def __init__(self, check: AmountCheck, gone: DepartingPods) -> None:
        self.check, topology = check, check.topology
        freed = gone.of(check.weight, check.upto)
        self._cap: Numbers = check.cap
        self._topology: Rows | None = None if topology is None else topology.numbers
        if topology is None:
            self._held: Numbers = check.held - freed
        else:
            self._held = self._by_topology(check.held, freed)
        self._recap()
        self._unless = check.unless
        if check.unless is not None:
            self._unless = check.unless - int(gone.of(check.unless_weight).sum())
        self._added = check.more() if check.added else None

    def _by_topology(self, held: Numbers, freed: Numbers) -> Numbers:
        assert self._topology is not None
        there = self._topology >= 0
        by_topology = np.zeros(int(self._topology.max(initial=-1)) + 2, held.dtype)  # the last is for nodes in none
        by_topology[self._topology[there]] = held[there]
        np.subtract.at(by_topology, self._topology[there], freed[there])
        return by_topology

    def _recap(self) -> None:
        if self.check.topology is not None and self.check.topology.caps is not None:
            self._cap = self.check.topology.caps(self._held[:-1])

    def _at_nodes(self) -> Numbers:
        return self._held if self._topology is None else self._held[self._topology]

    def exceeded(self) -> Flags:
        if self._unless is not None and self._unless <= 0:
            return np.zeros(len(self._cap), np.bool_)
        held = self._at_nodes()
        over = np.asarray(held > self._cap, np.bool_)
        return over if self._added is None else over | np.asarray(held + self._added > self._cap, np.bool_)

    def exceeded_on(self, place: int) -> bool:
        if self._unless is not None and self._unless <= 0:
            return False
        held = self._held[place if self._topology is None else self._topology[place]]
        more = 0 if self._added is None else max(0, self._added[place])
        return bool(held + more > self._cap[place])

    def left(self) -> Numbers:
        left = self._cap - self._at_nodes()
        return left if self._added is None else left - np.maximum(0, self._added)

    def left_on(self, place: int) -> int:
        more = 0 if self._added is None else max(0, int(self._added[place]))
        return int(self._cap[place]) - int(self._held[place]) - more

    def move(self, pod: Pod, place: int, weight: int, times: int) -> None:
        check, topology = self.check, self.check.topology
        if check.unless_times is not None and self._unless is not None:
            self._unless += times * check.unless_times(pod, place)
        if not weight or (topology is not None and topology.counted is not None and not topology.counted[place]):
            return
        at = place if self._topology is None else self._topology[place]
        if at >= 0:
            self._held[at] += weight
            self._recap()
