"""The pages of users: admins find, create, change and delete them without a shell, and nobody is locked out by them."""

import re
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import Membership, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.tokens import create_token
from tests.pages.accounts.people import PASSWORD, person, recorded, red, seen, send, shown, text_of, wrong

pytestmark = pytest.mark.django_db
LIST, ADD = "/people/users/", "/people/users/add/"


def page_of(user: User) -> str:
    return f"{LIST}{user.pk}/"


def outsider(role: str = "tenant") -> User:
    """Somebody who comes from an identity provider."""
    user = User(username="paula", identity="oidc https://id.example.com 7", role=role, outside_groups=["leads"])
    user.set_unusable_password()
    user.save()
    return user


class TestFindingUsers:
    """The list says of everybody what they are, and is narrowed down by its address."""

    def test_it_says_of_everybody_what_they_are(self, ada: Client) -> None:
        """Role, tenants, where they come from, last sign-in and state."""
        person("bob", edits=[red()], email="bob@example.com", active=False)
        outsider()
        text = shown(ada, LIST)
        assert "bob Tenant red (editor) Local bob@example.com never deactivated" in text
        assert "paula Tenant – Single sign-on – never active" in text
        assert re.search(r"ada Admin – Local – \d\d:\d\d:\d\d active", text)
        assert "4 in total" not in text
        assert "3 in total" in text

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("q=BO", {"bob"}),
            ("q=example.com", {"bob"}),
            ("role=admin", {"ada"}),
            ("tenant=red", {"bob"}),
            ("origin=provider", {"paula"}),
            ("origin=service", {"ci"}),
            ("origin=local", {"ada", "bob"}),
            ("state=inactive", {"bob"}),
            ("state=active&role=tenant&origin=service", {"ci"}),
            ("role=king", {"ada", "bob", "ci", "paula"}),
        ],
    )
    def test_filters_are_in_the_address(self, ada: Client, query: str, found: set[str]) -> None:
        """All that are given hold; what is no filter is ignored."""
        person("bob", tenants=[red()], email="bob@example.com", active=False)
        person("ci", service=True)
        outsider()
        html = ada.get(f"{LIST}?{query}").content.decode()
        assert set(re.findall(r'class="rowlink"[^>]*>([^<]+)<', html)) == found

    def test_nobody_who_matches_is_said(self, ada: Client) -> None:
        """With what to do."""
        assert "No user matches. Clear the filters to see all users." in shown(ada, f"{LIST}?q=nobody-is-called-so")

    def test_the_menu_leads_there(self, ada: Client, tess: Client) -> None:
        """Those who see everything; a tenant finds neither the way nor the page."""
        assert f'href="{LIST}"' in ada.get(LIST).content.decode()
        assert f'href="{LIST}"' not in tess.get("/pods/").content.decode()
        assert tess.get(LIST).status_code == 404


class TestCreating:
    """A new user, with a password that is typed, or generated and shown once."""

    def test_a_generated_password_is_shown_once_and_works(self, ada: Client) -> None:
        """In that one answer, which no cache keeps."""
        response = ada.post(ADD, {"name": "bob", "role": "operator", "reason": "new colleague"})
        fresh = re.search(r"<code>([\w]{16})</code>", response.content.decode())
        assert fresh is not None
        assert response["Cache-Control"] == "private, no-store"
        made = User.objects.get(username="bob")
        assert (made.role, made.check_password(fresh[1])) == ("operator", True)
        signed_in = Client().post("/sign-in/", {"username": "bob", "password": fresh[1]})
        assert (signed_in.status_code, signed_in["Location"]) == (302, "/")
        assert fresh[1] not in ada.get(page_of(made)).content.decode()
        event = recorded("user.create")
        assert (event.actor_name, event.target, event.reason) == ("ada", "bob", "new colleague")

    def test_a_typed_password_and_tenants(self, ada: Client) -> None:
        """A tenant that is ticked twice has them as an editor."""
        blue = create_tenant(name="blue")
        tenant = red()
        given = {"name": "bob", "role": "tenant", "password": PASSWORD, "email": "bob@example.com", "reason": "new"}
        response = ada.post(ADD, {**given, "tenants": ["red", "blue"], "edits": ["red"]})
        made = User.objects.get(username="bob")
        assert response["Location"] == page_of(made)
        assert (made.check_password(PASSWORD), made.email) == (True, "bob@example.com")
        assert dict(Membership.objects.filter(user=made).values_list("tenant", "role")) == {
            tenant.pk: "editor",
            blue.pk: "tenant",
        }

    def test_a_service_account_has_no_password(self, ada: Client) -> None:
        """Neither a generated one, nor one that was typed by mistake."""
        given = {"name": "ci", "role": "admin", "service": "on", "reason": "pipeline"}
        refused = ada.post(ADD, {**given, "password": PASSWORD})
        assert wrong(refused, "password") == "Leave this empty: a service account has no password."
        ada.post(ADD, given)
        made = User.objects.get(username="ci")
        assert (made.service, made.has_usable_password()) == (True, False)

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"name": ""}, "name"),
            ({"name": "ada"}, "name"),
            ({"name": "two words"}, "name"),
            ({"password": "s3cr3t"}, "password"),
            ({"password": "password123"}, "password"),
            ({"email": "nobody"}, "email"),
            ({"role": "king"}, "role"),
            ({"tenants": ["nobody"]}, "tenants"),
            ({"reason": " "}, "reason"),
        ],
    )
    def test_what_can_not_be_is_said_at_its_field(self, ada: Client, given: dict[str, object], field: str) -> None:
        """Nothing is stored, what was typed is still there, and the password is not."""
        sent = {"name": "bob", "role": "tenant", "password": PASSWORD, "reason": "typed reason", **given}
        response = ada.post(ADD, sent)
        assert (response.status_code, bool(wrong(response, field))) == (422, True)
        assert User.objects.count() == 1
        assert str(sent["password"]) not in response.content.decode()
        assert field == "reason" or "typed reason" in response.content.decode()


