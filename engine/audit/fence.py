"""The laws of the policy `fence`, one function each, in exact integers and by the rules alone."""

from collections.abc import Iterator

import msgspec

from engine.audit.audit_state import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Law, LawCheck, Line, Relation, Sum, amount, differs, same
from engine.feasibility import unjudged
from engine.feasibility.plain import refusal
from engine.model.decision import PodReason, Reason
from engine.model.objects import Node, Pod
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy


def may_preempt(case: AuditCase) -> LawCheck:
    """The ask is a pending pod of a leaf, allowed to preempt, and what counts for it could be read."""
    ask, key = case.ask, case.ask.key
    state = "bound" if ask.node is not None else "terminating" if ask.terminating else "pending"
    in_leaf = ask.queue is not None and ask.queue in case.tree and case.tree.is_leaf(ask.queue)
    lines = [
        same(key, state, "pending"),
        differs(key, "Never" if ask.never_preempts else "PreemptLowerPriority", "Never"),
        same(key, ", ".join(unjudged(case.snapshot, ask)), ""),
        same(key, "leaf" if in_leaf else "no leaf", "leaf"),
    ]
    lines += [same(key, f"unread in {path}", "") for path in _unknown(case)]
    if case.terms.check_delay and in_leaf:
        lines.append(same(key, _waited(case, ask.queue or ""), "waited"))
    return LawCheck.of(Law.MAY_PREEMPT, lines)


def _waited(case: AuditCase, leaf: str) -> str:
    """Whether the delay is over that counts from when the scheduler first found no room for the ask."""
    if case.ask.unschedulable_ms is None:
        return "not tried"
    over = case.snapshot.now_ms - case.ask.unschedulable_ms >= case.tree.delay_ms(leaf)
    return "waited" if over else "waits"


def _unknown(case: AuditCase) -> list[str]:
    """The ask's leaf and the queues above it with a promise or a limit, as far as pods in them can't be read."""
    unread = case.snapshot.unread_for(case.ask)
    return [
        path
        for path in (case.above_ask if unread else ())
        if any(case.within(pod, path) for pod in unread)
        and (path == case.ask.queue or case.tree[path].guaranteed or case.tree[path].max)
    ]


def one_node(case: AuditCase) -> LawCheck:
    """All victims, at least one, are bound to the decision's node and not already on their way out."""
    node = case.decision.node or ""
    known = {pod.uid: pod for pod in case.victims}
    lines = [differs(node, str(len(case.decision.victims)), "0")]
    for verdict in case.decision.victims:
        pod = known.get(verdict.pod.uid)
        lines.append(same(verdict.pod.key, (pod.node if pod else None) or "", node))
        if pod and pod.uid in case.ledger.leaving_uids:
            lines.append(same(pod.key, "terminating", "running"))
    twice = len(case.decision.victims) - len({verdict.pod.uid for verdict in case.decision.victims})
    lines.append(same(node, str(twice), "0"))
    return LawCheck.of(Law.ONE_NODE, lines)


def ask_fits(case: AuditCase) -> LawCheck:
    """With the victims gone the node has the resources, its rules let the ask in, and no other ask keeps it."""
    if case.node is None:
        return LawCheck.of(Law.FITS, [same(case.decision.node or "", "unknown", "known")])
    refused = refusal(case.snapshot, case.ask, case.node, case.gone())
    lines: list[Line] = [*case.room]
    lines.append(same(case.node.name, "ready" if case.node.ready else "not ready", "ready"))
    lines.append(same(case.node.name, f"{refused.reason} {refused.detail}".strip() if refused else "", ""))
    others = [held for held in case.ledger.reserved_by(case.node.name) if held.ask_uid != case.ask.uid]
    lines += [same(case.node.name, held.ask_uid, case.ask.uid) for held in others]
    return LawCheck.of(Law.FITS, lines)


def under_max(case: AuditCase) -> LawCheck:
    """Usage on the asker's side, less the victims below, plus the ask, is within max of its leaf and all above."""
    return LawCheck.of(Law.MAX, list(_caps(case)))


def _caps(case: AuditCase, back: Pod | None = None) -> Iterator[Sum]:
    for path in case.above_ask:
        for resource, cap in case.ledger.limits[path]:
            wanted = case.ask.requests.get(resource, 0)
            if wanted > 0:
                used = case.ledger.asker_side(path, resource, case.ask)
                gone = case.taken(path, resource, back)
                yield amount(path, resource, used, Relation.AT_MOST, cap, minus=gone, plus=wanted)


def minimal(case: AuditCase) -> LawCheck:
    """Whichever one victim is put back, the ask no longer fits on the node or under a max."""
    if case.node is None:
        return LawCheck.of(Law.MINIMAL, [])
    return LawCheck.of(Law.MINIMAL, [differs(pod.key, _short(case, case.node, pod), "") for pod in case.victims])


