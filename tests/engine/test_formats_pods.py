"""Pods as the engine reads them."""

from typing import Any

import pytest

from engine.formats.kubernetes.decode import decode_pod
from engine.model.objects import HostPort, Node, NodeSelectorTerm, Pod, Requirement, Toleration
from tests.builders import refused
from tests.engine.kubernetes_objects import REQUIRED, container, pod

NOON_MS = 1_767_268_800_000
"""2026-01-01T12:00:00Z."""


def test_a_pod_is_read_whole():
    """Every field that policies use comes from its place in the object."""
    got = decode_pod(
        pod(
            {
                "nodeName": "n1",
                "priority": 7,
                "priorityClassName": "high",
                "preemptionPolicy": "Never",
                "schedulerName": "mine",
                "schedulingGates": [{"name": "wait"}],
                "terminationGracePeriodSeconds": 0,
                "nodeSelector": {"zone": "z"},
                "tolerations": [{"operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoExecute"}],
            },
            {"phase": "Running", "startTime": "2026-01-01T12:00:00Z", "nominatedNodeName": "n2"},
            uid="u",
            creationTimestamp="2026-01-01T11:59:59Z",
            deletionTimestamp="2026-01-01T13:00:00Z",
            labels={"app": "web"},
            annotations={"kubernetes.io/config.mirror": "x"},
            ownerReferences=[{"kind": "Node", "name": "n"}, {"kind": "ReplicaSet", "name": "web", "controller": True}],
        )
    )
    assert got == Pod(
        uid="u",
        namespace="a",
        name="p",
        created_ms=NOON_MS - 1000,
        started_ms=NOON_MS,
        requests={"pods": 1},
        labels={"app": "web"},
        node="n1",
        terminating=True,
        deleted_ms=NOON_MS + 3_600_000,
        grace_s=0,
        priority=7,
        priority_class="high",
        never_preempts=True,
        controller="ReplicaSet/web",
        mirror=True,
        gated=True,
        nominated_node="n2",
        scheduler="mine",
        node_selector={"zone": "z"},
        tolerations=(Toleration(operator="Exists"), Toleration(key="k", value="v", effect="NoExecute")),
    )


def test_what_is_missing_or_null_has_kubernetes_defaults():
    """A bare pod, and one in which everything is null, are read alike."""
    bare = decode_pod({"metadata": {"name": "p"}})
    fields = ("nodeName", "containers", "initContainers", "overhead", "tolerations", "affinity", "volumes", "priority")
    nulls = pod(dict.fromkeys(fields), None, namespace=None, uid=None, creationTimestamp=None, labels=None)
    assert decode_pod(nulls) == bare
    assert (bare.uid, bare.namespace, bare.grace_s, bare.scheduler) == ("default/p", "default", 30, "default-scheduler")
    assert (bare.requests, bare.node, bare.started_ms) == ({"pods": 1}, None, None)


@pytest.mark.parametrize(("phase", "finished"), [("Succeeded", True), ("Failed", True), ("Running", False)])
def test_a_pod_that_ended_is_finished(phase, finished):
    """Succeeded and failed pods hold nothing any more."""
    assert decode_pod(pod(status={"phase": phase})).finished is finished


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-01-01T12:00:00Z", NOON_MS),
        ("2026-01-01T12:00:00.123456Z", NOON_MS + 123),
        ("2026-01-01T13:30:00+01:30", NOON_MS),
        ("1969-12-31T23:59:59.9999Z", -1),
    ],
)
def test_times_are_milliseconds(text, ms):
    """Microseconds are cut off and offsets counted."""
    assert decode_pod(pod(creationTimestamp=text)).created_ms == ms


@pytest.mark.parametrize(
    ("labels", "queue", "application"),
    [
        ({"queue": "q3", "applicationId": "a3"}, "q3", "a3"),
        ({"queue": "q3", "yunikorn.apache.org/queue": "q2", "yunikorn.apache.org/app-id": "a2"}, "q2", "a2"),
        (
            {
                "yunikorn.apache.org/queue": "q2",
                "scheduler-admin.io/queue": "q1",
                "applicationId": "a3",
                "scheduler-admin.io/application": "a1",
            },
            "q1",
            "a1",
        ),
        ({"scheduler-admin.io/queue": "", "queue": "q3"}, "q3", ""),
        ({}, "", ""),
    ],
)
def test_labels_name_queue_and_application_and_ours_win(labels, queue, application):
    """Of several labels ours comes first, then YuniKorn's, then its old one; an empty one is none."""
    got = decode_pod(pod(labels=labels))
    assert (got.queue_label, got.application_label) == (queue, application)


