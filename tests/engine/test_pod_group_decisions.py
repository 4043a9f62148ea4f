"""Groups of pods in a pass: one decision for all of a group, in words, with what would have changed it."""

import msgspec
import pytest

from engine.analysis.counterfactuals import Again, counterfactuals, counterfactuals_of_victim
from engine.analysis.pending_reasons import TierName, pending_reasons_of
from engine.audit import failed_checks
from engine.explain import Tense, change_sentence, preemptor_sentence, reason, sentence, tier_sentence, victim_sentence
from engine.explain.decision.verdicts import allowed, pod_verdict
from engine.model.change import Change
from engine.model.decision import Decision, Outcome, Reason, apply_decision, decode, encode
from engine.model.message import Message
from engine.model.objects import Pod, SchedulingGroup
from engine.model.queue_tree import ROOT_ONLY
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import find, policy
from tests.builders import ask, budget, named, node, pod, pod_group, snapshot, victims_of

DIALECT = "kube-scheduler-1.37"
TOO_FEW = (
    "The group needs 2 pods to run at once, and only 1 pod of it exists. kube-scheduler tries the group as soon as "
    "enough exist."
)
DIFFERS = (
    "does not have the group’s priority, or not the other pods’ scheduler or preemption policy. kube-scheduler does "
    "not try such a group."
)
MISSING = "It belongs to the group gang, which does not exist. kube-scheduler does not try it before the group exists."


def member(number: int, *, of: str = "gang", priority: int = 10, **settings: object) -> Pod:
    """A pending pod of a group, older the lower its number."""
    return ask(f"{of}-{number}", scheduling_group=of, priority=priority, created_ms=number, **{"cpu": 2, **settings})


def running(name: str, *, on: str, of: str = "", priority: int = 0, cpu: int = 2) -> Pod:
    """A running pod, perhaps of a group."""
    return pod(name, node=on, scheduling_group=of, priority=priority, cpu=cpu)


def crowded(*objects: object, at_once: int = 3) -> Snapshot:
    """Three nodes with four cores, each full of two pods of priority 0; a gang of three pods with priority 10 waits."""
    nodes = [node(f"n{number}", 4) for number in (1, 2, 3)]
    old = [running(f"old-{at.name}-{each}", on=at.name) for at in nodes for each in "ab"]
    gang = [member(number) for number in range(3)]
    return snapshot(ROOT_ONLY, nodes, old, gang, pod_group("gang", at_once=at_once, priority=10), *objects)


def decided(at: Snapshot) -> list[AuditedDecision]:
    """What a pass decides."""
    return plan(at, ROOT_ONLY, policy("priority", DIALECT))


def first(at: Snapshot) -> Decision:
    """The first decision of a pass, which keeps all invariants."""
    considered = decided(at)[0]
    assert failed_checks(considered.laws) == ()
    return considered.decision


def said(message: Message | None) -> str:
    """A message in English."""
    assert message is not None
    text = message.plural if message.count is not None and message.count != 1 else message.id
    return text % message.params


def test_a_group_is_decided_once_for_all_of_its_pods() -> None:
    """With the oldest that waits; each pod gets a node, and all nodes are reserved together."""
    at = crowded()
    decision, *others = [one.decision for one in decided(at)]
    assert (decision.ask.name, decision.outcome, decision.node) == ("gang-0", Outcome.PREEMPT, None)
    assert decision.group
    assert decision.group.nodes == {"uid-gang-0": "n1", "uid-gang-1": "n2", "uid-gang-2": "n3"}
    assert [victim.pod.node for victim in decision.victims] == ["n1", "n2", "n3"]
    assert [(one.ask.name, one.reason, one.detail) for one in others] == [
        ("gang-1", Reason.DECIDED_WITH, "ns/gang-0"),
        ("gang-2", Reason.DECIDED_WITH, "ns/gang-0"),
    ]
    after = apply_decision(at, decision)
    assert {held.ask_uid: held.node for held in after.reservations} == decision.group.nodes
    assert all(named(after, verdict.pod.name).terminating for verdict in decision.victims)


def test_it_is_stored_and_read_back_as_it_was() -> None:
    """And a decision about a single pod is written as it always was."""
    decision = first(crowded())
    assert decode(encode(decision)) == decision
    alone = snapshot(ROOT_ONLY, node("n1", 4), running("old", on="n1", cpu=4), ask("new", priority=1, cpu=4))
    assert b'"group"' not in encode(policy("priority", "kube-scheduler")(alone, ROOT_ONLY, named(alone, "new")))


