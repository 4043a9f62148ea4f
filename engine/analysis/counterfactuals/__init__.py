"""What would have been decided otherwise, and by how small a change.

Nothing is estimated: every change that is told of was made, and decided again by the policy.
"""

from collections.abc import Iterator

from engine.analysis.counterfactuals.counterfactual import Counterfactual, Then
from engine.analysis.counterfactuals.decide_again import Again, least
from engine.analysis.counterfactuals.preemptor_changes import for_ask
from engine.analysis.counterfactuals.retry import Tries
from engine.analysis.counterfactuals.smaller_request import by_smaller_request
from engine.analysis.counterfactuals.victim_changes import by_smaller_ask
from engine.analysis.counterfactuals.victim_settings import for_own
from engine.model.decision import Decision, Outcome
from engine.policies import priority

__all__ = ["Again", "Counterfactual", "Then", "Tries", "counterfactuals", "for_own", "least"]


def counterfactuals(again: Again, decision: Decision) -> tuple[Counterfactual, ...]:
    """The smallest changes, one at a time, with which an ask that preempts takes less from others, or nothing.

    ``decision`` is the policy's on that snapshot. engine.analysis.pending_reasons says why other
    pods wait and what would help them, ``for_own`` what of a victim's own would have spared it. The work is bounded:
    what is not found in time is left out.
    """
    return tuple(_counterfactuals(again, decision))


def _counterfactuals(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    if decision.outcome is not Outcome.PREEMPT:
        return
    if decision.policy == priority.POLICY:
        yield from for_ask(again.retrying, decision)
        yield from by_smaller_ask(again.retrying, decision.victims[:_VICTIMS])
    else:
        yield from by_smaller_request(again)


_VICTIMS = 3
"""Of so many victims it is worked out with which smaller ask they would stay."""
