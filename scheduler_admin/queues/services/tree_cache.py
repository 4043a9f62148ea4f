"""Trees that were read last, so that pages and requests need not read them again."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from engine.formats.tree_json.canonical import decode_tree
from engine.model.queue_tree import QueueTree

MOST_TREES = 64
MOST_QUEUES = 100_000
"""Queues of all trees that are kept together; they take about 100 MB."""


class TreeCache:
    """The trees that were asked for last: a number of small ones, or a few of 20,000 queues."""

    def __init__(self) -> None:
        self._trees: OrderedDict[Hashable, QueueTree] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, document: Callable[[], str]) -> QueueTree:
        """Return the tree of a key, read from its canonical document where it is not known."""
        with self._lock:
            tree = self._trees.get(key)
            if tree is not None:
                self._trees.move_to_end(key)
                return tree
        tree = decode_tree(document().encode())
        with self._lock:
            self._trees[key] = tree
            queues = sum(len(each.queues) for each in self._trees.values())
            while len(self._trees) > 1 and (queues > MOST_QUEUES or len(self._trees) > MOST_TREES):
                _key, oldest = self._trees.popitem(last=False)
                queues -= len(oldest.queues)
        return tree

    def clear(self) -> None:
        """Forget all trees."""
        with self._lock:
            self._trees.clear()


TREES = TreeCache()
"""Those of this process."""
