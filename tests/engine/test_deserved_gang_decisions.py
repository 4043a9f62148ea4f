"""A gang in a pass of policy deserved: one decision for it, in words, what would have changed it, and why it waits."""

from typing import Any

import msgspec
import pytest

from engine.analysis.counterfactuals import Again, counterfactuals, counterfactuals_of_victim
from engine.analysis.pending_reasons import TierName, pending_reasons_of
from engine.audit import failed_checks
from engine.explain import Tense, notices, preemptor_sentence, reason, sentence, tier_sentence, victim_sentence
from engine.explain.decision.verdicts import pod_verdict
from engine.model.change import Change
from engine.model.decision import Decision, Outcome, Reason, apply_decision, decode, encode
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import audit_terms, policy
from tests.builders import (
    MINUTE,
    NOW,
    OPTED_OUT,
    ask,
    budget,
    named,
    node,
    pod,
    pod_group,
    queue,
    snapshot,
    tree,
    victims_of,
)
from tests.engine.test_fence_gang_decisions import said

BOTH = tree({"prod": queue(), "test": queue()})
TOLD = {"root.test": 0}
ALIKE = "queue than the first pod of the group. A group can preempt only if all of its pods are of one queue."
SHARE = "deserved share is 6 cores. It can use more than that only while resources are idle."


def member(number: int, **settings: object) -> Pod:
    """A pending pod of a gang in queue ``prod``, older the lower its number."""
    own = {"queue": "prod", "cpu": 2, "scheduling_group": "gang", "created_ms": number}
    return ask(f"gang-{number}", **{**own, **settings})


def running(name: str, *, on: str, of: str = "", **settings: object) -> Pod:
    """A running pod of queue ``test``, perhaps of a group."""
    return pod(name, node=on, scheduling_group=of, **{"queue": "test", "cpu": 2, **settings})


def crowded(
    *objects: object,
    queues: QueueTree = BOTH,
    at_once: int = 3,
    members: int = 3,
    told: dict[str, int] = TOLD,
    **settings: Any,
) -> Snapshot:
    """Three nodes with four cores, each full of two pods of ``test``; a gang of three pods of two cores waits.

    Each queue deserves six cores.
    """
    nodes = [node(f"n{number}", 4) for number in (1, 2, 3)]
    old = [running(f"old-{at.name}-{each}", on=at.name) for at in nodes for each in "ab"]
    gang = [member(number, **settings) for number in range(members)]
    at = snapshot(queues, nodes, old, gang, pod_group("gang", at_once=at_once), OPTED_OUT, *objects)
    return msgspec.structs.replace(at, notices=told)


def ringed(*objects: object, told: dict[str, int] = TOLD) -> Snapshot:
    """Two nodes, each full of a pod of a whole group of ``test``."""
    ring = [running(f"ring-{on}", on=on, of="ring", cpu=4) for on in ("n1", "n2")]
    at = snapshot(BOTH, node("n1", 4), node("n2", 4), ring, pod_group("ring", whole=True), *objects)
    return msgspec.structs.replace(at, notices=told)


def decided(at: Snapshot, queues: QueueTree = BOTH, **parameters: object) -> list[AuditedDecision]:
    """What a pass decides."""
    terms = audit_terms("deserved", "arbitrator", parameters)
    return plan(at, queues, policy("deserved", "arbitrator", parameters), terms=terms)


def first(at: Snapshot, queues: QueueTree = BOTH, **parameters: object) -> Decision:
    """The first decision of a pass, which keeps all invariants."""
    considered = decided(at, queues, **parameters)[0]
    assert failed_checks(considered.laws) == ()
    return considered.decision


