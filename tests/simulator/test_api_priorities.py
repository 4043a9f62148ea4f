"""PriorityClasses and the quotas that go by them: what the API server takes, refuses and keeps as it is."""

from typing import Any

import pytest

from tests.controlplane.anycluster import AnyCluster, Object, path_of
from tests.controlplane.wire import MERGE
from tests.waiting import wait_for

CLASSES = "priorityclasses.scheduling.k8s.io"
RESERVED = "Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "


def priority_class(name: str = "high", value: Any = 1000, **fields: Any) -> Object:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **fields,
    }


def post(cluster: AnyCluster, obj: Object) -> tuple[int, Any]:
    return cluster.raw("POST", path_of(CLASSES), obj)


def patch(cluster: AnyCluster, name: str, changes: Object) -> tuple[int, Any]:
    return cluster.raw("PATCH", path_of(CLASSES, None, name), changes, MERGE)


def test_a_class_is_completed(cluster: AnyCluster) -> None:
    """What it leaves out gets its default: value 0, PreemptLowerPriority, and no default for others."""
    code, made = post(cluster, {"metadata": {"name": "plain"}})
    assert code == 201
    assert (made["value"], made["preemptionPolicy"], made.get("globalDefault")) == (0, "PreemptLowerPriority", None)
    assert made["metadata"]["generation"] == 1


@pytest.mark.parametrize("value", [-(2**31), -1, 0, 1_000_000_000])
def test_values_within_the_range_are_taken(cluster: AnyCluster, value: int) -> None:
    assert post(cluster, priority_class(value=value))[0] == 201


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (priority_class(value=1_000_000_001), "value: Forbidden: maximum allowed value of a user defined priority is"),
        (priority_class("system-x"), f"metadata.name: {RESERVED}system-x is not a known system priority class"),
        (
            priority_class("system-node-critical", 5),
            f"metadata.name: {RESERVED}value of system-node-critical PriorityClass must be 2000001000",
        ),
        (priority_class("High"), 'metadata.name: Invalid value: "High": a lowercase RFC 1123 subdomain'),
        (priority_class("a..b"), 'metadata.name: Invalid value: "a..b": a lowercase RFC 1123 subdomain'),
        (
            priority_class(preemptionPolicy="Sometimes"),
            'preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"',
        ),
    ],
)
def test_what_a_class_may_not_be_is_refused_at_its_field(cluster: AnyCluster, obj: Object, message: str) -> None:
    """422 in the API server's words, and nothing is made."""
    code, answer = post(cluster, obj)
    assert (code, answer["reason"]) == (422, "Invalid")
    assert message in answer["message"]
    assert [cause["field"] for cause in answer["details"]["causes"]] == [message.partition(":")[0]]


@pytest.mark.parametrize(
    "fields", [{"value": 2**31}, {"value": -(2**31) - 1}, {"value": "9"}, {"globalDefault": "yes"}, {"description": 5}]
)
def test_what_is_of_another_type_can_not_be_read(cluster: AnyCluster, fields: Object) -> None:
    """The value is a whole number of 32 bits."""
    assert post(cluster, priority_class(**fields))[0] == 400


