"""The decoded trees that a process keeps."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import ParamSpec

from cachetools import LRUCache, cached

from engine.model.queue_tree import QueueTree

P = ParamSpec("P")

KEPT_QUEUES = 65_000
"""Queues of all trees that are kept together. A queue takes 1.4 kB, so these are up to 91 MB."""

_TREES: LRUCache[Hashable, QueueTree] = LRUCache(KEPT_QUEUES, getsizeof=lambda tree: len(tree.queues))
_LOCK = Lock()


def keep_trees(key: Callable[P, Hashable]) -> Callable[[Callable[P, QueueTree]], Callable[P, QueueTree]]:
    """Keep the trees that a function returns, as long as they are among those that were used last.

    ``key`` tells trees apart, by the arguments of the function. All functions share what is kept. A larger tree than
    all that may be kept is decoded every time.
    """
    return cached(_TREES, key=key, lock=_LOCK)


def forget_trees() -> None:
    """Decode all trees anew, as in a process that has just begun."""
    with _LOCK:
        _TREES.clear()
