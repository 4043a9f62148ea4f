"""People who sign in at an OpenID provider, a real one of the tests: who they are here, and who they are not."""

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
import requests
import time_machine
from django.contrib.auth import authenticate
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.doors import add_mapping, remove_mapping
from scheduler_admin.accounts.models import AuditEvent, GroupMapping, User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.users import create_user
from tests.doors.conftest import Provider, come
from tests.doors.provider import SECRET
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("known")]


def signed_in(client: Client) -> User | None:
    """Who the browser is, as of now."""
    key = client.session.get("_auth_user_id")
    return User.objects.get(pk=key) if key else None


def said(client: Client) -> str:
    """The text of the sign-in page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", client.get("/sign-in/").content.decode()))


class TestWhoOneIs:
    """Groups are roles and tenants, by the mapping as it is at each sign-in."""

    @pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
    def test_a_person_of_a_group_sees_what_is_its_tenants(
        self, provider: Provider, client: Client, settings: Any, algorithm: str
    ) -> None:
        """And lands where they wanted to go."""
        provider.put("algorithm", algorithm)
        settings.OIDC_RP_SIGN_ALGO = algorithm
        provider.know("u1", "red-team", "unknown", preferred_username="erin", email="erin@example.com")
        response = come(provider, client, onward="/pods/?show=waiting")
        assert (response.status_code, response["Location"]) == (302, "/pods/?show=waiting")
        erin = signed_in(client)
        assert erin is not None
        assert (erin.username, erin.email, erin.role, erin.has_usable_password()) == (
            "erin",
            "erin@example.com",
            "tenant",
            False,
        )
        assert scope_of(erin, "view").subtrees == {"root.red"}
        assert scope_of(erin, "edit").subtrees == frozenset()

    def test_the_strongest_of_several_counts(self, provider: Provider, client: Client) -> None:
        """Editor over tenant, operator over auditor; one may be both an operator and an editor."""
        provider.know("u1", "red-team", "red-leads", "blue-team", "audit", "platform")
        come(provider, client)
        person = signed_in(client)
        assert person is not None
        assert person.role == "operator"
        assert {one.tenant.name: one.role for one in person.memberships.all()} == {"red": "editor", "blue": "tenant"}

    def test_who_left_a_group_has_lost_what_came_with_it(self, provider: Provider, client: Client) -> None:
        """At the next sign-in; it is on record."""
        provider.know("u1", "platform", "red-team")
        come(provider, client)
        provider.know("u1", "red-team")
        come(provider, Client())
        person = User.objects.get()
        assert (person.role, [one.tenant.name for one in person.memberships.all()]) == ("tenant", ["red"])
        assert AuditEvent.objects.filter(verb="user.groups").count() == 2

    def test_who_left_all_of_them_is_kept_out(self, provider: Provider, client: Client) -> None:
        """And sees nothing where a session of theirs is still open."""
        provider.know("u1", "platform")
        come(provider, client)
        provider.know("u1")
        later = Client()
        come(provider, later)
        assert signed_in(later) is None
        assert "None of your groups at the identity provider has a role here." in said(later)
        assert User.objects.get().role == "tenant"
        assert client.get("/clusters/").status_code == 404

    def test_somebody_without_a_known_group_becomes_nobody(self, provider: Provider, client: Client) -> None:
        """Not even a user without rights."""
        provider.know("u1", "some-other-team")
        come(provider, client)
        assert (signed_in(client), User.objects.count()) == (None, 0)

    def test_a_group_may_be_a_text_and_may_be_missing(self, provider: Provider, client: Client) -> None:
        """As providers have it."""
        provider.put("account", {"sub": "u1", "groups": "red-team"})
        come(provider, client)
        assert signed_in(client) is not None
        provider.put("account", {"sub": "u2"})
        come(provider, client := Client())
        assert signed_in(client) is None

    def test_a_mapping_that_goes_takes_its_role_along_at_once(self, provider: Provider, client: Client) -> None:
        """Without anybody signing in anew; and one that comes gives it."""
        provider.know("u1", "platform", "red-team")
        come(provider, client)
        remove_mapping(mapping=GroupMapping.objects.get(group="platform"), actor=None, reason="reorganised")
        assert User.objects.get().role == "tenant"
        add_mapping(group="red-team", role="auditor", tenant=None, actor=None, reason="audit week")
        assert User.objects.get().role == "auditor"

    def test_no_group_of_a_provider_speaks_for_kubernetes(self, provider: Provider, client: Client) -> None:
        """Whatever it is called there."""
        add_mapping(group="kubernetes:group:ops", role="admin", tenant=None, actor=None, reason="a test")
        provider.know("u1", "kubernetes:group:ops")
        come(provider, client)
        assert signed_in(client) is None


class TestLocalUsers:
    """Nobody of another door becomes one, nor loses them anything."""

    @pytest.mark.parametrize("claims", [{"preferred_username": "ada"}, {"email": "ada@example.com"}])
    def test_the_same_name_or_e_mail_is_somebody_else(
        self, provider: Provider, client: Client, claims: dict[str, str]
    ) -> None:
        """An admin keeps their account, and the other gets one of their own."""
        ada = create_user(username="ada", email="ada@example.com", role="admin", password="correct horse battery")
        provider.know("u1", "red-team", **claims)
        come(provider, client)
        other = signed_in(client)
        assert other is not None
        assert (other.pk != ada.pk, other.role, other.username != "ada") == (True, "tenant", True)
        ada.refresh_from_db()
        assert (ada.role, ada.identity, ada.check_password("correct horse battery")) == ("admin", None, True)

    def test_they_sign_in_as_ever(self, provider: Provider, client: Client) -> None:
        """And no mapping touches them."""
        create_user(username="ada", role="admin", password="correct horse battery")
        client.post("/sign-in/", {"username": "ada", "password": "correct horse battery"})
        assert signed_in(client) is not None
        add_mapping(group="x", role="auditor", tenant=None, actor=None, reason="a test")
        assert User.objects.get(username="ada").role == "admin"
        with time_machine.travel(timezone.now() + timedelta(hours=1)):
            assert client.get("/clusters/").status_code == 200

    def test_an_outsider_has_no_password(self, provider: Provider, client: Client) -> None:
        """So the other way in stays shut."""
        provider.know("u1", "red-team", preferred_username="erin")
        come(provider, client)
        assert authenticate(HttpRequest(), username="erin", password="") is None

    def test_who_is_locked_out_stays_out(self, provider: Provider, client: Client) -> None:
        """Also with a session that is open."""
        provider.know("u1", "red-team")
        come(provider, client)
        User.objects.update(is_active=False)
        assert client.get("/pods/").status_code == 302
        come(provider, later := Client())
        assert signed_in(later) is None


class TestWhatIsRefused:
    """A sentence on the sign-in page, nobody signed in, nothing secret in the log."""

    @pytest.mark.parametrize(
        ("fault", "sentence"),
        [
            ("signature", "could not be verified"),
            ("unsigned", "could not be verified"),
            ("shared", "could not be verified"),
            ("issuer", "could not be verified"),
            ("audience", "could not be verified"),
            ("party", "could not be verified"),
            ("nonce", "could not be verified"),
            ("expired", "has expired"),
            ("down", "did not respond as expected"),
            ("endless", "did not respond as expected"),
            ("packed", "did not respond as expected"),
        ],
    )
    def test_what_the_provider_gets_wrong(
        self, provider: Provider, client: Client, caplog: pytest.LogCaptureFixture, fault: str, sentence: str
    ) -> None:
        """Each for itself."""
        provider.know("u1", "platform")
        provider.put("fault", fault)
        with caplog.at_level(logging.DEBUG, "scheduler_admin"):
            response = come(provider, client)
        assert (response.status_code, response["Location"]) == (302, "/sign-in/")
        assert sentence in said(client)
        assert (signed_in(client), User.objects.count()) == (None, 0)
        assert "Sign-in with the OpenID provider" in caplog.text
        for secret in (SECRET, "access-canary", "eyJ"):
            assert secret not in caplog.text

    def test_a_provider_that_is_not_there(self, provider: Provider, client: Client, settings: Any) -> None:
        """Nothing listens at its token endpoint."""
        provider.know("u1", "platform")
        settings.OIDC_OP_TOKEN_ENDPOINT = "http://127.0.0.1:9/token"
        come(provider, client)
        assert "did not respond as expected" in said(client)

    def test_the_wrong_algorithm(self, provider: Provider, client: Client) -> None:
        """Only the one that was set is taken."""
        provider.know("u1", "platform")
        provider.put("algorithm", "ES256")
        come(provider, client)
        assert signed_in(client) is None

    def test_a_state_that_nobody_asked_with(self, provider: Provider, client: Client) -> None:
        """Neither invented, nor of another browser, nor used before."""
        provider.know("u1", "platform")
        begun = client.get("/sign-in/elsewhere/")
        back = provider.answer(begun["Location"])
        for browser, address in ((client, "/sign-in/elsewhere/back/?code=x&state=y"), (Client(), back)):
            assert browser.get(address)["Location"] == "/sign-in/"
            assert "did not start here, or it has expired" in said(browser)
        assert client.get(back)["Location"] == "/"
        client.logout()
        assert client.get(back)["Location"] == "/sign-in/"

    def test_a_code_of_somebody_elses_sign_in(self, provider: Provider, client: Client) -> None:
        """PKCE: the code was asked for with another secret."""
        provider.know("u1", "platform")
        mine, theirs = (provider.answer(one.get("/sign-in/elsewhere/")["Location"]) for one in (client, Client()))
        code = re.search(r"code=([^&]+)", theirs)
        assert code
        client.get(re.sub(r"code=[^&]+", f"code={code[1]}", mine))
        assert signed_in(client) is None

    def test_somebody_who_is_not_signed_in_there(self, provider: Provider, client: Client) -> None:
        """The provider says no."""
        come(provider, client)
        assert "The identity provider did not sign you in." in said(client)

    def test_an_error_that_another_site_makes_up_signs_nobody_out(self, provider: Provider, client: Client) -> None:
        """It has no state of this browser's."""
        provider.know("u1", "platform")
        come(provider, client)
        client.get("/sign-in/elsewhere/back/?error=access_denied&state=made-up")
        assert signed_in(client) is not None

    def test_no_way_leads_to_another_site(self, provider: Provider, client: Client) -> None:
        """``next`` is an address here or nothing."""
        provider.know("u1", "platform")
        assert come(provider, client, onward="https://evil.example/").url == "/"


