"""The pages of notifications: a tenant sets up its channels, nothing secret comes back, a test tells the truth."""

import re
from ipaddress import ip_network
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from scheduler_admin.accounts.models import AuditEvent, Tenant
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.notifications.models import Channel, Notification
from tests.notifications.receiver import SECRET, Receiver, receiving

pytestmark = pytest.mark.django_db
LIST = "/notifications/"
MAIL = {
    "tenant": "red",
    "name": "the team",
    "kind": "email",
    "address": "red@example.com",
    "going": "on",
    "language": "en",
}
HOOK = {
    **MAIL,
    "name": "alerts",
    "kind": "webhook",
    "address": "https://hooks.example.com/canarysecret",
    "secret": SECRET,
}


@pytest.fixture
def red(db: None) -> Tenant:
    return create_tenant(name="red", namespaces=["red"], subtrees=["root.red"])


def browser(name: str, role: str = "tenant", **memberships: Any) -> Client:
    """Somebody who is signed in."""
    client = Client()
    client.force_login(create_user(username=name, role=role, **memberships))
    return client


@pytest.fixture
def alice(red: Tenant) -> Client:
    return browser("alice", tenants=[red])


def html(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def page_of(channel: Channel) -> str:
    return f"{LIST}{channel.pk}/"


def test_a_tenant_adds_a_channel_and_finds_it(alice: Client) -> None:
    """From the account's menu; whole sentences where there is none yet."""
    assert 'href="/notifications/"' in html(alice, "/pods/")
    assert "No notifications are sent until you add a channel." in html(alice, LIST)
    response = alice.post(LIST, MAIL)
    made = Channel.objects.get()
    assert response["Location"] == page_of(made)
    assert (made.going, made.preempted, made.below_min, made.enabled) == (True, False, None, True)
    assert "red@example.com" in html(alice, LIST)
    assert AuditEvent.objects.get(verb="channel.add").actor_name == "alice"


def test_nothing_secret_is_on_a_page(alice: Client) -> None:
    """Nor in the form that comes back with what is wrong: but the rest of what was typed is."""
    alice.post(LIST, HOOK)
    pages = [html(alice, LIST), html(alice, page_of(Channel.objects.get()))]
    again = alice.post(LIST, HOOK | {"name": "kept", "address": "https://10.0.0.1/canarysecret"})
    assert again.status_code == 422
    text = again.content.decode()
    assert ('value="kept"' in text, "private network" in text) == (True, True)
    assert re.search(r'name="address"[^>]*aria-describedby="l-address e-address"', text)
    assert "canarysecret" not in "".join([*pages, text])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "e-name"),
        ({"kind": "pigeon"}, "e-kind"),
        ({"tenant": "blue"}, "e-tenant"),
        ({"below_min": "soon"}, "e-below_min"),
        ({"below_min": "1441"}, "e-below_min"),
        ({"below_min": "99999"}, "e-below_min"),
        ({"kind": "webhook", "address": "https://example.com/", "secret": "short"}, "e-secret"),
        ({"address": "nobody"}, "e-address"),
    ],
)
def test_what_can_not_be_is_said_at_its_field(alice: Client, wrong: dict[str, str], said: str) -> None:
    """And nothing is stored."""
    create_tenant(name="blue")
    response = alice.post(LIST, MAIL | wrong)
    assert (response.status_code, Channel.objects.count()) == (422, 0)
    assert f'id="{said}"' in response.content.decode()


