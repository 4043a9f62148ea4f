"""Inter-pod affinity and anti-affinity: pods that the pod must be near, and pods that must be kept apart from it.

Source: kube-scheduler's plugin InterPodAffinity.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from engine.feasibility.amount_checks import Nominated, zeros_by_node
from engine.feasibility.checks import AmountCheck, Check, CountedTopology, RuleCheck
from engine.feasibility.selectors import term_selects
from engine.model.columns.node_columns import Columns, Flags, Numbers
from engine.model.decision import NodeReason
from engine.model.objects import AffinityTerm, Pod
from engine.model.snapshot import Snapshot


def affinity_checks(
    snapshot: Snapshot, pod: Pod, nominated: Nominated, expected: Iterable[Pod] = ()
) -> Iterator[Check]:
    """Yield the checks of the pod's affinity, then of its anti-affinity, then of other pods' anti-affinity.

    ``expected``: pods that are on no node yet, but may come to one while the checks are used.
    """
    yield from _near(snapshot, pod, nominated)
    yield from _apart(snapshot, pod, nominated)
    yield from _repelling_checks(snapshot, pod, nominated, expected)


def _near(snapshot: Snapshot, pod: Pod, nominated: Nominated) -> Iterator[Check]:
    """Yield the checks that the topology of each term contains a pod that matches all terms.

    If no pod in the cluster matches, and the pending pod itself would, it may be the first of its kind.
    """
    columns = snapshot.columns
    if not pod.affinity:
        return

    def is_near(other: Pod) -> bool:
        return all(is_selected(snapshot, term, other) for term in pod.affinity)

    keys = dict.fromkeys(term.topology_key for term in pod.affinity)
    for key in keys:
        if key not in columns.of_nodes.label_keys:
            yield RuleCheck(NodeReason.POD_AFFINITY, np.ones(len(columns.nodes), np.bool_), key)
            return
        yield RuleCheck(NodeReason.POD_AFFINITY, columns.label(key)[0] < 0, key)
    near = columns.pod_kinds.flags(is_near)
    every = sum((_counting(columns, near, key) for key in keys), start=np.int64(0))
    first = is_near(pod)
    labelled = [columns.label(key)[0] >= 0 for key in keys]
    for key in keys:
        weight = -_counting(columns, near, key)
        yield AmountCheck(
            NodeReason.POD_AFFINITY,
            key,
            held=_in_topology(columns, key, weight),
            cap=zeros_by_node(columns) - 1,
            weight=weight,
            added={place: -sum(map(is_near, pods)) for place, pods in nominated.items()},
            times=lambda other: -int(is_near(other)),
            mends=True,
            unless=int(np.sum(every)) if first else None,
            unless_weight=np.asarray(every),
            unless_times=lambda other, place: is_near(other) * sum(bool(there[place]) for there in labelled),
            topology=CountedTopology(numbers=columns.label(key)[0]),
        )


def _apart(snapshot: Snapshot, pod: Pod, nominated: Nominated) -> Iterator[AmountCheck]:
    columns = snapshot.columns
    for key in dict.fromkeys(term.topology_key for term in pod.anti_affinity):
        if key in columns.of_nodes.label_keys:
            terms = tuple(term for term in pod.anti_affinity if term.topology_key == key)
            yield _none_of(columns, NodeReason.ANTI_AFFINITY, key, nominated, _SelectedByTerms(snapshot, terms))


class _SelectedByTerms:
    """Counts how many of the pending pod's terms, of one topology, select a pod."""

    def __init__(self, snapshot: Snapshot, terms: tuple[AffinityTerm, ...]) -> None:
        self.snapshot, self.terms = snapshot, terms

    def column(self, columns: Columns) -> Numbers:
        return columns.pod_kinds.small_numbers(self)

    def __call__(self, other: Pod) -> int:
        return sum(is_selected(self.snapshot, term, other) for term in self.terms)


class _RepellingTerms:
    """Counts how many of a pod's anti-affinity terms, of one topology, keep the pending pod away."""

    def __init__(self, snapshot: Snapshot, pod: Pod, key: str) -> None:
        self.pod, self.key = pod, key
        self.about = snapshot.namespaces.get(pod.namespace, {})

    def column(self, columns: Columns) -> Numbers:
        return columns.anti_kinds.small_numbers(self)

    def __call__(self, other: Pod) -> int:
        pod = self.pod
        terms = (term for term in other.anti_affinity if term.topology_key == self.key)
        return sum(term_selects(term, pod.namespace, pod.labels, self.about) for term in terms)


def _repelling_checks(
    snapshot: Snapshot, pod: Pod, nominated: Nominated, expected: Iterable[Pod]
) -> Iterator[AmountCheck]:
    """Yield the checks that no other pod's anti-affinity keeps the pending pod out.

    If neither the pending pod nor a running pod has a rule, kube-scheduler ignores the rules of nominated pods as well.
    """
    columns = snapshot.columns
    with_terms = [kind for kind in columns.anti_kinds.there if kind.anti_affinity]
    coming = [other for pods in nominated.values() for other in pods if other.anti_affinity]
    holders = (*with_terms, *coming, *expected)
    keys = dict.fromkeys(term.topology_key for holder in holders for term in holder.anti_affinity)
    keys = {key: None for key in keys if key in columns.of_nodes.label_keys}
    limits = [
        _none_of(columns, NodeReason.KEPT_OUT, key, nominated, _RepellingTerms(snapshot, pod, key))
        for key in sorted(keys)
    ]
    repels = any(limit.weight.any() or any(map(limit.times, expected)) for limit in limits)
    if pod.affinity or pod.anti_affinity or repels:
        yield from limits


def _none_of(
    columns: Columns, reason: NodeReason, key: str, nominated: Nominated, times: _SelectedByTerms | _RepellingTerms
) -> AmountCheck:
    """Return the check that no counted pod is in the node's topology; a node without the label is in no topology."""
    weight = times.column(columns)
    labelled = columns.label(key)[0] >= 0
    if not labelled.all():
        weight = np.where(labelled[columns.node], weight, 0)
    added = {place: sum(map(times, pods)) for place, pods in nominated.items() if labelled[place]}
    return AmountCheck(
        reason,
        key,
        held=_in_topology(columns, key, weight),
        cap=zeros_by_node(columns),
        weight=weight,
        added=added,
        times=times,
        topology=CountedTopology(numbers=columns.label(key)[0]),
    )


def is_selected(snapshot: Snapshot, term: AffinityTerm, other: Pod) -> bool:
    """Return whether a term of the pending pod selects another pod.

    kube-scheduler also tests namespaces as if they had no labels: a namespace selector that matches the empty set of
    labels therefore matches every namespace.
    """
    about = snapshot.namespaces.get(other.namespace, {})
    return any(term_selects(term, other.namespace, other.labels, labels) for labels in (about, {}))


def _counting(columns: Columns, flags: Flags, key: str) -> Numbers:
    """Return, by row, 1 for pods with the flag whose node has the label, else 0."""
    return (flags & (columns.label(key)[0] >= 0)[columns.node]).astype(np.int64)


def _in_topology(columns: Columns, key: str, weight: Numbers) -> Numbers:
    """Return, by node index, the sum of the weights of all pods in its topology; 0 if the node lacks the label."""
    numbers, values = columns.label(key)
    by_topology: Any = np.zeros(len(values) + 1, np.int64)  # the last entry is for nodes without the label
    rows = np.flatnonzero(weight != 0)
    np.add.at(by_topology, numbers[columns.node[rows]], weight[rows])
    by_topology[-1] = 0
    held: Numbers = by_topology[numbers]
    return held
