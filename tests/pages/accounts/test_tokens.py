"""The pages of API tokens: everybody makes and revokes their own, and admins see and revoke everybody's."""

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services.tokens import create_token
from tests.pages.accounts.people import person, recorded, red, seen, seen_in, send, shown, text_of, wrong
from tests.pages.conftest import client_of

pytestmark = pytest.mark.django_db
OWN, ADD, ALL = "/account/", "/account/tokens/add/", "/people/tokens/"
FORM = {"name": "ci", "scopes": ["read"], "days": "90"}


def secret_of(response: HttpResponse) -> str:
    """The token that an answer shows."""
    found = re.search(r"<code>(sa_[\w-]{43})</code>", response.content.decode())
    assert found is not None
    return found[1]


def token(user: User, name: str = "laptop", **facts: object) -> ApiToken:
    """A token of somebody's."""
    made, _plaintext = create_token(user=user, name=name)
    for field, value in facts.items():
        setattr(made, field, value)
    made.save()
    return made


def revoke(one: ApiToken) -> str:
    return f"/tokens/{one.pk}/revoke/"


class TestMaking:
    """A token of one's own, shown once, ready to be used."""

    def test_it_is_shown_once_with_a_line_that_works(self, tess: Client) -> None:
        """In that one answer, which no cache keeps; later its first characters alone."""
        response = send(tess, ADD, **FORM)
        secret = secret_of(response)
        assert response["Cache-Control"] == "private, no-store"
        line = f"curl -H 'Authorization: Bearer {secret}' http://testserver/api/v1/clusters"
        assert line in text_of(response)
        assert APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}").get("/api/v1/clusters").status_code == 200
        html = tess.get(OWN).content.decode()
        assert (secret in html, secret[:12] in html) == (False, True)
        made = ApiToken.objects.get()
        assert (made.user.username, made.scopes, made.subtree) == ("tess", ["read"], "")
        assert recorded("token.create").actor_name == "tess"

    @pytest.mark.parametrize(("days", "left"), [("7", timedelta(days=7)), ("never", None)])
    def test_it_ends_when_its_maker_says(self, ada: Client, days: str, left: timedelta | None) -> None:
        """Or never; ninety days are the default."""
        assert '<option value="90" selected>' in ada.get(ADD).content.decode()
        send(ada, ADD, **FORM | {"days": days, "subtree": "root.a"})
        made = ApiToken.objects.get()
        assert made.subtree == "root.a"
        if left is None:
            assert made.expires_at is None
        else:
            assert made.expires_at is not None
            assert abs(made.expires_at - timezone.now() - left) < timedelta(minutes=5)

    def test_it_offers_the_scopes_that_are_of_use(self, ada: Client, tess: Client, audrey: Client) -> None:
        """To each by what they may do themselves."""
        erin = client_of(person("erin", edits=[red()]))
        offered = {
            name: re.findall(r'name="scopes" value="([\w:]+)"', client.get(ADD).content.decode())
            for name, client in {"ada": ada, "tess": tess, "audrey": audrey, "erin": erin}.items()
        }
        assert offered == {
            "ada": ApiToken.Scope.values,
            "tess": ["read", "tenant:notify"],
            "audrey": ["read"],
            "erin": ["read", "tree:plan", "tree:write", "tenant:notify"],
        }

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"name": " "}, "name"),
            ({"scopes": []}, "scopes"),
            ({"scopes": ["site:administer"]}, "scopes"),
            ({"days": "0"}, "days"),
            ({"subtree": "root..x"}, "subtree"),
        ],
    )
    def test_what_can_not_be_is_said_at_its_field(self, tess: Client, given: dict[str, object], field: str) -> None:
        """And no token is made."""
        response = send(tess, ADD, **FORM | given)
        assert (response.status_code, bool(wrong(response, field)), ApiToken.objects.count()) == (422, True, 0)

    def test_a_form_that_is_sent_twice_makes_one(self, tess: Client) -> None:
        """As when the answer is reloaded; sent once more, it is meant."""
        tag = seen(tess, ADD)
        sent = {**FORM, "seen": tag}
        assert tess.post(ADD, sent).status_code == 200
        again = tess.post(ADD, sent)
        assert (again.status_code, ApiToken.objects.count()) == (409, 1)
        assert "The tokens have changed since this form was opened." in text_of(again)
        assert tess.post(ADD, {**sent, "seen": seen_in(again)}).status_code == 200


