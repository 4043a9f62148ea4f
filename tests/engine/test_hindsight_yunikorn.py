"""What YuniKorn preempted is decided again by its own rules, and held against the laws that its design promised."""

from typing import Any

import pytest

from engine.audit import Invariant, failed_checks
from engine.explain import observed_causes, quirk_effects, replay_lines
from engine.explain.decision.invariants import AGAINST
from engine.explain.decision.quirks import RULES
from engine.explain.observed.replay import CAUSES_OF_YUNIKORN, NOT_OVER_MAX, QUIRKS_UNKNOWN
from engine.model.decision import Outcome
from engine.model.objects import Pod, Preempted, PriorityClass
from engine.model.queue_tree import QueueTree
from engine.observation import replay
from engine.observation.evictions import (
    Agreement,
    Cause,
    NotReplayedReason,
    Observed,
    compare_with_replay,
    decode,
    encode,
    merge_observed,
    observe,
    without_victims,
)
from engine.observation.replay import replay_observed
from engine.policies.yunikorn import Quirk
from tests.builders import MINUTE, NOW, ask, node, pod, queue, tree
from tests.engine.test_hindsight import Cluster, beside, ours, victims

AT = NOW - 5_000
LONG_AGO = NOW - 10 * MINUTE
TREE = tree({"prod": queue("10"), "test": queue("2")})
"""Prod is promised ten cores, Test two."""


class Yunikorn(Cluster):
    """A cluster that YuniKorn schedules."""

    def __init__(self, *objects: Any, tree: QueueTree = TREE) -> None:
        super().__init__(*objects)
        self.tree = tree
        self.state.classes["wary"] = PriorityClass(name="wary", opted_out=True)

    def preempts(self, asker: str, *victims: str, on: str = "n1", says: str = "") -> None:
        """What YuniKorn does, in its order: it says so, which names no node, then deletes the pods."""
        for name in victims:
            self.says(name, ask_uid=f"uid-{asker}", ask_application="app", ask_queue="root.prod")
        for name in victims:
            self.pod(name, terminating=True)

    def says(self, victim: str, **about: Any) -> None:
        told = Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=AT, **about)
        self.state.yunikorn[f"event-{victim}"] = told

    def seen(self) -> list[Observed]:
        return list(
            replay_observed(observe(self.state, self.tree, now_ms=NOW), self.state, lambda _ms: self.tree).decisions
        )


def runs(name: str, on: str = "n1", of: str = "test", **settings: Any) -> Pod:
    return pod(name, queue=of, node=on, app=name, **{"cpu": 2, "created_ms": LONG_AGO} | settings)


def full(*, prod: int = 2, test: int = 4, **settings: Any) -> Yunikorn:
    """Prod 4 of 10 and Test 8 over 2, in pods of two cores on one node that is full; web of Prod waits for two more.

    The later the number, the newer the pod.
    """
    pods = [runs(f"prod-{n}", of="prod") for n in range(prod)]
    pods += [runs(f"test-{n}", created_ms=LONG_AGO + n * 1_000) for n in range(test)]
    web = ask("web", queue="prod", cpu=2, app="web", created_ms=LONG_AGO)
    return Yunikorn(node("n1", 2 * (prod + test)), *pods, web, **settings)


def laws(seen: Observed) -> set[Invariant]:
    return {check.law for check in failed_checks(seen.laws)}


def test_the_same_answer_with_every_law_kept_is_told_so():
    """Prod is below its guarantee, Test far above: the design wants no other."""
    cluster = full()
    cluster.preempts("web", "test-3")
    seen = cluster.one()
    decision = ours(seen)
    assert (decision.policy, decision.dialect, decision.outcome) == ("fence", "yunikorn", Outcome.PREEMPT)
    assert (victims(decision), beside(seen).agreement) == (["test-3"], Agreement.SAME)
    assert (bool(seen.laws), laws(seen)) == (True, set())
    assert seen.untold is None


