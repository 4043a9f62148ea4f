"""Topology spread: how much the numbers of pods in zones, or on nodes, may differ.

Source: kube-scheduler's plugin PodTopologySpread. It does not count terminating pods, yet subtracts them when it tries
what would be without them; and it counts no pod for an empty selector, yet subtracts every pod. ``miscounting`` does
the same.
"""

from collections.abc import Iterator

import numpy as np

from engine.feasibility.amount_checks import Nominated, nominated_sums, zeros_by_node
from engine.feasibility.checks import AmountCheck, Check, CountedTopology, RuleCheck
from engine.feasibility.node_rules import node_selection_checks, repelling_taint
from engine.feasibility.selectors import selects
from engine.model.columns.node_columns import Columns, Flags, Numbers
from engine.model.decision import NodeReason
from engine.model.objects import Pod, SpreadConstraint

NO_CAP = np.iinfo(np.int64).max // 2


def spread_checks(columns: Columns, pod: Pod, nominated: Nominated, *, miscounting: bool) -> Iterator[Check]:
    """Yield, for each constraint, a check of the label that nodes must have and a limit of pods per topology."""
    if not pod.spread:
        return
    labelled = np.ones(len(columns.nodes), np.bool_)
    for constraint in pod.spread:
        labelled &= columns.label(constraint.topology_key)[0] >= 0
    for constraint in pod.spread:
        missing = columns.label(constraint.topology_key)[0] < 0
        yield RuleCheck(NodeReason.SPREAD_KEY, missing, constraint.topology_key)
        if missing.all():
            return
        counted = labelled & _counted(columns, pod, constraint)
        yield _limit(columns, pod, constraint, counted, nominated, miscounting=miscounting)


def _counted(columns: Columns, pod: Pod, constraint: SpreadConstraint) -> Flags:
    """Return, by node index, whether pods there count."""
    counted = np.ones(len(columns.nodes), np.bool_)
    if constraint.honor_affinity:
        for rule in node_selection_checks(columns, pod):
            counted &= ~rule.refused
    if constraint.honor_taints:
        counted &= columns.of_nodes.flags(lambda node: repelling_taint(pod, node) is None)
    return counted


def _limit(
    columns: Columns,
    pod: Pod,
    constraint: SpreadConstraint,
    counted: Flags,
    nominated: Nominated,
    *,
    miscounting: bool,
) -> AmountCheck:
    def counts(other: Pod) -> bool:
        return other.namespace == pod.namespace and selects(constraint.selector, other.labels)

    numbers, values = columns.label(constraint.topology_key)
    leaving = columns.pod_kinds.flags(counts)
    if not counted.all():
        leaving &= counted[columns.node]
    staying = leaving & ~columns.terminating
    if constraint.selector == ():
        staying = np.zeros(len(columns.pods), np.bool_)
    by_topology = np.bincount(numbers[columns.node[np.flatnonzero(staying)]], minlength=len(values))
    known = np.zeros(len(values), np.bool_)
    known[numbers[counted]] = True
    counts_itself = selects(constraint.selector, pod.labels)

    def caps(by_topology: Numbers) -> Numbers:
        least = _least_elsewhere(by_topology, known) if known.sum() >= constraint.min_domains else 0 * by_topology
        cap = np.where(numbers >= 0, least[numbers], NO_CAP) if len(values) else zeros_by_node(columns)
        return np.minimum(cap, NO_CAP) + constraint.max_skew - counts_itself

    return AmountCheck(
        NodeReason.SPREAD,
        constraint.topology_key,
        held=np.where(numbers >= 0, by_topology[numbers], 0) if len(values) else zeros_by_node(columns),
        cap=caps(by_topology),
        weight=(leaving if miscounting else staying).view(np.int8),
        added=nominated_sums({place: pods for place, pods in nominated.items() if counted[place]}, counts),
        times=lambda other: int(constraint.selector != () and not other.terminating and counts(other)),
        back=lambda other: int(counts(other)),
        topology=CountedTopology(numbers=numbers, counted=counted, caps=caps),
    )


def _least_elsewhere(by_topology: Numbers, known: Flags) -> Numbers:
    """Return, by topology, the least number of pods in another known topology; NO_CAP if there is no other."""
    least = np.full(len(by_topology), NO_CAP)
    order = np.flatnonzero(known)[np.argsort(by_topology[known], kind="stable")]
    if len(order):
        least[:] = by_topology[order[0]]
        least[order[0]] = by_topology[order[1]] if len(order) > 1 else NO_CAP
    return least
