"""What others evicted: taken down once, whole, with what speaks against it, and nothing that nobody told."""

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.explain import observed_causes, observed_flags, observed_sentence, observed_verdict, observed_victim
from engine.formats.kubernetes.decode import PREEMPTED_READER, DecodeError
from engine.model.objects import Pod, Preempted, SchedulingGroup
from engine.model.snapshot import ClusterState
from engine.observation.evictions import (
    EvictionSource,
    Flag,
    Key,
    Observed,
    decode,
    encode,
    merge_observed,
    observe,
    sighting_keys,
    without_victims,
)
from tests.builders import NOW, ask, node, pod, queue, tree

AT = NOW - 2_000
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue("2"), "b": queue("3"), "c": queue()})


def event(victim: str, asker: str = "ask", *, at: int = AT, uid: str = "", **told: Any) -> Preempted:
    """What kube-scheduler tells of a victim."""
    about = {"ask_uid": f"uid-{asker}", "ask_namespace": "ns", "ask_name": asker} if asker else {}
    return Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=at, **{"node": "n1"} | about | told)


def state(*objects: Pod | Preempted) -> ClusterState:
    """A cluster of one node with these pods and Events."""
    found = ClusterState()
    found.nodes["n1"] = node("n1", 8)
    for number, one in enumerate(objects):
        if isinstance(one, Pod):
            found.pods[one.uid] = one
        else:
            found.preempted[f"event-{number}"] = one
    return found


def going(name: str, **settings: Any) -> Pod:
    """A pod that a scheduler has told to go."""
    told = {"terminating": True, "disruption": "PreemptionByScheduler", "disrupted_ms": AT}
    return pod(name, **{"node": "n1"} | told | settings)


def seen(*objects: Pod | Preempted, settled: tuple[Key, ...] = (), now: int = NOW) -> list[Observed]:
    return list(observe(state(*objects), TREE, now_ms=now, settled=settled))


def flags(found: Observed) -> set[Flag]:
    return {each.flag for one in found.victims for each in one.flags}


def test_the_victims_of_one_ask_are_one_decision():
    """Two Events at one time, one ask, one node: with queue, priority, requests and for whom."""
    asker = ask("ask", queue="tenant-1.a", priority=1000, cpu=2)
    (found,) = seen(
        going("v1", queue="c", priority=10), going("v2", queue="c"), asker, event("v1"), event("v2", at=AT + 900)
    )
    assert (found.source, found.at_ms, found.node) == (EvictionSource.KUBE_SCHEDULER, AT, "n1")
    assert found.ask is not None
    assert (found.ask.name, found.ask.queue, found.ask.priority) == ("ask", "root.tenant-1.a", 1000)
    assert [(one.pod.name, one.pod.queue, one.pod.priority) for one in found.victims] == [
        ("v1", "root.c", 10),
        ("v2", "root.c", 0),
    ]


def test_later_ones_and_those_of_other_asks_are_decisions_of_their_own():
    """A minute later, or for somebody else, it was decided anew."""
    found = seen(event("v1"), event("v2", at=AT - 60_000), event("v3", "other"))
    assert [[one.pod.name for one in each.victims] for each in found] == [["v2"], ["v1"], ["v3"]]


def test_an_event_that_comes_again_counts_once():
    """Several Events about one victim: the first tells when."""
    (found,) = seen(event("v1", at=AT + 500), event("v1"))
    assert [(one.pod.name, one.at_ms) for one in found.victims] == [("v1", AT)]


def test_what_is_settled_is_left_out():
    """A victim is counted once, whatever comes again."""
    assert seen(going("v1"), event("v1"), settled=(("uid-v1", "uid-ask"),)) == []
    assert seen(going("v1"), settled=(("uid-v1", ""),), now=AT + 60_000) == []


def test_an_event_tells_more_than_the_condition_did():
    """What is settled of a victim is what its condition said; for whom it went is news."""
    assert sighting_keys(state(going("v1")), now_ms=NOW) == (("uid-v1", ""),)
    assert sighting_keys(state(going("v1"), event("v1")), now_ms=AT) == (("uid-v1", "uid-ask"),)
    assert len(seen(going("v1"), event("v1"), settled=(("uid-v1", ""),))) == 1


