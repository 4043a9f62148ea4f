"""The sentence above the tree that says what matters now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scheduler_admin.core.translation import marked_up
from scheduler_admin.core.words import names, queue_name
from scheduler_admin.queues.selectors.queues import TreeRow
from scheduler_admin.site.templatetags.scheduler import lasting


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

    @property
    def sentence(self) -> SafeString:
        """The sentence in the reader's language."""
        sentence = self._by_shares() if self.shared else self._by_guarantees()
        wait = lasting(self.oldest_ask_ms)
        return marked_up(sentence, name=self.name, resources=self.resources, n=self.asks, wait=wait)

    def _by_guarantees(self) -> str:
        if self.kind == "short" and self.every:
            return _(
                "<strong>%(name)s is below its guarantee in every resource</strong>, and its oldest "
                "pending pod has waited %(wait)s."
            )
        if self.kind == "short":
            return _(
                "<strong>%(name)s is below its guarantee in %(resources)s</strong>, and its oldest "
                "pending pod has waited %(wait)s."
            )
        if self.kind == "waiting" and not self.granted:
            return ngettext(
                "<strong>%(n)s pod is pending</strong>: it has waited %(wait)s in %(name)s. Its queue has "
                "no guarantee.",
                "<strong>%(n)s pods are pending</strong>: the oldest has waited %(wait)s in %(name)s. "
                "None of their queues has a guarantee.",
                self.asks,
            )
        if self.kind == "waiting":
            return ngettext(
                "<strong>%(n)s pod is pending</strong>: it has waited %(wait)s in %(name)s. Its queue "
                "already has its full guarantee.",
                "<strong>%(n)s pods are pending</strong>: the oldest has waited %(wait)s in %(name)s. All "
                "of their queues already have their full guarantees.",
                self.asks,
            )
        if self.kind == "over":
            return _(
                "<strong>No pods are pending.</strong> %(name)s is furthest above its guarantee "
                "(%(resources)s), so its pods are preempted first when other queues need capacity."
            )
        return _("<strong>No pods are pending</strong>, and no queue is above its guarantee.")

    def _by_shares(self) -> str:
        if self.kind == "short" and self.every:
            return _(
                "<strong>%(name)s is below its deserved share of every resource</strong>, and its oldest "
                "pending pod has waited %(wait)s."
            )
        if self.kind == "short":
            return _(
                "<strong>%(name)s is below its deserved share of %(resources)s</strong>, and its oldest "
                "pending pod has waited %(wait)s."
            )
        if self.kind == "waiting":
            return ngettext(
                "<strong>%(n)s pod is pending</strong>: it has waited %(wait)s in %(name)s. Its queue "
                "already has its deserved share.",
                "<strong>%(n)s pods are pending</strong>: the oldest has waited %(wait)s in %(name)s. All "
                "of their queues already have their deserved shares.",
                self.asks,
            )
        if self.kind == "over":
            return _(
                "<strong>No pods are pending.</strong> %(name)s is furthest above its deserved share "
                "(%(resources)s), so it gives back first when other queues need capacity."
            )
        return _("<strong>No pods are pending</strong>, and no queue is above its deserved share.")


def lead(rows: Sequence[TreeRow]) -> Lead:
    """The lead of a tree: the queue below its promise whose ask has waited longest, else the next best thing."""
    return replace(_lead(rows), shared=any(row.deserved is not None for row in rows))


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
    over = max(leaves, key=lambda row: max((excess for excess, _ in row.excesses), default=0.0), default=None)
    if over is not None and over.above:
        return Lead("over", over.path, names(over.above))
    return Lead("quiet")
