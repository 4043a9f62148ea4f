"""Check the invariants of policy `priority` where groups of pods are placed together and evicted together.

Source: kube-scheduler 1.37 with feature gate GenericWorkload (pkg/scheduler/framework/preemption). Which pods are
protected is this product's own rule.
"""

from collections.abc import Collection, Iterator
from functools import cached_property

import msgspec
import numpy as np

from engine.audit.audit_case import AuditCase, Check, Invariants
from engine.audit.checks import Invariant, InvariantCheck, Line, Relation, amount, differs, same
from engine.audit.priority import may_preempt, not_shielded
from engine.feasibility.plain import refusal
from engine.model.columns import pod_fields
from engine.model.objects import DisruptionMode, Pod, SchedulingGroup
from engine.model.quantities import PODS
from engine.model.snapshot.eviction_units import pod_group_of


def all_may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that the preemptor, or every member of the group that gets a node, is a pending pod that may preempt."""
    each = (may_preempt(msgspec.structs.replace(case, ask=pod)) for pod in _members(case).pods)
    return InvariantCheck.of(Invariant.MAY_PREEMPT, [line for check in each for line in check.sums])


def all_fit(case: AuditCase) -> InvariantCheck:
    """Check that enough members get a node and fit there without the victims, and that nobody else reserved one."""
    members, group = _members(case), case.decision.group
    lines: list[Line] = [same(*members.first_refusal({pod.uid for pod in case.victims}), "")]
    if group:
        bound = sum(1 for _ in bound_pods(case, group.namespace, group.name))
        lines.append(amount(group.key, PODS, bound, Relation.AT_LEAST, group.needed, plus=len(members.pods)))
    for node in dict.fromkeys(members.nodes):
        others = [held for held in case.ledger.reserved_by(node) if held.ask_uid not in case.decision.nodes]
        lines += [same(node, held.ask_uid, "") for held in others]
    return InvariantCheck.of(Invariant.FITS, lines)


def minimal(case: AuditCase) -> InvariantCheck:
    """Check that, with any one unit put back, some member no longer fits.

    Source: the reprieve in SelectVictimsOnDomain of kube-scheduler.
    """
    members, lines = _members(case), list[Line]()
    evicted = {pod.uid for pod in case.victims}
    for unit in victim_units(case):
        back = {pod.uid for pod in unit}
        _, why = members.first_refusal(evicted - back, near={pod.node for pod in unit})
        lines.append(differs(unit[0].key, why, ""))
    return InvariantCheck.of(Invariant.MINIMAL, lines)


def whole_units(case: AuditCase) -> InvariantCheck:
    """Check that there are victims, each bound and listed once, and that of a group that goes whole no pod stays.

    Every unit has a pod on the node of a member, or members may be placed by rules that look at other nodes.
    """
    uids, lines = {pod.uid for pod in case.victims}, list[Line]()
    lines.append(differs(case.ask.key, str(len(case.decision.victims)), "0"))
    lines.append(same(case.ask.key, str(len(uids)), str(len(case.decision.victims))))
    lines += [differs(pod.key, pod.node or "", "") for pod in case.victims]
    for group in {group.key: group for pod in case.victims if (group := whole_group(case, pod))}.values():
        lines += [
            same(pod.key, "stays", "goes")
            for pod in bound_pods(case, group.namespace, group.name)
            if pod.uid not in uids
        ]
    return InvariantCheck.of(Invariant.WHOLE, lines)


def lower_priority(case: AuditCase) -> InvariantCheck:
    """Check that the priority of every victim's group, or its own without a group, is lower than the preemptor's.

    Source: MoreImportantVictim and the selection of units in podgrouppreemption.go of kube-scheduler.
    """
    own = case.decision.group.priority if case.decision.group else case.ask.priority
    lines = []
    for pod in case.victims:
        group = pod_group_of(case.snapshot, pod)
        lines.append(amount(pod.key, "", group.priority if group else pod.priority, Relation.BELOW, own))
    return InvariantCheck.of(Invariant.PRIORITY, lines)


def _members(case: AuditCase) -> "PlacedMembers":
    return PlacedMembers(case, everywhere=bool(case.decision.group))


class PlacedMembers:
    """The pods that a decision places, each on its node, in the order in which they were placed."""

    def __init__(self, case: AuditCase, *, everywhere: bool) -> None:
        """Find the pods. ``everywhere``: whether evicted pods of other nodes are gone as well for each of them."""
        self._case, self._everywhere, nodes = case, everywhere, case.decision.nodes
        self.pods = [pod for uid in nodes if (pod := case.snapshot.pod(uid)) is not None]
        self.nodes = [nodes[pod.uid] for pod in self.pods]

    def first_refusal(self, evicted: Collection[str], near: Collection[str | None] = ()) -> tuple[str, str]:
        """Return a member that does not fit without the evicted pods (uids), and why; empty if all fit.

        ``near``: the nodes whose members are asked first.
        """
        numbers = sorted(range(len(self.pods)), key=lambda number: self.nodes[number] not in near)
        refused = ((self.pods[number].key, self.refused(number, evicted)) for number in numbers)
        return next((found for found in refused if found[1]), (self._case.ask.key, ""))

    def refusal_on(self, nodes: Collection[str | None], evicted: Collection[str]) -> str:
        """Return why one of the members on some nodes does not fit without the evicted pods; empty if all do."""
        there = (number for number, node in enumerate(self.nodes) if node in nodes)
        return next(filter(None, (self.refused(number, evicted) for number in there)), "")

    def refused(self, number: int, evicted: Collection[str]) -> str:
        """Return why a member does not fit without the evicted pods, with those before it placed; empty if it does."""
        node = self._case.ledger.node(self.nodes[number])
        if node is None:
            return "unknown node"
        before, everywhere = self._placed[:number], self._everywhere
        snapshot, pod = self._case.snapshot, self.pods[number]
        why = refusal(snapshot, pod, node, evicted, before, miscounting=not everywhere, everywhere=everywhere)
        return f"{why.reason} {why.detail}".strip() if why else ""

    @cached_property
    def _placed(self) -> list[Pod]:
        pairs = zip(self.pods, self.nodes, strict=True)
        return [msgspec.structs.replace(pod, node=node) for pod, node in pairs]


def victim_units(case: AuditCase) -> list[list[Pod]]:
    """Return the victims, those of a group that goes whole together."""
    units: dict[str, list[Pod]] = {}
    for pod in case.victims:
        group = whole_group(case, pod)
        units.setdefault(group.key if group else pod.uid, []).append(pod)
    return list(units.values())


def whole_group(case: AuditCase, pod: Pod) -> SchedulingGroup | None:
    """Return the group with which a running pod goes or stays as a whole; None: it goes alone."""
    group = pod_group_of(case.snapshot, pod)
    return group if group is not None and group.disruption_mode is DisruptionMode.ALL else None


def bound_pods(case: AuditCase, namespace: str, reference: str) -> Iterator[Pod]:
    """Yield the pods of a group that have a node."""
    columns = case.snapshot.columns
    kinds = case.ledger.once("scheduling groups", lambda: columns.kinds(pod_fields.scheduling_group))
    rows = np.flatnonzero(kinds.flags(lambda pod: (pod.namespace, pod.scheduling_group) == (namespace, reference)))
    yield from (columns.pods[row] for row in rows.tolist())
    yield from (pod for pod in columns.stray if (pod.namespace, pod.scheduling_group) == (namespace, reference))


OF_VICTIMS: tuple[Check, ...] = (lower_priority, not_shielded)
"""The checks on which pods may be victims."""
INVARIANTS = Invariants((all_may_preempt, whole_units, all_fit, minimal, *OF_VICTIMS), OF_VICTIMS)
"""The invariants of `priority` beside groups of pods."""
