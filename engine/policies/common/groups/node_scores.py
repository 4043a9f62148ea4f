"""How good each node is for a pod, as kube-scheduler scores them; the highest sum wins.

Sources: the plugins NodeResourcesFit (LeastAllocated), NodeResourcesBalancedAllocation, TaintToleration and
NodeAffinity of kube-scheduler with their default weights. PodTopologySpread, InterPodAffinity and ImageLocality are not
evaluated: they make no difference without preferences about other pods, or images that only some nodes have.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.feasibility.node_rules import matching_terms
from engine.feasibility.selectors import tolerated
from engine.model.collections.offsets import running_sums
from engine.model.columns import pod_fields
from engine.model.columns.departures import DepartingPods
from engine.model.columns.node_columns import Columns, Flags, Numbers
from engine.model.objects import Pod

SCORED = ("cpu", "memory")
"""The resources by which nodes are compared."""
_BEST = 100
_WEIGHT_OF_TAINTS, _WEIGHT_OF_AFFINITY = 3, 2
_Floats = NDArray[np.float64]


class HeldAmounts:
    """What the pods of each node hold of the scored resources, updated as pods come."""

    def __init__(self, columns: Columns, gone: DepartingPods) -> None:
        self.columns = columns
        self.requested: list[Numbers] = [
            columns.held(name) - gone.of(columns.requests(name), columns.requested_upto(name)) for name in SCORED
        ]
        """For each scored resource, by node index: what pods request."""
        self.scored: list[Numbers] = [
            _scored_held(columns, name) - gone.of(_scored_requests(columns, name), _scored_upto(columns, name))
            for name in SCORED
        ]
        """The same, where a container without a request counts as a small one."""

    def bind(self, pod: Pod, place: int) -> None:
        """Let a pending pod come to a node."""
        for name, requested, scored in zip(SCORED, self.requested, self.scored, strict=True):
            requested[place] += pod.requests.get(name, 0)
            scored[place] += _scored(pod, name)


def _scored(pod: Pod, name: str) -> int:
    return (pod.scored_requests or pod.requests).get(name, 0)


def _scored_requests(columns: Columns, name: str) -> Numbers:
    made: Numbers = columns.once(
        "scored", name, lambda: columns.kinds(pod_fields.scored_requests).numbers(lambda pod: _scored(pod, name))
    )
    return made


def _scored_upto(columns: Columns, name: str) -> Numbers:
    made: Numbers = columns.once("scored upto", name, lambda: running_sums(_scored_requests(columns, name)))
    return made


def _scored_held(columns: Columns, name: str) -> Numbers:
    made: Numbers = columns.once("scored held", name, lambda: columns.sums(_scored_requests(columns, name)))
    return made


class NodeScores:
    """The scores of all nodes for pods of one shape."""

    def __init__(self, held: HeldAmounts, pod: Pod) -> None:
        self._held, self._pod, columns = held, pod, held.columns
        self._allocatable = [columns.allocatable(name) for name in SCORED]
        self._repelled: Numbers = columns.of_nodes.numbers(
            lambda node: sum(
                taint.effect == "PreferNoSchedule" and not tolerated(taint, pod.tolerations) for taint in node.taints
            )
        )
        self._liked: Numbers = np.zeros(len(columns.nodes), np.int64)
        for preferred in pod.preferred_affinity:
            self._liked += preferred.weight * matching_terms(columns, (preferred.term,))
        self._alike = not self._repelled.any() and not self._liked.any()
        """Whether the nodes differ only in their amounts."""
        self._by_amounts: Numbers | None = None

    def moved(self, place: int) -> None:
        """Compute the score of one node again, after a pod came to it."""
        if self._by_amounts is not None:
            self._by_amounts[place] = self._of_amounts(slice(place, place + 1))[0]

    def best(self, among: Flags) -> int:
        """Return the index of the best of some nodes, which must not be none; the first of equally good ones."""
        if self._by_amounts is None:
            self._by_amounts = self._of_amounts(slice(None))
        if self._alike:
            return int(np.argmax(np.where(among, self._by_amounts, -1)))
        places = np.flatnonzero(among)
        scores = self._by_amounts[places]
        scores = scores + _WEIGHT_OF_TAINTS * _reversed(self._repelled[places])
        scores = scores + _WEIGHT_OF_AFFINITY * _normalized(self._liked[places])
        return int(places[np.argmax(scores)])

    def _of_amounts(self, places: slice) -> Numbers:
        allocatable = [amounts[places] for amounts in self._allocatable]
        return self._least_allocated(places, allocatable) + self._balanced(places, allocatable)

    def _least_allocated(self, places: slice, allocatable: Sequence[Numbers]) -> Numbers:
        """Return the mean free share of cpu and memory, of what the node has at all, in hundredths, rounded down."""
        total: Numbers = np.zeros(len(allocatable[0]), np.int64)
        counted: Numbers = np.zeros(len(allocatable[0]), np.int64)
        for name, can, scored in zip(SCORED, allocatable, self._held.scored, strict=True):
            held = scored[places] + _scored(self._pod, name)
            total = total + np.where((can > 0) & (held <= can), (can - held) * _BEST // np.maximum(can, 1), 0)
            counted = counted + (can > 0)
        return total // np.maximum(counted, 1)

    def _balanced(self, places: slice, allocatable: Sequence[Numbers]) -> Numbers:
        """Return how much better balanced cpu and memory are with the pod; 0 for a pod that requests neither.

        Computed in floating point, as kube-scheduler does, so that it rounds in the same way.
        """
        if not any(self._pod.requests.get(name) for name in SCORED):
            return np.zeros(len(allocatable[0]), np.int64)
        held = [amounts[places] for amounts in self._held.requested]
        with_pod = [amounts + self._pod.requests.get(name, 0) for name, amounts in zip(SCORED, held, strict=True)]
        gained = _balance(with_pod, allocatable) - _balance(held, allocatable)
        half = (_BEST // 2 + gained) / 2
        return _BEST // 2 + np.trunc(half).astype(np.int64)


def _balance(held: Sequence[Numbers], allocatable: Sequence[Numbers]) -> Numbers:
    """Return how alike the used shares of cpu and memory are, in hundredths; all where a node has only one of them."""
    cpu, memory = (
        np.minimum(1.0, amounts / np.maximum(can, 1)) for amounts, can in zip(held, allocatable, strict=True)
    )
    both = (allocatable[0] > 0) & (allocatable[1] > 0)
    apart: _Floats = np.where(both, np.abs((cpu - memory) / 2), 0.0)
    return np.trunc((1 - apart) * _BEST).astype(np.int64)


def _reversed(numbers: Numbers) -> Numbers:
    largest = int(numbers.max(initial=0))
    return _BEST - _BEST * numbers // largest if largest else np.full(len(numbers), _BEST)


def _normalized(numbers: Numbers) -> Numbers:
    largest = int(numbers.max(initial=0))
    return _BEST * numbers // largest if largest else numbers
