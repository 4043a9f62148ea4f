"""What would have been decided otherwise, and by how small a change.

Nothing is estimated: every change that is told of was made, and decided again by the policy.
"""

from collections.abc import Iterator

from engine.counterfactual.again import Again
from engine.counterfactual.asking import for_ask
from engine.counterfactual.eligible import for_asker
from engine.counterfactual.own import for_own
from engine.counterfactual.results import Change, Counterfactual, Then
from engine.counterfactual.retrying import Retrying
from engine.counterfactual.sparing import by_smaller_ask
from engine.decision import Decision
from engine.policies import priority

__all__ = ["Again", "Change", "Counterfactual", "Then", "counterfactuals", "for_own"]

_VICTIMS = 3
"""Of so many victims it is worked out what would have spared them."""


def counterfactuals(again: Again, decision: Decision) -> tuple[Counterfactual, ...]:
    """The smallest changes, one at a time, that give the ask what it lacked or spare the ``decision``'s victims.

    ``decision`` is the policy's on that snapshot. The work is bounded: what is not found in time is not told of.
    """
    return tuple(_counterfactuals(again, decision))


def _counterfactuals(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    victims = decision.victims[:_VICTIMS]
    if decision.policy == priority.POLICY:
        retrying = Retrying(again.snapshot, again.ask)
        yield from for_ask(retrying, decision)
        if victims:
            yield from by_smaller_ask(retrying, victims)
    else:
        yield from for_asker(again, decision)
    for victim in victims:
        yield from for_own(again, decision, victim.pod.uid)
