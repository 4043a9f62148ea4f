"""Reservations, Events and conditions on a cluster."""

import threading
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from engine.cluster.acting.actuator import Actuator
from engine.cluster.acting.outcomes import OperationOutcome, PodRef, ReservationMethod, ReservationTerms, SweepResult
from engine.cluster.acting.pod_events import COMPONENT, PREEMPTED
from engine.cluster.acting.reservation import RESERVED_BY, RESERVED_UNTIL
from engine.cluster.connecting.connection import Connection
from engine.cluster.timing import Clock
from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.formats.kubernetes.decode import decode_node, decode_pod
from engine.model.objects import Node, Pod, Taint
from tests.builders import refused
from tests.cluster.doubles import scripted
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import PATIENCE_S

TERMS = ReservationTerms(until_ms=1_767_268_800_000, decision="https://site/decisions/7/")
FOREIGN = {"key": "team", "value": "a", "effect": "NoExecute"}


@pytest.fixture
def actuator(cluster: AnyCluster, connection: Connection) -> Actuator:
    """Return an actuator on a cluster of one node with a taint of somebody else's."""
    cluster.add_node(taints=[FOREIGN])
    return Actuator(connection)


def ask(cluster: AnyCluster, name: str = "ask", **spec: object) -> Pod:
    return decode_pod(cluster.add_pod(name, **spec))


def taints(cluster: AnyCluster) -> list[dict[str, str]]:
    return cluster.get("nodes", "n1")["spec"].get("taints", [])


def ours(pod: PodRef) -> dict[str, str]:
    return {"key": RESERVED_TAINT_KEY, "value": pod.uid, "effect": "NoSchedule"}


def test_a_reserved_node_takes_the_ask_and_no_other(cluster: AnyCluster, actuator: Actuator):
    """Taint, toleration and nomination are there; other taints and tolerations stay; a repeat changes nothing."""
    pod = ask(cluster, tolerations=[{"key": "team", "operator": "Exists"}])
    assert actuator.reserve("n1", pod, TERMS).done
    assert taints(cluster) == [FOREIGN, ours(pod)]
    stored, node = cluster.get("pods", "ask"), cluster.get("nodes", "n1")
    assert stored["status"]["nominatedNodeName"] == "n1"
    assert {"key": "team", "operator": "Exists"} in stored["spec"]["tolerations"]
    assert refused(decode_pod(stored), decode_node(node)) is None
    other = ask(cluster, "other", tolerations=[{"key": "team", "operator": "Exists"}])
    assert refused(other, decode_node(node)).detail == f"{RESERVED_TAINT_KEY}:NoSchedule"
    assert actuator.reserve("n1", pod, TERMS).done
    assert cluster.get("pods", "ask") == stored
    assert cluster.get("nodes", "n1") == node


def test_a_reservation_writes_in_the_order_that_keeps_the_room(cluster: AnyCluster, actuator: Actuator):
    """The taint comes first: with the toleration first, somebody else could take the node in between."""
    actuator.reserve("n1", ask(cluster), TERMS)
    written = [(one.verb, one.resource, one.subresource) for one in cluster.audit if one.verb == "patch"]
    assert written == [("patch", "nodes", ""), ("patch", "pods", ""), ("patch", "pods", "status")]


def test_a_pod_that_waits_on_loses_its_nomination_with_the_reservation(cluster: AnyCluster, actuator: Actuator):
    """Else the scheduler would keep pods of its priority and below out for it. It loses no other nomination."""
    pod, away, gone = ask(cluster), ask(cluster, "away"), ask(cluster, "gone")
    cluster.change("pods", "away", lambda found: found["status"].update(nominatedNodeName="n2"))
    cluster.delete("pods", "gone", gracePeriodSeconds=0)
    assert actuator.reserve("n1", pod, TERMS).done
    assert actuator.release("n1", pod.uid, waiting=[pod, away, gone]).done
    assert [cluster.get("pods", name)["status"].get("nominatedNodeName") for name in ("ask", "away")] == [None, "n2"]
    assert taints(cluster) == [FOREIGN]


def test_pods_of_lower_priority_lose_their_nomination_to_the_node(cluster: AnyCluster, actuator: Actuator):
    """They look for another one; who ranks as high, or is nominated elsewhere, keeps it."""
    for name, value in (("high", 10), ("low", 9)):
        cluster.create("priorityclasses.scheduling.k8s.io", {"metadata": {"name": name}, "value": value})
    pod = ask(cluster, priorityClassName="high")
    for name, rank, node in (("under", "low", "n1"), ("equal", "high", "n1"), ("away", "low", "n2")):
        ask(cluster, name, priorityClassName=rank)
        cluster.change("pods", name, lambda found, node=node: found["status"].update(nominatedNodeName=node))
    assert actuator.reserve("n1", pod, TERMS).done
    told = {one["metadata"]["name"]: one["status"].get("nominatedNodeName") for one in cluster.list("pods")}
    assert told == {"ask": "n1", "under": None, "equal": "n1", "away": "n2"}


