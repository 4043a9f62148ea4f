"""A process keeps the trees that were used last, however large they are, in bounded memory."""

from engine.model.queue_tree import Queue, QueueTree
from scheduler_admin.queues.services.kept_trees import KEPT_QUEUES, keep_trees

_SIZES = {"large": KEPT_QUEUES // 2, "larger": KEPT_QUEUES // 2 + 1, "small": 10, "huge": KEPT_QUEUES + 1}


class _Trees:
    """Trees by name, with the names of those that were decoded."""

    def __init__(self) -> None:
        self.decoded: list[str] = []
        self.tree = keep_trees(key=lambda name: (self, name))(self._decode)

    def _decode(self, name: str) -> QueueTree:
        self.decoded.append(name)
        leaves = (Queue(path=f"root.{number}") for number in range(_SIZES[name] - 1))
        return QueueTree([Queue(path="root"), *leaves])


def test_a_tree_is_decoded_once() -> None:
    """Everybody has the same one."""
    trees = _Trees()
    assert trees.tree("small") is trees.tree("small")
    assert trees.decoded == ["small"]


def test_trees_that_were_not_used_for_the_longest_are_forgotten() -> None:
    """Their queues count: two large trees are too many together, a large and a small one are not."""
    trees = _Trees()
    for name in ("large", "small", "larger", "small", "larger", "large"):
        trees.tree(name)
    assert trees.decoded == ["large", "small", "larger", "large"]


def test_a_tree_of_more_queues_than_are_kept_is_decoded_every_time() -> None:
    """The others stay."""
    trees = _Trees()
    for name in ("small", "huge", "huge", "small"):
        trees.tree(name)
    assert trees.decoded == ["small", "huge", "huge"]
