"""Every reason, law and interlock has its sentence, and the sentences carry the right numbers."""

import re

import msgspec
import pytest

from engine.audit import ComparedValues, Invariant, InvariantCheck, Relation, Sum
from engine.explain import (
    Message,
    Name,
    Tense,
    Timestamp,
    allowed,
    held_back,
    hold_message,
    invariant_text,
    label,
    lines,
    node_label,
    node_verdict,
    pod_label,
    pod_verdict,
    preemptor_sentence,
    reason,
    rejection_text,
    remedies,
    sentence,
    sort_checks,
    victim_sentence,
)
from engine.model.decision import (
    Decision,
    Interlock,
    NodeReason,
    NodeVerdict,
    Outcome,
    PodFacts,
    PodReason,
    PodVerdict,
    QueueFigures,
    Reason,
    Trace,
)
from engine.model.message import amount

GI = 2**30


@pytest.mark.parametrize(("cpu", "said"), [(1000, "1 core"), (8000, "8 cores"), (1500, "1500m cpu")])
def test_whole_cores_are_called_so(cpu, said):
    """And parts of one as people type them."""
    assert str(amount("cpu", cpu)) == said


def said(message: Message) -> str:
    """The message in English."""
    text = message.plural if message.count is not None and message.count != 1 else message.id
    return text % message.params


def pod(name="pod-1", queue="root.tenant-1.queue-b", **over) -> PodFacts:
    facts = {
        "name": name,
        "queue": queue,
        "uid": f"uid-{name}",
        "namespace": "search",
        "application": "batch",
        "priority": 500,
        "node": "gpu-04",
    }
    facts["requests"] = {"cpu": 4500, "memory": 24 * GI, "nvidia.com/gpu": 1, "pods": 1}
    return PodFacts(**{**facts, **over})


def ask(**over) -> PodFacts:
    requests = {"cpu": 8000, "memory": 64 * GI, "nvidia.com/gpu": 2, "pods": 1}
    facts = {"queue": "root.tenant-1.training", "namespace": "vision", "priority": 1000, "node": ""}
    return pod(**{"name": "worker-3", **facts, "requests": requests, **over})


TRAINING = QueueFigures(
    path="root.tenant-1.training",
    before={"cpu": 248_000, "memory": 1728 * GI, "nvidia.com/gpu": 14},
    after={"cpu": 256_000, "memory": 1792 * GI, "nvidia.com/gpu": 16},
    guaranteed={"cpu": 320_000, "memory": 2048 * GI, "nvidia.com/gpu": 16},
    max={"cpu": 560_000},
)
QUEUE_B = QueueFigures(
    path="root.tenant-1.queue-b",
    before={"cpu": 244_000, "memory": 1416 * GI, "nvidia.com/gpu": 12},
    after={"cpu": 236_000, "memory": 1368 * GI, "nvidia.com/gpu": 10},
    guaranteed={"cpu": 160_000, "nvidia.com/gpu": 8},
    max={},
)
TRACE = Trace(
    entitling=dict.fromkeys(("cpu", "memory", "nvidia.com/gpu"), "root.tenant-1.training"),
    queues=(TRAINING, QUEUE_B),
)


def preempting(**over) -> Decision:
    victims = tuple(
        PodVerdict(pod=pod(name), reason=PodReason.OVER_GUARANTEE, detail="root.tenant-1.queue-b")
        for name in ("embed-1", "rank-5")
    )
    facts = {"policy": "fence", "ask": ask(), "outcome": Outcome.PREEMPT, "reason": Reason.BELOW_GUARANTEE}
    return Decision(**{**facts, "node": "gpu-04", "victims": victims, "trace": TRACE, **over})


def refusing(why: Reason, **over) -> Decision:
    facts = {"policy": "fence", "ask": ask(), "outcome": Outcome.NOT_ELIGIBLE, "reason": why, "trace": TRACE}
    return Decision(**{**facts, **over})


