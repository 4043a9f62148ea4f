"""What Volcano preempted, by its own word: which pods, by which of its actions, and never for whom."""

from typing import Any

import msgspec
import pytest

from engine.explain import label, observed_sentence, observed_victim
from engine.explain.observed.evictions import observed_reason
from engine.explain.observed.replay import replay_lines
from engine.formats.kubernetes.decode import PREEMPTED_BY_VOLCANO_READER, DecodeError, decode_pod
from engine.model.objects import Pod, Preempted
from engine.model.snapshot import ClusterState
from engine.observation.evictions import EvictionSource, Observed, decode, encode, observe
from engine.observation.replay import replay_observed
from tests.builders import NOW, ask, node, pod, queue, tree

AT = NOW - 5_000
TREE = tree({"a": queue("2"), "b": queue("3")})


def event(victim: str, why: str = "reclaim", *, at: int = AT) -> Preempted:
    return Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=at, why=why)


def going(name: str, on: str = "n1", **settings: Any) -> Pod:
    """A pod that Volcano has deleted."""
    return pod(name, node=on, **{"terminating": True, "queue": "b"} | settings)


def state(*objects: Pod | Preempted) -> ClusterState:
    found = ClusterState()
    found.nodes |= {name: node(name, 8) for name in ("n1", "n2")}
    for number, one in enumerate(objects):
        if isinstance(one, Pod):
            found.pods[one.uid] = one
        else:
            found.volcano[f"event-{number}"] = one
    return found


def seen(*objects: Pod | Preempted, now: int = NOW) -> list[Observed]:
    return list(observe(state(*objects), TREE, now_ms=now))


def text(message: Any) -> str:
    template = message.plural if message.count not in (None, 1) else message.id
    return template % ({"count": message.count} | {name: str(value) for name, value in message.params.items()})


def test_what_one_action_takes_on_one_node_at_one_time_is_one_decision() -> None:
    """For how many jobs that was, nothing tells."""
    found = seen(
        going("v1"), going("v2"), going("v3", "n2"), going("v4"), event("v1"), event("v2", at=AT + 900), event("v3"),
        event("v4", "preempt"),
    )  # fmt: skip
    assert [[one.pod.name for one in each.victims] for each in found] == [["v1", "v2"], ["v3"], ["v4"]]
    assert {(each.source, each.node) for each in found} == {
        (EvictionSource.VOLCANO, "n1"),
        (EvictionSource.VOLCANO, "n2"),
    }
    assert decode(encode(found[0])) == found[0]


