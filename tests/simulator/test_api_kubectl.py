"""Plain kubectl against the simulator."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from kubernetes import client
from simulated_api import pod

from simulator.controllers.kubelet import EXITS_AFTER
from tests.controlplane.anycluster import KINDS, AnyCluster
from tests.waiting import wait_for

Kubectl = Callable[..., subprocess.CompletedProcess[str]]

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-1"},
    "status": {
        "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
            }
        ],
    },
}


def widget(size: int) -> dict[str, Any]:
    """Return a custom resource."""
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": size}}


def served(cluster: AnyCluster) -> bool:
    """Whether the API server has come to serve widgets: a moment after their definition is established."""
    return bool(wait_for(lambda: cluster.raw("GET", "/apis/example.com/v1/widgets")[0] == 200, "widgets are served"))


def lines(done: subprocess.CompletedProcess[str]) -> list[list[str]]:
    """Return the words of each line that was printed."""
    return [line.split() for line in done.stdout.splitlines()]


def test_apply_creates_changes_and_leaves_unchanged(kubectl: Kubectl) -> None:
    """kubectl apply creates, configures what differs, and says unchanged when nothing does."""
    manifest = pod("a")
    assert kubectl("apply", "-f", "-", stdin=json.dumps(manifest)).stdout == "pod/a created\n"
    assert kubectl("apply", "-f", "-", stdin=json.dumps(manifest)).stdout == "pod/a unchanged\n"
    manifest["metadata"]["labels"] = {"tier": "back"}
    assert kubectl("apply", "-f", "-", stdin=json.dumps(manifest)).stdout == "pod/a configured\n"
    assert kubectl("get", "pod", "a", "-o", "jsonpath={.metadata.labels}").stdout == '{"tier":"back"}'


def test_server_side_apply(kubectl: Kubectl, core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """kubectl apply --server-side creates an object and merges into one that exists."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(manifest))
    core.patch_namespaced_config_map("c", cluster.namespace, {"data": {"b": "2"}})
    kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps({**manifest, "data": {"a": "3"}}))
    assert core.read_namespaced_config_map("c", cluster.namespace).data == {"a": "3", "b": "2"}


def test_create_reads_yaml_and_refuses_a_second_time(kubectl: Kubectl) -> None:
    """kubectl create works with its validation on; a second time it reports that the object exists."""
    manifest = json.dumps(pod("a"))
    kubectl("create", "-f", "-", stdin=manifest)
    assert 'pods "a" already exists' in kubectl("create", "-f", "-", stdin=manifest, code=1).stderr


