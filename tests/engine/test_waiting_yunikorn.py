"""Why an ask waits for YuniKorn: every tier by its rules, and an ask gets room only where it fits afterwards."""

import msgspec
import pytest
from hypothesis import given

from engine.analysis.pending_reasons import Change, PendingReasons, TierName, explains, pending_reasons_of
from engine.analysis.pending_reasons.pending_case import PendingCase
from engine.model.decision import Outcome, Reason
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import find, yunikorn
from tests.builders import amounts, ask, daemonset_ask, named, node, pod, queue, snapshot, tree
from tests.engine.crowds import crowds
from tests.engine.strategies import clusters, queue_trees
from tests.properties import examples

AT_ONCE = yunikorn.Parameters(check_delay=False)
_TIERS = [TierName.QUOTA, TierName.GUARANTEE, TierName.FENCE, TierName.PRIORITY, TierName.NODE]
QUEUES = tree({"prod": queue(4), "test": queue()})


def why(at: Snapshot, queues: QueueTree, **parameters: object) -> PendingReasons:
    """Why the ask waits."""
    return pending_reasons_of(at, queues, named(at, "ask"), "fence", "yunikorn", parameters)


def full(queues: QueueTree = QUEUES, *more: Node | Pod, cpu: int = 1, **asked: object) -> Snapshot:
    """Four pods of Test on a node that holds no more, and Prod's ask."""
    running = [pod(f"t{number}", queue="test", node="n1") for number in range(4)]
    return snapshot(queues, node("n1", 4), running, *more, ask("ask", queue="prod", cpu=cpu, **asked))  # type: ignore[arg-type]


def refusing(found: PendingReasons) -> list[TierName]:
    """The tiers that stop it."""
    return [tier.name for tier in found.refusing]


def test_room_that_victims_make_passes_every_tier() -> None:
    """Quota, guarantee, fence, priority and node, as by the design; each with YuniKorn's numbers."""
    found = why(full(), QUEUES)
    assert refusing(found) == []
    assert [tier.name for tier in found.tiers] == _TIERS
    guarantee = found.tiers[1].needs[0]
    assert (guarantee.where, guarantee.required, guarantee.available) == ("root.prod", 1000, 4000)
    assert (found.tiers[2].reached[0].queue, found.tiers[2].reached[0].pods) == ("root.test", 4)


def test_all_of_an_ask_has_to_be_guaranteed() -> None:
    """By the design it would do to be below the guarantee: told with what is missing, and what would help."""
    queues = tree({"prod": queue(2), "test": queue()})
    at = full(queues, node("n2", 1), pod("p", queue="prod", node="n2"), cpu=2)
    guarantee = why(at, queues).refusing[0]
    assert guarantee.name is TierName.GUARANTEE
    assert [(need.resource, need.required, need.available, need.missing) for need in guarantee.needs] == [
        ("cpu", 2000, 1000, 1000)
    ]
    smaller, remedy = guarantee.remedies
    assert (smaller.change, smaller.smaller, smaller.enough) == (Change.REQUEST, amounts(1), True)
    assert (remedy.change, remedy.queues, remedy.enough) == (Change.GUARANTEE, {"root.prod": amounts(3)}, True)


def test_an_ask_for_which_pods_would_go_in_vain_does_not_get_room() -> None:
    """Its queue's max does not stop YuniKorn from evicting for it; it is in its way all the same."""
    queues = tree({"prod": queue(4, max=1), "test": queue()})
    at = full(queues, node("n2", 1), pod("p", queue="prod", node="n2"))
    assert TierName.QUOTA in refusing(why(at, queues))


def test_where_preemption_is_turned_off_the_partition_says_so() -> None:
    """No tier but that one stops it, and nothing of the ask's own helps."""
    found = why(full(), QUEUES, preemption=False)
    (fence,) = [tier for tier in found.refusing if tier.name is TierName.FENCE]
    assert (fence.shut, fence.remedies) == ("root", ())


