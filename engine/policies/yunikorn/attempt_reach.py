"""The leaves in which a pending pod may find victims under YuniKorn's rules, and the highest priority of these victims.

Source: FindEligiblePreemptionVictims of yunikorn-core.
"""

from typing import TYPE_CHECKING

import numpy as np

from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.quantities import add
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, QueueTree
from engine.policies.yunikorn.queue_balances import QueueBalances, fits
from engine.policies.yunikorn.victims.remaining_guarantees import RemainingGuarantees

if TYPE_CHECKING:
    from engine.model.columns.node_columns import Flags, Numbers

ANY = 2**40
"""A limit above every priority. As a limit of a leaf, it means that pods of any priority may be victims."""


class AttemptReach:
    """The subtree that is searched for victims, and for each leaf a priority limit or a reason to exclude it.

    Arrays are indexed by the leaf numbers of the pod table.
    """

    def __init__(self, balances: QueueBalances, guarantees: RemainingGuarantees, ask: Pod, leaf: str) -> None:
        table, tree = balances.table, balances.tree
        self.root, priorities = _fence_root(tree, balances, ask, leaf)
        inside = table.ancestors[table.depth[table.queue[self.root]]] == table.queue[self.root]
        self.limits: Numbers = np.full(len(table.leaves) + 1, priorities[self.root], np.int64)
        """Leaf -> the highest priority of a victim there. ANY allows any priority, -ANY allows none."""
        if table.priorities_set:
            limits = _limits(tree, self.root, priorities)
            self.limits[:-1] = [limits.get(path, 0) for path in table.leaves]
        self.reasons: dict[PodReason, Flags] = {
            PodReason.NO_QUEUE: np.arange(len(table.leaves) + 1) == len(table.leaves),
            PodReason.SAME_QUEUE: np.arange(len(table.leaves) + 1) == table.number[leaf],
            PodReason.OUTSIDE_FENCE: ~inside,
            PodReason.DISABLED: table.disabled,
            PodReason.GUARANTEE: guarantees.within,
        }
        """Reason -> leaf -> whether it excludes all pods of the leaf. The first reason that applies counts."""
        if not balances.quirks.priorities_bend:
            self.limits = np.minimum(self.limits, ask.priority)


def _fence_root(tree: QueueTree, balances: QueueBalances, ask: Pod, leaf: str) -> tuple[str, dict[str, int]]:
    """Return the nearest queue upwards that limits the search, and the preemptor's priority at each queue up to it.

    Source: the walk upwards in FindEligiblePreemptionVictims of yunikorn-core.
    """
    priorities: dict[str, int] = {}
    current = ask.priority
    for path in tree.lineage(leaf):
        queue = tree[path]
        fenced = queue.priority_policy is PriorityPolicy.FENCE
        current = queue.priority_offset if fenced else current + queue.priority_offset
        priorities[path] = current
        if path == tree.root or queue.preemption_policy is PreemptionPolicy.FENCE or _full(balances, path, ask):
            break
    return path, priorities


def _full(balances: QueueBalances, path: str, ask: Pod) -> bool:
    """Return whether the pending pod would take the queue over its max, so that only victims inside it can help."""
    if not balances.quirks.max_fence:
        return False
    return not fits(add(balances.allocated[path], ask.requests), balances.effective_max(path), unlimited=True)


def _limits(tree: QueueTree, root: str, priorities: dict[str, int]) -> dict[str, int]:
    """Return for each leaf below ``root`` the highest priority of a victim there.

    -ANY allows no victims. ANY, for leaves behind a priority fence, allows any priority.

    Source: the walk downwards in FindEligiblePreemptionVictims of yunikorn-core.
    """
    found: dict[str, int] = {}
    pending = [(root, priorities[root], False)]
    while pending:
        path, current, fenced = pending.pop()
        children = tree.children[path]
        if not children and tree.is_leaf(path):
            found[path] = ANY if fenced and current > -ANY else current
        for child in children:
            queue = tree[child]
            if child in priorities:
                pending.append((child, priorities[child], fenced))
            elif current == -ANY:
                pending.append((child, current, fenced))
            elif queue.priority_policy is not PriorityPolicy.FENCE:
                pending.append((child, current - queue.priority_offset, fenced))
            else:
                reached = queue.priority_offset <= current
                pending.append((child, current if reached else -ANY, True))
    return found
