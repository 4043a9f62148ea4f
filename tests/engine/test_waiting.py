"""Why an ask waits, tier by tier: each refuses exactly where something is missing, and what would help does."""

import msgspec
import pytest
from hypothesis import given

from engine.analysis.pending_reasons import (
    NODES,
    Change,
    Need,
    PendingReasons,
    Remedy,
    Tier,
    TierName,
    ahead,
    pending_reasons_of,
)
from engine.analysis.pending_reasons.pending_case import PendingCase
from engine.model.decision import Outcome, Reason
from engine.model.objects import Node, Pod
from engine.model.quantities import PODS
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot import Reservation, Snapshot
from engine.policies import fence, find, priority
from tests.builders import OPTED_OUT, amounts, ask, daemonset_ask, named, node, pod, queue, reservation, snapshot, tree
from tests.engine.crowds import crowds
from tests.engine.plain_waiting import PlainCase, free_on
from tests.engine.priority_worlds import worlds
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

AT_ONCE = fence.Parameters(check_delay=False)
World = tuple[QueueTree, list[Node | Pod | Reservation]]


def why(at: Snapshot, queues: QueueTree, name: str = "ask", policy: str = "fence") -> PendingReasons:
    """Why the ask of that name waits."""
    return pending_reasons_of(at, queues, named(at, name), policy)


def tier(found: PendingReasons, name: TierName) -> Tier:
    """One of the tiers."""
    return next(one for one in found.tiers if one.name is name)


def short(one: Tier) -> list[tuple[str, str, int]]:
    """What is missing: where, of what, how much."""
    return [(need.where, need.resource, need.missing) for need in one.needs if need.missing]


PROD = tree({"prod": queue(10), "test": queue(2)})


def full(*more: Node | Pod | Reservation, queues: QueueTree = PROD, **settings: object) -> Snapshot:
    """Eight pods of Test on two nodes that hold no more, and Prod's ask for one core."""
    running = [pod(f"t{number}", queue="test", node=f"n{number % 2}", cpu=1) for number in range(8)]
    asking = ask("ask", queue="prod", **{"cpu": 1, **settings})  # type: ignore[arg-type]
    return snapshot(queues, node("n0", 4), node("n1", 4), running, *more, asking)


def test_where_every_tier_lets_it_through_room_can_be_made() -> None:
    """Each with what it rests on."""
    found = why(full(), PROD)
    assert found.refusing == ()
    assert tier(found, TierName.GUARANTEE).needs[0] == Need(
        where="root.prod", resource="cpu", required=1, available=10_000
    )
    (reached,) = tier(found, TierName.FENCE).reached
    assert (reached.queue, reached.pods, reached.spare) == ("root.test", 8, amounts(6))
    assert tier(found, TierName.PRIORITY).held == amounts(8)
    assert tier(found, TierName.NODE).needs == (
        Need(resource=NODES, required=1, available=2),
        Need(where="n0", resource="cpu", required=1000, available=0, evictable=1000),
    )


def test_where_a_node_has_room_anyway_that_alone_is_told() -> None:
    """No queue has a say in it."""
    found = why(full(node("n2", 3)), tree({"prod": queue(0, max="500m"), "test": queue(2)}))
    assert [one.name for one in found.tiers] == [TierName.NODE]
    assert found.refusing == ()
    assert tier(found, TierName.NODE).needs[1] == Need(where="n2", resource="cpu", required=1000, available=3000)


def test_an_ask_over_the_max_of_its_leaf() -> None:
    """A smaller request helps where the leaf has something left, a higher max always."""
    queues = tree({"prod": queue(10, max="1500m"), "test": queue(2)})
    found = why(full(cpu=2, queues=queues), queues)
    (quota,) = found.refusing
    assert quota.needs == (Need(where="root.prod", resource="cpu", required=2000, available=1500),)
    assert quota.remedies == (
        Remedy(change=Change.REQUEST, smaller=amounts("500m"), enough=True),
        Remedy(change=Change.MAX, queues={"root.prod": amounts(2)}, enough=True),
    )


def test_below_a_capped_queue_further_up_evictions_make_room() -> None:
    """As far as what may go lies below it."""
    below = tree({"t": queue(max=4), "t.prod": queue(10), "t.test": queue(2)})
    running = [pod(f"t{number}", queue="t.test", node="n0") for number in range(4)]
    at = snapshot(below, node("n0", 4), running, ask("ask", queue="t.prod"))
    quota = tier(why(at, below), TierName.QUOTA)
    assert quota.needs == (Need(where="root.t", resource="cpu", required=1000, available=0, evictable=4000),)
    assert quota.passes
    apart = tree({"t": queue(max="500m"), "t.prod": queue(10), "test": queue(2)})
    running = [pod(f"t{number}", queue="test", node="n0") for number in range(4)]
    at = snapshot(apart, node("n0", 4), running, ask("ask", queue="t.prod"))
    assert short(tier(why(at, apart), TierName.QUOTA)) == [("root.t", "cpu", 500)]