def test_a_fence_that_leaves_nobody_is_told_with_its_remedy() -> None:
    """Nobody within it may go."""
    queues = tree({"x": queue(fence=True), "x.prod": queue(4), "test": queue()})
    running = [pod(f"t{number}", queue="test", node="n1") for number in range(4)]
    at = snapshot(queues, node("n1", 4), running, ask("ask", queue="x.prod"))
    fence = why(at, queues).tiers[2]
    assert (fence.name, fence.passes, fence.needs[0].where) == (TierName.FENCE, False, "root.x")
    assert [one.change for one in fence.remedies] == [Change.FENCE]


def test_one_that_never_preempts_and_one_of_too_low_a_priority_are_told_so() -> None:
    """The right to preempt helps the one, the lowest priority that reaches anybody the other."""
    (never,) = why(full(never_preempts=True, priority_class="calm"), QUEUES).refusing
    assert (never.name, never.shut, never.remedies[0].change) == (TierName.PRIORITY, "calm", Change.MAY_PREEMPT)
    running = [pod(f"t{number}", queue="test", node="n1", priority=7) for number in range(4)]
    at = snapshot(QUEUES, node("n1", 4), running, ask("ask", queue="prod"))
    low = next(tier for tier in why(at, QUEUES).tiers if tier.name is TierName.PRIORITY)
    assert (low.passes, low.remedies[0].priority) == (False, 7)


def test_a_daemonsets_ask_has_its_max_and_its_node_to_pass() -> None:
    """YuniKorn holds it to no guarantee and no fence."""
    at = snapshot(QUEUES, node("n1", 1), pod("t", queue="test", node="n1"), daemonset_ask("ask", queue="prod", on="n1"))
    assert [tier.name for tier in why(at, QUEUES).tiers] == [TierName.QUOTA, TierName.NODE]


def test_where_a_node_has_room_that_alone_is_told() -> None:
    """The delay is none of its business, nor is who may preempt."""
    found = why(full(QUEUES, node("n2", 2), never_preempts=True), QUEUES)
    assert [(tier.name, tier.passes) for tier in found.tiers] == [(TierName.NODE, True)]


def test_unknown_parameters_are_refused() -> None:
    """As where they are set."""
    with pytest.raises(msgspec.ValidationError):
        why(full(), QUEUES, last_resort="any")


def test_every_policy_that_is_decided_by_has_its_tiers() -> None:
    """None is left out."""
    assert explains("fence", "design")
    assert explains("fence", "yunikorn")
    assert explains("priority", "kube-scheduler")
    assert not explains("deserved", "volcano")


def _holds(at: Snapshot, queues: QueueTree) -> None:
    """The tiers pass exactly where it gets room, which only what the dialect decides gives; and remedies help."""
    for one in at.asks:
        decision = yunikorn.decide(at, queues, one, AT_ONCE)
        found = pending_reasons_of(at, queues, one, "fence", "yunikorn")
        if decision.reason in (Reason.NO_QUEUE, Reason.UNREAD, Reason.UNREAD_RULES):
            assert found.tiers == ()
            continue
        case = PendingCase(snapshot=at, tree=queues, ask=one, rules=find("fence", "yunikorn").pending_tiers({}))
        assert (found.refusing == ()) is case.gets_room()
        assert found.refusing or decision.outcome in (Outcome.FITS, Outcome.PREEMPT)
        assert decision.outcome is not Outcome.FITS or [tier.name for tier in found.tiers] == [TierName.NODE]
        for tier in found.refusing:
            assert any(need.missing for need in tier.needs)
            for remedy in tier.remedies:
                changed = case.with_remedy(remedy)
                assert changed.lets(tier.name)
                assert changed.gets_room() is remedy.enough


@given(queues=queue_trees(), objects=clusters())
@examples(60)
def test_tiers_agree_with_the_dialect_in_random_clusters(queues: QueueTree, objects: list[Node | Pod]) -> None:
    """Queues with every setting there is."""
    _holds(snapshot(queues, list(objects)), queues)


@given(world=crowds())
@examples(30)
def test_tiers_agree_with_the_dialect_where_much_is_preempted(world: tuple[QueueTree, list[Node | Pod]]) -> None:
    """Many pods on a node, rules between them."""
    _holds(snapshot(world[0], world[1]), world[0])
