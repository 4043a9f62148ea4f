"""What would have changed a decision of policy ``priority``: by the pending pod, or by a victim's own settings."""

from collections.abc import Iterator

from engine.model.counterfactual import Counterfactual
from engine.model.decision import Decision
from engine.policies.common.counterfactuals import VictimSettings
from engine.policies.common.decide_again import Again
from engine.policies.priority.preemptor_changes import for_ask
from engine.policies.priority.retry import retrying_of
from engine.policies.priority.victim_changes import by_budget, by_priority, by_smaller_ask

_VICTIMS = 3
"""The number of victims for which the smaller request that would spare them is worked out."""


def changes_of_ask(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    """Yield changes of the pending pod with which it preempts nothing, or spares one of its first victims."""
    retrying = retrying_of(again)
    yield from for_ask(retrying, decision)
    yield from by_smaller_ask(retrying, decision.victims[:_VICTIMS])


def changes_of_victim(again: Again, decision: Decision, uid: str) -> Iterator[Counterfactual]:
    """Yield changes of a victim, by its uid, that would have spared it."""
    retrying = retrying_of(again)
    victim = next(evicted for evicted in decision.victims if evicted.pod.uid == uid)
    own = VictimSettings(again.seeing(retrying.decisive[0]), decision, uid)
    yield from by_priority(retrying, victim)
    yield from own.requests()
    yield from own.start()
    yield from by_budget(retrying, victim)
