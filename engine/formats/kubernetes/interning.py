"""Sharing of equal values among the objects of a cluster, which saves conversion time and memory."""

from functools import lru_cache

shared = lru_cache(maxsize=16_384)
"""Cache for values made from parts of objects that have few distinct values in many pods. Cached values never change.
"""


@shared
def shared_map(items: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return a mapping such as labels from its items; equal items share a mapping."""
    return dict(items)
