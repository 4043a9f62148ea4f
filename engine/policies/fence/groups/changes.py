"""What would have changed a decision of policy ``fence`` where groups of pods are placed together."""

from collections.abc import Iterator

from engine.model.counterfactual import Counterfactual
from engine.model.decision import Decision
from engine.model.snapshot.eviction_units import group_of
from engine.policies.common.counterfactuals import changes_of_request
from engine.policies.common.decide_again import Again
from engine.policies.common.groups.changes import changes_of_group


def changes_of_ask(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    """Yield smaller requests, and for a gang a smaller number of pods at once, that need no preemption."""
    group = group_of(again.snapshot, again.ask)
    if decision.group and group is not None:
        yield from changes_of_group(again, group)
    else:
        yield from changes_of_request(again, decision)
