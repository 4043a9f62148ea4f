"""Kubernetes objects other than pods as the engine reads them, and documents that hold some of all kinds."""

import json
from typing import Any

import msgspec
import pytest

from engine.feasibility import matches
from engine.formats.kubernetes.decode import (
    CLASS_QUOTA_READER,
    POD_READER,
    DecodeError,
    cluster_state,
    decode_budget,
    decode_namespace,
    decode_node,
    decode_pod,
    decode_priority_class,
)
from engine.formats.kubernetes.wire import ListPage, WatchEvent
from engine.model.objects import ClassQuota, ClassRule, Node, Taint
from tests.engine.kubernetes_objects import budget, container, pod


def test_a_namespace_says_below_which_queue_its_pods_run():
    """By YuniKorn's annotation."""
    meta = {"name": "a", "annotations": {"yunikorn.apache.org/parentqueue": "root.teams"}}
    assert decode_namespace({"metadata": meta}).parent_queue == "root.teams"
    assert decode_namespace({"metadata": {"name": "a"}}).parent_queue == ""


def test_a_node_is_read_whole():
    """Allocatable in integer units, taints, cordon and readiness."""
    got = decode_node(
        {
            "metadata": {"name": "n1", "uid": "u", "labels": {"zone": "z"}},
            "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
            "status": {
                "capacity": {"cpu": "8"},
                "allocatable": {"cpu": "7500m", "memory": "1Gi", "pods": "110"},
                "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "Unknown"}],
            },
        }
    )
    assert got == Node(
        name="n1",
        uid="u",
        labels={"zone": "z"},
        allocatable={"cpu": 7500, "memory": 2**30, "pods": 110},
        taints=(Taint("k", "", "NoSchedule"),),
        unschedulable=True,
        ready=False,
    )


def test_a_bare_node_is_ready_and_allocates_its_capacity():
    """No conditions are no verdict; without allocatable the capacity counts, as the API server fills in."""
    got = decode_node({"metadata": {"name": "n1"}, "status": {"capacity": {"cpu": 2}}})
    assert (got.ready, got.allocatable) == (True, {"cpu": 2000})
    assert decode_node({"metadata": {"name": "n1"}}).allocatable == {}


def test_a_priority_class_is_read_whole():
    """Value, policy, YuniKorn's opt-out and our leave to preempt."""
    notes = {"yunikorn.apache.org/allow-preemption": "false", "scheduler-admin.io/may-preempt": "true"}
    got = decode_priority_class(
        {"metadata": {"name": "c", "annotations": notes}, "value": -5, "preemptionPolicy": "Never"}
    )
    assert (got.name, got.value, got.never_preempts, got.opted_out, got.may_preempt) == ("c", -5, True, True, True)
    assert (got.annotations, got.global_default, got.description) == (notes, False, "")
    plain = decode_priority_class({"metadata": {"name": "c"}, "value": 5})
    assert (plain.never_preempts, plain.opted_out, plain.may_preempt) == (False, False, False)


def test_what_people_may_change_of_a_priority_class_is_read_too():
    """With what says which state of it this is."""
    meta = {"name": "c", "labels": {"a": "b"}, "uid": "u", "resourceVersion": "7"}
    got = decode_priority_class({"metadata": meta, "value": 1, "globalDefault": True, "description": "for us"})
    assert (got.labels, got.uid, got.version) == ({"a": "b"}, "u", "7")
    assert (got.global_default, got.description) == (True, "for us")


def quota(**spec: Any) -> ClassQuota:
    meta, hard = {"namespace": "a", "name": "q"}, {"pods": 5, "requests.cpu": "1500m"}
    document = {"metadata": meta, "spec": {"hard": hard, **spec}, "status": {"used": {"pods": "2"}}}
    return CLASS_QUOTA_READER.from_bytes(msgspec.json.encode(document))


def test_a_quota_by_priority_class_is_read_with_what_it_allows_and_what_is_used():
    """The rule of the selector and the scope alone, and within which other scopes a pod has to lie besides."""
    one = {"scopeName": "PriorityClass", "operator": "In", "values": ["high", "low"]}
    other = {"scopeName": "NotBestEffort", "operator": "Exists"}
    got = quota(scopeSelector={"matchExpressions": [one, other]}, scopes=["PriorityClass", "Terminating"])
    assert (got.namespace, got.name) == ("a", "q")
    assert got.rules == (ClassRule("Exists"), ClassRule("In", ("high", "low")))
    assert got.scopes == ("Terminating", "NotBestEffort")
    assert (got.hard, got.used) == ({"pods": "5", "requests.cpu": "1500m"}, {"pods": "2"})


@pytest.mark.parametrize("spec", [{}, {"scopeSelector": {}}, {"scopes": None}])
def test_of_a_quota_for_all_pods_is_kept_what_they_may_request(spec):
    """What it has used changes with every pod, and nobody here looks at it."""
    assert quota(**spec) == ClassQuota(namespace="a", name="q", requests={"pods": 5, "cpu": 1500})