def test_a_victim_of_ours_is_left_out_whatever_tells_of_it():
    """By Event or by condition."""
    both = state(event("v1"), going("v2", disruption="EvictionByEvictionAPI"))
    assert observe(both, TREE, now_ms=NOW, own_victims={"uid-v1", "uid-v2"}) == ()


def test_of_many_the_oldest_are_taken_first():
    """One pass takes some, the next goes on."""
    found = observe(state(*(event(f"v{n}", f"a{n}", at=AT - n) for n in range(9))), TREE, now_ms=NOW, most=2)
    assert [one.victims[0].pod.name for one in found] == ["v8", "v7"]


def nominee(name: str, priority: int = 5, **settings: Any) -> Pod:
    """A pod for which room is being made on n1."""
    return ask(name, priority=priority, nominated_node="n1", **settings)


def test_a_victim_without_an_event_waits_for_it_and_then_went_for_the_one_that_was_nominated():
    """Nobody else can have been the ask; that it is told by that alone is said."""
    assert seen(going("v1"), nominee("c1"), now=AT + 1_000) == []
    (found,) = seen(going("v1"), nominee("c1", queue="b"), now=AT + 6_000)
    assert found.ask is not None
    assert (found.ask.name, found.ask.queue, found.ask_inferred, found.certain) == ("c1", "root.b", True, False)
    assert "is inferred from its nomination" in observed_causes(found, by="kube-scheduler")[0].id


def test_where_no_event_can_be_read_none_is_waited_for():
    """The nomination may be gone a moment later."""
    assert observe(state(going("v1"), nominee("c1")), TREE, now_ms=AT, events=False)[0].ask_inferred


@pytest.mark.parametrize(
    "others",
    [
        [nominee("c1"), nominee("c2")],
        [],
        [nominee("c1", priority=0)],
        [ask("c1", priority=5, nominated_node="n2")],
        [nominee("c1", node="n1")],
    ],
    ids=["two", "none", "of no higher priority", "elsewhere", "bound already"],
)
def test_where_it_may_have_been_several_or_none_the_ask_is_unknown(others: list[Pod]):
    """Who was nominated there is told; that it went for one of them is not claimed."""
    (found,) = seen(going("v1"), *others, now=AT + 6_000)
    both = ("ns/c1", "ns/c2") if len(others) > 1 else ()
    assert (found.ask, found.ask_inferred, found.nominated) == (None, False, both)
    assert "the preemptor is unknown" in observed_sentence(found, by="kube-scheduler").id


def test_a_nominated_pod_is_not_the_ask_of_one_above_it():
    """Two victims, of which one has a higher priority: that was for somebody else, so neither is claimed."""
    (found,) = seen(going("v1"), going("v2", priority=7), nominee("c1"), now=AT + 6_000)
    assert (found.ask, found.nominated) == (None, ("ns/c1",))


GANG = SchedulingGroup(namespace="ns", name="gang", uid="uid-gang", priority=1000)
FOR_GANG = {"ask_uid": "uid-gang", "ask_name": "gang", "ask_kind": "PodGroup", "node": "cluster"}
OF_GANG = {"disruption_message": "default-scheduler: preempting to accommodate a higher priority podgroup"}


def beside_gang(*objects: Pod | Preempted) -> ClusterState:
    """Two pods of a group wait, for two nodes."""
    members = [
        ask(f"gang-{n}", queue="b", cpu=2, priority=1000, scheduling_group="gang", nominated_node=f"n{n}")
        for n in (1, 2)
    ]
    found = state(*members, *objects)
    found.scheduling_groups["ns", "gang"] = GANG
    return found


def test_what_goes_for_a_group_on_several_nodes_is_one_decision():
    """With the group's priority, the queue of its pods, and what they wait for together."""
    victims = (going("v1"), going("v2", node="n2"), event("v1", **FOR_GANG), event("v2", **FOR_GANG))
    (found,) = observe(beside_gang(*victims), TREE, now_ms=NOW)
    assert (found.ask_kind, found.node, len(found.victims), found.certain) == ("PodGroup", "", 2, True)
    assert found.ask is not None
    assert (found.ask.uid, found.ask.name, found.ask.queue) == ("uid-gang", "gang", "root.b")
    assert (found.ask.priority, found.ask.requests["cpu"]) == (1000, 4000)
    told = observed_sentence(found, by="kube-scheduler")
    assert told.plural == "%(by)s preempted %(count)s pods on several nodes for the pod group %(ask)s."


