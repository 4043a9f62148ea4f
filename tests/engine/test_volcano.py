"""Dialect ``volcano`` of policy ``deserved``: its quirks one by one, and what can't be read."""

from typing import Any

import pytest

from engine.formats.volcano.cluster import volcano_cluster
from engine.model.objects import SharePlugin, VolcanoCluster, VolcanoQueue, VolcanoSettings
from engine.model.quantities import Amounts
from engine.policies.volcano import HierarchyError, figures

GPU = "nvidia.com/gpu"


def session(total: Amounts, asks: dict[str, Amounts], *queues: VolcanoQueue, **settings: Any) -> VolcanoCluster:
    """Of plugin ``proportion`` where nothing is said; nothing runs yet."""
    return VolcanoCluster(
        settings=VolcanoSettings(**{"plugin": SharePlugin.PROPORTION, **settings}),
        queues={queue.name: queue for queue in queues},
        total=total,
        requests=asks,
        allocated={name: {} for name in asks},
    )


def queue(name: str, **settings: Any) -> VolcanoQueue:
    """Right below the root."""
    return VolcanoQueue(**{"name": name, "parent": "root", **settings})


def deserved(cluster: VolcanoCluster, resource: str) -> dict[str, str]:
    """Queue -> what it deserves of a resource."""
    return {name: amounts[resource] for name, amounts in figures(cluster)["deserved"].items()}


def test_what_is_left_goes_by_weight_and_what_one_does_not_ask_to_the_others() -> None:
    """In rounds: of 12 cpu, A wants no more than 2 of its 4, and so B and C get 5 each."""
    asks = {"a": {"cpu": 2000}, "b": {"cpu": 9000}, "c": {"cpu": 9000}}
    found = deserved(session({"cpu": 12000}, asks, queue("a"), queue("b"), queue("c")), "cpu")
    assert found == {"a": "2000m", "b": "5000m", "c": "5000m"}


def test_a_guarantee_is_not_taken_from_what_the_others_get() -> None:
    """Of 9 cpu, 11 are deserved: the proposal's first constraint is broken."""
    asks = {name: {"cpu": 9000} for name in "abc"}
    queues = queue("a", guarantee={"cpu": 5000}), queue("b"), queue("c")
    assert deserved(session({"cpu": 9000}, asks, *queues), "cpu") == {"a": "5000m", "b": "3000m", "c": "3000m"}


def test_a_resource_that_is_guaranteed_to_others_completely_is_not_limited_at_all() -> None:
    """All four devices are guaranteed to A; B deserves two of them."""
    asks = {"a": {GPU: 4}, "b": {GPU: 4}}
    cluster = session({"cpu": 1000, GPU: 4}, asks, queue("a", guarantee={GPU: 4}), queue("b"))
    assert deserved(cluster, GPU) == {"a": "4000m", "b": "2000m"}
    assert GPU not in figures(cluster)["realCapability"]["b"]


def test_a_queue_without_a_pod_group_deserves_nothing_but_its_guarantee_is_kept_from_others() -> None:
    """Idle queues take no part."""
    queues = queue("idle", guarantee={"cpu": 4000}), queue("busy")
    assert deserved(session({"cpu": 9000}, {"busy": {"cpu": 9000}}, *queues), "cpu") == {"busy": "5000m"}


def test_a_guarantee_counts_more_than_a_capability() -> None:
    """A queue may deserve more than it can ever have."""
    one = queue("a", guarantee={"cpu": 5000}, capability={"cpu": 2000})
    assert deserved(session({"cpu": 9000}, {"a": {"cpu": 9000}}, one), "cpu") == {"a": "5000m"}


def test_by_capacity_a_queue_deserves_what_its_spec_says() -> None:
    """However much that is together, and whatever anybody asks."""
    queues = queue("a", deserved={"cpu": 8000}, guarantee={"cpu": 1000}), queue("b", deserved={"cpu": 8000})
    cluster = session({"cpu": 9000}, {"a": {}, "b": {}}, *queues, plugin=SharePlugin.CAPACITY)
    assert deserved(cluster, "cpu") == {"a": "8000m", "b": "8000m"}


