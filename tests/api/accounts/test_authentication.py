"""Who asks: tokens and sessions."""

import logging
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import ApiToken, User
from scheduler_admin.accounts.services.tokens import create_token, revoke_token
from tests.api import builders
from tests.api.builders import NOW

URL = "/api/v1/clusters"


@pytest.fixture
def someone(db: None) -> User:
    return builders.user("someone")


def ask(plaintext: str, scheme: str = "Bearer") -> Any:
    """A request with this token."""
    return APIClient(HTTP_AUTHORIZATION=f"{scheme} {plaintext}").get(URL)


def test_a_token_signs_in(someone: User) -> None:
    """A token is accepted, whatever the case of the word before it."""
    _token, plaintext = create_token(user=someone, name="ci")
    assert ask(plaintext).status_code == 200
    assert ask(plaintext, scheme="bearer").status_code == 200


def test_an_expired_token_is_refused(someone: User) -> None:
    """A token is good until the moment it expires."""
    _token, plaintext = create_token(user=someone, name="ci", lifetime=timedelta(hours=1))
    with time_machine.travel(NOW + timedelta(minutes=59), tick=False):
        assert ask(plaintext).status_code == 200
    with time_machine.travel(NOW + timedelta(hours=1), tick=False):
        assert ask(plaintext).status_code == 401


def test_a_revoked_token_is_refused(someone: User) -> None:
    """The request after the revocation is refused."""
    token, plaintext = create_token(user=someone, name="ci")
    revoke_token(token=token)
    assert ask(plaintext).status_code == 401


def test_a_user_who_may_not_sign_in_has_no_tokens(someone: User) -> None:
    """Turning a user off turns the user's tokens off."""
    _token, plaintext = create_token(user=someone, name="ci")
    User.objects.filter(pk=someone.pk).update(is_active=False)
    assert ask(plaintext).status_code == 401


@pytest.mark.parametrize("plaintext", ["", "sa_", "sa_wrong", "a b c", "é", "x" * 5000])
def test_what_is_no_token_is_refused(db: None, plaintext: str) -> None:
    """Anything else is refused, and the answer says that the token is what is wrong."""
    response = ask(plaintext)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == 'Bearer realm="api", error="invalid_token"'


def test_the_digest_is_no_token(someone: User) -> None:
    """Who reads the database can't sign in with what is stored there."""
    token, _plaintext = create_token(user=someone, name="ci")
    assert ask(token.digest).status_code == 401


def test_a_stored_digest_is_good_for_nothing_without_the_key(someone: User, settings: Any) -> None:
    """Another SECRET_KEY knows none of the tokens."""
    _token, plaintext = create_token(user=someone, name="ci")
    settings.SECRET_KEY = "another"
    assert ask(plaintext).status_code == 401


def test_tokens_go_over_to_a_new_key_when_they_are_used(someone: User, settings: Any) -> None:
    """With the former key among the fallbacks a token stays good, and after its next use without them too."""
    _token, plaintext = create_token(user=someone, name="ci")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    assert ask(plaintext).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert ask(plaintext).status_code == 200


def test_last_use_is_noted_once_a_minute(someone: User) -> None:
    """The first request of a minute writes, the others only read."""
    token, plaintext = create_token(user=someone, name="ci")
    for seconds, want in ((0, 0), (59, 0), (60, 60), (61, 60)):
        with time_machine.travel(NOW + timedelta(seconds=seconds), tick=False):
            ask(plaintext)
        token.refresh_from_db()
        assert token.last_used_at == NOW + timedelta(seconds=want)


def test_pages_may_ask_by_session(someone: User) -> None:
    """Who is signed in to the pages may read the API too."""
    client = APIClient()
    client.force_login(someone)
    assert client.get(URL).status_code == 200


def test_tokens_are_never_logged(someone: User, caplog: pytest.LogCaptureFixture) -> None:
    """Neither making a token, nor using it, nor its repr, nor failing with it leaves it in a log."""
    with caplog.at_level(logging.DEBUG):
        token, plaintext = create_token(user=someone, name="ci")
        ask(plaintext)
        ask(plaintext + "x")
        logging.getLogger(__name__).info("seen: %r %s %r", token, token, vars(token))
    secret = plaintext.removeprefix(token.prefix)
    assert secret not in caplog.text
    assert "seen:" in caplog.text
    assert not ApiToken.objects.filter(digest__contains=secret).exists()
