"""One kind, followed through everything that can go wrong."""

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from engine.cluster.connecting import paging
from engine.cluster.connecting.connection import Query
from engine.cluster.timing import BackOff
from engine.cluster.watching.listing import ReflectorSettings
from engine.cluster.watching.reflector import Reflector
from engine.cluster.watching.tables import TABLES
from engine.formats.kubernetes.wire import ListPage
from tests.cluster.doubles import Answer, Asked, ManualClock, Scripted, scripted
from tests.waiting import PATIENCE_S, wait_for

PODS = next(table for table in TABLES if table.kind == "Pod")


def pod(name: str, version: int = 1, **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "a", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"kind": "Pod", "metadata": meta, "spec": spec}


def listed(*pods: dict[str, Any], version: int = 10, more: str = "") -> dict[str, Any]:
    return {"kind": "PodList", "metadata": {"resourceVersion": str(version), "continue": more}, "items": list(pods)}


def event(kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "object": obj}


EXPIRED = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


class Kept:
    """A sink that keeps everything, and counts the lists."""

    def __init__(self) -> None:
        self.pods: dict[Any, Any] = {}
        self.lists = 0

    def known(self, table):
        return self.pods

    def replace(self, table, objects, unread) -> None:
        self.pods = {**{key: self.pods[key] for key in unread if key in self.pods}, **objects}
        self.lists += 1

    def put(self, table, key, obj) -> None:
        self.pods[key] = obj

    def put_unread(self, table, key, data) -> None:
        """What is there stays."""

    def remove(self, table, key) -> None:
        self.pods.pop(key, None)

    def refuse(self, table) -> None:
        """Nothing is done without here."""

    @property
    def names(self) -> set[str]:
        return {one.name for one in self.pods.values()}


class Play:
    """A script of lists and watches, played one after the other; the last watch stays open and silent."""

    def __init__(self, lists: list[Any], watches: list[Any]) -> None:
        self.lists, self.watches = lists, watches

    def __call__(self, asked: Asked, answer: Answer) -> None:
        if "watch" not in asked.query:
            step = self.lists.pop(0)
            return step(answer) if callable(step) else answer.json(200, step)
        if not self.watches:
            answer.begin()
            return answer.hang()
        step = self.watches.pop(0)
        if callable(step):
            return step(answer)
        answer.begin()
        for one in step:
            one(answer) if callable(one) else answer.line(one)
        return None


@contextlib.contextmanager
def following(play: Play, **settings: Any) -> Iterator[tuple[Kept, Reflector, Scripted]]:
    sink = Kept()
    with scripted(play) as server:
        reflector = Reflector(
            server.connection(),
            PODS,
            sink,
            settings=ReflectorSettings(**settings),
            back_off=BackOff(first_s=0.001, longest_s=0.002),
        )
        reflector.start()
        try:
            yield sink, reflector, server
        finally:
            reflector.stop()
            assert reflector.join(PATIENCE_S), "the thread did not stop"


def watched_from(server: Scripted) -> list[str]:
    return [asked.query["resourceVersion"] for asked in server.asked if "watch" in asked.query]


def test_a_list_is_read_page_by_page_and_taken_over_as_one():
    """All pages make one list; the watch goes on from its version."""
    play = Play([listed(pod("p1"), more="next"), listed(pod("p2"))], [])
    with following(play, page=1) as (sink, reflector, server):
        wait_for(lambda: watched_from(server), "the watch has begun")
        assert (sink.names, sink.lists, reflector.health.synced) == ({"p1", "p2"}, 1, True)
        assert [asked.query for asked in server.asked[:2]] == [{"limit": "1"}, {"limit": "1", "continue": "next"}]
        assert watched_from(server) == ["10"]


def test_the_next_page_is_read_while_one_is_used():
    """Nobody waits for the server in the meantime."""
    asked: list[Query] = []

    def read(query: Query) -> ListPage:
        asked.append(query)
        return msgspec.convert({"metadata": {} if "continue" in query else {"continue": "next"}}, ListPage)

    each = paging.pages(read, {"limit": 1})
    next(each)
    wait_for(lambda: len(asked) == 2, "the next page is read")
    assert [*map(len, asked), len(list(each))] == [1, 2, 1]


def test_a_list_without_end_is_none(monkeypatch: pytest.MonkeyPatch):
    """It is begun anew after a while, as after any answer that can't be right; nothing of it is taken over."""
    monkeypatch.setattr(paging, "MOST_PAGES", 3)
    endless = [listed(pod(f"p{number}"), more="next") for number in range(3)]
    with following(Play([*endless, listed(pod("p9"))], []), page=1) as (sink, _reflector, server):
        wait_for(lambda: sink.lists, "a list was read")
        assert sink.names == {"p9"}
        assert ["continue" in asked.query for asked in server.asked[:4]] == [False, True, True, False]