def test_a_gang_is_decided_once_for_all_of_its_pods() -> None:
    """With the first that waits; each pod gets a node, on which all of them are reserved."""
    at = crowded()
    decision, *others = [one.decision for one in decided(at)]
    assert (decision.ask.name, decision.outcome, decision.reason) == ("gang-0", Outcome.PREEMPT, Reason.BELOW_DESERVED)
    assert decision.node is None
    assert decision.nodes == {"uid-gang-0": "n1", "uid-gang-1": "n1", "uid-gang-2": "n2"}
    assert victims_of(decision) == ["old-n1-a", "old-n1-b", "old-n2-a"]
    assert [(one.ask.name, one.reason, one.detail) for one in others] == [
        ("gang-1", Reason.DECIDED_WITH, "ns/gang-0"),
        ("gang-2", Reason.DECIDED_WITH, "ns/gang-0"),
    ]
    assert {held.ask_uid: held.node for held in apply_decision(at, decision).reservations} == decision.nodes
    assert decode(encode(decision)) == decision


def test_a_gang_is_decided_whole_or_not_at_all() -> None:
    """Its queue deserves room for three pods, and four have to run at once: nothing is evicted for any."""
    decision = first(crowded(at_once=4, members=4))
    assert (decision.outcome, decision.reason, decision.victims) == (Outcome.NOT_ELIGIBLE, Reason.BEYOND_DESERVED, ())
    assert said(reason(decision)) == (
        "With the pods of the group that come first, the others would take prod above its deserved share of 6 cores, "
        "so they can’t preempt. A group is started as a whole or not at all."
    )


def test_pods_beyond_what_a_gang_needs_are_decided_alone() -> None:
    """After the gang, by the same rules: its queue has all that it deserves."""
    decision, *others = [one.decision for one in decided(crowded(members=4))]
    assert len(decision.nodes) == 3
    assert [(one.ask.name, one.reason) for one in others][-1] == ("gang-3", Reason.BEYOND_DESERVED)


def test_pods_that_fit_come_first_and_count() -> None:
    """One has room; only the other needs evictions."""
    decision = first(crowded(node("n0", 2), at_once=2, members=2))
    assert decision.nodes == {"uid-gang-0": "n0", "uid-gang-1": "n1"}
    assert victims_of(decision) == ["old-n1-a"]