def whole(message: Message) -> str:
    """The message in English, with every parameter filled in and none left over."""
    forms = [message.id, message.plural] if message.plural else [message.id]
    wanted = {name for form in forms for name in re.findall(r"%\((\w+)\)s", form)}
    assert wanted == set(message.params), f"{message.id} wants {wanted}, has {set(message.params)}"
    assert (message.count is None) == (message.plural == "")
    text = said(message)
    assert text
    assert "%" not in text
    return text


POLICIES = pytest.mark.parametrize("policy", ["fence", "priority", "deserved"])


@POLICIES
@pytest.mark.parametrize("why", Reason)
def test_every_reason_has_a_sentence_and_a_label(why, policy):
    """No decision ends without its why, with a trace or without one."""
    counts = Trace(excluded_counts={"higher-priority": 4}), Trace(excluded_counts={"higher-priority": 4, "shielded": 1})
    for trace in (TRACE, Trace(), *counts):
        decision = refusing(why, trace=trace, node="gpu-04", detail="root.tenant-1.training cpu", policy=policy)
        assert whole(reason(decision)).endswith(".")
    assert whole(label(why))


@POLICIES
@pytest.mark.parametrize("why", PodReason)
def test_every_pod_reason_has_a_sentence_and_a_label(why, policy):
    """No pod is chosen, reprieved or left out without its why."""
    for detail in ("root.tenant-1", ""):
        assert whole(pod_verdict(PodVerdict(pod=pod(), reason=why, detail=detail), preempting(policy=policy)))
    assert whole(pod_label(why, policy))


@pytest.mark.parametrize("why", NodeReason)
@pytest.mark.parametrize("victims", [0, 1, 3])
def test_every_node_reason_has_a_sentence_and_a_label(why, victims):
    """No node is passed over without its why."""
    assert whole(node_verdict(NodeVerdict(node="gpu-01", reason=why, detail="victims", victims=victims)))
    assert whole(node_label(why))


@POLICIES
@pytest.mark.parametrize("which", Invariant)
def test_every_law_has_its_sentences(which, policy):
    """Every law says what it demands and, broken, what was wrong."""
    assert whole(invariant_text(which, policy))
    assert whole(rejection_text(which, policy)).startswith("Rejected")


@pytest.mark.parametrize("hold", Interlock)
def test_every_interlock_has_a_sentence(hold):
    """Whatever holds a decision back is named."""
    assert whole(hold_message(hold)).endswith(".")


def test_a_decision_that_nobody_knows_what_holds_back_is_called_held_back():
    """A sentence as whole as those of the interlocks."""
    assert whole(hold_message("")) == whole(held_back(preempting(), "")) == "The decision is on hold."


def test_an_unknown_interlock_is_named_as_it_is():
    """A word that is newer than this list still reaches the reader."""
    assert whole(hold_message("full-moon")) == "On hold by the safeguard full-moon."


def test_what_is_not_ours_is_shown_as_recorded():
    """Reasons that other schedulers gave are passed on."""
    assert whole(label("memory pressure")) == "memory pressure"


def test_the_one_sentence():
    """It is about the resource in which the claim was narrowest, with both queues' distances."""
    assert whole(sentence(preempting(), Tense.EVICTED)) == (
        "worker-3 needed 2 nvidia.com/gpu on one node while training was 2 nvidia.com/gpu below its guarantee, "
        "so 2 pods of queue-b, which was 4 nvidia.com/gpu above its own, were evicted from gpu-04."
    )


@pytest.mark.parametrize(
    ("tense", "verb"),
    [
        (Tense.EVICTED, "was evicted from gpu-04."),
        (Tense.EVICTING, "is being evicted from gpu-04."),
        (Tense.WOULD, "would be evicted from gpu-04."),
        (Tense.STOPPED, "would have been evicted from gpu-04."),
    ],
)
def test_the_verb_is_true_to_what_happened(tense, verb):
    """Nothing that was only shown is called done."""
    one = preempting(victims=preempting().victims[:1])
    assert whole(sentence(one, tense)).endswith(verb)
    assert whole(victim_sentence(one, "uid-embed-1", tense)).count(verb.rstrip(".")) == 1