def test_pods_are_listed_as_people_expect(kubectl: Kubectl, core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """kubectl get pods shows readiness, status, restarts and, when wide, the node."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    slow = pod("b", nodeName="n1", terminationGracePeriodSeconds=3600)
    slow["metadata"]["annotations"] = {EXITS_AFTER: "1h"}
    core.create_namespaced_pod(cluster.namespace, slow)
    address = {"podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}]}
    cluster.running("b")
    cluster.change("pods", "b", lambda copy: copy["status"].update(address))
    titles, pending, running = lines(kubectl("get", "pods", "-o", "wide"))
    assert titles[:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert (pending[:4], running[:4]) == (["a", "0/1", "Pending", "0"], ["b", "1/1", "Running", "0"])
    assert running[5:7] == ["10.0.0.7", "n1"]
    kubectl("delete", "pod", "b", "--wait=false")
    assert lines(kubectl("get", "pods"))[2][2] == "Terminating"


def test_describe_shows_a_pod_with_its_events(kubectl: Kubectl, core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """kubectl describe pod finds the events about that pod and no other."""
    uid = core.create_namespaced_pod(cluster.namespace, pod("a")).metadata.uid
    for name, about in (("mine", uid), ("other", "another")):
        involved = {"kind": "Pod", "name": "a", "namespace": cluster.namespace, "uid": about}
        event = {"metadata": {"name": name}, "involvedObject": involved, "reason": "Testing", "type": "Normal"}
        core.create_namespaced_event(cluster.namespace, {**event, "message": f"event {name}"})
    shown = kubectl("describe", "pod", "a").stdout
    assert "registry.example/app:1" in shown
    assert "event mine" in shown
    assert "event other" not in shown


def test_describe_shows_what_a_node_carries(kubectl: Kubectl, cluster: AnyCluster, core: client.CoreV1Api) -> None:
    """kubectl describe node adds up the requests of the pods on it."""
    core.create_node(NODE)
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    cluster.bind("a", "node-1")
    shown = kubectl("describe", "node", "node-1").stdout
    assert "cpu                100m (2%)" in shown
    assert lines(kubectl("get", "nodes"))[1][:2] == ["node-1", "Ready"]


def test_cordon_taint_and_drain(kubectl: Kubectl, cluster: AnyCluster, core: client.CoreV1Api) -> None:
    """kubectl cordons and taints a node, and drains it through evictions."""
    core.create_node(NODE)
    kubectl("cordon", "node-1")
    assert lines(kubectl("get", "nodes"))[1][1] == "Ready,SchedulingDisabled"
    kubectl("taint", "node", "node-1", "a=b:NoSchedule", "c=d:NoExecute")
    kubectl("taint", "node", "node-1", "a-")
    found = core.read_node("node-1").spec.taints
    assert [(item.key, item.value, item.effect) for item in found] == [("c", "d", "NoExecute")]
    core.create_namespaced_pod(cluster.namespace, pod("a", terminationGracePeriodSeconds=1))
    cluster.bind("a", "node-1")
    cluster.running("a")
    kubectl("drain", "node-1", "--force")
    assert core.list_namespaced_pod(cluster.namespace).items == []
    assert any((record.subresource, record.name) == ("eviction", "a") for record in cluster.audit)


def test_delete_waits_until_the_object_is_gone(kubectl: Kubectl, core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """kubectl delete returns when the object is gone; a namespace takes its contents along."""
    name = cluster.namespace
    core.create_namespaced_pod(name, pod("a"))
    assert kubectl("delete", "namespace", name).stdout == f'namespace "{name}" deleted\n'
    assert kubectl("get", "namespace", name, code=1).stderr.startswith("Error from server (NotFound)")
    assert core.list_pod_for_all_namespaces().items == []


def test_custom_resources_come_with_their_definition(kubectl: Kubectl, cluster: AnyCluster) -> None:
    """A definition serves its kind: apply, columns, short names; when it is deleted so are its objects."""
    kubectl("apply", "-f", "-", stdin=json.dumps(DEFINITION))
    kubectl("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=120s")
    assert served(cluster)
    assert kubectl("apply", "-f", "-", stdin=json.dumps(widget(3))).stdout.endswith("created\n")
    assert kubectl("apply", "-f", "-", stdin=json.dumps(widget(3))).stdout.endswith("unchanged\n")
    assert kubectl("apply", "-f", "-", stdin=json.dumps(widget(4))).stdout.endswith("configured\n")
    assert [row[:2] for row in lines(kubectl("get", "wd"))] == [["NAME", "SIZE"], ["w", "4"]]
    kubectl("delete", "crd", "widgets.example.com")
    kubectl("get", "widgets", code=1)


def test_custom_resource_through_the_client(cluster: AnyCluster) -> None:
    """The official client reads and writes custom resources, their status apart; a blind replacement is refused."""
    client.ApiextensionsV1Api(cluster.api()).create_custom_resource_definition(DEFINITION)
    assert served(cluster)
    custom = client.CustomObjectsApi(cluster.api())
    place = ("example.com", "v1", cluster.namespace, "widgets")
    custom.create_namespaced_custom_object(*place, {**widget(1), "status": {"made": "up"}})
    custom.patch_namespaced_custom_object_status(
        *place, "w", {"status": {"phase": "Done"}}, _content_type="application/merge-patch+json"
    )
    found: Any = custom.get_namespaced_custom_object(*place, "w")
    assert (found["status"], found["spec"]) == ({"phase": "Done"}, {"size": 1})
    with pytest.raises(client.ApiException, match="must be specified for an update"):
        custom.replace_namespaced_custom_object(*place, "w", widget(2))
    found["spec"]["size"] = 5
    replaced: Any = custom.replace_namespaced_custom_object(*place, "w", found)
    assert (replaced["spec"]["size"], replaced["metadata"]["generation"]) == (5, 2)


@pytest.mark.parametrize(
    ("arguments", "made", "wanted"),
    [
        (("namespace", "n"), ("namespaces", "n"), {"status": {"phase": "Active"}}),
        (("priorityclass", "p", "--value=-7"), ("priorityclasses.scheduling.k8s.io", "p"), {"value": -7}),
        (("configmap", "c", "--from-literal=a=b"), ("configmaps", "c"), {"data": {"a": "b"}}),
        (
            ("secret", "generic", "s", "--from-literal=a=b"),
            ("secrets", "s"),
            {"data": {"a": "Yg=="}},
        ),
        (
            ("quota", "q", "--hard=pods=3,requests.cpu=1500m"),
            ("resourcequotas", "q"),
            {"spec": {"hard": {"pods": "3", "requests.cpu": "1500m"}}},
        ),
        (
            ("pdb", "b", "--selector=app=web", "--min-available=50%"),
            ("poddisruptionbudgets.policy", "b"),
            {"spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}}},
        ),
    ],
)
def test_generators_send_protobuf(
    kubectl: Kubectl,
    cluster: AnyCluster,
    arguments: tuple[str, ...],
    made: tuple[str, str],
    wanted: dict[str, Any],
) -> None:
    """kubectl create with a generator, which speaks protobuf, makes the object that it describes."""
    kubectl("create", *arguments)
    found = cluster.get(*made)
    assert {field: found[field] for field in wanted} == wanted


def test_job_generator(kubectl: Kubectl, cluster: AnyCluster) -> None:
    """kubectl create job makes a job whose pods are selected by the job's own UID."""
    kubectl("create", "job", "j", "--image=registry.example/app:1", "--", "sleep", "1")
    found = cluster.get("jobs.batch", "j")
    container = found["spec"]["template"]["spec"]["containers"][0]
    assert (container["name"], container["command"]) == ("j", ["sleep", "1"])
    assert found["spec"]["selector"] == {
        "matchLabels": {"batch.kubernetes.io/controller-uid": found["metadata"]["uid"]}
    }
    assert lines(kubectl("get", "jobs"))[1][:3] == ["j", "Running", "0/1"]


def test_kubectl_asks_what_it_may(kubectl: Kubectl) -> None:
    """kubectl auth can-i answers yes."""
    assert kubectl("auth", "can-i", "delete", "pods").stdout == "yes\n"
    assert "admin" in kubectl("auth", "whoami").stdout


@pytest.mark.parametrize(
    "resource",
    ["events", "jobs", "replicasets", "pdb", "priorityclasses", "namespaces", "leases", "quota", "sa", "cm", "secrets",
     "crd", "nodes"],
)  # fmt: skip
def test_every_kind_prints_what_it_holds(kubectl: Kubectl, cluster: AnyCluster, resource: str) -> None:
    """kubectl get of every built-in kind prints a row for an object with only the fields that it must have."""
    kinds = {"pdb": "poddisruptionbudgets", "quota": "resourcequotas", "sa": "serviceaccounts", "cm": "configmaps",
             "crd": "customresourcedefinitions"}  # fmt: skip
    plural = kinds.get(resource, resource)
    key = next(kind.key for kind in KINDS if kind.plural == plural and not kind.stored_as)
    name = "widgets.example.com" if resource == "crd" else "x"
    labels, spec = {"a": "b"}, {**pod("x")["spec"], "restartPolicy": "Never"}
    musts = {
        "crd": DEFINITION,
        "events": {"involvedObject": {"kind": "Pod", "name": name, "namespace": cluster.namespace}},
        "jobs": {"spec": {"template": {"spec": spec}}},
        "priorityclasses": {"value": 1},
        "replicasets": {
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod("x")["spec"]},
            }
        },
    }
    cluster.create(key, {**musts.get(resource, {}), "metadata": {"name": name}})
    assert any(name in " ".join(row) for row in lines(kubectl("get", resource))[1:])


