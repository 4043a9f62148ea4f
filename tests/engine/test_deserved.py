"""What consumers deserve: the examples that there are of it, and what holds of every tree and cluster."""

from fractions import Fraction
from typing import Any

import msgspec
from hypothesis import given

from engine.model.quantities import Amounts, total
from engine.model.queue_tree import ROOT, WEIGHT_ONE, Queue, QueueTree
from engine.policies.deserved import Method, deserved, share_index_of
from tests import builders
from tests.engine.deserved_worlds import Flat, World, flat_worlds, worlds
from tests.engine.plain_deserved import Claim, fill


def tree(**queues: dict[str, Any]) -> QueueTree:
    """A root and what is below it: ``a`` right below, ``a__b`` below that."""
    below = (Queue(path=f"{ROOT}.{name.replace('__', '.')}", **settings) for name, settings in queues.items())
    return QueueTree([Queue(path=ROOT), *below])


def asks(**requests: Amounts) -> dict[str, Amounts]:
    """Requests of leaves that are named as in ``tree``."""
    return {f"{ROOT}.{name.replace('__', '.')}": amounts for name, amounts in requests.items()}


def amounts(cpu: int, memory: int) -> Amounts:
    """Of two resources."""
    return {"cpu": cpu, "memory": memory}


# The examples


def test_the_example_of_the_paper_on_dominant_resource_fairness() -> None:
    """9 CPU and 18 GB; tasks of A want 1 and 4, of B 3 and 1: A has room for three tasks, B for two."""
    found = deserved(tree(a={}, b={}), asks(a=amounts(100, 400), b=amounts(300, 100)), amounts(9, 18))
    assert (found["root.a"], found["root.b"]) == (amounts(3, 12), amounts(6, 2))


def test_the_picture_of_the_proposal() -> None:
    """One consumer has it all until a second one comes."""
    capacity, asked = amounts(2, 2), amounts(2, 2)
    assert deserved(tree(one={}), asks(one=asked), capacity)["root.one"] == amounts(2, 2)
    found = deserved(tree(one={}, two={}), asks(one=asked, two=asked), capacity)
    assert (found["root.one"], found["root.two"]) == (amounts(1, 1), amounts(1, 1))


def test_one_that_stays_at_what_is_reserved_for_it_goes_on_in_other_resources() -> None:
    """The cpu is used up by Y and what is reserved for X, which gets all of its memory nonetheless."""
    reserved = tree(x={"guaranteed": {"cpu": 8}}, y={})
    found = deserved(reserved, asks(x=amounts(8, 8), y=amounts(8, 2)), amounts(10, 10))
    assert (found["root.x"], found["root.y"]["cpu"]) == (amounts(8, 8), 2)


def test_a_weight_of_two_is_worth_twice_the_share() -> None:
    """Of what both want all of."""
    weighted = tree(a={"weight": 2 * WEIGHT_ONE}, b={})
    assert deserved(weighted, asks(a={"cpu": 9}, b={"cpu": 9}), {"cpu": 9})["root.a"] == {"cpu": 6}


def test_at_its_first_hard_cap_a_consumer_stops_as_a_whole() -> None:
    """Its pods need both resources: more memory alone would be of no use to it."""
    found = deserved(tree(a={"max": {"cpu": 2}}, b={}), asks(a=amounts(8, 8), b=amounts(8, 8)), amounts(10, 10))
    assert (found["root.a"], found["root.b"]) == (amounts(2, 2), amounts(8, 8))


def test_reserved_amounts_that_are_more_than_there_is_shrink_by_the_same_fraction() -> None:
    """In that resource alone."""
    reserved = tree(a={"guaranteed": amounts(12, 2)}, b={"guaranteed": amounts(6, 2)})
    found = deserved(reserved, {}, amounts(9, 9))
    assert (found["root.a"], found["root.b"]) == (amounts(6, 2), amounts(3, 2))