def test_a_group_whose_object_is_gone_is_known_by_the_event():
    """Its name, and no priority."""
    (found,) = seen(going("v1"), event("v1", **FOR_GANG))
    assert (found.ask and found.ask.name, found.ask_known, found.node) == ("gang", False, "n1")


def test_a_group_that_goes_as_a_whole_for_a_pod_is_one_decision_at_the_pods_node():
    """The Events name the node that the pod gets, also for victims on others."""
    (found,) = seen(going("v1"), going("v2", node="n2"), event("v1"), event("v2"), ask("ask"))
    assert (found.ask_kind, found.node, len(found.victims)) == ("Pod", "n1", 2)


@pytest.mark.parametrize(
    ("about", "for_resize"),
    [
        ({"started_ms": AT - 60_000}, True),
        ({"started_ms": AT, "resize_deferred": True}, True),
        ({"started_ms": AT + 30_000}, False),
        ({"started_ms": AT - 1_000}, False),
    ],
    ids=["ran long before", "waits for its resize", "came after", "came at that time, by another clock"],
)
def test_a_preemptor_that_ran_before_was_to_be_resized(about: dict[str, Any], for_resize: bool):
    """A pod that was pending runs only after the preemption."""
    (found,) = seen(going("v1"), event("v1"), pod("ask", node="n1", priority=5, **about))
    assert found.for_resize is for_resize
    assert ("in-place resize" in observed_sentence(found, by="kube-scheduler").id) is for_resize


def test_without_events_the_conditions_say_that_it_was_a_group_and_nominations_say_which():
    """On all nodes together."""
    victims = [going("v1", **OF_GANG), going("v2", node="n2", **OF_GANG)]
    (found,) = observe(beside_gang(*victims), TREE, now_ms=NOW, events=False)
    assert (found.ask and found.ask.name, found.ask_kind, found.ask_inferred) == ("gang", "PodGroup", True)
    assert (found.node, [one.pod.name for one in found.victims]) == ("", ["v1", "v2"])
    assert "is inferred from the nominations of its pods" in observed_causes(found, by="kube-scheduler")[-1].id


def test_without_events_a_second_group_at_the_node_leaves_it_open_which():
    other = ask("other", queue="b", priority=1000, scheduling_group="other", nominated_node="n1")
    (found,) = observe(beside_gang(going("v1", **OF_GANG), other), TREE, now_ms=NOW, events=False)
    assert (found.ask, found.nominated) == (None, ("ns/gang-1", "ns/other"))


def test_the_word_of_an_event_outweighs_a_supposition():
    """Whichever becomes known first."""
    (supposed,) = seen(going("v1"), nominee("c1"), now=AT + 6_000)
    (told,) = seen(going("v1"), nominee("c1"), event("v1"))
    for whole in (merge_observed(supposed, told), merge_observed(told, supposed)):
        assert (whole.ask and whole.ask.name, whole.ask_inferred, len(whole.victims)) == ("ask", False, 1)


def test_a_decision_is_parted_from_what_went_for_another():
    """The other victims stay."""
    (both,) = seen(going("v1"), going("v2"), now=AT + 6_000)
    assert [one.pod.name for one in without_victims(both, {"uid-v1"}).victims] == ["v2"]


def test_a_pod_that_left_at_once_is_told_with_its_numbers():
    """It had gone before the next pass: it is remembered as it was."""
    quick = state(event("v1"))
    quick.remember_deleted(pod("v1", queue="b", node="n1", priority=7))
    (found,) = observe(quick, TREE, now_ms=NOW)
    assert (found.victims[0].known, found.victims[0].pod.queue, found.victims[0].pod.priority) == (True, "root.b", 7)


def test_a_pod_that_was_never_seen_is_in_the_queue_of_its_namespace():
    """Its labels are not known any more; against what is only supposed nothing is flagged."""
    shape = tree({"t": queue("2", fence=True), "t.a": queue(namespaces=("x",)), "b": queue(namespaces=("ns",))})
    told = state(event("v1", "web", ask_namespace="x"))
    (found,) = observe(told, shape, now_ms=NOW, settled=())
    assert found.ask is not None
    assert (found.ask.queue, found.victims[0].pod.queue) == ("root.t.a", "root.b")
    assert (found.victims[0].known, flags(found)) == (False, set())


