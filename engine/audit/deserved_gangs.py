"""Check the invariants of policy ``deserved`` for gangs, and where whole groups of running pods are evicted.

Source: the proposal of k8s-arbitrator, its section on preemption. That its rules hold for the sum of all victims and
all members of a gang, and one by one for what the members need, is this product's own: docs/policies/deserved.md.
"""

from collections.abc import Iterator
from itertools import chain

import msgspec

from engine.audit import deserved, fence, gangs
from engine.audit.audit_case import AuditCase, AuditTerms, Check, Invariants
from engine.audit.checks import Invariant, InvariantCheck, Line, Relation, Sum, amount, differs, same
from engine.audit.deserved import queue_amounts_of, reported_deserved
from engine.audit.safeguards import budgets_kept
from engine.audit.shares.queue_amounts import SYSTEM
from engine.audit.units import PlacedMembers, victim_units, whole_group
from engine.model.objects import Pod
from engine.model.quantities import PODS, Amounts, add


def all_may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that every pending member may preempt, and that they are of one queue.

    Only the members that get a node must have been tried by the scheduler. The queue's delay does not count for them:
    under this policy, it is the grace period of the victims' queues.
    """
    group = gangs.preemptor(case)
    if group is None:
        alone = [*deserved.may_preempt(case).sums, same(case.ask.key, "a group" if case.decision.group else "", "")]
        return InvariantCheck.of(Invariant.MAY_PREEMPT, alone)
    waiting, lines = list(gangs.waiting(case, group)), list[Line]()
    known = {pod.uid for pod in waiting}
    lines += [same(uid, "pending" if uid in known else "no member", "pending") for uid in case.decision.nodes]
    for pod in waiting:
        lines += fence.may_preempt(msgspec.structs.replace(case, ask=pod, terms=AuditTerms(check_delay=False))).sums
        lines.append(same(pod.key, pod.queue or "", case.ask.queue or ""))
        lines.append(same(pod.key, pod.required_node or "", ""))
    lines += [differs(pod.key, "not tried", "not tried") for pod in case.members if pod.unschedulable_ms is None]
    lines.append(same(group.key, ", ".join(group.unread_rules), ""))
    return InvariantCheck.of(Invariant.MAY_PREEMPT, lines)


def under_hard(case: AuditCase) -> InvariantCheck:
    """Check that no queue above the members exceeds its hard limit: usage, less victims, plus all members."""
    return InvariantCheck.of(Invariant.MAX, list(_limits(case)))


def _limits(case: AuditCase, *back: Pod) -> Iterator[Sum]:
    for path in case.preemptor_queues:
        for resource, most in case.ledger.limits[path]:
            if (requested := case.requests.get(resource, 0)) > 0:
                used, taken = queue_amounts_of(case).used(path, resource), case.taken(path, resource, *back)
                yield amount(path, resource, used, Relation.AT_MOST, most, minus=taken, plus=requested)


def minimal(case: AuditCase) -> InvariantCheck:
    """Check that, with any one unit put back, a member on one of its nodes no longer fits, or under a hard limit."""
    members, lines = PlacedMembers(case, everywhere=True), list[Line]()
    for unit in victim_units(case):
        back = {pod.uid for pod in unit}
        over = next((line for line in _limits(case, *unit) if not line.holds), None)
        gone = gangs.gone(case) - back
        short = f"{over.subject} {over.resource}" if over else members.refusal_on({pod.node for pod in unit}, gone)
        lines.append(differs(unit[0].key, short, ""))
    return InvariantCheck.of(Invariant.MINIMAL, lines)


def within_deserved(case: AuditCase) -> InvariantCheck:
    """Check, one by one, that no member that needs victims takes its queue beyond what that deserves.

    The members before it count. One with a priority class that may exceed it is exempt.

    Source: the proposal of k8s-arbitrator: no more than what is deserved may be used.
    """
    each = [(pod, before) for pod, before in _needing_victims(case) if not _urgent(case, pod, before)]
    if not each or not case.preemptor_queues:
        return InvariantCheck.of(Invariant.DESERVED, [])
    leaf = case.preemptor_queues[0]
    lines: list[Line] = [same(leaf, queue_amounts_of(case).wrong(leaf, reported_deserved(case, leaf)), "")]
    lines += chain.from_iterable(_usage_with(case, pod, before) for pod, before in each)
    return InvariantCheck.of(Invariant.DESERVED, lines)


def _needing_victims(case: AuditCase) -> list[tuple[Pod, Amounts]]:
    """Return the members that do not fit without victims, each with what the members before it request."""
    members, before = PlacedMembers(case, everywhere=True), Amounts()
    found = []
    for number, pod in enumerate(members.pods):
        if not case.decision.group or members.refused(number, case.ledger.leaving_uids):
            found.append((pod, before))
        before = add(before, pod.requests)
    return found


def _usage_with(case: AuditCase, pod: Pod, before: Amounts) -> Iterator[Sum]:
    """Yield what a member's queue would use against what it deserves; nothing for the system's namespace."""
    for leaf in case.preemptor_queues[:1] if pod.namespace != SYSTEM else ():
        most = reported_deserved(case, leaf)
        for resource, requested in sorted(pod.requests.items()):
            if requested > 0:
                used, bound = queue_amounts_of(case).used(leaf, resource), most.get(resource, 0)
                yield amount(leaf, resource, used, Relation.AT_MOST, bound, plus=before.get(resource, 0) + requested)


def _urgent(case: AuditCase, pod: Pod, before: Amounts) -> bool:
    """Return whether a member exceeds what its queue deserves and has a priority class that may do so."""
    allowed = pod.priority_class in case.terms.high_priority
    return allowed and not all(line.holds for line in _usage_with(case, pod, before))


def _for_urgent(case: AuditCase, unit: list[Pod]) -> bool:
    """Return whether a unit may go for a member that exceeds what its queue deserves, on one of the unit's nodes."""
    nodes = {case.decision.nodes[pod.uid] for pod, urgent in _urgent_members(case) if urgent}
    return _highest(case, unit) < _own_priority(case) and any(pod.node in nodes for pod in unit)