def test_units_that_do_not_divide_go_to_the_first_by_name_one_each() -> None:
    """Five devices for ten consumers that each want all of them."""
    names = [f"q{number}" for number in range(10)]
    found = deserved(tree(**{name: {} for name in names}), asks(**{name: {"gpu": 5} for name in names}), {"gpu": 5})
    assert [found[f"root.{name}"].get("gpu", 0) for name in names] == [1] * 5 + [0] * 5


def test_what_the_consumers_of_one_area_cannot_use_those_of_another_get() -> None:
    """Of the cpu that area A is given for both its consumers, the one that has met its cap leaves some."""
    areas = tree(a={}, a__big={"max": {"cpu": 2}}, a__small={}, b={})
    asked = asks(a__big=amounts(10, 0), a__small=amounts(1, 8), b=amounts(10, 0))
    found = deserved(areas, asked, amounts(10, 10))
    assert [found[f"root.{name}"] for name in ("a.big", "a.small", "b")] == [
        {"cpu": 2},
        amounts(1, 8),
        {"cpu": 7},
    ]


def test_areas_divide_first_and_then_their_consumers_within() -> None:
    """However many there are in one."""
    areas = tree(apps={}, apps__x={}, data={}, data__y={}, data__z={})
    found = deserved(areas, asks(apps__x={"cpu": 8}, data__y={"cpu": 8}, data__z={"cpu": 8}), {"cpu": 8})
    assert [found[f"root.{name}"]["cpu"] for name in ("apps", "data", "data.y", "data.z")] == [4, 4, 2, 2]


def test_proportional_divides_each_resource_by_itself() -> None:
    """What one can't use of its half the other gets, whatever it has of other resources."""
    found = deserved(tree(x={}, y={}), asks(x=amounts(8, 8), y=amounts(8, 2)), amounts(10, 10), Method.PROPORTIONAL)
    assert (found["root.x"], found["root.y"]) == (amounts(5, 8), amounts(5, 2))


# What always holds


@given(worlds())
def test_nobody_deserves_more_than_there_is_or_than_its_hard_cap(world: World) -> None:
    """On every level of the tree."""
    found = deserved(*world)
    there = {name: amount for name, amount in world.capacity.items() if amount}
    assert all(found[ROOT].get(name, 0) <= amount for name, amount in there.items())
    assert set(found[ROOT]) <= set(there)
    for path, queue in world.tree.queues.items():
        below = total(found[child] for child in world.tree.children[path])
        assert all(amount <= found[path].get(name, 0) for name, amount in below.items())
        assert all(found[path].get(name, 0) <= most for name, most in queue.max.items())


@given(worlds())
def test_everybody_deserves_what_is_reserved_for_it_where_the_cluster_holds_all_of_that(world: World) -> None:
    """Of a resource that is promised beyond what there is, or beyond a cap above, nobody can be sure."""
    found = deserved(*world)
    for name, amount in world.capacity.items():
        floors = _floors(world.tree, name)
        if floors is None or floors[ROOT] > amount:
            continue
        assert all(found[path].get(name, 0) >= floor for path, floor in floors.items() if amount)


def _floors(tree: QueueTree, name: str) -> dict[str, int] | None:
    """What is reserved of a resource, with what is reserved below; None where a cap above does not hold it."""
    floors: dict[str, int] = {}
    for path in reversed(tree.walk()):
        queue, below = tree[path], sum(floors[child] for child in tree.children[path])
        if below > queue.max.get(name, below):
            return None
        own = queue.guaranteed.get(name, 0)
        floors[path] = max(min(own, queue.max.get(name, own)), below)
    return floors