@pytest.mark.parametrize("tense", Tense)
def test_every_shape_of_the_sentence_is_whole(tense):
    """Several queues, no guarantee, a DaemonSet, policy priority, no trace: all have a sentence in every tense."""
    other = PodVerdict(pod=pod("x-1", "root.tenant-2.queue-2"), reason=PodReason.OVER_GUARANTEE)
    free = msgspec.structs.replace(QUEUE_B, path=other.pod.queue, guaranteed={})
    shapes = {
        "not covered by a guarantee": preempting(
            victims=(*preempting().victims, other), trace=msgspec.structs.replace(TRACE, queues=(*TRACE.queues, free))
        ),
        "a DaemonSet’s pod": preempting(ask=ask(controller="DaemonSet/exporter"), trace=Trace()),
        "lower priorit": preempting(policy="priority", trace=Trace()),
        "To make room": preempting(trace=Trace()),
    }
    for words, decision in shapes.items():
        assert words in whole(sentence(decision, tense))
        whole(preemptor_sentence(decision, tense))
        whole(victim_sentence(decision, "uid-embed-1", tense))


def test_nothing_is_said_of_guarantees_that_the_figures_do_not_bear_out():
    """A refused decision may take from a queue that is below: the sentence must not claim otherwise."""
    poor = msgspec.structs.replace(QUEUE_B, before={"nvidia.com/gpu": 8})
    for queues in ((TRAINING, poor), (TRAINING,)):
        decision = preempting(trace=msgspec.structs.replace(TRACE, queues=queues))
        assert "guarantee" not in whole(sentence(decision, Tense.STOPPED))


def test_a_recorded_eviction_without_an_ask_names_who_did_it():
    """The kubelet asks for no room."""
    decision = preempting(ask=pod("", ""), trace=Trace())
    assert whole(sentence(decision, Tense.EVICTED, by="kubelet")) == "kubelet evicted 2 pods of queue-b from gpu-04."


def test_without_preemption_the_reason_has_the_numbers():
    """The page of an ask that got nothing says so, and then why."""
    decision = refusing(Reason.AT_GUARANTEE, detail="root.tenant-1.training nvidia.com/gpu")
    assert whole(sentence(decision, Tense.WOULD)) == "worker-3 found no room, and no pod was evicted for it."
    fits = refusing(Reason.FITS, outcome=Outcome.FITS, node="gpu-01")
    assert whole(sentence(fits, Tense.WOULD)) == "worker-3 fits on gpu-01, so no pod is evicted for it."
    assert whole(reason(decision)) == (
        "training uses 14 nvidia.com/gpu, and its guarantee is 16. Only queues below their guarantee can preempt."
    )


def test_over_max_adds_up_usage_and_ask():
    """The number that is too large is in the sentence."""
    decision = refusing(Reason.OVER_MAX, detail="root.tenant-1.training cpu")
    assert "to 256 cpu, above its max of 560" in whole(reason(decision))


def test_room_on_a_node_is_told_with_the_max_that_it_goes_over():
    """kube-scheduler gives it all the same; under YuniKorn's rules nothing of the kind would be called fitting."""
    decision = refusing(Reason.FITS, outcome=Outcome.FITS, node="gpu-01", dialect="design")
    told = whole(reason(decision))
    assert told.startswith("It requests ")
    assert "max" not in told
    tight = msgspec.structs.replace(TRAINING, max={"cpu": TRAINING.before["cpu"]})
    over = msgspec.structs.replace(decision, trace=Trace(queues=(tight,)))
    assert "above its max of" in whole(reason(over))
    assert "max" not in whole(reason(msgspec.structs.replace(over, dialect="yunikorn")))


def test_eligibility_takes_every_resource_at_once():
    """One more GPU does not help a queue that is at its guarantee in cores too; nor does either under a max."""
    full = msgspec.structs.replace(
        TRAINING,
        before={"cpu": 320_000, "memory": 100 * GI, "nvidia.com/gpu": 17},
        max={"cpu": 320_000, "nvidia.com/gpu": 30},
    )
    trace = Trace(queues=(full,))
    decision = refusing(Reason.AT_GUARANTEE, trace=trace, detail="root.tenant-1.training cpu")
    assert [whole(message).split(":")[0] for message in remedies(decision)] == [
        "A guarantee of more than 320 cpu for training (now 320, using 320)",
        "A max of 328 cpu for training (now 320, using 320)",
        "A guarantee of more than 17 nvidia.com/gpu for training (now 16, using 17)",
    ]


