"""What many objects of a cluster say alike is made once and shared: it saves the making, and the memory."""

from functools import lru_cache

shared = lru_cache(maxsize=16_384)
"""For what is made of an object's parts, which are few in very many pods. What is made is never changed by anybody."""


@shared
def shared_map(items: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Labels and the like, by their items."""
    return dict(items)
