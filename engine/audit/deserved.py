"""Check the invariants of policy ``deserved``, with deserved amounts calculated independently of that policy.

Source: the proposal of k8s-arbitrator, its section on preemption.
"""

from collections.abc import Iterator
from itertools import chain

import msgspec

from engine.audit import fence
from engine.audit.audit_case import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Invariant, InvariantCheck, Line, Relation, Sum, amount, differs, same
from engine.audit.node_room import node_refusal
from engine.audit.safeguards import budgets_kept
from engine.audit.shares.queue_amounts import SYSTEM, QueueAmounts
from engine.model.objects import Pod
from engine.model.quantities import PODS
from engine.model.snapshot import Reservation


def queue_amounts_of(case: AuditCase) -> QueueAmounts:
    """Return what queues use and deserve, calculated once per decision."""
    known: dict[str, QueueAmounts] = case.__dict__
    if "queue_amounts" not in known:
        known["queue_amounts"] = QueueAmounts(case.ledger, *case.members, alone=case.terms.method == "proportional")
    return known["queue_amounts"]


def may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that the pending pod may preempt, as under ``fence``, but without the queue's delay.

    Under this policy the delay is the grace period of the victims' queue, in which it can give back by itself.
    """
    at_once = msgspec.structs.replace(case, terms=msgspec.structs.replace(case.terms, check_delay=False))
    return fence.may_preempt(at_once)


def on_nodes(case: AuditCase) -> InvariantCheck:
    """Check that there are victims, all running and none terminating; on one node if ``node_fit`` is set."""
    if case.terms.node_fit:
        return fence.one_node(case)
    lines = [differs(case.ask.key, str(len(case.decision.victims)), "0")]
    lines.append(same(case.ask.key, str(len(case.victims)), str(len(case.decision.victims))))
    for pod in case.victims:
        lines.append(differs(pod.key, pod.node or "", ""))
        lines += [same(pod.key, "terminating", "running")] if pod.uid in case.ledger.leaving_uids else []
    return InvariantCheck.of(Invariant.ONE_NODE, lines)


def pod_fits(case: AuditCase) -> InvariantCheck:
    """Check that, without the victims, the pending pod fits on the node; without ``node_fit``, into the cluster."""
    return fence.pod_fits(case) if case.terms.node_fit else InvariantCheck.of(Invariant.FITS, list(_cluster_room(case)))


def minimal(case: AuditCase) -> InvariantCheck:
    """Check that, with any one victim put back, the pending pod no longer fits or a queue exceeds its hard limit."""
    return InvariantCheck.of(Invariant.MINIMAL, [differs(pod.key, _short(case, pod), "") for pod in case.victims])


def _short(case: AuditCase, back: Pod) -> str:
    """Return the first thing that is short with the victim ``back`` put back; empty if nothing is."""
    lines = _limits(case, back) if case.terms.node_fit else chain(_cluster_room(case, back), _limits(case, back))
    short = next((f"{line.subject} {line.resource}".strip() for line in lines if not line.holds), "")
    if short or not case.terms.node_fit or case.node is None:
        return short
    refused = node_refusal(case, back)
    return f"{refused.reason} {refused.detail}".strip() if refused else ""


def under_hard(case: AuditCase) -> InvariantCheck:
    """Check that no queue above the pending pod exceeds its hard limit: usage, less victims, plus the pending pod."""
    return InvariantCheck.of(Invariant.MAX, list(_limits(case)))


def _limits(case: AuditCase, back: Pod | None = None) -> Iterator[Sum]:
    amounts = queue_amounts_of(case)
    for path in case.preemptor_queues:
        for resource, most in case.ledger.limits[path]:
            requested = case.ask.requests.get(resource, 0)
            if requested > 0:
                used, taken = amounts.used(path, resource), case.taken(path, resource, back)
                yield amount(path, resource, used, Relation.AT_MOST, most, minus=taken, plus=requested)


def _cluster_room(case: AuditCase, *back: Pod) -> Iterator[Sum]:
    """Yield, for each requested resource, what all nodes can hold less what remains on them, against the request."""
    nodes = [node for node in case.snapshot.nodes if node.ready and not node.unschedulable]
    names = {node.name for node in nodes}
    leaving = {pod.uid for pod in case.victims} - {pod.uid for pod in back} | case.ledger.leaving_uids
    reserved_requests = [reservation.requests for reservation in _open_reservations(case)]
    staying = [pod.requests for pod in case.snapshot.pods if pod.node in names and pod.uid not in leaving]
    for resource, requested in sorted(case.ask.requests.items()):
        if requested > 0:
            allocatable = sum(node.allocatable.get(resource, 0) for node in nodes)
            held = sum(requests.get(resource, 0) for requests in (*staying, *reserved_requests))
            yield amount("", resource, allocatable, Relation.AT_LEAST, requested, minus=(held,))


def _open_reservations(case: AuditCase) -> list[Reservation]:
    """Return the reservations of other pending pods that are not bound yet."""
    reservations = (reservation for reservation in case.snapshot.reservations if reservation.ask_uid != case.ask.uid)
    with_pods = ((reservation, case.snapshot.pod(reservation.ask_uid)) for reservation in reservations)
    return [reservation for reservation, pod in with_pods if pod is None or pod.node is None]


def deserved(case: AuditCase) -> InvariantCheck:
    """Check that the pending pod's queue does not exceed what it deserves, unless the pod outranks that limit.

    Source: the proposal of k8s-arbitrator: no more than what is deserved may be used.
    """
    if not case.preemptor_queues or outranks(case):
        return InvariantCheck.of(Invariant.DESERVED, [])
    leaf = case.preemptor_queues[0]
    lines: list[Line] = [same(leaf, queue_amounts_of(case).wrong(leaf, reported_deserved(case, leaf)), "")]
    return InvariantCheck.of(Invariant.DESERVED, lines + list(_usage_with_preemptor(case)))


def outranks(case: AuditCase) -> bool:
    """Return whether the pending pod exceeds what its queue deserves and has a priority class that may do so."""
    return case.ask.priority_class in case.terms.high_priority and not all(
        line.holds for line in _usage_with_preemptor(case)
    )


def _usage_with_preemptor(case: AuditCase) -> Iterator[Sum]:
    """Yield what the pending pod's queue would use against what it deserves; nothing for the system's namespace."""
    amounts = queue_amounts_of(case)
    for leaf in case.preemptor_queues[:1] if case.ask.namespace != SYSTEM else ():
        most = reported_deserved(case, leaf)
        for resource, requested in sorted(case.ask.requests.items()):
            if requested > 0:
                used = amounts.used(leaf, resource)
                yield amount(leaf, resource, used, Relation.AT_MOST, most.get(resource, 0), plus=requested)


def reported_deserved(case: AuditCase, path: str) -> dict[str, int]:
    """Return what a queue deserves according to the decision.

    These figures are exact; ``QueueAmounts.wrong`` verifies them to within rounding.
    """
    return next((figures.deserved for figures in case.decision.trace.deserved if figures.queue == path), {})


def overused(case: AuditCase) -> InvariantCheck:
    """Check that a victim's queue, and those above it, used more of some requested resource than they deserve.

    Only queues that are not above the pending pod too are checked. A queue may end below what it deserves, as pods
    cannot be divided.

    Source: the term overused of the proposal of k8s-arbitrator.
    """
    if outranks(case):
        return InvariantCheck.of(Invariant.OVERUSED, [])
    lines: list[Line] = []
    for leaf in case.victims_by_leaf:
        own_queues = [path for path in case.tree.lineage(leaf) if path not in case.preemptor_queues]
        lines += [
            same(path, queue_amounts_of(case).wrong(path, reported_deserved(case, path)), "") for path in own_queues
        ]
        by_resource = [[_over(case, path, resource) for path in own_queues] for resource in _requested_resources(case)]
        lines += next(
            (sums for sums in by_resource if all(check.holds for check in sums)), by_resource[0] if by_resource else []
        )
    return InvariantCheck.of(Invariant.OVERUSED, lines)


def _requested_resources(case: AuditCase) -> list[str]:
    """Return the resources that the pending pod requests, without ``pods`` unless it requests nothing else."""
    requested = sorted(name for name, quantity in case.ask.requests.items() if quantity > 0)
    return [name for name in requested if name != PODS] or requested


def _over(case: AuditCase, path: str, resource: str) -> Sum:
    """Return a line that compares what a queue uses with what it deserves."""
    used, most = queue_amounts_of(case).used(path, resource), reported_deserved(case, path).get(resource, 0)
    return amount(path, resource, used, Relation.ABOVE, most)


def reserved(case: AuditCase) -> InvariantCheck:
    """Check that no queue ends below its reserved amount, or, if it contains the pending pod, no further below.

    Source: the section on preemption of the proposal of k8s-arbitrator.
    """
    amounts, lines = queue_amounts_of(case), []
    for path in case.above_victims:
        queue = case.tree[path]
        for resource, promised in case.ledger.promises[path]:
            taken = case.taken(path, resource)
            if taken:
                used = amounts.used(path, resource)
                added = case.ask.requests.get(resource, 0) if path in case.preemptor_queues else 0
                bound = min(promised, queue.max.get(resource, promised))
                bound = min(bound, used) if added else bound
                lines.append(amount(path, resource, used, Relation.AT_LEAST, bound, minus=taken, plus=added))
    return InvariantCheck.of(Invariant.GUARANTEE, lines)


def notified_in_time(case: AuditCase) -> InvariantCheck:
    """Check that each victim's queue was notified at least its grace period ago; not for a pod that outranks others.

    Source: the grace period in the proposal of k8s-arbitrator.
    """
    leaves = () if outranks(case) else case.victims_by_leaf
    return InvariantCheck.of(Invariant.NOTIFIED, [same(leaf, grace(case, leaf), "over") for leaf in leaves])


def grace(case: AuditCase, leaf: str) -> str:
    """Return whether a queue's grace period is ``over``; a queue with no grace period needs no notice."""
    notified_ms, now_ms = case.snapshot.notices.get(leaf), case.snapshot.now_ms
    over = now_ms - (now_ms if notified_ms is None else notified_ms) >= case.tree.delay_ms(leaf, inherited=True)
    return "over" if over else "not told" if notified_ms is None else "in grace"


