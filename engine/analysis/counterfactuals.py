"""What would have changed a decision, and how small a change would have done.

Nothing is estimated: every change that is reported was made, and decided again by the policy.
"""

from collections.abc import Iterator

from engine.model.counterfactual import Counterfactual, Then
from engine.model.decision import Decision, Outcome
from engine.policies import find
from engine.policies.common.decide_again import Again, Tries, least

__all__ = ["Again", "Counterfactual", "Then", "Tries", "counterfactuals", "counterfactuals_of_victim", "least"]


def counterfactuals(again: Again, decision: Decision) -> tuple[Counterfactual, ...]:
    """Return the smallest changes, one at a time, with which a pod that preempts takes less from others, or nothing.

    ``decision`` is the policy's on that snapshot. engine.analysis.pending_reasons says why other pods wait and what
    would help them, ``counterfactuals_of_victim`` which of a victim's own settings would have spared it. The work is
    bounded: what is not found in time is left out.
    """
    changes = find(decision.policy, decision.dialect).counterfactuals
    if changes is None or decision.outcome is not Outcome.PREEMPT:
        return ()
    return tuple(changes.of_ask(again, decision))


def counterfactuals_of_victim(again: Again, decision: Decision, uid: str) -> Iterator[Counterfactual]:
    """Yield changes that would have spared one of the decision's victims and that its own people can make."""
    changes = find(decision.policy, decision.dialect).counterfactuals
    if changes is not None and any(victim.pod.uid == uid for victim in decision.victims):
        yield from changes.of_victim(again, decision, uid)
