"""Judge the tiers of a pending pod under policy ``deserved`` where pods are decided, or evicted, in groups."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

import msgspec

from engine.model.decision import Decision, Reason
from engine.model.objects import Pod
from engine.model.pending_reasons import Need, Tier, TierName
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.eviction_units import group_of
from engine.policies.common.groups.members import is_member
from engine.policies.common.groups.pending_tiers import decide_for, gang_tiers
from engine.policies.common.policy_types import MAKES_ROOM
from engine.policies.deserved.groups.decision import decide_with_groups
from engine.policies.deserved.parameters import Parameters


def decided_in_time(snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> Decision:
    """Return the decision that covers a pending pod, as if the scheduler had tried it and all pods of its group."""
    snapshot = snapshot.asking(_tried(ask))
    group = group_of(snapshot, ask)
    for pod in snapshot.asks if group is not None else ():
        if group is not None and is_member(group, pod):
            snapshot = snapshot.asking(_tried(pod))
    return decide_for(partial(decide_with_groups, parameters=parameters), snapshot, tree, _tried(ask))


def _tried(pod: Pod) -> Pod:
    return msgspec.structs.replace(pod, unschedulable_ms=pod.unschedulable_ms or 0)


def makes_room(decision: Decision) -> bool:
    """Return whether there is room, or the policy makes some, once all grace periods are over."""
    return decision.outcome in MAKES_ROOM or decision.reason is Reason.GRACE


def of_group(decision: Decision, now_ms: int) -> Iterator[Tier]:
    """Yield the tiers of a pod by the decision about its gang."""
    existing, *nodes = gang_tiers(decision) or (None,)
    if existing is not None:
        yield existing
    if decision.reason is Reason.BEYOND_DESERVED:
        yield Tier.of(TierName.DESERVED, _deserved(decision))
    if decision.reason is Reason.GRACE:
        victims = {figures.queue for figures in decision.trace.deserved}
        due = (one for one in decision.notices if one.queue in victims and one.due_ms > now_ms)
        yield Tier(name=TierName.GRACE, passes=False, notices=tuple(due))
    yield from (tier for tier in nodes if tier is not None)


def _deserved(decision: Decision) -> Iterator[Need]:
    """Yield what the queue would use with as many pods of the gang as have to run at once, and what it deserves."""
    assert decision.group
    wanted = islice(decision.pending, max(1, decision.group.needed - decision.group.bound))
    requests, path = total(pod.requests for pod in wanted), decision.ask.queue
    status = next(figures for figures in decision.trace.deserved if figures.queue == path)
    for name, amount in sorted(requests.items()):
        if amount > 0:
            used = status.used.get(name, 0)
            yield Need(where=path, resource=name, required=used + amount, available=status.deserved.get(name, 0))


def beside_groups(tiers: Iterable[Tier], decision: Decision) -> tuple[Tier, ...]:
    """Return the tiers of a single pod; none where it gets room by the eviction of a whole group, unknown to them."""
    found = tuple(tiers)
    passes = all(tier.passes or tier.name is TierName.GRACE for tier in found)
    return found if passes or not makes_room(decision) else ()
