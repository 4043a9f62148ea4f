"""Check the invariants of policy `fence` for gangs, and where whole groups of running pods are evicted.

Source: the rules of YuniKorn's design document "Preemption". That they hold for the sum of all victims and all members
of a gang, and one by one for what the members claim, is this product's own reading: docs/policies/fence.md.
"""

from collections.abc import Iterator

import msgspec

from engine.audit import fence
from engine.audit.audit_case import AuditCase, AuditTerms, Check, Invariants
from engine.audit.checks import Invariant, InvariantCheck, Line, Relation, amount, differs, same
from engine.audit.units import PlacedMembers, bound_pods, victim_units, whole_group
from engine.model.decision import PodReason, Reason
from engine.model.objects import Pod, SchedulingGroup
from engine.model.quantities import PODS, Amounts, add


def all_may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that every pending member may preempt, that they are of one queue and application, and have waited.

    Only the members that get a node must have waited for their delay.
    """
    group, lines = preemptor(case), [*fence.may_preempt(case).sums]
    if group is None:
        lines.append(same(case.ask.key, "a group" if case.decision.group else "", ""))
        return InvariantCheck.of(Invariant.MAY_PREEMPT, lines)
    known = {pod.uid for pod in waiting(case, group)}
    lines += [same(uid, "pending" if uid in known else "no member", "pending") for uid in case.decision.nodes]
    for pod in waiting(case, group):
        terms = case.terms if pod in case.members else AuditTerms(check_delay=False)
        lines += fence.may_preempt(msgspec.structs.replace(case, ask=pod, terms=terms)).sums
        lines.append(same(pod.key, pod.queue or "", case.ask.queue or ""))
        lines.append(same(pod.key, pod.application, case.ask.application))
        lines.append(same(pod.key, pod.required_node or "", ""))
    lines.append(same(group.key, ", ".join(group.unread_rules), ""))
    return InvariantCheck.of(Invariant.MAY_PREEMPT, lines)


def on_the_nodes(case: AuditCase) -> InvariantCheck:
    """Check that there are victims, each running and listed once, and that each unit has one on a member's node."""
    listed = case.decision.victims
    lines: list[Line] = [differs(case.ask.key, str(len(listed)), "0")]
    lines.append(same(case.ask.key, str(len(case.victims)), str(len(listed))))
    nodes = set(case.decision.nodes.values())
    for unit in victim_units(case):
        lines.append(same(unit[0].key, _first_on(unit, nodes), "on a node"))
        lines += [same(pod.key, "terminating", "running") for pod in unit if pod.uid in case.ledger.leaving_uids]
    return InvariantCheck.of(Invariant.MEMBER_NODES, lines)


def _first_on(unit: list[Pod], nodes: set[str]) -> str:
    return "on a node" if any(pod.node in nodes for pod in unit) else unit[0].node or ""


def whole_units(case: AuditCase) -> InvariantCheck:
    """Check that of a running group that goes whole no pod stays, other than those that are terminating already."""
    going, lines = {pod.uid for pod in case.victims} | case.ledger.leaving_uids, list[Line]()
    groups = {group.key: group for pod in case.victims if (group := whole_group(case, pod)) is not None}
    for group in groups.values():
        pods = bound_pods(case, group.namespace, group.reference)
        lines += [same(pod.key, "goes" if pod.uid in going else "stays", "goes") for pod in pods]
    return InvariantCheck.of(Invariant.WHOLE, lines)


def all_fit(case: AuditCase) -> InvariantCheck:
    """Check that enough members get a node and fit there together without the victims, and that nobody else has it.

    Source: the filters are kube-scheduler's.
    """
    members, lines = PlacedMembers(case, everywhere=True), list[Line]()
    lines.append(same(*members.first_refusal(gone(case)), ""))
    group = preemptor(case)
    if group is not None:
        placed = sum(1 for _ in with_a_node(case, group))
        lines.append(amount(group.key, PODS, placed, Relation.AT_LEAST, group.needed, plus=len(members.pods)))
    for name in dict.fromkeys(members.nodes):
        node = case.ledger.node(name)
        lines.append(same(name, "ready" if node is not None and node.ready else "not ready", "ready"))
        others = [held for held in case.ledger.reserved_by(name) if held.ask_uid not in case.decision.nodes]
        lines += [same(name, held.ask_uid, "") for held in others]
    return InvariantCheck.of(Invariant.FITS, lines)


def minimal(case: AuditCase) -> InvariantCheck:
    """Check that, with any one unit put back, a member on one of its nodes no longer fits there or under a max."""
    members, left = PlacedMembers(case, everywhere=True), gone(case)
    lines: list[Line] = []
    for unit in victim_units(case):
        back = {pod.uid for pod in unit}
        over = next((line for line in fence.caps(case, *unit) if not line.holds), None)
        short = (
            f"{over.subject} {over.resource}" if over else members.refusal_on({pod.node for pod in unit}, left - back)
        )
        lines.append(differs(unit[0].key, short, ""))
    return InvariantCheck.of(Invariant.MINIMAL, lines)


