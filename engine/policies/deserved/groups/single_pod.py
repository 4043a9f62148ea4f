"""The search for a single pod where whole groups of running pods may go for it."""

from engine.model.snapshot.eviction_units import group_of
from engine.policies.common.groups.placing import MemberShapes
from engine.policies.deserved.attempt import ReclaimAttempt
from engine.policies.deserved.groups.stage_search import FoundPlan, search_stages
from engine.policies.deserved.groups.terms import MemberTerms


def search_with_groups(attempt: ReclaimAttempt) -> FoundPlan | None:
    """Search for units that make room for a pending pod; None where no whole group may go.

    Where pods of other nodes matter to the pod, a plan without any whole group is not returned: for it, terminating
    pods of other nodes count as they do without groups.
    """
    if not attempt.snapshot.groups or not attempt.parameters.node_fit:
        return None
    terms = MemberTerms(attempt, group_of(attempt.snapshot, attempt.ask))
    if not terms.units.any_whole:
        return None
    shapes = MemberShapes(attempt.snapshot, (attempt.ask,))
    checks = shapes.without(attempt.leaving, ~attempt.nodes.open).checks
    found = search_stages({attempt.ask.uid: terms}, shapes, checks, (), (attempt.ask,))
    whole = terms.units.units.whole
    if found.plan is None or any(whole[unit.lead] for unit in found.plan.units):
        return found
    return found if all(each.local for each in checks.values()) else None
