"""Who may be a victim under policy ``fence``, and why everybody else may not."""

import msgspec

from engine.model.decision import PodReason
from engine.model.objects import Pod, Shield
from engine.model.queue_tree import PriorityPolicy, Queue, QueueTree
from engine.model.snapshot import Snapshot
from tests.engine.plain_fence.usage import Ledger

LOWEST = -(2**31)
"""No pod's priority is below this."""
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
    return {pod.uid: _why_not(pod, tree, ledger, claim) for pods in snapshot.pods_by_node.values() for pod in pods}


def candidates_of(snapshot: Snapshot, verdicts: dict[str, Verdict | None]) -> dict[str, list[Pod]]:
    """Node -> its candidates."""
    return {
        node: [pod for pod in pods if pod.uid in verdicts and verdicts[pod.uid] is None]
        for node, pods in snapshot.pods_by_node.items()
    }


def _why_not(pod: Pod, tree: QueueTree, ledger: Ledger, claim: Claim) -> Verdict | None:
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
    if pod.priority > highest_priority(tree, claim, pod.queue):  # law 6
        return PodReason.HIGHER_PRIORITY, str(pod.priority)
    for path in claim.entitling.values():
        if tree.contains(path, pod.queue):
            return PodReason.ENTITLED_SUBTREE, path
    if pod.opted_out and not claim.opted_out:  # law 1
        return PodReason.OPTED_OUT, pod.priority_class
    if (below := ledger.keeps_guarantees(claim.ask, (pod,))) is not None:  # laws 2 and 5
        return PodReason.GUARANTEE, below
    return None


def highest_priority(tree: QueueTree, claim: Claim, leaf: str) -> int:
    """The highest priority that may be taken from a leaf; below every one where none may.

    What the ask ranks as changes on its way up to the nearest queue above both, and from there down to the leaf:
    priority.offset counts up and then off again, and priority.policy `fence` ranks all below it as its own offset.
    Whatever comes of that, the ask's own priority is the highest (law 6).
    """
    up, down = _ways(tree, claim.leaf, leaf)
    rank = claim.ask.priority
    for queue in up:
        rank = queue.priority_offset if queue.priority_policy is PriorityPolicy.FENCE else rank + queue.priority_offset
    for queue in down:
        if queue.priority_policy is PriorityPolicy.FENCE:
            return claim.ask.priority if queue.priority_offset <= rank else LOWEST
        rank -= queue.priority_offset
    return min(claim.ask.priority, rank)


def _ways(tree: QueueTree, asker: str, leaf: str) -> tuple[list[Queue], list[Queue]]:
    """From the asker's leaf up to the first queue that is above both, that included, and from below it to the other."""
    mine, others = tree.lineage(asker), tree.lineage(leaf)
    met = next(path for path in mine if path in others)
    up, down = mine[: mine.index(met) + 1], others[: others.index(met)]
    return [tree[path] for path in up], [tree[path] for path in reversed(down)]