def test_the_laws_are_held_against_the_cluster_as_it_was():
    """Since then the victim has gone, and its guarantee with it would be undercut: that is not what was decided."""
    cluster = full()
    cluster.preempts("web", "test-0")
    cluster.gone("test-0", "test-1", "test-2", "test-3")
    seen = cluster.one()
    assert (laws(seen), seen.victims[0].flags) == (set(), ())
    figures = {one.path: (one.before["cpu"], one.after["cpu"]) for one in seen.queues}
    assert figures == {"root.prod": (4_000, 4_000), "root.test": (8_000, 6_000)}


def test_a_guarantee_that_it_undercut_is_law_2():
    """Test is promised six and uses six."""
    cluster = full(test=3, tree=tree({"prod": queue("10"), "test": queue("6")}))
    cluster.preempts("web", "test-0")
    seen = cluster.one()
    assert laws(seen) == {Invariant.GUARANTEE, Invariant.ABOVE_GUARANTEE, Invariant.PROGRESS}
    said = [message.id for message in observed_causes(seen, by="YuniKorn")]
    assert AGAINST[Invariant.PROGRESS] in said
    assert AGAINST[Invariant.GUARANTEE] not in said, "its flag says so already, with numbers"


def test_an_asker_without_a_claim_is_law_4():
    """Prod has all that it was promised."""
    cluster = full(tree=tree({"prod": queue("4"), "test": queue("2")}))
    cluster.preempts("web", "test-0")
    assert laws(cluster.one()) == {Invariant.ENTITLED, Invariant.PROGRESS}


def test_a_higher_priority_is_law_6_and_an_opt_out_law_1():
    """As priority offsets and its own order may lead to."""
    cluster = full()
    cluster.pod("test-0", priority=5, priority_class="wary")
    cluster.preempts("web", "test-0")
    assert laws(cluster.one()) == {Invariant.PRIORITY, Invariant.OPT_OUT}


def test_a_fence_that_it_crossed_is_law_7():
    """Fenced in, Prod reaches nobody."""
    cluster = full(tree=tree({"prod": queue("10", fence=True), "test": queue("2")}))
    cluster.preempts("web", "test-0")
    assert Invariant.FENCE in laws(cluster.one())


def test_room_that_does_not_suffice_is_told():
    """At most two go for one ask, even where three were needed."""
    cluster = full()
    cluster.pod("web", requests={"cpu": 6_000, "pods": 1})
    cluster.preempts("web", "test-0", "test-1")
    assert Invariant.FITS in laws(cluster.one())


def test_a_victim_more_than_was_needed_is_told():
    """One would have made the room."""
    cluster = full()
    cluster.preempts("web", "test-0", "test-1")
    assert laws(cluster.one()) == {Invariant.MINIMAL}


def test_victims_on_several_nodes_are_held_to_what_needs_no_node():
    """Where the ask was to go is not known, so nothing is said of the room."""
    pods = [runs("test-0"), runs("test-1", "n2"), runs("test-2")]
    web = ask("web", queue="prod", cpu=2, app="web", created_ms=LONG_AGO)
    cluster = Yunikorn(node("n1"), node("n2"), *pods, web)
    cluster.preempts("web", "test-0", "test-1")
    seen = cluster.one()
    assert (seen.node, laws(seen)) == ("", set())
    assert not {Invariant.FITS, Invariant.MINIMAL, Invariant.ONE_NODE} & {check.law for check in seen.laws}


def test_who_is_protected_by_us_is_no_law_for_others():
    """Nor is it for them who may ask at all."""
    cluster = full()
    cluster.preempts("web", "test-0")
    assert not {Invariant.SHIELDED, Invariant.MAY_PREEMPT} & {check.law for check in cluster.one().laws}


def test_what_our_tree_does_not_know_is_not_judged():
    """An ask of no leaf here has no guarantee that could be held against anybody."""
    cluster = full(tree=tree({"other": queue()}))
    cluster.preempts("web", "test-0")
    assert cluster.one().laws == ()


