"""Kubernetes objects as the engine reads them."""

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.feasibility import matches
from engine.formats.kubernetes import (
    DecodeError,
    budget_from_bytes,
    class_quota_from_bytes,
    cluster_state,
    decode_budget,
    decode_namespace,
    decode_node,
    decode_pod,
    decode_priority_class,
    node_from_bytes,
    pod_from_bytes,
    priority_class_from_bytes,
)
from engine.formats.kubernetes_wire import ListPage, WatchEvent
from engine.snapshot import ClassQuota, ClassRule, HostPort, Node, NodeSelectorTerm, Pod, Requirement, Taint, Toleration
from tests.builders import refused

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NOON_MS = 1_767_268_800_000
"""2026-01-01T12:00:00Z."""


def pod(spec: Any = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": "p", "namespace": "a", **meta}, "spec": spec, "status": status}


def container(requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, **more}


def requests(**spec: Any) -> dict[str, int]:
    found = decode_pod(pod(spec)).requests
    assert found["pods"] == 1
    return {resource: amount for resource, amount in found.items() if resource != "pods"}


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


def test_containers_are_summed_and_the_largest_init_container_counts():
    """Init containers run one after the other, before the others."""
    got = requests(
        containers=[container({"cpu": "500m", "memory": "1Gi"}), container({"cpu": "250m"})],
        initContainers=[container({"cpu": "1"}), container({"memory": "2Gi", "nvidia.com/gpu": "1"})],
        overhead={"cpu": "10m"},
    )
    assert got == {"cpu": 1010, "memory": 2 * 2**30, "nvidia.com/gpu": 1}


def test_sidecars_count_with_the_containers_and_with_init_containers_after_them():
    """A sidecar goes on running: beside the containers, and beside each init container that starts after it."""
    sidecar = container({"cpu": "2"}, restartPolicy="Always")
    assert requests(containers=[container({"cpu": "1"})], initContainers=[sidecar]) == {"cpu": 3000}
    before = requests(containers=[container({"cpu": "1"})], initContainers=[container({"cpu": "3"}), sidecar])
    after = requests(containers=[container({"cpu": "1"})], initContainers=[sidecar, container({"cpu": "3"})])
    assert (before, after) == ({"cpu": 3000}, {"cpu": 5000})


def test_the_pods_own_requests_replace_the_sum_resource_by_resource():
    """Pod-level resources override what they name, and only cpu, memory and hugepages; overhead still comes on top."""
    got = requests(
        containers=[container({"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"})],
        resources={
            "requests": {"cpu": "4", "nvidia.com/gpu": "9"},
            "limits": {"memory": "8Gi", "hugepages-2Mi": "4Mi"},
        },
        overhead={"cpu": "1"},
    )
    assert got == {"cpu": 5000, "memory": 2**30, "nvidia.com/gpu": 1, "hugepages-2Mi": 4 * 2**20}


def test_a_limit_without_a_request_is_the_request():
    """As the API server fills in."""
    assert requests(containers=[container({"cpu": "1"}, {"cpu": "2", "memory": "1Ki"})]) == {
        "cpu": 1000,
        "memory": 1024,
    }


CPU = st.integers(0, 9).map(lambda cores: {"cpu": f"{cores}"})


@given(containers=st.lists(CPU, max_size=4), inits=st.lists(st.tuples(CPU, st.booleans()), max_size=5), overhead=CPU)
def test_a_pod_asks_for_the_most_it_ever_needs_at_once(containers, inits, overhead):
    """The sum equals the highest moment of the pod's life, played through step by step."""
    cores = lambda amounts: int(amounts["cpu"])  # noqa: E731 - short for this test
    moments, sidecars = [0], 0
    for amounts, sidecar in inits:
        moments.append(sidecars + cores(amounts))
        sidecars += cores(amounts) if sidecar else 0
    moments.append(sidecars + sum(map(cores, containers)))
    spec = {
        "containers": [container(one) for one in containers],
        "initContainers": [container(one, restartPolicy="Always" if sidecar else None) for one, sidecar in inits],
        "overhead": overhead,
    }
    assert requests(**spec).get("cpu", 0) == 1000 * (max(moments) + cores(overhead))


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


def test_a_namespace_says_below_which_queue_its_pods_run():
    """By YuniKorn's annotation."""
    meta = {"name": "a", "annotations": {"yunikorn.apache.org/parentqueue": "root.teams"}}
    assert decode_namespace({"metadata": meta}).parent_queue == "root.teams"
    assert decode_namespace({"metadata": {"name": "a"}}).parent_queue == ""


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
    return class_quota_from_bytes(msgspec.json.encode(document))


def test_a_quota_by_priority_class_is_read_with_what_it_allows_and_what_is_used():
    """The rule of the selector and the scope alone, and within which other scopes a pod has to lie besides."""
    one = {"scopeName": "PriorityClass", "operator": "In", "values": ["high", "low"]}
    other = {"scopeName": "NotBestEffort", "operator": "Exists"}
    got = quota(scopeSelector={"matchExpressions": [one, other]}, scopes=["PriorityClass", "Terminating"])
    assert (got.namespace, got.name) == ("a", "q")
    assert got.rules == (ClassRule("Exists"), ClassRule("In", ("high", "low")))
    assert got.scopes == ("Terminating", "NotBestEffort")
    assert (got.hard, got.used) == ({"pods": "5", "requests.cpu": "1500m"}, {"pods": "2"})


@pytest.mark.parametrize("spec", [{}, {"scopes": ["BestEffort"]}, {"scopeSelector": {}}, {"scopes": None}])
def test_of_a_quota_for_all_classes_only_its_name_is_kept(spec):
    """What it has used changes with every pod, and nobody here looks at it."""
    assert quota(**spec) == ClassQuota(namespace="a", name="q")


def budget(selector: Any) -> dict[str, Any]:
    status = {"disruptionsAllowed": 2}
    return {"metadata": {"name": "b", "namespace": "a"}, "spec": {"selector": selector}, "status": status}


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


@pytest.mark.parametrize(
    ("obj", "name", "part"),
    [
        (pod({"containers": [container({"cpu": "lots"})]}), "a/p", "lots is not an amount"),
        (pod({"priority": "high"}), "a/p", "priority"),
        (pod(creationTimestamp="yesterday"), "a/p", "creationTimestamp"),
        ({"metadata": {"namespace": "a"}}, "a", "no metadata.name"),
        ({"metadata": []}, "", "metadata"),
        ([], "", "object"),
        (None, "", "object"),
    ],
)
def test_a_malformed_object_is_one_kind_of_error(obj, name, part):
    """It says which object and what about it, whether it came as dictionaries or bytes."""
    for read in (lambda: decode_pod(obj), lambda: pod_from_bytes(json.dumps(obj).encode())):
        with pytest.raises(DecodeError, match=part) as caught:
            read()
        assert (caught.value.kind, caught.value.name) == ("Pod", name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["1", "5m", "In"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "metadata spec status name containers resources requests cpu initContainers overhead affinity nodeAffinity "
    f"{REQUIRED} nodeSelectorTerms matchExpressions tolerations conditions creationTimestamp taints allocatable "
    "selector matchLabels ownerReferences value priority"
).split()
OBJECTS = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
)


@given(st.dictionaries(st.sampled_from(FIELDS[:3]), OBJECTS) | OBJECTS)
def test_whatever_comes_only_a_decode_error_is_raised(obj):
    """No object, however odd, breaks a reader in another way."""
    for read in (decode_pod, decode_node, decode_priority_class, decode_budget):
        with contextlib.suppress(DecodeError):
            read(obj)


@given(st.binary(max_size=60))
def test_whatever_bytes_come_only_a_decode_error_is_raised(data):
    """No bytes break a reader in another way."""
    for read in (pod_from_bytes, node_from_bytes, priority_class_from_bytes, budget_from_bytes):
        with pytest.raises(DecodeError):
            read(data)


@pytest.mark.parametrize("text", ["1e999", "9" * 5000, "1e-999", ".", "", "-", "NaN", "Infinity", "1_000", "٣"])
def test_extreme_quantities_are_read_or_refused(text):
    """Huge and strange quantities neither crash nor hang."""
    with contextlib.suppress(DecodeError):
        decode_pod(pod({"containers": [container({"memory": text})]}))


@pytest.mark.parametrize("spec", [[container({"cpu": "9E"})], [container({"memory": "7E"})] * 2])
def test_a_pod_that_asks_for_more_than_64_bits_is_refused(spec):
    """Read, it would stop every pass over its cluster: no journal takes such a number."""
    with pytest.raises(DecodeError, match="too large"):
        decode_pod(pod({"containers": spec}))


def test_bytes_and_dictionaries_read_alike():
    """The fast path from bytes gives what the slow one gives; items of lists and watches fit it."""
    obj = pod({"nodeName": "n1", "containers": [container({"cpu": "1"})]}, {"phase": "Running"}, uid="u")
    page = msgspec.json.decode(json.dumps({"metadata": {"continue": "x"}, "items": [obj]}), type=ListPage)
    event = msgspec.json.decode(json.dumps({"type": "ADDED", "object": obj}), type=WatchEvent)
    assert page.metadata.continue_ == "x"
    assert decode_pod(obj) == pod_from_bytes(page.items[0]) == pod_from_bytes(event.object)


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
    state, ignored = cluster_state(documents)
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


@pytest.mark.parametrize("documents", [["text"], [{"kind": "List", "items": [3]}], [{"kind": "Pod"}]])
def test_documents_that_are_no_objects_are_decode_errors(documents):
    """A file of something else is refused with a sentence."""
    with pytest.raises(DecodeError):
        cluster_state(documents)


@pytest.mark.parametrize(("told", "want"), [(None, 30), (0, 0), (1, 1), (-1, 1), (-(2**63), 1)])
def test_a_grace_period_below_zero_is_one_second(told: int | None, want: int):
    """As kube-apiserver has it, which lets anybody write such a number: no deadline may lie before the eviction."""
    assert decode_pod(pod({"terminationGracePeriodSeconds": told})).grace_s == want