def test_a_list_whose_next_page_has_expired_is_begun_anew():
    """Half a list is never taken for a whole one."""
    expired = lambda answer: answer.json(410, EXPIRED)  # noqa: E731 - a step of the script
    play = Play([listed(pod("old"), more="next"), expired, listed(pod("p1"))], [])
    with following(play) as (sink, _, server):
        wait_for(lambda: sink.lists, "a list was read")
        assert sink.names == {"p1"}
        assert "continue" not in server.asked[2].query


def test_changes_are_followed():
    """Added, changed and deleted objects come and go."""
    changes = [
        event("ADDED", pod("p2", 11)),
        event("MODIFIED", pod("p1", 12, nodeName="n1")),
        event("DELETED", pod("p2", 13)),
    ]
    with following(Play([listed(pod("p1"))], [changes])) as (sink, _, server):
        wait_for(lambda: "13" in watched_from(server), "the watch goes on behind the last change")
        assert {one.name: one.node for one in sink.pods.values()} == {"p1": "n1"}


def test_a_watch_cut_in_the_middle_of_a_line_resumes_where_it_was():
    """After half a line the watch goes on from the last whole one; nothing is listed again or lost."""
    half = lambda answer: answer.raw(b'{"type":"ADDED","obj')  # noqa: E731 - a step of the script
    play = Play([listed()], [[event("ADDED", pod("p1", 11)), half], [event("ADDED", pod("p2", 12))]])
    with following(play) as (sink, _, server):
        wait_for(lambda: sink.names == {"p1", "p2"}, "both pods have come")
        assert (sink.lists, watched_from(server)[:2]) == (1, ["10", "11"])


def test_a_watch_that_is_reset_resumes_where_it_was():
    """After a TCP reset the watch goes on from the same version; nothing is listed again."""
    with following(Play([listed()], [Answer.reset, [event("ADDED", pod("p1", 11))]])) as (sink, _, server):
        wait_for(lambda: sink.names == {"p1"}, "the pod has come")
        assert (sink.lists, watched_from(server)[:2]) == (1, ["10", "10"])


def test_a_silent_watch_resumes_where_it_was():
    """Half a line and then silence counts as broken after the idle time."""
    half = [lambda answer: answer.raw(b'{"type"'), Answer.hang]
    play = Play([listed()], [half, [event("ADDED", pod("p1", 11))]])
    with following(play, watch_s=0, idle_margin_s=0.5) as (sink, _, server):
        wait_for(lambda: sink.names == {"p1"}, "the pod has come")
        assert (sink.lists, watched_from(server)[:2]) == (1, ["10", "10"])


def test_a_bookmark_moves_the_version():
    """A quiet kind resumes from its bookmark, not from a version that the server has long forgotten."""
    play = Play([listed()], [[event("BOOKMARK", {"metadata": {"resourceVersion": "99"}})]])
    with following(play) as (_, _, server):
        wait_for(lambda: len(watched_from(server)) == 2, "the watch was resumed")
        assert watched_from(server) == ["10", "99"]


@pytest.mark.parametrize(
    "expired",
    [lambda answer: answer.json(410, EXPIRED), [event("ADDED", pod("p2", 11)), event("ERROR", EXPIRED)]],
)
def test_a_watch_that_is_too_old_lists_again(expired):
    """On 410, as an answer or within a watch, the new list replaces all: what vanished meanwhile is gone."""
    play = Play([listed(pod("p1")), listed(pod("p3"), version=50)], [expired])
    with following(play) as (sink, _, server):
        wait_for(lambda: "50" in watched_from(server), "the watch goes on from the new list")
        assert (sink.names, sink.lists) == ({"p3"}, 2)


def test_a_line_that_is_no_event_lists_again():
    """A line that can't be read would come again on resuming, so the state is listed instead."""
    play = Play([listed(), listed(pod("p1"), version=50)], [[lambda answer: answer.raw(b"nonsense\n")]])
    with following(play) as (sink, _, server):
        wait_for(lambda: "50" in watched_from(server), "the watch goes on from the new list")
        assert sink.names == {"p1"}


def test_one_odd_object_is_reported_and_skipped():
    """An object that can't be read is named; others go on, its last good state stays, and it recovers."""
    bad = pod("odd", 11, priority="high")
    changes = [[event("MODIFIED", bad), event("ADDED", pod("p2", 12))], [event("MODIFIED", pod("odd", 13))]]
    play = Play([listed(pod("odd"), pod("worse", overhead={"cpu": "much"}))], changes[:1])
    with following(play) as (sink, reflector, server):
        wait_for(lambda: "12" in watched_from(server), "the watch went on behind the odd object")
        assert sink.names == {"odd", "p2"}
        assert set(reflector.health.odd) == {"Pod a/odd", "Pod a/worse"}
        assert "much is not a valid amount" in reflector.health.odd["Pod a/worse"]
    with following(Play([listed(bad)], changes[1:])) as (sink, reflector, server):
        wait_for(lambda: "13" in watched_from(server), "the object has changed")
        assert (sink.names, reflector.health.odd) == ({"odd"}, {})


