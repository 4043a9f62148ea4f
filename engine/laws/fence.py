"""The laws of the policy `fence`, one function each, in exact integers and by the rules alone."""

from collections.abc import Callable, Iterator
from itertools import chain

import msgspec

from engine.decision import PodReason, Reason
from engine.feasibility import unjudged
from engine.feasibility.plain import refusal
from engine.laws.checks import Comparison, Law, LawCheck, Line, Relation, Sum, amount, differs, same
from engine.laws.ledger import Case
from engine.queues import PreemptionPolicy, PriorityPolicy
from engine.snapshot import Pod


def may_preempt(case: Case) -> LawCheck:
    """The ask is a pending pod of a leaf, allowed to preempt, and what counts for it could be read."""
    ask = case.ask
    state = "bound" if ask.node is not None else "terminating" if ask.terminating else "pending"
    in_leaf = ask.queue is not None and ask.queue in case.tree and case.tree.is_leaf(ask.queue)
    lines = [
        same(ask.key, state, "pending"),
        differs(ask.key, "Never" if ask.never_preempts else "PreemptLowerPriority", "Never"),
        same(ask.key, ", ".join(unjudged(case.snapshot, ask)), ""),
        same(ask.key, "leaf" if in_leaf else "no leaf", "leaf"),
    ]
    lines += [same(ask.key, f"unread in {path}", "") for path in _unknown(case)]
    if case.terms.check_delay and in_leaf:
        lines.append(same(ask.key, _waited(case, ask.queue or ""), "waited"))
    return LawCheck.of(Law.MAY_PREEMPT, lines)


def _waited(case: Case, leaf: str) -> str:
    """Whether the delay is over that counts from when the scheduler first found no room for the ask."""
    if case.ask.unschedulable_ms is None:
        return "not tried"
    over = case.snapshot.now_ms - case.ask.unschedulable_ms >= case.tree.delay_ms(leaf)
    return "waited" if over else "waits"


def _unknown(case: Case) -> list[str]:
    """The ask's leaf and the queues above it with a promise or a limit, as far as pods in them can't be read."""
    return [
        path
        for path in case.above_ask
        if any(case.within(pod, path) for pod in case.snapshot.unread)
        and (path == case.ask.queue or case.tree[path].guaranteed or case.tree[path].max)
    ]


def one_node(case: Case) -> LawCheck:
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


def ask_fits(case: Case) -> LawCheck:
    """With the victims gone the node has the resources, its rules let the ask in, and no other ask keeps it."""
    if case.node is None:
        return LawCheck.of(Law.FITS, [same(case.decision.node or "", "unknown", "known")])
    refused = refusal(case.snapshot, case.ask, case.node, case.gone())
    lines: list[Line] = [*_room(case)]
    lines.append(same(case.node.name, "ready" if case.node.ready else "not ready", "ready"))
    lines.append(same(case.node.name, f"{refused.reason} {refused.detail}".strip() if refused else "", ""))
    others = [held for held in case.ledger.reserved_by(case.node.name) if held.ask_uid != case.ask.uid]
    lines += [same(case.node.name, held.ask_uid, case.ask.uid) for held in others]
    return LawCheck.of(Law.FITS, lines)


def _room(case: Case, *back: Pod) -> Iterator[Sum]:
    """For each resource of the ask: what the node can hold, less what stays on it, against the request."""
    assert case.node is not None
    staying = case.staying(*back)
    for resource, wanted in sorted(case.ask.requests.items()):
        if wanted > 0:
            held = tuple([part for pod in staying if (part := pod.requests.get(resource, 0))])
            room = case.node.allocatable.get(resource, 0)
            yield amount(case.node.name, resource, room, Relation.AT_LEAST, wanted, minus=held)


def under_max(case: Case) -> LawCheck:
    """Usage on the asker's side, less the victims below, plus the ask, is within max of its leaf and all above."""
    return LawCheck.of(Law.MAX, _caps(case))


def _caps(case: Case, back: Pod | None = None) -> list[Sum]:
    lines = []
    for path in case.above_ask:
        for resource, cap in sorted(case.tree[path].max.items()):
            wanted = case.ask.requests.get(resource, 0)
            if wanted > 0:
                used = case.ledger.asker_side(path, resource, case.ask)
                gone = case.taken(path, resource, back)
                lines.append(amount(path, resource, used, Relation.AT_MOST, cap, minus=gone, plus=wanted))
    return lines


def minimal(case: Case) -> LawCheck:
    """Whichever one victim is put back, the ask no longer fits on the node or under a max."""
    return LawCheck.of(Law.MINIMAL, [_needed(case, pod) for pod in case.victims if case.node])


def _needed(case: Case, pod: Pod) -> Comparison:
    """Names the first thing that is short with this victim put back; empty when nothing is."""
    assert case.node is not None
    short = next((line for line in chain(_room(case, pod), _caps(case, pod)) if not line.holds), None)
    refused = None if short else refusal(case.snapshot, case.ask, case.node, case.gone(pod))
    what = f"{short.subject} {short.resource}" if short else str(refused.reason) if refused else ""
    return differs(pod.key, what, "")


