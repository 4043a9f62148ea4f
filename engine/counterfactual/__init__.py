"""What would have been decided otherwise, and by how small a change.

Nothing is estimated: every change that is told of was made, and decided again by the policy.
"""

from collections.abc import Iterator

from engine.counterfactual.again import Again, least
from engine.counterfactual.asking import for_ask
from engine.counterfactual.fitting import by_smaller_request
from engine.counterfactual.own import for_own
from engine.counterfactual.results import Counterfactual, Then
from engine.counterfactual.retrying import Tries
from engine.counterfactual.sparing import by_smaller_ask
from engine.decision import Decision, Outcome
from engine.policies import priority

__all__ = ["Again", "Counterfactual", "Then", "Tries", "counterfactuals", "for_own", "least"]


def counterfactuals(again: Again, decision: Decision) -> tuple[Counterfactual, ...]:
    """The smallest changes, one at a time, with which an ask that preempts takes less from others, or nothing.

    ``decision`` is the policy's on that snapshot. Why others wait, and what would help them, is told by engine.waiting.
    What of a victim's own would have spared it: see ``for_own``. The work is bounded: what is not found in time is not
    told of.
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