def test_a_channel_is_changed_turned_off_and_removed(alice: Client) -> None:
    """An empty address stays what it is."""
    alice.post(LIST, MAIL)
    made = Channel.objects.get()
    seen = re.search(r'name="seen" value="(\w+)"', html(alice, page_of(made)))
    assert seen is not None
    form = {
        "act": "change",
        "seen": seen[1],
        "name": "others",
        "preempted": "on",
        "below_min": "15",
        "language": "zh-hans",
    }
    assert alice.post(page_of(made), form).status_code == 302
    made.refresh_from_db()
    assert (made.name, made.going, made.preempted, made.below_min) == ("others", False, True, 15)
    assert (made.language, made.enabled, made.address) == ("zh-hans", False, "red@example.com")
    again = alice.post(page_of(made), form | {"name": "lost"})
    assert (again.status_code, "Someone else changed this" in again.content.decode()) == (422, True)
    assert 'value="lost"' in again.content.decode()
    assert Channel.objects.get().name == "others"
    seen = re.search(r'name="seen" value="(\w+)"', again.content.decode())
    assert seen is not None
    assert alice.post(page_of(made), form | {"name": "lost", "seen": seen[1]}).status_code == 302
    assert Channel.objects.get().name == "lost"
    assert alice.post(page_of(made), {"act": "remove"}).status_code == 302
    assert not Channel.objects.exists()


def test_a_test_tells_plainly_what_went_wrong(alice: Client, settings: Any) -> None:
    """Or that it was taken; both stay in the list."""
    settings.NOTIFICATION_NETWORKS = [ip_network("127.0.0.0/8")]
    with receiving() as receiver:
        receiver.answers = [404]
        made = _hook_to(alice, receiver)
        first = alice.post(page_of(made), {"act": "test"}, follow=True).content.decode()
        second = alice.post(page_of(made), {"act": "test"}, follow=True).content.decode()
    third = alice.post(page_of(made), {"act": "test"}, follow=True).content.decode()
    assert "The test message did not arrive: 127.0.0.1 responded with 404." in first
    assert "127.0.0.1 accepted the test message." in second
    assert "The test message did not arrive: 127.0.0.1 could not be reached or did not respond in time." in third
    assert third.count("This is a test message. Notifications for tenant red arrive here.") == 3
    assert "canarysecret" not in first + second + third
    settings.NOTIFICATION_NETWORKS = []
    assert "private network" in alice.post(page_of(made), {"act": "test"}, follow=True).content.decode()


def _hook_to(client: Client, receiver: Receiver) -> Channel:
    client.post(LIST, HOOK | {"address": receiver.url})
    return Channel.objects.get()


def test_mail_is_tried_too(alice: Client) -> None:
    """By the site's mail server."""
    alice.post(LIST, MAIL)
    alice.post(page_of(Channel.objects.get()), {"act": "test"})
    assert [sent.to for sent in mail.outbox] == [["red@example.com"]]


def test_a_failing_channel_is_seen_in_the_list(alice: Client) -> None:
    """With how many wait."""
    alice.post(LIST, MAIL)
    made = Channel.objects.get()
    rows = {"channel": made, "event": "preempted", "about": "x", "lines": ["Gone."], "link": "http://site/"}
    for error in ("example.com responded with 500.", ""):
        Notification.objects.create(**rows, created_at=made.created_at, due_at=made.created_at, error=error)
    assert "failing, 2 waiting" in html(alice, LIST)
    assert "example.com responded with 500." in html(alice, page_of(made))


def test_whose_it_is_not_finds_nothing(alice: Client, red: Tenant) -> None:
    """Another tenant's, and who has none; editors and admins change it, operators read."""
    alice.post(LIST, MAIL)
    made = Channel.objects.get()
    blue, nobody = browser("bob", tenants=[create_tenant(name="blue")]), browser("nobody")
    assert [each.get(page_of(made)).status_code for each in (blue, nobody)] == [404, 404]
    assert [each.get(LIST).status_code for each in (blue, nobody)] == [200, 404]
    assert 'href="/notifications/"' not in html(nobody, "/pods/")
    for client in (browser("erin", edits=[red]), browser("ada", role="admin")):
        assert 'value="change"' in html(client, page_of(made))
    operator = browser("olga", role="operator")
    assert 'name="act"' not in html(operator, page_of(made))
    assert operator.post(page_of(made), {"act": "test"}).status_code == 403
    assert operator.post(LIST, MAIL).status_code == 403