def _urgent_members(case: AuditCase) -> list[tuple[Pod, bool]]:
    """Return the members that need victims, each with whether it exceeds what its queue deserves."""
    return [(pod, _urgent(case, pod, before)) for pod, before in _needing_victims(case)]


def _own_priority(case: AuditCase) -> int:
    """Return the lowest priority among the gang and its pods, or that of the single pod."""
    group = gangs.preemptor(case)
    pods = (*case.members, *(gangs.waiting(case, group) if group else ()))
    priorities: list[int] = [pod.priority for pod in pods or (case.ask,)] + ([group.priority] if group else [])
    return min(priorities)


def _highest(case: AuditCase, unit: list[Pod]) -> int:
    """Return the highest priority among the pods of a unit and its whole group."""
    group = whole_group(case, unit[0])
    priorities: list[int] = [pod.priority for pod in unit] + ([group.priority] if group else [])
    return max(priorities)


def _reclaimed(case: AuditCase) -> list[list[Pod]]:
    """Return the units whose queues have to give back: none if all members exceed what their queue deserves.

    Otherwise, all that may not go for one of those that do.
    """
    urgent = [is_so for _pod, is_so in _urgent_members(case)]
    if urgent and all(urgent):
        return []
    return [unit for unit in victim_units(case) if not (any(urgent) and _for_urgent(case, unit))]


def lower_priority(case: AuditCase) -> InvariantCheck:
    """Check that members that all exceed what their queue deserves preempt only units of lower priority.

    Where only some do, a unit of another queue than an overused one has to be lower, which ``overused`` checks.
    """
    urgent = [is_so for _pod, is_so in _urgent_members(case)]
    units = victim_units(case) if urgent and all(urgent) else []
    own = _own_priority(case)
    lines = [amount(unit[0].key, "", _highest(case, unit), Relation.BELOW, own) for unit in units]
    return InvariantCheck.of(Invariant.PRIORITY, lines)