def test_a_group_whose_disruption_mode_is_all_goes_whole() -> None:
    """Also where its own pods have a higher priority than the group that preempts: the groups' priorities count."""
    nodes = [node("n1", 4), node("n2", 4)]
    ring = [
        running("ring-a", on="n1", of="ring", cpu=4, priority=50),
        running("ring-b", on="n2", of="ring", priority=50),
    ]
    at = snapshot(
        ROOT_ONLY,
        nodes,
        ring,
        running("high", on="n2", priority=20),
        pod_group("ring", priority=5, whole=True),
        pod_group("gang", at_once=2, priority=10),
        [member(number) for number in range(2)],
    )
    decision = first(at)
    assert victims_of(decision) == ["ring-a", "ring-b"]
    assert decision.trace.units
    (unit,) = decision.trace.units
    assert (unit.group, unit.priority, unit.evicted, len(unit.pods)) == ("ns/ring", 5, True, 2)
    assert said(victim_sentence(decision, "uid-ring-b", Tense.WOULD)) == (
        "ring-b would be evicted from n2 with its whole group ring, to make room for a higher priority than the "
        "group’s 5."
    )
    assert said(allowed(decision)[0]) == "goes with its whole group ring, which has the lower priority 5"


def test_a_pod_without_a_group_takes_a_whole_group_too() -> None:
    """With its pods on other nodes."""
    at = snapshot(
        ROOT_ONLY,
        [node("n1", 4), node("n2", 4)],
        running("ring-a", on="n1", of="ring", cpu=4),
        running("ring-b", on="n2", of="ring"),
        running("high", on="n2", priority=20),
        pod_group("ring", priority=5, whole=True),
        ask("new", priority=10, cpu=4),
    )
    decision = first(at)
    assert (decision.node, victims_of(decision), decision.group) == ("n1", ["ring-a", "ring-b"], msgspec.UNSET)
    assert len(apply_decision(at, decision).reservations) == 1


@pytest.mark.parametrize(
    ("objects", "why", "words"),
    [
        (
            [member(0), pod_group("gang", at_once=2, priority=10)],
            Reason.TOO_FEW_MEMBERS,
            TOO_FEW,
        ),
        (
            [member(0), member(1, priority=9), pod_group("gang", at_once=2, priority=10)],
            Reason.MEMBERS_DIFFER,
            f"gang-1 {DIFFERS}",
        ),
        (
            [member(0, cpu=3), member(1, gated=True), pod_group("gang", at_once=1, priority=10)],
            Reason.GATED_MEMBER,
            "gang-1 has scheduling gates. kube-scheduler does not try the group before they are removed.",
        ),
        (
            [member(0, never_preempts=True, cpu=9), pod_group("gang", priority=10)],
            Reason.NEVER,
            "A pod of the group has preemptionPolicy: Never, so the group can’t preempt.",
        ),
        (
            [member(0, cpu=9), member(1), pod_group("gang", at_once=2, priority=10)],
            Reason.NO_ROOM,
            "The group needs 2 pods to run at once. Even without all pods of lower priority, only 0 have a node.",
        ),
        (
            [member(0, cpu=9), pod_group("gang", priority=-1)],
            Reason.MEMBERS_DIFFER,
            f"gang-0 {DIFFERS}",
        ),
        (
            [member(0)],
            Reason.NO_GROUP,
            MISSING,
        ),
        (
            [member(0, priority=-5, cpu=3), pod_group("gang", priority=-5)],
            Reason.NO_CANDIDATES,
            "Nothing can be preempted for it: no running pod and no running group has a priority below -5.",
        ),
    ],
)
def test_why_a_group_waits_is_said(objects: list[Pod | SchedulingGroup], why: Reason, words: str) -> None:
    """In the group's own terms."""
    at = snapshot(ROOT_ONLY, node("n1", 4), running("old", on="n1"), objects)
    decision = first(at)
    assert (decision.reason, said(reason(decision))) == (why, words)
    assert decision.victims == ()


def test_a_group_that_fits_takes_nothing() -> None:
    """All of its pods get a node at once."""
    at = snapshot(ROOT_ONLY, node("n1", 4), [member(0), member(1)], pod_group("gang", at_once=2, priority=10))
    decision = first(at)
    assert (decision.outcome, decision.nodes) == (Outcome.FITS, {"uid-gang-0": "n1", "uid-gang-1": "n1"})
    assert said(sentence(decision, Tense.WOULD)) == "Enough pods of group gang fit, so no pod is evicted for it."
    assert said(reason(decision)) == "The group needs 2 pods to run at once, and 2 have room."


def test_what_happened_is_said_to_everybody_concerned() -> None:
    """To who sees all of it, to the group's tenant and to the victims'."""
    decision = first(crowded())
    assert said(sentence(decision, Tense.WOULD)) == (
        "To start group gang at priority 10, 3 pods with lower priorities would be evicted."
    )
    assert said(reason(decision)) == "The group needs nodes for at least 3 pods at once."
    assert said(preemptor_sentence(decision, Tense.EVICTED)) == (
        "Pods with lower priorities were evicted to start group gang."
    )
    assert said(victim_sentence(decision, decision.victims[0].pod.uid, Tense.EVICTED)) == (
        "old-n1-b was evicted from n1 to make room for a group of pods with a higher priority than its 0."
    )


