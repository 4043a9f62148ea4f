"""A tenant's channels by REST: its own alone, without a secret that comes back, and not over somebody else's change."""

import json
from ipaddress import ip_network
from typing import Any

import pytest
from django.core import mail
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, KeptAnswer, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.notifications import services
from scheduler_admin.notifications.models import Channel
from tests.api import builders
from tests.api.conftest import client_of
from tests.notifications.receiver import SECRET, receiving

pytestmark = pytest.mark.django_db
CHANNELS = "/api/v1/notification-channels"
HOOK = {
    "tenant": "red",
    "name": "alerts",
    "kind": "webhook",
    "address": "https://hooks.example.com/canarysecret?token=canarysecret",
    "secret": SECRET,
    "below_guarantee_minutes": 15,
    "language": "zh-hans",
}


@pytest.fixture
def alice(red: Any) -> APIClient:
    """Of red, with a token that may change where it is notified."""
    return client_of(builders.user("alice", red), scopes=["tenant:notify"])


def send(client: APIClient, method: str, address: str, body: Any = None, match: str = "") -> Any:
    headers = {"If-Match": match} if match else {}
    return client.generic(method, address, json.dumps(body or {}), content_type="application/json", headers=headers)


@pytest.fixture
def made(alice: APIClient) -> Any:
    """A webhook of red's."""
    response = send(alice, "POST", CHANNELS, HOOK)
    assert response.status_code == 201, response.json()
    return response


def test_a_channel_is_made_and_read_without_its_secrets(alice: APIClient, made: Any) -> None:
    """By its own tenant, on record; what is secret is nowhere but sealed."""
    found = {
        "id": Channel.objects.get().pk,
        "tenant": "red",
        "name": "alerts",
        "kind": "webhook",
        "destination": "hooks.example.com",
        "language": "zh-hans",
        "about_to_be_preempted": True,
        "preempted": True,
        "eviction_refused": False,
        "preempted_repeatedly": False,
        "preemption_loop": False,
        "daily_digest": False,
        "below_guarantee_minutes": 15,
        "site_events": [],
        "payload_format": "standard-webhooks",
        "enabled": True,
    }
    assert made.json() == {**found, "secret": None}
    assert alice.get(CHANNELS).json() == {"results": [found]}
    one = alice.get(f"{CHANNELS}/{found['id']}")
    assert (one.json(), one["ETag"]) == (found, made["ETag"])
    event = AuditEvent.objects.get(verb="channel.add")
    assert (event.actor_name, event.target, event.details["address"]) == ("alice", "red", "hooks.example.com")
    rows = [str(vars(row)) for model in (Channel, AuditEvent) for row in model.objects.all()]
    assert "canarysecret" not in "".join([*rows, str(made.json()), str(made.headers)])


def test_it_changes_under_its_etag(alice: APIClient, made: Any) -> None:
    """What is not given stays; where it leads can be replaced alone."""
    address = f"{CHANNELS}/{made.json()['id']}"
    sealed = Channel.objects.get().sealed
    done = send(alice, "PATCH", address, {"preempted": False, "below_guarantee_minutes": None}, made["ETag"])
    assert (done.status_code, done.json()["preempted"], done.json()["below_guarantee_minutes"]) == (200, False, None)
    assert Channel.objects.get().sealed == sealed
    assert send(alice, "PATCH", address, {"about_to_be_preempted": False}, made["ETag"]).status_code == 412
    assert send(alice, "PATCH", address, {"about_to_be_preempted": False}).status_code == 428
    moved = send(alice, "PATCH", address, {"address": "https://other.example.com/canarysecret"}, done["ETag"])
    assert (moved.json()["destination"], moved["ETag"] != done["ETag"]) == ("other.example.com", True)
    changes = list(AuditEvent.objects.filter(verb="channel.change").order_by("pk").values_list("details", flat=True))
    assert changes[0]["preempted"] == [True, False]
    assert changes[1]["replaced"] == ["address"]
    assert "canarysecret" not in str(changes)


