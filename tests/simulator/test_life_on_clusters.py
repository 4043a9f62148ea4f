"""What lives in a cluster, the same on the real control plane: scheduling, preemption, recreating; no times."""

from typing import Any

from tests.controlplane.anycluster import AnyCluster
from tests.waiting import wait_for

CLASSES = "priorityclasses.scheduling.k8s.io"
STAYS = {"simulator.scheduler-admin.io/exits-after": "3s"}


def ask(cluster: AnyCluster, name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """A pod for kube-scheduler that takes three seconds to end."""
    container = {"name": "main", "image": "image:1", "resources": {"requests": {"cpu": cpu}}}
    return cluster.add_pod(name, annotations=STAYS, schedulerName="default-scheduler", containers=[container], **spec)


def condition(cluster: AnyCluster, name: str, type_: str) -> dict[str, Any]:
    """A condition of a pod, empty where it has none."""
    found = cluster.get("pods", name)["status"].get("conditions", [])
    return next((one for one in found if one["type"] == type_), {})


def node_of(cluster: AnyCluster, name: str) -> str | None:
    """Where a pod is bound."""
    return cluster.get("pods", name)["spec"].get("nodeName")


def test_a_pod_is_bound_where_it_fits_and_runs(cluster: AnyCluster) -> None:
    cluster.add_node("small", cpu="1")
    cluster.add_node("large", cpu="8")
    ask(cluster, "a", cpu="4")
    assert cluster.running("a")["spec"]["nodeName"] == "large"
    assert condition(cluster, "a", "PodScheduled")["status"] == "True"


def test_a_pod_that_fits_nowhere_says_why(cluster: AnyCluster) -> None:
    cluster.add_node(cpu="1")
    cluster.add_node("tainted", cpu="8", taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}])
    ask(cluster, "a", cpu="4")
    told = wait_for(lambda: condition(cluster, "a", "PodScheduled"), "it was tried")
    assert (told["status"], told["reason"]) == ("False", "Unschedulable")
    assert told["message"].startswith("0/2 nodes are available: ")
    assert "1 Insufficient cpu" in told["message"]
    assert "1 node(s) had untolerated taint" in told["message"]


def test_a_preemption_leaves_its_signs(cluster: AnyCluster) -> None:
    """The nomination, the condition and the Event by which others see it; then the room is the preemptor's."""
    cluster.add_node(cpu="2")
    cluster.create(CLASSES, {"metadata": {"name": "high"}, "value": 1000})
    for name in ("low", "other"):
        ask(cluster, name)
        cluster.running(name)
    uid = ask(cluster, "high", cpu="2", priorityClassName="high")["metadata"]["uid"]
    wait_for(lambda: cluster.get("pods", "high")["status"].get("nominatedNodeName") == "n1", "the nomination")
    for name in ("low", "other"):
        wait_for(lambda name=name: "deletionTimestamp" in cluster.get("pods", name)["metadata"], "a victim goes")
        assert condition(cluster, name, "DisruptionTarget")["reason"] == "PreemptionByScheduler"
    wait_for(lambda: len(preempted(cluster)) == 2, "the Events")
    assert {event["involvedObject"]["name"] for event in preempted(cluster)} == {"low", "other"}
    assert {event["message"] for event in preempted(cluster)} == {f"Preempted by pod {uid} on node n1"}
    wait_for(lambda: node_of(cluster, "high") == "n1", "it has the room")
    assert not cluster.get("pods", "high")["status"].get("nominatedNodeName")


def preempted(cluster: AnyCluster) -> list[dict[str, Any]]:
    """The Events of preemptions."""
    return [event for event in cluster.list("events") if event["reason"] == "Preempted"]


def test_who_never_preempts_waits(cluster: AnyCluster) -> None:
    """A class with preemptionPolicy Never is higher and takes nothing."""
    cluster.add_node(cpu="1")
    cluster.create(CLASSES, {"metadata": {"name": "polite"}, "value": 1000, "preemptionPolicy": "Never"})
    ask(cluster, "low")
    cluster.running("low")
    ask(cluster, "polite", priorityClassName="polite")
    wait_for(lambda: condition(cluster, "polite", "PodScheduled").get("reason") == "Unschedulable", "it was tried")
    assert "deletionTimestamp" not in cluster.get("pods", "low")["metadata"]


def test_a_replica_set_recreates_what_was_evicted(cluster: AnyCluster) -> None:
    """While the evicted pod still ends, another one is there; it is owned, and counted as ready when it runs."""
    cluster.add_node()
    spec = {"containers": [{"name": "main", "image": "image:1"}]}
    template = {"metadata": {"labels": {"app": "web"}, "annotations": STAYS}, "spec": spec}
    selector = {"matchLabels": {"app": "web"}}
    cluster.create(
        "replicasets.apps",
        {"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector": selector, "template": template}},
    )

    def ready() -> int:
        return int(cluster.get("replicasets.apps", "web")["status"].get("readyReplicas", 0))

    wait_for(lambda: ready() == 2, "both run")
    first = cluster.list("pods")[0]["metadata"]
    assert first["ownerReferences"][0]["kind"] == "ReplicaSet"
    place = {"name": first["name"], "namespace": cluster.namespace}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": place}
    cluster.send("POST", f"/api/v1/namespaces/{cluster.namespace}/pods/{first['name']}/eviction", eviction)
    wait_for(lambda: len(cluster.list("pods")) == 3, "another one is there while the first ends")
    wait_for(
        lambda: first["name"] not in {one["metadata"]["name"] for one in cluster.list("pods")}, "the first is gone"
    )
    wait_for(lambda: ready() == 2, "two run again")