def test_a_pod_that_was_never_seen_has_a_name_and_nothing_else():
    """No queue, no priority is made up for it."""
    (found,) = seen(event("v1"))
    assert (found.victims[0].known, found.ask_known, found.victims[0].pod.queue) == (False, False, "")
    assert "priority" not in observed_sentence(found, by="kube-scheduler").id
    assert "Only the name" in observed_causes(found, by="kube-scheduler")[0].id


@pytest.mark.parametrize(
    ("reason", "source"),
    [
        ("PreemptionByScheduler", EvictionSource.KUBE_SCHEDULER),
        ("PreemptionByKubeScheduler", EvictionSource.KUBE_SCHEDULER),
        ("EvictionByEvictionAPI", EvictionSource.API_EVICTION),
        ("TerminationByKubelet", EvictionSource.KUBELET),
        ("DeletionByTaintManager", EvictionSource.TAINT_MANAGER),
        ("DeletionByPodGC", EvictionSource.POD_GC),
        ("SomethingNew", None),
    ],
)
def test_the_condition_says_who_evicted(reason: str, source: EvictionSource | None):
    """A reason that we don't know is nobody's."""
    found = seen(going("v1", disruption=reason, disrupted_ms=NOW - 30_000))
    assert [one.source for one in found] == ([source] if source else [])


def test_across_the_fence_is_flagged():
    """tenant-1's fence lets no preemption out; kube-scheduler does not know of it."""
    (found,) = seen(going("v1", queue="c"), ask("ask", queue="tenant-1.a", priority=9), event("v1"))
    assert flags(found) == {Flag.ACROSS_FENCE}
    said = observed_causes(found, by="kube-scheduler")[0]
    assert str(said) == "kube-scheduler preempted 1 pod across the fence of tenant-1."


def test_below_the_guarantee_is_flagged_with_its_numbers():
    """b is guaranteed 3 cores and is left with 2."""
    rest = [pod(f"b{number}", queue="b", node="n1") for number in range(2)]
    (found,) = seen(going("v1", queue="b", cpu=2), *rest, ask("ask", queue="c", priority=9), event("v1"))
    assert flags(found) == {Flag.BELOW_GUARANTEE}
    said = observed_causes(found, by="kube-scheduler")[0]
    assert said.params == {"by": "kube-scheduler", "short": "1", "resource": "cpu", "queue": "b", "guaranteed": "3"}


def test_a_parent_left_below_its_guarantee_is_flagged_with_its_numbers():
    """The leaf is promised nothing, the queue above it two cores, of which one is left."""
    above = tree({"t": queue("2"), "t.x": queue(), "t.y": queue(), "c": queue()})
    cluster = state(
        going("v1", queue="t.x"), pod("y", queue="t.y", node="n1"), ask("ask", queue="c", priority=9), event("v1")
    )
    (found,) = observe(cluster, above, now_ms=NOW)
    (said,) = observed_causes(found, by="kube-scheduler")
    assert (said.params["queue"], said.params["short"], said.params["guaranteed"]) == ("t", "1", "2")


def test_news_of_a_further_victim_spans_the_usage_of_both():
    """b held four cores before the first went, and two after the second."""
    rest, web = [pod(f"b{n}", queue="b", node="n1") for n in range(2)], ask("ask", queue="c", priority=9)
    (first,) = seen(going("v1", queue="b"), pod("v2", queue="b", node="n1"), *rest, web, event("v1"))
    known = (("uid-v1", "uid-ask"),)
    (second,) = seen(
        going("v1", queue="b"), going("v2", queue="b"), *rest, web, event("v1"), event("v2"), settled=known
    )
    both = merge_observed(first, second)
    (b,) = [one for one in both.queues if one.path == "root.b"]
    assert [one.pod.name for one in both.victims] == ["v1", "v2"]
    assert (b.before["cpu"], b.after["cpu"]) == (4000, 2000)


def test_who_drains_a_node_is_held_to_no_guarantee():
    """Only a preemption is for somebody's sake."""
    (found,) = seen(going("v1", queue="b", cpu=3, disruption="EvictionByEvictionAPI"))
    assert flags(found) == set()


