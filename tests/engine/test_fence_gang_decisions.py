"""A gang in a pass of policy fence: one decision for it, in words, with what would have changed it and why it waits."""

import msgspec
import pytest

from engine.analysis.counterfactuals import Again, counterfactuals, counterfactuals_of_victim
from engine.analysis.optimum import optimal
from engine.analysis.pending_reasons import TierName, pending_reasons_of
from engine.audit import AuditTerms, failed_checks
from engine.explain import Tense, change_sentence, preemptor_sentence, reason, sentence, tier_sentence, victim_sentence
from engine.explain.decision.verdicts import pod_verdict
from engine.model.change import Change
from engine.model.decision import Decision, Outcome, Reason, apply_decision, decode, encode
from engine.model.message import Message
from engine.model.objects import Pod, SchedulingGroup
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import policy
from tests.builders import (
    MINUTE,
    NOW,
    OPTED_OUT,
    ask,
    budget,
    daemonset_ask,
    named,
    node,
    pod,
    pod_group,
    queue,
    snapshot,
    tree,
    victims_of,
)

ANY = AuditTerms(last_resort="any")
ALIKE = "A group can preempt only if all of its pods are of one queue and one application."
QUEUES = tree({"prod": queue("6"), "test": queue("2")})


def member(number: int, *, of: str = "gang", **settings: object) -> Pod:
    """A pending pod of a gang in queue ``prod``, older the lower its number."""
    own = {"queue": "prod", "cpu": 2, "app": of, "scheduling_group": of, "created_ms": number}
    return ask(f"{of}-{number}", **{**own, **settings})


def running(name: str, *, on: str, of: str = "", **settings: object) -> Pod:
    """A running pod of queue ``test``, perhaps of a group."""
    return pod(name, node=on, scheduling_group=of, **{"queue": "test", "cpu": 2, **settings})


def crowded(*objects: object, at_once: int = 3, members: int = 3) -> Snapshot:
    """Three nodes with four cores, each full of two pods of ``test``; a gang of three pods of two cores waits."""
    nodes = [node(f"n{number}", 4) for number in (1, 2, 3)]
    old = [running(f"old-{at.name}-{each}", on=at.name) for at in nodes for each in "ab"]
    gang = [member(number) for number in range(members)]
    return snapshot(QUEUES, nodes, old, gang, pod_group("gang", at_once=at_once), OPTED_OUT, *objects)


def decided(at: Snapshot, queues: QueueTree = QUEUES, **parameters: str) -> list[AuditedDecision]:
    """What a pass decides."""
    return plan(at, queues, policy("fence", "design", parameters))


def first(at: Snapshot, queues: QueueTree = QUEUES) -> Decision:
    """The first decision of a pass, which keeps all invariants."""
    considered = decided(at, queues)[0]
    assert failed_checks(considered.laws) == ()
    return considered.decision


def decision_pods(at: Snapshot, decision: Decision) -> list[Pod]:
    """The pods that get a node."""
    return [pod for pod in at.asks if pod.uid in decision.nodes]


def said(message: Message | None) -> str:
    """A message in English."""
    assert message is not None
    text = message.plural if message.count is not None and message.count != 1 else message.id
    return text % message.params


def test_a_gang_is_decided_once_for_all_of_its_pods() -> None:
    """With the first that waits; each pod gets a node, and several may share one."""
    at = crowded()
    decision, *others = [one.decision for one in decided(at)]
    assert (decision.ask.name, decision.outcome, decision.reason) == (
        "gang-0",
        Outcome.PREEMPT,
        Reason.BELOW_GUARANTEE,
    )
    assert decision.node is None
    assert decision.nodes == {"uid-gang-0": "n1", "uid-gang-1": "n1", "uid-gang-2": "n2"}
    assert victims_of(decision) == ["old-n1-a", "old-n1-b", "old-n2-a"]
    assert [(one.ask.name, one.reason, one.detail) for one in others] == [
        ("gang-1", Reason.DECIDED_WITH, "ns/gang-0"),
        ("gang-2", Reason.DECIDED_WITH, "ns/gang-0"),
    ]
    after = apply_decision(at, decision)
    assert {held.ask_uid: held.node for held in after.reservations} == decision.nodes
    assert decode(encode(decision)) == decision