def test_a_node_is_kept_for_one_ask(cluster: AnyCluster, actuator: Actuator):
    """A second ask finds the node taken, and the first keeps it."""
    first, second = ask(cluster, "first"), ask(cluster, "second")
    assert actuator.reserve("n1", first, TERMS).done
    assert actuator.reserve("n1", second, TERMS).outcome is OperationOutcome.TAKEN
    assert ours(first) in taints(cluster)


def test_an_ask_that_does_not_wait_leaves_nothing_behind(cluster: AnyCluster, actuator: Actuator):
    """An ask that is gone, replaced under its name, or bound already gets no room, and the taint is taken off."""
    bound = ask(cluster, "bound", node="n1", tolerations=[{"key": "team", "operator": "Exists"}])
    renamed = SimpleNamespace(uid="another", namespace=cluster.namespace, name="bound")
    missing = SimpleNamespace(uid="u", namespace=cluster.namespace, name="missing")
    got = [actuator.reserve("n1", pod, TERMS).outcome for pod in (bound, renamed, missing)]
    assert got == [OperationOutcome.BOUND, OperationOutcome.GONE, OperationOutcome.GONE]
    assert actuator.reserve("n9", bound, TERMS).outcome is OperationOutcome.GONE
    assert taints(cluster) == [FOREIGN]


def test_a_release_takes_off_our_taint_alone(cluster: AnyCluster, actuator: Actuator):
    """Other taints stay; releasing again, or on a node that is gone, or for another ask, is done already."""
    pod = ask(cluster)
    actuator.reserve("n1", pod, TERMS)
    assert actuator.release("n1", "somebody").done
    assert ours(pod) in taints(cluster)
    assert [actuator.release("n1", pod.uid).done, actuator.release("n1", pod.uid).done] == [True, True]
    assert taints(cluster) == [FOREIGN]
    assert actuator.release("n9", pod.uid).done


def test_a_sweep_takes_off_what_no_open_decision_owns(cluster: AnyCluster, actuator: Actuator):
    """After a crash the next pass frees the nodes of closed decisions and keeps those of open ones."""
    cluster.add_node("n2")
    kept, closed = ask(cluster, "kept"), ask(cluster, "closed")
    actuator.reserve("n1", kept, TERMS)
    actuator.reserve("n2", closed, TERMS)
    assert actuator.sweep({kept.uid}) == SweepResult(freed=("n2",))
    assert taints(cluster) == [FOREIGN, ours(kept)]
    assert not cluster.get("nodes", "n2")["spec"].get("taints")
    assert actuator.sweep({kept.uid}) == SweepResult()


def test_a_sweep_spares_what_was_forgotten_until_its_time(cluster: AnyCluster, connection: Connection):
    """As after a backup was restored; only the asks that are named so, and no longer than the node says."""
    cluster.add_node(taints=[FOREIGN])
    cluster.add_node("n2")
    forgotten, closed = ask(cluster, "forgotten"), ask(cluster, "closed")
    clock = Clock()
    actuator = Actuator(connection, clock=clock)
    until = clock.wall_ms() + 60_000
    actuator.reserve("n1", forgotten, ReservationTerms(until_ms=until, decision="http://here"))
    actuator.reserve("n2", closed, ReservationTerms(until_ms=until, decision="http://here"))
    asked = []

    def told(uids):
        asked.append(set(uids))
        return uids & {forgotten.uid}

    swept = actuator.sweep((), forgotten=told)
    assert asked == [{forgotten.uid, closed.uid}]
    assert swept.freed == ("n2",)
    assert "n1" in swept.sentence
    assert taints(cluster) == [FOREIGN, ours(forgotten)]
    clock.wall_ms = lambda: until + 1
    assert actuator.sweep((), forgotten=told) == SweepResult(freed=("n1",))
    assert taints(cluster) == [FOREIGN]


def test_a_sweep_asks_only_for_the_nodes_that_need_it(cluster: AnyCluster, connection: Connection):
    """With the nodes known from the watch, an idle sweep sends nothing."""
    node = Node(name="n1", taints=(Taint(RESERVED_TAINT_KEY, "u1", "NoSchedule"),))
    assert Actuator(connection, nodes=lambda: (node,)).sweep({"u1"}) == SweepResult()
    assert cluster.audit == []