def test_a_guarantee_that_is_used_up_is_told_with_how_much_more_it_would_take() -> None:
    """A unit above what is used lets it through."""
    queues = tree({"prod": queue(1), "test": queue(2)})
    at = snapshot(
        queues,
        node("n0", 4),
        pod("own", queue="prod", cpu=1, node="n0"),
        [pod(f"t{number}", queue="test", node="n0") for number in range(3)],
        ask("ask", queue="prod"),
    )
    (guarantee,) = why(at, queues).refusing
    assert guarantee.needs == (Need(where="root.prod", resource="cpu", required=1, available=0),)
    assert guarantee.remedies == (Remedy(change=Change.GUARANTEE, queues={"root.prod": {"cpu": 1001}}, enough=True),)


@pytest.mark.parametrize(
    ("parent", "unkept"),
    [({}, ""), ({"guaranteed": 4}, ""), ({"guaranteed": 3}, "root.t"), ({"max": 3}, "root.t")],
)
def test_a_guarantee_is_held_against_what_those_above_it_have(parent: dict[str, int], unkept: str) -> None:
    """What a parent can't keep is told with the parent that stands in the way: it has to be raised, too."""
    queues = tree({"t": queue(**parent), "t.prod": queue(1), "t.other": queue(2), "test": queue()})
    running = [pod("own", queue="t.prod", node="n0"), *(pod(f"t{n}", queue="test", node="n0") for n in range(3))]
    at = snapshot(queues, node("n0", 4), running, ask("ask", queue="t.prod"))
    remedy = next(one for tier in why(at, queues).refusing for one in tier.remedies if one.change is Change.GUARANTEE)
    assert (remedy.queues, remedy.unkept) == ({"root.t.prod": {"cpu": 1001}}, unkept)


def test_without_any_guarantee_a_first_one_is_the_remedy() -> None:
    """In one resource, cores before all others."""
    queues = tree({"prod": queue(), "test": queue(2)})
    (guarantee,) = why(full(queues=queues), queues).refusing
    assert [need.missing for need in guarantee.needs] == [1, 1]  # cpu and pods
    assert guarantee.shut == "root.prod"
    assert guarantee.remedies == (Remedy(change=Change.GUARANTEE, queues={"root.prod": {"cpu": 1}}, enough=True),)


@pytest.mark.parametrize("settings", [{"fence": True}, {"disabled": True}])
def test_behind_a_leaf_fence_or_with_preemption_disabled_nobody_is_reached(settings: dict[str, bool]) -> None:
    """No change of the ask's own helps: where there is one, of the tree."""
    queues = tree({"prod": queue(10, **settings), "test": queue(2)})
    reach = tier(why(full(queues=queues), queues), TierName.FENCE)
    assert short(reach) == [("root.prod" if "fence" in settings else "", PODS, 1)]
    assert reach.shut == ("root.prod" if "disabled" in settings else "")
    unfenced = Remedy(change=Change.FENCE, queues={"root.prod": {}}, enough=True)
    assert reach.remedies == ((unfenced,) if "fence" in settings else ())


def test_the_lowest_priority_that_reaches_anybody_is_told() -> None:
    """Under fence pods of the same priority may go."""
    at = snapshot(
        PROD,
        node("n0", 4),
        [pod(f"t{number}", queue="test", node="n0", priority=10 + number) for number in range(4)],
        ask("ask", queue="prod", priority=5),
    )
    found = why(at, PROD)
    assert [one.name for one in found.refusing] == [TierName.PRIORITY, TierName.NODE]
    assert tier(found, TierName.FENCE).passes
    assert tier(found, TierName.PRIORITY).remedies == (Remedy(change=Change.PRIORITY, priority=10, enough=True),)
    assert found.together


def test_offsets_of_queues_move_the_priority_that_helps() -> None:
    """Whatever narrows it, the answer was tried."""
    queues = tree({"prod": queue(10), "test": queue(0, priority_offset=5)})
    at = snapshot(queues, node("n0", 1), pod("t", queue="test", node="n0", priority=10), ask("ask", queue="prod"))
    assert tier(why(at, queues), TierName.PRIORITY).remedies[0].priority == 15


def test_one_that_never_preempts_is_told_so() -> None:
    """And that it would get room if it might."""
    found = why(full(never_preempts=True, priority_class="meek"), PROD)
    (refused,) = found.refusing
    assert (refused.shut, refused.remedies) == ("meek", (Remedy(change=Change.MAY_PREEMPT, enough=True),))