def test_pods_beyond_what_a_gang_needs_are_decided_alone() -> None:
    """Once the gang runs, as it is not started before that; by the same rules: its queue has its whole guarantee."""
    at = crowded(members=4)
    decision, *others = [one.decision for one in decided(at)]
    assert len(decision.nodes) == 3
    late = others[-1]
    assert (late.ask.name, late.reason, late.detail) == ("gang-3", Reason.DECIDED_WITH, "ns/gang-0")
    after = apply_decision(at, decision)
    bound = [msgspec.structs.replace(pod, node=decision.nodes[pod.uid]) for pod in decision_pods(at, decision)]
    (alone,) = decided(snapshot(QUEUES, after.nodes, bound, member(3), pod_group("gang", at_once=3)))
    assert (alone.decision.ask.name, alone.decision.reason) == ("gang-3", Reason.FITS)
    assert alone.decision.group is not decision.group


def test_pods_of_a_group_without_a_number_are_decided_alone() -> None:
    """So is a pod whose group does not exist: other schedulers may start it alone."""
    for groups in ((pod_group("gang"),), ()):
        old = [running(f"old-{each}", on="n1") for each in "ab"]
        decision = first(snapshot(QUEUES, node("n1", 4), old, member(0), member(1), *groups))
        assert (decision.node, len(decision.victims), decision.together) == ("n1", 1, ())


def test_pods_that_fit_come_first_and_count() -> None:
    """One has room; only the other needs evictions."""
    at = crowded(node("n0", 2), at_once=2, members=2)
    decision = first(at)
    assert decision.nodes == {"uid-gang-0": "n0", "uid-gang-1": "n1"}
    assert victims_of(decision) == ["old-n1-a"]


def test_a_gang_is_decided_whole_or_not_at_all() -> None:
    """Its queue's guarantee is for two of the three pods: nothing is evicted for any."""
    queues = tree({"prod": queue("4"), "test": queue("2")})
    decision = first(crowded(), queues)
    assert (decision.outcome, decision.reason, decision.victims) == (Outcome.NOT_ELIGIBLE, Reason.AT_GUARANTEE, ())
    assert said(reason(decision)) == (
        "With the pods of the group that come first, prod uses its whole guarantee of cpu, so the others can’t "
        "preempt. A group is started as a whole or not at all."
    )
    enough = tree({"prod": queue("5"), "test": queue("2")})
    assert first(crowded(), enough).outcome is Outcome.PREEMPT


def test_the_sum_of_all_victims_counts_for_their_queue() -> None:
    """Each pod could be preempted alone, but not three of them."""
    queues = tree({"prod": queue("6"), "test": queue("8")})
    decision = first(crowded(), queues)
    assert (decision.outcome, decision.victims) == (Outcome.NO_CANDIDATE, ())
    assert said(reason(decision)) == (
        "The group needs 3 pods to run at once. No pods can be preempted together to make room for all of them."
    )


def test_another_node_is_tried_where_the_first_leaves_too_little() -> None:
    """The first member would take the least victim, on the only node that the second can use."""
    queues = tree({"prod": queue("6"), "test": queue()})
    at = snapshot(
        queues,
        node("n1", 2),
        node("n2", 2, labels={"disk": "ssd"}),
        running("dear", on="n1", created_ms=-5),
        running("cheap", on="n2"),
        member(0),
        member(1, node_selector={"disk": "ssd"}),
        pod_group("gang", at_once=2),
    )
    decision = first(at, queues)
    assert decision.nodes == {"uid-gang-0": "n1", "uid-gang-1": "n2"}


def test_a_whole_group_goes_for_a_gang_or_a_single_pod() -> None:
    """With its pods on other nodes, and stays if its priority, or that of one of its pods, is too high."""
    ring = [running(f"ring-{on}", on=on, of="ring", cpu=4) for on in ("n1", "n2")]
    nodes = [node("n1", 4), node("n2", 4)]
    queues = tree({"prod": queue("6"), "test": queue()})
    for asking, groups in (
        (member(0), [pod_group("gang", at_once=1)]),
        (ask("new", queue="prod", cpu=2), []),
    ):
        at = snapshot(queues, nodes, ring, asking, groups, pod_group("ring", whole=True))
        decision = first(at, queues)
        assert (victims_of(decision), {*decision.nodes.values()}) == (["ring-n1", "ring-n2"], {"n1"})
        assert [(unit.group, unit.evicted) for unit in decision.trace.units or ()] == [("ns/ring", True)]
        assert said(victim_sentence(decision, "uid-ring-n2", Tense.WOULD)) == (
            "ring-n2 would be evicted from n2 with its whole group ring, to make room for another queue."
        )
        assert said(pod_verdict(decision.victims[0], decision)) == (
            "goes with its whole group ring, and test uses more than its guarantee"
        )
        dear = snapshot(queues, nodes, ring, asking, groups, pod_group("ring", whole=True, priority=1))
        assert first(dear, queues).outcome is Outcome.NO_CANDIDATE


