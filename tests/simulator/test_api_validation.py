"""What an API server refuses in the fields that schedulers, budgets and quotas read, the simulator refuses as well."""

from typing import Any

import pytest

from tests.controlplane.anycluster import AnyCluster, path_of

Manifest = dict[str, Any]
EXPRESSION = {"key": "a", "operator": "Exists", "values": ["b"]}
FINE = {"name": "main", "image": "registry.example/app:1"}
AFFINITY = "requiredDuringSchedulingIgnoredDuringExecution"
LONG = "a" * 64


def pod(**spec: Any) -> Manifest:
    """A pod with one container, and whatever its specification says besides."""
    return {"metadata": {"name": "a"}, "spec": {"containers": [FINE], **spec}}


def asking(requests: Manifest | None = None, limits: Manifest | None = None) -> Manifest:
    """A pod that asks for resources."""
    return pod(containers=[{**FINE, "resources": {"requests": requests or {}, "limits": limits or {}}}])


def node(**status: Any) -> Manifest:
    """A node with a status."""
    return {"metadata": {"name": "odd"}, "status": status}


def replica_set(**spec: Any) -> Manifest:
    """A ReplicaSet of no pods, and whatever its specification says besides."""
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [FINE]}}
    selected = {"matchLabels": {"app": "a"}}
    return {"metadata": {"name": "a"}, "spec": {"replicas": 0, "selector": selected, "template": template, **spec}}


def job(**spec: Any) -> Manifest:
    """A suspended Job."""
    template = {"spec": {"restartPolicy": "Never", "containers": [FINE], **spec.pop("template", {})}}
    return {"metadata": {"name": "a"}, "spec": {"suspend": True, "template": template, **spec}}


def budget(**spec: Any) -> Manifest:
    """A budget for no pods."""
    return {"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": {"app": "nobody"}}, **spec}}


def quota(**hard: Any) -> Manifest:
    """A quota with these limits."""
    return {"metadata": {"name": "a"}, "spec": {"hard": hard}}


def labelled(**labels: Any) -> Manifest:
    """A ConfigMap with these labels."""
    return {"metadata": {"name": "a", "labels": labels}}


