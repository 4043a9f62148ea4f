"""The laws of the policy `priority`: fewer than those of `fence`, for priority alone decides."""

from engine.audit.audit_state import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Law, LawCheck, Relation, amount, differs, same
from engine.feasibility import unjudged
from engine.feasibility.plain import refusal
from engine.model.objects import Pod


def may_preempt(case: AuditCase) -> LawCheck:
    """The ask is a pending pod, allowed to preempt, all of whose rules could be read."""
    ask = case.ask
    state = "bound" if ask.node is not None else "terminating" if ask.terminating else "pending"
    lines = [
        same(ask.key, state, "pending"),
        differs(ask.key, "Never" if ask.never_preempts else "PreemptLowerPriority", "Never"),
        same(ask.key, ", ".join(unjudged(case.snapshot, ask)), ""),
        same(ask.key, "unread" if ask.unread else "", ""),
    ]
    return LawCheck.of(Law.MAY_PREEMPT, lines)


def one_node(case: AuditCase) -> LawCheck:
    """All victims, at least one and each once, are bound to the decision's node; some may be on their way out."""
    node = case.decision.node or ""
    known = {pod.uid: pod for pod in case.victims}
    lines = [differs(node, str(len(case.decision.victims)), "0")]
    for verdict in case.decision.victims:
        pod = known.get(verdict.pod.uid)
        lines.append(same(verdict.pod.key, (pod.node if pod else None) or "", node))
    twice = len(case.decision.victims) - len(known)
    lines.append(same(node, str(twice), "0"))
    return LawCheck.of(Law.ONE_NODE, lines)


def ask_fits(case: AuditCase) -> LawCheck:
    """With the victims gone the node's filters let the ask in, and no other ask keeps the node."""
    if case.node is None:
        return LawCheck.of(Law.FITS, [same(case.decision.node or "", "unknown", "known")])
    lines = [same(case.node.name, _refused(case), "")]
    others = [held for held in case.ledger.reserved_by(case.node.name) if held.ask_uid != case.ask.uid]
    lines += [same(case.node.name, held.ask_uid, case.ask.uid) for held in others]
    return LawCheck.of(Law.FITS, lines)


def minimal(case: AuditCase) -> LawCheck:
    """Whichever one victim is put back, the ask no longer fits."""
    return LawCheck.of(Law.MINIMAL, [_needed(case, pod) for pod in case.victims if case.node])


def _needed(case: AuditCase, pod: Pod) -> ComparedValues:
    return differs(pod.key, _refused(case, pod), "")


def _refused(case: AuditCase, *back: Pod) -> str:
    """What keeps the ask out with the victims gone but those put ``back``; empty: nothing does."""
    assert case.node is not None
    gone = {pod.uid for pod in case.victims} - {pod.uid for pod in back}
    found = refusal(case.snapshot, case.ask, case.node, gone, miscounting=True)
    return f"{found.reason} {found.detail}".strip() if found else ""


def lower_priority(case: AuditCase) -> LawCheck:
    """Every victim has a lower priority than the ask."""
    lines = [amount(pod.key, "", pod.priority, Relation.BELOW, case.ask.priority) for pod in case.victims]
    return LawCheck.of(Law.PRIORITY, lines)


def not_shielded(case: AuditCase) -> LawCheck:
    """No victim is protected."""
    return LawCheck.of(Law.SHIELDED, [same(pod.key, str(pod.shield), "") for pod in case.victims if pod.shield])


OF_VICTIMS: tuple[Check, ...] = (lower_priority, not_shielded)
"""Who may be taken."""

ALL: tuple[Check, ...] = (may_preempt, one_node, ask_fits, minimal, *OF_VICTIMS)
"""Every law of `priority`."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