def test_nothing_is_promised_where_a_queue_above_is_not_known():
    """Its guarantee might be the one that is claimed."""
    leaf = msgspec.structs.replace(TRAINING, guaranteed={"cpu": 1000})
    decision = refusing(Reason.AT_GUARANTEE, trace=Trace(queues=(leaf,)), detail="root.tenant-1.training cpu")
    assert remedies(decision) == ()
    assert remedies(refusing(Reason.FENCE)) == ()


def test_the_delay_names_the_moment():
    """A page writes it in the reader's zone."""
    due = reason(refusing(Reason.DELAY, due_ms=1_700_000_000_000)).params["due"]
    assert isinstance(due, Timestamp)
    assert due == 1_700_000_000_000


def test_no_candidates_counts_those_that_may_not_go():
    """Pods of the ask's own queue are not among them."""
    trace = Trace(excluded_counts={"outside-fence": 4, "opted-out": 1, "same-queue": 9})
    assert "none of the 5 pods outside its queue" in whole(reason(refusing(Reason.NO_CANDIDATES, trace=trace)))


def test_pods_are_marked_as_names():
    """Pages set them in a fixed-width type."""
    assert isinstance(sentence(preempting(), Tense.EVICTED).params["ask"], Name)


def test_each_victim_is_allowed_on_what_the_former_left():
    """12, then 11: never the same surplus twice."""
    first, second = (whole(message) for message in allowed(preempting()))
    assert first == "queue-b uses 12 nvidia.com/gpu with a guarantee of 8, and 11 without it"
    assert second == "queue-b uses 11 nvidia.com/gpu with a guarantee of 8, and 10 without it"


def test_no_explanation_names_a_law_by_its_number():
    for policy in ("fence", "priority"):
        for why in PodReason:
            assert "law" not in whole(pod_verdict(PodVerdict(pod=pod(), reason=why), preempting(policy=policy))), why
        for invariant in Invariant:
            assert "law" not in whole(rejection_text(invariant, policy)), invariant


def test_a_pod_that_was_put_back_first_says_for_which_budget():
    verdict = PodVerdict(pod=pod(), reason=PodReason.NOT_NEEDED, detail="web, web-2")
    assert "the disruption budget web, web-2" in whole(pod_verdict(verdict, preempting(policy="priority")))


def test_a_node_says_whether_it_was_tried_without_the_pods_that_may_go():
    """And that one that the ask wants to be near is taken away first, too."""
    refused = NodeVerdict(node="n", reason=NodeReason.INSUFFICIENT, detail="cpu", victims=3)
    assert whole(node_verdict(refused)) == "not enough cpu even without the 3 pods that can be preempted"
    near = NodeVerdict(node="n", reason=NodeReason.POD_AFFINITY, detail="zone", victims=2)
    assert "the search removes all of them first" in whole(node_verdict(near))
    assert whole(node_verdict(NodeVerdict(node="n", reason=NodeReason.INSUFFICIENT, detail="cpu"))).endswith("is free")


def test_the_priority_policy_names_priorities_and_no_queue():
    """Pods may run in no queue at all there."""
    alone = (PodVerdict(pod=pod("a", queue=""), reason=PodReason.LOWER_PRIORITY),)
    decision = preempting(
        policy="priority", ask=ask(queue=""), victims=alone, trace=Trace(), reason=Reason.LOWER_PRIORITY
    )
    assert whole(sentence(decision, Tense.EVICTED)).endswith(
        "on one node at priority 1000, so 1 pod with the lower priority 500 was evicted from gpu-04."
    )
    assert "higher priority than its 500" in whole(victim_sentence(decision, "uid-a", Tense.EVICTED))
    assert "Pods with lower priorities were evicted" in whole(preemptor_sentence(decision, Tense.EVICTED))


