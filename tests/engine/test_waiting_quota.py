"""Why an ask waits for quota, tier by tier: each refuses exactly where the policy does, and what would help does."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.pending_reasons import Need, PendingReasons, Tier, TierName, pending_reasons_of
from engine.analysis.pending_reasons.pending_case import PendingCase
from engine.explain import Message
from engine.explain.pending.tiers import LEFT_NONE, LEFT_SHORT, MOST_SHORT, tier_sentence
from engine.model.change import Change
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.policies import find, policy
from tests.builders import NOW, ask, named, node, pod, queue, snapshot, tree
from tests.engine.pod_worlds import world
from tests.properties import examples

TWO = tree({"a": queue("4"), "b": queue("4")})
POLICIES = ("cohort", "fair-share")


def why(at: Snapshot, name: str = "x", policy_name: str = "cohort") -> PendingReasons:
    """Why the ask of that name waits."""
    return pending_reasons_of(at, at.tree, named(at, name), policy_name)


def running(of: str, *cpus: int, **settings: int) -> list[Pod]:
    """Pods of a queue on the one node."""
    return [pod(f"{of}{number}", queue=of, cpu=cpu, node="n1", **settings) for number, cpu in enumerate(cpus)]


def names(tiers: tuple[Tier, ...]) -> list[TierName]:
    """Which they are."""
    return [one.name for one in tiers]


def test_where_the_quota_has_room_that_alone_is_told() -> None:
    """No node is asked."""
    (left,) = why(snapshot(TWO, running("b", 5), ask("x", queue="a", cpu=3))).tiers
    assert (left.name, left.passes) == (TierName.AVAILABLE, True)
    assert left.needs[0] == Need(where="root.a", resource="cpu", required=3_000, available=3_000)


def test_where_others_give_back_every_tier_lets_it_through() -> None:
    """Each with what it rests on."""
    found = why(snapshot(TWO, node(cpu=8), running("b", 3, 3), ask("x", queue="a", cpu=4)))
    assert (names(found.tiers), found.refusing) == ([TierName.POTENTIAL, TierName.PRIORITY, TierName.AVAILABLE], ())
    most, who, left = found.tiers
    assert most.needs[0].available == 8_000
    assert (who.needs[0].available, who.held) == (1, {"cpu": 3_000})
    assert (left.needs[0].available, left.needs[0].evictable) == (2_000, 3_000)


def test_more_than_there_is_is_told_with_how_much_less_would_do() -> None:
    """Or with how much more guaranteed."""
    most, *_others = why(snapshot(TWO, ask("x", queue="a", cpu=10))).refusing
    assert (most.name, most.needs[0].missing) == (TierName.POTENTIAL, 2_000)
    assert [(one.change, one.smaller, one.queues) for one in most.remedies] == [
        (Change.REQUEST, {"cpu": 2_000}, {}),
        (Change.GUARANTEE, {}, {"root.a": {"cpu": 6_000}}),
    ]


def test_where_nobody_may_go_the_lowest_priority_that_helps_is_told() -> None:
    """In its own queue an ask takes lower priorities alone."""
    at = snapshot(tree({"a": queue("4")}), node(cpu=8), running("a", 4, priority=5), ask("x", queue="a", cpu=2))
    found = why(at)
    assert names(found.refusing) == [TierName.PRIORITY, TierName.AVAILABLE]
    assert [(one.change, one.priority, one.enough) for one in found.refusing[0].remedies] == [
        (Change.PRIORITY, 6, True)
    ]


def test_one_that_never_preempts_and_a_queue_that_turns_it_off_are_told_so() -> None:
    """The one with all else in order, the other with nobody left to take from."""
    at = snapshot(TWO, node(cpu=8), running("b", 3, 3), ask("x", queue="a", cpu=4, never_preempts=True))
    (never,) = why(at).refusing
    assert (never.name, never.shut) == (TierName.PRIORITY, "Never")
    off = tree({"a": queue("4", disabled=True), "b": queue("4")})
    disabled, *others = why(snapshot(off, node(cpu=8), running("b", 3, 3), ask("x", queue="a", cpu=4))).refusing
    assert (disabled.name, disabled.shut) == (TierName.FENCE, "root.a")
    assert names(tuple(others)) == [TierName.PRIORITY, TierName.AVAILABLE]


def test_what_an_ask_says_that_it_needs_none_of_is_no_need() -> None:
    """As pods do whose template has a place for GPUs: 0 of them."""
    gpus = tree({"a": queue({"cpu": 4, "example.com/gpu": 1}), "b": queue("4")})
    found = why(snapshot(gpus, ask("x", queue="a", cpu=10, resources={"example.com/gpu": 0})))
    most, *_others = found.refusing
    assert [need.resource for need in most.needs] == ["cpu"]
    assert [tier_sentence(one, 0).id for one in (most, found.tiers[-1])] == [MOST_SHORT, LEFT_SHORT]


def test_where_nothing_counts_towards_a_quota_that_is_told() -> None:
    """Of a pod without requests, where queues say nothing of pods."""
    (left,) = why(snapshot(TWO, ask("x", queue="a", cpu=0))).tiers
    assert (left.passes, left.needs, tier_sentence(left, 0)) == (True, (), Message(LEFT_NONE))


def test_a_pod_that_is_decided_with_another_has_no_tiers_of_its_own() -> None:
    """They are those of the whole workload, at its first pod."""
    at = snapshot(TWO, [ask(f"x{number}", queue="a", cpu=5, controller="Job/x") for number in range(2)])
    first, second = why(at, "x0").tiers, why(at, "x1").tiers
    assert second == ()
    assert first[0].needs[0].required == 10_000


@pytest.mark.parametrize("name", POLICIES)
@given(st.integers(0, 10**6))
@examples(60)
def test_tiers_agree_with_the_policy_and_remedies_do_what_they_say(name: str, seed: int) -> None:
    """An ask gets room where every tier lets it through, and nowhere else."""
    state, where = world(random.Random(seed))
    at = state.snapshot(where, now_ms=NOW)
    decide, rules = policy(name, "kueue"), find(name, "kueue").pending_tiers({})
    for asking in at.asks:
        found = pending_reasons_of(at, where, asking, name)
        if not found.tiers:
            assert decide(at, where, asking).outcome == "not-eligible"
            continue
        case = PendingCase(snapshot=at, tree=where, ask=asking, rules=rules)
        assert (found.refusing == ()) is case.gets_room()
        for one in found.refusing:
            for remedy in one.remedies:
                changed = case.with_remedy(remedy)
                assert changed.lets(one.name)
                assert changed.gets_room() is remedy.enough