def test_in_a_tree_of_queues_the_root_is_not_limited_by_the_cluster() -> None:
    """Only where somebody wrote a capability there is one."""
    queues = queue("root", parent=""), queue("a", deserved={"cpu": 20000}), queue("b", capability={"cpu": 3000})
    cluster = session({"cpu": 9000}, {"a": {}}, *queues, plugin=SharePlugin.CAPACITY, hierarchical=True)
    assert deserved(cluster, "cpu") == {"root": "20000m", "a": "20000m", "b": "0m"}
    assert figures(cluster)["realCapability"] == {"root": {}, "a": {}, "b": {"cpu": "3000m"}}


@pytest.mark.parametrize(
    ("queues", "sentence"),
    [
        ([], "not every queue is below the queue root"),
        ([queue("a")], "not every queue is below the queue root"),
        ([queue("root", parent=""), queue("b", parent="c"), queue("c", parent="b")], "not every queue is below"),
        ([queue("root", parent=""), queue("a"), queue("b", parent="a")], "queue a has both queues and PodGroups in it"),
    ],
)
def test_queues_that_are_no_tree_are_refused(queues: list[VolcanoQueue], sentence: str) -> None:
    """As Volcano does, which then schedules nothing."""
    asks: dict[str, Amounts] = {"a": {}} if queues else {}
    with pytest.raises(HierarchyError, match=sentence):
        figures(session({}, asks, *queues, plugin=SharePlugin.CAPACITY, hierarchical=True))


def configured(text: str) -> dict[str, Any]:
    """The ConfigMap of Volcano's scheduler."""
    return {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"volcano-scheduler.conf": text}}


def said(**spec: Any) -> dict[str, Any]:
    """A Queue as a manifest."""
    return {"kind": "Queue", "metadata": {"name": "q"}, "spec": spec}


def test_a_pod_counts_for_the_queue_of_its_pod_group() -> None:
    """Finished ones and those on their way out do not, nor those of a queue that there is not."""
    pods = [
        pod("runs", nodeName="n"),
        pod("waits"),
        pod("leaves", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}, nodeName="n"),
        pod("done", phase="Succeeded", nodeName="n"),
        pod("lost", group="lost"),
    ]
    groups = [
        {"kind": "PodGroup", "metadata": {"name": name, "namespace": "ns"}, "spec": {"queue": at}}
        for name, at in (("g", "q"), ("lost", "nowhere"))
    ]
    found = volcano_cluster([configured(PROPORTION), said(), *groups, *pods])
    assert (found.requests, found.allocated) == ({"q": {"cpu": 2000, "pods": 2}}, {"q": {"cpu": 1000, "pods": 1}})


PROPORTION = "tiers: [{plugins: [{name: gang}, {name: proportion}]}]"


def pod(name: str, *, group: str = "g", phase: str = "", meta: dict[str, Any] | None = None, **spec: Any) -> Any:
    """Of one cpu."""
    annotations = {"scheduling.k8s.io/group-name": group}
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "annotations": annotations, **(meta or {})},
        "spec": {"containers": [container], **spec},
        "status": {"phase": phase or "Pending"},
    }


@pytest.mark.parametrize(
    ("objects", "sentence"),
    [
        ([], "no ConfigMap has a volcano-scheduler.conf"),
        ([configured("tiers: []")], "with one of the plugins proportion, capacity"),
        ([configured("tiers: 3")], "Expected"),
        ([configured("tiers: [")], "This is not valid YAML"),
        ([{"kind": "ConfigMap", "metadata": {"name": "c"}, "data": [1]}], "ConfigMap c"),
        (
            [configured(PROPORTION), {"kind": "Queue", "metadata": {"name": "q"}, "spec": {"weight": 0}}],
            "Queue q: its w",
        ),
        (
            [configured(PROPORTION), {"kind": "Queue", "metadata": {"name": "q"}, "spec": {"deserved": {"cpu": "x"}}}],
            "x is",
        ),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(objects: list[dict[str, Any]], sentence: str) -> None:
    """And nothing is made up for it."""
    with pytest.raises(ValueError, match=sentence):
        volcano_cluster(objects)