def test_of_kube_scheduler_no_such_law_is_asked():
    """It knows of no queues."""
    cluster = Cluster(node("n1", 2), pod("low", node="n1", cpu=2), ask("web", cpu=2, priority=100))
    cluster.preempts("web", "low")
    assert cluster.one().laws == ()


def test_where_it_would_not_have_preempted_by_its_own_rules_that_is_told():
    """The ask has not waited for its queue's delay."""
    cluster = full()
    cluster.pod("web", created_ms=AT - 1_000)
    cluster.preempts("web", "test-0")
    seen = cluster.one()
    assert (beside(seen).agreement, beside(seen).cause) == (Agreement.NO_PREEMPTION, Cause.MOMENT)
    said = [message.id for message in replay_lines(seen)]
    assert said[0].startswith("A replay with YuniKorn’s own rules")
    assert said[-1] == CAUSES_OF_YUNIKORN[Cause.MOMENT]


@pytest.mark.parametrize(("born", "cause"), [(3_999, Cause.TIE), (2_000, Cause.MOMENT)])
def test_of_pods_that_are_worth_the_same_it_takes_any(born: int, cause: Cause):
    """Of those that were made in one second, chance decides; an older one it would have left."""
    agreed = set()
    for victim in ("test-2", "test-3"):
        cluster = full()
        cluster.pod("test-2", created_ms=LONG_AGO + born)
        cluster.preempts("web", victim)
        found = beside(cluster.one())
        agreed.add(found.agreement)
        assert found.cause in (None, cause)
    assert agreed == {Agreement.SAME, Agreement.OTHER_VICTIMS}


@pytest.mark.parametrize("ends", ["deleted", "gone"])
def test_it_is_seen_as_it_was_before_the_first_victim_began_to_go(ends: str):
    """Where nothing is graceful, pods are gone at once."""
    cluster = full()
    cluster.says("test-0", ask_uid="uid-web", ask_queue="root.prod")
    if ends == "deleted":
        cluster.pod("test-0", terminating=True)
    cluster.gone("test-0")
    cluster.pod("web", node="n1")
    seen = cluster.one()
    assert (ours(seen).outcome, bool(seen.laws)) == (Outcome.PREEMPT, True)


def test_what_was_not_followed_is_not_judged():
    """The worker began when the victim was already going."""
    cluster = full()
    cluster.preempts("web", "test-0")
    cluster.state.changes.clear()
    seen = cluster.one()
    assert (seen.untold, seen.laws, seen.hindsight) == (NotReplayedReason.NOT_SEEN, (), None)


def lowered(*victims: str, delay_ms: int | None = 1_000) -> Observed:
    """Test uses eight cores, four of which its new max leaves it; these pods go for it."""
    under = tree({"prod": queue("10"), "test": queue(max="4", quota_delay_ms=delay_ms)})
    cluster = full(tree=under)
    for name in victims:
        cluster.says(name, over_max="root.test")
        cluster.pod(name, terminating=True)
    return cluster.one()


def test_what_goes_for_a_lowered_max_is_decided_again_for_that_max():
    """By YuniKorn's own order; no law speaks of it, as nobody asks."""
    choice = victims(ours(lowered("test-0", "test-1")))
    assert len(choice) == 2
    same = lowered(*choice)
    assert (beside(same).agreement, same.untold, same.laws) == (Agreement.SAME, None, ())
    other = lowered(*sorted({f"test-{n}" for n in range(4)} - set(choice)))
    assert beside(other).agreement is Agreement.OTHER_VICTIMS
    assert decode(encode(same)) == same


def test_a_max_that_is_not_known_here_explains_nothing():
    """The tree that is assigned to the cluster is an older one."""
    seen = lowered("test-0", delay_ms=None)
    assert (beside(seen).agreement, beside(seen).cause) == (Agreement.NO_PREEMPTION, Cause.MOMENT)
    assert [message.id for message in replay_lines(seen)][1:] == [NOT_OVER_MAX, CAUSES_OF_YUNIKORN[Cause.MOMENT]]