def test_pods_that_stay_are_told_and_counted() -> None:
    """Those of a group that stays whole, and those alone; the rest of the cluster is counted."""
    nodes = [node("n1", 6), node("n2", 6)]
    ring = [running(f"ring-{on}", on=on, of="ring") for on in ("n1", "n2")]
    old = [running(f"old-{on}", on=on, cpu=4) for on in ("n1", "n2")]
    at = snapshot(
        ROOT_ONLY,
        nodes,
        ring,
        old,
        pod_group("ring", priority=5, whole=True),
        pod_group("gang", at_once=2, priority=10),
        [member(number) for number in range(2)],
    )
    decision = first(at)
    assert victims_of(decision) == ["old-n1", "old-n2"]
    assert decision.group
    assert decision.group.spared == 2
    assert [(unit.group, unit.evicted) for unit in decision.trace.units or ()] == [("ns/ring", False)]
    assert said(pod_verdict(decision.trace.reprieved[0], decision)) == (
        "stays with its whole group ring: the pending pods fit beside it"
    )


def test_a_budget_that_is_exceeded_is_named() -> None:
    """As for a single pod."""
    old = pod("old", node="n1", cpu=4, labels={"app": "web"})
    at = snapshot(
        ROOT_ONLY, node("n1", 4), old, budget(0, "none", app="web"), pod_group("gang", priority=10), member(0)
    )
    assert "exceeds the disruption budget none" in said(allowed(first(at))[0])


def test_what_would_have_prevented_it_is_tried() -> None:
    """Smaller requests of all pods, fewer pods at once; of a victim's group, a higher priority."""
    at = crowded(node("n0", 3))
    again = Again(at, ROOT_ONLY, named(at, "gang-0"), policy("priority", DIALECT))
    found = {one.change: one for one in counterfactuals(again, again.as_it_was())}
    assert found[Change.GROUP_REQUEST].smaller == {"cpu": 1000}
    assert found[Change.MEMBERS].members == 1
    assert said(change_sentence(found[Change.MEMBERS])) == (
        "The group would have room without preemption if only 1 of its pods had to run at once."
    )
    assert said(change_sentence(found[Change.GROUP_REQUEST])) == (
        "The group would have room without preemption if each of its pods requested 1 core less."
    )


def test_what_would_have_spared_a_victims_group_is_tried() -> None:
    """Its priority is the group's."""
    at = snapshot(
        ROOT_ONLY,
        node("n1", 2),
        running("ring-a", on="n1", of="ring"),
        pod_group("ring", priority=5),
        pod_group("gang", priority=10),
        member(0),
    )
    again = Again(at, ROOT_ONLY, named(at, "gang-0"), policy("priority", DIALECT))
    found = next(iter(counterfactuals_of_victim(again, again.as_it_was(), "uid-ring-a")))
    assert said(change_sentence(found)) == "ring-a would be spared if the priority of its group ring were 10."


def tiers(at: Snapshot, name: str) -> dict[TierName, tuple[bool, str]]:
    """Of a pending pod: whether each tier passes, in words."""
    found = pending_reasons_of(at, ROOT_ONLY, named(at, name), "priority", DIALECT)
    return {tier.name: (tier.passes, said(tier_sentence(tier, 10))) for tier in found.tiers}


def test_why_a_pod_of_a_group_is_pending_is_told_by_its_group() -> None:
    """The same for each of its pods."""
    at = crowded()
    assert tiers(at, "gang-0") == tiers(at, "gang-2")
    assert tiers(at, "gang-2") == {
        TierName.GROUP: (True, "3 pods of its group exist, and 3 must run at once."),
        TierName.PRIORITY: (True, "6 pods can be preempted at its priority, 10. Together they hold cpu 12."),
        TierName.GROUP_NODES: (True, "Evictions make room for 3 pods of its group, and 3 must run at once."),
    }


def test_why_a_group_that_is_not_complete_waits_is_told() -> None:
    """And that a group is missing."""
    lone = snapshot(ROOT_ONLY, node("n1", 4), member(0))
    assert tiers(lone, "gang-0") == {
        TierName.GROUP: (False, "Its group gang does not exist, so the scheduler does not try it.")
    }
    few = snapshot(ROOT_ONLY, node("n1", 4), member(0), pod_group("gang", at_once=2, priority=10))
    assert tiers(few, "gang-0")[TierName.GROUP] == (False, "Only 1 pod of its group exists, and 2 must run at once.")


def test_a_pod_beside_groups_is_judged_with_them() -> None:
    """By the priorities of groups, as it is decided."""
    at = snapshot(
        ROOT_ONLY,
        node("n1", 4),
        running("ring-a", on="n1", of="ring", cpu=4, priority=50),
        pod_group("ring", priority=5, whole=True),
        ask("new", priority=10, cpu=4),
    )
    assert tiers(at, "new")[TierName.NODE] == (True, "Evictions make room for it on n1.")


def test_it_is_only_shown() -> None:
    """It spares no protected pods, as kube-scheduler does not, so no cluster is put under it in Enforce."""
    assert not find("priority", DIALECT).enforceable