WRONG_VALUES: list[tuple[str, str, Manifest, list[str]]] = [
    ("label-value", "configmaps", labelled(app="not a value"), ["metadata.labels"]),
    ("label-length", "configmaps", labelled(app=LONG), ["metadata.labels"]),
    ("label-key", "configmaps", labelled(**{"a/b/c": "x"}), ["metadata.labels"]),
    ("annotation", "configmaps", {"metadata": {"name": "a", "annotations": {"a b": "x"}}}, ["metadata.annotations"]),
    ("cpu", "pods", asking({"cpu": "-1"}), ["spec.containers[0].resources.requests[cpu]"]),
    (
        "half-a-gpu",
        "pods",
        asking({"example.com/gpu": "500m"}, {"example.com/gpu": "500m"}),
        [
            "spec.containers[0].resources.limits[example.com/gpu]",
            "spec.containers[0].resources.requests[example.com/gpu]",
        ],
    ),
    ("gpu-without-limit", "pods", asking({"example.com/gpu": 1}), ["spec.containers[0].resources.limits"]),
    (
        "gpu-below-its-limit",
        "pods",
        asking({"example.com/gpu": 1}, {"example.com/gpu": 2}),
        ["spec.containers[0].resources.requests"],
    ),
    ("above-its-limit", "pods", asking({"cpu": 2}, {"cpu": 1}), ["spec.containers[0].resources.requests"]),
    ("unknown-resource", "pods", asking({"gpu": 1}), ["spec.containers[0].resources.requests[gpu]"] * 2),
    ("pods-in-containers", "pods", asking({"pods": 1}), ["spec.containers[0].resources.requests[pods]"]),
    ("no-container", "pods", pod(containers=[]), ["spec.containers"]),
    ("no-image", "pods", pod(containers=[{"name": "main"}]), ["spec.containers[0].image"]),
    ("two-of-a-name", "pods", pod(containers=[FINE, FINE]), ["spec.containers[1].name"]),
    (
        "port",
        "pods",
        pod(containers=[{**FINE, "ports": [{"containerPort": 70_000, "hostPort": -1}]}]),
        ["spec.containers[0].ports[0].containerPort", "spec.containers[0].ports[0].hostPort"],
    ),
    ("restart-policy", "pods", pod(restartPolicy="Sometimes"), ["spec.restartPolicy"]),
    ("node-selector", "pods", pod(nodeSelector={"a": "not a value"}), ["spec.nodeSelector"]),
    (
        "toleration-operator",
        "pods",
        pod(tolerations=[{"key": "a", "operator": "Has"}]),
        ["spec.tolerations[0].operator"],
    ),
    ("toleration-key", "pods", pod(tolerations=[{"value": "a"}]), ["spec.tolerations[0].operator"]),
    (
        "toleration-value",
        "pods",
        pod(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
        ["spec.tolerations[0].operator"],
    ),
    ("toleration-effect", "pods", pod(tolerations=[{"key": "a", "effect": "NoWay"}]), ["spec.tolerations[0].effect"]),
    (
        "toleration-seconds",
        "pods",
        pod(tolerations=[{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]),
        ["spec.tolerations[0].effect"],
    ),
    (
        "no-node-terms",
        "pods",
        pod(affinity={"nodeAffinity": {AFFINITY: {"nodeSelectorTerms": []}}}),
        [f"spec.affinity.nodeAffinity.{AFFINITY}.nodeSelectorTerms"],
    ),
    (
        "node-expression",
        "pods",
        pod(
            affinity={
                "nodeAffinity": {
                    AFFINITY: {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "In"}, {"key": "b", "operator": "Like"}]}
                        ]
                    }
                }
            }
        ),
        [
            f"spec.affinity.nodeAffinity.{AFFINITY}.nodeSelectorTerms[0].matchExpressions[0].values",
            f"spec.affinity.nodeAffinity.{AFFINITY}.nodeSelectorTerms[0].matchExpressions[1].operator",
        ],
    ),
    (
        "no-topology",
        "pods",
        pod(affinity={"podAntiAffinity": {AFFINITY: [{"labelSelector": {}}]}}),
        [f"spec.affinity.podAntiAffinity.{AFFINITY}[0].topologyKey"] * 3,
    ),
    (
        "pod-expression",
        "pods",
        pod(
            affinity={
                "podAffinity": {
                    AFFINITY: [
                        {
                            "topologyKey": "zone",
                            "labelSelector": {
                                "matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]
                            },
                        }
                    ]
                }
            }
        ),
        [f"spec.affinity.podAffinity.{AFFINITY}[0].labelSelector.matchExpressions[0].values"],
    ),
    (
        "skew",
        "pods",
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "Never"}]),
        ["spec.topologySpreadConstraints[0].maxSkew", "spec.topologySpreadConstraints[0].whenUnsatisfiable"],
    ),
    ("gate", "pods", pod(schedulingGates=[{"name": "not a name"}]), ["spec.schedulingGates[0]"]),
    ("capacity", "nodes", node(capacity={"cpu": "-1"}), ["status.allocatable.cpu", "status.capacity.cpu"]),
    ("half-a-pod", "nodes", node(allocatable={"pods": "1500m"}), ["status.allocatable.pods"]),
    (
        "half-a-device",
        "nodes",
        node(capacity={"example.com/gpu": "0.5"}),
        [f"status.{part}.example.com/gpu" for part in ("allocatable", "capacity")],
    ),
    (
        "taints",
        "nodes",
        {
            "metadata": {"name": "odd"},
            "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]},
        },
        ["metadata.taints[1]"],
    ),
    (
        "taint-effect",
        "nodes",
        {"metadata": {"name": "odd"}, "spec": {"taints": [{"key": "a", "effect": "NoWay"}]}},
        ["metadata.taints[0].effect"],
    ),
    ("replicas", "replicasets.apps", replica_set(replicas=-1), ["spec.replicas"]),
    (
        "selector",
        "replicasets.apps",
        replica_set(selector={"matchLabels": {"app": "b"}}),
        ["spec.template.metadata.labels"],
    ),
    ("parallelism", "jobs.batch", job(parallelism=-1), ["spec.parallelism"]),
    ("job-restarts", "jobs.batch", job(template={"restartPolicy": "Always"}), ["spec.template.spec.restartPolicy"]),
    ("both-bounds", "poddisruptionbudgets.policy", budget(minAvailable=1, maxUnavailable=1), ["spec"]),
    ("negative-bound", "poddisruptionbudgets.policy", budget(minAvailable=-1), ["spec.minAvailable"]),
    ("percent", "poddisruptionbudgets.policy", budget(maxUnavailable="half"), ["spec.maxUnavailable"]),
    ("much-percent", "poddisruptionbudgets.policy", budget(maxUnavailable="101%"), ["spec.maxUnavailable"]),
    (
        "unhealthy-policy",
        "poddisruptionbudgets.policy",
        budget(unhealthyPodEvictionPolicy="Maybe"),
        ["spec.unhealthyPodEvictionPolicy"],
    ),
    ("quota", "resourcequotas", quota(cpu="-1"), ["spec.hard[cpu]"]),
    ("quota-of-half-a-pod", "resourcequotas", quota(pods="500m"), ["spec.hard[pods]"]),
    ("quota-of-what", "resourcequotas", quota(gpu=1), ["spec.hard[gpu]"] * 2),
]
WRONG_TYPES: list[tuple[str, str, Manifest]] = [
    ("label", "configmaps", labelled(number=1)),
    ("annotation", "configmaps", {"metadata": {"name": "a", "annotations": {"yes": True}}}),
    ("node-selector", "pods", pod(nodeSelector={"number": 1})),
    ("amount", "pods", asking({"cpu": "much"})),
    ("amount-of-what", "pods", asking({"cpu": True})),
    ("priority", "pods", pod(priority="high")),
    ("port", "pods", pod(containers=[{**FINE, "ports": [{"containerPort": "http"}]}])),
    ("replicas", "replicasets.apps", replica_set(replicas="2")),
    ("bound", "poddisruptionbudgets.policy", budget(minAvailable=True)),
    ("capacity", "nodes", node(capacity={"cpu": "1 core"})),
    ("hard", "resourcequotas", quota(cpu="1 core")),
]
ALLOWED: list[tuple[str, str, Manifest]] = [
    ("labels", "configmaps", labelled(**{"example.com/App.name_1": "", "b": "A.b_c-1"})),
    ("part-of-a-core", "pods", asking({"cpu": "0.1", "memory": "1.5Gi"}, {"memory": "2Gi"})),
    ("device", "pods", asking({"example.com/gpu": "2"}, {"example.com/gpu": "2.0"})),
    ("huge-pages", "pods", asking({"cpu": 1, "hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"})),
    ("any-taint", "pods", pod(tolerations=[{"operator": "Exists"}])),
    ("node", "nodes", node(capacity={"cpu": "3500m", "example.com/gpu": "8", "pods": "110"})),
    ("percent", "poddisruptionbudgets.policy", budget(maxUnavailable="100%")),
    ("quota", "resourcequotas", quota(**{"requests.cpu": "1500m", "pods": "10", "requests.example.com/gpu": "4"})),
    ("job", "jobs.batch", job(parallelism=0)),
]


