"""How far an ask reaches under YuniKorn's rules: which leaves may be taken from, and up to which priority.

Source: FindEligiblePreemptionVictims of yunikorn-core.
"""

from collections.abc import Iterator

import msgspec

from engine.decision import PodReason
from engine.policies.yunikorn.books import Books, fits
from engine.queues import PreemptionPolicy, PriorityPolicy, QueueTree
from engine.resources import add
from engine.snapshot import Pod


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """A leaf, as the ask may take from it or not."""

    path: str
    reason: PodReason | None = None
    """Why nothing may be taken from it; None: something may."""
    limit: int | None = None
    """The highest priority that may be taken, None: any."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """The queue in whose subtree victims are looked for, and every leaf of the tree."""

    root: str
    leaves: dict[str, Leaf]


def reach(tree: QueueTree, books: Books, ask: Pod, leaf: str) -> Reach:
    """What an ask of ``leaf`` may take from."""
    root, priorities = _fence_root(tree, books, ask, leaf)
    found = {one.path: one for one in _down(tree, root, priorities, priorities[root], fenced=False)}
    outside = (Leaf(path=path, reason=PodReason.OUTSIDE_FENCE) for path in tree.leaves if path not in found)
    found |= {one.path: one for one in outside}
    return Reach(
        root=root,
        leaves={path: _judged(tree, books, one, ask, leaf) for path, one in found.items()},
    )


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


def _down(tree: QueueTree, path: str, priorities: dict[str, int], current: int, *, fenced: bool) -> Iterator[Leaf]:
    """Every leaf below ``path``; ``fenced``: a priority fence was passed, so that all priorities may go."""
    if tree.is_leaf(path):
        yield Leaf(path=path, limit=None if fenced else current)
    for child in tree.children[path]:
        if child in priorities:
            yield from _down(tree, child, priorities, priorities[child], fenced=fenced)
            continue
        queue = tree[child]
        if queue.priority_policy is not PriorityPolicy.FENCE:
            yield from _down(tree, child, priorities, current - queue.priority_offset, fenced=fenced)
        elif queue.priority_offset <= current:
            yield from _down(tree, child, priorities, current, fenced=True)
        else:
            yield from (Leaf(path=leaf, reason=PodReason.HIGHER_PRIORITY) for leaf in _leaves(tree, child))


def _leaves(tree: QueueTree, path: str) -> Iterator[str]:
    return (below for below in tree.walk(path) if tree.is_leaf(below))


def _judged(tree: QueueTree, books: Books, one: Leaf, ask: Pod, leaf: str) -> Leaf:
    if one.path == leaf:
        return Leaf(path=leaf, reason=PodReason.SAME_QUEUE)
    if one.reason is not None:
        return one
    if tree.disabled_by(one.path):
        return Leaf(path=one.path, reason=PodReason.DISABLED)
    remaining = books.remaining(one.path, leaf)
    if remaining is not None and all(amount >= 0 for amount in remaining.values()):
        return Leaf(path=one.path, reason=PodReason.GUARANTEE)
    if books.quirks.priorities_bend:
        return one
    return Leaf(path=one.path, limit=ask.priority if one.limit is None else min(one.limit, ask.priority))