@given(worlds())
def test_nothing_idles_that_somebody_could_use(world: World) -> None:
    """With one unit more of each resource that it is short of most, no leaf could run more than it can now."""
    found = deserved(*world)
    there = {name: amount for name, amount in world.capacity.items() if amount}
    for leaf in world.tree.leaves:
        asked = {name: amount for name, amount in world.requests[leaf].items() if amount and name in there}
        for together in [asked] if world.method is Method.DRF else [{name: asked[name]} for name in asked]:
            parts = {name: Fraction(found[leaf].get(name, 0), amount) for name, amount in together.items()}
            short = [name for name, part in parts.items() if part == min(parts.values())]
            if parts and min(parts.values()) < 1:
                assert not all(_idles(world, found, leaf, name) for name in short), leaf


def _idles(world: World, found: dict[str, Amounts], leaf: str, name: str) -> bool:
    """Whether a leaf could have one more of a resource, with nobody else having less."""
    for path in world.tree.lineage(leaf):
        held = found[path].get(name, 0)
        if path != leaf and held > sum(found[child].get(name, 0) for child in world.tree.children[path]):
            return True  # it is held for a queue above, of which nobody uses it
        if held >= world.tree[path].max.get(name, held + 1):
            return False
    return found[ROOT].get(name, 0) < world.capacity[name]


@given(worlds())
def test_the_order_of_queues_and_resources_does_not_matter(world: World) -> None:
    """The same cluster, told the other way round."""
    backwards = QueueTree(reversed(world.tree.queues.values()))
    requests = {leaf: dict(reversed(asked.items())) for leaf, asked in reversed(world.requests.items())}
    capacity = dict(reversed(world.capacity.items()))
    assert deserved(backwards, requests, capacity, world.method) == deserved(*world)


@given(worlds())
def test_nobody_deserves_more_than_it_asks_beyond_what_is_reserved(world: World) -> None:
    """What is not asked can be lent."""
    found = deserved(*world)
    for leaf in world.tree.leaves:
        floor, asked = world.tree[leaf].guaranteed, world.requests[leaf]
        assert all(amount <= max(floor.get(name, 0), asked.get(name, 0)) for name, amount in found[leaf].items())


# What holds of consumers that stand side by side, without floors and with caps above what they ask


def _part(claim: Claim, given: dict[str, Fraction]) -> Fraction:
    """How much of what it asks it could do with that."""
    return min((given.get(name, Fraction(0)) / amount for name, amount in claim.request.items()), default=Fraction(1))


def _share(given: dict[str, Fraction], capacity: Amounts) -> Fraction:
    return max((amount / capacity[name] for name, amount in given.items()), default=Fraction(0))


@given(flat_worlds())
def test_nobody_does_worse_than_with_its_own_part_of_the_cluster(world: Flat) -> None:
    """Sharing incentive: its dominant share is at least its weight of all weights, or it has all that it asks."""
    found = fill(world.claims, world.capacity, world.capacity)
    weights = sum(claim.weight for claim in world.claims)
    for claim in world.claims:
        satisfied = _part(claim, found[claim.name]) == 1
        assert satisfied or _share(found[claim.name], world.capacity) >= claim.weight / weights


@given(flat_worlds())
def test_nobody_would_rather_have_what_another_has(world: Flat) -> None:
    """No envy, also of one with more weight once that is taken into account."""
    found = fill(world.claims, world.capacity, world.capacity)
    for claim in world.claims:
        for other in world.claims:
            theirs = {name: amount * claim.weight / other.weight for name, amount in found[other.name].items()}
            assert min(_part(claim, theirs), Fraction(1)) <= _part(claim, found[claim.name])


@given(flat_worlds(), flat_worlds())
def test_to_ask_for_more_than_one_needs_never_helps(world: Flat, other: Flat) -> None:
    """Of whatever resources, and however much."""
    honest = world.claims[0]
    liar = msgspec.structs.replace(honest, request=total((honest.request, other.claims[0].request)))
    with_lie = fill((liar, *world.claims[1:]), world.capacity, world.capacity)[liar.name]
    truly = fill(world.claims, world.capacity, world.capacity)[honest.name]
    assert min(_part(honest, with_lie), Fraction(1)) <= _part(honest, truly)