def test_what_was_held_against_a_part_is_not_told_of_the_whole():
    """A further victim becomes known later, or one turns out to have gone for another ask."""
    cluster = full()
    cluster.preempts("web", "test-0")
    first = cluster.one()
    cluster.state.yunikorn.clear()
    cluster.preempts("web", "test-1")
    second = cluster.one()
    assert first.laws
    assert second.laws
    assert merge_observed(first, second).laws == ()
    assert merge_observed(first, first).laws == first.laws
    assert without_victims(first, {"uid-test-0"}).laws == ()
    assert decode(encode(first)) == first


def test_without_hindsight_nothing_is_compared():
    """As for what others did."""
    cluster = full()
    cluster.preempts("web", "test-0")
    cluster.state.changes.clear()
    assert compare_with_replay(cluster.one()) is None


def test_which_of_its_departures_changed_it_is_told():
    """Three would have been needed; YuniKorn takes two at most, and those in vain."""
    cluster = full()
    cluster.pod("web", requests={"cpu": 6_000, "pods": 1})
    cluster.preempts("web", "test-3", "test-2")
    seen = cluster.one()
    assert (beside(seen).agreement, laws(seen)) == (Agreement.SAME, {Invariant.FITS})
    assert RULES[Quirk.TWO_VICTIMS] in [messages[0].id for messages in quirk_effects(seen)]
    assert decode(encode(seen)) == seen


def test_where_nothing_departs_nothing_is_told():
    """The design answers the same."""
    cluster = full()
    cluster.preempts("web", "test-3")
    assert quirk_effects(cluster.one()) == ()


def test_where_it_would_take_too_long_it_is_said_so(monkeypatch: pytest.MonkeyPatch):
    """The answer itself is there all the same; of kube-scheduler nothing of the kind is said."""
    monkeypatch.setattr(replay, "PODS_AT_ONCE", replay.TIMES_OVER * 7 - 1)
    cluster = full()
    assert len(cluster.state.pods) == 7
    cluster.preempts("web", "test-3")
    seen = cluster.one()
    assert beside(seen).agreement is Agreement.SAME
    assert [[message.id for message in messages] for messages in quirk_effects(seen)] == [[QUIRKS_UNKNOWN]]
    others = Cluster(node("n1", 2), pod("low", node="n1", cpu=2), ask("web", cpu=2, priority=100))
    others.preempts("web", "low")
    assert quirk_effects(others.one()) == ()


def test_a_departure_in_how_a_max_is_enforced_is_told():
    """Pods that opted out go first there."""
    under = tree({"prod": queue("10"), "test": queue(max="6", quota_delay_ms=1_000)})
    cluster = full(tree=under)
    cluster.pod("test-0", priority_class="wary")
    cluster.says("test-0", over_max="root.test")
    cluster.pod("test-0", terminating=True)
    seen = cluster.one()
    assert beside(seen).agreement is Agreement.SAME
    assert RULES[Quirk.QUOTA_DEAREST_FIRST] in [messages[0].id for messages in quirk_effects(seen)]


def test_every_law_that_others_are_held_to_has_its_words():
    """But for those that are rules for our own acting alone, and those of quota and shares, which others count anew."""
    of_quota = {Invariant.QUOTA, Invariant.BORROWS, Invariant.WHOLE}
    of_shares = {Invariant.DESERVED, Invariant.OVERUSED, Invariant.NOTIFIED}
    assert set(Invariant) - set(AGAINST) <= {
        Invariant.SHIELDED,
        Invariant.PAUSED,
        Invariant.SCOPE,
        Invariant.MAY_PREEMPT,
        Invariant.MEMBER_NODES,
        *of_quota,
        *of_shares,
    }
