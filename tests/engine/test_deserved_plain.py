"""What consumers deserve is worked out as the plain implementation does it, to the last unit."""

from math import gcd

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts
from engine.model.queue_tree import ROOT, Queue, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.deserved import deserved, share_index_of
from tests import builders
from tests.engine import plain_deserved
from tests.engine.deserved_worlds import World, crowds, side_by_side, worlds
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples


def alike(world: World) -> bool:
    """Whether both say the same, but that zeros may be left out."""
    return _nonzero(deserved(*world)) == _nonzero(plain_deserved.deserved(*world))


def _in_lowest_terms(amounts: Amounts) -> tuple[int, Amounts]:
    """How many times which shape they are."""
    times = gcd(*amounts.values())
    return times, {name: amount // max(times, 1) for name, amount in amounts.items()}


def _nonzero(found: dict[str, Amounts]) -> dict[str, Amounts]:
    return {path: {name: amount for name, amount in amounts.items() if amount} for path, amounts in found.items()}


@given(worlds())
@examples(400)
def test_in_small_trees(world: World) -> None:
    """Where many things happen at the same level."""
    assert alike(world)


@given(crowds())
@examples(150)
def test_in_large_ones(world: World) -> None:
    """Also where sums are beyond 64 bits, and beyond what floats tell apart."""
    assert alike(world)


@given(crowds(), st.data())
@examples(150)
def test_when_a_few_ask_more_or_less_than_before(world: World, data: st.DataObject) -> None:
    """As within a pass: also where nobody deserves anything else than a moment ago, or there is more to be had."""
    requests, capacity = dict(world.requests), world.capacity
    for _ in range(3):
        assert alike(world._replace(requests=dict(requests), capacity=capacity))
        if data.draw(st.sampled_from((False, False, True))):
            capacity = {name: amount * data.draw(st.integers(0, 4)) // 3 for name, amount in capacity.items()}
            continue
        leaf = data.draw(st.sampled_from(sorted(requests)))
        part = data.draw(st.sampled_from((1, 2, 3, 4, 7)))
        requests[leaf] = {name: amount * part // 3 for name, amount in requests[leaf].items()}


@given(side_by_side(), st.data())
@examples(400)
def test_when_somebody_asks_for_more_or_less_of_the_same(world: World, data: st.DataObject) -> None:
    """Down to what it deserves, as where a queue gives back what it has beyond that, and on; or up again."""
    shapes = {leaf: _in_lowest_terms(amounts) for leaf, amounts in world.requests.items()}
    times = {leaf: times for leaf, (times, _shape) in shapes.items()}
    for _ in range(4):
        requests = {leaf: {name: times[leaf] * amount for name, amount in shapes[leaf][1].items()} for leaf in shapes}
        assert alike(world._replace(requests=requests))
        leaf = data.draw(st.sampled_from(sorted(times)))
        times[leaf] = data.draw(st.integers(0, times[leaf] + 4))


def test_who_asks_for_just_what_it_deserves_leaves_all_shares_as_they_are() -> None:
    """Nothing is divided anew."""
    tree = QueueTree([Queue(path=ROOT), Queue(path="root.a"), Queue(path="root.b")])
    first = deserved(tree, {"root.a": {"cpu": 9}, "root.b": {"cpu": 8}}, {"cpu": 10})
    assert first["root.a"] == {"cpu": 5}
    assert deserved(tree, {"root.a": {"cpu": 5}, "root.b": {"cpu": 8}}, {"cpu": 10}) is first
    assert deserved(tree, {"root.a": {"cpu": 4}, "root.b": {"cpu": 8}}, {"cpu": 10})["root.b"] == {"cpu": 6}
    assert deserved(tree, {"root.a": {"cpu": 9}, "root.b": {"cpu": 8}}, {"cpu": 10})["root.b"] == {"cpu": 5}


@given(queue_trees(), clusters(), st.data())
@examples(200)
def test_what_is_asked_of_a_cluster(tree: QueueTree, objects: list[Node | Pod], data: st.DataObject) -> None:
    """Some of its pods are the system's, some of its nodes are not ready, and some leave while it is looked at."""
    moment = builders.snapshot(tree, [_odd(one, data) for one in objects])
    for _ in range(3):
        assert _told(moment, tree, plain=False) == _told(moment, tree, plain=True)
        pods = list(moment.pods)
        moment = moment.expecting(data.draw(st.lists(st.sampled_from(pods), max_size=3)) if pods else [])


def _odd(one: Node | Pod, data: st.DataObject) -> Node | Pod:
    odd = data.draw(st.sampled_from((False, False, False, True)))
    if isinstance(one, Node):
        return msgspec.structs.replace(one, ready=not odd)
    return msgspec.structs.replace(one, namespace="kube-system") if odd else one


def _told(moment: Snapshot, tree: QueueTree, *, plain: bool) -> list[object]:
    found = plain_deserved.ground(moment, tree) if plain else share_index_of(moment, tree)
    sums = (found.requests, found.asked, found.used)
    return [found.capacity, *map(_nonzero, sums), found.too_large]