@given(flat_worlds(of_everything=True))
def test_nobody_has_less_when_another_leaves(world: Flat) -> None:
    """Population monotonicity, of dominant shares, where each asks something of every resource."""
    before = fill(world.claims, world.capacity, world.capacity)
    for left in world.claims:
        staying = tuple(claim for claim in world.claims if claim is not left)
        after = fill(staying, world.capacity, world.capacity)
        for claim in staying:
            assert _share(after[claim.name], world.capacity) >= _share(before[claim.name], world.capacity)


def test_where_some_ask_for_one_resource_only_one_that_leaves_may_take_a_share_with_it() -> None:
    """The one that it held back goes on, and so uses more of what a third one lives on."""
    claims = (Claim(name="a", request={"cpu": 1}), Claim(name="b", request={"cpu": 1, "gpu": 2}))
    third, capacity = Claim(name="c", request={"gpu": 1}), {"cpu": 1, "gpu": 1}
    shares = [fill(among, capacity, capacity)["a"]["cpu"] for among in ((*claims, third), claims)]
    assert shares == [Fraction(3, 4), Fraction(2, 3)]


@given(flat_worlds())
def test_rounding_takes_less_than_a_unit_from_anybody(world: Flat) -> None:
    """Against the exact shares."""
    exact = fill(world.claims, world.capacity, world.capacity)
    flat = tree(**{claim.name: {"weight": int(claim.weight) * WEIGHT_ONE} for claim in world.claims})
    found = deserved(flat, asks(**{claim.name: claim.request for claim in world.claims}), world.capacity)
    for claim in world.claims:
        for name, amount in exact[claim.name].items():
            assert found[f"root.{claim.name}"].get(name, 0) > amount - 1


# What there is to divide, and who asks what


def test_the_system_is_served_first_and_pods_outside_the_tree_keep_what_they_use() -> None:
    """Of 12 cpu on nodes that are ready, 2 are asked in kube-system and 1 is used by a pod in no queue."""
    queues = builders.tree({"a": builders.queue()})
    at = builders.snapshot(
        queues,
        [builders.node("n1", 8), builders.node("n2", 4), builders.node("n3", 4, ready=False)],
        builders.pod("dns", node="n1", namespace="kube-system"),
        builders.ask("proxy", namespace="kube-system"),
        builders.pod("stray", node="n1"),
        builders.pod("stray-too", node="n3"),
        builders.pod("lost"),
    )
    assert share_index_of(at, queues).capacity == {"cpu": 9000, "pods": 217}


def test_a_consumer_asks_what_its_pods_request_that_run_or_wait() -> None:
    """None on its way out, and none that is too large for every node."""
    queues = builders.tree({"a": builders.queue(), "b": builders.queue()})
    at = builders.snapshot(
        queues,
        builders.node("n1", 4),
        builders.pod("runs", queue="root.a", cpu=2, node="n1"),
        builders.pod("leaves", queue="root.a", node="n1", terminating=True),
        builders.ask("waits", queue="root.a"),
        builders.ask("huge", queue="root.b", cpu=5),
        builders.ask("device", queue="root.b", resources={"nvidia.com/gpu": 1}),
    )
    found = share_index_of(at, queues)
    assert found.requests == {"root.a": {"cpu": 3000, "pods": 2}, "root.b": {}}
    assert {pod.name for pod in found.too_large} == {"huge", "device"}


def test_what_a_pod_that_leaves_held_comes_back_to_all_when_it_is_gone() -> None:
    """A pod outside the tree holds its node's room until then."""
    queues = builders.tree({"a": builders.queue()})
    leaving = builders.pod("stray", node="n1", terminating=True)
    with_it, without = (
        share_index_of(builders.snapshot(queues, builders.node("n1", 4), *pods), queues) for pods in ([leaving], [])
    )
    assert (with_it.capacity["cpu"], without.capacity["cpu"]) == (3000, 4000)
