"""What would have been decided otherwise, and by how small a change: of policy ``priority``.

Nothing is estimated: every change that is told of was made, and decided again by the policy.
"""

from engine.counterfactual.asking import for_ask
from engine.counterfactual.results import Change, Counterfactual, Then
from engine.counterfactual.retrying import Retrying
from engine.counterfactual.sparing import for_victims
from engine.decision import Decision
from engine.snapshot import Pod, Snapshot

__all__ = ["Change", "Counterfactual", "Then", "counterfactuals"]


def counterfactuals(snapshot: Snapshot, ask: Pod, decision: Decision) -> tuple[Counterfactual, ...]:
    """The smallest changes, one at a time, that give ``ask`` what it lacked or spare the ``decision``'s victims.

    ``decision`` is the policy's on that snapshot. The work is bounded: what is not found in time is not told of.
    """
    retrying = Retrying(snapshot.without_reservation(ask.uid), ask)
    return (*for_ask(retrying, decision), *for_victims(retrying, decision))
