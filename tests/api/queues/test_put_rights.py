"""Who may change trees, by role and by token."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from tests.api import builders
from tests.api.builders import NOW
from tests.api.conftest import client_of
from tests.api.sending import NEW, SMALL, plan, put, revisions


@pytest.mark.parametrize(
    ("scopes", "planning", "writing"),
    [
        (["read"], 403, 403),
        (["tree:plan"], 200, 403),
        (["tree:write"], 200, 200),
    ],
)
def test_a_token_does_what_its_scopes_say(
    ada: APIClient, slower: Any, scopes: list[str], planning: int, writing: int
) -> None:
    """Planning and writing are two scopes; the second includes the first."""
    ci = client_of(User.objects.get(username="ada"), scopes=scopes)
    assert (plan(ci, slower).status_code, put(ci, slower, match="*").status_code) == (planning, writing)


def test_a_missing_scope_is_named(ada: APIClient, slower: Any) -> None:
    """In words and, as RFC 6750 has it, in the challenge."""
    ci = client_of(User.objects.get(username="ada"), scopes=["tree:plan"])
    response = put(ci, slower, match="*")
    assert response["WWW-Authenticate"] == 'Bearer realm="api", error="insufficient_scope", scope="tree:write"'
    assert response["Content-Type"] == "application/problem+json"
    assert "tree:write" in response.json()["detail"]


@pytest.mark.parametrize("role", [User.Role.OPERATOR, User.Role.AUDITOR])
def test_only_admins_change_trees(slower: Any, role: str) -> None:
    """An operator's or auditor's token writes nothing, whatever its scopes; nor do they make a hierarchy."""
    someone = client_of(builders.user("someone", role=role), scopes=["tree:write"])
    assert (plan(someone, slower).status_code, put(someone, slower, match="*").status_code) == (403, 403)
    assert put(someone, SMALL, NEW).status_code == 404
    assert revisions() == [1]


def test_tenants_and_strangers_change_none(slower: Any, red: Any) -> None:
    """A tenant may look; for a stranger there is nothing."""
    tenant = client_of(builders.user("tom", red), scopes=["tree:write"])
    stranger = client_of(builders.user("sam"), scopes=["tree:write"])
    assert (put(tenant, slower, match="*").status_code, put(stranger, slower, match="*").status_code) == (403, 404)


def test_an_expired_token_changes_nothing(ada: APIClient, slower: Any) -> None:
    """It is unknown from that moment on."""
    ci = client_of(User.objects.get(username="ada"), scopes=["tree:write"], lifetime=timedelta(hours=1))
    with time_machine.travel(NOW + timedelta(hours=1), tick=False):
        assert put(ci, slower, match="*").status_code == 401
    assert revisions() == [1]


def test_a_session_needs_its_csrf_token(ada: APIClient, slower: Any) -> None:
    """A page elsewhere can't have a signed-in browser change a tree."""
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="ada"))
    refused = put(browser, slower, match="*")
    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    browser.cookies["csrftoken"] = "a" * 32
    browser.credentials(HTTP_X_CSRFTOKEN="a" * 32)
    assert put(browser, slower, match="*").status_code == 200


def test_a_reason_is_asked_for(ada: APIClient, slower: Any) -> None:
    """Why is part of every revision."""
    for reason in ("", "   "):
        response = put(ada, slower, match="*", reason=reason)
        assert (response.status_code, response.json()["errors"][0]["parameter"]) == (400, "reason")
    assert revisions() == [1]


@pytest.mark.parametrize("query", [{"dry_run": "perhaps"}, {"force": "1"}, {"reason": "x" * 1001}])
def test_parameters_that_cannot_be_are_errors(ada: APIClient, slower: Any, query: dict[str, str]) -> None:
    """As everywhere, none is ignored."""
    assert put(ada, slower, match="*", **query).status_code == 400
    assert revisions() == [1]