def no_system_victims(case: AuditCase) -> InvariantCheck:
    """Check that no victim is in the cluster's own namespace."""
    lines: list[ComparedValues] = [differs(pod.key, SYSTEM, SYSTEM) for pod in case.victims if pod.namespace == SYSTEM]
    return InvariantCheck.of(Invariant.SYSTEM, lines)


def opt_out(case: AuditCase) -> InvariantCheck:
    """Check that no victim opted out; reclaiming what a queue deserves does not justify that."""
    return InvariantCheck.of(
        Invariant.OPT_OUT, [differs(pod.key, "opted-out", "opted-out") for pod in case.victims if pod.opted_out]
    )


def other_queue(case: AuditCase) -> InvariantCheck:
    """Check that no victim is of the preemptor's own queue."""
    return InvariantCheck.of(
        Invariant.APPLICATION, [differs(pod.key, pod.queue or "", case.ask.queue or "") for pod in case.victims]
    )


def lower_priority(case: AuditCase) -> InvariantCheck:
    """Check that a pod that exceeds what its queue deserves preempts only pods of lower priority."""
    victims = case.victims if outranks(case) else ()
    highest = case.ask.priority
    return InvariantCheck.of(
        Invariant.PRIORITY, [amount(pod.key, "", pod.priority, Relation.BELOW, highest) for pod in victims]
    )


OF_VICTIMS: tuple[Check, ...] = (
    reserved,
    overused,
    notified_in_time,
    budgets_kept,
    no_system_victims,
    opt_out,
    other_queue,
    lower_priority,
    fence.inside_fence,
    fence.not_disabled,
    fence.not_shielded,
)
"""The checks on which pods may be victims."""

ALL: tuple[Check, ...] = (may_preempt, on_nodes, pod_fits, under_hard, minimal, deserved, *OF_VICTIMS)
"""Every check of policy ``deserved``."""

OF_DIALECT: tuple[Check, ...] = (reserved, budgets_kept, no_system_victims)
"""What a decision by Volcano's rules, and its own shares, is held to."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
INVARIANTS_OF_DIALECT = Invariants(OF_DIALECT, OF_VICTIMS)
"""Of Volcano's own decisions."""