def test_a_pod_whose_deletion_failed_runs_on():
    """It has the condition, and is nobody's victim; nor is one that does not say since when."""
    assert seen(going("v1", terminating=False), now=AT + 60_000) == []
    assert seen(going("v1", disrupted_ms=None), now=AT + 60_000) == []
    assert len(seen(going("v1", terminating=False, finished=True), now=AT + 60_000)) == 1


def test_a_pod_that_was_missed_for_a_moment_counts_once():
    """A list without it came between."""
    both = state(going("v1"))
    both.remember_deleted(both.pods["uid-v1"])
    (found,) = observe(both, TREE, now_ms=AT + 60_000)
    assert len(found.victims) == 1


def test_at_the_guarantee_nothing_is_flagged():
    """Left with exactly what it is promised."""
    rest = [pod(f"b{number}", queue="b", node="n1") for number in range(3)]
    (found,) = seen(going("v1", queue="b"), *rest, ask("ask", queue="c", priority=9), event("v1"))
    assert flags(found) == set()


def test_in_its_own_queue_is_flagged():
    """A queue gains nothing from its own pods."""
    (found,) = seen(going("v1", queue="c"), ask("ask", queue="c", priority=9), event("v1"))
    assert flags(found) == {Flag.SAME_QUEUE}


def test_old_news_is_told_without_usage():
    """Half an hour later usage is another; fences are where they were."""
    late = AT + 1_800_000
    (found,) = seen(going("v1", queue="b", cpu=3), ask("ask", queue="tenant-1.a", priority=9), event("v1"), now=late)
    assert found.queues == ()
    assert flags(found) == {Flag.ACROSS_FENCE}


def test_to_its_tenant_a_victim_is_told_the_askers_queue_alone():
    """No pod and no priority of the other side."""
    (found,) = seen(going("v1", queue="c"), ask("secret", queue="b", priority=987), event("v1", "secret"))
    said = observed_victim(found, "uid-v1", by="kube-scheduler")
    text = str(said)
    assert "b" in said.params["asker"]
    assert "secret" not in text
    assert "987" not in text


def test_the_verdict_of_a_victim_compares_priorities():
    """What kube-scheduler went by."""
    (found,) = seen(going("v1", queue="c", priority=3), ask("ask", queue="b", priority=9), event("v1"))
    assert observed_verdict(found, found.victims[0])[0].params == {"lower": "3", "priority": "9"}


@pytest.mark.parametrize(
    "words",
    [
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi.",
        "Pod was preempted by Kubelet to accommodate a critical pod.",
        "Pod was terminated in response to imminent node shutdown.",
    ],
)
def test_why_a_node_ended_a_pod_is_told_in_its_words(words: str):
    """Short of memory, for a critical pod, or going down: the condition alone says which."""
    told = {"disruption": "TerminationByKubelet", "disruption_message": words, "finished": True, "terminating": False}
    (found,) = seen(going("v1", **told), going("v2", **told))
    (said,) = observed_causes(found, by="kubelet")
    assert str(said) == f"The node reports: {words}"
    assert observed_flags(found, "uid-v1", by="kubelet", sees=lambda _path: False) == (said,)


@given(st.lists(st.tuples(st.sampled_from(["b", "c", "tenant-1.a"]), st.integers(0, 3), st.sampled_from("wgtn"))))
def test_usage_is_what_a_sum_over_all_pods_says(drawn: list[tuple[str, int, str]]):
    """However many victims there are: those that wait, go, have gone or are only named by an Event."""
    objects: list[Pod | Preempted] = []
    for number, (leaf, cpu, kind) in enumerate(drawn):
        made = going if kind == "g" else pod
        node = None if kind == "w" else "n1"
        objects.append(made(f"p{number}", queue=leaf, cpu=cpu, **({} if kind == "g" else {"node": node})))
        if kind in "gt":  # told by its Event alone: its going doesn't show yet
            objects.append(event(f"p{number}"))
    pods = [one for one in objects if isinstance(one, Pod)]
    taken = {one.uid for one in objects if isinstance(one, Preempted)}
    for standing in (one for found in seen(*objects) for one in found.queues):
        inside = [one for one in pods if TREE.contains(standing.path, f"root.{one.queue_label}") and one.node]
        left = sum(one.requests["cpu"] for one in inside if one.uid not in taken and not one.terminating)
        gone = sum(one.requests["cpu"] for one in inside if one.uid in taken)
        assert (standing.after.get("cpu", 0), standing.before.get("cpu", 0)) == (left, left + gone)


