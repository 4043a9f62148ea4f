"""Watches: what they tell, from where they resume, and how they end."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import urllib3
from kubernetes import client, watch
from simulated_api import PATIENCE, Running, pod, serve, until

from engine.simulator.store import Store


class Stream:
    """A raw watch, read line by line."""

    def __init__(self, server: Running, path: str, **query: str) -> None:
        self._pool = urllib3.PoolManager(timeout=PATIENCE, retries=False)
        self.response = self._pool.request(
            "GET", server.address + path, fields={"watch": "true", **query}, preload_content=False
        )
        self._lines = self._read()

    def _read(self) -> Iterator[dict[str, Any]]:
        buffer = b""
        for block in self.response.stream(None):
            *lines, buffer = (buffer + block).split(b"\n")
            yield from map(json.loads, lines)

    def next(self) -> dict[str, Any]:
        """Return the next event."""
        return next(self._lines)

    def rest(self) -> list[dict[str, Any]]:
        """Return all events until the server ends the stream."""
        return list(self._lines)


def brief(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the type and the object's name of each event."""
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


def config_map(server: Running, name: str, **labels: str) -> None:
    """Create a config map, or change its labels."""
    core = client.CoreV1Api(server.api())
    if server.store.find("configmaps", "default", name):
        core.patch_namespaced_config_map(name, "default", {"metadata": {"labels": labels}})
    else:
        core.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": labels}})


CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_watch_resumes_where_a_list_ended(server: Running, core: client.CoreV1Api) -> None:
    """A watch from a list's version tells every later change once, in order, and nothing before."""
    config_map(server, "before")
    version = core.list_namespaced_config_map("default").metadata.resource_version
    config_map(server, "a", x="1")
    config_map(server, "a", x="2")
    core.delete_namespaced_config_map("a", "default")
    config_map(server, "b")
    watcher = watch.Watch()
    seen = []
    for event in watcher.stream(core.list_namespaced_config_map, "default", resource_version=version):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 4:
            watcher.stop()
    assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a"), ("ADDED", "b")]


def test_watch_without_a_version_begins_with_what_there_is(server: Running) -> None:
    """A watch without a resource version first adds every present object, then follows."""
    config_map(server, "a")
    stream = Stream(server, CONFIG_MAPS)
    first = stream.next()
    config_map(server, "b")
    assert brief([first, stream.next()]) == [("ADDED", "a"), ("ADDED", "b")]