def _short(case: AuditCase, node: Node, back: Pod) -> str:
    """Names the first thing that is short with this victim put back, beside who stays; empty when nothing is."""
    stays = back.requests if back.node == node.name and back.uid not in case.ledger.leaving_uids else {}
    short = next((line for line in case.room if line.result - stays.get(line.resource, 0) < line.bound), None)
    short = short or next((line for line in _caps(case, back) if not line.holds), None)
    if short:
        return f"{short.subject} {short.resource}"
    refused = refusal(case.snapshot, case.ask, node, case.gone(back))
    return str(refused.reason) if refused else ""


def guarantee(case: AuditCase) -> LawCheck:
    """Law 2: usage without the victims stays at the guarantee, or where the ask adds to it, is no worse than before."""
    lines = []
    for one in case.takings:
        shared = one.path in case.above_ask
        added = case.ask.requests.get(one.resource, 0) if shared else 0
        bound = min(one.promised, one.used) if shared else one.promised
        lines.append(amount(one.path, one.resource, one.used, Relation.AT_LEAST, bound, minus=one.gone, plus=added))
    return LawCheck.of(Law.GUARANTEE, lines)


def above_guarantee(case: AuditCase) -> LawCheck:
    """Law 5: every queue that only the victims are in was above its guarantee in all that is taken from it."""
    lines = [
        amount(one.path, one.resource, one.used, Relation.ABOVE, one.promised)
        for one in case.takings
        if one.path not in case.above_ask
    ]
    return LawCheck.of(Law.ABOVE_GUARANTEE, lines)


def other_application(case: AuditCase) -> LawCheck:
    """Law 3: no victim of the ask's own application, nor of its own queue."""
    ask, lines = case.ask, []
    other = f"{ask.namespace}/{ask.application}"
    for pod in case.victims:
        lines.append(differs(pod.key, pod.queue or "", ask.queue or ""))
        lines.append(differs(pod.key, f"{pod.namespace}/{pod.application}", other))
    return LawCheck.of(Law.APPLICATION, lines)


def entitled(case: AuditCase) -> LawCheck:
    """Law 4: below the guarantee in all that is claimed, and nothing taken from inside; DaemonSet asks excepted."""
    if case.ask.required_node is not None:
        return LawCheck.of(Law.ENTITLED, [])
    claims = case.entitling
    lines: list[Line] = [differs(case.ask.key, str(len(claims)), "0")]
    for resource, path in sorted(claims.items()):
        used = case.ledger.asker_side(path, resource, case.ask)
        lines.append(amount(path, resource, used, Relation.BELOW, case.tree[path].guaranteed[resource]))
    for path in sorted(set(claims.values())):
        lines += [_located(case, pod, path, Relation.OUTSIDE) for pod in case.victims]
    return LawCheck.of(Law.ENTITLED, lines)


def _located(case: AuditCase, pod: Pod, queue: str, relation: Relation) -> ComparedValues:
    inside = case.within(pod, queue)
    holds = inside if relation is Relation.INSIDE else not inside
    return ComparedValues(subject=pod.key, left=pod.queue or "", relation=relation, right=queue, holds=holds)


def lower_or_equal_priority(case: AuditCase) -> LawCheck:
    """Law 6: the pods' Kubernetes priorities, whatever offsets the queues have."""
    lines = [amount(pod.key, "", pod.priority, Relation.AT_MOST, case.ask.priority) for pod in case.victims]
    return LawCheck.of(Law.PRIORITY, lines)


def inside_fence(case: AuditCase) -> LawCheck:
    """Law 7: victims lie in the subtree of the nearest fence above the ask, its leaf included, the root's not."""
    fences = case.ledger.saying(PreemptionPolicy.FENCE)
    nearest = [path for path in case.above_ask if path in fences][:1]
    lines = [_located(case, pod, fence, Relation.INSIDE) for fence in nearest for pod in case.victims]
    return LawCheck.of(Law.FENCE, lines)


def not_disabled(case: AuditCase) -> LawCheck:
    """Law 7: where preemption is disabled, there or above, pods are neither victims nor preemptors."""
    lines, disabled = list[ComparedValues](), case.ledger.saying(PreemptionPolicy.DISABLED)
    for pod in (case.ask, *case.victims) if disabled else ():
        above = case.tree.lineage(pod.queue) if pod.queue is not None and pod.queue in case.tree else ()
        lines += [differs(pod.key, path, path) for path in above if path in disabled]
    return LawCheck.of(Law.DISABLED, lines)


