"""Under fair sharing whose ask is decided next."""

from collections.abc import Sequence
from typing import Any

from engine.policies.cohort.moments import ground_of
from engine.quota import share_of
from engine.quota.gathering import Gathered
from engine.snapshot import Pod


def first(at: Gathered, asks: Sequence[Pod]) -> Pod:
    """Of the queue to which the lowest share leads, from the top of its cohorts down; of one queue whose turn it is.

    Source: Kueue's pkg/scheduler, fair_sharing_iterator.go, which looks at the first of every queue likewise.
    """
    heads: dict[str, Pod] = {}
    for ask in asks:
        heads.setdefault(ask.queue or "", ask)
    return min(heads.values(), key=lambda ask: (_path(at, ask.queue or ""), ask.turn))


def _path(at: Gathered, queue: str) -> tuple[Any, ...]:
    """The shares on the way down; an ask of no queue, of which there is nothing to decide, comes at once."""
    tree, usage = at.formed.tree, ground_of(at).usage
    if queue not in tree.queue:
        return ()
    node = tree.queue[queue]
    return tuple(share_of(usage, one).rank for one in reversed((node, *tree.above(node))))
