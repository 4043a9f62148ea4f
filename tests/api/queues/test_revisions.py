"""Revisions by REST: held against each other, put in force again, parts of them put back."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Revision
from tests.api.builders import NOW, RED
from tests.api.conftest import client_of
from tests.api.rest.test_openapi import check
from tests.api.sending import PROD, errors, put, revisions

pytestmark = pytest.mark.django_db
REVISIONS = "/api/v1/hierarchies/prod-tree/revisions"
DOCUMENTED = "/api/v1/hierarchies/{name}/revisions/{number}"


def send(client: APIClient, act: str, body: Any, number: int = 1, match: str = "") -> Any:
    headers = {"If-Match": match} if match else {}
    address = f"{REVISIONS}/{number}/{act}"
    return client.post(address, json.dumps(body), content_type="application/json", headers=headers)


@pytest.fixture
def twice(cluster: Cluster, ada: APIClient, slower: Any) -> str:
    """An hour later a slower tree without blue is in force; its ETag."""
    slower["queues"] = [queue for queue in slower["queues"] if queue["path"] != "root.blue"]
    with time_machine.travel(NOW + timedelta(hours=1), tick=False):
        return str(put(ada, slower, match="*")["ETag"])


def test_any_two_are_held_against_each_other(ada: APIClient, twice: str) -> None:
    """Against the one before where none is named, in both directions."""
    forth = ada.get(f"{REVISIONS}/2/diff").json()
    assert (forth["revision"], forth["base_revision"]) == (2, 1)
    assert [(one["queue"], one["kind"]) for one in forth["changes"]] == [(RED, "changed"), ("root.blue", "removed")]
    back = ada.get(f"{REVISIONS}/1/diff?base_revision=2")
    assert [(one["queue"], one["kind"]) for one in back.json()["changes"]] == [("root.blue", "added"), (RED, "changed")]
    check(back, f"{DOCUMENTED}/diff", "get")
    assert ada.get(f"{REVISIONS}/1/diff").json()["base_revision"] is None
    assert ada.get(f"{REVISIONS}/1/diff?base_revision=7").status_code == 404


def test_one_is_put_in_force_again_over_what_was_read(ada: APIClient, twice: str) -> None:
    """To the byte, as a revision of its own; never over another one than the sender read."""
    assert send(ada, "roll-back", {"reason": "too slow"}).status_code == 428
    assert send(ada, "roll-back", {"reason": "too slow"}, match='"other"').status_code == 412
    assert revisions() == [1, 2]
    done = send(ada, "roll-back", {"reason": "too slow"}, match=twice)
    assert (done.status_code, done.json()) == (200, {"revision": 3})
    first, third = (Revision.objects.get(number=number) for number in (1, 3))
    assert (third.document, third.reason) == (first.document, "too slow")
    assert done["ETag"] == ada.get(PROD)["ETag"]
    check(done, f"{DOCUMENTED}/roll-back", "post")


def test_a_queue_that_is_gone_comes_back_in_a_draft(ada: APIClient, twice: str) -> None:
    """With what it said; nothing is in force before the draft is published."""
    made = send(ada, "restore", {"queue": "root.blue"})
    assert (made.status_code, Draft.objects.count(), revisions()) == (201, 1, [1, 2])
    (change,) = made.json()["changes"]
    assert (change["queue"], change["kind"]) == ("root.blue", "added")
    check(made, f"{DOCUMENTED}/restore", "post")
    for queue in (RED, "root.gone"):
        assert send(ada, "restore", {"queue": queue}).status_code == 422
    assert [one["pointer"] for one in errors(send(ada, "restore", {}))] == ["/queue"]


def test_which_was_in_force_is_asked_by_time(ada: APIClient, alice: APIClient, twice: str) -> None:
    """None before the first; a tenant is told of none."""
    times = ["2026-01-05T11:59:59Z", "2026-01-05T12:30:00Z", "2026-01-05T13:00:00Z"]
    found = [[one["number"] for one in ada.get(f"{REVISIONS}?at={at}").json()["results"]] for at in times]
    assert found == [[], [1], [2]]
    assert alice.get(f"{REVISIONS}?at={times[1]}").json()["results"] == []


def test_who_reads_puts_nothing_back(olga: APIClient, alice: APIClient, twice: str) -> None:
    """An operator looks; a tenant finds nothing, and a token that only reads is told so."""
    writer = client_of(User.objects.get(username="alice"), scopes=["tree:write"])
    for client, status in ((olga, 403), (alice, 403), (writer, 404)):
        for act, body in (("roll-back", {"reason": "a test"}), ("restore", {"queue": "root.blue"})):
            assert send(client, act, body, match=twice).status_code == status
    assert (olga.get(f"{REVISIONS}/2/diff").status_code, alice.get(f"{REVISIONS}/2/diff").status_code) == (200, 404)
    assert revisions() == [1, 2]
