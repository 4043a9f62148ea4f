"""Check the invariants of policy `priority`, which are fewer than those of `fence`, as only priority decides.

Source: the plugin DefaultPreemption of kube-scheduler 1.36. Which pods are protected is this product's own rule.
"""

from engine.audit.audit_case import AuditCase, Check, Invariants
from engine.audit.checks import ComparedValues, Invariant, InvariantCheck, Relation, amount, differs, same
from engine.feasibility import unsupported_rules
from engine.feasibility.plain import refusal
from engine.model.objects import Pod


def may_preempt(case: AuditCase) -> InvariantCheck:
    """Check that the preemptor is a pending pod that may preempt, and that all of its rules could be read."""
    pod = case.ask
    state = "bound" if pod.node is not None else "terminating" if pod.terminating else "pending"
    lines = [
        same(pod.key, state, "pending"),
        differs(pod.key, "Never" if pod.never_preempts else "PreemptLowerPriority", "Never"),
        same(pod.key, ", ".join(unsupported_rules(case.snapshot, pod)), ""),
        same(pod.key, "unread" if pod.unread else "", ""),
    ]
    return InvariantCheck.of(Invariant.MAY_PREEMPT, lines)


def one_node(case: AuditCase) -> InvariantCheck:
    """Check that there are victims, each listed once, and all bound to the decision's node; some may be terminating."""
    node = case.decision.node or ""
    known = {pod.uid: pod for pod in case.victims}
    lines = [differs(node, str(len(case.decision.victims)), "0")]
    for verdict in case.decision.victims:
        pod = known.get(verdict.pod.uid)
        lines.append(same(verdict.pod.key, (pod.node if pod else None) or "", node))
    twice = len(case.decision.victims) - len(known)
    lines.append(same(node, str(twice), "0"))
    return InvariantCheck.of(Invariant.ONE_NODE, lines)


def pod_fits(case: AuditCase) -> InvariantCheck:
    """Check that, without the victims, the node's filters accept the pod, and no other pod has reserved the node.

    Source: kube-scheduler's filters, as its DefaultPreemption.SelectVictimsOnNode runs them.
    """
    if case.node is None:
        return InvariantCheck.of(Invariant.FITS, [same(case.decision.node or "", "unknown", "known")])
    lines = [same(case.node.name, _refused(case), "")]
    others = [held for held in case.ledger.reserved_by(case.node.name) if held.ask_uid != case.ask.uid]
    lines += [same(case.node.name, held.ask_uid, case.ask.uid) for held in others]
    return InvariantCheck.of(Invariant.FITS, lines)


def minimal(case: AuditCase) -> InvariantCheck:
    """Check that, with any one victim put back, the pending pod no longer fits.

    Source: the reprieve in DefaultPreemption.SelectVictimsOnNode of kube-scheduler.
    """
    return InvariantCheck.of(Invariant.MINIMAL, [_needed(case, pod) for pod in case.victims if case.node])


def _needed(case: AuditCase, pod: Pod) -> ComparedValues:
    return differs(pod.key, _refused(case, pod), "")


def _refused(case: AuditCase, *back: Pod) -> str:
    """Return why the pending pod does not fit without the victims, except those put ``back``; empty if it fits."""
    assert case.node is not None
    evicted = {pod.uid for pod in case.victims} - {pod.uid for pod in back}
    rejection = refusal(case.snapshot, case.ask, case.node, evicted, miscounting=True)
    return f"{rejection.reason} {rejection.detail}".strip() if rejection else ""


def lower_priority(case: AuditCase) -> InvariantCheck:
    """Check that every victim has a lower priority than the preemptor.

    Source: DefaultPreemption.isPreemptionAllowed of kube-scheduler.
    """
    lines = [amount(pod.key, "", pod.priority, Relation.BELOW, case.ask.priority) for pod in case.victims]
    return InvariantCheck.of(Invariant.PRIORITY, lines)


def not_shielded(case: AuditCase) -> InvariantCheck:
    """Check that no victim is protected."""
    return InvariantCheck.of(
        Invariant.SHIELDED, [same(pod.key, str(pod.shield), "") for pod in case.victims if pod.shield]
    )


OF_VICTIMS: tuple[Check, ...] = (lower_priority, not_shielded)
"""The checks on which pods may be victims."""

ALL: tuple[Check, ...] = (may_preempt, one_node, pod_fits, minimal, *OF_VICTIMS)
"""Every invariant of `priority`."""
INVARIANTS = Invariants(ALL, OF_VICTIMS)
