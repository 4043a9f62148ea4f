"""Checks of what pods compete for on a node: resources, host ports, and claims that one pod at a time may use.

Sources: kube-scheduler's plugins NodeResourcesFit, NodePorts and VolumeRestrictions.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from engine.feasibility.checks import AmountCheck, Check, CountedTopology, RuleCheck
from engine.model.columns.node_columns import Columns, Numbers
from engine.model.decision import NodeReason
from engine.model.objects import ANY_ADDRESS, HostPort, Pod
from engine.model.quantities import PODS
from engine.model.snapshot import Snapshot

Nominated = Mapping[int, tuple[Pod, ...]]
"""Node index -> the pods nominated to the node that the pending pod must leave room for."""


def nominated_sums(nominated: Nominated, amount: Callable[[Pod], int]) -> dict[int, int]:
    """Return, by node index, the sum of an amount over the pods nominated there."""
    return {place: sum(map(amount, pods)) for place, pods in nominated.items()}


def zeros_by_node(columns: Columns) -> Numbers:
    """Return an array of zeros with one entry per node."""
    return np.zeros(len(columns.nodes), np.int64)


def port_checks(columns: Columns, pod: Pod, nominated: Nominated) -> Iterator[Check]:
    """Yield the check that none of the host ports that the pod wants is taken."""
    if not pod.host_ports:
        return

    def conflicts(other: Pod) -> int:
        return sum(_conflict(port, used) for port in pod.host_ports for used in other.host_ports)

    weight = columns.port_kinds.small_numbers(conflicts)
    yield AmountCheck(
        NodeReason.HOST_PORT,
        ", ".join(str(port.port) for port in pod.host_ports),
        held=columns.sums(weight),
        cap=zeros_by_node(columns),
        weight=weight,
        added=nominated_sums(nominated, conflicts),
        times=conflicts,
    )


def _conflict(port: HostPort, used: HostPort) -> bool:
    any_address = ANY_ADDRESS in (port.ip, used.ip)
    same = (port.port, port.protocol) == (used.port, used.protocol)
    return same and (any_address or port.ip == used.ip)


def resource_checks(columns: Columns, pod: Pod, nominated: Nominated) -> Iterator[Check]:
    """Yield the checks of every resource that the pod requests, the number of pods first.

    Of the resources that no node has, only the first is checked.
    """
    requested = [name for name, amount in pod.requests.items() if amount > 0]
    known = [name for name in requested if name in columns.of_nodes.resources or name == PODS]
    unknown = min((name for name in requested if name not in columns.of_nodes.resources and name != PODS), default=None)
    ordered = sorted((name != PODS, name) for name in (*known, unknown) if name is not None)
    for _, name in ordered:
        if name != PODS:
            too_small = np.asarray(columns.allocatable(name) < pod.requests[name], np.bool_)
            yield RuleCheck(NodeReason.TOO_SMALL, too_small, name)
    for _, name in ordered:
        if name == unknown:
            continue
        yield AmountCheck(
            NodeReason.INSUFFICIENT,
            name,
            held=columns.held(name),
            cap=columns.allocatable(name) - pod.requests[name],
            weight=columns.requests(name),
            upto=columns.requested_upto(name),
            added=nominated_sums(nominated, partial(_requested, name)),
            times=partial(_requested, name),
        )


def _requested(resource: str, pod: Pod) -> int:
    return pod.requests.get(resource, 0)


def claim_checks(snapshot: Snapshot, pod: Pod, nominated: Nominated, *, miscounting: bool) -> Iterator[Check]:
    """Yield the check of claims with access mode ReadWriteOncePod, which one pod at a time may use.

    ``miscounting``: as in kube-scheduler, a pod of another namespace that has a claim of the same name counts as
    leaving that claim.
    """
    columns = snapshot.columns
    exclusive = {
        name
        for name in pod.claims
        if (claim := snapshot.claims.get((pod.namespace, name))) is not None and claim.exclusive
    }
    if not exclusive:
        return
    used = {
        name for other in columns.pods if other.namespace == pod.namespace for name in other.claims if name in exclusive
    }
    if not used:
        return

    def names_used(other: Pod) -> int:
        return sum(name in exclusive for name in other.claims)

    def uses(other: Pod) -> int:
        return names_used(other) if miscounting or other.namespace == pod.namespace else 0

    yield AmountCheck(
        NodeReason.CLAIM_IN_USE,
        ", ".join(sorted(used)),
        held=zeros_by_node(columns) + len(used),
        cap=zeros_by_node(columns),
        weight=columns.claim_kinds.small_numbers(uses),
        added=nominated_sums(nominated, uses),
        times=uses,
        back=names_used,
        topology=CountedTopology(numbers=np.zeros(len(columns.nodes), np.intp)),
    )
