"""Check the invariants of policy `fence`, one function each, in exact integers and from the rules alone.

Source: the rules of YuniKorn's design document "Preemption", read for several resources and levels as
docs/policies/fence.md says.
"""

from collections.abc import Iterator

import msgspec

from engine.audit.audit_case import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Invariant, InvariantCheck, Line, Relation, Sum, amount, differs, same
from engine.audit.node_room import node_refusal
from engine.feasibility import unsupported_rules
from engine.model.decision import PodReason, Reason
from engine.model.objects import YUNIKORN_SCHEDULER, GroupKind, Node, Pod, group_reference, referenced_group
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, QueueTree


def may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that the preemptor is a pending pod of a leaf, may preempt, and that all that matters for it was read."""
    pod, key = case.ask, case.ask.key
    state = "bound" if pod.node is not None else "terminating" if pod.terminating else "pending"
    in_leaf = pod.queue is not None and pod.queue in case.tree and case.tree.is_leaf(pod.queue)
    lines = [
        same(key, state, "pending"),
        differs(key, "Never" if pod.never_preempts else "PreemptLowerPriority", "Never"),
        same(key, ", ".join(unsupported_rules(case.snapshot, pod)), ""),
        same(key, "leaf" if in_leaf else "no leaf", "leaf"),
    ]
    lines += [same(key, f"unread in {path}", "") for path in _unknown(case)]
    lines += [same(key, f"in the place of {other.key}", "") for other in _placeholders(case)]
    if case.terms.check_delay and in_leaf:
        lines.append(same(key, _waited(case, pod.queue or ""), "waited"))
    return InvariantCheck.of(Invariant.MAY_PREEMPT, lines)


def _placeholders(case: AuditCase) -> list[Pod]:
    """Return the placeholders of the pod's application that YuniKorn starts before it, or that it takes the place of.

    Source: Application.Schedule of yunikorn-k8shim, and Application.canReplace of yunikorn-core.
    """
    pod = case.ask
    if pod.scheduler != YUNIKORN_SCHEDULER or referenced_group(pod.scheduling_group)[0] is GroupKind.YUNIKORN:
        return []
    reference = group_reference(GroupKind.YUNIKORN, pod.application)
    return [
        other
        for other in case.snapshot.pods
        if (other.namespace, other.scheduling_group) == (pod.namespace, reference)
        and not other.terminating
        and ((other.node is None and other.task_groups) or (other.node and other.task_group == pod.task_group != ""))
    ]


def _waited(case: AuditCase, leaf: str) -> str:
    """Return whether the pending pod's delay is over: ``waited``, ``waits``, or ``not tried``.

    The delay counts from when the scheduler first found no room for the pod.
    """
    if case.ask.unschedulable_ms is None:
        return "not tried"
    over = case.snapshot.now_ms - case.ask.unschedulable_ms >= case.tree.delay_ms(leaf)
    return "waited" if over else "waits"


def _unknown(case: AuditCase) -> list[str]:
    """Return the queues that matter for the preemptor and contain pods that cannot be read.

    These are its leaf, and the queues above it that have a guarantee or a max.
    """
    unread = case.snapshot.unread_for(case.ask)
    return [
        path
        for path in (case.preemptor_queues if unread else ())
        if any(path in case.queues_above(pod) for pod in unread)
        and (path == case.ask.queue or case.tree[path].guaranteed or case.tree[path].max)
    ]


def one_node(case: AuditCase) -> InvariantCheck:
    """Check that there are victims, all bound to the decision's node, each listed once, and none terminating.

    Source: the section on the preemption logic of YuniKorn's design document "Preemption": no preemption across nodes.
    """
    node, listed, leaving = case.decision.node or "", case.decision.victims, case.ledger.leaving_uids
    known = {pod.uid: pod for pod in case.victims}
    lines = [differs(node, str(len(listed)), "0")]
    for verdict in listed:
        pod = known.get(verdict.pod.uid)
        lines.append(same(verdict.pod.key, (pod.node if pod else None) or "", node))
        if pod and pod.uid in leaving:
            lines.append(same(pod.key, "terminating", "running"))
    twice = len(listed) - len({verdict.pod.uid for verdict in listed})
    lines.append(same(node, str(twice), "0"))
    return InvariantCheck.of(Invariant.ONE_NODE, lines)


def pod_fits(case: AuditCase) -> InvariantCheck:
    """Check that, without the victims, the pending pod fits on the node, and no other pod has reserved the node.

    Source: the section on the preemption logic of YuniKorn's design document "Preemption"; the filters are
    kube-scheduler's.
    """
    if case.node is None:
        return InvariantCheck.of(Invariant.FITS, [same(case.decision.node or "", "unknown", "known")])
    refused = node_refusal(case)
    lines: list[Line] = [*case.resource_lines]
    lines.append(same(case.node.name, "ready" if case.node.ready else "not ready", "ready"))
    lines.append(same(case.node.name, f"{refused.reason} {refused.detail}".strip() if refused else "", ""))
    others = [held for held in case.ledger.reserved_by(case.node.name) if held.ask_uid != case.ask.uid]
    lines += [same(case.node.name, held.ask_uid, case.ask.uid) for held in others]
    return InvariantCheck.of(Invariant.FITS, lines)


def under_max(case: AuditCase) -> InvariantCheck:
    """Check that the queues above the preemptor stay within their max: usage, less victims, plus the pending pod."""
    return InvariantCheck.of(Invariant.MAX, list(caps(case)))


def caps(case: AuditCase, *back: Pod) -> Iterator[Sum]:
    """Yield a line for every max above the preemptor, without the victims except those put ``back``."""
    limits, requests = case.ledger.limits, case.requests
    for path in case.preemptor_queues:
        for resource, cap in limits[path]:
            requested = requests.get(resource, 0)
            if requested > 0:
                used = case.ledger.claimant_usage(path, resource, *case.members)
                taken = case.taken(path, resource, *back)
                yield amount(path, resource, used, Relation.AT_MOST, cap, minus=taken, plus=requested)


def minimal(case: AuditCase) -> InvariantCheck:
    """Check that, with any one victim put back, the pending pod no longer fits on the node or under a max."""
    if case.node is None:
        return InvariantCheck.of(Invariant.MINIMAL, [])
    back = zip(case.keys, case.victims, strict=True)
    return InvariantCheck.of(Invariant.MINIMAL, [differs(key, _short(case, case.node, pod), "") for key, pod in back])


def _short(case: AuditCase, node: Node, back: Pod) -> str:
    """Return the first thing that is short with the victim ``back`` put back on the node; empty if nothing is."""
    kept_requests = back.requests if back.node == node.name and back.uid not in case.ledger.leaving_uids else {}
    for line in case.resource_lines:
        if line.result - kept_requests.get(line.resource, 0) < line.bound:
            return f"{line.subject} {line.resource}"
    short = next((line for line in caps(case, back) if not line.holds), None)
    if short:
        return f"{short.subject} {short.resource}"
    refused = node_refusal(case, back)
    return str(refused.reason) if refused else ""


def guarantee(case: AuditCase) -> InvariantCheck:
    """Check invariant 2: no queue that loses victims ends below its guarantee.

    In a queue that contains the preemptor too, its request is added, and usage may be below the guarantee if it does
    not decrease.

    Source: rule 2 of YuniKorn's design document "Preemption".
    """
    lines, own_queues = [], case.preemptor_queues
    for taking in case.takings:
        shared = taking.path in own_queues
        added = case.requests.get(taking.resource, 0) if shared else 0
        bound = min(taking.promised, taking.used) if shared else taking.promised
        lines.append(
            amount(taking.path, taking.resource, taking.used, Relation.AT_LEAST, bound, minus=taking.taken, plus=added)
        )
    return InvariantCheck.of(Invariant.GUARANTEE, lines)


def above_guarantee(case: AuditCase) -> InvariantCheck:
    """Check invariant 5: every queue that contains only victims is above its guarantee in all that is taken from it.

    Source: rule 5 of YuniKorn's design document "Preemption".
    """
    own_queues = case.preemptor_queues
    lines = [
        amount(taking.path, taking.resource, taking.used, Relation.ABOVE, taking.promised)
        for taking in case.takings
        if taking.path not in own_queues
    ]
    return InvariantCheck.of(Invariant.ABOVE_GUARANTEE, lines)


def other_application(case: AuditCase) -> InvariantCheck:
    """Check invariant 3: no victim is of the preemptor's own application, nor of its own queue.

    Source: rule 3 of YuniKorn's design document "Preemption".
    """
    preemptor, lines = case.ask, []
    own_queue, own_application = preemptor.queue or "", f"{preemptor.namespace}/{preemptor.application}"
    for key, pod in zip(case.keys, case.victims, strict=True):
        lines.append(differs(key, pod.queue or "", own_queue))
        lines.append(differs(key, f"{pod.namespace}/{pod.application}", own_application))
    return InvariantCheck.of(Invariant.APPLICATION, lines)


def entitled(case: AuditCase) -> InvariantCheck:
    """Check invariant 4: the preemptor's side is below its guarantee in all that it claims, and loses no pods itself.

    DaemonSet pods are exempt.

    Source: rule 4 of YuniKorn's design document "Preemption".
    """
    if case.ask.required_node is not None:
        return InvariantCheck.of(Invariant.ENTITLED, [])
    claims = case.entitling
    lines: list[Line] = [differs(case.ask.key, str(len(claims)), "0")]
    for resource, path in sorted(claims.items()):
        used = case.ledger.claimant_usage(path, resource, case.ask)
        lines.append(amount(path, resource, used, Relation.BELOW, case.tree[path].guaranteed[resource]))
    for path in sorted(set(claims.values())):
        lines += located(case, path, Relation.OUTSIDE)
    return InvariantCheck.of(Invariant.ENTITLED, lines)


def located(case: AuditCase, queue: str, relation: Relation) -> Iterator[ComparedValues]:
    """Yield lines that compare where each victim is with the subtree of a queue."""
    inside, wanted = {pod.uid for pod in case.victims_within(queue)}, relation is Relation.INSIDE
    for key, pod in zip(case.keys, case.victims, strict=True):
        holds = (pod.uid in inside) is wanted
        yield ComparedValues(subject=key, left=pod.queue or "", relation=relation, right=queue, holds=holds)


def lower_or_equal_priority(case: AuditCase) -> InvariantCheck:
    """Check invariant 6: no victim has a higher Kubernetes priority than the preemptor.

    Priority offsets of queues do not count.

    Source: rule 6 of YuniKorn's design document "Preemption".
    """
    own, victims = case.ask.priority, zip(case.keys, case.victims, strict=True)
    lines = [amount(key, "", pod.priority, Relation.AT_MOST, own) for key, pod in victims]
    return InvariantCheck.of(Invariant.PRIORITY, lines)


def inside_fence(case: AuditCase) -> InvariantCheck:
    """Check invariant 7: all victims are in the subtree of the nearest fence above the preemptor.

    The preemptor's leaf itself may be the fence. On the root, the setting has no effect.

    Source: rule 7 of YuniKorn's design document "Preemption", and its section on fences.
    """
    fences = case.ledger.queues_with_policy(PreemptionPolicy.FENCE)
    nearest = next((path for path in case.preemptor_queues if path in fences), None) if fences else None
    lines = [] if nearest is None else list(located(case, nearest, Relation.INSIDE))
    return InvariantCheck.of(Invariant.FENCE, lines)


def not_disabled(case: AuditCase) -> InvariantCheck:
    """Check that neither the preemptor nor a victim is in or below a queue that disables preemption.

    Source: preemption.policy in the section on queue configuration of YuniKorn's design document "Preemption"; for
    preemptors it is this product's own reading.
    """
    lines, disabled = list[ComparedValues](), case.ledger.queues_with_policy(PreemptionPolicy.DISABLED)
    for pod in (case.ask, *case.victims) if disabled else ():
        lines += [differs(pod.key, path, path) for path in case.queues_above(pod) if path in disabled]
    return InvariantCheck.of(Invariant.DISABLED, lines)


def not_shielded(case: AuditCase) -> InvariantCheck:
    """Check that no victim is protected, of no queue, or of a DaemonSet, which would recreate it on the same node."""
    lines = [
        differs(pod.key, "no queue", "no queue")
        for pod in case.victims
        if pod.queue is None or pod.queue not in case.tree
    ]
    lines += [same(pod.key, str(pod.shield), "") for pod in case.victims if pod.shield]
    lines += [differs(pod.key, "DaemonSet", "DaemonSet") for pod in case.victims if pod.daemonset]
    return InvariantCheck.of(Invariant.SHIELDED, lines)


def opt_out(case: AuditCase) -> InvariantCheck:
    """Check invariant 1: pods that opted out are evicted only as the last resort.

    The parameter ``last_resort`` must allow it, no other set of victims may suffice, and the decision must give this
    reason.

    Source: rule 1 of YuniKorn's design document "Preemption", and its section on priority classes.
    """
    unwilling = [pod for pod in case.victims if pod.opted_out]
    if not unwilling:
        return InvariantCheck.of(Invariant.OPT_OUT, [])
    allowed = case.terms.last_resort == "any" or (
        case.terms.last_resort == "daemonset" and case.ask.required_node is not None
    )
    last_resort_uids = {verdict.pod.uid for verdict in case.decision.victims if verdict.reason is PodReason.LAST_RESORT}
    needed = not _unneeded(case)
    lines = []
    for pod in unwilling:
        reported = pod.uid in last_resort_uids or case.decision.reason is Reason.LAST_RESORT
        state = (
            "last-resort" if allowed and needed and reported else "not-needed" if allowed and reported else "opted-out"
        )
        lines.append(same(pod.key, state, "last-resort"))
    return InvariantCheck.of(Invariant.OPT_OUT, lines)


def _unneeded(case: AuditCase) -> bool:
    """Return whether evicting all permitted pods of the node that did not opt out would satisfy the invariants.

    Returns False where a queue's priority settings may have reduced the candidates, as the audit cannot know.
    """
    if case.ledger.once("priority settings", lambda: _has_priority_settings(case.tree)):
        return False
    alone = (
        msgspec.structs.replace(case, victims=(pod,))
        for pod in case.on_node
        if not pod.opted_out and pod.uid not in case.ledger.leaving_uids
    )
    willing = tuple(single.victims[0] for single in alone if all(check(single).holds for check in OF_VICTIMS))
    together = msgspec.structs.replace(case, victims=willing)
    return all(check(together).holds for check in (*OF_VICTIMS, pod_fits, under_max))


def _has_priority_settings(tree: QueueTree) -> bool:
    queues = tree.queues.values()
    return any(queue.priority_policy is PriorityPolicy.FENCE or queue.priority_offset for queue in queues)


def progress(case: AuditCase) -> InvariantCheck:
    """Check invariant 8: the total shortfall below guarantees falls in some resource and rises in none.

    DaemonSet pods are exempt.

    Source: rules 2, 4 and 5 of YuniKorn's design document "Preemption", from which it follows, and its section on
    loops.
    """
    if case.ask.required_node is not None:
        return InvariantCheck.of(Invariant.PROGRESS, [])
    ledger, before, requests = case.ledger, _shortfalls(case), case.requests
    more = {(taking.path, taking.resource): -sum(taking.taken) for taking in case.takings}
    for path in case.preemptor_queues:
        for resource, _ in ledger.promises[path]:
            more[path, resource] = more.get((path, resource), 0) + requests.get(resource, 0)
    after = dict(before)
    for (path, resource), added in more.items():
        lacks = case.tree[path].guaranteed[resource] - ledger.settled(path, resource, *case.members)
        after[resource] += max(0, lacks - added) - max(0, lacks)
    falls = any(after[resource] < shortfall for resource, shortfall in before.items())
    relation = Relation.AT_MOST if falls else Relation.BELOW
    lines = [
        amount("", resource, after[resource], Relation.BELOW if after[resource] < shortfall else relation, shortfall)
        for resource, shortfall in sorted(before.items())
    ]
    check = InvariantCheck.of(Invariant.PROGRESS, lines)
    return check if falls else msgspec.structs.replace(check, holds=False)


def _shortfalls(case: AuditCase) -> dict[str, int]:
    """Return a map: resource -> how far all queues together are below their guarantees.

    Reservations for this preemptor are not counted.
    """
    ledger = case.ledger
    shortfalls = dict(ledger.shortfalls)
    for path in case.reserved_queues:
        for resource, promised in ledger.promises[path]:
            without, known = ledger.settled(path, resource, *case.members), ledger.settled(path, resource)
            shortfalls[resource] += max(0, promised - without) - max(0, promised - known)
    return shortfalls


OF_VICTIMS: tuple[Check, ...] = (
    guarantee,
    other_application,
    entitled,
    above_guarantee,
    lower_or_equal_priority,
    inside_fence,
    not_disabled,
    not_shielded,
)
"""The checks on which pods may be victims."""

ON_NODE: tuple[Check, ...] = (pod_fits, minimal)
"""The checks on the room that a decision makes on its node."""

OF_OTHERS: tuple[Check, ...] = (
    under_max,
    opt_out,
    *(check for check in OF_VICTIMS if check is not not_shielded),
    progress,
)
"""The checks for decisions of other schedulers, wherever their victims were."""

ALL: tuple[Check, ...] = (may_preempt, one_node, pod_fits, under_max, minimal, opt_out, *OF_VICTIMS, progress)
"""Every check of policy `fence`."""

OF_DIALECT: tuple[Check, ...] = tuple(check for check in ALL if check not in (may_preempt, not_shielded))
"""What a decision by another scheduler's rules is held to: who may preempt, and whom we protect, it need not know."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
INVARIANTS_OF_DIALECT = Invariants(OF_DIALECT, OF_VICTIMS)
"""Of YuniKorn's own decisions."""
