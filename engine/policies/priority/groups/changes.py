"""What would have changed a decision where groups of pods are placed and evicted together."""

from collections.abc import Iterator

import msgspec

from engine.model.change import Change
from engine.model.counterfactual import Counterfactual, Then
from engine.model.decision import Decision
from engine.model.objects import Pod, SchedulingGroup
from engine.model.snapshot.eviction_units import pod_group_of, units_of
from engine.policies.common.counterfactuals import VictimSettings, changes_of_request
from engine.policies.common.decide_again import Again
from engine.policies.common.groups.changes import changes_of_group


def changes_of_ask(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    """Yield smaller requests, and a smaller number of pods at once, that need no preemption."""
    group = pod_group_of(again.snapshot, again.ask)
    if group is None:
        yield from changes_of_request(again, decision)
        return
    yield from changes_of_group(again, group)


def changes_of_victim(again: Again, decision: Decision, uid: str) -> Iterator[Counterfactual]:
    """Yield changes of a victim, by its uid, or of its group, that would have spared it."""
    own = VictimSettings(again, decision, uid)
    group = pod_group_of(again.snapshot, own.pod)
    if group is None:
        yield from own.priority()
    else:
        yield from _higher_priority(again, decision, own.pod, group)
    yield from own.requests()
    yield from own.start()


def _higher_priority(again: Again, decision: Decision, pod: Pod, group: SchedulingGroup) -> Iterator[Counterfactual]:
    """Yield the lowest priority of the victim's group that spares the victim."""
    asking = decision.group.priority if decision.group else decision.ask.priority
    others = {int(priority) for priority in set(units_of(again.snapshot).priority.tolist())} | {asking}
    tries = again.tries()
    for priority in sorted({one + more for one in others for more in (0, 1) if group.priority < one + more <= asking}):
        if not tries.take():
            return
        changed = msgspec.structs.replace(group, priority=priority)
        decided = again.seeing(again.snapshot.with_group(changed)).as_it_was()
        if all(victim.pod.uid != pod.uid for victim in decided.victims):
            change = {"spared": pod.key, "group": group.key, "priority": priority}
            yield Counterfactual.of(decided, Then.SPARED, Change.GROUP_PRIORITY, **change)
            return