class TestSessions:
    """They are renewed unseen, and end."""

    def test_who_opens_a_page_later_is_asked_for_again(self, provider: Provider, client: Client) -> None:
        """And comes back to it, with the groups of now."""
        provider.know("u1", "platform")
        come(provider, client)
        provider.know("u1", "audit")
        with time_machine.travel(timezone.now() + timedelta(minutes=16)):
            asked = client.get("/clusters/?x=1")
            assert (asked.status_code, "prompt=none" in asked["Location"]) == (302, True)
            assert client.get(provider.answer(asked["Location"]))["Location"] == "/clusters/?x=1"
            assert client.get("/clusters/?x=1").status_code == 200
        assert User.objects.get().role == "auditor"

    def test_who_left_there_has_left_here(self, provider: Provider, client: Client) -> None:
        """The provider knows of no session any more."""
        provider.know("u1", "platform")
        come(provider, client)
        provider.put("account", {})
        with time_machine.travel(timezone.now() + timedelta(minutes=16)):
            client.get(provider.answer(client.get("/clusters/")["Location"]))
        assert signed_in(client) is None

    def test_what_a_page_asks_for_itself_is_answered(self, provider: Provider, client: Client) -> None:
        """A refresh can't go to another site and back; eight hours after the last renewal it ends as well."""
        provider.know("u1", "platform")
        come(provider, client)
        with time_machine.travel(timezone.now() + timedelta(minutes=16)):
            assert client.get("/clusters/", headers={"HX-Request": "true"}).status_code == 200
            assert client.get("/api/v1/clusters").status_code == 200
        with time_machine.travel(timezone.now() + timedelta(hours=9)):
            assert client.get("/clusters/", headers={"HX-Request": "true"}).status_code == 302

    def test_signing_out_says_that_one_is_signed_in_there_still(self, provider: Provider, client: Client) -> None:
        """With the way to end that too."""
        provider.know("u1", "platform")
        come(provider, client)
        page = client.post("/sign-out/", follow=True).content.decode()
        assert signed_in(client) is None
        assert f'href="{provider.address}/leave?client_id=scheduler-admin' in page


def test_the_sign_in_page_offers_it_where_it_is_set_up(provider: Provider, client: Client, settings: Any) -> None:
    """Else neither the link nor the addresses are there."""
    assert f"Sign in with {provider.address}" in said(client)
    settings.OIDC_ISSUER = settings.OIDC_NAME = ""
    assert "elsewhere" not in client.get("/sign-in/").content.decode()
    for address in ("/sign-in/elsewhere/", "/sign-in/elsewhere/back/?code=x&state=y"):
        assert client.get(address).status_code == 404


def test_the_provider_of_these_tests_holds_to_the_flow(provider: Provider) -> None:
    """It gives no token for a code that it did not give: so the tests above can fail."""
    sent = {"code": "made-up", "client_id": "scheduler-admin", "client_secret": SECRET}
    assert requests.post(f"{provider.address}/token", data=sent, timeout=PATIENCE_S).status_code == 400
