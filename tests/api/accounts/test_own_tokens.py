"""One's own tokens by REST: made and told once, within what makes them; listed; revoked."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.test import APIClient

from scheduler_admin.accounts.api import authentication
from scheduler_admin.accounts.models import ApiToken, AuditEvent, KeptAnswer, Tenant, User
from scheduler_admin.accounts.services.own_tokens import MOST
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.clusters.models import Cluster
from tests.api import builders
from tests.api.conftest import client_of
from tests.api.rest.test_openapi import check
from tests.api.sending import errors

URL, TREE = "/api/v1/tokens", "/api/v1/hierarchies/prod-tree/tree"


def make(client: APIClient, **body: Any) -> Any:
    return client.post(URL, {"name": "ci", **body}, format="json")


def bearer(response: Any) -> APIClient:
    """A client that sends the token that was made."""
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {response.json()['token']}")


def signed_in(user: User) -> APIClient:
    """A client with a session."""
    client = APIClient()
    client.force_login(user)
    return client


def test_a_token_is_told_once_and_is_good(cluster: Cluster, red: Tenant) -> None:
    """For reading, for 90 days, unless something else is said; no list tells it again."""
    client = signed_in(builders.user("alice", red))
    made = make(client)
    body = made.json()
    assert (made.status_code, body["user"], body["scopes"], body["subtree"]) == (201, "alice", ["read"], "")
    assert body["expires_at"] == "2026-04-05T12:00:00Z"
    assert body["token"].startswith(body["prefix"])
    assert "no-store" in made["Cache-Control"]
    assert bearer(made).get(TREE).status_code == 200
    (listed,) = client.get(URL).json()["results"]
    assert listed == {name: value for name, value in body.items() if name != "token"} | {
        "last_used_at": "2026-01-05T12:00:00Z"
    }
    check(made, URL, "post")
    check(client.get(URL), URL, "get")
    assert body["token"] not in str(AuditEvent.objects.values_list("details"))
    never = make(client, lifetime_days=None, scopes=["tree:plan"], subtree="root.red").json()
    assert (never["expires_at"], never["scopes"], never["subtree"]) == (None, ["tree:plan"], "root.red")


def test_a_token_makes_none_that_may_do_more_or_lives_longer(db: None) -> None:
    """Neither by scope, nor by subtree, nor by time; what is left out is as its own."""
    ada = builders.user("ada", role=User.Role.ADMIN)
    maker = client_of(ada, scopes=["tree:write"], subtree="root.red", lifetime=timedelta(days=7))
    made = make(maker)
    assert (made.json()["subtree"], made.json()["expires_at"]) == ("root.red", "2026-01-12T12:00:00Z")
    assert make(maker, scopes=["tree:plan"], subtree="root.red.batch", lifetime_days=1).status_code == 201
    for wrong, place in (
        ({"scopes": ["site:administer"]}, "/scopes"),
        ({"subtree": ""}, "/subtree"),
        ({"subtree": "root.blue"}, "/subtree"),
        ({"lifetime_days": 8}, "/lifetime_days"),
        ({"lifetime_days": None}, "/lifetime_days"),
    ):
        assert errors(make(maker, **wrong)) == [{"pointer": place}]
    reader = client_of(ada, scopes=["read"])
    assert errors(make(reader, scopes=["tree:plan"])) == [{"pointer": "/scopes"}]
    assert ApiToken.objects.count() == 4


def test_what_is_wrong_is_said_at_its_place(alice: APIClient) -> None:
    """A name, a known scope, a path, a time to come."""
    assert errors(alice.post(URL, {}, format="json")) == [{"pointer": "/name"}]
    for wrong, place in (
        ({"scopes": ["all"]}, "/scopes/0"),
        ({"scopes": []}, "/scopes"),
        ({"lifetime_days": 0}, "/lifetime_days"),
    ):
        assert errors(make(alice, **wrong)) == [{"pointer": place}]
    assert errors(make(alice, subtree="no path")) == [{"pointer": "/subtree"}]


def test_its_answer_is_never_kept(alice: APIClient) -> None:
    """So it takes no idempotency key."""
    response = alice.post(URL, {"name": "ci"}, format="json", headers={"Idempotency-Key": "one"})
    assert (response.status_code, errors(response)) == (400, [{"header": "Idempotency-Key"}])
    assert (KeptAnswer.objects.count(), ApiToken.objects.count()) == (0, 1)


def test_a_clusters_token_makes_none(red: Tenant, monkeypatch: Any) -> None:
    """Its life is short on purpose; it lists all the same."""
    user = builders.user("pod", red)
    monkeypatch.setattr(authentication, "bearer", lambda token, **_: user if token == "of-a-cluster" else None)
    client = APIClient(HTTP_AUTHORIZATION="Bearer of-a-cluster")
    assert (make(client).status_code, client.get(URL).status_code) == (403, 200)
    assert not ApiToken.objects.exists()


def test_nobody_makes_tokens_without_end(alice: APIClient) -> None:
    """One has to be revoked first."""
    user = User.objects.get(username="alice")
    for number in range(MOST - 1):
        create_token(user=user, name=f"token {number}")
    assert make(alice).status_code == 422


def test_a_revoked_token_is_refused(red: Tenant) -> None:
    """One's own, the one that asks too; never one that may do more."""
    user = builders.user("alice", red)
    strong, weak = client_of(user, scopes=["tree:plan"]), client_of(user, scopes=["read"])
    first, second = ApiToken.objects.order_by("pk")
    assert weak.delete(f"{URL}/{first.pk}?reason=leaked").status_code == 403
    assert weak.delete(f"{URL}/{second.pk}").status_code == 400
    assert strong.delete(f"{URL}/{second.pk}?reason=leaked").status_code == 204
    assert (weak.get(URL).status_code, strong.get(URL).status_code) == (401, 200)
    event = AuditEvent.objects.get(verb="token.revoke")
    assert (event.actor_name, event.reason, event.details["token"]) == ("alice", "leaked", first.prefix)
    assert strong.delete(f"{URL}/{first.pk}?reason=done").status_code == 204
    assert strong.get(URL).status_code == 401


def test_tokens_of_others_are_for_who_administers_the_site(alice: APIClient, bob: APIClient, olga: APIClient) -> None:
    """Nobody else finds them, by name or by number."""
    theirs = ApiToken.objects.get(user__username="alice")
    for client in (bob, olga):
        assert client.get(URL, {"user": "alice"}).json()["results"] == []
        assert client.delete(f"{URL}/{theirs.pk}?reason=spite").status_code == 404
    root = client_of(builders.user("root", role=User.Role.ADMIN), scopes=["site:administer"])
    assert [row["id"] for row in root.get(URL, {"user": "alice"}).json()["results"]] == [theirs.pk]
    assert [row["user"] for row in root.get(URL).json()["results"]] == ["root"]
    assert root.delete(f"{URL}/{theirs.pk}?reason=left").status_code == 204
    assert alice.get(URL).status_code == 401


def test_they_are_listed_page_by_page(alice: APIClient) -> None:
    """The newest first."""
    for name in ("second", "third"):
        assert make(alice, name=name).status_code == 201
    first = alice.get(URL, {"limit": 2}).json()
    second = alice.get(first["next"]).json()
    assert [row["name"] for row in (*first["results"], *second["results"])] == ["third", "second", "test"]
    assert timezone.now().isoformat()[:19] in first["results"][0]["created_at"]
