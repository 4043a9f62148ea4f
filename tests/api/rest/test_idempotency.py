"""Requests that write and may be sent again."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import KeptAnswer, User
from scheduler_admin.accounts.services import idempotency
from scheduler_admin.clusters.models import Cluster, Pause, Window
from scheduler_admin.worker.tasks import prune
from tests.api import builders
from tests.api.builders import NOW
from tests.api.conftest import client_of
from tests.notifications.receiver import SECRET

WINDOWS = "/api/v1/windows"
NIGHTS = {
    "cluster": "prod",
    "kind": "deny",
    "weekdays": ["mon"],
    "start_time": "22:00",
    "end_time": "06:00",
    "reason": "quiet",
}


@pytest.fixture
def otto(db: None) -> User:
    return builders.user("otto", role=User.Role.ADMIN)


@pytest.fixture
def ci(otto: User, cluster: Cluster) -> APIClient:
    return client_of(otto, scopes=["cluster:operate"])


def send(client: APIClient, key: str = "one", body: Any = NIGHTS, method: str = "POST", address: str = WINDOWS) -> Any:
    """A request with a key."""
    headers = {"Idempotency-Key": key}
    return client.generic(method, address, json.dumps(body), content_type="application/json", headers=headers)


def test_the_same_again_is_answered_again_and_not_done_again(ci: APIClient) -> None:
    """The answer is the first one's to the letter, and there is one window."""
    first, second = send(ci), send(ci)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert Window.objects.count() == 1


def test_another_key_is_another_request(ci: APIClient) -> None:
    """The test above can fail: without the key's help there are two."""
    send(ci, "one")
    send(ci, "two")
    assert Window.objects.count() == 2


@pytest.mark.parametrize("other", [{"body": {**NIGHTS, "end_time": "07:00"}}, {"address": "/api/v1/pauses"}])
def test_a_key_stands_for_one_request(ci: APIClient, other: Any) -> None:
    """With another body, or elsewhere, it is refused and nothing is done."""
    send(ci)
    refused = send(ci, **other)
    assert (refused.status_code, refused["Content-Type"]) == (422, "application/problem+json")
    assert (Window.objects.count(), Pause.objects.count()) == (1, 0)


def test_while_the_first_runs_the_second_waits(ci: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that comes meanwhile is refused by 409; after the first one's end it has its answer."""
    inner: list[Any] = []
    keep = idempotency.keep

    def meanwhile(**settings: Any) -> None:
        inner.append(send(ci))
        keep(**settings)

    monkeypatch.setattr(idempotency, "keep", meanwhile)
    first = send(ci)
    monkeypatch.undo()
    assert [one.status_code for one in inner] == [409]
    assert send(ci).json() == first.json()
    assert Window.objects.count() == 1


def test_a_request_that_died_is_taken_over(ci: APIClient, otto: User) -> None:
    """What was begun and never ended, as its process was killed, is done by the next after some minutes."""
    send(ci)
    KeptAnswer.objects.update(status=None, body="")
    assert send(ci).status_code == 409
    with time_machine.travel(NOW + idempotency.LONGEST_RUN, tick=False):
        assert send(ci).status_code == 201


def test_what_was_refused_may_be_tried_again(ci: APIClient) -> None:
    """An error changed nothing: its key is free for the same request, and for a better one."""
    wrong = {**NIGHTS, "kind": "never"}
    assert [send(ci, body=wrong).status_code, send(ci, body=wrong).status_code] == [422, 422]
    assert send(ci).status_code == 201


def test_an_answer_is_kept_for_a_day(ci: APIClient) -> None:
    """After that the key is new again, and nothing of it is left in the database."""
    send(ci)
    with time_machine.travel(NOW + timedelta(hours=23, minutes=59), tick=False):
        send(ci)
        prune()
    assert (Window.objects.count(), KeptAnswer.objects.count()) == (1, 1)
    with time_machine.travel(NOW + timedelta(days=1, seconds=1), tick=False):
        send(ci)
        assert Window.objects.count() == 2
    with time_machine.travel(NOW + timedelta(days=3), tick=False):
        prune()
    assert not KeptAnswer.objects.exists()


def test_an_answer_is_for_who_asked(ci: APIClient, otto: User) -> None:
    """Another person's same key is their own; another token of the same user learns nothing by it."""
    send(ci)
    ada = client_of(builders.user("ada", role=User.Role.ADMIN), scopes=["cluster:operate"])
    assert send(ada).status_code == 201
    assert Window.objects.count() == 2
    assert send(client_of(otto, scopes=["cluster:operate"])).status_code == 422


def test_a_delete_is_done_once(ci: APIClient) -> None:
    """The second is told that it is gone as the first was, not that it was never there."""
    address = f"{WINDOWS}/{send(ci).json()['id']}?reason=over"
    codes = [send(ci, "two", {}, "DELETE", address).status_code for _ in range(2)]
    assert codes == [204, 204]
    assert send(ci, "three", {}, "DELETE", address).status_code == 404


@pytest.mark.parametrize("key", ["", "a" * 256, "with blank", "é"])
def test_a_key_that_is_none_is_refused(ci: APIClient, key: str) -> None:
    """By the name of the header."""
    refused = send(ci, key)
    assert (refused.status_code, refused.json()["errors"][0]["header"]) == (400, "Idempotency-Key")


def test_secrets_do_not_lie_in_the_table(red: Any, db: None) -> None:
    """What a webhook is signed with, and its address, are in no column of what is kept."""
    alice = client_of(builders.user("alice", red), scopes=["tenant:notify"])
    hook = {
        "tenant": "red",
        "name": "alerts",
        "kind": "webhook",
        "address": "https://hooks.example.com/canarysecret",
        "secret": SECRET,
        "below_guarantee_minutes": 15,
    }
    assert send(alice, body=hook, address="/api/v1/notification-channels").status_code == 201
    assert "canarysecret" not in str(KeptAnswer.objects.values().get())
