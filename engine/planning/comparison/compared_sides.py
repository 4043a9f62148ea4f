"""A side of a comparison: a tree, and the way to decide under it."""

import msgspec

from engine.audit import AuditTerms
from engine.model.decision import Decision
from engine.model.queue_tree import QueueTree
from engine.planning.scheduling_pass import AuditedDecision
from engine.policies import Decide

_SERVED = "served"


class ComparedSide(msgspec.Struct, frozen=True, kw_only=True):
    """What decides. ``foreign``: the dialect is another scheduler's, which preempts but once for an ask."""

    tree: QueueTree
    decide: Decide
    terms: AuditTerms = AuditTerms()
    foreign: bool = False


class Served:
    """The asks (uids) that a foreign side has preempted for."""

    def __init__(self, side: ComparedSide) -> None:
        self._foreign = side.foreign
        self._asks: set[str] = set()

    def hold(self, one: AuditedDecision) -> str:
        """What holds a decision back; empty: nothing."""
        return _SERVED if self._foreign and one.decision.ask.uid in self._asks else ""

    def note(self, decision: Decision) -> None:
        """Its ask was preempted for."""
        self._asks.add(decision.ask.uid)
