"""What of its own would have spared a victim under policy ``fence``: made, decided again, no more than needed."""

import msgspec
from hypothesis import given

from engine.analysis.counterfactuals import Again, Counterfactual, Then, counterfactuals, counterfactuals_of_victim
from engine.explain import change_sentence
from engine.model.change import Change
from engine.model.decision import Decision, Outcome
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import fence, yunikorn
from engine.policies.common.counterfactuals import VictimSettings
from tests.builders import OPTED_OUT, amounts, ask, node, pod, queue, snapshot, tree
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

TREE = tree({"prod": queue("4"), "test": queue("1"), "batch": queue()})


def changes(under: QueueTree, *objects: object, asker: str = "ask") -> tuple[Counterfactual, ...]:
    """All that would have changed what is decided about an ask."""
    at = snapshot(under, *objects)
    wanted = next(one for one in at.asks if one.name == asker)
    return _changes(at, under, wanted)


def _changes(at: Snapshot, under: QueueTree, asker: Pod) -> tuple[Counterfactual, ...]:
    again, decision = Again(at, under, asker, fence.decide), fence.decide(at, under, asker)
    own = [one for victim in decision.victims for one in counterfactuals_of_victim(again, decision, victim.pod.uid)]
    return (*counterfactuals(again, decision), *own)


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


def test_a_guarantee_that_a_queue_above_can_not_keep_is_told_with_that_queue() -> None:
    """Lint would not let it pass as it is: what is above has to be raised, too."""
    under = tree({"prod": queue("4"), "t": queue("2"), "t.test": queue("1"), "t.other": queue("1")})
    pods = [pod(f"t{number}", queue="t.test", node="n1") for number in range(4)]
    (found, *_) = told(changes(under, *full(*pods)), Change.GUARANTEE)
    assert (found.queue, found.unkept) == ("root.t.test", "root.t")
    sentence = change_sentence(found)
    assert "The guarantee or the max of t must be raised too." in str(sentence)


def test_a_victim_is_spared_by_a_priority_above_the_asker() -> None:
    """Or by less where another would then go first."""
    alone = changes(TREE, *full(pod("one", queue="batch", cpu=4, node="n1")))
    assert [one.priority for one in told(alone, Change.PRIORITY)] == [6]
    others = (pod("one", queue="batch", cpu=2, node="n1"), pod("two", queue="batch", cpu=2, priority=1, node="n1"))
    assert [one.priority for one in told(changes(TREE, *full(*others)), Change.PRIORITY)] == [2]


def test_no_priority_is_tried_twice() -> None:
    """Of neighbouring ones each is above the other's: tries are few in a large cluster."""
    others = (pod(f"p{one}", queue="batch", cpu=1, priority=one, node="n1") for one in range(4))
    at = snapshot(TREE, *full(*others))
    (asker,) = at.asks
    decision, tried = fence.decide(at, TREE, asker), list[int]()

    def decide(now: Snapshot, under: QueueTree, ask: Pod) -> Decision:
        tried.append(next(one.priority for one in now.pods if one.uid == uid))
        return fence.decide(now, under, ask)

    uid = decision.victims[0].pod.uid
    own = VictimSettings(Again(at, TREE, asker, decide), decision, uid)
    assert [one.priority for one in own.priority()] == [tried[-1]]
    assert len(set(tried)) == len(tried)


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


def test_a_smaller_ask_fits_without_any_preemption() -> None:
    """Told by how much less of what."""
    found = changes(TREE, *full(pod("one", queue="batch", cpu=3, node="n1")))
    assert [one.smaller for one in told(found, Change.REQUEST, Then.FITS)] == [amounts("1")]


def test_nothing_is_told_of_an_ask_that_fits() -> None:
    assert changes(TREE, *full()) == ()


@given(under=queue_trees(), objects=clusters())
@examples(60)
def test_whatever_is_told_comes_true_and_a_little_less_does_not_do(under: QueueTree, objects: list[object]) -> None:
    """Each change is made by hand, as it is told, and by one unit less."""
    at = snapshot(under, objects, OPTED_OUT)
    for asker in at.asks:
        for one in _changes(at, under, asker):
            assert _came(one, _made(at, under, asker, one, 0)), one
            if one.change not in (Change.PRIORITY, Change.START):
                assert not _came(one, _made(at, under, asker, one, 1)), one


@given(under=queue_trees(), objects=clusters())
@examples(25)
def test_what_spares_a_victim_of_yunikorns_rules_comes_true_under_them(under: QueueTree, objects: list[object]) -> None:
    """Told by deciding again as YuniKorn does."""
    at = snapshot(under, objects, OPTED_OUT)
    for asker in at.asks:
        decision = yunikorn.decide(at, under, asker)
        for victim in decision.victims:
            for one in counterfactuals_of_victim(Again(at, under, asker, yunikorn.decide), decision, victim.pod.uid):
                assert _came(one, _made(at, under, asker, one, 0, yunikorn.decide)), one


def _made(at: Snapshot, under: QueueTree, asker: Pod, one: Counterfactual, short: int, decide=fence.decide) -> Decision:
    """What is decided with the change made; ``short``: of so much less of it."""
    if one.change is Change.REQUEST:
        return decide(at, under, msgspec.structs.replace(asker, requests=_less(asker, one, short)))
    if one.change is Change.GUARANTEE:
        return decide(at, _tree_with(under, one, short), asker)
    pods = tuple(_pod_with(each, one, short) if each.key == one.spared else each for each in at.pods)
    return decide(msgspec.structs.replace(at, pods=pods), under, asker)


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
    guaranteed = {**found.guaranteed, **{name: amount - short for name, amount in one.amounts.items()}}
    return QueueTree({**under.queues, one.queue: msgspec.structs.replace(found, guaranteed=guaranteed)}.values())


def _came(one: Counterfactual, again: Decision) -> bool:
    if one.then is Then.SPARED:
        return all(each.pod.key != one.spared for each in again.victims)
    return again.outcome is Outcome.FITS