def test_the_nearest_node_is_told_with_what_it_lacks() -> None:
    """What queues can't spare together is not counted; nodes that refuse for another reason are."""
    queues = tree({"prod": queue(10), "test": queue(6)})
    at = full(node("off", 64, unschedulable=True), cpu=4, queues=queues)
    (lacking,) = why(at, queues).refusing
    assert lacking.needs == (
        Need(resource=NODES, required=1, available=0),
        Need(where="n0", resource="cpu", required=4000, available=0, evictable=2000),
    )
    assert lacking.refusing == {"not-enough": 2, "unschedulable": 1}
    assert lacking.remedies == (
        Remedy(change=Change.REQUEST, smaller=amounts(2), enough=True),
        Remedy(change=Change.LESS_GUARANTEED, queues={"root.test": amounts(4)}, enough=True),
    )


def test_where_rules_keep_it_off_every_node_none_is_near() -> None:
    """Then no smaller request would help."""
    (refused, *_) = reversed(why(full(node_selector={"disk": "ssd"}), PROD).refusing)
    assert refused.needs == (Need(resource=NODES, required=1, available=0),)
    assert refused.refusing == {"selector": 2}
    assert refused.remedies == ()


HIGH = {"cpu": 3, "priority": 1000}


@pytest.mark.parametrize(
    ("running", "asking", "remedy"),
    [
        (
            [pod("high", cpu=2, priority=2000, node="n0"), pod("low", cpu=2, node="n0")],
            HIGH,
            Remedy(change=Change.REQUEST, smaller=amounts(1), enough=True),
        ),
        (
            [pod("a", cpu=2, priority=1500, node="n0"), pod("b", cpu=2, priority=1200, node="n0")],
            HIGH,
            Remedy(change=Change.PRIORITY, priority=1501, enough=True),
        ),
        (
            [pod("a", cpu=4, node="n0")],
            {**HIGH, "never_preempts": True},
            Remedy(change=Change.MAY_PREEMPT, enough=True),
        ),
    ],
)
def test_by_priority_too_the_nearest_change_is_told(
    running: list[Pod], asking: dict[str, object], remedy: Remedy
) -> None:
    """Less requested, the lowest priority that does, the right to preempt."""
    at = snapshot(ROOT_ONLY, node("n0", 4), running, ask("ask", **asking))  # type: ignore[arg-type]
    found = why(at, ROOT_ONLY, policy="priority")
    assert remedy in [one for each in found.refusing for one in each.remedies]


def test_no_priority_is_told_that_no_user_can_give() -> None:
    """A class of a user's ends below those of the system."""
    at = snapshot(
        ROOT_ONLY, node("n0", 4), pod("a", cpu=4, priority=2_000_000_000, node="n0"), ask("ask", priority=1000)
    )
    found = why(at, ROOT_ONLY, policy="priority")
    assert Change.PRIORITY not in {one.change for each in found.refusing for one in each.remedies}


def test_what_is_in_the_way_together_is_removed_together() -> None:
    """The larger of two cuts of one request holds for both."""
    queues = tree({"prod": queue(10, max=3), "test": queue(6)})
    found = why(full(cpu=4, queues=queues), queues)
    assert [one.remedies[0].smaller for one in found.refusing] == [amounts(1), amounts(2)]
    assert [one.remedies[0].enough for one in found.refusing] == [False, True]
    assert found.together


def test_a_daemonsets_ask_has_no_guarantee_to_claim() -> None:
    """And opted-out pods are reached at last."""
    kept = [pod(f"t{number}", queue="test", node="n0", priority_class="keep") for number in range(4)]
    at = snapshot(PROD, OPTED_OUT, node("n0", 4), node("n1", 9), kept, daemonset_ask("ask", on="n0", queue="prod"))
    found = why(at, PROD)
    assert found.refusing == ()
    assert TierName.GUARANTEE not in {one.name for one in found.tiers}


def test_an_ask_of_no_queue_has_no_tiers() -> None:
    """Its page says why already."""
    assert why(snapshot(PROD, node("n0", 4), ask("ask", queue="nowhere")), PROD).tiers == ()


def test_asks_ahead_are_those_that_a_pass_considers_before_it() -> None:
    """Higher priorities first, then the longest wait; not those that room is being made for."""
    first, served = ask("first", queue="test", priority=9), ask("served", queue="prod", priority=9)
    late = ask("late", queue="prod", unschedulable_ms=5)
    at = full(first, served, late, ask("own", queue="prod", priority=3), reservation(served, node="n0"))
    found = ahead(at, named(at, "ask"))
    assert (found.cluster, found.queue) == (2, 1)
    assert ahead(at, named(at, "first")).cluster == 0
    assert ahead(at, named(at, "late")).cluster == 3