def test_a_whole_group_stays_where_others_are_cheaper() -> None:
    """And is told among those that stay."""
    queues = tree({"prod": queue("6"), "test": queue()})
    ring = [running(f"ring-{on}", on=on, of="ring") for on in ("n1", "n2")]
    at = snapshot(
        queues, node("n1", 4), node("n2", 2), ring, running("old", on="n1"), ask("new", queue="prod", cpu=2),
        pod_group("ring", whole=True),
    )  # fmt: skip
    decision = first(at, queues)
    assert (decision.node, victims_of(decision)) == ("n1", ["old"])
    assert [(unit.group, unit.evicted) for unit in decision.trace.units or ()] == [("ns/ring", False)]


def test_disruption_budgets_count_over_all_nodes() -> None:
    """A budget that allows two of three evictions holds the gang back."""
    old = [running(f"old-{on}", on=on, cpu=4, labels={"app": "web"}) for on in ("n1", "n2", "n3")]
    nodes = [node(on, 4) for on in ("n1", "n2", "n3")]
    queues = tree({"prod": queue("12"), "test": queue()})
    gang = [member(number, cpu=4) for number in range(3)]
    for allowed, hold in ((2, "disruption-budget"), (3, "")):
        at = snapshot(
            queues, nodes, old, gang, pod_group("gang", at_once=3), budget(allowed, app="web"), safeguards=Safeguards()
        )
        considered = decided(at, queues)[0]
        assert (considered.hold, len(considered.decision.victims)) == (hold, 3)


def test_pods_that_opted_out_go_as_the_last_resort_alone() -> None:
    """And only where the parameters allow it."""
    at = snapshot(
        QUEUES, node("n1", 4), running("keep", on="n1", cpu=4, priority_class="keep"), member(0),
        pod_group("gang", at_once=1), OPTED_OUT,
    )  # fmt: skip
    queues = tree({"prod": queue("6"), "test": queue()})
    assert first(at, queues).outcome is Outcome.NO_CANDIDATE
    (considered,) = plan(at, queues, policy("fence", "design", {"last_resort": "any"}), terms=ANY)
    assert (considered.decision.reason, considered.refused) == (Reason.LAST_RESORT, False)
    assert said(reason(considered.decision)) == (
        "No other pods free enough for the group, so pods that opted out of preemption are preempted as a last resort."
    )


