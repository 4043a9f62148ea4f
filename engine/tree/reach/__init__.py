"""Which queues may preempt which as far as the tree alone determines it: a ``Reach`` for each policy, with reasons."""

from engine.tree.reach.borders import CLAIMS, OPEN, Border, BorderReason, Fences, Promise, Reach
from engine.tree.reach.guarantees import border, claims, claims_of_all
from engine.tree.reach.guarantees import kind as kind_by_guarantees
from engine.tree.reach.neighbours import Neighbour, neighbours
from engine.tree.reach.priorities import border as border_of_priorities
from engine.tree.reach.priorities import kind as kind_by_priorities
from engine.tree.reach.quota import by_quota
from engine.tree.reach.shares import border as border_of_shares
from engine.tree.reach.shares import kind as kind_by_shares

BY_GUARANTEES = Reach(
    policy="fence", border=border, kind=kind_by_guarantees, fences=Fences.ONE_WAY, promise=Promise.GUARANTEE
)
BY_PRIORITIES = Reach(
    policy="priority",
    border=border_of_priorities,
    kind=kind_by_priorities,
    fences=Fences.NONE,
    promise=Promise.NOTHING,
    within=True,
)
BY_SHARES = Reach(
    policy="deserved", border=border_of_shares, kind=kind_by_shares, fences=Fences.ONE_WAY, promise=Promise.SHARE
)

__all__ = [
    "BY_GUARANTEES",
    "BY_PRIORITIES",
    "BY_SHARES",
    "CLAIMS",
    "OPEN",
    "Border",
    "BorderReason",
    "Fences",
    "Neighbour",
    "Promise",
    "Reach",
    "border",
    "by_quota",
    "claims",
    "claims_of_all",
    "neighbours",
]
