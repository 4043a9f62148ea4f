"""What would have spared a victim or let an ask in under policy ``fence``: made, decided again, no more than needed."""

from functools import partial

import msgspec
from hypothesis import given, settings

from engine.counterfactual import Again, Change, Counterfactual, Then, counterfactuals, for_own
from engine.decision import Decision, Outcome
from engine.policies import fence, yunikorn
from engine.queues import PreemptionPolicy, QueueTree
from engine.snapshot import Pod, Snapshot
from tests.builders import OPTED_OUT, amounts, ask, node, pod, queue, snapshot, tree
from tests.engine.strategies import clusters, queue_trees

TREE = tree({"prod": queue("4"), "test": queue("1"), "batch": queue()})


def changes(under: QueueTree, *objects: object, asker: str = "ask") -> tuple[Counterfactual, ...]:
    """All that would have changed what is decided about an ask."""
    at = snapshot(under, *objects)
    wanted = next(one for one in at.asks if one.name == asker)
    return counterfactuals(Again(at, under, wanted, fence.decide), fence.decide(at, under, wanted))


def told(found: tuple[Counterfactual, ...], change: Change, then: Then = Then.SPARED) -> list[Counterfactual]:
    """Those of one kind."""
    return [one for one in found if (one.then, one.change) == (then, change)]


def full(*pods: Pod, cpu: int = 4) -> tuple[object, ...]:
    """A node with these pods, and an ask of Prod's for two cores."""
    return (node("n1", cpu), *pods, ask("ask", queue="prod", cpu=2, priority=5))


def test_a_victim_is_spared_by_a_guarantee_just_above_what_is_left_to_its_queue() -> None:
    """Told with how much more that is than it has."""
    one = pod("one", queue="test", cpu=2, node="n1")
    found = changes(TREE, *full(one, pod("two", queue="test", cpu=2, node="n1")))
    (spared,) = told(found, Change.GUARANTEE)
    assert (spared.queue, spared.amounts, spared.more) == ("root.test", {"cpu": 2001}, {"cpu": 1001})


def test_a_victim_is_spared_by_a_priority_above_the_asker() -> None:
    """Or by less where another would then go first."""
    alone = changes(TREE, *full(pod("one", queue="batch", cpu=4, node="n1")))
    assert [one.priority for one in told(alone, Change.PRIORITY)] == [6]
    others = (pod("one", queue="batch", cpu=2, node="n1"), pod("two", queue="batch", cpu=2, priority=1, node="n1"))
    assert [one.priority for one in told(changes(TREE, *full(*others)), Change.PRIORITY)] == [2]


def test_a_victim_is_spared_by_an_earlier_start_than_its_neighbours() -> None:
    """What has run the longest is the last to be thrown away."""
    young = pod("young", queue="batch", cpu=2, node="n1", started_ms=3000, created_ms=3000)
    old = pod("old", queue="batch", cpu=2, node="n1", started_ms=1000, created_ms=1000)
    (spared,) = told(changes(TREE, *full(young, old)), Change.START)
    assert (spared.spared, spared.started_ms, spared.victims) == ("ns/young", 999, ("ns/old",))


def test_a_victim_is_spared_by_a_request_beside_which_the_ask_fits() -> None:
    """One core less: there are then two free."""
    (spared,) = told(changes(TREE, *full(pod("one", queue="batch", cpu=3, node="n1"))), Change.OWN_REQUEST)
    assert (spared.smaller, spared.victims) == ({"cpu": 1000}, ())


def test_an_ask_that_is_at_its_guarantee_is_told_which_one_would_do() -> None:
    """Just above what its queue uses, in all that it lacks."""
    under = tree({"prod": queue("1"), "test": queue()})
    busy = (pod("own", queue="prod", cpu=1, node="n1"), pod("one", queue="test", cpu=3, node="n1"))
    (room,) = told(changes(under, *full(*busy)), Change.GUARANTEE, Then.ROOM)
    assert (room.queue, room.amounts, room.more, room.victims) == ("root.prod", {"cpu": 1001}, {"cpu": 1}, ("ns/one",))


def test_an_ask_over_its_max_is_told_which_one_would_do() -> None:
    """Of each queue above it where that alone helps."""
    under = tree({"prod": queue("4", max="1"), "test": queue()})
    (room,) = told(changes(under, *full(pod("one", queue="test", cpu=3, node="n1"))), Change.MAX, Then.ROOM)
    assert (room.queue, room.amounts, room.more) == ("root.prod", {"cpu": 2000}, {"cpu": 1000})


def test_an_ask_behind_a_fence_is_told_which_one_stands_in_its_way() -> None:
    """The nearest that alone does."""
    under = tree({"a": queue(fence=True), "a.prod": queue("4"), "test": queue()})
    objects = (node("n1", 4), pod("one", queue="test", cpu=4, node="n1"), ask("ask", queue="a.prod", cpu=2))
    (room,) = told(changes(under, *objects), Change.FENCE, Then.ROOM)
    assert (room.queue, room.victims) == ("root.a", ("ns/one",))