def test_an_odd_object_in_a_new_list_keeps_its_last_good_state():
    """A pod that can't be read any more still holds its room."""
    odd = pod("p1")
    odd["metadata"]["creationTimestamp"] = "yesterday"
    play = Play([listed(pod("p1")), listed(odd, version=50)], [[event("ERROR", EXPIRED)]])
    with following(play) as (sink, _, server):
        wait_for(lambda: "50" in watched_from(server), "the list was read again")
        assert sink.names == {"p1"}


class Noted(BackOff):
    """A back-off that notes its waits and what was wrong, and waits for nothing."""

    def __init__(self) -> None:
        super().__init__(1.0, 4.0, jitter=lambda: 1.0)
        self.waits: list[float] = []
        self.errors: list[str] = []
        self.reflector: Reflector

    def next_s(self, at_least_s: float | None = None) -> float:
        self.waits.append(super().next_s(at_least_s))
        self.errors.append(self.reflector.health.error)
        return 0.0


@contextlib.contextmanager
def noting(play: Play, clock: ManualClock | None = None) -> Iterator[Noted]:
    noted = Noted()
    with scripted(play) as server:
        noted.reflector = Reflector(server.connection(), PODS, Kept(), clock=clock or ManualClock(), back_off=noted)
        noted.reflector.start()
        try:
            yield noted
        finally:
            noted.reflector.stop()
            assert noted.reflector.join(PATIENCE_S)


def test_a_server_in_trouble_is_waited_for():
    """Errors are told as a sentence while they last, gone with the first success, and Retry-After is obeyed."""
    trouble = lambda answer: answer.status(503, "", "etcd is away", headers={"Retry-After": "9"})  # noqa: E731
    with noting(Play([trouble, Answer.reset, listed(pod("p1"))], [])) as noted:
        health = noted.reflector.health
        wait_for(lambda: health.synced and not health.error, "a list was read and the error is gone")
        assert noted.waits == [9.0, 2.0]
        assert noted.errors[0] == "etcd is away"
        assert "broke" in noted.errors[1]


def test_the_same_trouble_is_a_warning_once(caplog: pytest.LogCaptureFixture):
    """A kind that may not be read would fill the log for months."""
    refused = lambda answer: answer.status(403, "Forbidden", "no")  # noqa: E731
    with noting(Play([refused, refused, refused, listed(pod("p1"))], [])) as noted:
        wait_for(lambda: noted.reflector.health.synced, "a list was read")
    warned = [one for one in caplog.records if one.levelname == "WARNING" and one.getMessage().endswith(" s: no")]
    assert len(warned) == 1


def test_watches_that_end_at_once_are_not_hammered():
    """A server that ends every watch at once is left alone for longer and longer."""
    with noting(Play([listed()], [[] for _ in range(4)])) as noted:
        wait_for(lambda: len(noted.waits) == 4, "four waits")
        assert noted.waits == [1.0, 2.0, 4.0, 4.0]


def test_lists_that_succeed_while_watches_fail_slow_down():
    """Only a watch that brings something starts the waits over, or a sick server would be listed without end."""
    bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "11"}})
    expired = [event("ERROR", EXPIRED)]
    with noting(Play([listed() for _ in range(4)], [expired, expired, [bookmark, *expired]])) as noted:
        wait_for(lambda: len(noted.waits) == 3, "three waits")
        assert noted.waits == [1.0, 2.0, 1.0]


def test_a_server_that_comes_back_and_knows_no_old_versions_is_listed_at_once():
    """It was away for a minute and waits had grown; that it says 410 shows that it is there again."""
    clock = ManualClock()

    def back(answer: Answer) -> None:
        clock.now_s += 60
        answer.status(410, "Expired", "too old resource version")

    play = Play([listed(), listed()], [Answer.reset, Answer.reset, Answer.reset, back])
    with noting(play, clock) as noted:
        wait_for(lambda: len(noted.waits) == 4, "four waits")
        assert noted.waits == [1.0, 2.0, 4.0, 1.0]


def test_a_wait_is_never_shorter_than_the_server_asks_for():
    """Retry-After counts, jitter takes at most half, success starts over."""
    waits = BackOff(1.0, 4.0, jitter=lambda: 0.0)
    assert [waits.next_s(), waits.next_s(), waits.next_s(9.0)] == [0.5, 1.0, 9.0]
    waits.reset()
    assert waits.next_s() == 0.5


def test_every_sign_of_life_is_noted():
    """The age of the picture is counted from the last list, event, bookmark or orderly end."""
    clock = ManualClock()

    def later(answer: Answer) -> None:
        clock.now_s += 50
        answer.line(event("BOOKMARK", {"metadata": {"resourceVersion": "11"}}))

    with scripted(Play([listed()], [[later, Answer.hang]])) as server:
        reflector = Reflector(server.connection(), PODS, Kept(), clock=clock)
        reflector.start()
        wait_for(lambda: reflector.health.last_event_at == 1_050.0, "the bookmark was noted")
        assert reflector.health.last_sync_at == 1_000.0
        reflector.stop()
        assert reflector.join(PATIENCE_S)
