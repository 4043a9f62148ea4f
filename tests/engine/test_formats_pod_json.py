"""A pod that is made from one that was read before is the same as one that is decoded as a whole."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes.decode import POD_READER, DecodeError, decode_pod
from tests.engine.test_formats_sharing import SPEC_PARTS, forget

AT = "2026-01-01T00:00:00Z"
TIMES = st.sampled_from([AT, "2026-01-02T03:04:05.678Z"])
HELD = {"name": "c", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2"}}
GROUP = {"scheduling.k8s.io/group-name": "g"}


def condition(kind: str, status: str, reason: str | None = None) -> dict[str, Any]:
    """A condition that has been so since a moment ago."""
    return {"type": kind, "status": status, "reason": reason, "message": "why", "lastTransitionTime": AT}


METADATA = {
    "name": st.sampled_from(["p", "q", "r"]),
    "namespace": st.sampled_from(["a", "b"]),
    "uid": st.sampled_from(["uid-1", "uid-2"]),
    "creationTimestamp": TIMES,
    "deletionTimestamp": st.just(AT),
    "labels": st.sampled_from(
        [
            {"app": "web"},
            {"app": "db"},
            {"yunikorn.apache.org/app-id": "x"},
            {"yunikorn.apache.org/app-id": "x-uniqueautogen"},
        ]
    ),
    "annotations": st.sampled_from(
        [{"yunikorn.apache.org/allow-preemption": "true"}, {"scheduler-admin.io/queue": "q"}, GROUP]
    ),
    "ownerReferences": st.sampled_from([[{"kind": "Job", "name": name, "controller": True}] for name in "jk"]),
}
SPEC = {
    **SPEC_PARTS,
    "nodeName": st.sampled_from(["n1", "n2", ""]),
    "priority": st.sampled_from([0, 7, "high"]),
    "priorityClassName": st.sampled_from(["low", "high"]),
    "schedulerName": st.sampled_from(["yunikorn", "volcano"]),
    "schedulingGates": st.just([{"name": "wait"}]),
    "schedulingGroup": st.just({"podGroupName": "g"}),
    "preemptionPolicy": st.just("Never"),
    "terminationGracePeriodSeconds": st.sampled_from([-1, 5]),
    "topologySpreadConstraints": st.just([{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]),
    "resourceClaims": st.just([{"name": "gpu"}]),
    "volumes": st.sampled_from(
        [
            [{"name": "v", "ephemeral": {}}],
            [{"name": "w", "persistentVolumeClaim": {"claimName": "data"}}],
            [{"name": "x", "rbd": {}}],
            [{"name": "y", "emptyDir": {}}],
        ]
    ),
}  # fmt: skip
STATUS = {
    "phase": st.sampled_from(["Running", "Succeeded", "Pending"]),
    "startTime": TIMES,
    "conditions": st.sampled_from(
        [
            [condition("Ready", "True")],
            [condition("Ready", "False", "Evict")],
            [condition("PodScheduled", "False", "Unschedulable")],
            [condition("DisruptionTarget", "True", "PreemptionByScheduler")],
            [condition("PodResizePending", "True", "Deferred")],
            [condition("PodResizePending", "True", "Infeasible")],
        ]
    ),
    "nominatedNodeName": st.just("n1"),
    "containerStatuses": st.sampled_from([[HELD], [{"name": "c"}]]),
    "initContainerStatuses": st.just([HELD]),
    "resources": st.just({"requests": {"cpu": "5"}}),
    "allocatedResources": st.just({"cpu": "6"}),
}
PARTS: dict[str, dict[str, Any]] = {"metadata": METADATA, "spec": SPEC, "status": STATUS}
SMALL = {
    "metadata": {"name": "p", "uid": "uid-p", "creationTimestamp": AT},
    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], "nodeName": "n0"},
    "status": {"phase": "Running", "resources": {"requests": {"cpu": "1"}}},
}
CHANGES = st.one_of(
    *[
        st.tuples(st.just(part), st.just(field), value | st.none())
        for part, fields in PARTS.items()
        for field, value in fields.items()
    ]
)


def with_changes(pod: Any, changes: Any) -> Any:
    """The pod with some fields changed, each a part, a field of it and a value."""
    for part, field, value in changes:
        pod = {**pod, part: {**pod[part], field: value}}
    return pod


BASES = st.lists(CHANGES, max_size=3).map(lambda changes: with_changes(SMALL, changes))
ALIKE = st.tuples(BASES, st.lists(st.lists(CHANGES, max_size=2), min_size=1, max_size=5)).map(
    lambda drawn: [drawn[0], *(with_changes(drawn[0], changes) for changes in drawn[1])]
)
"""Pods that differ in a field or two."""


def outcome(read: Any, obj: Any) -> Any:
    """The pod, or why it can't be read."""
    try:
        return read(obj)
    except DecodeError as error:
        return error.name, error.sentence


def from_bytes(obj: Any) -> Any:
    """The pod, read from JSON."""
    return POD_READER.from_bytes(json.dumps(obj).encode())


@given(ALIKE)
def test_a_pod_is_the_same_whatever_was_read_before(pods: list[Any]) -> None:
    """Read as JSON after pods that are like it, and as dictionaries."""
    forget()
    for pod in [*pods, *pods]:
        assert outcome(from_bytes, pod) == outcome(decode_pod, pod)


def pod(name: str, **more: Any) -> Any:
    """A running pod of a workload."""
    meta = {"name": name, "uid": f"uid-{name}", "creationTimestamp": AT, "labels": {"app": "web"}, **more}
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], "nodeName": f"node-of-{name}"}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Running", "startTime": AT}}


def test_pods_of_a_workload_share_all_but_what_is_their_own() -> None:
    """Names, times and nodes are their own."""
    forget()
    one, other = from_bytes(pod("one")), from_bytes(pod("other"))
    assert (other.uid, other.name, other.node) == ("uid-other", "other", "node-of-other")
    assert [one.labels is other.labels, one.requests is other.requests] == [True, True]


@pytest.mark.parametrize("label", ["x-uniqueautogen", "x"])
def test_an_application_that_is_named_after_its_pod_is_not_that_of_another(label: str) -> None:
    """YuniKorn's admission controller names it after the uid."""
    forget()
    labels = {"yunikorn.apache.org/app-id": label}
    pods = [pod(name, labels=labels) for name in ("one", "other")]
    assert [from_bytes(one).application_label for one in pods] == [decode_pod(one).application_label for one in pods]