def refused(cluster: AnyCluster, key: str, manifest: Manifest) -> tuple[int, list[str]]:
    """The code of the answer to an object's creation, and the fields that it names."""
    code, status = cluster.raw("POST", path_of(key, cluster.namespace), manifest)
    return code, [one["field"] for one in (status.get("details") or {}).get("causes", ())]


@pytest.mark.parametrize(("key", "manifest", "fields"), [pytest.param(*case[1:], id=case[0]) for case in WRONG_VALUES])
def test_a_wrong_value_is_refused_with_its_field(
    cluster: AnyCluster, key: str, manifest: Manifest, fields: list[str]
) -> None:
    """With 422 and one cause for each broken rule."""
    code, found = refused(cluster, key, manifest)
    assert (code, sorted(found)) == (422, sorted(fields))


@pytest.mark.parametrize(("key", "manifest"), [pytest.param(*case[1:], id=case[0]) for case in WRONG_TYPES])
def test_a_value_of_a_wrong_type_is_not_understood(cluster: AnyCluster, key: str, manifest: Manifest) -> None:
    """With 400, as the object cannot be decoded."""
    assert refused(cluster, key, manifest)[0] == 400


@pytest.mark.parametrize(("key", "manifest"), [pytest.param(*case[1:], id=case[0]) for case in ALLOWED])
def test_what_is_unusual_but_valid_is_taken(cluster: AnyCluster, key: str, manifest: Manifest) -> None:
    """Nothing is refused that an API server takes."""
    assert refused(cluster, key, manifest) == (201, [])


def test_a_node_cannot_report_less_than_nothing(cluster: AnyCluster) -> None:
    """A status is checked as the object is."""
    cluster.add_node("n1")
    patch = {"status": {"allocatable": {"cpu": "-1"}}}
    media = "application/merge-patch+json"
    code, _ = cluster.raw("PATCH", path_of("nodes", None, "n1", "status"), patch, media)
    assert code == 422


def test_a_change_is_checked_as_a_new_object_is(cluster: AnyCluster) -> None:
    """A patch cannot bring in a label that creation would refuse."""
    cluster.create("configmaps", labelled(app="a"))
    for value in (1, "not a value"):
        patch = {"metadata": {"labels": {"app": value}}}
        path = path_of("configmaps", cluster.namespace, "a")
        answered, status = cluster.raw("PATCH", path, patch, "application/merge-patch+json")
        assert (answered, status["reason"]) == (422, "Invalid")