@pytest.mark.parametrize("fixed", ["kind", "tenant", "destination", "id"])
def test_what_stays_is_not_silently_kept(alice: APIClient, made: Any, fixed: str) -> None:
    """Who asks for another kind, or tenant, is told that there is no such thing to change."""
    response = send(alice, "PATCH", f"{CHANNELS}/{made.json()['id']}", {fixed: "email"}, made["ETag"])
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, f"/{fixed}")


def test_it_is_removed(alice: APIClient, made: Any) -> None:
    """Under its ETag, too."""
    address = f"{CHANNELS}/{made.json()['id']}"
    assert send(alice, "DELETE", address).status_code == 428
    assert send(alice, "DELETE", address, match=made["ETag"]).status_code == 204
    assert (Channel.objects.count(), alice.get(address).status_code) == (0, 404)
    assert AuditEvent.objects.filter(verb="channel.remove", target="red").exists()


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"tenant": "blue"}, "/tenant"),
        ({"tenant": "nobody"}, "/tenant"),
        ({"name": ""}, "/name"),
        ({"kind": "pigeon"}, "/kind"),
        ({"address": "http:///"}, "/address"),
        ({"address": "https://10.0.0.1/"}, "/address"),
        ({"secret": "short"}, "/secret"),
        ({"secret": "whsec_c2hvcnQ="}, "/secret"),
        ({"secret": SECRET.removeprefix("whsec_")}, "/secret"),
        ({"tenant": None}, "/tenant"),
        ({"site_events": ["mode-changed"]}, "/site_events"),
        ({"site_events": ["preempted"]}, "/site_events/0"),
        ({"payload_format": "xml"}, "/payload_format"),
        ({"below_guarantee_minutes": 0}, "/below_guarantee_minutes"),
        ({"language": "xx"}, "/language"),
        ({"kind": "email", "address": "nobody"}, "/address"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_errors_stand_at_their_place(alice: APIClient, wrong: dict[str, Any], pointer: str) -> None:
    """And nothing is stored."""
    create_tenant(name="blue")
    response = send(alice, "POST", CHANNELS, HOOK | wrong)
    assert response.status_code == 422
    assert [error.get("pointer") for error in response.json()["errors"]] == [pointer]
    assert not Channel.objects.exists()
    assert "canarysecret" not in response.content.decode()


SITE_HOOK = {
    "tenant": None,
    "name": "platform",
    "kind": "webhook",
    "address": "https://hooks.example.com/",
    "site_events": ["mode-changed", "cluster-unreadable"],
    "payload_format": "cloudevents",
}


def test_an_admin_adds_a_channel_of_the_site() -> None:
    """It belongs to no tenant, and reports nothing of one."""
    admin = client_of(builders.user("ada", role="admin"), scopes=["tenant:notify"])
    made = send(admin, "POST", CHANNELS, SITE_HOOK)
    assert made.status_code == 201, made.json()
    found = {name: made.json()[name] for name in ("tenant", "preempted", "site_events", "payload_format")}
    assert found == {
        "tenant": None,
        "preempted": False,
        "site_events": ["mode-changed", "cluster-unreadable"],
        "payload_format": "cloudevents",
    }
    address = f"{CHANNELS}/{made.json()['id']}"
    done = send(admin, "PATCH", address, {"site_events": ["preemption-loop"]}, made["ETag"])
    assert (done.status_code, done.json()["site_events"]) == (200, ["preemption-loop"])
    twice = send(admin, "PATCH", address, {"site_events": ["mode-changed"] * 2}, done["ETag"])
    assert (twice.status_code, twice.json()["errors"][0]["pointer"]) == (422, "/site_events")
    tenants = send(admin, "PATCH", address, {"preempted": True}, done["ETag"])
    assert (tenants.status_code, tenants.json()["errors"][0]["pointer"]) == (422, "/preempted")
    assert send(admin, "POST", CHANNELS, SITE_HOOK).status_code == 422  # of the same name
    assert AuditEvent.objects.get(verb="channel.add").target == "*"


def test_channels_of_the_site_are_for_staff(alice: APIClient) -> None:
    """A tenant finds none of them; an operator reads, and changes none."""
    admin = client_of(builders.user("ada", role="admin"), scopes=["tenant:notify"])
    address = f"{CHANNELS}/{send(admin, 'POST', CHANNELS, SITE_HOOK).json()['id']}"
    assert alice.get(CHANNELS).json() == {"results": []}
    assert alice.get(address).status_code == 404
    operator = client_of(builders.user("olga", role="operator"), scopes=["tenant:notify"])
    assert (operator.get(address).status_code, len(operator.get(CHANNELS).json()["results"])) == (200, 1)
    assert send(operator, "PATCH", address, {"site_events": []}, "*").status_code == 403
    assert send(operator, "POST", f"{address}/notifications").status_code == 403
    assert send(operator, "POST", CHANNELS, SITE_HOOK).status_code == 403


def test_two_of_a_name_are_refused(alice: APIClient, made: Any) -> None:
    """Of one tenant."""
    assert send(alice, "POST", CHANNELS, HOOK).status_code == 422


def test_it_takes_the_scope_the_tenant_and_all_of_it(red: Any, made: Any) -> None:
    """A token for trees changes nothing here; one for a subtree sees nothing; nor does another tenant."""
    address = f"{CHANNELS}/{made.json()['id']}"
    bob = client_of(builders.user("bob", red), scopes=["tree:write"])
    refused = send(bob, "PATCH", address, {"about_to_be_preempted": False}, "*")
    assert (refused.status_code, "tenant:notify" in refused["WWW-Authenticate"]) == (403, True)
    narrow = client_of(builders.user("carol", red), scopes=["tenant:notify"], subtree="root.red.batch")
    assert (narrow.get(CHANNELS).status_code, narrow.get(address).status_code) == (404, 404)
    blue = client_of(builders.user("dan", create_tenant(name="blue", namespaces=["b"])), scopes=["tenant:notify"])
    assert (blue.get(CHANNELS).json(), blue.get(address).status_code) == ({"results": []}, 404)
    ada = client_of(builders.user("ada", role=User.Role.ADMIN), scopes=["tenant:notify"])
    assert send(ada, "PATCH", address, {"about_to_be_preempted": False}, made["ETag"]).status_code == 200


def test_a_test_says_what_came_of_it(alice: APIClient) -> None:
    """At once, and beside what else the channel was to tell."""
    by_mail = {"tenant": "red", "name": "mail", "kind": "email", "address": "red@example.com"}
    latest = f"{CHANNELS}/{send(alice, 'POST', CHANNELS, by_mail).json()['id']}/notifications"
    done = send(alice, "POST", latest)
    assert (done.status_code, done.json()["state"], done.json()["error"]) == (200, "sent", "")
    assert mail.outbox[0].to == ["red@example.com"]
    assert alice.get(latest).json()["results"] == [done.json()]
    for _again in range(9):
        send(alice, "POST", latest)
    assert send(alice, "POST", latest).status_code == 422


def test_what_was_given_up_is_listed_and_sent_again(alice: APIClient, made: Any) -> None:
    """One's own alone, by its id; anything else is told at its place."""
    latest = f"{CHANNELS}/{made.json()['id']}/notifications"
    tested = send(alice, "POST", latest).json()
    assert tested["state"] == "failed"  # nobody knows that host here
    assert [row["id"] for row in alice.get(f"{latest}?state=failed").json()["results"]] == [tested["id"]]
    assert alice.get(f"{latest}/{tested['id']}").json() == tested
    assert alice.get(f"{latest}/7b0c1ad8-3a8e-4f4c-9d6f-6a5b0b1c2d3e").status_code == 404
    assert alice.get(f"{latest}?state=sent").json()["results"] == []
    assert alice.get(f"{latest}?state=lost").json()["errors"][0]["parameter"] == "state"
    again = send(alice, "POST", latest, {"id": tested["id"]})
    assert (again.status_code, again.json()["id"], again.json()["attempts"]) == (200, tested["id"], 2)
    for wrong in ("no id", "7b0c1ad8-3a8e-4f4c-9d6f-6a5b0b1c2d3e"):
        refused = send(alice, "POST", latest, {"id": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/id")


def test_without_a_key_no_webhook_is_kept(alice: APIClient, settings: Any) -> None:
    """Mail needs none, but a server."""
    settings.CREDENTIALS_KEYS = []
    assert "CREDENTIALS_KEY" in send(alice, "POST", CHANNELS, HOOK).json()["errors"][0]["detail"]
    settings.EMAIL_HOST = ""
    by_mail = {"tenant": "red", "name": "mail", "kind": "email", "address": "red@example.com"}
    assert "EMAIL_HOST" in send(alice, "POST", CHANNELS, by_mail).json()["errors"][0]["detail"]


def test_a_tenant_has_so_many_channels_and_no_more(alice: APIClient, red: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass writes for each of them; another tenant's are its own."""
    monkeypatch.setattr(services, "MOST", 1)
    mail_to = {"tenant": "red", "kind": "email", "address": "red@example.com"}
    assert send(alice, "POST", CHANNELS, {**mail_to, "name": "one"}).status_code == 201
    refused = send(alice, "POST", CHANNELS, {**mail_to, "name": "two"})
    assert (refused.status_code, "already has 1 channel" in refused.content.decode()) == (422, True)
    blue = client_of(builders.user("bob", create_tenant(name="blue")), scopes=["tenant:notify"])
    assert send(blue, "POST", CHANNELS, {**mail_to, "tenant": "blue", "name": "one"}).status_code == 201


def test_a_secret_that_is_made_here_is_shown_once(alice: APIClient, settings: Any) -> None:
    """It signs what is sent, can be replaced, and is nowhere else: not where the answer is kept to be sent again."""
    body = {name: value for name, value in HOOK.items() if name != "secret"}
    headers = {"Idempotency-Key": "once"}
    made, again = (alice.post(CHANNELS, body, format="json", headers=headers) for _time in range(2))
    first = made.json()["secret"]
    assert len(first) >= 40
    assert again.json() == {**made.json(), "secret": None}
    address = f"{CHANNELS}/{made.json()['id']}"
    assert "secret" not in alice.get(address).json()
    changed = send(alice, "PATCH", address, {"rotate_secret": True}, made["ETag"])
    second = changed.json()["secret"]
    assert (changed.status_code, len(second) >= 40, first == second) == (200, True, False)
    stored = str([list(model.objects.values()) for model in (Channel, KeptAnswer, AuditEvent)])
    assert first not in stored
    assert second not in stored
    settings.NOTIFICATION_NETWORKS = [ip_network("127.0.0.0/8")]
    with receiving() as receiver:
        send(alice, "PATCH", address, {"address": receiver.url}, changed["ETag"])
        assert alice.post(f"{address}/notifications", {}, format="json").json()["state"] == "sent"
    assert len(receiver.verified(second)) == 1


def test_what_is_no_webhook_has_no_secret_to_make(alice: APIClient) -> None:
    """And of two secrets neither is taken."""
    mail = {"tenant": "red", "name": "mail", "kind": "email", "address": "red@example.com"}
    made, hook = (alice.post(CHANNELS, body, format="json") for body in (mail, HOOK))
    for channel, body in ((made, {}), (hook, {"secret": "0123456789abcdef"})):
        address = f"{CHANNELS}/{channel.json()['id']}"
        refused = send(alice, "PATCH", address, {"rotate_secret": True, **body}, channel["ETag"])
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/rotate_secret")