class TestChanging:
    """What a user is, changed from what the page showed."""

    def test_role_tenants_and_state(self, ada: Client) -> None:
        """At once; the audit log has them before and after."""
        red()
        bob = person("bob", email="bob@example.com")
        create_tenant(name="blue")
        response = send(ada, page_of(bob), role="auditor", email="bob@example.com", edits=["blue"])
        assert response["Location"] == page_of(bob)
        bob.refresh_from_db()
        assert (bob.role, bob.is_active) == ("auditor", False)
        assert recorded("user.change").details == {
            "role": ["tenant", "auditor"],
            "active": [True, False],
            "tenants": [{}, {"blue": "editor"}],
        }

    def test_the_page_shows_the_present_values(self, ada: Client) -> None:
        """So that saving it unchanged changes nothing."""
        bob = person("bob", role="operator", tenants=[red()], edits=[create_tenant(name="blue")])
        html = ada.get(page_of(bob)).content.decode()
        assert '<option value="operator" selected>' in html
        assert re.search(r'name="tenants" value="red"[^>]* checked', html)
        assert re.search(r'name="edits" value="blue"[^>]* checked', html)
        assert not re.search(r'name="edits" value="red"[^>]* checked', html)

    def test_who_was_overtaken_is_told_and_nothing_is_lost(self, ada: Client) -> None:
        """Sent once more, it is meant."""
        bob = person("bob")
        tag = seen(ada, page_of(bob))
        send(ada, page_of(bob), role="operator", active="on")
        late = {"seen": tag, "role": "auditor", "active": "on", "reason": "late"}
        response = ada.post(page_of(bob), late)
        bob.refresh_from_db()
        assert (response.status_code, bob.role) == (409, "operator")
        assert "Someone else changed this in the meantime." in text_of(response)
        again = re.search(r'name="seen" value="(\w+)"', response.content.decode())
        assert again is not None
        assert ada.post(page_of(bob), late | {"seen": again[1]}).status_code == 302
        bob.refresh_from_db()
        assert bob.role == "auditor"

    def test_nobody_locks_themself_out(self, ada: Client) -> None:
        """Role and state cannot be set on one's own page, whatever is sent."""
        own = User.objects.get(username="ada")
        assert "Only another admin can change this for you." in shown(ada, page_of(own))
        assert send(ada, page_of(own), role="tenant", email="ada@example.com").status_code == 302
        own.refresh_from_db()
        assert (own.role, own.is_active, own.email) == ("admin", True, "ada@example.com")

    def test_groups_say_what_an_outsider_is(self, ada: Client) -> None:
        """The rest can be changed: they can be kept out."""
        paula = outsider()
        text = shown(ada, page_of(paula))
        assert "Role and tenants follow from the groups at the identity provider." in text
        assert ("Groups leads" in text, "Set password" in text) == (True, False)
        assert send(ada, page_of(paula), role="admin").status_code == 302
        paula.refresh_from_db()
        assert (paula.role, paula.is_active) == ("tenant", False)

    def test_auditors_read_and_change_nothing(self, audrey: Client) -> None:
        """They find no form."""
        bob = person("bob")
        html = audrey.get(page_of(bob)).content.decode()
        assert ("Last sign-in" in html, 'name="reason"' in html) == (True, False)
        assert audrey.post(page_of(bob), {"role": "admin", "reason": "why"}).status_code == 403
        assert [audrey.get(f"{page_of(bob)}{act}/").status_code for act in ("password", "delete")] == [403, 403]
        assert audrey.get(ADD).status_code == 403


