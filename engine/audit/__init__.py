"""Audit each decision against every invariant of its policy, with arithmetic that is independent of the policy."""

from collections.abc import Container, Iterable
from functools import cached_property

import msgspec

from engine.audit import fence, safeguards
from engine.audit.audit_case import AuditCase, AuditTerms, Check, Invariants
from engine.audit.audit_state import AuditState
from engine.audit.checks import ComparedValues, Invariant, InvariantCheck, Line, Relation, Sum
from engine.feasibility import unsupported_rules
from engine.model.decision import Decision, Outcome, apply_decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import group_of, is_whole

__all__ = [
    "INVARIANTS",
    "AuditTerms",
    "Auditor",
    "ComparedValues",
    "Invariant",
    "InvariantCheck",
    "Invariants",
    "Line",
    "Relation",
    "Sum",
    "audit",
    "audit_other_scheduler",
    "audit_plan",
    "audit_remaining_victims",
    "failed_checks",
]

INVARIANTS: dict[tuple[str, str], Invariants] = {}
"""Policy and dialect -> the invariants of their decisions; engine.policies.registry enters those of every policy."""


class Auditor:
    """Audits a sequence of decisions, each against the state that the previously accepted decisions left behind.

    ``terms``: the policy parameters that affect the audit.
    """

    def __init__(self, snapshot: Snapshot, tree: QueueTree, *, terms: AuditTerms = AuditTerms()) -> None:  # noqa: B008 - frozen
        self._snapshot, self._tree, self._terms = snapshot, tree, terms

    @cached_property
    def _ledger(self) -> AuditState:
        return AuditState(self._snapshot, self._tree)

    def judge(self, decision: Decision) -> tuple[InvariantCheck, ...]:
        """Check a decision against every invariant of its policy; a decision that preempts nothing has no checks.

        Raises LookupError for a policy that has no invariants here.
        """
        checks = _applicable_checks(self._snapshot, decision)
        checks += _safeguard_checks(self._snapshot, decision, checks)
        return _judge(self._ledger, decision, self._terms, checks) if checks else ()

    def carry_out(self, decision: Decision, after: Snapshot) -> None:
        """Apply a decision, so that later audits see its victims as terminating and its node as reserved.

        ``after``: the snapshot after the decision.
        """
        if decision.rooms:
            self._ledger.carry_out(decision, after)