class TestOwn:
    """Everybody finds their own tokens, and no others, on their own page."""

    def test_they_are_listed_with_what_they_are_good_for(self, tess: Client) -> None:
        """When they end and when they were used last."""
        now = timezone.now()
        owner = User.objects.get(username="tess")
        token(owner, "old", expires_at=now - timedelta(days=1), last_used_at=now - timedelta(hours=3))
        token(owner, "endless", expires_at=None)
        token(person("bob"), "hidden")
        text = shown(tess, OWN)
        assert re.search(r"old sa_\S+… read – \S+ expired 3 h ago Revoke", text)
        assert re.search(r"endless sa_\S+… read – \S+ never never Revoke", text)
        assert "hidden" not in text

    def test_who_has_none_is_told_what_they_are_for(self, carl: Client) -> None:
        """And finds the page in the menu."""
        html = shown(carl, OWN)
        what = "A token lets a script or a pipeline do what you allow it to. Create one below."
        assert f"No API tokens yet. {what}" in html
        assert f'href="{OWN}"' in carl.get("/pods/").content.decode()

    def test_one_is_revoked_after_a_question(self, tess: Client) -> None:
        """With a reason; it is another user's business to nobody but admins."""
        own = token(User.objects.get(username="tess"))
        assert "Requests with this token fail from then on." in shown(tess, revoke(own))
        assert wrong(tess.post(revoke(own), {"reason": ""}), "reason")
        response = tess.post(revoke(own), {"reason": "laptop stolen"}, follow=True)
        assert "Token laptop was revoked. Requests with it now fail." in text_of(response)
        assert not ApiToken.objects.exists()
        assert recorded("token.revoke").reason == "laptop stolen"

    def test_nobody_finds_those_of_others(self, tess: Client, otto: Client) -> None:
        """An operator neither."""
        others = token(person("bob"))
        for client in (tess, otto):
            assert client.get(revoke(others)).status_code == 404
            assert client.post(revoke(others), {"reason": "why"}).status_code == 404
        assert [client.get(ALL).status_code for client in (tess, otto)] == [404, 403]


class TestAll:
    """Admins see every token and revoke any; they make those of service accounts."""

    def test_they_see_whose_each_is(self, ada: Client) -> None:
        """And narrow the list down by its address."""
        bob = person("bob")
        token(bob, "laptop")
        token(person("ci", service=True), "pipeline", expires_at=timezone.now() - timedelta(days=1))
        token(bob, "phone", last_used_at=timezone.now())
        found = {
            query: re.findall(r'<span class="name">([^<]+)<', ada.get(f"{ALL}?{query}").content.decode())
            for query in ("", "q=bob", "q=PIPE", "q=sa_", "state=expired", "state=valid", "state=unused", "state=x")
        }
        assert found == {
            "": ["phone", "pipeline", "laptop"],
            "q=bob": ["phone", "laptop"],
            "q=PIPE": ["pipeline"],
            "q=sa_": ["phone", "pipeline", "laptop"],
            "state=expired": ["pipeline"],
            "state=valid": ["phone", "laptop"],
            "state=unused": ["pipeline", "laptop"],
            "state=x": ["phone", "pipeline", "laptop"],
        }
        assert "No token matches." in shown(ada, f"{ALL}?q=nobody-has-it")

    def test_before_there_is_one_it_says_what_they_are_for(self, ada: Client) -> None:
        """And where they are made."""
        assert "No API tokens yet. Programs use tokens to call the REST API." in shown(ada, ALL)

    def test_they_revoke_anybodys(self, ada: Client) -> None:
        """And come back to whose it was."""
        one = token(bob := person("bob"))
        response = ada.post(revoke(one), {"reason": "leaked"})
        assert response["Location"] == f"/people/users/{bob.pk}/"
        assert (recorded("token.revoke").actor_name, ApiToken.objects.count()) == ("ada", 0)

    def test_they_make_those_of_service_accounts(self, ada: Client) -> None:
        """With the scopes that such an account can use; people make their own."""
        account, bob = person("ci", role="operator", service=True), person("bob")
        page = f"/people/service-accounts/{account.pk}/tokens/add/"
        assert f'href="{page}"' in ada.get(f"/people/users/{account.pk}/").content.decode()
        html = ada.get(page).content.decode()
        assert re.findall(r'name="scopes" value="([\w:]+)"', html) == ["read", "cluster:operate"]
        secret_of(send(ada, page, **FORM | {"scopes": ["cluster:operate"]}))
        made = ApiToken.objects.get()
        assert (made.user, made.scopes, recorded("token.create").actor_name) == (account, ["cluster:operate"], "ada")
        assert ada.get(f"/people/service-accounts/{bob.pk}/tokens/add/").status_code == 404
