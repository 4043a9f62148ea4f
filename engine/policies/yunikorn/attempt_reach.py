"""How far an ask reaches under YuniKorn's rules: which leaves may be taken from, and up to which priority.

Source: FindEligiblePreemptionVictims of yunikorn-core.
"""

from typing import TYPE_CHECKING

import numpy as np

from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.quantities import add
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, QueueTree
from engine.policies.yunikorn.queue_balances import QueueBalances, fits
from engine.policies.yunikorn.remaining_guarantees import RemainingGuarantees

if TYPE_CHECKING:
    from engine.model.columns.node_columns import Flags, Numbers

ANY = 2**40
"""Above every priority."""


class AttemptReach:
    """In whose subtree victims are looked for; of every leaf why nothing may go, or up to which priority something."""

    def __init__(self, books: QueueBalances, lines: RemainingGuarantees, ask: Pod, leaf: str) -> None:
        table, tree = books.table, books.tree
        self.root, priorities = _fence_root(tree, books, ask, leaf)
        inside = table.line[table.depth[table.queue[self.root]]] == table.queue[self.root]
        self.limits: Numbers = np.full(len(table.leaves) + 1, priorities[self.root], np.int64)
        """Leaf -> the highest priority that may go there; ANY: any, -ANY: none."""
        if table.priorities_set:
            limits = _limits(tree, self.root, priorities)
            self.limits[:-1] = [limits.get(path, 0) for path in table.leaves]
        self.reasons: dict[PodReason, Flags] = {
            PodReason.NO_QUEUE: np.arange(len(table.leaves) + 1) == len(table.leaves),
            PodReason.SAME_QUEUE: np.arange(len(table.leaves) + 1) == table.number[leaf],
            PodReason.OUTSIDE_FENCE: ~inside,
            PodReason.DISABLED: table.disabled,
            PodReason.GUARANTEE: lines.within,
        }
        """Why nothing may go, whatever its priority -> leaf -> whether it is so; the first that is so counts."""
        if not books.quirks.priorities_bend:
            self.limits = np.minimum(self.limits, ask.priority)


def _fence_root(tree: QueueTree, books: QueueBalances, ask: Pod, leaf: str) -> tuple[str, dict[str, int]]:
    """The first queue upwards that stops the search, and the ask's priority as each queue on the way sees it."""
    priorities: dict[str, int] = {}
    current = ask.priority
    for path in tree.lineage(leaf):
        queue = tree[path]
        fenced = queue.priority_policy is PriorityPolicy.FENCE
        current = queue.priority_offset if fenced else current + queue.priority_offset
        priorities[path] = current
        if path == tree.root or queue.preemption_policy is PreemptionPolicy.FENCE or _full(books, path, ask):
            break
    return path, priorities


def _full(books: QueueBalances, path: str, ask: Pod) -> bool:
    """Whether the ask would take the queue over its max: then only what runs in it can make room."""
    if not books.quirks.max_fence:
        return False
    return not fits(add(books.allocated[path], ask.requests), books.effective_max(path), unlimited=True)


def _limits(tree: QueueTree, root: str, priorities: dict[str, int]) -> dict[str, int]:
    """Every leaf below ``root``, with the highest priority that may go there; -ANY: none, ANY: any, past a fence."""
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
