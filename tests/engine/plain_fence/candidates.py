"""Who may be a victim under policy ``fence``, and why everybody else may not."""

import msgspec

from engine.decision import PodReason
from engine.queues import PriorityPolicy, QueueTree
from engine.snapshot import Pod, Shield, Snapshot
from tests.engine.plain_fence.usage import Ledger

Verdict = tuple[PodReason, str]
"""Why a pod is no candidate, and the queue, priority or class that this names."""


ORDER = (
    PodReason.TERMINATING,
    PodReason.NO_QUEUE,
    PodReason.DAEMONSET,
    PodReason.SHIELDED,
    PodReason.SAME_QUEUE,
    PodReason.SAME_APPLICATION,
    PodReason.OUTSIDE_FENCE,
    PodReason.DISABLED,
    PodReason.HIGHER_PRIORITY,
    PodReason.ENTITLED_SUBTREE,
    PodReason.OPTED_OUT,
    PodReason.GUARANTEE,
)
"""Of several reasons the first is told."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What an ask is entitled to and how far it reaches."""

    ask: Pod
    leaf: str
    fence: str | None
    entitling: dict[str, str]
    opted_out: bool
    """Whether pods that opted out may be taken: the last resort."""


def judge(snapshot: Snapshot, tree: QueueTree, ledger: Ledger, claim: Claim) -> dict[str, Verdict | None]:
    """Uid of every pod on a node -> why it is no candidate, None when it is one."""
    limits = priority_limits(tree, claim)
    return {
        pod.uid: _why_not(pod, tree, ledger, claim, limits) for pods in snapshot.pods_by_node.values() for pod in pods
    }


def candidates_of(snapshot: Snapshot, verdicts: dict[str, Verdict | None]) -> dict[str, list[Pod]]:
    """Node -> its candidates."""
    return {
        node: [pod for pod in pods if pod.uid in verdicts and verdicts[pod.uid] is None]
        for node, pods in snapshot.pods_by_node.items()
    }


def _why_not(pod: Pod, tree: QueueTree, ledger: Ledger, claim: Claim, limits: dict[str, int]) -> Verdict | None:
    """The first reason why a pod is no candidate."""
    if pod.terminating:
        return PodReason.TERMINATING, ""
    if pod.queue is None:
        return PodReason.NO_QUEUE, ""
    if pod.daemonset:
        return PodReason.DAEMONSET, pod.controller
    if pod.shield is not Shield.NONE:
        return PodReason.SHIELDED, str(pod.shield)
    if pod.queue == claim.leaf:  # law 3, and preemption is between queues
        return PodReason.SAME_QUEUE, pod.queue
    if (pod.namespace, pod.application) == (claim.ask.namespace, claim.ask.application):
        return PodReason.SAME_APPLICATION, pod.application
    if claim.fence is not None and not tree.contains(claim.fence, pod.queue):  # law 7
        return PodReason.OUTSIDE_FENCE, claim.fence
    if disabled := tree.disabled_by(pod.queue):
        return PodReason.DISABLED, disabled
    if pod.priority > limits.get(pod.queue, claim.ask.priority):  # law 6
        return PodReason.HIGHER_PRIORITY, str(pod.priority)
    for path in claim.entitling.values():
        if tree.contains(path, pod.queue):
            return PodReason.ENTITLED_SUBTREE, path
    if pod.opted_out and not claim.opted_out:  # law 1
        return PodReason.OPTED_OUT, pod.priority_class
    if (below := ledger.keeps_guarantees(claim.ask, (pod,))) is not None:  # laws 2 and 5
        return PodReason.GUARANTEE, below
    return None


def priority_limits(tree: QueueTree, claim: Claim) -> dict[str, int]:
    """Leaf -> the highest priority that may be taken there.

    The pods' own priorities always bound it (law 6). YuniKorn's priority.policy and priority.offset may narrow that,
    never widen it: offsets below the asker's fence are taken off on the way down, as yunikorn-core's
    FindEligiblePreemptionVictims does.
    """
    own = claim.ask.priority
    top = claim.fence or tree.root
    on_path: dict[str, int] = {}
    current = own
    for path in tree.lineage(claim.leaf):
        queue = tree[path]
        fenced = queue.priority_policy is PriorityPolicy.FENCE
        current = queue.priority_offset if fenced else current + queue.priority_offset
        on_path[path] = current
        if path == top:
            break
    limits: dict[str, int] = {}

    def descend(path: str, current: int) -> None:
        if tree.is_leaf(path):
            limits[path] = min(own, current)
        for child in tree.children[path]:
            queue = tree[child]
            if child in on_path:
                descend(child, on_path[child])
            elif queue.priority_policy is PriorityPolicy.FENCE:
                # Behind a priority fence all are taken or none; law 6 still bounds each.
                whole = own if queue.priority_offset <= current else -(2**31)
                limits.update({leaf: whole for leaf in tree.walk(child) if tree.is_leaf(leaf)})
            else:
                descend(child, current - queue.priority_offset)

    descend(top, on_path[top])
    return limits