def test_selector_turns_changes_into_coming_and_going(server: Running) -> None:
    """An object that begins to match a watch's selector is added, one that ceases is deleted, with the new version."""
    stream = Stream(server, CONFIG_MAPS, labelSelector="x=1", resourceVersion=str(server.store.resource_version))
    config_map(server, "a", x="0")
    config_map(server, "a", x="1")
    config_map(server, "a", x="1", y="2")
    config_map(server, "a", x="3")
    gone = server.store.resource_version
    events = [stream.next() for _ in range(3)]
    assert brief(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    assert events[2]["object"]["metadata"]["resourceVersion"] == str(gone)
    assert events[2]["object"]["metadata"]["labels"]["x"] == "1"


def test_field_selector_on_a_watch_of_pods(server: Running, core: client.CoreV1Api) -> None:
    """A kubelet's watch sees a pod from the moment it is bound to its node."""
    version = str(server.store.resource_version)
    stream = Stream(server, "/api/v1/pods", fieldSelector="spec.nodeName=n1", resourceVersion=version)
    core.create_namespaced_pod("default", pod("elsewhere"))
    core.create_namespaced_pod("default", pod("here"))
    server.call(server.store.bind, "default", "here", "n1")
    assert brief([stream.next()]) == [("ADDED", "here")]


def test_bookmark_comes_soon_and_tells_the_version(server: Running) -> None:
    """A watch that allows bookmarks gets one at once, at the version up to which it has been told everything."""
    version = server.store.resource_version
    stream = Stream(server, CONFIG_MAPS, allowWatchBookmarks="true", resourceVersion=str(version))
    event = stream.next()
    assert (event["type"], event["object"]["kind"]) == ("BOOKMARK", "ConfigMap")
    assert event["object"]["metadata"]["resourceVersion"] == str(version)


def test_watch_ends_when_its_time_is_up_with_a_last_bookmark(server: Running, core: client.CoreV1Api) -> None:
    """timeoutSeconds ends a watch in order, and its last bookmark covers changes of other kinds too."""
    version = str(server.store.resource_version)
    stream = Stream(server, CONFIG_MAPS, allowWatchBookmarks="true", timeoutSeconds="1", resourceVersion=version)
    core.create_namespaced_pod("default", pod("a"))
    events = stream.rest()
    assert [event["type"] for event in events] == ["BOOKMARK", "BOOKMARK"]
    assert events[1]["object"]["metadata"]["resourceVersion"] == str(server.store.resource_version)


def test_bookmarks_keep_coming(server: Running, core: client.CoreV1Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quiet watch gets a bookmark now and then, so that it can resume after changes of other kinds."""
    monkeypatch.setattr("engine.simulator.watch.BOOKMARK_SECONDS", 0.05)
    version = str(server.store.resource_version)
    stream = Stream(server, CONFIG_MAPS, allowWatchBookmarks="true", resourceVersion=version)
    core.create_namespaced_pod("default", pod("a"))
    newest = str(server.store.resource_version)
    until(lambda: stream.next()["object"]["metadata"]["resourceVersion"] == newest, "a bookmark at the newest version")


def test_client_that_falls_behind_is_cut_off(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch ends when more is queued than the server wants to hold, and can be resumed without a gap."""
    monkeypatch.setattr("engine.simulator.watch.LONGEST_BACKLOG", 5)
    version = str(server.store.resource_version)
    stream = Stream(server, CONFIG_MAPS, resourceVersion=version)
    names = [f"c{number}" for number in range(10)]

    def burst() -> None:
        for name in names:
            server.store.create("configmaps", {"metadata": {"name": name}})

    server.call(burst)
    assert [name for _, name in brief(stream.rest())] == names
    resumed = Stream(server, CONFIG_MAPS, resourceVersion=version, timeoutSeconds="1")
    assert [name for _, name in brief(resumed.rest())] == names


def test_initial_events_end_with_a_marked_bookmark(server: Running) -> None:
    """A streamed list sends the present objects and then the bookmark that says so."""
    config_map(server, "a")
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    stream = Stream(server, CONFIG_MAPS, **query)
    assert brief([stream.next()]) == [("ADDED", "a")]
    end = stream.next()
    assert end["type"] == "BOOKMARK"
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


@pytest.mark.parametrize("version", ["1", "999999"])
def test_version_out_of_the_window_is_gone(version: str) -> None:
    """A watch from a forgotten version, or from another life of the server, gets one ERROR event with 410 and ends."""
    with serve(Store(lambda: datetime.now(UTC), window=3)) as server:
        config_map(server, "a")
        events = Stream(server, CONFIG_MAPS, resourceVersion=version).rest()
    assert [(event["type"], event["object"]["code"], event["object"]["reason"]) for event in events] == [
        ("ERROR", 410, "Expired")
    ]


def test_oldest_version_of_the_window_still_serves() -> None:
    """A watch may go back exactly as far as the window reaches."""
    with serve(Store(lambda: datetime.now(UTC), window=3)) as server:
        for name in "abcd":
            config_map(server, name)
        oldest = str(server.store.resource_version - 3)
        stream = Stream(server, CONFIG_MAPS, resourceVersion=oldest)
        assert brief([stream.next() for _ in range(3)]) == [("ADDED", "b"), ("ADDED", "c"), ("ADDED", "d")]


def test_shutdown_ends_watches_cleanly() -> None:
    """When the server stops, an open watch ends as a complete response."""
    ended = threading.Event()
    with serve(Store(lambda: datetime.now(UTC))) as server:
        stream = Stream(server, CONFIG_MAPS, resourceVersion=str(server.store.resource_version))
        events: list[dict[str, Any]] = []

        def read() -> None:
            events.extend(stream.rest())
            ended.set()

        threading.Thread(target=read, daemon=True).start()
    assert ended.wait(PATIENCE)
    assert events == []


def test_abandoned_watch_is_forgotten(server: Running) -> None:
    """A watch whose client has left no longer follows the store."""
    before = len(server.store._subscribers)
    stream = Stream(server, CONFIG_MAPS, resourceVersion=str(server.store.resource_version))
    until(lambda: len(server.store._subscribers) > before, "the watch has begun")
    stream.response.close()
    until(lambda: len(server.store._subscribers) == before, "the watch has ended")


def test_every_watcher_sees_the_same_order(server: Running, core: client.CoreV1Api) -> None:
    """Changes that a controller makes in answer to a change arrive after it, at every watcher."""

    def answer(event: Any) -> None:
        if event.type == "ADDED" and event.key == "configmaps":
            server.store.mutate(
                "configmaps", "default", event.object["metadata"]["name"], lambda copy: copy.update(data={"a": "b"})
            )

    version = str(server.store.resource_version)
    unsubscribe = server.call(server.store.subscribe, answer)
    stream = Stream(server, CONFIG_MAPS, resourceVersion=version)
    config_map(server, "a")
    events = [stream.next(), stream.next()]
    unsubscribe()
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED"]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(versions)
