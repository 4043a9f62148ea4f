"""Limits on requests."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import caches
from rest_framework.test import APIClient

from scheduler_admin.accounts.services.tokens import create_token
from tests.api import builders
from tests.api.builders import NOW
from tests.api.conftest import client_of

URL = "/api/v1/clusters"


@pytest.fixture(autouse=True)
def _few(settings: Any) -> None:
    settings.API_RATE, settings.API_RATE_ANONYMOUS = 3, 2


def codes(client: APIClient, times: int, **headers: Any) -> list[int]:
    """How so many requests are answered."""
    return [client.get(URL, **headers).status_code for _ in range(times)]


def test_a_minute_has_room_for_so_many(olga: APIClient) -> None:
    """Beyond that a request is refused as problem details, which say when to come back; then it is answered."""
    with time_machine.travel(NOW + timedelta(seconds=20), tick=False):
        assert codes(olga, 3) == [200] * 3
        refused = olga.get(URL)
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert refused["Retry-After"] == "40"
    assert refused.json()["title"] == "Too Many Requests"
    with time_machine.travel(NOW + timedelta(seconds=60), tick=False):
        assert codes(olga, 1) == [200]


def test_every_answer_says_how_many_are_left(olga: APIClient) -> None:
    """By the draft's names, in errors too, and never fewer than none."""
    answers = [olga.get(URL), olga.get(f"{URL}/nowhere"), olga.get(URL), olga.get(URL)]
    assert [answer["RateLimit"] for answer in answers] == [f'"minute";r={left};t=60' for left in (2, 1, 0, 0)]
    assert answers[0]["RateLimit-Policy"] == '"minute";q=3;w=60'


def test_each_token_has_its_own(db: None) -> None:
    """What one token of a user sends is not counted on another's."""
    user = builders.user("ci")
    assert codes(client_of(user), 4)[-1] == 429
    assert codes(client_of(user), 3) == [200] * 3


def test_guesses_are_counted_by_address(db: None) -> None:
    """With a token that is none, or without: together, by address, and a good token from there is still answered."""
    wrong = APIClient(HTTP_AUTHORIZATION="Bearer sa_wrong")
    assert codes(wrong, 1) + codes(APIClient(), 2) + codes(wrong, 1) == [401, 401, 429, 429]
    assert codes(wrong, 1, REMOTE_ADDR="192.0.2.7") == [401]
    assert codes(client_of(builders.user("ci")), 1) == [200]


def test_nobody_gets_more_by_saying_who_they_speak_for(db: None) -> None:
    """X-Forwarded-For counts only behind a proxy, and then what the proxy itself added."""
    got = [codes(APIClient(), 1, HTTP_X_FORWARDED_FOR=f"192.0.2.{number}")[0] for number in range(3)]
    assert got == [401, 401, 429]


def test_no_limit_is_no_limit(olga: APIClient, settings: Any) -> None:
    """0 counts nothing and says nothing."""
    settings.API_RATE = 0
    assert codes(olga, 5) == [200] * 5
    assert "RateLimit" not in olga.get(URL)


def test_without_the_cache_nobody_is_turned_away(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A Redis that is away stops no request, and the log says that nothing is counted."""

    def fails(*_args: Any, **_settings: Any) -> None:
        raise ConnectionError

    _token, plaintext = create_token(user=builders.user("ci"), name="ci")
    monkeypatch.setattr(type(caches["limits"]), "incr", fails)
    assert codes(APIClient(HTTP_AUTHORIZATION=f"Bearer {plaintext}"), 5) == [200] * 5
    assert "was not updated" in caplog.text
