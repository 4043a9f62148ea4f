"""The order in which sets of victims are searched for a gang, or for a single pod where whole groups may go."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.feasibility.moving_checks import MovingChecks
from engine.model.objects import Pod
from engine.policies.common.groups.members_in_place import Placed
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.deserved.groups.search import ReclaimPlan, ReclaimSearch
from engine.policies.deserved.groups.terms import Terms, grace_stages


class FoundPlan(NamedTuple):
    """The result of a search in all stages."""

    terms: Terms
    """The terms of the stage that found a plan, or else of the last stage."""
    plan: ReclaimPlan | None
    in_time: bool
    """Whether the units may be preempted now."""
    gave_up: bool
    """Whether nothing was found and not all sets were tried."""


def search_stages(
    terms: Terms, shapes: MemberShapes, checks: dict[bytes, MovingChecks], placed: Placed, members: Sequence[Pod]
) -> FoundPlan:
    """Search for victims as for a single pod.

    First, every queue keeps what it deserves, and those whose grace periods are over come first. Then queues may end
    below that, because pods cannot be divided. At last, other sets are tried than those in the usual order.
    """
    stages = [(one, in_time, ReclaimSearch(one, shapes, checks, placed)) for one, in_time in grace_stages(terms)]
    if not stages:
        return FoundPlan(terms, None, in_time=False, gave_up=False)
    ways: tuple[Callable[[ReclaimSearch], ReclaimPlan | None], ...] = (
        lambda search: search.find(members, below=False),
        lambda search: search.find(members, below=True),
        lambda search: search.find_jointly(members),
    )
    for way in ways:
        for one, in_time, search in stages:
            if (plan := way(search)) is not None:
                return FoundPlan(one, plan, in_time=in_time or not _reclaims(plan), gave_up=False)
    return FoundPlan(stages[-1][0], None, in_time=False, gave_up=any(search.gave_up for _, _, search in stages))


def _reclaims(plan: ReclaimPlan) -> bool:
    """Return whether a queue has to give back for a plan."""
    return any(unit.lead not in plan.outranked for unit in plan.units)
