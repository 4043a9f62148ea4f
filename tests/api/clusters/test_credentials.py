"""Credentials by REST: written, never read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import ApiToken, AuditEvent, User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.clusters.models import Cluster, Credentials
from simulator.kubeconfig import kubeconfig
from tests.cluster.doubles import Simulated, simulate
from tests.pages import rows

pytestmark = pytest.mark.django_db
PATH = "/api/v1/clusters/east/credentials"
SECRET = "hunter2-token"


@pytest.fixture(autouse=True)
def _plain(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def api() -> Iterator[Simulated]:
    with simulate() as simulated:
        yield simulated


@pytest.fixture(autouse=True)
def east() -> Cluster:
    return Cluster.objects.create(name="east", kubeconfig="/etc/east")


def ask(method: str, path: str = PATH, body: Any = None, *, scope: str = "cluster:connect", role: str = "admin") -> Any:
    """Answer and body, with a token of this scope of somebody of this role."""
    user = User.objects.filter(username=role).first() or rows.user(role, User.Role(role))
    _row, token = create_token(user=user, name="ci", scopes=[ApiToken.Scope(scope)])
    answer = Client().generic(
        method, path, json.dumps(body) if body else "", "application/json", headers={"Authorization": f"Bearer {token}"}
    )
    assert SECRET not in answer.content.decode() + str(answer.headers)
    return answer.status_code, json.loads(answer.content) if answer.content else None


def test_credentials_are_put_and_told_without_their_secret(api: Simulated) -> None:
    code, told = ask("PUT", f"{PATH}?reason=rotated", {"kubeconfig": kubeconfig(api.address, SECRET)})
    assert (code, told["credential_source"], told["kind"], told["address"], told["set_by"]) == (
        200, "stored", "token", api.address, "admin",
    )  # fmt: skip
    assert ask("GET", scope="read") == (200, told)
    event = AuditEvent.objects.get(verb="cluster.credentials")
    assert (event.reason, event.details["token"][:3]) == ("rotated", "sa_")
    assert ask("DELETE", f"{PATH}?reason=leaked") == (204, None)
    assert ask("GET", scope="read")[1]["credential_source"] == "kubeconfig"


def test_an_address_with_a_token_is_put_too(api: Simulated) -> None:
    assert ask("PUT", f"{PATH}?reason=r", {"address": api.address, "token": SECRET})[0] == 200
    assert Credentials.objects.get().address == api.address


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ({}, "Provide either a kubeconfig or an address with a token"),
        ({"kubeconfig": "a: b", "address": "https://c", "token": SECRET}, "Provide either a kubeconfig or"),
        ({"address": "https://c"}, "Provide either a kubeconfig or"),
        ({"kubeconfig": f"[{SECRET}"}, "not valid YAML"),
        ({"address": "c", "token": SECRET}, "must start with https://"),
        ({"address": "http://127.0.0.1:9", "token": SECRET}, "cannot be reached"),
    ],
)
def test_what_can_not_be_used_is_said_and_replaces_nothing(body: dict[str, str], want: str) -> None:
    code, told = ask("PUT", f"{PATH}?reason=r", body or {"x": 1})
    assert (code, want in json.dumps(told)) == (422, True)
    assert not Credentials.objects.exists()


def test_a_reason_is_needed(api: Simulated) -> None:
    assert ask("PUT", PATH, {"kubeconfig": kubeconfig(api.address)})[0] == 400
    assert ask("DELETE")[0] == 400


@pytest.mark.parametrize("scope", ["read", "tree:write"])
def test_it_takes_a_token_made_for_it(scope: str) -> None:
    """One that may change trees may not lead the engine to another API server."""
    for method in ("PUT", "DELETE"):
        code, told = ask(method, f"{PATH}?reason=r", {"kubeconfig": "a"}, scope=scope)
        assert (code, "cluster:connect" in told["detail"]) == (403, True)


def test_only_admins_write_it_and_only_they_read_paths() -> None:
    for role in ("operator", "auditor"):
        assert ask("PUT", f"{PATH}?reason=r", {"kubeconfig": "a"}, role=role)[0] == 403
        assert ask("GET", role=role)[1]["kubeconfig_file"] is None
    assert ask("GET")[1]["kubeconfig_file"] == "/etc/east"


def test_a_check_is_told(api: Simulated) -> None:
    """For the mode that it is in, or another."""
    ask("PUT", f"{PATH}?reason=r", {"kubeconfig": kubeconfig(api.address, SECRET)})
    code, told = ask("GET", "/api/v1/clusters/east/check?mode=enforce")
    assert (code, told["mode"], told["passed"]) == (200, "enforce", True)
    assert told["results"][0]["subject"] == "server"
    assert "responded in" in told["results"][0]["sentence"]
    assert ask("GET", "/api/v1/clusters/east/check?mode=else")[0] == 400
    assert ask("GET", "/api/v1/clusters/east/check", scope="read")[0] == 403