def test_what_is_missing_on_this_installation_is_said(alice: Client, settings: Any) -> None:
    """With what to set."""
    settings.CREDENTIALS_KEYS, settings.EMAIL_HOST = [], ""
    text = html(alice, LIST)
    assert ("<code>CREDENTIALS_KEY</code>" in text, "<code>EMAIL_HOST</code>" in text) == (True, True)
    assert alice.post(LIST, HOOK).status_code == 422
    assert alice.post(LIST, MAIL).status_code == 422


def test_words_that_are_none_are_turned_away(alice: Client) -> None:
    """An act that is none, and a NUL."""
    alice.post(LIST, MAIL)
    assert alice.post(page_of(Channel.objects.get()), {"act": "paint"}).status_code == 400
    assert alice.post(LIST, MAIL | {"name": "\0"}).status_code == 400


def test_a_secret_that_is_made_here_is_shown_once(alice: Client) -> None:
    """When the channel is added, and when another one is made; no cache keeps that page."""
    shown = []
    response = alice.post(LIST, HOOK | {"secret": ""})
    page = page_of(Channel.objects.get())
    for _time in range(2):
        found = re.search(r"shown only once: <code>(whsec_[\w+/=]{44})</code>", response.content.decode())
        assert found is not None
        shown.append(found[1])
        assert response["Cache-Control"] == "private, no-store"
        assert found[1] not in html(alice, page)
        assert response.content.decode().count(f'<form method="post" action="{page}"') == 3
        seen = re.search(r'name="seen" value="(\w+)"', html(alice, page))
        assert seen is not None
        form = {"act": "change", "seen": seen[1], "name": "alerts", "language": "en", "rotate_secret": "on"}
        response = alice.post(page, form)
    assert len(set(shown)) == 2


def test_an_admin_chooses_the_events_of_a_channel_of_the_site(settings: Any) -> None:
    """Without any tenant; what only tenants' channels report is not kept, whatever was sent."""
    settings.NOTIFICATION_NETWORKS = [ip_network("127.0.0.0/8")]
    admin = browser("ada", role="admin")
    form = HOOK | {"tenant": "*", "site_events": ["mode-changed", "preemption-loop"], "payload_format": "cloudevents"}
    with receiving() as receiver:
        admin.post(LIST, form | {"address": receiver.url})
        made = Channel.objects.get()
        found = (made.tenant, made.going, made.site_events, made.payload_format)
        assert found == (None, False, ["mode-changed", "preemption-loop"], "cloudevents")
        admin.post(page_of(made), {"act": "test"})
        (body,) = receiver.verified()
    assert b"Notifications about the site arrive here." in body
    text = html(admin, LIST)
    assert ("mode changed, preemption loop" in text, "<td>The site</td>" in text) == (True, True)
    assert 'name="going"' not in html(admin, page_of(made))
    seen = re.search(r'name="seen" value="(\w+)"', html(admin, page_of(made)))
    assert seen is not None
    change = {"act": "change", "seen": seen[1], "name": "p", "language": "en", "site_events": ["cluster-unreadable"]}
    assert admin.post(page_of(made), change | {"payload_format": "standard-webhooks"}).status_code == 302
    made.refresh_from_db()
    assert (made.site_events, made.payload_format) == (["cluster-unreadable"], "standard-webhooks")
    assert "about the site" in admin.post(page_of(made), {"act": "remove"}, follow=True).content.decode()


def test_a_channel_of_the_site_is_nothing_to_a_tenant(alice: Client) -> None:
    """Who can neither add one nor see one; operators read it."""
    assert 'value="*"' not in html(alice, LIST)
    refused = alice.post(LIST, HOOK | {"tenant": "*", "site_events": ["mode-changed"]})
    assert (refused.status_code, Channel.objects.count()) == (422, 0)
    browser("ada", role="admin").post(LIST, HOOK | {"tenant": "*", "site_events": ["mode-changed"]})
    page = page_of(Channel.objects.get())
    assert alice.get(page).status_code == 404
    assert 'name="act"' not in html(browser("olga", role="operator"), page)
