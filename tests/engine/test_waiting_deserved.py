"""Why an ask waits for what its queue deserves: each tier refuses exactly where the policy does."""

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.pending_reasons import PendingReasons, TierName, pending_reasons_of
from engine.analysis.pending_reasons.pending_case import PendingCase
from engine.explain import tier_sentence
from engine.model.change import Change
from engine.model.decision import Reason
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.policies import find, policy
from tests.builders import NOW, ask, named, node, pod, queue, snapshot, tree
from tests.engine.reclaim_worlds import world
from tests.properties import examples

FLAT = tree({"a": queue(), "b": queue()})


def why(at: Snapshot, **parameters: object) -> PendingReasons:
    """Why the ask called x waits."""
    return pending_reasons_of(at, at.tree, named(at, "x"), "deserved", "arbitrator", parameters)


def running(of: str, *cpus: int, **more: object) -> list[Pod]:
    """Pods of a queue on the one node."""
    return [pod(f"{of}{number}", queue=of, cpu=cpu, node="n1", **more) for number, cpu in enumerate(cpus)]


def names(found: PendingReasons) -> list[TierName]:
    """What stops it."""
    return [tier.name for tier in found.refusing]


def said(found: PendingReasons) -> list[str]:
    """What stops it, in sentences."""
    messages = [tier_sentence(tier, 0) for tier in found.refusing]
    return [str(message) for message in messages]


def test_where_a_node_has_room_that_alone_is_told() -> None:
    """Also where it will have, and then that those on their way out have to go first."""
    (free,) = why(snapshot(FLAT, node("n1", 4), running("a", 2), ask("x", queue="b"))).tiers
    assert (free.name, free.passes, free.soon) == (TierName.NODE, True, False)
    leaving = running("a", 4, terminating=True)
    (soon,) = why(snapshot(FLAT, node("n1", 4), leaving, ask("x", queue="b"))).tiers
    assert (soon.passes, tier_sentence(soon, 0).params) == (True, {"node": "n1"})
    assert "once the terminating pods are gone" in tier_sentence(soon, 0).id


def test_who_is_told_and_until_when_is_a_tier_that_passes_by_itself() -> None:
    """All the others let it through; once the time is over this one is gone."""
    there = snapshot(FLAT, node("n1", 4), running("a", 1, 1, 1, 1), ask("x", queue="b"), notices={"root.a": NOW})
    (grace,) = why(there).refusing
    assert grace.name is TierName.GRACE
    assert [(one.queue, one.over, one.due_ms) for one in grace.notices] == [
        ("root.a", {"cpu": 1_000, "pods": 1}, NOW + 30_000)
    ]
    assert grace.remedies == ()
    assert why(msgspec.structs.replace(there, notices={"root.a": 0})).refusing == ()


def test_beyond_what_its_queue_deserves_it_may_ask_less_or_have_more_reserved() -> None:
    """With either it gets room, when the others had their time."""
    there = snapshot(FLAT, node("n1", 4), running("a", 1, 1), running("b", 1, 1), ask("x", queue="b", cpu=1))
    found = why(there)
    assert names(found)[0] is TierName.DESERVED
    (need,) = [one for one in found.refusing[0].needs if one.resource == "cpu"]
    assert (need.required, need.available, need.missing) == (3_000, 2_000, 1_000)
    assert said(found)[0].startswith("It would take b to 3 cores, and its deserved share is 2 cores")
    (reserved,) = found.refusing[0].remedies
    assert reserved.change is Change.RESERVED
    assert (reserved.queues, reserved.enough) == ({"root.b": {"cpu": 3_000, "pods": 3}}, True)


def test_a_hard_cap_that_is_reached_says_what_would_do() -> None:
    """Less, or a higher one."""
    where = tree({"a": queue(), "b": queue(max="2")})
    there = snapshot(where, node("n1", 6), running("a", 1, 1, 1, 1, 1), running("b", 1), ask("x", queue="b", cpu=2))
    (hard, *_others) = why(there).refusing
    assert (hard.name, hard.needs[0].missing) == (TierName.HARD, 1_000)
    assert {one.change for one in hard.remedies} == {Change.REQUEST, Change.HARD}
    assert said(why(there))[0] == "b has only 1 core left below its hard cap, and this pod requests 2 cores."


