"""The page Connection: how a cluster is reached, other credentials for it, and never what was given."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.models import Cluster, Credentials
from simulator.kubeconfig import kubeconfig
from tests.cluster.certificates import jwt
from tests.cluster.doubles import Simulated, simulate

pytestmark = pytest.mark.django_db
PAGE = "/clusters/east/connection/"
CONNECT = "/clusters/connect/"
SECRET = "hunter2-token"


@pytest.fixture
def api() -> Iterator[Simulated]:
    with simulate() as simulated:
        simulated.add_node()
        yield simulated


@pytest.fixture(autouse=True)
def east() -> Cluster:
    return Cluster.objects.create(name="east", kubeconfig="/etc/kubeconfigs/east", context="prod")


def text(answer: Any) -> str:
    assert answer.status_code == 200
    html: str = answer.content.decode()
    assert SECRET not in html
    return html


def paste(client: Client, api: Simulated, secret: str = SECRET, **more: str) -> Any:
    sent = {"act": "replace", "text": kubeconfig(api.address, secret), "reason": "rotated", **more}
    return client.post(PAGE, sent, follow=True)


def test_the_way_to_a_cluster_is_told(ada: Client, otto: Client) -> None:
    """The path on the machine only to who may change it."""
    assert "/etc/kubeconfigs/east" in text(ada.get(PAGE))
    html = text(otto.get(PAGE))
    assert "/etc/kubeconfigs/east" not in html
    assert '<form method="post" class' not in html


def test_pasted_credentials_are_kept_and_never_shown(ada: Client, api: Simulated) -> None:
    html = text(paste(ada, api))
    assert "now uses the new credentials." in html
    for shown in (api.address, "a token", "by ada", "not stated"):
        assert shown in html
    assert SECRET in Way.to(Cluster.objects.get(name="east")).text
    event = AuditEvent.objects.get(verb="cluster.credentials")
    assert (event.actor_name, event.reason) == ("ada", "rotated")


def test_an_address_with_a_token_does_too(ada: Client, api: Simulated) -> None:
    text(paste(ada, api, text="", address=api.address, token=SECRET))
    assert Credentials.objects.get().address == api.address


@pytest.mark.parametrize(
    ("sent", "want"),
    [
        ({"reason": " "}, "Enter a reason."),
        ({"text": ""}, "Paste a kubeconfig, or enter an address and a token."),
        ({"text": "", "address": "https://c"}, "Enter a token for this address."),
        ({"text": f"token: [{SECRET}"}, ">kubeconfig is not valid YAML."),
        ({"context": "nowhere"}, "has no context nowhere. Its contexts are: simulator."),
        ({"text": "", "address": "https://[", "token": "t"}, "The cluster address is not a valid URL."),
        (
            {"text": "", "address": "https://u:p@c", "token": "t"},
            "The cluster address must not contain a username or password.",
        ),
        ({"text": "", "address": "https://c", "token": "t", "ca": "no PEM"}, "The CA is not a PEM certificate"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_changed(
    ada: Client, api: Simulated, sent: dict[str, str], want: str
) -> None:
    """What is no secret comes back in its field."""
    html = text(paste(ada, api, **sent))
    assert want in html
    assert not Credentials.objects.exists()
    for name in ("address", "context", "ca"):
        assert sent.get(name, "") in html


def test_the_end_of_credentials_is_warned_of(ada: Client, api: Simulated) -> None:
    paste(ada, api, jwt(timezone.now() + timedelta(days=13)))
    assert "The credentials expire on" in text(ada.get(PAGE))
    Credentials.objects.update(expires_at=timezone.now() + timedelta(days=15))
    assert "The credentials expire" not in text(ada.get(PAGE))
    Credentials.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert "The credentials expired on" in text(ada.get(PAGE))


def test_kept_credentials_can_be_forgotten(ada: Client, api: Simulated) -> None:
    paste(ada, api)
    assert "Enter a reason." in text(ada.post(PAGE, {"act": "remove"}))
    html = text(ada.post(PAGE, {"act": "remove", "reason": "leaked"}, follow=True))
    assert "The stored credentials of east are deleted." in html
    assert "/etc/kubeconfigs/east" in html
    assert not Credentials.objects.exists()


def test_only_admins_change_it(otto: Client, audrey: Client, tess: Client, api: Simulated) -> None:
    for client, code in ((otto, 403), (audrey, 403), (tess, 404)):
        assert client.post(PAGE, {"act": "remove", "reason": "x"}).status_code == code


def test_without_a_key_the_page_says_so(ada: Client, settings: Any) -> None:
    settings.CREDENTIALS_KEYS = []
    for page in (PAGE, CONNECT):
        html = text(ada.get(page))
        assert "CREDENTIALS_KEY" in html
        assert 'name="token"' not in html


# Connecting


def test_a_cluster_is_connected_by_what_is_pasted(ada: Client, api: Simulated) -> None:
    """The contexts are offered, the look is shown, and what was pasted travels sealed from form to form."""
    listed = ada.post(CONNECT, {"act": "list", "text": kubeconfig(api.address, SECRET)})
    assert '<option value="simulator" selected>simulator</option>' in text(listed)
    sealed = listed.context["sealed"]
    looked = ada.post(CONNECT, {"act": "look", "sealed": sealed, "context": "simulator", "name": "west"})
    assert "Connect west" in text(looked)
    assert not Cluster.objects.filter(name="west").exists()
    sent = {"act": "connect", "sealed": looked.context["sealed"], "context": "simulator", "name": "west"}
    assert "west is connected." in text(ada.post(CONNECT, sent, follow=True))
    west = Cluster.objects.get(name="west")
    assert (west.kubeconfig, west.credentials.set_by) == ("", "ada")
    assert {record.verb for record in api.audit} <= {"get", "list", "watch"}


def test_what_can_not_be_used_is_said_where_it_was_pasted(ada: Client) -> None:
    html = text(ada.post(CONNECT, {"act": "list", "text": f"users: [{SECRET}"}))
    assert "is not valid YAML" in html
    assert 'id="e-text"' in html
    html = text(ada.post(CONNECT, {"act": "look", "sealed": "made up"}))
    assert "Enter the credentials again" in html


# Checking


def test_a_check_says_what_works(ada: Client, api: Simulated) -> None:
    paste(ada, api)
    html = text(ada.post(PAGE, {"act": "check", "mode": "observe"}))
    assert "east can be used in Observe mode." in html
    for shown in ("permissions that observe mode uses are granted", "clock offset", "schedulers found"):
        assert shown in html.lower()


def test_a_check_for_another_mode_says_what_is_missing(ada: Client, api: Simulated) -> None:
    paste(ada, api)
    api.add_pod("ask")
    html = text(ada.post(PAGE, {"act": "check", "mode": "enforce"}))
    assert "east can’t be used in Enforce mode." in html
    assert "own scheduler would preempt" in html


def test_a_cluster_that_can_not_be_reached_is_said(ada: Client) -> None:
    assert "The kubeconfig /etc/kubeconfigs/east does not exist." in text(ada.post(PAGE, {"act": "check"}))
