"""How far an ask reaches under YuniKorn's rules: which leaves may be taken from, and up to which priority.

Source: FindEligiblePreemptionVictims of yunikorn-core.
"""

import msgspec

from engine.decision import PodReason
from engine.policies.yunikorn.books import Books, fits
from engine.policies.yunikorn.lines import Lines
from engine.queues import PreemptionPolicy, PriorityPolicy, QueueTree
from engine.resources import add
from engine.snapshot import Pod

ANY = 2**40
"""Above every priority."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """In whose subtree victims are looked for; of every leaf why nothing may go, or up to which priority something."""

    root: str
    reasons: dict[str, PodReason]
    limits: dict[str, int]


def reach(tree: QueueTree, books: Books, lines: Lines, ask: Pod, leaf: str) -> Reach:
    """What an ask of ``leaf`` may take from."""
    root, priorities = _fence_root(tree, books, ask, leaf)
    limits = _limits(tree, root, priorities)
    reasons: dict[str, PodReason] = {}
    for path, within in zip(tree.leaves, lines.within.tolist(), strict=False):
        reason = _reason(books, path, leaf, within=within) if path in limits else PodReason.OUTSIDE_FENCE
        if reason is None and limits[path] == -ANY:
            reason = PodReason.HIGHER_PRIORITY
        if reason is not None:
            reasons[path] = reason
    if not books.quirks.priorities_bend:
        limits = {path: min(limit, ask.priority) for path, limit in limits.items()}
    return Reach(root=root, reasons=reasons, limits={path: limits[path] for path in limits if path not in reasons})


def _fence_root(tree: QueueTree, books: Books, ask: Pod, leaf: str) -> tuple[str, dict[str, int]]:
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


def _full(books: Books, path: str, ask: Pod) -> bool:
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


def _reason(books: Books, path: str, leaf: str, *, within: bool) -> PodReason | None:
    if path == leaf:
        return PodReason.SAME_QUEUE
    if path in books.table.disabled:
        return PodReason.DISABLED
    return PodReason.GUARANTEE if within else None
