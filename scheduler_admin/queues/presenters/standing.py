"""Where a queue stands: its usage against what it is promised and where it is capped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from engine.model.quantities import format_amount
from engine.model.queue_tree import GuaranteeStatus, QueueTree
from engine.policies import QueueShare, delay_inheriting_dialects
from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.queues.models import Queue

UNKNOWN = "unknown"
"""No pass has read the queue yet."""


@dataclass(frozen=True)
class ResourceStanding:
    """One resource of one queue, in amounts as people type them; None is not known, or not given."""

    used: str | None
    guaranteed: str | None
    max: str | None
    guarantee_status: str
    """A GuaranteeStatus, or UNKNOWN."""
    difference: str | None
    """``used - guaranteed``; without a guarantee, what is used."""
    requested: str | None
    """By its pods, running and waiting; None where the policy is not ``deserved``."""
    deserved: str | None
    """The same."""
    deserved_status: str | None
    """As ``guarantee_status``, against what it deserves; the same."""
    lent: str | None
    """What others use of what it is promised."""


@dataclass(frozen=True)
class QueueStanding:
    """A queue of the current revision with what the last pass read of it."""

    queue: Queue
    resources: Mapping[str, ResourceStanding]
    share: QueueShare | None
    """By which the policy compares the queue with others; None where it compares no shares."""
    pending_pods: int | None
    oldest_pending_at: datetime | None
    fence: str | None
    """The nearest queue from this one upwards that has a fence."""
    delay_seconds: float | None
    """How long a pending pod of this leaf waits before it may preempt; None for queues that hold queues."""
    quota_delay_seconds: float | None
    """How long after its max was lowered pods go, in YuniKorn; None: none go for that."""

    @property
    def parent(self) -> str | None:
        """The path of the queue above."""
        return self.queue.path.rpartition(".")[0] or None


def stand(queue: Queue, status: ClusterStatus | None, tree: QueueTree, *, dialect: str) -> QueueStanding:
    """A queue's standing in its tree; what was never read is unknown rather than nothing."""
    read: Mapping[str, Any] | None = status.queues.get(queue.path) if status else None
    given = read or {}
    names = sorted({*queue.own.guaranteed, *queue.own.max, *given.get("used", {}), *given.get("deserved", {})})
    oldest = read.get("oldest_ask_ms") if read else None
    delay_ms = tree.delay_ms(queue.path, inherited=dialect in delay_inheriting_dialects()) if queue.leaf else None
    return QueueStanding(
        queue=queue,
        resources={name: _resource(name, queue, read) for name in names},
        share=share_of(given),
        pending_pods=read["asks"] if read else None,
        oldest_pending_at=datetime.fromtimestamp(oldest / 1000, UTC) if oldest is not None else None,
        fence=tree.fence(queue.path),  # only ever a part of its own path: it tells a tenant nothing of other queues
        delay_seconds=_seconds(delay_ms),
        quota_delay_seconds=_seconds(tree.quota_delay_ms(queue.path)),
    )


def share_of(figures: Mapping[str, Any]) -> QueueShare | None:
    """The share of a queue as the last pass stored it; None where the policy compares no shares."""
    stored = figures.get("share")
    return None if stored is None else msgspec.convert(stored, QueueShare)


def _resource(name: str, queue: Queue, read: Mapping[str, Any] | None) -> ResourceStanding:
    has, requested, deserved, lent = [
        read[figure].get(name, 0) if read and figure in read else None
        for figure in ("used", "requested", "deserved", "lent")
    ]
    promised = queue.own.guaranteed.get(name)
    return ResourceStanding(
        used=_text(name, has),
        guaranteed=_text(name, promised),
        max=_text(name, queue.own.max.get(name)),
        guarantee_status=UNKNOWN if has is None else GuaranteeStatus.of(has, promised).value,
        difference=None if has is None else format_amount(name, has - (promised or 0)),
        requested=_text(name, requested),
        deserved=_text(name, deserved),
        deserved_status=None if has is None or deserved is None else GuaranteeStatus.of(has, deserved).value,
        lent=_text(name, (lent or 0) if read else None),
    )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _text(resource: str, amount: int | None) -> str | None:
    return None if amount is None else format_amount(resource, amount)