@pytest.mark.parametrize(
    ("objects", "why", "words"),
    [
        (
            [member(0), pod_group("gang", at_once=2)],
            Reason.TOO_FEW_MEMBERS,
            "The group needs 2 pods to run at once, and only 1 pod of it runs or is ready to be scheduled.",
        ),
        (
            [member(0), member(1, gated=True), pod_group("gang", at_once=1)],
            Reason.GATED_MEMBER,
            "gang-1 has scheduling gates. kube-scheduler does not try the group before they are removed.",
        ),
        (
            [member(0), member(1, queue="test"), pod_group("gang", at_once=2)],
            Reason.QUEUES_DIFFER,
            f"gang-1 is of another queue or application than the first pod of the group. {ALIKE}",
        ),
        (
            [
                member(0),
                daemonset_ask("gang-1", on="n1", queue="prod", app="gang", scheduling_group="gang"),
                pod_group("gang", at_once=2),
            ],
            Reason.ONE_NODE_ONLY,
            "gang-1 can run on one node only, so the group can’t preempt.",
        ),
        (
            [member(0), member(1, never_preempts=True), pod_group("gang", at_once=2)],
            Reason.NEVER,
            "A pod of the group has preemptionPolicy: Never, so the group can’t preempt.",
        ),
        (
            [member(0, cpu=1), member(1, cpu=1), pod_group("gang", at_once=2)],
            Reason.FITS,
            "The group needs 2 pods to run at once, and 2 have room.",
        ),
        (
            [member(0), running("going", on="n1", terminating=True), pod_group("gang", at_once=1)],
            Reason.FITS_SOON,
            "The group needs 1 pods to run at once, and 1 will have room once the terminating pods are gone.",
        ),
        (
            [member(0), member(1, unschedulable_ms=NOW - MINUTE // 2 + 1), pod_group("gang", at_once=2)],
            Reason.DELAY,
            "The preemption delay of its queue is not over. It can preempt from 3600001 on.",
        ),
    ],
)
def test_why_a_gang_waits_is_said(objects: list[Pod | SchedulingGroup], why: Reason, words: str) -> None:
    """In the group's own terms."""
    used = 2 if why is Reason.FITS else 4
    at = snapshot(
        QUEUES, node("n1", 4 if why is not Reason.FITS_SOON else 6), running("old", on="n1", cpu=used), objects
    )
    decision = first(at)
    assert (decision.reason, said(reason(decision))) == (why, words)
    assert decision.victims == ()


def test_what_happened_is_said_to_everybody_concerned() -> None:
    """To who sees all of it, to the gang's tenant and to the victims'."""
    decision = first(crowded())
    assert said(sentence(decision, Tense.WOULD)) == "To start group gang of prod, 3 pods of test would be evicted."
    assert said(reason(decision)) == ("prod is 6 below its guarantee of 6 in cpu, so its pending pods can preempt.")
    assert said(preemptor_sentence(decision, Tense.EVICTED)) == "Pods of test were evicted to start group gang."
    assert said(victim_sentence(decision, "uid-old-n1-a", Tense.EVICTED)) == (
        "old-n1-a was evicted from n1 to make room for a group of pods of another queue."
    )


def test_what_would_have_prevented_it_is_tried() -> None:
    """Smaller requests of all pods, fewer pods at once; of a victim's queue, a guarantee. The optimum is left out."""
    at = crowded(node("n0", 3))
    again = Again(at, QUEUES, named(at, "gang-0"), policy("fence", "design"))
    decision = again.as_it_was()
    found = {one.change: one for one in counterfactuals(again, decision)}
    assert found[Change.GROUP_REQUEST].smaller == {"cpu": 1000}
    assert said(change_sentence(found[Change.MEMBERS])) == (
        "The group would have room without preemption if only 1 of its pods had to run at once."
    )
    spared = next(iter(counterfactuals_of_victim(again, decision, decision.victims[0].pod.uid)))
    assert spared.change is Change.GUARANTEE
    assert optimal(at, QUEUES, named(at, "gang-0"), decision) is None


def tiers(at: Snapshot, name: str, queues: QueueTree = QUEUES) -> dict[TierName, tuple[bool, str]]:
    """Of a pending pod: whether each tier passes, in words."""
    found = pending_reasons_of(at, queues, named(at, name), "fence", "design")
    return {tier.name: (tier.passes, said(tier_sentence(tier, 0))) for tier in found.tiers}


def test_why_a_pod_of_a_gang_is_pending_is_told_by_its_gang() -> None:
    """The same for each of its pods."""
    assert tiers(crowded(), "gang-0") == tiers(crowded(), "gang-2")
    assert tiers(crowded(), "gang-2") == {
        TierName.GROUP: (True, "3 pods of its group exist, and 3 must run at once."),
        TierName.GROUP_NODES: (True, "Evictions make room for 3 pods of its group, and 3 must run at once."),
    }
    full = tree({"prod": queue("6"), "test": queue("12")})
    assert tiers(crowded(), "gang-1", full)[TierName.GROUP_NODES] == (
        False,
        "Only 0 pods of its group have room even after evictions, and 3 must run at once.",
    )


def test_where_a_whole_group_makes_room_no_tier_says_otherwise() -> None:
    """The tiers know nothing of groups that go whole."""
    queues = tree({"prod": queue("6"), "test": queue()})
    at = snapshot(
        queues, node("n1", 4), running("ring-a", on="n1", of="ring", cpu=4), ask("new", queue="prod", cpu=4),
        pod_group("ring", whole=True),
    )  # fmt: skip
    assert tiers(at, "new", queues) == {}