@pytest.mark.parametrize(
    ("labels", "annotations", "submitter"),
    [
        ({}, {}, ("", ())),
        ({"yunikorn.apache.org/username": "ann"}, {}, ("ann", ())),
        (
            {"yunikorn.apache.org/username": "ann"},
            {"yunikorn.apache.org/user.info": '{"user":"bob","groups":["dev","ops"]}'},
            ("bob", ("dev", "ops")),
        ),
        ({}, {"yunikorn.apache.org/user.info": '{"user":"bob","groups":null}'}, ("bob", ())),
        ({"yunikorn.apache.org/username": "ann"}, {"yunikorn.apache.org/user.info": "bob"}, ("", ())),
        ({}, {"yunikorn.apache.org/user.info": '{"user":3}'}, ("", ())),
    ],
)
def test_a_pod_says_who_submitted_it(labels, annotations, submitter):
    """By the annotation, even one that can't be read, before the label; else nobody knows."""
    got = decode_pod(pod(labels=labels, annotations=annotations))
    assert (got.user, got.groups) == submitter


def test_an_owners_name_is_read_as_far_as_a_database_takes_it():
    """Kubernetes takes any text there; PostgreSQL none with a NUL in it."""
    owner = {"kind": "Jo\0b", "name": "a\0b", "controller": True}
    assert decode_pod(pod(ownerReferences=[owner])).controller == "Job/ab"


def condition(**fields: Any) -> dict[str, Any]:
    known = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"conditions": [{"type": "Ready", "status": "False"}, {**known, **fields}]}


@pytest.mark.parametrize(
    ("status", "want"),
    [
        (condition(lastTransitionTime="2026-01-01T12:00:00Z"), NOON_MS),
        (condition(lastTransitionTime=None), 1000),
        (condition(reason="SchedulingGated"), None),
        (condition(status="True"), None),
        ({}, None),
    ],
)
def test_an_unschedulable_pod_says_since_when(status, want):
    """Only a scheduler's verdict counts; without a time, the pod's age does."""
    assert decode_pod(pod(status=status, creationTimestamp="1970-01-01T00:00:01Z")).unschedulable_ms == want


def affinity(*terms: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def test_node_affinity_is_read():
    """Expressions and fields of each term; preferred terms are no rule."""
    rule = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    field = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    got = decode_pod(pod(affinity({"matchExpressions": [rule], "matchFields": [field]}))).node_affinity
    want = NodeSelectorTerm((Requirement("zone", "In", ("a", "b")),), (Requirement("metadata.name", "In", ("n1",)),))
    assert got == (want,)
    assert decode_pod(pod({"affinity": {"nodeAffinity": {}}})).node_affinity == ()


def test_an_affinity_without_terms_matches_no_node():
    """A required rule that nothing meets is not taken for no rule."""
    assert refused(decode_pod(pod(affinity())), Node(name="n1", allocatable={"pods": 9})) is not None


def test_host_ports_are_read():
    """Of containers and sidecars; on the host's network a container's port is the host's."""
    ports = [{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1", "protocol": "UDP"}, {"containerPort": 81}]
    sidecar = container(ports=[{"hostPort": 9}], restartPolicy="Always")
    spec = {"containers": [container(ports=ports)], "initContainers": [sidecar, container(ports=[{"hostPort": 7}])]}
    assert decode_pod(pod(spec)).host_ports == (HostPort(8080, "UDP", "10.0.0.1"), HostPort(9))
    assert HostPort(81) in decode_pod(pod({**spec, "hostNetwork": True})).host_ports


@pytest.mark.parametrize(("told", "want"), [(None, 30), (0, 0), (1, 1), (-1, 1), (-(2**63), 1)])
def test_a_grace_period_below_zero_is_one_second(told: int | None, want: int):
    """As kube-apiserver has it, which lets anybody write such a number: no deadline may lie before the eviction."""
    assert decode_pod(pod({"terminationGracePeriodSeconds": told})).grace_s == want
