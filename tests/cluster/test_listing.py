"""A kind is read whole: by pages, or as a stream where the server offers that."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.watching.listing import Lister, ReflectorSettings
from engine.cluster.watching.tables import TABLES
from tests.cluster.doubles import Answer, Asked, scripted
from tests.cluster.test_reflector import EXPIRED, event, listed, pod
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import PATIENCE_S

PODS = next(table for table in TABLES if table.kind == "Pod")
END = {"metadata": {"resourceVersion": "77", "annotations": {"k8s.io/initial-events-end": "true"}}}


def lister(connection: Connection, **settings: Any) -> Lister:
    """One that streams where it can."""
    return Lister(connection, PODS, ReflectorSettings(**{"streamed": True, "list_idle_s": PATIENCE_S, **settings}))


def streaming(*events: Any) -> Any:
    """A server whose streams are these events, and whose pages hold pod ``paged``."""

    def script(asked: Asked, answer: Answer) -> None:
        if "sendInitialEvents" not in asked.query:
            return answer.json(200, listed(pod("paged")))
        answer.begin()
        for one in events:
            one(answer) if callable(one) else answer.line(one)
        return None

    return script


def names(found: Any) -> set[str]:
    return {one.name for one in found.objects.values()}


def test_a_stream_is_whole_at_the_bookmark_that_says_so() -> None:
    """Its version is the bookmark's; nothing is listed beside, and what comes after belongs to the watch."""
    script = streaming(event("ADDED", pod("p1")), event("ADDED", pod("p2")), event("BOOKMARK", END), Answer.hang)
    with scripted(script) as server:
        found = lister(server.connection()).read()
    assert (names(found), found.version) == ({"p1", "p2"}, "77")
    (asked,) = server.asked
    wanted = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    assert wanted.items() <= asked.query.items()
    assert "resourceVersion" not in asked.query


@pytest.mark.parametrize(
    "refusal",
    [
        lambda answer: answer.status(422, "Invalid", "sendInitialEvents is forbidden for watch"),
        lambda answer: answer.status(400, "BadRequest", "resourceVersionMatch is forbidden for watch"),
    ],
)
def test_a_server_that_refuses_streams_is_asked_for_pages_from_then_on(refusal: Any) -> None:
    """What it said once holds until the next start."""

    def script(asked: Asked, answer: Answer) -> None:
        refusal(answer) if "watch" in asked.query else answer.json(200, listed(pod("paged")))

    with scripted(script) as server:
        one = lister(server.connection())
        assert [names(one.read()), names(one.read())] == [{"paged"}, {"paged"}]
    assert ["watch" in asked.query for asked in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    "events",
    [
        [event("ADDED", pod("p1")), Answer.hang],
        [Answer.hang],
        [event("ADDED", pod("p1"))],
        [event("ADDED", pod("p1")), event("BOOKMARK", {"metadata": {"resourceVersion": "5"}}), Answer.hang],
    ],
    ids=["silent after its objects", "silent", "ended", "bookmarks without the mark"],
)
def test_an_old_server_that_takes_it_for_a_plain_watch_is_found_out(events: Any) -> None:
    """No mark ever comes: half a stream is never taken for the whole, pages are read instead."""
    with scripted(streaming(*events)) as server:
        assert names(lister(server.connection(), list_idle_s=0.3).read()) == {"paged"}


@pytest.mark.parametrize(
    ("events", "error"),
    [([event("ERROR", EXPIRED)], ApiFailure), ([lambda answer: answer.raw(b"{nonsense\n")], ConnectionFailure)],
)
def test_a_stream_that_fails_is_told_and_begun_anew_later(events: Any, error: type[Exception]) -> None:
    """An error is no sign that streams are not offered."""
    with scripted(streaming(*events)) as server:
        one = lister(server.connection())
        for _ in range(2):
            with pytest.raises(error):
                one.read()
    assert all("watch" in asked.query for asked in server.asked)


def test_what_can_not_be_read_is_named_in_a_stream_as_in_pages() -> None:
    """Others go on."""
    odd = pod("odd", overhead={"cpu": "much"})
    found = []
    for streamed in (True, False):
        script = streaming(event("ADDED", odd), event("ADDED", pod("p1")), event("BOOKMARK", END))

        def answered(asked: Asked, answer: Answer, script: Any = script) -> None:
            script(asked, answer) if "watch" in asked.query else answer.json(200, listed(odd, pod("p1"), version=77))

        with scripted(answered) as server:
            found.append(lister(server.connection(), streamed=streamed).read())
    assert found[0] == found[1]
    assert list(found[0].odd) == ["Pod a/odd"]
    assert list(found[0].unread) == ["uid-odd"]


def test_servers_stream_what_they_list(cluster: AnyCluster, connection: Connection) -> None:
    """The simulator does, and so do real ones: neither has to be asked for pages."""
    for number in range(5):
        cluster.add_pod(f"p{number}")
    streaming = lister(connection, page=1)
    whole, paged = streaming.read(), lister(connection, streamed=False, page=2).read()
    assert streaming.streams
    assert {f"p{number}" for number in range(5)} <= names(whole) == names(paged)
    assert int(whole.version) <= int(paged.version)


@pytest.mark.parametrize("options", [{"sendInitialEvents": "true"}, {"resourceVersionMatch": "NotOlderThan"}])
def test_servers_refuse_half_of_the_options_of_a_stream(connection: Connection, options: dict[str, str]) -> None:
    """In one way, by which those that offer no streams refuse all of them."""
    with pytest.raises(ApiFailure) as caught:
        connection.stream(PODS.path, query={"watch": "true", **options}, idle_timeout_s=PATIENCE_S)
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    assert "resourceVersionMatch: Forbidden: " in caught.value.message


@pytest.mark.parametrize("streamed", [True, False])
def test_what_is_the_same_as_before_is_the_same_object(streamed: bool) -> None:
    """A list that is read again costs no second copy of a cluster in which little changed."""
    both = [pod("same"), pod("changed")]
    script = streaming(*[event("ADDED", one) for one in both], event("BOOKMARK", END))
    pages = lambda asked, answer: answer.json(200, listed(*both))  # noqa: E731
    with scripted(script if streamed else pages) as server:
        one = lister(server.connection(), streamed=streamed)
        first = one.read().objects
        before = {key: replace(obj, priority=7) if obj.name == "changed" else obj for key, obj in first.items()}
        again = one.read(before).objects
    kept = {obj.name for key, obj in again.items() if obj is before[key]}
    assert (again, kept) == (first, {"same"})
