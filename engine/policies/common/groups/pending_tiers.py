"""Judge the tiers of a pending pod whose gang is decided as a whole."""

from engine.model.decision import Decision, Reason
from engine.model.objects import Pod
from engine.model.pending_reasons import Need, Tier, TierName
from engine.model.quantities import PODS
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.policy_types import MAKES_ROOM, Decide


def decide_for(decide: Decide, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Decision:
    """Return the decision that covers a pending pod: that about its gang, whichever member this is.

    If the pod waits for a placeholder that wants a node, it is the decision about that placeholder.
    """
    snapshot = snapshot.asking(ask) if ask.scheduling_group else snapshot
    decision = decide(snapshot, tree, ask)
    if decision.reason not in (Reason.DECIDED_WITH, Reason.PLACEHOLDER):
        return decision
    other = next((pod for pod in snapshot.asks if pod.key == decision.detail), None)
    return decision if other is None else decide_for(decide, snapshot, tree, other)


def placed_tiers() -> tuple[Tier, ...]:
    """Return the tiers of a pod that takes the place of a placeholder with a node: it has room."""
    return (Tier.of(TierName.GROUP_NODES, [Need(resource=PODS, required=1, available=1)]),)


def gang_tiers(decision: Decision) -> tuple[Tier, ...]:
    """Return the tiers of a pod by the decision about its gang; none if a member, or usage, can't be judged."""
    assert decision.group
    if decision.reason in (Reason.NO_QUEUE, Reason.UNREAD_RULES, Reason.UNREAD):
        return ()
    group, found = decision.group, len(decision.together) + 1
    existing = Tier.of(TierName.GROUP, [Need(resource=PODS, required=group.needed, available=group.bound + found)])
    if decision.reason is Reason.TOO_FEW_MEMBERS:
        return (existing,)
    if decision.reason is Reason.GATED_MEMBER:
        gated = decision.detail.rpartition("/")[2]
        return (existing, Tier(name=TierName.GROUP_GATES, passes=False, shut=gated))
    in_grace = decision.reason is Reason.GRACE
    evictable = max(group.needed, group.bound + 1) - group.scheduled if in_grace else _evicted_for(decision)
    need = Need(
        resource=PODS,
        required=max(group.needed, group.bound + 1),
        available=group.scheduled if in_grace else max(0, group.scheduled - evictable),
        evictable=evictable,
    )
    return (existing, Tier(name=TierName.GROUP_NODES, passes=in_grace or decision.outcome in MAKES_ROOM, needs=(need,)))


def _evicted_for(decision: Decision) -> int:
    """Return how many members get a node where pods are evicted."""
    nodes = {verdict.pod.node for verdict in decision.victims}
    return sum(node in nodes for node in decision.nodes.values())
