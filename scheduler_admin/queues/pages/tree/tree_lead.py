"""The sentence above the tree that says what matters now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scheduler_admin.core.words import names, queue_name
from scheduler_admin.queues.selectors.queues import TreeRow


@dataclass(frozen=True)
class Lead:
    """What the sentence is about.

    ``short``: asks wait below a guarantee; ``waiting``: asks wait, each queue has its guarantee; ``over``: nobody
    waits, a queue is above its guarantee; ``quiet``: nothing of these.
    """

    kind: Literal["short", "waiting", "over", "quiet"]
    path: str = ""
    resources: str = ""
    every: bool = False
    asks: int = 0
    oldest_ask_ms: int | None = None
    granted: bool = True
    """With ``waiting``: whether any queue that asks has a guarantee at all."""
    shared: bool = False
    """Whether usage is held against what queues deserve, rather than what is guaranteed to them."""

    @property
    def name(self) -> str:
        """The queue's name."""
        return queue_name(self.path)


def lead(rows: Sequence[TreeRow]) -> Lead:
    """The lead of a tree: the queue below its promise whose ask has waited longest, else the next best thing."""
    return replace(_lead(rows), shared=any(row.shared for row in rows))


def _lead(rows: Sequence[TreeRow]) -> Lead:
    leaves = [row for row in rows if row.queue.leaf]
    waiting = sorted((row for row in leaves if row.asks), key=lambda row: row.oldest_ask_ms or 0)
    short = [row for row in waiting if row.below]
    if short:
        row = short[0]
        promised = [figure.resource for figure in row.figures if figure.promised]
        every = len(row.below) == len(promised) > 1
        return Lead("short", row.path, names(row.below), every, row.asks, row.oldest_ask_ms)
    if waiting:
        asks = sum(row.asks for row in waiting)
        granted = any(figure.promised for row in waiting for figure in row.figures)
        oldest_ms = waiting[0].oldest_ask_ms
        return Lead("waiting", waiting[0].path, asks=asks, oldest_ask_ms=oldest_ms, granted=granted)
    over = max(leaves, key=lambda row: max((f.excess for f in row.figures), default=0.0), default=None)
    if over is not None and over.above:
        return Lead("over", over.path, names(over.above))
    return Lead("quiet")
