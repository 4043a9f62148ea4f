"""Who is told to give back what they use beyond what they deserve, and since when."""

from collections.abc import Iterable, Mapping

from engine.model.decision import Decision


def followed(previous: Mapping[str, int], decisions: Iterable[Decision], now_ms: int) -> dict[str, int]:
    """Queue -> when it was told, after a pass. Whoever no decision of it names any more is forgotten."""
    named = {notice.queue for decision in decisions for notice in decision.notices}
    return {queue: previous.get(queue, now_ms) for queue in sorted(named)}
