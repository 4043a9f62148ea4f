"""What would have changed a decision about a group of pods: smaller requests, and a smaller number of pods at once."""

from collections.abc import Iterator

import msgspec

from engine.model.change import Change
from engine.model.counterfactual import Counterfactual, Then
from engine.model.decision import Decision, Outcome
from engine.model.objects import Pod, SchedulingGroup
from engine.model.quantities import PODS
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import group_of
from engine.policies.common.counterfactuals import changes_of_request
from engine.policies.common.decide_again import Again, least
from engine.policies.common.groups.members import is_member


def changes_of_ask(again: Again, decision: Decision) -> Iterator[Counterfactual]:
    """Yield smaller requests, and for a gang a smaller number of pods at once, that need no preemption."""
    group = group_of(again.snapshot, again.ask)
    if decision.group and group is not None:
        yield from changes_of_group(again, group)
    else:
        yield from changes_of_request(again, decision)


def changes_of_group(again: Again, group: SchedulingGroup) -> Iterator[Counterfactual]:
    """Yield smaller requests, and a smaller number of pods at once, that need no preemption."""
    yield from _smaller_requests(again, group)
    yield from _fewer_members(again, group)


def _smaller_requests(again: Again, group: SchedulingGroup) -> Iterator[Counterfactual]:
    """Yield, for each resource alone, how much less each pod of the group would have to request."""
    waiting = tuple(pod for pod in again.snapshot.asks if is_member(group, pod))
    for name in sorted({name for pod in waiting for name, asked in pod.requests.items() if asked > 0 and name != PODS}):

        def decided(less: int, name: str = name) -> Decision:
            return again.seeing(_requesting_less(again.snapshot, waiting, name, less)).as_it_was()

        most = min(pod.requests.get(name, 0) for pod in waiting) - 1
        found = least(0, most, decided, _fits, again.tries(), guess=0)
        if found is not None:
            yield Counterfactual.of(decided(found), Then.FITS, Change.GROUP_REQUEST, smaller={name: found})


def _requesting_less(snapshot: Snapshot, pods: tuple[Pod, ...], resource: str, less: int) -> Snapshot:
    for pod in pods:
        requests = {**pod.requests, resource: pod.requests.get(resource, 0) - less}
        snapshot = snapshot.asking(msgspec.structs.replace(pod, requests=requests))
    return snapshot


def _fewer_members(again: Again, group: SchedulingGroup) -> Iterator[Counterfactual]:
    """Yield the largest number of pods at once that have room without preemption."""

    def decided(fewer: int) -> Decision:
        changed = msgspec.structs.replace(group, min_count=group.needed - fewer)
        return again.seeing(again.snapshot.with_group(changed)).as_it_was()

    found = least(0, group.needed - 1, decided, _fits, again.tries(), guess=1)
    if found is not None:
        yield Counterfactual.of(decided(found), Then.FITS, Change.MEMBERS, members=group.needed - found)


def _fits(decided: Decision) -> bool:
    return decided.outcome is Outcome.FITS
