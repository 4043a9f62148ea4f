"""What YuniKorn preempted, by its own word: whole, for whom or for which max, and nothing that it did not say."""

from typing import Any

import msgspec
import pytest

from engine.explain import observed_causes, observed_preemptor, observed_sentence, observed_verdict, observed_victim
from engine.formats.kubernetes.decode import PREEMPTED_BY_YUNIKORN_READER, DecodeError
from engine.model.objects import Pod, Preempted
from engine.model.snapshot import ClusterState
from engine.observation.evictions import (
    EvictionSource,
    Flag,
    Observed,
    decode,
    encode,
    merge_observed,
    observe,
    sighting_keys,
)
from tests.builders import NOW, ask, node, pod, queue, tree

AT = NOW - 5_000
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue("2"), "b": queue("3"), "c": queue()})


def event(victim: str, asker: str = "ask", *, at: int = AT, over_max: str = "") -> Preempted:
    """What YuniKorn tells of a victim."""
    about = {"over_max": over_max} if over_max else {"ask_uid": f"uid-{asker}", "ask_queue": "root.tenant-1.a"}
    return Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=at, ask_application="app", **about)


def state(*objects: Pod | Preempted) -> ClusterState:
    """A cluster of two nodes with these pods and YuniKorn's Events."""
    found = ClusterState()
    found.nodes |= {name: node(name, 8) for name in ("n1", "n2")}
    for number, one in enumerate(objects):
        if isinstance(one, Pod):
            found.pods[one.uid] = one
        else:
            found.yunikorn[f"event-{number}"] = one
    return found


def going(name: str, on: str = "n1", **settings: Any) -> Pod:
    """A pod that YuniKorn has deleted: nothing on the pod itself says why."""
    return pod(name, node=on, terminating=True, **settings)


def seen(*objects: Pod | Preempted, now: int = NOW) -> list[Observed]:
    return list(observe(state(*objects), TREE, now_ms=now))


def text(message: Any) -> str:
    template = message.plural if message.count not in (None, 1) else message.id
    return template % ({"count": message.count} | {name: str(value) for name, value in message.params.items()})


def test_the_victims_of_one_ask_are_one_decision_wherever_they_ran():
    """YuniKorn may take from several nodes for one ask; the node is told only where all were on it."""
    waiting = ask("ask", queue="tenant-1.a", cpu=2)
    (found,) = seen(going("v1", queue="c"), going("v2", queue="c"), waiting, event("v1"), event("v2", at=AT + 900))
    assert (found.source, found.at_ms, found.node) == (EvictionSource.YUNIKORN, AT, "n1")
    assert found.ask is not None
    assert (found.ask.name, found.ask.queue, found.ask_known) == ("ask", "root.tenant-1.a", True)
    (apart,) = seen(going("v1", queue="c"), going("v2", "n2", queue="c"), waiting, event("v1"), event("v2"))
    assert (apart.node, [one.pod.node for one in apart.victims]) == ("", ["n1", "n2"])


def test_another_ask_and_a_later_time_are_decisions_of_their_own():
    """Each ask preempts once; what is minutes apart was not one decision."""
    found = seen(event("v1"), event("v2", "other"), event("v3", at=AT - 60_000))
    assert [[one.pod.name for one in each.victims] for each in found] == [["v3"], ["v1"], ["v2"]]


def test_what_is_said_of_one_victim_waits_for_what_is_said_of_the_others():
    """Its Events come one by one: a decision is taken down whole."""
    assert seen(event("v1"), now=AT + 1_000) == []
    assert len(seen(event("v1"), now=AT + 2_000)) == 1


def test_a_pod_without_such_an_event_was_deleted_by_somebody():
    """YuniKorn sets no condition, and pods are deleted for many reasons."""
    assert seen(going("v1", queue="c"), ask("ask", queue="b")) == []


def test_an_ask_that_nobody_saw_is_named_by_its_queue_and_application():
    """Its pod's name is not in YuniKorn's word."""
    (found,) = seen(going("v1", queue="c"), event("v1"))
    assert found.ask is not None
    assert (found.ask.uid, found.ask.name, found.ask_known) == ("uid-ask", "", False)
    assert (found.ask.queue, found.ask.application) == ("root.tenant-1.a", "app")


def test_a_lowered_max_has_no_ask():
    """All that goes for one queue's max is one decision, whatever nodes it was on."""
    ends = (event("v1", over_max="root.b"), event("v2", over_max="root.b"), event("v3", over_max="root.c"))
    found = seen(going("v1", queue="b"), going("v2", "n2", queue="b"), going("v3", queue="c"), *ends)
    assert [(one.over_max, one.ask, len(one.victims)) for one in found] == [("root.b", None, 2), ("root.c", None, 1)]


def test_what_went_against_the_tree_is_flagged_as_for_any_scheduler():
    """Out of the asker's fence, and b is left with two cores of three."""
    stays = [pod(f"stays-{n}", queue="b", node="n1", cpu=1) for n in range(2)]
    (found,) = seen(*stays, going("v1", queue="b"), ask("ask", queue="tenant-1.a"), event("v1"))
    assert [each.flag for each in found.victims[0].flags] == [Flag.ACROSS_FENCE, Flag.BELOW_GUARANTEE]
    assert "root.b" not in text(observed_causes(found, by="YuniKorn")[0])
    assert [verdict.id for verdict in observed_verdict(found, found.victims[0])] == [
        "across the fence of %(queue)s",
        "%(queue)s left below its guarantee",
    ]


def test_a_max_is_enforced_inside_guarantees_too():
    """Without an ask no fence is crossed; a guarantee that is undercut is."""
    (found,) = seen(going("v1", queue="b"), event("v1", over_max="root.b"))
    assert [each.flag for each in found.victims[0].flags] == [Flag.BELOW_GUARANTEE]