def test_what_a_class_means_for_pods_is_fixed_for_life(cluster: AnyCluster) -> None:
    """Value and preemptionPolicy stay; description, default and metadata may change."""
    post(cluster, priority_class())
    for changes, message in (
        ({"value": 2}, "value: Forbidden: may not be changed in an update."),
        ({"preemptionPolicy": "Never"}, 'preemptionPolicy: Invalid value: "Never": field is immutable'),
    ):
        code, answer = patch(cluster, "high", changes)
        assert (code, message in answer["message"]) == (422, True), answer
    free = {"description": "new", "globalDefault": True, "metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}}}
    code, changed = patch(cluster, "high", free)
    assert (code, changed["description"], changed["globalDefault"]) == (200, "new", True)
    assert (changed["metadata"]["annotations"], changed["metadata"]["labels"]) == ({"a": "b"}, {"c": "d"})
    assert changed["value"] == 1000


def test_only_one_class_is_the_default(cluster: AnyCluster) -> None:
    """A second one is refused when it is made and when it would become one; the first may be changed, and give way."""
    post(cluster, priority_class("usual", globalDefault=True))
    wait_for(lambda: _holds_default(cluster, "usual"), "the API server knows its default")
    post(cluster, priority_class("other"))
    for code, answer in (
        post(cluster, priority_class("third", globalDefault=True)),
        patch(cluster, "other", {"globalDefault": True}),
    ):
        assert code == 403
        assert "PriorityClass usual is already marked as default. Only one default can exist" in answer["message"]
    assert patch(cluster, "usual", {"description": "still the default"})[0] == 200
    assert patch(cluster, "usual", {"globalDefault": False})[0] == 200
    wait_for(lambda: patch(cluster, "other", {"globalDefault": True})[0] == 200, "the other becomes the default")


def _holds_default(cluster: AnyCluster, name: str) -> bool:
    """A real API server learns of its own classes by a watch."""
    return _probe(cluster)["spec"].get("priorityClassName") == name


def _probe(cluster: AnyCluster) -> Object:
    """A pod as admission would leave it, which is not made."""
    body = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return cluster.send("POST", path_of("pods", cluster.namespace), body, dryRun="All")


def test_a_default_is_for_pods_that_come_later(cluster: AnyCluster) -> None:
    before = cluster.add_pod("before")
    post(cluster, priority_class("usual", 7, globalDefault=True, preemptionPolicy="Never"))
    wait_for(lambda: _holds_default(cluster, "usual"), "the API server knows its default")
    after = cluster.add_pod("after")["spec"]
    assert (after["priorityClassName"], after["priority"], after["preemptionPolicy"]) == ("usual", 7, "Never")
    assert cluster.get("pods", "before")["spec"] == before["spec"]


def test_deleting_a_class_leaves_its_pods_as_they_are(cluster: AnyCluster) -> None:
    """They keep name, priority and policy; a new pod that names it is refused."""
    post(cluster, priority_class(preemptionPolicy="Never"))
    wait_for(lambda: cluster.raw("POST", path_of("pods", cluster.namespace), _pod("kept"))[0] == 201, "it is known")
    cluster.delete(CLASSES, "high")

    def refused() -> bool:
        code, answer = cluster.raw("POST", path_of("pods", cluster.namespace), {**_pod("new"), "spec": SPEC})
        return code == 403 and "no PriorityClass with name high was found" in answer["message"]

    wait_for(refused, "a pod that names it is refused")
    kept = cluster.get("pods", "kept")["spec"]
    assert (kept["priorityClassName"], kept["priority"], kept["preemptionPolicy"]) == ("high", 1000, "Never")


CONTAINER = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
SPEC: Object = {"schedulerName": "nobody", "priorityClassName": "high", "containers": [CONTAINER]}


def _pod(name: str, priority: str = "high") -> Object:
    return {"metadata": {"name": name}, "spec": {**SPEC, "priorityClassName": priority}}


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
def test_the_clusters_own_classes_stay(cluster: AnyCluster, name: str) -> None:
    code, answer = cluster.raw("DELETE", path_of(CLASSES, None, name))
    assert (code, "this is a system priority class and cannot be deleted" in answer["message"]) == (403, True)


@pytest.mark.parametrize("field", [{"priority": 5}, {"preemptionPolicy": "Never"}])
def test_a_pod_says_nothing_else_than_its_class(cluster: AnyCluster, field: Object) -> None:
    post(cluster, priority_class())
    wait_for(lambda: cluster.raw("POST", path_of("pods", cluster.namespace), _pod("fine"))[0] == 201, "it is known")
    odd = _pod("odd")
    code, answer = cluster.raw("POST", path_of("pods", cluster.namespace), {**odd, "spec": odd["spec"] | field})
    assert (code, "must not be provided in pod spec" in answer["message"]) == (403, True)


# Quotas

RULES: list[tuple[Object, set[str]]] = [
    ({"operator": "In", "values": ["high", "none-of-them"]}, {"high"}),
    ({"operator": "NotIn", "values": ["high"]}, {"low", ""}),
    ({"operator": "Exists"}, {"high", "low"}),
    ({"operator": "DoesNotExist"}, {""}),
]


@pytest.mark.parametrize(("rule", "counted"), RULES, ids=[str(rule["operator"]) for rule, _ in RULES])
def test_a_quota_by_class_counts_the_pods_of_its_classes(cluster: AnyCluster, rule: Object, counted: set[str]) -> None:
    """And no others: neither in what is used nor in what is refused."""
    for name, value in (("high", 1000), ("low", 10)):
        post(cluster, priority_class(name, value))
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", **rule}]}
    _quota(cluster, len(counted), scopeSelector=selector)
    wait_for(lambda: _made(cluster, "high-0", "high") and _made(cluster, "low-0", "low"), "the classes are known")
    assert _made(cluster, "none-0", "")
    for name in ("high", "low", ""):
        assert _made(cluster, f"{name or 'none'}-1", name) is (name not in counted), name
    used = {"pods": str(len(counted))}
    wait_for(lambda: cluster.get("resourcequotas", "q")["status"]["used"] == used, "those are counted")


def test_a_quota_of_the_scope_alone_is_for_pods_with_any_class(cluster: AnyCluster) -> None:
    post(cluster, priority_class())
    _quota(cluster, 1, scopes=["PriorityClass"])
    wait_for(lambda: _made(cluster, "a", "high"), "the class is known")
    assert not _made(cluster, "b", "high")
    assert _made(cluster, "c", "")


ELSEWHERE: Object = {
    "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "namespaces": ["other"]}}
        ]
    }
}


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("Terminating", {"activeDeadlineSeconds": 60}, {}),
        ("NotTerminating", {}, {"activeDeadlineSeconds": 60}),
        ("BestEffort", {"containers": [{"name": "c", "image": "i"}]}, {}),
        ("NotBestEffort", {}, {"containers": [{"name": "c", "image": "i"}]}),
        ("CrossNamespacePodAffinity", {"affinity": ELSEWHERE}, {}),
    ],
)
def test_the_other_scopes_of_pods_hold_as_well(
    cluster: AnyCluster, scope: str, inside: Object, outside: Object
) -> None:
    _quota(cluster, 1, scopes=[scope])
    assert _made(cluster, "a", **inside)
    assert not _made(cluster, "b", **inside)
    assert _made(cluster, "c", **outside)


def _quota(cluster: AnyCluster, pods: int, **spec: Any) -> None:
    cluster.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": str(pods)}, **spec}})
    wait_for(lambda: cluster.get("resourcequotas", "q").get("status", {}).get("used"), "the quota holds")


def _made(cluster: AnyCluster, name: str, priority: str = "", **spec: Any) -> bool:
    """Whether a pod was let in; that it is there already is as good."""
    named = {"priorityClassName": priority} if priority else {}
    body = {"metadata": {"name": name}, "spec": {"schedulerName": "nobody", "containers": [CONTAINER], **named, **spec}}
    code, answer = cluster.raw("POST", path_of("pods", cluster.namespace), body)
    assert code in (201, 403, 409), answer
    return code in (201, 409)