def _worlds(world: World) -> Snapshot:
    return snapshot(world[0], world[1], OPTED_OUT)


def _asks(at: Snapshot) -> list[Pod]:
    """Those that can be judged at all."""
    return [one for one in at.asks if one.queue is not None]


def _agrees(at: Snapshot, queues: QueueTree) -> None:
    """Tiers against the policy, and each against the long way round."""
    for one in _asks(at):
        decision, found = fence.decide(at, queues, one, AT_ONCE), pending_reasons_of(at, queues, one, "fence")
        if decision.outcome is Outcome.FITS:
            assert [(each.name, each.passes) for each in found.tiers] == [(TierName.NODE, True)]
            continue
        assert decision.reason is not Reason.UNREAD
        assert (decision.outcome is Outcome.PREEMPT) is (found.refusing == ())
        plain = PlainCase(at, queues, one)
        by_name = {each.name: each for each in found.tiers}
        assert by_name[TierName.QUOTA].passes is plain.quota()
        assert (TierName.GUARANTEE not in by_name or by_name[TierName.GUARANTEE].passes) is plain.guarantee()
        if decision.outcome is not Outcome.PREEMPT or not plain.resort:
            assert by_name[TierName.FENCE].needs[0].available == plain.reached()
            assert by_name[TierName.PRIORITY].needs[0].available == plain.may_go()
        assert by_name[TierName.NODE].needs[0].available == plain.nodes()
        for need in by_name[TierName.NODE].needs[1:]:
            assert need.available == free_on(plain.snapshot, need.where, need.resource)


@given(queues=queue_trees(), objects=clusters())
@examples(80)
def test_tiers_agree_with_the_policy_in_random_clusters(queues: QueueTree, objects: list[Node | Pod]) -> None:
    """Queues with every setting there is."""
    _agrees(_worlds((queues, list(objects))), queues)


@given(world=crowds())
@examples(60)
def test_tiers_agree_with_the_policy_where_much_is_preempted(world: World) -> None:
    """Many pods on a node, rules between them, guarantees that bite."""
    _agrees(_worlds(world), world[0])


def _smaller_by_one(remedy: Remedy) -> Remedy | None:
    """The same change, one unit less of it; None where that is not one amount."""
    if remedy.priority is not None:
        return msgspec.structs.replace(remedy, priority=remedy.priority - 1)
    if len(remedy.smaller) == 1:
        ((name, amount),) = remedy.smaller.items()
        return msgspec.structs.replace(remedy, smaller={name: amount - 1})
    places = [(path, name) for path, of in remedy.queues.items() for name in of]
    if len(places) == 1:
        ((path, name),) = places
        one = 1 if remedy.change is Change.LESS_GUARANTEED else -1  # there the new amount is the lower one
        return msgspec.structs.replace(remedy, queues={path: {name: remedy.queues[path][name] + one}})
    return None


def _helps(case: PendingCase, found: PendingReasons) -> int:
    """Every remedy does what it says, and one unit less of it does not."""
    count = 0
    for one in found.refusing:
        for remedy in one.remedies:
            changed = case.with_remedy(remedy)
            assert changed.lets(one.name)
            assert changed.gets_room() is remedy.enough
            less = _smaller_by_one(remedy)
            assert less is None or not case.with_remedy(less).lets(one.name)
            count += 1
    return count


@given(queues=queue_trees(), objects=clusters())
@examples(60)
def test_remedies_help_and_are_the_smallest_in_random_clusters(queues: QueueTree, objects: list[Node | Pod]) -> None:
    """Of request, max, guarantee and priority."""
    at = _worlds((queues, list(objects)))
    for one in _asks(at):
        case = PendingCase(snapshot=at, tree=queues, ask=one, rules=find("fence", "design").pending_tiers({}))
        _helps(case, pending_reasons_of(at, queues, one, "fence"))


@given(world=worlds())
@examples(80)
def test_under_policy_priority_tiers_agree_and_remedies_help(world: tuple[Snapshot, Pod]) -> None:
    """No queue has a say there; a pod of the same priority may not go."""
    at, one = world
    decision, found = priority.decide(at, ROOT_ONLY, one), pending_reasons_of(at, ROOT_ONLY, one, "priority")
    if decision.reason in (Reason.WAITING_FOR_VICTIMS, Reason.UNREAD_RULES):
        return
    assert (decision.outcome in (Outcome.FITS, Outcome.PREEMPT)) is (found.refusing == ())
    _helps(
        PendingCase(snapshot=at, tree=ROOT_ONLY, ask=one, rules=find("priority", "kube-scheduler").pending_tiers({})),
        found,
    )