def test_a_tenant_reads_of_the_other_side_only_the_queue():
    """Neither the asker's pod and amounts to a victim's tenant, nor the victims' to the asker's."""
    decision = preempting(ask=ask(name="secret-ask"))
    to_victim = victim_sentence(decision, "uid-rank-5", Tense.EVICTED)
    assert whole(to_victim) == (
        "rank-5 was evicted from gpu-04 because training was below its guarantee while "
        "queue-b was 4 nvidia.com/gpu above its own."
    )
    to_asker = whole(preemptor_sentence(preempting(), Tense.EVICTED))
    assert "embed" not in to_asker
    assert "rank" not in to_asker
    assert "queue-b" in to_asker


def test_arithmetic_is_written_out():
    """One line per resource, minus every victim, compared with the guarantee."""
    check = InvariantCheck.of(
        Invariant.GUARANTEE,
        [
            Sum(
                subject="root.tenant-1.queue-b",
                resource="cpu",
                start=244_000,
                minus=(4500, 3500),
                relation=Relation.AT_LEAST,
                bound=160_000,
                result=236_000,
            )
        ],
    )
    assert [whole(message) for message in lines(check)] == ["queue-b cpu 244 − 4500m − 3500m = 236 ≥ 160"]


def test_broken_arithmetic_shows_the_comparison_that_fails():
    """3 ≥ 4 is not printed as if it were true."""
    broken = Sum(subject="root.b", resource="g", start=4, minus=(1,), relation=Relation.AT_LEAST, bound=4, result=3)
    check = InvariantCheck.of(Invariant.GUARANTEE, [broken])
    assert not check.holds
    assert [whole(message) for message in lines(check)] == ["b g 4 − 1 = 3 ≱ 4"]


def test_many_subtrahends_are_added_up():
    """A node of thirty pods is still one line."""
    many = Sum(subject="gpu-04", resource="g", start=9, minus=(1,) * 6, relation=Relation.AT_LEAST, bound=2, result=3)
    assert [whole(message) for message in lines(InvariantCheck.of(Invariant.FITS, [many]))] == [
        "gpu-04 g 9 − 6 = 3 ≥ 2"
    ]


def test_conditions_that_hold_are_not_spelt_out():
    """That a pending ask is pending tells nobody anything; a failed one is shown."""
    holding = ComparedValues(subject="n/p", left="pending", relation=Relation.EQUAL, right="pending", holds=True)
    failing = ComparedValues(subject="n/p", left="bound", relation=Relation.EQUAL, right="pending", holds=False)
    shown = lines(InvariantCheck.of(Invariant.MAY_PREEMPT, [holding, failing]))
    assert [whole(message) for message in shown] == ["p: bound ≠ pending"]


def test_the_invariants_of_the_design_come_first():
    """As the design counts them."""
    checks = [InvariantCheck(law=which, holds=True) for which in (Invariant.FITS, Invariant.FENCE, Invariant.OPT_OUT)]
    assert [check.law for check in sort_checks(checks)] == [Invariant.OPT_OUT, Invariant.FENCE, Invariant.FITS]


@pytest.mark.parametrize("which", Invariant)
def test_a_law_with_nothing_to_hold_against_says_so(which):
    """An empty cell would look like a mistake."""
    for message in lines(InvariantCheck(law=which, holds=True)):
        assert whole(message)


def test_only_those_that_are_told_to_go_are_said_to_be_evicted():
    """Neither counted nor named with them is who leaves anyway; where all do, nobody is evicted."""
    leaving = PodVerdict(pod=pod("old", priority=900), reason=PodReason.TERMINATING)
    told = PodVerdict(pod=pod("embed-1"), reason=PodReason.LOWER_PRIORITY)
    by_priority = {"policy": "priority", "reason": Reason.LOWER_PRIORITY, "trace": Trace()}
    both = sentence(preempting(**by_priority, victims=(leaving, told)), Tense.WOULD)
    assert "so 1 pod with the lower priority 500 would be evicted" in whole(both)
    nobody = preempting(**by_priority, victims=(leaving,))
    for text in (whole(sentence(nobody, Tense.WOULD)), whole(preemptor_sentence(nobody, Tense.EVICTED))):
        assert text.endswith("on gpu-04, so no pod is evicted for it.")