class TestPasswords:
    """An admin lets somebody in who has forgotten theirs."""

    def test_a_generated_one_is_shown_once_and_ends_sessions(self, ada: Client) -> None:
        """The old one is worth nothing."""
        bob = person("bob")
        browser = Client()
        browser.force_login(bob)
        response = send(ada, f"{page_of(bob)}password/")
        fresh = re.search(r"<code>([\w]{16})</code>", response.content.decode())
        assert fresh is not None
        assert response["Cache-Control"] == "private, no-store"
        bob.refresh_from_db()
        assert (bob.check_password(fresh[1]), bob.check_password(PASSWORD)) == (True, False)
        assert browser.get("/pods/").status_code == 302
        assert recorded("user.change").details == {"password": "changed"}

    def test_it_lets_in_who_was_locked_out(self, ada: Client, settings: Any) -> None:
        """After too many guesses at the forgotten one."""
        settings.AXES_FAILURE_LIMIT = 2
        bob, browser = person("bob"), Client()

        def sign_in(password: str) -> int:
            return browser.post("/sign-in/", {"username": "bob", "password": password}).status_code

        assert [sign_in("guess"), sign_in("guess"), sign_in(PASSWORD)] == [200, 429, 429]
        send(ada, f"{page_of(bob)}password/", password="a wholly new one")
        assert sign_in("a wholly new one") == 302

    def test_a_typed_one_is_checked(self, ada: Client) -> None:
        """As everywhere."""
        bob = person("bob")
        assert wrong(send(ada, f"{page_of(bob)}password/", password="12345678"), "password")
        assert send(ada, f"{page_of(bob)}password/", password="a wholly new one")["Location"] == page_of(bob)
        bob.refresh_from_db()
        assert bob.check_password("a wholly new one")

    def test_who_has_none_here_gets_none(self, ada: Client) -> None:
        """The reason is said at the field."""
        said = wrong(send(ada, f"{page_of(outsider())}password/"), "password")
        assert said == "paula signs in through an external provider and has no password here."


class TestDeleting:
    """The page says in numbers what goes with a user before it does."""

    def test_it_says_what_goes_with_them(self, ada: Client) -> None:
        """Tokens, memberships and saved filters."""
        bob = person("bob", tenants=[red()])
        for name in ("ci", "laptop"):
            create_token(user=bob, name=name)
        text = shown(ada, f"{page_of(bob)}delete/")
        assert "2 API tokens. Requests with them fail from then on. 1 tenant membership 0 saved filters" in text

    def test_they_are_gone_with_it(self, ada: Client) -> None:
        """On record, with a reason."""
        bob = person("bob")
        response = send(ada, f"{page_of(bob)}delete/")
        assert response["Location"] == LIST
        assert not User.objects.filter(username="bob").exists()
        assert recorded("user.delete").reason == "because"
        assert "Deleted bob." in shown(ada, LIST)

    def test_what_came_meanwhile_is_shown_first(self, ada: Client) -> None:
        """A token that was made since the page was opened."""
        bob = person("bob")
        tag = seen(ada, f"{page_of(bob)}delete/")
        create_token(user=bob, name="ci")
        response = ada.post(f"{page_of(bob)}delete/", {"seen": tag, "reason": "left"})
        assert (response.status_code, "1 API token." in text_of(response)) == (409, True)
        assert User.objects.filter(username="bob").exists()

    def test_nobody_deletes_themself(self, ada: Client) -> None:
        """Whatever the address."""
        own = User.objects.get(username="ada")
        response = send(ada, f"{page_of(own)}delete/")
        assert "You cannot delete your own account. Ask another admin." in text_of(response)

    def test_everything_that_goes_is_counted(self) -> None:
        """Whoever adds something that goes with a user adds it to the page."""
        goes = {
            f"{each.related_model.__name__}"
            for each in User._meta.related_objects
            if each.on_delete is not None and each.on_delete.__name__ == "CASCADE"
        }
        not_worth_saying = {"KeptAnswer", "DraftAct", "User_groups", "User_user_permissions", "LogEntry"}
        assert goes - not_worth_saying == {"ApiToken", "Membership", "SavedFilter", "WorkloadIdentity"}
