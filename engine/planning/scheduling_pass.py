"""One pass of the engine over one snapshot: every ask in order, each on the state that the former left, audited."""

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
class Choosing(Protocol):
    """A policy that has a say in whose turn it is."""

    def first(self, snapshot: Snapshot, tree: QueueTree, asks: Sequence[Pod]) -> Pod:
        """Which of some asks is decided next; they come in the order that is otherwise theirs."""


class AuditedDecision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A decision with its audit; one that breaks a law is refused, and leaves the state as it was.

    Not where the dialect is another scheduler's: no law of ours stops what that carries out.
    """

    decision: Decision
    laws: tuple[InvariantCheck, ...] = ()
    hold: str = ""
    """The interlock that holds it back; empty: none."""

    @property
    def refused(self) -> bool:
        """Whether a law is broken that it has to keep."""
        return self.decision.dialect not in foreign_dialects() and bool(failed_checks(self.laws))

    @property
    def against_laws(self) -> bool:
        """Whether a law of ours is broken that the rules of another scheduler do not keep."""
        return self.decision.dialect in foreign_dialects() and bool(failed_checks(self.laws))


def plan(
    snapshot: Snapshot,
    tree: QueueTree,
    decide: Decide,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
    hold: Callable[[AuditedDecision], str] = lambda _considered: "",
) -> list[AuditedDecision]:
    """Decide for every ask that no open decision makes room for already: higher priority first, then the longest wait.

    A policy may choose otherwise (Choosing).

    ``terms`` are what the audit needs to know of the policy's parameters. ``hold`` names the interlock that holds a
    decision back, empty for none; such a decision takes nothing from the asks after it.
    """
    decided = each(snapshot, tree, decide, terms=terms, hold=hold)
    return [considered for _, considered in decided]


def each(
    snapshot: Snapshot,
    tree: QueueTree,
    decide: Decide,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
    hold: Callable[[AuditedDecision], str] = lambda _considered: "",
) -> Iterator[tuple[Snapshot, AuditedDecision]]:
    """``plan`` one by one, each decision with the snapshot that it was taken on."""
    auditor = Auditor(snapshot, tree, terms=terms)
    reserved = snapshot.kept_for
    asks = sorted((ask for ask in snapshot.asks if ask.uid not in reserved), key=lambda ask: ask.turn)
    choosing = decide if isinstance(decide, Choosing) else None  # asked once: it looks the protocol up
    while asks:
        ask = choosing.first(snapshot, tree, asks) if choosing else asks[0]
        asks.remove(ask)
        decision = decide(snapshot, tree, ask)
        found = AuditedDecision(decision=decision, laws=auditor.judge(decision))
        if decision.evicts and not found.refused:
            lasting = str(decision.safeguard.interlock) if decision.safeguard else ""
            found = msgspec.structs.replace(found, hold=lasting or hold(found))
        yield snapshot, found
        if not found.refused and not found.hold:
            snapshot = apply_decision(snapshot, decision)
            auditor.carry_out(decision, snapshot)