@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_the_order_of_things_does_not_matter(shuffle: random.Random, count: int):
    """The same state gives the same bytes, and they read back."""
    objects: list[Pod | Preempted] = [going(f"v{number}", queue="c") for number in range(count)]
    objects += [event(f"v{number}", f"ask-{number % 2}", at=AT + number * 7_000) for number in range(count)]
    straight = seen(*objects)
    shuffle.shuffle(objects)
    assert [encode(one) for one in seen(*objects)] == [encode(one) for one in straight]
    assert [decode(encode(one)) for one in straight] == straight


def written(message: str, **fields: Any) -> bytes:
    """An Event as the API server serves it."""
    victim = {"kind": "Pod", "namespace": "ns", "name": "v", "uid": "uid-v"}
    times = {"eventTime": "2026-01-01T00:00:00.250000Z", "firstTimestamp": None}
    return msgspec.json.encode(
        {"metadata": {"name": "e"}, "involvedObject": victim, "message": message, **times} | fields
    )


RELATED = {"kind": "Pod", "namespace": "prod", "name": "web", "uid": "uid-web"}


@pytest.mark.parametrize(
    ("message", "fields", "want"),
    [
        ("Preempted by pod uid-web on node n1", {"related": RELATED}, ("uid-web", "prod", "web", "Pod", "n1")),
        ("Preempted by pod uid-web on node n1", {}, ("uid-web", "", "", "Pod", "n1")),
        ("Preempted by a pod on node n1", {"related": RELATED}, ("uid-web", "prod", "web", "Pod", "n1")),
        ("Preempted by a pod on node n1", {}, ("", "", "", "Pod", "n1")),
        ("Preempted by prod/web on node n1", {}, ("", "prod", "web", "Pod", "n1")),
        ("Preempted by podgroup g-1 on node cluster", {}, ("g-1", "", "", "PodGroup", "cluster")),
    ],
)
def test_every_form_of_the_event_is_read(message: str, fields: dict[str, Any], want: tuple[str, ...]):
    """From the oldest to the newest kube-scheduler."""
    found = PREEMPTED_READER.from_bytes(written(message, **fields))
    assert (found.ask_uid, found.ask_namespace, found.ask_name, found.ask_kind, found.node) == want
    assert (found.by_scheduler, found.uid, found.at_ms) == (True, "uid-v", 1_767_225_600_250)


def test_the_same_reason_by_others_tells_nothing():
    """Our own Event, and one that is about no pod."""
    assert not PREEMPTED_READER.from_bytes(written("Preempted, as queue root.a is below its guarantee")).by_scheduler
    other = written("Preempted by a pod on node n1", involvedObject={"kind": "Workload", "name": "w", "uid": "u"})
    assert not PREEMPTED_READER.from_bytes(other).by_scheduler


@pytest.mark.parametrize(
    "told",
    [f"pod {'u' * 65} on node n1", f"a pod on node {'n' * 254}", f"ns/{'w' * 254} on node n1", "pod a\0b on node n1"],
)
def test_an_event_that_names_what_can_not_be_tells_nothing(told: str):
    """Anybody may write one, and what is stored of it has its bounds."""
    assert not PREEMPTED_READER.from_bytes(written(f"Preempted by {told}")).by_scheduler


@pytest.mark.parametrize(
    "fields",
    [
        {"involvedObject": {}},
        {"eventTime": None},
        {"eventTime": "0001-01-01T00:00:00Z"},
        {"eventTime": "9999-12-31T23:59:59Z"},
        {"involvedObject": {"kind": "Pod", "namespace": "ns", "name": "v", "uid": "u" * 65}},
        {"related": RELATED | {"uid": "u" * 65}},
        {"related": RELATED | {"name": "a\0b"}},
        {"related": RELATED | {"namespace": "n" * 64}},
    ],
)
def test_an_event_that_does_not_say_who_or_when_is_odd(fields: dict[str, Any]):
    """Skipped and told, as every object that can't be read."""
    with pytest.raises(DecodeError):
        PREEMPTED_READER.from_bytes(written("Preempted by a pod on node n1", **fields))