def overused(case: AuditCase) -> InvariantCheck:
    """Check that the queue of each victim used more than it deserves of something that the victim holds.

    So did the queues above it that are not above the members. What counts is requested, on the nodes of the victim's
    unit, by members that do not exceed what their queue deserves.

    Source: the term overused of the proposal of k8s-arbitrator.
    """
    lines: list[Line] = []
    for unit in _reclaimed(case):
        names = _requested_near(case, unit)
        for leaf in dict.fromkeys(pod.queue or "" for pod in unit):
            held = [pod for pod in unit if pod.queue == leaf]
            lines += _overused(case, leaf, [name for name in names if any(pod.requests.get(name, 0) for pod in held)])
    return InvariantCheck.of(Invariant.OVERUSED, list(dict.fromkeys(lines)))


def _requested_near(case: AuditCase, unit: list[Pod]) -> list[str]:
    """Return what members within their deserved share request on a unit's nodes; ``pods`` if nothing else is."""
    nodes = {pod.node for pod in unit}
    beyond = {pod.uid for pod, urgent in _urgent_members(case) if urgent}
    near = [pod for pod in case.members if pod.uid not in beyond and case.decision.nodes[pod.uid] in nodes]
    names = sorted({name for pod in near for name, quantity in pod.requests.items() if quantity > 0})
    return [name for name in names if name != PODS] or names


def _overused(case: AuditCase, leaf: str, names: list[str]) -> Iterator[Line]:
    amounts = queue_amounts_of(case)
    own = [path for path in case.tree.lineage(leaf) if path not in case.preemptor_queues] if leaf in case.tree else []
    for path in own:
        yield same(path, amounts.wrong(path, reported_deserved(case, path)), "")
    over = {
        name: [
            amount(path, name, amounts.used(path, name), Relation.ABOVE, reported_deserved(case, path).get(name, 0))
            for path in own
        ]
        for name in names
    }
    best = next((lines for lines in over.values() if all(line.holds for line in lines)), None)
    if best is None:
        best = next(iter(over.values()), [])
        yield same(leaf, "", "overused")
    yield from best


def reserved(case: AuditCase) -> InvariantCheck:
    """Check that no queue ends below its reserved amount, or, if it contains the members, no further below.

    Source: the section on preemption of the proposal of k8s-arbitrator.
    """
    amounts, lines = queue_amounts_of(case), []
    for path in case.above_victims:
        queue = case.tree[path]
        for resource, promised in case.ledger.promises[path]:
            if taken := case.taken(path, resource):
                used = amounts.used(path, resource)
                added = case.requests.get(resource, 0) if path in case.preemptor_queues else 0
                bound = min(promised, queue.max.get(resource, promised))
                bound = min(bound, used) if path in case.preemptor_queues else bound
                lines.append(amount(path, resource, used, Relation.AT_LEAST, bound, minus=taken, plus=added))
    return InvariantCheck.of(Invariant.GUARANTEE, lines)


def notified_in_time(case: AuditCase) -> InvariantCheck:
    """Check that each victim's queue was notified at least its grace period ago, but for members that exceed theirs.

    Source: the grace period in the proposal of k8s-arbitrator.
    """
    leaves = dict.fromkeys(pod.queue or "" for unit in _reclaimed(case) for pod in unit)
    return InvariantCheck.of(Invariant.NOTIFIED, [same(leaf, deserved.grace(case, leaf), "over") for leaf in leaves])


def other_queue(case: AuditCase) -> InvariantCheck:
    """Check that no victim is of the members' own queue or of the gang itself."""
    group, lines = gangs.preemptor(case), [*deserved.other_queue(case).sums]
    if group is not None:
        own = ((pod, (pod.namespace, pod.scheduling_group)) for pod in case.victims)
        reference = group.namespace, group.reference
        lines += [differs(pod.key, group.key, group.key) for pod, of in own if of == reference]
    return InvariantCheck.of(Invariant.APPLICATION, lines)


OF_VICTIMS: tuple[Check, ...] = (
    reserved,
    overused,
    notified_in_time,
    budgets_kept,
    deserved.no_system_victims,
    deserved.opt_out,
    other_queue,
    lower_priority,
    fence.inside_fence,
    fence.not_disabled,
    fence.not_shielded,
    gangs.whole_units,
)
"""The checks on which pods may be victims."""

INVARIANTS = Invariants(
    (all_may_preempt, gangs.on_the_nodes, gangs.all_fit, under_hard, minimal, within_deserved, *OF_VICTIMS),
    OF_VICTIMS,
)
"""The invariants of ``deserved`` for gangs and whole groups."""
