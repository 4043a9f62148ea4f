"""A queue is short while an ask waits for what it lacks of its guarantee."""

import msgspec

from engine.model.objects import Pod
from engine.observation.shortfalls import amounts_below_guarantee, shortfalls
from tests.builders import ask, pod, queue, tree

TREE = tree({"red": queue("8", fence=True), "red.batch": queue("4"), "red.idle": queue("4"), "blue": queue("2")})


def used(**held: dict[str, int]) -> dict[str, dict[str, int]]:
    """What each queue of TREE holds; nothing unless it is said."""
    return {path: held.get(path.rpartition(".")[2], {}) for path in TREE.queues}


def test_a_queue_is_short_of_what_an_ask_of_its_wants() -> None:
    """Not of a resource that nobody asks for, and not at its guarantee; a queue above knows of it too."""
    waiting = [ask("a", queue="red.batch"), ask("b", queue="red.batch")]
    placed = [_in(one, "root.red.batch") for one in waiting]
    assert shortfalls(TREE, used(batch={"cpu": 3999}), placed) == {"root.red.batch": 2, "root.red": 2}
    assert shortfalls(TREE, used(batch={"cpu": 4000}), placed) == {"root.red": 2}
    assert shortfalls(TREE, used(batch={"cpu": 4000}, red={"cpu": 8000}), placed) == {}
    memory = _in(pod("c", cpu=0, resources={"memory": "1Gi"}, unschedulable_ms=0), "root.red.batch")
    assert shortfalls(TREE, used(), [memory]) == {}
    assert shortfalls(TREE, used(), [_in(pod("new"), "root.red.batch")]) == {}  # the scheduler has not tried it


def _in(one: Pod, path: str) -> Pod:
    return msgspec.structs.replace(one, queue=path)


def test_what_is_lacking_is_told_as_it_is_guaranteed() -> None:
    """Of each resource of which less is used."""
    assert amounts_below_guarantee({"cpu": 4000, "memory": 1}, {"cpu": 4000}) == {"memory": 1}