def test_an_ask_of_too_low_a_priority_is_told_the_lowest_that_does() -> None:
    high = pod("one", queue="batch", cpu=4, node="n1", priority=9)
    (room,) = told(changes(TREE, *full(high)), Change.PRIORITY, Then.ROOM)
    assert (room.pod, room.priority) == ("ns/ask", 9)


def test_an_ask_that_never_preempts_is_told_what_that_costs_it() -> None:
    shy = ask("ask", queue="prod", cpu=2, never_preempts=True)
    found = changes(TREE, node("n1", 4), pod("one", queue="batch", cpu=4, node="n1"), shy)
    assert [one.victims for one in told(found, Change.MAY_PREEMPT, Then.ROOM)] == [("ns/one",)]


def test_a_smaller_ask_fits_without_any_preemption() -> None:
    """Told by how much less of what."""
    found = changes(TREE, *full(pod("one", queue="test", cpu=3, node="n1")))
    assert [one.smaller for one in told(found, Change.REQUEST, Then.FITS)] == [amounts("1")]


def test_nothing_is_told_of_an_ask_that_fits() -> None:
    assert changes(TREE, *full()) == ()


@given(under=queue_trees(), objects=clusters())
@settings(max_examples=60, deadline=None)
def test_whatever_is_told_comes_true_and_a_little_less_does_not_do(under: QueueTree, objects: list[object]) -> None:
    """Each change is made by hand, as it is told, and by one unit less."""
    at = snapshot(under, objects, OPTED_OUT)
    for asker in at.asks:
        decision = fence.decide(at, under, asker)
        for one in counterfactuals(Again(at, under, asker, fence.decide), decision):
            made = partial(_made, at, under, asker, one)
            assert _came(one, made(0)), one
            if one.change not in (Change.MAX, Change.PRIORITY, Change.START, Change.MAY_PREEMPT, Change.FENCE):
                assert len(one.smaller or one.amounts) > 1 or not _came(one, made(1)), one


@given(under=queue_trees(), objects=clusters())
@settings(max_examples=25, deadline=None)
def test_what_spares_a_victim_of_yunikorns_rules_comes_true_under_them(under: QueueTree, objects: list[object]) -> None:
    """Told by deciding again as YuniKorn does."""
    at = snapshot(under, objects, OPTED_OUT)
    for asker in at.asks:
        decision = yunikorn.decide(at, under, asker)
        for victim in decision.victims:
            for one in for_own(Again(at, under, asker, yunikorn.decide), decision, victim.pod.uid):
                assert _came(one, _made(at, under, asker, one, 0, yunikorn.decide)), one


def _made(at: Snapshot, under: QueueTree, asker: Pod, one: Counterfactual, short: int, decide=fence.decide) -> Decision:
    """What is decided with the change made; ``short``: of so much less of it."""
    if one.change in (Change.GUARANTEE, Change.MAX, Change.FENCE):
        return decide(at, _tree_with(under, one, short), asker)
    if one.then is Then.SPARED:
        pods = tuple(_pod_with(each, one, short) if each.key == one.spared else each for each in at.pods)
        return decide(msgspec.structs.replace(at, pods=pods), under, asker)
    changed = {
        Change.REQUEST: {"requests": _less(asker, one, short)},
        Change.PRIORITY: {"priority": one.priority},
        Change.MAY_PREEMPT: {"never_preempts": False},
    }[one.change]
    return decide(at, under, msgspec.structs.replace(asker, **changed))


def _pod_with(each: Pod, one: Counterfactual, short: int) -> Pod:
    changed = {
        Change.OWN_REQUEST: {"requests": _less(each, one, short)},
        Change.PRIORITY: {"priority": one.priority},
        Change.START: {"started_ms": one.started_ms, "created_ms": min(each.created_ms, one.started_ms or 0)},
    }[one.change]
    return msgspec.structs.replace(each, **changed)


def _less(each: Pod, one: Counterfactual, short: int) -> dict[str, int]:
    return {name: amount - max(0, one.smaller.get(name, 0) - short) for name, amount in each.requests.items()}


def _tree_with(under: QueueTree, one: Counterfactual, short: int) -> QueueTree:
    found = under[one.queue]
    amounts = {name: amount - short for name, amount in one.amounts.items()}
    changed = {
        Change.GUARANTEE: {"guaranteed": {**found.guaranteed, **amounts}},
        Change.MAX: {"max": {**found.max, **amounts}},
        Change.FENCE: {"preemption_policy": PreemptionPolicy.DEFAULT},
    }[one.change]
    return QueueTree({**under.queues, one.queue: msgspec.structs.replace(found, **changed)}.values())


def _came(one: Counterfactual, again: Decision) -> bool:
    if one.then is Then.SPARED:
        return all(each.pod.key != one.spared for each in again.victims)
    return again.outcome is (Outcome.FITS if one.then is Then.FITS else Outcome.PREEMPT)