def test_without_its_event_the_pods_condition_tells_of_it() -> None:
    """Recorders drop Events under load; it says the same, and is one preemption with it."""
    marked = going("v1", disruption="Evict", disrupted_ms=AT, disruption_message="reclaim")
    assert seen(marked, now=AT + 1_000) == []
    (found,) = seen(marked)
    assert (found.source, found.node, found.ask) == (EvictionSource.VOLCANO, "n1", None)
    assert [one.why for one in found.victims] == ["reclaim"]
    both = seen(marked, going("v2"), event("v1", at=AT + 500), event("v2", at=AT + 500))
    assert [[one.pod.name for one in each.victims] for each in both] == [["v1", "v2"]]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ({"message": "Pod is evicted, because of reclaim"}, ("Evict", "reclaim", 1_767_225_600_000)),
        ({"message": "containers with unready status: [main]", "reason": "ContainersNotReady"}, ("", "", None)),
        ({"message": "somebody else's"}, ("", "", None)),
    ],
)
def test_its_condition_on_a_victim_is_read(condition: dict[str, str], told: tuple[Any, ...]) -> None:
    """Ready is everybody's: only its own words tell that it was Volcano."""
    ready = {"type": "Ready", "status": "False", "reason": "Evict", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    found = decode_pod({"metadata": {"name": "v"}, "status": {"conditions": [ready | condition]}})
    assert (found.disruption, found.disruption_message, found.disrupted_ms) == told


def test_who_it_was_for_is_never_told_nor_guessed() -> None:
    """Not even where one pod is nominated to the node just then: reclaiming goes by no priority."""
    waiting = ask("ask", queue="a", priority=9, nominated_node="n1")
    (found,) = seen(going("v1"), waiting, event("v1"))
    assert (found.ask, found.ask_inferred, found.nominated) == (None, False, ())


def test_a_pod_that_was_not_seen_is_known_by_its_name() -> None:
    """On which node it was, the Event does not say."""
    (found,) = seen(event("v1"))
    assert [(one.pod.name, one.known, one.why) for one in found.victims] == [("v1", False, "reclaim")]
    assert found.node == ""


@pytest.mark.parametrize(
    ("why", "reason", "word", "said", "told"),
    [
        (
            "preempt",
            "volcano-preempt",
            "for a job in its queue",
            "Volcano preempted 2 pods for a job of the same queue. Volcano does not record for which job.",
            "Volcano preempted v1 for a job of the same queue. Volcano does not record for which job.",
        ),
        (
            "reclaim",
            "volcano-reclaim",
            "reclaimed for another queue",
            "Volcano reclaimed 2 pods for a job of another queue. Volcano does not record for which job.",
            "Volcano reclaimed v1 for a job of another queue. Volcano does not record for which job.",
        ),
        (
            "shuffle",
            "volcano-shuffle",
            "volcano-shuffle",
            "Volcano evicted 2 pods and gave this reason: shuffle.",
            "Volcano evicted v1 and gave this reason: shuffle.",
        ),
    ],
)
def test_each_action_reads_a_sentence_of_its_own(why: str, reason: str, word: str, said: str, told: str) -> None:
    """What is no preemption is not said to make room for anybody."""
    (found,) = seen(going("v1"), going("v2"), event("v1", why), event("v2", why))
    assert observed_reason(found) == reason
    assert word in text(label(reason))
    assert text(observed_sentence(found, by="Volcano")) == said
    assert text(observed_victim(found, "uid-v1", by="Volcano")) == told


def test_what_it_did_is_judged_by_its_own_rules_alone() -> None:
    """The guarantees of the tree here are none of its own."""
    (found,) = seen(going("v1"), event("v1"))
    assert found.victims[0].flags == ()


def test_it_is_not_decided_again_and_that_is_said() -> None:
    """The rules of its other actions are not built in; and how it is set may not be known."""
    told = {}
    for why in ("preempt", "reclaim"):
        before = state(going("v1"), event("v1", why))
        (found,) = replay_observed(observe(before, TREE, now_ms=NOW), before, lambda _ms: TREE).decisions
        assert found.hindsight is None
        told[why] = text(replay_lines(found)[0])
    assert "are not built in" in told["preempt"]
    assert "was not observed" in told["reclaim"]


def written(message: str = "Pod is evicted, because of reclaim", **fields: Any) -> bytes:
    """An Event as the API server serves one of Volcano's: its recorder writes core/v1, without ``eventTime``."""
    wire = {
        "metadata": {"name": "v.1", "namespace": "ns", "uid": "e", "annotations": {}},
        "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "v", "uid": "uid-v", "apiVersion": "v1"},
        "reason": "Evict",
        "type": "Warning",
        "message": message,
        "source": {"component": "volcano"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
        "eventTime": None,
    }
    return msgspec.json.encode(wire | fields)


@pytest.mark.parametrize("why", ["preempt", "reclaim", "gangreclaim", "shuffle", "tdm plugin"])
def test_its_event_on_a_victim_is_read(why: str) -> None:
    """With its last word, and no more."""
    assert PREEMPTED_BY_VOLCANO_READER.from_bytes(written(f"Pod is evicted, because of {why}")) == Preempted(
        uid="uid-v", namespace="ns", name="v", at_ms=1_767_225_600_000, why=why
    )


@pytest.mark.parametrize(
    "message",
    [
        "Evict pod : ",
        "The node was low on resource: memory.",
        "Pod is evicted, because of ",
        f"Pod is evicted, because of {'w' * 31}",
        "Pod is evicted, because of <b>",
    ],
)
def test_what_others_say_under_the_same_reason_is_passed_over(message: str) -> None:
    """Anybody may write an Event."""
    assert PREEMPTED_BY_VOLCANO_READER.from_bytes(written(message)) is None


def test_an_event_on_something_else_is_passed_over() -> None:
    """Volcano writes one on the PodGroup, too: for each pod, and without its name."""
    assert (
        PREEMPTED_BY_VOLCANO_READER.from_bytes(written(involvedObject={"kind": "PodGroup", "uid": "u", "name": "g"}))
        is None
    )


@pytest.mark.parametrize("fields", [{"involvedObject": {"kind": "Pod"}}, {"firstTimestamp": None}])
def test_an_event_that_does_not_say_who_or_when_is_odd(fields: dict[str, Any]) -> None:
    """Skipped and told, as every object that can't be read."""
    with pytest.raises(DecodeError):
        PREEMPTED_BY_VOLCANO_READER.from_bytes(written(**fields))
