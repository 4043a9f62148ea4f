"""The queues of a tree by number, which all snapshots under it share."""

import gc
import weakref

from engine.model.columns.queue_numbers import queue_numbers_of
from tests.builders import queue, tree


def test_all_snapshots_under_a_tree_share_its_numbers() -> None:
    """They are known without looking at pods, so that a new snapshot need not count queues again."""
    queues = tree({"prod": queue("4"), "test": queue("2")})
    assert queue_numbers_of(queues) is queue_numbers_of(queues)
    assert queue_numbers_of(tree({"prod": queue("4"), "test": queue("2")})) is not queue_numbers_of(queues)


def test_a_tree_is_freed_with_its_numbers_without_garbage_collection() -> None:
    """A worker collects rarely, and dynamic queues make a new tree each time that one comes or goes."""
    queues = tree({"prod": queue("4")})
    known, gone = queue_numbers_of(queues), weakref.ref(queues)
    gc.disable()
    try:
        del queues
        assert gone() is None
        assert known.paths == ("root", "root.prod")
    finally:
        gc.enable()


def test_what_is_known_of_queues_by_number() -> None:
    """The last number is no queue, and as far away as the root. On the root, disabling preemption has no effect."""
    numbers = queue_numbers_of(
        tree({"root": queue(disabled=True), "a": queue(disabled=True), "a.b": queue("2"), "c": queue("1")})
    )
    assert numbers.paths == ("root", "root.a", "root.a.b", "root.c")
    assert numbers.above.tolist() == [4, 0, 1, 0, 4]
    assert numbers.disabled.tolist() == [False, True, True, False, False]
    assert numbers.below("root.a").tolist() == [False, True, True, False, False]
    assert numbers.distance("root.a.b").tolist() == [2, 1, 0, 3, 2]