def test_queues_are_notified_of_all_that_they_have_to_give_back() -> None:
    """Once, for the whole gang; their pods are evicted when their grace period is over."""
    decision = first(crowded(told={}))
    assert (decision.outcome, decision.reason, decision.nodes) == (Outcome.NOT_ELIGIBLE, Reason.GRACE, {})
    assert decision.due_ms == NOW + MINUTE // 2
    assert [(one.queue, one.over["cpu"]) for one in decision.notices] == [("root.test", 6000)]
    assert said(notices(decision)[0]).startswith("test must give back cpu 6 by")
    waiting = first(crowded(told={"root.test": NOW - MINUTE // 2 + 1}))
    assert (waiting.reason, waiting.due_ms) == (Reason.GRACE, NOW + 1)
    assert first(crowded(told={"root.test": NOW - MINUTE // 2})).outcome is Outcome.PREEMPT


def test_pods_of_high_priority_may_take_more_member_by_member() -> None:
    """The fourth takes its queue beyond what it deserves: from pods of lower priority alone, whoever they are."""
    urgent = {"priority": 1, "priority_class": "urgent"}
    at = crowded(pod_group("gang", at_once=4, priority=1), at_once=4, members=4, **urgent)
    decision = first(at, high_priority=["urgent"])
    assert (decision.reason, len(decision.victims)) == (Reason.HIGH_PRIORITY, 4)
    assert {str(victim.reason) for victim in decision.victims} == {"over-deserved", "lower-priority"}
    assert [one.queue for one in decision.notices] == ["root.test"]
    equal = crowded(at_once=4, members=4, **urgent)
    assert first(equal, high_priority=["urgent"]).outcome is Outcome.NO_CANDIDATE


def test_what_a_disruption_budget_forbids_is_held_and_shown() -> None:
    """For a gang as for a single pod, with the victims that there would be."""
    solo = ask("solo", queue="prod", cpu=4, priority=9)
    for at in (crowded(), crowded(solo, at_once=9)):
        guarded = msgspec.structs.replace(at, budgets=(budget(1),), safeguards=Safeguards())
        considered = decided(guarded)[0]
        assert (considered.hold, considered.refused) == ("disruption-budget", False)
        assert len(considered.decision.victims) > 1
    two = msgspec.structs.replace(crowded(), budgets=(budget(3),), safeguards=Safeguards())
    assert decided(two)[0].hold == ""


def test_a_whole_group_goes_for_a_gang_or_a_single_pod() -> None:
    """With its pods on other nodes."""
    for asking, groups in (
        (member(0), [pod_group("gang", at_once=1)]),
        (ask("new", queue="prod", cpu=2), []),
    ):
        decision = first(ringed(asking, groups))
        assert (victims_of(decision), {*decision.nodes.values()}) == (["ring-n1", "ring-n2"], {"n1"})
        assert [(unit.group, unit.evicted) for unit in decision.trace.units or ()] == [("ns/ring", True)]
        assert said(victim_sentence(decision, "uid-ring-n2", Tense.WOULD)) == (
            "ring-n2 would be evicted from n2 with its whole group ring, to make room for another queue."
        )
        assert said(pod_verdict(decision.victims[0], decision)) == (
            "goes with its whole group ring, and test uses more than its deserved share"
        )
        early = first(ringed(asking, groups, told={}))
        assert (early.reason, early.detail) == (Reason.GRACE, "root.test")


def test_a_whole_group_stays_that_is_reserved_in_part() -> None:
    """What is reserved allows one of its pods to go, but not both."""
    queues = tree({"prod": queue(), "test": queue("4")})
    for asking, groups in ((member(0), [pod_group("gang", at_once=1)]), (ask("new", queue="prod", cpu=2), [])):
        assert first(ringed(asking, groups), queues).outcome is Outcome.NO_CANDIDATE
    alone = msgspec.structs.replace(ringed(ask("new", queue="prod", cpu=2)), groups={})
    assert victims_of(first(alone, queues)) == ["ring-n1"]


def test_a_whole_group_stays_where_others_give_first() -> None:
    """And is told among those that stay."""
    ring = [running(f"ring-{on}", on=on, of="ring") for on in ("n1", "n2")]
    at = snapshot(
        BOTH, node("n1", 4), node("n2", 2), ring, running("old", on="n1"), ask("new", queue="prod", cpu=2),
        pod_group("ring", whole=True),
    )  # fmt: skip
    decision = first(msgspec.structs.replace(at, notices=TOLD))
    assert (decision.node, victims_of(decision)) == ("n1", ["old"])
    assert [(unit.group, unit.evicted) for unit in decision.trace.units or ()] == [("ns/ring", False)]


def test_a_gang_gets_nodes_also_where_single_pods_get_none() -> None:
    """With node_fit off, whole groups stay for a single pod: nobody knows which of their pods would be needed."""
    assert first(crowded(), node_fit=False).nodes == first(crowded()).nodes
    single = ask("new", queue="prod", cpu=2)
    assert first(ringed(single), node_fit=False).outcome is Outcome.NO_CANDIDATE
    without = msgspec.structs.replace(ringed(single), groups={})
    assert len(first(without, node_fit=False).victims) == 1


@pytest.mark.parametrize(
    ("settings", "queues", "why", "words"),
    [
        ({"last": {"queue": "test"}}, BOTH, Reason.QUEUES_DIFFER, f"gang-2 is of another {ALIKE}"),
        ({"last": {"unschedulable_ms": None}}, BOTH, Reason.NOT_TRIED, None),
        ({"last": {"cpu": 9}}, BOTH, Reason.NO_ROOM, None),
        (
            {"last": {}, "urgent": True},
            tree({"prod": queue(max="4"), "test": queue()}),
            Reason.OVER_MAX,
            "The group would take prod above its hard cap of cpu. No eviction can change that.",
        ),
        (
            {"last": {"never_preempts": True}},
            BOTH,
            Reason.NEVER,
            "A pod of the group has preemptionPolicy: Never, so the group can’t preempt.",
        ),
    ],
)
def test_why_a_gang_waits_is_said(settings: dict[str, Any], queues: QueueTree, why: Reason, words: str | None) -> None:
    """In the group's own terms."""
    urgent = {"priority_class": "urgent"} if settings.get("urgent") else {}
    last = member(2, **urgent, **settings["last"])
    decision = first(crowded(last, queues=queues, members=2, **urgent), queues, high_priority=["urgent"])
    assert (decision.reason, decision.victims) == (why, ())
    assert words is None or said(reason(decision)) == words


def test_what_happened_is_said_to_everybody_concerned() -> None:
    """To who sees all of it, to the gang's tenant and to the victims'."""
    decision = first(crowded())
    assert said(sentence(decision, Tense.WOULD)) == "To start group gang of prod, 3 pods of test would be evicted."
    assert said(reason(decision)) == (
        "prod uses 0 cores of its deserved share of 6 cores, so its pending pods can preempt queues above their "
        "deserved share."
    )
    assert said(preemptor_sentence(decision, Tense.EVICTED)) == "Pods of test were evicted to start group gang."
    assert said(victim_sentence(decision, "uid-old-n1-a", Tense.EVICTED)) == (
        "old-n1-a was evicted from n1 to make room for a group of pods of another queue."
    )


def test_what_would_have_prevented_it_is_tried() -> None:
    """Smaller requests of all pods, fewer pods at once; of a victim's queue, more reserved or a higher weight."""
    at = crowded(node("n0", 3))
    again = Again(at, BOTH, named(at, "gang-0"), policy("deserved", "arbitrator"))
    decision = again.as_it_was()
    found = {one.change: one for one in counterfactuals(again, decision)}
    assert found[Change.GROUP_REQUEST].smaller == {"cpu": 1000}
    assert found[Change.MEMBERS].members == 1
    spared = {one.change for one in counterfactuals_of_victim(again, decision, decision.victims[0].pod.uid)}
    assert spared >= {Change.GUARANTEE, Change.WEIGHT}


def tiers(at: Snapshot, name: str, queues: QueueTree = BOTH) -> dict[TierName, tuple[bool, str]]:
    """Of a pending pod: whether each tier passes, in words."""
    found = pending_reasons_of(at, queues, named(at, name), "deserved", "arbitrator")
    return {tier.name: (tier.passes, said(tier_sentence(tier, 0))) for tier in found.tiers}


def test_why_a_pod_of_a_gang_is_pending_is_told_by_its_gang() -> None:
    """The same for each of its pods."""
    exist = (True, "3 pods of its group exist, and 3 must run at once.")
    made = (True, "Evictions make room for 3 pods of its group, and 3 must run at once.")
    assert tiers(crowded(), "gang-0") == tiers(crowded(), "gang-2")
    assert tiers(crowded(), "gang-2") == {TierName.GROUP: exist, TierName.GROUP_NODES: made}
    early = tiers(crowded(told={}), "gang-1")
    assert [*early] == [TierName.GROUP, TierName.GRACE, TierName.GROUP_NODES]
    assert (early[TierName.GRACE][0], early[TierName.GROUP_NODES]) == (False, made)
    beyond = tiers(crowded(at_once=4, members=4), "gang-3")
    assert [*beyond] == [TierName.GROUP, TierName.DESERVED, TierName.GROUP_NODES]
    assert beyond[TierName.DESERVED] == (False, f"It would take prod to 8 cores, and its {SHARE}")


def test_where_a_whole_group_makes_room_no_tier_says_otherwise() -> None:
    """The tiers know nothing of groups that go whole."""
    assert tiers(ringed(ask("new", queue="prod", cpu=4)), "new") == {}
    assert tiers(ringed(ask("new", queue="prod", cpu=4), told={}), "new") == {}
