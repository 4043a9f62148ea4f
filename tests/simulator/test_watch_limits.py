"""Watches of the simulator alone: how much it remembers and holds, and when it sends bookmarks.

Of a real API server all that is left to chance or to hours of waiting, so these don't run on one.
"""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from kubernetes import client
from simulated_api import Running, Stream, brief, pod, serve

from simulator.storage.store import Store
from tests.controlplane.wire import Wire
from tests.waiting import PATIENCE_S, wait_for

Watch = Callable[..., Stream]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def core(server: Running) -> client.CoreV1Api:
    """Return the official client for the core group."""
    return client.CoreV1Api(server.api())


@pytest.fixture
def watch() -> Iterator[Callable[..., Stream]]:
    """Return what begins a watch of a server's config maps."""
    begun: list[Stream] = []

    def begin(server: Running, **query: str) -> Stream:
        begun.append(Stream(Wire(server.address), CONFIG_MAPS, **query))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()


def config_map(server: Running, name: str) -> None:
    """Create a config map."""
    server.call(server.store.create, "configmaps", {"metadata": {"name": name}})


def test_bookmark_comes_soon_and_tells_the_version(server: Running, watch: Watch) -> None:
    """A watch that allows bookmarks gets one at once, at the version up to which it has been told everything."""
    version = server.store.resource_version
    stream = watch(server, allowWatchBookmarks="true", resourceVersion=str(version))
    event = stream.next()
    assert (event["type"], event["object"]["kind"]) == ("BOOKMARK", "ConfigMap")
    assert event["object"]["metadata"]["resourceVersion"] == str(version)


def test_watch_ends_when_its_time_is_up_with_a_last_bookmark(
    server: Running, core: client.CoreV1Api, watch: Watch
) -> None:
    """timeoutSeconds ends a watch in order, and its last bookmark covers changes of other kinds too."""
    version = str(server.store.resource_version)
    stream = watch(server, allowWatchBookmarks="true", timeoutSeconds="1", resourceVersion=version)
    core.create_namespaced_pod("default", pod("a"))
    events = stream.rest()
    assert [event["type"] for event in events] == ["BOOKMARK", "BOOKMARK"]
    assert events[1]["object"]["metadata"]["resourceVersion"] == str(server.store.resource_version)


def test_bookmarks_keep_coming(
    server: Running, core: client.CoreV1Api, monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    """A quiet watch gets a bookmark now and then, so that it can resume after changes of other kinds."""
    monkeypatch.setattr("simulator.api.watch.BOOKMARK_SECONDS", 0.05)
    version = str(server.store.resource_version)
    stream = watch(server, allowWatchBookmarks="true", resourceVersion=version)
    core.create_namespaced_pod("default", pod("a"))
    newest = str(server.store.resource_version)
    wait_for(
        lambda: stream.next()["object"]["metadata"]["resourceVersion"] == newest, "a bookmark at the newest version"
    )


def test_client_that_falls_behind_is_cut_off(server: Running, monkeypatch: pytest.MonkeyPatch, watch: Watch) -> None:
    """A watch ends when more is queued than the server wants to hold, and can be resumed without a gap."""
    monkeypatch.setattr("simulator.api.watch.LONGEST_BACKLOG", 5)
    version = str(server.store.resource_version)
    stream = watch(server, resourceVersion=version)
    names = [f"c{number}" for number in range(10)]

    def burst() -> None:
        for name in names:
            server.store.create("configmaps", {"metadata": {"name": name}})

    server.call(burst)
    assert [name for _, name in brief(stream.rest())] == names
    resumed = watch(server, resourceVersion=version, timeoutSeconds="1")
    assert [name for _, name in brief(resumed.rest())] == names


@pytest.mark.parametrize("version", ["1", "999999"])
def test_version_out_of_the_window_is_gone(version: str, watch: Watch) -> None:
    """A watch from a forgotten version, or from another life of the server, gets one ERROR event with 410 and ends."""
    with serve(Store(lambda: datetime.now(UTC), window=3)) as server:
        config_map(server, "a")
        events = watch(server, resourceVersion=version).rest()
    assert [(event["type"], event["object"]["code"], event["object"]["reason"]) for event in events] == [
        ("ERROR", 410, "Expired")
    ]


def test_oldest_version_of_the_window_still_serves(watch: Watch) -> None:
    """A watch may go back exactly as far as the window reaches."""
    with serve(Store(lambda: datetime.now(UTC), window=3)) as server:
        for name in "abcd":
            config_map(server, name)
        oldest = str(server.store.resource_version - 3)
        stream = watch(server, resourceVersion=oldest)
        assert brief([stream.next() for _ in range(3)]) == [("ADDED", "b"), ("ADDED", "c"), ("ADDED", "d")]


def test_shutdown_ends_watches_cleanly(watch: Watch) -> None:
    """When the server stops, an open watch ends as a complete response."""
    ended = threading.Event()
    with serve(Store(lambda: datetime.now(UTC))) as server:
        stream = watch(server, resourceVersion=str(server.store.resource_version))
        events: list[dict[str, Any]] = []

        def read() -> None:
            events.extend(stream.rest())
            ended.set()

        threading.Thread(target=read, daemon=True).start()
    assert ended.wait(PATIENCE_S)
    assert events == []


def test_abandoned_watch_is_forgotten(server: Running, watch: Watch) -> None:
    """A watch whose client has left no longer follows the store."""
    before = len(server.store._subscribers)
    stream = watch(server, resourceVersion=str(server.store.resource_version))
    wait_for(lambda: len(server.store._subscribers) > before, "the watch has begun")
    stream.close()
    wait_for(lambda: len(server.store._subscribers) == before, "the watch has ended")


def test_every_watcher_sees_the_same_order(server: Running, core: client.CoreV1Api, watch: Watch) -> None:
    """Changes that a controller makes in answer to a change arrive after it, at every watcher."""

    def answer(event: Any) -> None:
        if event.type == "ADDED" and event.key == "configmaps":
            server.store.mutate(
                "configmaps", "default", event.object["metadata"]["name"], lambda copy: copy.update(data={"a": "b"})
            )

    version = str(server.store.resource_version)
    unsubscribe = server.call(server.store.subscribe, answer)
    stream = watch(server, resourceVersion=version)
    config_map(server, "a")
    events = [stream.next(), stream.next()]
    unsubscribe()
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED"]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(versions)
