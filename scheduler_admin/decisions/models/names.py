"""Numbers that stand for names, so that an index of many rows need not hold these."""

import hashlib
from enum import StrEnum
from functools import lru_cache


class Kind(StrEnum):
    """What of a pod has a name that decisions are found by."""

    QUEUE = "queue"
    NAMESPACE = "namespace"
    APPLICATION = "application"


@lru_cache(maxsize=10_000)
def number_of(cluster: int, kind: str, name: str) -> int:
    """The same one for ever. Two names may have the same, so rarely that it only must not matter."""
    said = f"{cluster} {kind} {name}".encode()
    return int.from_bytes(hashlib.sha256(said).digest()[:8], signed=True)
