"""Which queues may preempt which as far as the tree alone determines it: a ``Reach`` for each policy, with reasons."""

from engine.tree.reach.borders import CLAIMS, OPEN, Border, BorderReason, Fences, Promise, Reach
from engine.tree.reach.guarantees import border, claims, claims_of_all
from engine.tree.reach.priorities import border as border_of_priorities
from engine.tree.reach.quota import by_quota
from engine.tree.reach.shares import border as border_of_shares

BY_GUARANTEES = Reach(policy="fence", border=border, fences=Fences.ONE_WAY, promise=Promise.GUARANTEE)
BY_PRIORITIES = Reach(
    policy="priority", border=border_of_priorities, fences=Fences.NONE, promise=Promise.NOTHING, within=True
)
BY_SHARES = Reach(policy="deserved", border=border_of_shares, fences=Fences.ONE_WAY, promise=Promise.SHARE)

__all__ = [
    "BY_GUARANTEES",
    "BY_PRIORITIES",
    "BY_SHARES",
    "CLAIMS",
    "OPEN",
    "Border",
    "BorderReason",
    "Fences",
    "Promise",
    "Reach",
    "border",
    "by_quota",
    "claims",
    "claims_of_all",
]