def test_of_a_quota_for_some_pods_of_all_classes_only_its_name_is_kept():
    assert quota(scopes=["BestEffort"]) == ClassQuota(namespace="a", name="q")


@pytest.mark.parametrize(
    ("selector", "labels", "want"),
    [
        ({"matchLabels": {"app": "web"}}, {"app": "web"}, True),
        ({"matchLabels": {"app": "web"}}, {"app": "db"}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, {"app": "db"}, True),
        ({}, {}, True),
        (None, {}, False),
    ],
)
def test_a_budgets_selector_says_which_pods_it_covers(selector, labels, want):
    """An empty selector covers every pod, a missing one none."""
    got = decode_budget(budget(selector))
    assert (got.namespace, got.name, got.allowed) == ("a", "b", 2)
    assert matches(got.expressions, labels) is want


def test_bytes_and_dictionaries_read_alike():
    """The fast path from bytes gives what the slow one gives; items of lists and watches fit it."""
    obj = pod({"nodeName": "n1", "containers": [container({"cpu": "1"})]}, {"phase": "Running"}, uid="u")
    page = msgspec.json.decode(json.dumps({"metadata": {"continue": "x"}, "items": [obj]}), type=ListPage)
    event = msgspec.json.decode(json.dumps({"type": "ADDED", "object": obj}), type=WatchEvent)
    assert page.metadata.continue_ == "x"
    assert decode_pod(obj) == POD_READER.from_bytes(page.items[0]) == POD_READER.from_bytes(event.object)


def test_documents_make_a_state_and_what_was_ignored_is_told():
    """Lists are taken apart, other kinds named, empty documents passed over."""
    documents = [
        None,
        {"kind": "List", "items": [pod(uid="u"), {"kind": "Service", "metadata": {"name": "s", "namespace": "a"}}]},
        {"kind": "NodeList", "items": [{"metadata": {"name": "n1"}}]},
        {"kind": "PodDisruptionBudget", **budget({})},
        {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9},
        {"spec": {}},
    ]
    state, ignored, _ = cluster_state(documents)
    assert (set(state.pods), set(state.nodes), set(state.budgets)) == ({"u"}, {"n1"}, {("a", "b")})
    assert set(state.classes) == {"high"}
    assert ignored == ("Service a/s", "object without a kind")


def test_documents_get_the_priorities_that_admission_would_give():
    """A pod's class, else the default class, gives priority and policy; a priority of its own stays."""
    documents = [
        {"kind": "PriorityClass", "metadata": {"name": "never"}, "value": 9, "preemptionPolicy": "Never"},
        {"kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 4, "globalDefault": True},
        pod({"priorityClassName": "never"}, uid="1"),
        pod({}, uid="2"),
        pod({"priority": 0, "priorityClassName": "never"}, uid="3"),
        pod({"priorityClassName": "system-node-critical"}, uid="4"),
        pod({"priorityClassName": "unknown"}, uid="5"),
    ]
    pods = cluster_state(documents)[0].pods
    got = {uid: (one.priority, one.priority_class, one.never_preempts) for uid, one in pods.items()}
    assert got == {
        "1": (9, "never", True),
        "2": (4, "usual", False),
        "3": (0, "never", False),
        "4": (2_000_001_000, "system-node-critical", False),
        "5": (0, "unknown", False),
    }


def test_a_bound_pod_without_a_class_has_no_priority_whatever_the_default_class_says_today():
    """Admission gave it what it has, long ago; a class that it names had its value then too."""
    documents = [
        {"kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 4, "globalDefault": True},
        pod({"nodeName": "n1"}, uid="1"),
        pod({"nodeName": "n1", "priorityClassName": "usual"}, uid="2"),
    ]
    assert [one.priority for one in cluster_state(documents).state.pods.values()] == [0, 4]


def test_what_can_not_be_read_stops_nobody_else():
    """It stands in the state as unread, and a sentence says why."""
    broken = pod({"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "much"}}}]}, uid="1")
    found = cluster_state([broken, pod({}, uid="2"), {"kind": "Node", "metadata": {"name": "n1"}, "spec": 3}])
    assert {uid: (one.unread, one.node) for uid, one in found.state.pods.items()} == {
        "1": (True, "n1"),
        "2": (False, None),
    }
    assert found.state.nodes["n1"].unread
    assert [sentence.split(":")[0] for sentence in found.unread] == ["Pod a/p", "Node n1"]


@pytest.mark.parametrize(
    "documents",
    [
        ["text"],
        [{"kind": "List", "items": [3]}],
        [{"kind": "Pod"}],
        [{"kind": "Pod", "metadata": {"name": ["a", "list"], "namespace": "ns"}}],
    ],
)
def test_documents_that_are_no_objects_are_decode_errors(documents):
    """A file of something else is refused with a sentence."""
    with pytest.raises(DecodeError):
        cluster_state(documents)
