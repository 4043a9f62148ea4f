"""Runs one pass of the engine over a snapshot: decides every pending pod in order and audits each decision."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from engine.audit import Auditor, AuditTerms, InvariantCheck, failed_checks
from engine.model.decision import Decision, apply_decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import Decide, foreign_dialects


@runtime_checkable
class ChoosesNextPod(Protocol):
    """A policy that chooses which pod is decided next."""

    def first(self, snapshot: Snapshot, tree: QueueTree, pending: Sequence[Pod]) -> Pod:
        """Return the pod that is decided next; ``pending`` are in their default order."""


class AuditedDecision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A decision with its audit; a decision that breaks an invariant is refused, and leaves the state unchanged.

    A dialect of another scheduler is exempt: our invariants do not stop what that carries out.
    """

    decision: Decision
    laws: tuple[InvariantCheck, ...] = ()
    hold: str = ""
    """The safeguard that holds it back; empty: none."""

    @property
    def refused(self) -> bool:
        """Return whether the decision breaks an invariant that it has to keep."""
        return self.decision.dialect not in foreign_dialects() and bool(failed_checks(self.laws))

    @property
    def against_laws(self) -> bool:
        """Return whether another scheduler's decision breaks an invariant that its own rules do not keep."""
        return self.decision.dialect in foreign_dialects() and bool(failed_checks(self.laws))


def plan(
    snapshot: Snapshot,
    tree: QueueTree,
    decide: Decide,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
    hold: Callable[[AuditedDecision], str] = lambda _considered: "",
) -> list[AuditedDecision]:
    """Decide for every pending pod without an open decision: higher priority first, then the longest wait.

    A policy may choose another order (Choosing).

    ``terms`` are the policy's parameters that the audit needs. ``hold`` returns the safeguard that holds a decision
    back, empty for none; a decision that is held back takes nothing from the pods after it.
    """
    decided = plan_steps(snapshot, tree, decide, terms=terms, hold=hold)
    return [considered for _, considered in decided]


def plan_steps(
    snapshot: Snapshot,
    tree: QueueTree,
    decide: Decide,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
    hold: Callable[[AuditedDecision], str] = lambda _considered: "",
) -> Iterator[tuple[Snapshot, AuditedDecision]]:
    """Yield the decisions of ``plan`` one by one, each with the snapshot that it was taken on."""
    auditor = Auditor(snapshot, tree, terms=terms)
    reserved = snapshot.kept_for
    pending = sorted((pod for pod in snapshot.asks if pod.uid not in reserved), key=lambda pod: pod.turn)
    choosing = (
        decide if isinstance(decide, ChoosesNextPod) else None
    )  # checked once, as looking up the protocol is slow
    while pending:
        pod = choosing.first(snapshot, tree, pending) if choosing else pending[0]
        pending.remove(pod)
        decision = decide(snapshot, tree, pod)
        audited = AuditedDecision(decision=decision, laws=auditor.judge(decision))
        if decision.evicts and not audited.refused:
            lasting = str(decision.safeguard.interlock) if decision.safeguard else ""
            audited = msgspec.structs.replace(audited, hold=lasting or hold(audited))
        yield snapshot, audited
        if not audited.refused and not audited.hold:
            snapshot = apply_decision(snapshot, decision)
            auditor.carry_out(decision, snapshot)
