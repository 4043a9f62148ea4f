"""An independent audit: every law held against a decision, by arithmetic of its own."""

from collections.abc import Container, Iterable
from functools import cached_property

import msgspec

from engine.audit import fence, safeguards
from engine.audit.audit_state import AuditCase, AuditState, AuditTerms, Check, Invariants
from engine.audit.checks import ComparedValues, Law, LawCheck, Line, Relation, Sum
from engine.feasibility import unjudged
from engine.model.decision import Decision, Outcome, carried_out
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot

__all__ = [
    "INVARIANTS",
    "AuditTerms",
    "Auditor",
    "ComparedValues",
    "Invariants",
    "Law",
    "LawCheck",
    "Line",
    "Relation",
    "Sum",
    "audit",
    "audit_other",
    "audit_plan",
    "audit_rest",
    "broken",
]

INVARIANTS: dict[tuple[str, str], Invariants] = {}
"""Policy and dialect -> the invariants of their decisions; engine.policies.registry enters those of every policy."""


class Auditor:
    """Audits decision after decision, each on the state that those carried out have left.

    ``terms``: what the policy's parameters have a say in.
    """

    def __init__(self, snapshot: Snapshot, tree: QueueTree, *, terms: AuditTerms = AuditTerms()) -> None:  # noqa: B008 - frozen
        self._snapshot, self._tree, self._terms = snapshot, tree, terms

    @cached_property
    def _ledger(self) -> AuditState:
        return AuditState(self._snapshot, self._tree)

    def judge(self, decision: Decision) -> tuple[LawCheck, ...]:
        """Hold it against every law of its policy; a decision that preempts nothing has none to keep.

        Raises LookupError for a policy without laws here.
        """
        laws = _laws(decision)
        laws += _of_safeguards(self._snapshot, decision, laws)
        return _judge(self._ledger, decision, self._terms, laws) if laws else ()

    def carry_out(self, decision: Decision, left: Snapshot) -> None:
        """What comes after it finds its victims on their way out and its room kept, as in the snapshot that it left."""
        if decision.rooms:
            self._ledger.carry_out(decision, left)


def audit(
    snapshot: Snapshot,
    tree: QueueTree,
    decision: Decision,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> tuple[LawCheck, ...]:
    """Hold one decision against every law of its policy, as an Auditor does. Raises LookupError likewise."""
    return Auditor(snapshot, tree, terms=terms).judge(decision)


def audit_rest(
    snapshot: Snapshot,
    tree: QueueTree,
    decision: Decision,
    victims: Container[str],
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> tuple[LawCheck, ...]:
    """Hold what is left of a decision that was begun, these victims (uids), against the laws on who may be taken.

    The others are gone or leaving, so that nothing is said of the room any more. Raises LookupError as ``audit``.
    """
    left = tuple(verdict for verdict in decision.victims if verdict.pod.uid in victims)
    rest = msgspec.structs.replace(decision, victims=left)
    return _judge(AuditState(snapshot, tree), rest, terms, _invariants(decision).of_victims)


def audit_other(snapshot: Snapshot, tree: QueueTree, decision: Decision) -> tuple[LawCheck, ...]:
    """Hold what another scheduler did against the laws of `fence`: those on who may be taken, and on the room it made.

    The latter only where the decision has a node, and all that counts for the ask there could be read. Who may preempt
    at all, and whom we protect, are rules for ourselves. Nothing for an ask of no leaf of the tree.
    """
    ledger = AuditState(snapshot, tree)
    ask = snapshot.pod(decision.ask.uid)
    if ask is None or ask.queue not in tree.leaves:
        return ()
    judged = decision.node is not None and not unjudged(snapshot, ask)
    return _judge(ledger, decision, AuditTerms(), (*fence.ON_NODE, *fence.OF_OTHERS) if judged else fence.OF_OTHERS)


def audit_plan(
    snapshot: Snapshot,
    tree: QueueTree,
    decisions: Iterable[Decision],
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> tuple[tuple[LawCheck, ...], ...]:
    """Audit decisions in order; those that break a law leave the state as it was. Raises LookupError as ``audit``."""
    auditor = Auditor(snapshot, tree, terms=terms)
    results = []
    for decision in decisions:
        checks = auditor.judge(decision)
        results.append(checks)
        if not broken(checks):
            snapshot = carried_out(snapshot, decision)
            auditor.carry_out(decision, snapshot)
    return tuple(results)


def broken(checks: Iterable[LawCheck]) -> tuple[LawCheck, ...]:
    """The checks that do not hold."""
    return tuple(check for check in checks if not check.holds)


def _invariants(decision: Decision) -> Invariants:
    """Return the invariants of the decision's policy and dialect. Raises LookupError for a policy without any."""
    found = INVARIANTS.get((decision.policy, decision.dialect))
    if found is None and not decision.dialect:  # then the policy's first dialect is meant
        found = next((one for (policy, _), one in INVARIANTS.items() if policy == decision.policy), None)
    if found is None:
        raise LookupError(f"there are no invariants of policy {decision.policy}")
    return found


def _laws(decision: Decision) -> tuple[Check, ...]:
    """Return the invariants that a decision has to keep. Raises LookupError for a policy without any."""
    found = _invariants(decision).of_decision
    return found if decision.outcome is Outcome.PREEMPT else ()


def _of_safeguards(snapshot: Snapshot, decision: Decision, laws: tuple[Check, ...]) -> tuple[Check, ...]:
    """The laws on safeguards, where these are known; a decision that one holds back is not held against them."""
    if not laws or snapshot.safeguards is None or decision.safeguard:
        return ()
    found = [safeguards.budgets_kept, safeguards.pauses_kept]
    if snapshot.safeguards.limited:
        found.append(safeguards.scope_kept)
    return tuple(law for law in found if law not in laws)


def _judge(ledger: AuditState, decision: Decision, terms: AuditTerms, laws: tuple[Check, ...]) -> tuple[LawCheck, ...]:
    if not laws:
        return ()
    case = AuditCase(
        ledger=ledger,
        decision=decision,
        ask=ledger.snapshot.pod(decision.ask.uid) or _unknown(decision),
        node=ledger.nodes.get(decision.node or ""),
        victims=_known_victims(ledger, decision),
        terms=terms,
    )
    return tuple(law(case) for law in laws)


def _known_victims(ledger: AuditState, decision: Decision) -> tuple[Pod, ...]:
    """The snapshot's own pods, each once: what the decision says of them is not believed."""
    told = {verdict.pod.uid: decision.node or verdict.pod.node for verdict in decision.victims}
    return tuple(pod for uid, node in told.items() if (pod := ledger.snapshot.pod(uid, node)) is not None)


def _unknown(decision: Decision) -> Pod:
    """An ask that the snapshot does not hold: it is in no queue, so it may not preempt."""
    facts = decision.ask
    return Pod(uid=facts.uid, namespace=facts.namespace, name=facts.name, requests=facts.requests)
