"""Everybody's own page: who they are here, and their password."""

from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User
from tests.pages import rows
from tests.pages.accounts.people import person, recorded, red, shown, text_of, wrong
from tests.pages.conftest import client_of

pytestmark = pytest.mark.django_db
OWN, CHANGE = "/account/", "/account/password/"
FORM = {"current": rows.PASSWORD, "password": "a wholly new one", "again": "a wholly new one"}


def test_it_says_who_one_is(client: Client) -> None:
    """Role, tenants and how one signs in."""
    client.force_login(person("erin", edits=[red()], email="erin@example.com"))
    assert "Role Tenant Tenants red (editor) Sign-in Local Email address erin@example.com" in shown(client, OWN)


def test_people_change_their_own_password(tess: Client) -> None:
    """This session goes on, others end, and the audit log says that it was done."""
    tess_user = User.objects.get(username="tess")
    elsewhere = client_of(tess_user)
    response = tess.post(CHANGE, FORM, follow=True)
    assert "Your password was changed. You are signed out everywhere else." in text_of(response)
    tess_user.refresh_from_db()
    assert tess_user.check_password("a wholly new one")
    assert [client.get(OWN).status_code for client in (tess, elsewhere)] == [200, 302]
    event = recorded("user.change")
    assert (event.actor_name, event.target, event.details) == ("tess", "tess", {"password": "changed"})


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"current": "not it"}, "current", "This is not your current password."),
        ({"current": ""}, "current", "This field is required."),
        ({"again": "something else"}, "again", "The passwords do not match."),
        ({"password": "short", "again": "short"}, "password", "This password is too short."),
        ({"password": "password123", "again": "password123"}, "password", "This password is too common."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(tess: Client, given: dict[str, str], field: str, said: str) -> None:
    """The password stays, and none of those that were typed comes back."""
    response = tess.post(CHANGE, FORM | given)
    assert (response.status_code, said in wrong(response, field)) == (422, True)
    assert User.objects.get(username="tess").check_password(rows.PASSWORD)
    assert not [each for each in FORM.values() if each in response.content.decode()]


def test_a_session_that_was_left_open_guesses_no_password(tess: Client, settings: Any) -> None:
    """After as many wrong ones as at the sign-in page, none is looked at: not the right one either."""
    settings.AXES_FAILURE_LIMIT = 3
    for _time in range(2):
        assert tess.post(CHANGE, FORM | {"current": "guess"}).status_code == 422
    for current in ("guess", rows.PASSWORD):
        response = tess.post(CHANGE, FORM | {"current": current})
        assert response.status_code == 429
        assert "Too many wrong passwords for this username" in wrong(response, "current")
    assert User.objects.get(username="tess").check_password(rows.PASSWORD)


def test_who_has_no_password_here_is_told(client: Client) -> None:
    """Those who come from an identity provider."""
    user = User(username="paula", identity="oidc https://id.example.com 7")
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    assert "You do not sign in with a password here. Change it where you sign in." in shown(client, OWN)
    assert client.get(CHANGE).status_code == 404


def test_the_menu_leads_there(tess: Client) -> None:
    """From every page; who is not signed in is led to the sign-in page."""
    assert f'href="{OWN}"' in tess.get("/pods/").content.decode()
    assert [Client().get(each)["Location"] for each in (OWN, CHANGE)] == [
        f"/sign-in/?next={each}" for each in (OWN, CHANGE)
    ]