def guarantee(case: Case) -> LawCheck:
    """Law 2: usage without the victims stays at the guarantee, or where the ask adds to it, is no worse than before."""
    lines = []
    for path in case.above_victims:
        for resource, promised in sorted(case.tree[path].guaranteed.items()):
            gone = case.taken(path, resource)
            if not gone:
                continue
            used = case.ledger.victim_side(path, resource)
            shared = path in case.above_ask
            added = case.ask.requests.get(resource, 0) if shared else 0
            bound = min(promised, used) if shared else promised
            lines.append(amount(path, resource, used, Relation.AT_LEAST, bound, minus=gone, plus=added))
    return LawCheck.of(Law.GUARANTEE, lines)


def above_guarantee(case: Case) -> LawCheck:
    """Law 5: every queue that only the victims are in was above its guarantee in all that is taken from it."""
    lines = []
    for path in case.above_victims:
        for resource, promised in sorted(case.tree[path].guaranteed.items()):
            if path not in case.above_ask and case.taken(path, resource):
                used = case.ledger.victim_side(path, resource)
                lines.append(amount(path, resource, used, Relation.ABOVE, promised))
    return LawCheck.of(Law.ABOVE_GUARANTEE, lines)


def other_application(case: Case) -> LawCheck:
    """Law 3: no victim of the ask's own application, nor of its own queue."""
    ask, lines = case.ask, []
    for pod in case.victims:
        lines.append(differs(pod.key, pod.queue or "", ask.queue or ""))
        own, other = f"{pod.namespace}/{pod.application}", f"{ask.namespace}/{ask.application}"
        lines.append(differs(pod.key, own, other))
    return LawCheck.of(Law.APPLICATION, lines)


def entitled(case: Case) -> LawCheck:
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


def _located(case: Case, pod: Pod, queue: str, relation: Relation) -> Comparison:
    inside = case.within(pod, queue)
    holds = inside if relation is Relation.INSIDE else not inside
    return Comparison(subject=pod.key, left=pod.queue or "", relation=relation, right=queue, holds=holds)


def lower_or_equal_priority(case: Case) -> LawCheck:
    """Law 6: the pods' Kubernetes priorities, whatever offsets the queues have."""
    lines = [amount(pod.key, "", pod.priority, Relation.AT_MOST, case.ask.priority) for pod in case.victims]
    return LawCheck.of(Law.PRIORITY, lines)


def inside_fence(case: Case) -> LawCheck:
    """Law 7: victims lie in the subtree of the nearest fence above the ask, its leaf included, the root's not."""
    fences = [path for path in case.above_ask if _says(case, path, PreemptionPolicy.FENCE)]
    lines = [_located(case, pod, fence, Relation.INSIDE) for fence in fences[:1] for pod in case.victims]
    return LawCheck.of(Law.FENCE, lines)


def not_disabled(case: Case) -> LawCheck:
    """Law 7: where preemption is disabled, there or above, pods are neither victims nor preemptors."""
    lines = []
    for pod in (case.ask, *case.victims):
        above = case.tree.lineage(pod.queue) if pod.queue is not None and pod.queue in case.tree else ()
        off = [path for path in above if _says(case, path, PreemptionPolicy.DISABLED)]
        lines += [differs(pod.key, path, path) for path in off]
    return LawCheck.of(Law.DISABLED, lines)


def _says(case: Case, path: str, policy: PreemptionPolicy) -> bool:
    """Whether a queue has this setting itself; on the root it has no effect."""
    return path != case.tree.root and case.tree[path].preemption_policy is policy


def not_shielded(case: Case) -> LawCheck:
    """No victim is protected or of no queue, and none is a DaemonSet's, which would come straight back to the node."""
    lines = [
        differs(pod.key, "no queue", "no queue")
        for pod in case.victims
        if pod.queue is None or pod.queue not in case.tree
    ]
    lines += [same(pod.key, str(pod.shield), "") for pod in case.victims if pod.shield]
    lines += [differs(pod.key, "DaemonSet", "DaemonSet") for pod in case.victims if pod.daemonset]
    return LawCheck.of(Law.SHIELDED, lines)


def opt_out(case: Case) -> LawCheck:
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


def _does_without(case: Case) -> bool:
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


def progress(case: Case) -> LawCheck:
    """Law 8: what queues lack of their guarantees, summed up, falls; for a DaemonSet's ask nothing follows."""
    if case.ask.required_node is not None:
        return LawCheck.of(Law.PROGRESS, [])
    lacks = {resource: [lacking, lacking] for resource, lacking in case.ledger.lacking.items()}
    for path in {*case.above_victims, *case.above_ask, *case.above_reserved}:
        for resource, promised in case.tree[path].guaranteed.items():
            known = max(0, promised - case.ledger.settled(path, resource))
            before = case.ledger.settled(path, resource, case.ask)
            added = case.ask.requests.get(resource, 0) if path in case.above_ask else 0
            after = before - sum(case.taken(path, resource)) + added
            lacks[resource][0] += max(0, promised - before) - known
            lacks[resource][1] += max(0, promised - after) - known
    falls = any(after < before for before, after in lacks.values())
    relation = Relation.AT_MOST if falls else Relation.BELOW
    lines = [
        amount("", resource, after, Relation.BELOW if after < before else relation, before)
        for resource, (before, after) in sorted(lacks.items())
    ]
    return LawCheck(law=Law.PROGRESS, holds=falls and all(line.holds for line in lines), sums=tuple(lines))


Check = Callable[[Case], LawCheck]

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
