"""Watches: what they tell, from where they resume, and how they end."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import client, watch
from simulated_api import Stream, brief, pod

from tests.controlplane.anycluster import AnyCluster, path_of


@pytest.fixture
def stream(cluster: AnyCluster) -> Iterator[Callable[..., Stream]]:
    """Return what begins a watch, of the config maps of the test's namespace unless it says another path."""
    begun: list[Stream] = []

    def begin(path: str = "", **query: str) -> Stream:
        begun.append(Stream(cluster.entrance.wire(), path or path_of("configmaps", cluster.namespace), **query))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()


def version(cluster: AnyCluster) -> str:
    """Return that of the cluster now."""
    return str(cluster.send("GET", path_of("configmaps", cluster.namespace))["metadata"]["resourceVersion"])


def config_map(cluster: AnyCluster, name: str, **labels: str) -> dict[str, Any]:
    """Create a config map, or change its labels."""
    if cluster.find("configmaps", name):
        return cluster.change("configmaps", name, lambda copy: copy["metadata"].update(labels=labels))
    return cluster.create("configmaps", {"metadata": {"name": name, "labels": labels}})


def test_watch_resumes_where_a_list_ended(cluster: AnyCluster, core: client.CoreV1Api) -> None:
    """A watch from a list's version tells every later change once, in order, and nothing before."""
    config_map(cluster, "before")
    version = core.list_namespaced_config_map(cluster.namespace).metadata.resource_version
    config_map(cluster, "a", x="1")
    config_map(cluster, "a", x="2")
    core.delete_namespaced_config_map("a", cluster.namespace)
    config_map(cluster, "b")
    watcher = watch.Watch()
    seen = []
    for event in watcher.stream(core.list_namespaced_config_map, cluster.namespace, resource_version=version):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 4:
            watcher.stop()
    assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a"), ("ADDED", "b")]


def test_watch_without_a_version_begins_with_what_there_is(cluster: AnyCluster, stream: Callable[..., Stream]) -> None:
    """A watch without a resource version first adds every present object, then follows."""
    config_map(cluster, "a")
    events = stream()
    first = events.next()
    config_map(cluster, "b")
    assert brief([first, events.next()]) == [("ADDED", "a"), ("ADDED", "b")]


def test_selector_turns_changes_into_coming_and_going(cluster: AnyCluster, stream: Callable[..., Stream]) -> None:
    """An object that begins to match a watch's selector is added, one that ceases is deleted, with the new version."""
    watched = stream(labelSelector="x=1", resourceVersion=version(cluster))
    config_map(cluster, "a", x="0")
    config_map(cluster, "a", x="1")
    config_map(cluster, "a", x="1", y="2")
    gone = config_map(cluster, "a", x="3")["metadata"]["resourceVersion"]
    events = [watched.next() for _ in range(3)]
    assert brief(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    assert events[2]["object"]["metadata"]["resourceVersion"] == gone
    assert events[2]["object"]["metadata"]["labels"]["x"] == "1"


def test_field_selector_on_a_watch_of_pods(
    cluster: AnyCluster, core: client.CoreV1Api, stream: Callable[..., Stream]
) -> None:
    """A kubelet's watch sees a pod from the moment it is bound to its node."""
    watched = stream("/api/v1/pods", fieldSelector="spec.nodeName=n1", resourceVersion=version(cluster))
    core.create_namespaced_pod(cluster.namespace, pod("elsewhere"))
    core.create_namespaced_pod(cluster.namespace, pod("here"))
    cluster.bind("here", "n1")
    assert brief([watched.next()]) == [("ADDED", "here")]


def test_initial_events_end_with_a_marked_bookmark(cluster: AnyCluster, stream: Callable[..., Stream]) -> None:
    """A streamed list sends the present objects and then the bookmark that says so."""
    config_map(cluster, "a")
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    watched = stream(**query)
    assert brief([watched.next()]) == [("ADDED", "a")]
    end = watched.next()
    assert end["type"] == "BOOKMARK"
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_watch_of_a_forgotten_version_is_gone(cluster: AnyCluster, stream: Callable[..., Stream]) -> None:
    """It gets one ERROR event with 410 and ends."""
    old = version(cluster)
    for name in "ab":
        cluster.create("events", {"metadata": {"name": name}, "involvedObject": {"namespace": cluster.namespace}})
    cluster.forget()
    events = stream(path_of("events", cluster.namespace), resourceVersion=old).rest()
    assert [(event["type"], event["object"]["code"], event["object"]["reason"]) for event in events] == [
        ("ERROR", 410, "Expired")
    ]


def test_watch_ends_when_its_time_is_up(stream: Callable[..., Stream]) -> None:
    """As a complete answer, so that a client knows that it missed nothing."""
    assert stream(timeoutSeconds="1").rest() == []