def test_what_is_reserved_for_others_is_told_as_such() -> None:
    """Though they use more than they deserve: without their only pod they would have less."""
    where = tree({"a": queue("3"), "b": queue("1")})
    there = snapshot(where, node("n1", 4), running("a", 4), ask("x", queue="b"), notices={"root.a": 0})
    giving, _node = why(there).refusing
    assert (giving.name, giving.staying) == (TierName.RESERVED, {"guarantee": 1})
    assert said(why(there))[0].endswith("what they use is reserved for their queues or for a parent queue.")


def test_where_nobody_uses_more_than_it_deserves_that_is_told() -> None:
    """As where a fence leaves nobody, with the fence."""
    where = tree({"a": queue("4"), "f": queue(fence=True), "f.b": queue("1")})
    there = snapshot(where, node("n1", 5), running("a", 5), ask("x", queue="f.b"), notices={"root.a": 0})
    found = why(there)
    assert names(found) == [TierName.OVERUSED, TierName.RESERVED, TierName.NODE]
    (fence,) = found.refusing[0].remedies
    assert (fence.change, fence.queues) == (Change.FENCE, {"root.f": {}})


def test_on_no_node_and_on_all_together() -> None:
    """What is lacking is told of the nearest node, or of all of them."""
    nodes = [node("n1", 2), node("n2", 2)]
    pods = [pod(f"a{number}", queue="a", node=f"n{number}", cpu=2) for number in (1, 2)]
    there = snapshot(FLAT, nodes, pods, ask("x", queue="b", cpu=3), notices={"root.a": 0})
    assert TierName.NODE in names(why(there))
    anywhere = snapshot(FLAT, nodes, pods, ask("x", queue="b", cpu=2), notices={"root.a": 0})
    assert why(anywhere, node_fit=False).refusing == ()


def test_one_that_never_preempts_and_a_queue_that_turns_it_off_are_told_so() -> None:
    """The one may be let."""
    pods = running("a", 1, 1, 1, 1)
    meek = snapshot(FLAT, node("n1", 4), pods, ask("x", queue="b", never_preempts=True), notices={"root.a": 0})
    (never,) = why(meek).refusing
    assert (never.name, [one.change for one in never.remedies]) == (TierName.PRIORITY, [Change.MAY_PREEMPT])
    off = tree({"a": queue(), "b": queue(disabled=True)})
    (shut,) = why(snapshot(off, node("n1", 4), pods, ask("x", queue="b"), notices={"root.a": 0})).refusing
    assert (shut.name, shut.shut) == (TierName.FENCE, "root.b")


@given(st.integers(0, 10**6))
@examples(60)
def test_tiers_agree_with_the_policy_and_remedies_do_what_they_say(seed: int) -> None:
    """An ask gets room where every tier but the grace lets it through, and nowhere else."""
    at, where, by = world(random.Random(seed))
    parameters = msgspec.to_builtins(by)
    decide, rules = (
        policy("deserved", "arbitrator", parameters),
        find("deserved", "arbitrator").pending_tiers(parameters),
    )
    for asking in at.asks:
        found = pending_reasons_of(at, where, asking, "deserved", "arbitrator", parameters)
        if not found.tiers:
            assert decide(at, where, asking).outcome == "not-eligible"
            continue
        case = PendingCase(snapshot=at, tree=where, ask=asking, rules=rules)
        stops = [tier for tier in found.refusing if tier.name is not TierName.GRACE]
        assert (stops == []) is case.gets_room()
        told = decide(at, where, asking).reason is Reason.GRACE
        assert told is any(tier.name is TierName.GRACE for tier in found.tiers)
        for tier in found.refusing:
            assert tier_sentence(tier, asking.priority).id
            for remedy in tier.remedies:
                changed = case.with_remedy(remedy)
                assert changed.lets(tier.name)
                assert changed.gets_room() is remedy.enough