def test_a_change_by_others_in_between_is_kept(cluster: AnyCluster, actuator: Actuator, connection: Connection):
    """A taint that another sets at the same time is not lost: the write is a compare-and-swap, tried again."""
    pod, late = ask(cluster), {"key": "late", "value": "x", "effect": "NoSchedule"}
    request, meddled = connection.request, threading.Event()

    def meddling(method, path, **more):
        if method == "PATCH" and not meddled.is_set():
            meddled.set()
            cluster.change("nodes", "n1", lambda node: node["spec"]["taints"].append(late))
        return request(method, path, **more)

    connection.request = meddling
    assert actuator.reserve("n1", pod, TERMS).done
    assert taints(cluster) == [FOREIGN, late, ours(pod)]


def test_two_engines_that_reserve_at_once_agree(cluster: AnyCluster, actuator: Actuator):
    """Of two asks for one node at the same moment, exactly one gets it."""
    asks, outcomes = [ask(cluster, f"ask-{number}") for number in range(4)], {}

    def reserve(pod: Pod) -> None:
        outcomes[pod.uid] = Actuator(cluster.connection()).reserve("n1", pod, TERMS).outcome

    threads = [threading.Thread(target=reserve, args=(pod,)) for pod in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(outcomes.values()) == [
        OperationOutcome.DONE,
        OperationOutcome.TAKEN,
        OperationOutcome.TAKEN,
        OperationOutcome.TAKEN,
    ]


@pytest.mark.parametrize(
    ("code", "want"),
    [
        (403, OperationOutcome.REFUSED),
        (409, OperationOutcome.RETRY),
        (429, OperationOutcome.RETRY),
        (503, OperationOutcome.RETRY),
    ],
)
def test_no_answer_makes_an_operation_raise(code, want):
    """Every failure is a result with a sentence, also where the compare-and-swap never succeeds."""
    with scripted(lambda asked, answer: answer.status(code, "", "no", headers={"Retry-After": "2"})) as server:
        actuator = Actuator(server.connection())
        pod = SimpleNamespace(uid="u", namespace="a", name="p")
        results = [actuator.reserve("n1", pod, TERMS), actuator.release("n1", "u"), actuator.event(pod, "R", "m")]
        assert actuator.sweep(()).sentence == "no"
    assert [(one.outcome, one.sentence, one.retry_after_s) for one in results] == [(want, "no", 2.0)] * 3


def test_an_answer_that_is_no_object_is_a_result_too():
    """A proxy that answers 200 with a page does not crash a pass."""
    with scripted(lambda asked, answer: answer.json(200, b"<html>")) as server:
        actuator = Actuator(server.connection())
        assert actuator.release("n1", "u").outcome is OperationOutcome.RETRY
        assert not actuator.sweep(()).done


def test_equal_events_count_up(cluster: AnyCluster, actuator: Actuator):
    """The same thing said three times is one Event with a count of three; another message is another Event."""
    pod = ask(cluster)
    for _ in range(3):
        assert actuator.event(pod, "Preempting", "waits for room").done
    assert actuator.event(pod, "Preempting", "waits for 2 pods", "Warning").done
    stored = [one for one in cluster.list("events") if one["source"].get("component") == COMPONENT]
    told = sorted((one["message"], one["count"], one["type"]) for one in stored)
    assert told == [("waits for 2 pods", 1, "Warning"), ("waits for room", 3, "Normal")]
    assert {one["involvedObject"]["uid"] for one in stored} == {pod.uid}


def test_nothing_is_ever_deleted(cluster: AnyCluster, actuator: Actuator):
    """Everything that acting takes is get, list, patch and create: no delete on anything."""
    pod = ask(cluster)
    actuator.reserve("n1", pod, TERMS)
    actuator.event(pod, "R", "m")
    actuator.event(pod, "R", "m")
    actuator.evict(pod)
    actuator.sweep(())
    assert {record.verb for record in cluster.audit} == {"get", "list", "patch", "create"}


def annotations(cluster: AnyCluster) -> dict[str, str]:
    """But for those that Kubernetes' own controllers write."""
    found = cluster.get("nodes", "n1")["metadata"].get("annotations", {})
    return {key: value for key, value in found.items() if "kubernetes.io/" not in key}


def test_a_kept_node_says_for_which_decision_and_until_when(cluster: AnyCluster, actuator: Actuator):
    """Whoever looks at the node reads both; they go with the taint, and others' annotations stay."""
    cluster.change("nodes", "n1", lambda node: node["metadata"].update(annotations={"team": "a"}))
    pod = ask(cluster)
    actuator.reserve("n1", pod, TERMS)
    told = {RESERVED_BY: "https://site/decisions/7/", RESERVED_UNTIL: "2026-01-01T12:00:00Z"}
    assert annotations(cluster) == {"team": "a", **told}
    actuator.release("n1", pod.uid)
    assert annotations(cluster) == {"team": "a"}


def test_a_node_that_is_kept_for_longer_says_so(cluster: AnyCluster, actuator: Actuator):
    """A victim was held back: the same reservation, until later."""
    pod = ask(cluster)
    actuator.reserve("n1", pod, TERMS)
    later = ReservationTerms(until_ms=TERMS.until_ms + 60_000, decision=TERMS.decision)
    assert actuator.reserve("n1", pod, later).done
    assert annotations(cluster)[RESERVED_UNTIL] == "2026-01-01T12:01:00Z"
    assert taints(cluster) == [FOREIGN, ours(pod)]


@pytest.mark.parametrize(("kept_by", "nominated"), [(ReservationMethod.NOMINATE, "n1"), (ReservationMethod.NONE, None)])
def test_room_may_be_held_by_less(
    kept_by: ReservationMethod, nominated: str | None, cluster: AnyCluster, actuator: Actuator
):
    """Where nodes may not be tainted: a nomination alone, or nothing; an ask that no longer waits is found out."""
    pod, bound = ask(cluster), ask(cluster, "bound", node="n1", tolerations=[{"key": "team", "operator": "Exists"}])
    terms = ReservationTerms(kept_by=kept_by, until_ms=0, decision="d")
    assert actuator.reserve("n1", pod, terms).done
    assert taints(cluster) == [FOREIGN]
    stored = cluster.get("pods", "ask")
    assert stored.get("status", {}).get("nominatedNodeName") == nominated
    assert ours(pod)["key"] not in str(stored["spec"].get("tolerations"))
    assert actuator.reserve("n1", bound, terms).outcome is OperationOutcome.BOUND


def test_a_thorough_sweep_finds_what_the_watch_does_not_show_yet(cluster: AnyCluster, connection: Connection):
    """Nodes as last seen have no taint of ours, the API server's have: it is asked, and freed."""
    cluster.add_node()
    behind = Actuator(connection, nodes=lambda: (Node(name="n1"),))
    behind.reserve("n1", ask(cluster), TERMS)
    assert behind.sweep(()) == SweepResult()
    assert behind.sweep((), thorough=True) == SweepResult(freed=("n1",))
    assert not taints(cluster)


@pytest.mark.parametrize("point", ["tainted", "tolerated", "nominated"])
def test_a_reservation_that_was_cut_off_is_completed_by_a_repeat(
    point: str, cluster: AnyCluster, connection: Connection
):
    """After a crash between any two of its writes it is done again, and nothing stands twice."""
    cluster.add_node()

    def crash(reached: str) -> None:
        if reached == point:
            raise KeyboardInterrupt

    pod = ask(cluster)
    with pytest.raises(KeyboardInterrupt):
        Actuator(connection, reached=crash).reserve("n1", pod, TERMS)
    assert Actuator(connection).reserve("n1", pod, TERMS).done
    stored = cluster.get("pods", "ask")
    assert taints(cluster) == [ours(pod)]
    assert [one["key"] for one in stored["spec"]["tolerations"]].count(RESERVED_TAINT_KEY) == 1
    assert stored["status"]["nominatedNodeName"] == "n1"


def conditions(cluster: AnyCluster, name: str) -> list[tuple[str, str]]:
    return [(one["type"], one["reason"]) for one in cluster.get("pods", name)["status"]["conditions"]]


def test_a_victim_has_a_condition_of_ours_beside_those_of_others(cluster: AnyCluster, actuator: Actuator):
    """Set once; the API server's own and the kubelet's stay; a pod that took the name is untouched."""
    pod = ask(cluster, "victim")
    since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # a DisruptionTarget that is long over is taken back
    others = [
        {"type": "Ready", "status": "True", "reason": "R"},
        {"type": "DisruptionTarget", "status": "True", "reason": "E", "lastTransitionTime": since},
    ]
    cluster.change("pods", "victim", lambda one: one["status"].update(conditions=others))
    assert actuator.mark(pod, "OverGuarantee", "why").done
    assert sorted(conditions(cluster, "victim")) == [
        ("DisruptionTarget", "E"),
        ("Ready", "R"),
        (PREEMPTED, "OverGuarantee"),
    ]
    written = len([one for one in cluster.audit if one.verb == "patch"])
    assert actuator.mark(pod, "OverGuarantee", "why").done
    assert len([one for one in cluster.audit if one.verb == "patch"]) == written
    again = SimpleNamespace(uid="another", namespace=cluster.namespace, name="victim")
    assert actuator.mark(again, "OverGuarantee", "why").outcome is OperationOutcome.GONE
    missing = SimpleNamespace(uid="u", namespace=cluster.namespace, name="no")
    assert actuator.mark(missing, "R", "m").outcome is OperationOutcome.GONE