def audit(
    snapshot: Snapshot,
    tree: QueueTree,
    decision: Decision,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> tuple[InvariantCheck, ...]:
    """Check one decision against every invariant of its policy, as an Auditor does.

    Raises LookupError for a policy that has no invariants here.
    """
    return Auditor(snapshot, tree, terms=terms).judge(decision)


def audit_remaining_victims(
    snapshot: Snapshot,
    tree: QueueTree,
    decision: Decision,
    victims: Container[str],
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> tuple[InvariantCheck, ...]:
    """Check the remaining victims (uids) of a partly executed decision against the invariants on victims.

    The other victims are already evicted or terminating, so the free capacity on the node is not checked. Raises
    LookupError for a policy that has no invariants here.
    """
    remaining = tuple(verdict for verdict in decision.victims if verdict.pod.uid in victims)
    partial = msgspec.structs.replace(decision, victims=remaining)
    return _judge(AuditState(snapshot, tree), partial, terms, _invariants(snapshot, decision).of_victims)


def audit_other_scheduler(snapshot: Snapshot, tree: QueueTree, decision: Decision) -> tuple[InvariantCheck, ...]:
    """Check a decision of another scheduler against the invariants of policy `fence`.

    These cover which pods may be victims, and whether the decision made enough room. The latter is checked only where
    the decision names a node, and everything that matters for the pending pod there could be read. Which pods may
    preempt at all, and which pods are protected, are this product's own rules and are not checked. Returns no checks
    for a pending pod that is in no leaf of the tree.
    """
    ledger = AuditState(snapshot, tree)
    pod = snapshot.pod(decision.ask.uid)
    if pod is None or pod.queue not in tree.leaves:
        return ()
    judged = decision.node is not None and not unsupported_rules(snapshot, pod)
    return _judge(ledger, decision, AuditTerms(), (*fence.ON_NODE, *fence.OF_OTHERS) if judged else fence.OF_OTHERS)


def audit_plan(
    snapshot: Snapshot,
    tree: QueueTree,
    decisions: Iterable[Decision],
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> tuple[tuple[InvariantCheck, ...], ...]:
    """Audit decisions in order; a decision that breaks an invariant leaves the state unchanged.

    Raises LookupError for a policy that has no invariants here.
    """
    auditor = Auditor(snapshot, tree, terms=terms)
    results = []
    for decision in decisions:
        checks = auditor.judge(decision)
        results.append(checks)
        if not failed_checks(checks):
            snapshot = apply_decision(snapshot, decision)
            auditor.carry_out(decision, snapshot)
    return tuple(results)


def failed_checks(checks: Iterable[InvariantCheck]) -> tuple[InvariantCheck, ...]:
    """Return the checks that do not hold."""
    return tuple(check for check in checks if not check.holds)


def _invariants(snapshot: Snapshot, decision: Decision) -> Invariants:
    """Return the invariants of the decision's policy and dialect. Raises LookupError for a policy without any."""
    invariants = INVARIANTS.get((decision.policy, decision.dialect))
    if invariants is None and not decision.dialect:  # then the policy's first dialect is meant
        invariants = next(
            (candidate for (policy, _), candidate in INVARIANTS.items() if policy == decision.policy), None
        )
    if invariants is None:
        raise LookupError(f"Policy {decision.policy} has no invariants.")
    if invariants.with_groups is not None and (decision.group or _evicts_groups(snapshot, decision)):
        return invariants.with_groups
    return invariants


def _evicts_groups(snapshot: Snapshot, decision: Decision) -> bool:
    """Return whether a victim is of a group that goes or stays as a whole."""
    if not snapshot.groups:
        return False
    pods = (snapshot.pod(verdict.pod.uid, decision.node_of(verdict)) for verdict in decision.victims)
    return any(is_whole(group_of(snapshot, pod)) for pod in pods if pod is not None)


def _applicable_checks(snapshot: Snapshot, decision: Decision) -> tuple[Check, ...]:
    """Return the invariants that a decision has to keep. Raises LookupError for a policy without any.

    One that disruption budgets hold back need not respect them: it is shown, and not carried out.
    """
    checks = _invariants(snapshot, decision).of_decision
    if decision.safeguard:
        checks = tuple(check for check in checks if check is not safeguards.budgets_kept)
    return checks if decision.outcome is Outcome.PREEMPT else ()


def _safeguard_checks(snapshot: Snapshot, decision: Decision, checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the invariants about safeguards, if these are known and none of them holds the decision back."""
    if not checks or snapshot.safeguards is None or decision.safeguard:
        return ()
    safeguard_checks = [safeguards.budgets_kept, safeguards.pauses_kept]
    if snapshot.safeguards.limited:
        safeguard_checks.append(safeguards.scope_kept)
    return tuple(check for check in safeguard_checks if check not in checks)


def _judge(
    ledger: AuditState, decision: Decision, terms: AuditTerms, checks: tuple[Check, ...]
) -> tuple[InvariantCheck, ...]:
    if not checks:
        return ()
    case = AuditCase(
        ledger=ledger,
        decision=decision,
        ask=ledger.snapshot.pod(decision.ask.uid) or _unknown(decision),
        node=ledger.node(decision.node),
        victims=_known_victims(ledger, decision),
        terms=terms,
    )
    return tuple(check(case) for check in checks)


def _known_victims(ledger: AuditState, decision: Decision) -> tuple[Pod, ...]:
    """Return the victims as the snapshot has them, each once; the decision's own copies are not trusted."""
    node_of_victim = {verdict.pod.uid: decision.node_of(verdict) for verdict in decision.victims}
    return tuple(pod for uid, node in node_of_victim.items() if (pod := ledger.snapshot.pod(uid, node)) is not None)


def _unknown(decision: Decision) -> Pod:
    """Return a pod for an ``ask`` that the snapshot does not have: it is in no queue, so it may not preempt."""
    facts = decision.ask
    return Pod(uid=facts.uid, namespace=facts.namespace, name=facts.name, requests=facts.requests)
