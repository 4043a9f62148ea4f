"""A side of a comparison: a tree, and the policy that decides under it."""

import msgspec

from engine.audit import AuditTerms
from engine.model.decision import Decision
from engine.model.queue_tree import QueueTree
from engine.planning.scheduling_pass import AuditedDecision
from engine.policies import Decide

_SERVED = "served"


class ComparedSide(msgspec.Struct, frozen=True, kw_only=True):
    """The deciding tree and policy. ``foreign``: another scheduler's dialect, which preempts only once for a pod."""

    tree: QueueTree
    decide: Decide
    terms: AuditTerms = AuditTerms()
    foreign: bool = False


class ServedPods:
    """The pending pods (uids) that a foreign side has preempted for."""

    def __init__(self, side: ComparedSide) -> None:
        self._foreign = side.foreign
        self._served_uids: set[str] = set()

    def hold(self, considered: AuditedDecision) -> str:
        """Return what holds a decision back; empty: nothing."""
        return _SERVED if self._foreign and considered.decision.ask.uid in self._served_uids else ""

    def note(self, decision: Decision) -> None:
        """Record that a decision preempted for its pod."""
        self._served_uids.add(decision.ask.uid)
