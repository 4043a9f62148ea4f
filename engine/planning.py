"""One pass of the engine over one snapshot: every ask in order, each on the state that the former left, audited."""

import msgspec

from engine.decision import Decision, carried_out
from engine.laws import LawCheck, audit, broken
from engine.policies import Decide
from engine.queues import QueueTree
from engine.snapshot import Pod, Snapshot


class Considered(msgspec.Struct, frozen=True, kw_only=True):
    """A decision with its audit; one that breaks a law is refused, and leaves the state as it was."""

    decision: Decision
    laws: tuple[LawCheck, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether a law is broken."""
        return bool(broken(self.laws))


def plan(snapshot: Snapshot, tree: QueueTree, decide: Decide, *, last_resort: str = "daemonset") -> list[Considered]:
    """Decide for every ask that no open decision makes room for already: higher priority first, then the longest wait.

    ``last_resort`` is the policy's parameter, which the audit needs to know.
    """
    reserved = {held.ask_uid for held in snapshot.reservations}
    considered: list[Considered] = []
    for ask in sorted(snapshot.asks, key=_turn):
        if ask.uid in reserved:
            continue
        decision = decide(snapshot, tree, ask)
        found = Considered(decision=decision, laws=audit(snapshot, tree, decision, last_resort=last_resort))
        considered.append(found)
        if not found.refused:
            snapshot = carried_out(snapshot, decision)
    return considered


def _turn(ask: Pod) -> tuple[int, int, str]:
    return -ask.priority, ask.unschedulable_ms or ask.created_ms, ask.key
