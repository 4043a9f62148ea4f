"""The laws of the policy ``deserved``: what is given back, by whom, to whom, counted here anew."""

from collections.abc import Iterator
from itertools import chain

import msgspec

from engine.audit import fence
from engine.audit.audit_state import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Law, LawCheck, Line, Relation, Sum, amount, differs, same
from engine.audit.queue_amounts import SYSTEM, QueueAmounts
from engine.audit.safeguards import budgets_kept
from engine.feasibility.plain import refusal
from engine.model.objects import Pod
from engine.model.quantities import PODS
from engine.model.snapshot import Reservation


def standing_of(case: AuditCase) -> QueueAmounts:
    """Where the queues stand, worked out once for a decision."""
    known: dict[str, QueueAmounts] = case.__dict__
    if "standing" not in known:
        known["standing"] = QueueAmounts(case.ledger, case.ask, alone=case.terms.method == "proportional")
    return known["standing"]


def may_preempt(case: AuditCase) -> LawCheck:
    """As under ``fence``; the queue's delay is that of its victims, who are given it to give back by themselves."""
    at_once = msgspec.structs.replace(case, terms=msgspec.structs.replace(case.terms, check_delay=False))
    return fence.may_preempt(at_once)


def on_nodes(case: AuditCase) -> LawCheck:
    """All victims, at least one, run and stay so far; all on the decision's node, unless that does not matter."""
    if case.terms.node_fit:
        return fence.one_node(case)
    lines = [differs(case.ask.key, str(len(case.decision.victims)), "0")]
    lines.append(same(case.ask.key, str(len(case.victims)), str(len(case.decision.victims))))
    for pod in case.victims:
        lines.append(differs(pod.key, pod.node or "", ""))
        lines += [same(pod.key, "terminating", "running")] if pod.uid in case.ledger.leaving_uids else []
    return LawCheck.of(Law.ONE_NODE, lines)


def ask_fits(case: AuditCase) -> LawCheck:
    """With the victims gone the ask fits on the node; or, where no node matters, into the cluster."""
    return fence.ask_fits(case) if case.terms.node_fit else LawCheck.of(Law.FITS, list(_room(case)))


def minimal(case: AuditCase) -> LawCheck:
    """Whichever one victim is put back, the ask no longer fits, or a queue above it would exceed its hard limit."""
    return LawCheck.of(Law.MINIMAL, [differs(pod.key, _short(case, pod), "") for pod in case.victims])


def _short(case: AuditCase, back: Pod) -> str:
    """Names the first thing that is short with this victim put back; empty when nothing is."""
    lines = _hard(case, back) if case.terms.node_fit else chain(_room(case, back), _hard(case, back))
    short = next((f"{line.subject} {line.resource}".strip() for line in lines if not line.holds), "")
    if short or not case.terms.node_fit or case.node is None:
        return short
    refused = refusal(case.snapshot, case.ask, case.node, case.gone(back))
    return f"{refused.reason} {refused.detail}".strip() if refused else ""


def under_hard(case: AuditCase) -> LawCheck:
    """With the ask, and without the victims below, no queue above it exceeds its hard limit."""
    return LawCheck.of(Law.MAX, list(_hard(case)))


def _hard(case: AuditCase, back: Pod | None = None) -> Iterator[Sum]:
    standing = standing_of(case)
    for path in case.above_ask:
        for resource, most in case.ledger.limits[path]:
            wanted = case.ask.requests.get(resource, 0)
            if wanted > 0:
                used, gone = standing.used(path, resource), case.taken(path, resource, back)
                yield amount(path, resource, used, Relation.AT_MOST, most, minus=gone, plus=wanted)


def _room(case: AuditCase, *back: Pod) -> Iterator[Sum]:
    """For each resource of the ask: what all nodes can hold, less what stays, against the request."""
    nodes = [node for node in case.snapshot.nodes if node.ready and not node.unschedulable]
    names = {node.name for node in nodes}
    gone = {pod.uid for pod in case.victims} - {pod.uid for pod in back} | case.ledger.leaving_uids
    kept = [room.requests for room in _kept(case)]
    staying = [pod.requests for pod in case.snapshot.pods if pod.node in names and pod.uid not in gone]
    for resource, wanted in sorted(case.ask.requests.items()):
        if wanted > 0:
            there = sum(node.allocatable.get(resource, 0) for node in nodes)
            held = sum(requests.get(resource, 0) for requests in (*staying, *kept))
            yield amount("", resource, there, Relation.AT_LEAST, wanted, minus=(held,))


def _kept(case: AuditCase) -> list[Reservation]:
    """The room that other asks wait for."""
    others = (room for room in case.snapshot.reservations if room.ask_uid != case.ask.uid)
    asks = ((room, case.snapshot.pod(room.ask_uid)) for room in others)
    return [room for room, ask in asks if ask is None or ask.node is None]


def deserved(case: AuditCase) -> LawCheck:
    """With the ask its queue has no more than it deserves, but for an ask of high priority."""
    if not case.above_ask or outranks(case):
        return LawCheck.of(Law.DESERVED, [])
    leaf = case.above_ask[0]
    lines: list[Line] = [same(leaf, standing_of(case).wrong(leaf, _told(case, leaf)), "")]
    return LawCheck.of(Law.DESERVED, lines + list(_with_ask(case)))


def outranks(case: AuditCase) -> bool:
    """Whether the ask goes beyond what its queue deserves because it may."""
    return case.ask.priority_class in case.terms.high_priority and not all(line.holds for line in _with_ask(case))


