"""Streams of a real server: nothing is lost, nothing comes twice, and none outlives its reader's rights."""

from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import ApiToken
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.services import events as happenings
from scheduler_admin.rest.streams import events, seats
from tests.api.builders import NOW, decision, red_pod
from tests.api.following import EVENTS, following
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In the end every stream finds out that nobody reads it, and no seat is left to the next test."""
    monkeypatch.setattr(events, "LOOK_EVERY_S", 0.01)
    yield
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.0)
    wait_for(lambda: not seats.taken(), "every seat is left")


@pytest.fixture
def server(live_server: Any) -> str:
    return str(live_server.url)


def happen(cluster: Cluster, name: str) -> None:
    """Something."""
    happenings.decided(cluster, [decision(cluster, ask=red_pod(name))], NOW)


def test_what_happens_meanwhile_is_told(server: str, cluster: Cluster, olga: APIClient) -> None:
    """On a stream that is open already."""
    with following(server, olga, "cluster=prod") as stream:
        assert stream.block() == "retry: 3000\nid: 0\n"
        for number in range(3):
            happen(cluster, f"ask-{number}")
            told = stream.next()
            assert (told.number, told.body["decision"]["pending_pod"]["name"]) == (number + 1, f"ask-{number}")


def test_no_number_is_given_out_without_what_it_counts(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream that read it in between would go on behind what is to come."""

    def fail(_rows: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(happenings, "create", fail)
    with pytest.raises(OSError, match="full"):
        happen(cluster, "ask-0")
    assert happenings.newest(cluster.pk) == 0


def test_who_is_cut_off_goes_on_where_it_was(server: str, cluster: Cluster, olga: APIClient) -> None:
    """Wherever that was: in all its streams together each event comes once, in order."""
    happen(cluster, "ask-0")
    last, found = 0, []
    for cut_after in (1, 2, 1, 3):
        with following(server, olga, "cluster=prod&after=0", **{"Last-Event-ID": str(last)}) as stream:
            for _event in range(cut_after):
                happen(cluster, "another")
                found.append(stream.next().number)
            last = stream.last
        happen(cluster, "while nobody follows")
    assert found == list(range(1, 8))


def test_a_quiet_stream_shows_that_it_lives(
    server: str, cluster: Cluster, olga: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a comment, and by the number up to which there is nothing for its reader."""
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.05)
    with following(server, olga, "cluster=prod") as stream:
        stream.block()
        assert stream.block() == ": still here\nid: 0\n"


def test_a_stream_ends_by_itself(server: str, cluster: Cluster, olga: APIClient) -> None:
    """After the seconds that were asked for."""
    with following(server, olga, "cluster=prod&timeout_seconds=1") as stream:
        assert [stream.block(), stream.block()] == ["retry: 3000\nid: 0\n", ""]


def test_a_token_that_is_revoked_is_told_nothing_more(server: str, cluster: Cluster, olga: APIClient) -> None:
    """Who follows is asked anew before anything is told."""
    with following(server, olga, "cluster=prod") as stream:
        stream.block()
        ApiToken.objects.all().delete()
        happen(cluster, "secret")
        assert stream.block() == ""


def test_there_are_so_many_streams_and_no_more(
    server: str, cluster: Cluster, olga: APIClient, ada: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one reader, and of all; beyond that they are told when to come again, and a seat that is left is free."""
    monkeypatch.setattr(seats, "MOST_EACH", 1)
    monkeypatch.setattr(seats, "MOST", 1)
    with following(server, olga, "cluster=prod") as stream:
        stream.block()
        for client, status in ((olga, 429), (ada, 503)):
            answer = client.get(f"{EVENTS}?cluster=prod")
            assert (answer.status_code, answer["Retry-After"]) == (status, "10")
        happen(cluster, "one")
        stream.next()
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.0)  # by which the server learns that nobody reads any more
    wait_for(lambda: not seats.taken(), "the seat is free")
    assert ada.get(f"{EVENTS}?cluster=prod&timeout_seconds=0").getvalue()