def test_watching_pods_prints_changes(kubectl: Kubectl, core: client.CoreV1Api, cluster: AnyCluster) -> None:
    """kubectl get --watch prints the rows that it finds."""
    core.create_namespaced_pod(cluster.namespace, pod("a"))
    rows = lines(kubectl("get", "pods", "--watch", until="a "))
    assert [row[0] for row in rows] == ["NAME", "a"]


def test_replace_by_the_same_manifest_changes_nothing(kubectl: Kubectl, cluster: AnyCluster) -> None:
    """kubectl replace with the manifest that created a pod passes: admission fills in what it did at first."""
    manifest = json.dumps(pod("a", serviceAccountName="default", automountServiceAccountToken=False))
    kubectl("create", "-f", "-", stdin=manifest)
    before = cluster.get("pods", "a")
    assert kubectl("replace", "-f", "-", stdin=manifest).stdout == "pod/a replaced\n"
    assert cluster.get("pods", "a") == before


def test_diff_shows_only_what_differs(kubectl: Kubectl) -> None:
    """kubectl diff is silent for a manifest that was applied and names the field that would change."""
    manifest = pod("a")
    kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
    assert not kubectl("diff", "-f", "-", stdin=json.dumps(manifest)).stdout
    manifest["metadata"]["labels"]["app"] = "other"
    changed = kubectl("diff", "-f", "-", stdin=json.dumps(manifest), code=1).stdout
    assert "+    app: other" in changed
    assert "annotations" not in changed
