"""Tracks which queues are notified to give back what they use beyond what they deserve, and since when."""

from collections.abc import Iterable, Mapping

from engine.model.decision import Decision


def updated_notices(previous: Mapping[str, int], decisions: Iterable[Decision], now_ms: int) -> dict[str, int]:
    """Return queue -> when it was notified, after a pass. A queue that no decision of it names is dropped."""
    named = {notice.queue for decision in decisions for notice in decision.notices}
    return {queue: previous.get(queue, now_ms) for queue in sorted(named)}