def _with_ask(case: AuditCase) -> Iterator[Sum]:
    """What its queue would have, against what it deserves; the system deserves whatever it asks."""
    standing = standing_of(case)
    for leaf in case.above_ask[:1] if case.ask.namespace != SYSTEM else ():
        most = _told(case, leaf)
        for resource, wanted in sorted(case.ask.requests.items()):
            if wanted > 0:
                used = standing.used(leaf, resource)
                yield amount(leaf, resource, used, Relation.AT_MOST, most.get(resource, 0), plus=wanted)


def _told(case: AuditCase, path: str) -> dict[str, int]:
    """What a queue deserves, as the decision says: exact, and held against what it does to what rounding may change."""
    return next((figures.deserved for figures in case.decision.trace.deserved if figures.queue == path), {})


def overused(case: AuditCase) -> LawCheck:
    """A victim's queue used more of something asked than it deserves, as did those above it.

    Up to those that are above the ask too. It may end below that, as pods can't be divided.
    """
    if outranks(case):
        return LawCheck.of(Law.OVERUSED, [])
    lines: list[Line] = []
    for leaf in case.victims_by_leaf:
        line = [path for path in case.tree.lineage(leaf) if path not in case.above_ask]
        lines += [same(path, standing_of(case).wrong(path, _told(case, path)), "") for path in line]
        found = [[_over(case, path, resource) for path in line] for resource in _asked(case)]
        lines += next((sums for sums in found if all(one.holds for one in sums)), found[0] if found else [])
    return LawCheck.of(Law.OVERUSED, lines)


def _asked(case: AuditCase) -> list[str]:
    """The resources of the ask; of one that asks for any the pod itself is not counted."""
    asked = sorted(name for name, wanted in case.ask.requests.items() if wanted > 0)
    return [name for name in asked if name != PODS] or asked


def _over(case: AuditCase, path: str, resource: str) -> Sum:
    """What a queue uses, against what it deserves."""
    used, most = standing_of(case).used(path, resource), _told(case, path).get(resource, 0)
    return amount(path, resource, used, Relation.ABOVE, most)


def reserved(case: AuditCase) -> LawCheck:
    """No queue is taken below what is reserved for it; where the ask adds to it, no further below than it was."""
    standing, lines = standing_of(case), []
    for path in case.above_victims:
        queue = case.tree[path]
        for resource, promised in case.ledger.promises[path]:
            gone = case.taken(path, resource)
            if gone:
                used = standing.used(path, resource)
                added = case.ask.requests.get(resource, 0) if path in case.above_ask else 0
                bound = min(promised, queue.max.get(resource, promised))
                bound = min(bound, used) if added else bound
                lines.append(amount(path, resource, used, Relation.AT_LEAST, bound, minus=gone, plus=added))
    return LawCheck.of(Law.GUARANTEE, lines)


def told_in_time(case: AuditCase) -> LawCheck:
    """Each victim's queue was told to give back, its grace period ago at least; nobody is for one of high priority."""
    leaves = () if outranks(case) else case.victims_by_leaf
    return LawCheck.of(Law.TOLD, [same(leaf, _grace(case, leaf), "over") for leaf in leaves])


def _grace(case: AuditCase, leaf: str) -> str:
    """A queue with no grace period need not be told before."""
    told_ms, now_ms = case.snapshot.notices.get(leaf), case.snapshot.now_ms
    over = now_ms - (now_ms if told_ms is None else told_ms) >= case.tree.delay_ms(leaf, inherited=True)
    return "over" if over else "not told" if told_ms is None else "in grace"


def system_whole(case: AuditCase) -> LawCheck:
    """No victim is of the cluster's own namespace."""
    lines: list[ComparedValues] = [differs(pod.key, SYSTEM, SYSTEM) for pod in case.victims if pod.namespace == SYSTEM]
    return LawCheck.of(Law.SYSTEM, lines)


def opt_out(case: AuditCase) -> LawCheck:
    """Who opted out stays: nothing that is deserved is worth more."""
    return LawCheck.of(
        Law.OPT_OUT, [differs(pod.key, "opted-out", "opted-out") for pod in case.victims if pod.opted_out]
    )


def other_queue(case: AuditCase) -> LawCheck:
    """Nobody is taken from the ask's own queue."""
    return LawCheck.of(
        Law.APPLICATION, [differs(pod.key, pod.queue or "", case.ask.queue or "") for pod in case.victims]
    )


def lower_priority(case: AuditCase) -> LawCheck:
    """Beyond what its queue deserves an ask takes lower priorities only."""
    victims = case.victims if outranks(case) else ()
    highest = case.ask.priority
    return LawCheck.of(Law.PRIORITY, [amount(pod.key, "", pod.priority, Relation.BELOW, highest) for pod in victims])


OF_VICTIMS: tuple[Check, ...] = (
    reserved,
    overused,
    told_in_time,
    budgets_kept,
    system_whole,
    opt_out,
    other_queue,
    lower_priority,
    fence.inside_fence,
    fence.not_disabled,
    fence.not_shielded,
)
"""Who may be taken."""

ALL: tuple[Check, ...] = (may_preempt, on_nodes, ask_fits, under_hard, minimal, deserved, *OF_VICTIMS)
"""Every law of ``deserved``."""

OF_DIALECT: tuple[Check, ...] = (reserved, budgets_kept, system_whole)
"""What a decision by Volcano's rules, and its own shares, is held to."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
INVARIANTS_OF_DIALECT = Invariants(OF_DIALECT, OF_VICTIMS)
"""Of Volcano's own decisions."""
