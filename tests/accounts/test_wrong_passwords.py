"""Wrong passwords: how many a name takes from an address, and what is said then."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from axes.models import AccessAttempt
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.http import HttpRequest
from django.test import Client
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.accounts.sign_in.attempts import address_of
from tests.api.builders import NOW

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
WAIT = "Too many wrong passwords for this username from your address. Try again in 15 minutes"


@pytest.fixture(autouse=True)
def _people() -> None:
    create_user(username="alice", password=PASSWORD)
    create_user(username="erin", password=PASSWORD)


def sign_in(name: str = "alice", password: str = "wrong", **meta: str) -> Any:
    """What the sign-in page answers; each comes without a session."""
    return Client().post("/sign-in/", {"username": name, "password": password}, **meta)


def codes(times: int, **how: str) -> list[int]:
    """How so many attempts are answered."""
    return [sign_in(**how).status_code for _ in range(times)]


def test_the_fifth_is_the_last_that_is_looked_at() -> None:
    """Then the right one is none either; the page says for how long, keeps the name, and names no way around."""
    with time_machine.travel(NOW, tick=False):
        assert codes(5) == [200] * 4 + [429]
        answer = sign_in(password=PASSWORD)
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    page = answer.content.decode()
    assert WAIT in page
    assert 'id="e-sign-in" role="alert"' in page
    assert 'value="alice"' in page
    assert PASSWORD not in page


def test_the_wait_ends_when_it_was_said_to() -> None:
    """Whatever is tried meanwhile: a quarter of an hour after the last that was looked at."""
    with time_machine.travel(NOW, tick=False):
        codes(5)
    with time_machine.travel(NOW + timedelta(minutes=14), tick=False):
        assert codes(3, password=PASSWORD) == [429] * 3
    with time_machine.travel(NOW + timedelta(minutes=15, seconds=1), tick=False):
        assert codes(1, password=PASSWORD) == [302]


def test_others_and_elsewhere_go_on() -> None:
    """Another name from there, and that name from another address: nobody can keep anybody out."""
    codes(5)
    assert codes(1, name="erin", password=PASSWORD) == [302]
    assert codes(1, password=PASSWORD, REMOTE_ADDR="192.0.2.7") == [302]
    assert codes(1, password=PASSWORD) == [429]


def test_a_name_that_nobody_has_is_told_the_same() -> None:
    """So that nobody learns who is here."""
    assert codes(5, name="nobody") == [200] * 4 + [429]
    assert WAIT in sign_in(name="nobody").content.decode()


def test_a_right_one_forgets_the_wrong_ones() -> None:
    """Who finds it at the fourth try begins anew."""
    assert codes(4) == [200] * 4
    assert codes(1, password=PASSWORD) == [302]
    assert codes(4) == [200] * 4


def test_another_browser_is_no_other_address() -> None:
    """They are counted together, whatever a client says that it is."""
    found = [sign_in(HTTP_USER_AGENT=f"browser {number}").status_code for number in range(5)]
    assert found == [200] * 4 + [429]


def test_the_address_is_not_what_a_client_says() -> None:
    """Without a proxy X-Forwarded-For is nobody's word."""
    found = [sign_in(HTTP_X_FORWARDED_FOR=f"192.0.2.{number}").status_code for number in range(5)]
    assert found == [200] * 4 + [429]


def test_behind_a_proxy_it_is_what_the_proxy_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a client wrote before that counts for nothing; somebody else behind the proxy is somebody else."""
    monkeypatch.setattr("rest_framework.settings.api_settings.NUM_PROXIES", 1)
    said = [f"10.0.0.{number}, 192.0.2.7" for number in range(5)]
    assert [sign_in(HTTP_X_FORWARDED_FOR=one).status_code for one in said] == [200] * 4 + [429]
    assert codes(1, password=PASSWORD, HTTP_X_FORWARDED_FOR="192.0.2.7, 192.0.2.8") == [302]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("", None),
        ("unix:", None),
        ("192.0.2.7; DROP", None),
    ],
)
def test_addresses(given: str, address: str | None) -> None:
    """As the database can hold them; of IPv6 the part that a client does not choose."""
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = given
    assert address_of(request) == address


def test_a_machine_without_an_address_is_none() -> None:
    """As where code, not a client, signs somebody in."""
    assert address_of(HttpRequest()) is None


@pytest.mark.parametrize(
    "command",
    [("axes_reset",), ("axes_reset_username", "alice"), ("axes_reset_ip", "127.0.0.1")],
    ids=lambda one: one[0],
)
def test_it_is_lifted_by_hand(command: tuple[str, ...]) -> None:
    """By each of the commands that the docs name."""
    codes(5)
    call_command(*command)
    assert codes(1, password=PASSWORD) == [302]


def test_tokens_and_sessions_go_on() -> None:
    """Whoever is in stays in, and tokens are no passwords."""
    alice = Client()
    alice.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    codes(5)
    assert alice.get("/pods/").status_code == 200
    _token, plaintext = create_token(user=User.objects.get(username="alice"), name="ci")
    assert APIClient(HTTP_AUTHORIZATION=f"Bearer {plaintext}").get("/api/v1/clusters").status_code == 200


def test_no_password_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the rows nor in the log; the log has the address and that it is locked."""
    for _ in range(5):
        sign_in(password="wrong-canary")
    rows = str(list(AccessAttempt.objects.values()))
    assert "alice" in rows
    assert "canary" not in rows + caplog.text
    assert "Locking out" in caplog.text
    assert "127.0.0.1" in caplog.text


def test_who_comes_by_another_door_is_not_counted() -> None:
    """A provider that sends people back in vain locks nobody out, from an address that many share."""
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = "127.0.0.1"
    assert [authenticate(request, nonce="n", code_verifier="c") for _ in range(6)] == [None] * 6
    assert not AccessAttempt.objects.exists()
    assert authenticate(request, username="alice", password=PASSWORD) is not None


def test_without_a_limit_nothing_is_counted(settings: Any) -> None:
    """SIGN_IN_FAILURES=0."""
    settings.AXES_ENABLED = False
    assert codes(8) == [200] * 8