def opt_out(case: AuditCase) -> InvariantCheck:
    """Check invariant 1: pods that opted out are evicted only where the parameters allow it, and the decision says so.

    Source: rule 1 of YuniKorn's design document "Preemption", and its section on priority classes.
    """
    agent = case.terms.last_resort == "daemonset" and case.ask.required_node is not None
    allowed = case.terms.last_resort == "any" or agent
    given = {verdict.pod.uid for verdict in case.decision.victims if verdict.reason is PodReason.LAST_RESORT}
    lines = []
    for pod in (pod for pod in case.victims if pod.opted_out):
        reported = pod.uid in given or case.decision.reason is Reason.LAST_RESORT
        lines.append(same(pod.key, "last-resort" if allowed and reported else "opted-out", "last-resort"))
    return InvariantCheck.of(Invariant.OPT_OUT, lines)


def other_application(case: AuditCase) -> InvariantCheck:
    """Check invariant 3: no victim is of the gang itself, of its application or of its queue.

    Source: rule 3 of YuniKorn's design document "Preemption".
    """
    group, lines = preemptor(case), [*fence.other_application(case).sums]
    if group is not None:
        lines += [
            differs(pod.key, pod.scheduling_group, group.reference)
            for pod in case.victims
            if (pod.namespace, pod.scheduling_group) == (group.namespace, group.reference)
        ]
    return InvariantCheck.of(Invariant.APPLICATION, lines)


def entitled(case: AuditCase) -> InvariantCheck:
    """Check invariant 4 one by one: for each member that would not fit without victims, with those before it placed.

    Each claims a guarantee, and its queues are below the guarantee in all that it claims. No victim is inside a queue
    whose guarantee is claimed. DaemonSet pods are exempt.

    Source: rule 4 of YuniKorn's design document "Preemption".
    """
    lines, before, claimed = list[Line](), Amounts(), set[str]()
    if case.ask.required_node is not None:
        return InvariantCheck.of(Invariant.ENTITLED, [])
    members = PlacedMembers(case, everywhere=True)
    for number, pod in enumerate(members.pods):
        if members.refused(number, case.ledger.leaving_uids):
            claims = case.entitling_of(pod)
            lines.append(differs(pod.key, str(len(claims)), "0"))
            for resource, path in sorted(claims.items()):
                used = case.ledger.claimant_usage(path, resource, *case.members)
                bound, placed = case.tree[path].guaranteed[resource], before.get(resource, 0)
                lines.append(amount(path, resource, used, Relation.BELOW, bound, plus=placed))
            claimed |= set(claims.values())
        before = add(before, pod.requests)
    for path in sorted(claimed):
        lines += fence.located(case, path, Relation.OUTSIDE)
    return InvariantCheck.of(Invariant.ENTITLED, lines)


def lower_or_equal_priority(case: AuditCase) -> InvariantCheck:
    """Check invariant 6: neither a victim nor its whole group has a higher priority than the gang or one of its pods.

    Source: rule 6 of YuniKorn's design document "Preemption".
    """
    group = preemptor(case)
    own = min([pod.priority for pod in case.members or (case.ask,)] + ([group.priority] if group else []))
    lines = [amount(pod.key, "", pod.priority, Relation.AT_MOST, own) for pod in case.victims]
    groups = {found.key: found for pod in case.victims if (found := whole_group(case, pod)) is not None}
    lines += [amount(key, "", found.priority, Relation.AT_MOST, own) for key, found in sorted(groups.items())]
    return InvariantCheck.of(Invariant.PRIORITY, lines)


def preemptor(case: AuditCase) -> SchedulingGroup | None:
    """Return the group that the decision is about, as the snapshot has it; None: it is about a single pod."""
    facts = case.decision.group
    return case.snapshot.groups.get((facts.namespace, facts.reference)) if facts else None


def waiting(case: AuditCase, group: SchedulingGroup) -> Iterator[Pod]:
    """Yield the members that want a node and have none reserved by an earlier decision."""
    for pod in case.snapshot.asks:
        mine = (pod.namespace, pod.scheduling_group) == (group.namespace, group.reference)
        if mine and (pod.uid in case.decision.nodes or pod.uid not in case.ledger.reservations):
            yield pod


def with_a_node(case: AuditCase, group: SchedulingGroup) -> Iterator[str]:
    """Yield the uids of the other members that are bound, or for which an earlier decision reserves a node."""
    bound = {pod.uid for pod in bound_pods(case, group.namespace, group.reference)}
    for pod in case.snapshot.asks:
        mine = (pod.namespace, pod.scheduling_group) == (group.namespace, group.reference)
        if mine and pod.uid in case.ledger.reservations:
            bound.add(pod.uid)
    yield from bound - set(case.decision.nodes)


def gone(case: AuditCase) -> set[str]:
    """Return the uids of the victims and of all terminating pods."""
    return {pod.uid for pod in case.victims} | case.ledger.leaving_uids


OF_VICTIMS: tuple[Check, ...] = (
    fence.guarantee,
    other_application,
    entitled,
    fence.above_guarantee,
    lower_or_equal_priority,
    fence.inside_fence,
    fence.not_disabled,
    fence.not_shielded,
    whole_units,
)
"""The checks on which pods may be victims."""

INVARIANTS = Invariants(
    (all_may_preempt, on_the_nodes, all_fit, fence.under_max, minimal, opt_out, *OF_VICTIMS, fence.progress),
    OF_VICTIMS,
)
"""The invariants of `fence` for gangs and whole groups."""
