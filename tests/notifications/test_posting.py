"""One request: bounded, not led on, and what went wrong is said without the address' secrets."""

import threading
from pathlib import Path
from typing import Any

import pytest

from scheduler_admin.core.outbound import exchange
from scheduler_admin.notifications.delivery.webhook import UndeliveredError, post
from tests.cluster.certificates import authority, issued, serving
from tests.notifications.receiver import Receiver, receiving


def failure(receiver: Receiver, **answered: Any) -> UndeliveredError:
    """What is said of a request that fails."""
    with pytest.raises(UndeliveredError) as raised:
        post(answered.get("url", receiver.url), b"{}", {})
    assert "canarysecret" not in f"{raised.value}{raised.value.__cause__}"
    return raised.value


def test_what_was_taken_has_arrived(receiver: Receiver) -> None:
    """Any 2xx; the query is sent too."""
    receiver.answers = [204]
    post(receiver.url, b'{"a":1}', {"Content-Type": "application/json"})
    ((headers, body),) = receiver.got
    assert (body, headers["Content-Type"]) == (b'{"a":1}', "application/json")


@pytest.mark.parametrize(("status", "final"), [(400, True), (401, False), (404, False), (413, True), (500, False)])
def test_an_answer_that_is_no_success_is_told(receiver: Receiver, status: int, final: bool) -> None:
    """Only what the receiver will never take is final."""
    receiver.answers = [status]
    found = failure(receiver)
    assert (str(found), found.final) == (f"127.0.0.1 responded with {status}.", final)


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    """It could lead inside."""
    receiver.answers = [302]
    assert "responded with a redirect (302)" in str(failure(receiver))
    assert len(receiver.got) == 1


def test_who_answers_too_slowly_is_given_up(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, however little comes at a time."""
    monkeypatch.setattr(exchange, "LASTS_S", exchange._CONNECTING_S + 0.2)
    receiver.slowly = threading.Event()
    assert "did not respond in time" in str(failure(receiver))


def test_nobody_there_is_told() -> None:
    """With the host, not the address."""
    with pytest.raises(UndeliveredError, match=r"^nowhere\.invalid can’t be resolved"):
        post("https://nowhere.invalid/canarysecret", b"", {})


def test_by_https_the_certificate_has_to_hold(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an authority that the machine trusts, for the very host; then it arrives, and is bounded as well."""
    trusted = tmp_path / "ca.pem"
    trusted.write_text(authority()[0])
    right, wrong = (issued(authority(), "receiver", address=each) for each in ("127.0.0.1", "127.0.0.2"))
    with receiving(serving(*right, tmp_path)) as secure:
        assert "The certificate of 127.0.0.1 is not valid" in str(failure(secure))
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        post(secure.url, b"{}", {})
        assert [body for _headers, body in secure.got] == [b"{}"]
        monkeypatch.setattr(exchange, "LASTS_S", exchange._CONNECTING_S + 0.5)
        secure.slowly = threading.Event()
        assert "did not respond in time" in str(failure(secure))
    with receiving(serving(*wrong, tmp_path)) as other:
        assert "The certificate of 127.0.0.1 is not valid" in str(failure(other))