def test_each_reads_a_sentence_of_its_own():
    """Priorities are not why YuniKorn preempts, so no sentence gives them as the reason."""
    waiting = ask("web", queue="tenant-1.a", priority=5)
    (one,) = seen(going("v1", queue="c"), waiting, event("v1", "web"))
    assert text(observed_sentence(one, by="YuniKorn")) == "YuniKorn preempted v1 on n1 for web."
    assert text(observed_victim(one, "uid-v1", by="YuniKorn")) == (
        "YuniKorn preempted v1 on n1 to make room for a pod of a."
    )
    (apart,) = seen(going("v1", queue="c"), going("v2", "n2"), waiting, event("v1", "web"), event("v2", "web"))
    assert text(observed_sentence(apart, by="YuniKorn")) == "YuniKorn preempted 2 pods on several nodes for web."
    assert text(observed_victim(apart, "uid-v2", by="YuniKorn")).startswith("YuniKorn preempted v2 on n2")
    assert (
        text(observed_preemptor(apart, by="YuniKorn"))
        == "YuniKorn evicted pods of c from several nodes to make room for web."
    )


def test_a_lowered_max_is_the_reason_that_is_given():
    """To those who may see all of it, and to the victim's own tenant without the queue's name."""
    (found,) = seen(going("v1", queue="b"), event("v1", over_max="root.b"))
    assert text(observed_sentence(found, by="YuniKorn")) == "YuniKorn preempted 1 pod to bring b down to its max."
    assert text(observed_victim(found, "uid-v1", by="YuniKorn")) == (
        "YuniKorn preempted v1 on n1 to bring its queue, or a parent queue, down to its max."
    )


def test_news_of_a_victim_elsewhere_takes_the_node_back():
    """What is known later is told of the whole."""
    waiting = ask("ask", queue="tenant-1.a")
    (first,) = seen(going("v1", queue="c"), waiting, event("v1"))
    (second,) = seen(going("v2", "n2", queue="c"), waiting, event("v2"))
    assert (merge_observed(first, second).node, merge_observed(first, first).node) == ("", "n1")
    assert decode(encode(merge_observed(first, second))) == merge_observed(first, second)


def test_it_is_told_from_a_preemption_by_kube_scheduler():
    """Each by its own Events, in one cluster."""
    both = state(event("v1"))
    both.preempted["event-k"] = Preempted(uid="uid-v2", namespace="ns", name="v2", at_ms=AT, node="n1")
    assert {one.source for one in observe(both, TREE, now_ms=NOW)} == {
        EvictionSource.YUNIKORN,
        EvictionSource.KUBE_SCHEDULER,
    }
    assert sighting_keys(both, now_ms=NOW) == (("uid-v1", "uid-ask"), ("uid-v2", ""))


def written(message: str, **fields: Any) -> bytes:
    """An Event as the API server serves one of yunikorn-k8shim's: PublishEvents in pkg/cache/context.go writes it."""
    victim = {"kind": "Pod", "namespace": "ns", "name": "v", "uid": "uid-v"}
    wire = {
        "metadata": {"name": "v.1", "namespace": "ns", "uid": "e"},
        "involvedObject": victim,
        "reason": "Informational",
        "action": "Informational",
        "type": "Normal",
        "message": message,
        "reportingComponent": "yunikorn",
        "eventTime": "2026-01-01T00:00:00.250000Z",
        "firstTimestamp": None,
    }
    return msgspec.json.encode(wire | fields)


def test_its_event_on_a_victim_is_read():
    """For whom, from which application, in which queue."""
    uid = "f137fab6-3cfa-4536-93f7-bfff92689382"
    found = PREEMPTED_BY_YUNIKORN_READER.from_bytes(
        written(f"Preempted by {uid} from application spark-1 in root.parent.a")
    )
    assert found is not None
    assert (found.uid, found.namespace, found.name, found.at_ms) == ("uid-v", "ns", "v", 1_767_225_600_250)
    assert (found.ask_uid, found.ask_application, found.ask_queue, found.over_max) == (
        uid,
        "spark-1",
        "root.parent.a",
        "",
    )


def test_its_event_on_a_victim_of_a_lowered_max_is_read():
    """There the queue is the one that was over its max."""
    found = PREEMPTED_BY_YUNIKORN_READER.from_bytes(written("Preempted by Quota change enforcement process in root.b"))
    assert found is not None
    assert (found.ask_uid, found.ask_queue, found.over_max) == ("", "", "root.b")


@pytest.mark.parametrize(
    "message",
    [
        "Request 'uid-v' does not fit in queue 'root.b' (requested map[vcore:2], available map[])",
        "Unschedulable request 'uid-v' with required node 'n1', no preemption victim found",
        "Preempted by pod uid-web on node n1",
        f"Preempted by {'u' * 65} from application a in root.b",
        "Preempted by u from application a\0 in root.b",
        f"Preempted by u from application a in root.{'q' * 500}",
    ],
)
def test_what_else_it_says_of_pods_is_passed_over(message: str):
    """All that it tells of a pod has the same reason; and anybody may write an Event."""
    assert PREEMPTED_BY_YUNIKORN_READER.from_bytes(written(message)) is None


@pytest.mark.parametrize("fields", [{"involvedObject": {"kind": "Pod"}}, {"eventTime": None}])
def test_an_event_that_does_not_say_who_or_when_is_odd(fields: dict[str, Any]):
    """Skipped and told, as every object that can't be read."""
    with pytest.raises(DecodeError):
        PREEMPTED_BY_YUNIKORN_READER.from_bytes(written("Preempted by u from application a in root.b", **fields))