def not_shielded(case: AuditCase) -> LawCheck:
    """No victim is protected or of no queue, and none is a DaemonSet's, which would come straight back to the node."""
    lines = [
        differs(pod.key, "no queue", "no queue")
        for pod in case.victims
        if pod.queue is None or pod.queue not in case.tree
    ]
    lines += [same(pod.key, str(pod.shield), "") for pod in case.victims if pod.shield]
    lines += [differs(pod.key, "DaemonSet", "DaemonSet") for pod in case.victims if pod.daemonset]
    return LawCheck.of(Law.SHIELDED, lines)


def opt_out(case: AuditCase) -> LawCheck:
    """Law 1: who opted out goes only where the last resort allows it, when needed, and the decision says so."""
    unwilling = [pod for pod in case.victims if pod.opted_out]
    if not unwilling:
        return LawCheck.of(Law.OPT_OUT, [])
    allowed = case.terms.last_resort == "any" or (
        case.terms.last_resort == "daemonset" and case.ask.required_node is not None
    )
    told = {verdict.pod.uid for verdict in case.decision.victims if verdict.reason is PodReason.LAST_RESORT}
    needed = not _does_without(case)
    lines = []
    for pod in unwilling:
        said = pod.uid in told or case.decision.reason is Reason.LAST_RESORT
        state = "last-resort" if allowed and needed and said else "not-needed" if allowed and said else "opted-out"
        lines.append(same(pod.key, state, "last-resort"))
    return LawCheck.of(Law.OPT_OUT, lines)


def _does_without(case: AuditCase) -> bool:
    """Whether all pods of the node that may go and did not opt out would together make the room lawfully.

    Not said where a queue's priority settings may have narrowed who could go.
    """
    queues = case.tree.queues.values()
    if any(queue.priority_policy is PriorityPolicy.FENCE or queue.priority_offset for queue in queues):
        return False
    alone = (
        msgspec.structs.replace(case, victims=(pod,))
        for pod in case.on_node
        if not pod.opted_out and pod.uid not in case.ledger.leaving_uids
    )
    willing = tuple(one.victims[0] for one in alone if all(law(one).holds for law in OF_VICTIMS))
    together = msgspec.structs.replace(case, victims=willing)
    return all(law(together).holds for law in (*OF_VICTIMS, ask_fits, under_max))


def progress(case: AuditCase) -> LawCheck:
    """Law 8: what queues lack of their guarantees, summed up, falls; for a DaemonSet's ask nothing follows."""
    if case.ask.required_node is not None:
        return LawCheck.of(Law.PROGRESS, [])
    before = _lacking(case)
    after, asked = dict(before), case.ask.requests
    gone = {(one.path, one.resource): sum(one.gone) for one in case.takings}
    own = {(path, resource) for path in case.above_ask for resource, _ in case.ledger.promises[path]}
    for path, resource in gone.keys() | own:
        lacks = case.tree[path].guaranteed[resource] - case.ledger.settled(path, resource, case.ask)
        added = asked.get(resource, 0) if (path, resource) in own else 0
        after[resource] += max(0, lacks + gone.get((path, resource), 0) - added) - max(0, lacks)
    falls = any(after[resource] < lacking for resource, lacking in before.items())
    relation = Relation.AT_MOST if falls else Relation.BELOW
    lines = [
        amount("", resource, after[resource], Relation.BELOW if after[resource] < lacking else relation, lacking)
        for resource, lacking in sorted(before.items())
    ]
    return LawCheck(law=Law.PROGRESS, holds=falls and all(line.holds for line in lines), sums=tuple(lines))


def _lacking(case: AuditCase) -> dict[str, int]:
    """Resource -> what queues lack of their guarantees, without what is kept for the ask already."""
    ledger = case.ledger
    found = dict(ledger.lacking)
    for path in case.above_reserved:
        for resource, promised in ledger.promises[path]:
            without, known = ledger.settled(path, resource, case.ask), ledger.settled(path, resource)
            found[resource] += max(0, promised - without) - max(0, promised - known)
    return found


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
"""Who may be taken."""

ON_NODE: tuple[Check, ...] = (ask_fits, minimal)
"""What becomes of the room on the decision's node."""

OF_OTHERS: tuple[Check, ...] = (
    under_max,
    opt_out,
    *(law for law in OF_VICTIMS if law is not not_shielded),
    progress,
)
"""What other schedulers are held to, wherever their victims were."""

ALL: tuple[Check, ...] = (may_preempt, one_node, ask_fits, under_max, minimal, opt_out, *OF_VICTIMS, progress)
"""Every law of `fence`."""

OF_DIALECT: tuple[Check, ...] = tuple(law for law in ALL if law not in (may_preempt, not_shielded))
"""What a decision by another scheduler's rules is held to: who may preempt, and whom we protect, it need not know."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
INVARIANTS_OF_DIALECT = Invariants(OF_DIALECT, OF_VICTIMS)
"""Of YuniKorn's own decisions."""
