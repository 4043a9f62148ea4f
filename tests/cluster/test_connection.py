"""Requests, streams and credentials."""

import inspect
import json
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.connecting import connection
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure, SettingsError
from tests.cluster.certificates import authority, issued, serving
from tests.cluster.doubles import Answer, Asked, Script, scripted
from tests.waiting import PATIENCE_S

SECRET = "s3cr3t-token"


def kubeconfig(address: str, **user: object) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "main",
            "contexts": [{"name": "main", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": address}}],
            "users": [{"name": "u", "user": user or {"token": SECRET}}],
        }
    )


def test_a_request_carries_the_token_and_returns_what_came():
    """The token goes with every request; status, headers and body come back."""
    with scripted(lambda asked, answer: answer.json(200, {"a": 1}, {"X-One": "1"})) as server:
        response = server.connection(token=SECRET).request("GET", "/api", query={"limit": 5})
    assert (response.status, response.headers["x-one"], response.body) == (200, "1", b'{"a": 1}')
    assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert server.asked[0].query == {"limit": "5"}


@pytest.mark.parametrize("way", ["path", "text"])
def test_a_kubeconfig_opens_a_connection(way, tmp_path):
    """A kubeconfig, as a file or as text, gives the address and the token."""
    with scripted(lambda asked, answer: answer.json(200, {})) as server:
        text = kubeconfig(server.address)
        path = tmp_path / "config"
        path.write_text(text)
        settings = {"path": {"kubeconfig_path": str(path)}, "text": {"kubeconfig_text": text}}[way]
        Connection(ConnectionSettings(**settings)).request("GET", "/version")
    assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"


def test_a_credential_plugin_of_a_kubeconfig_file_is_run(tmp_path):
    """A file that an operator placed may name a credential plugin; its token is used."""
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": SECRET},
    }
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", f"print({json.dumps(credential)!r})"],
        "interactiveMode": "Never",
    }
    with scripted(lambda asked, answer: answer.json(200, {})) as server:
        path = tmp_path / "config"
        path.write_text(kubeconfig(server.address, exec=plugin))
        Connection(ConnectionSettings(kubeconfig_path=str(path))).request("GET", "/version")
    assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("user", [{"exec": {"command": "touch"}}, {"tokenFile": "/etc/passwd"}, {"client-key": "/k"}])
def test_a_kubeconfig_text_may_name_neither_commands_nor_files(user):
    """Who may edit a cluster in the browser must not run commands or read files where the engine runs."""
    with pytest.raises(SettingsError, match=next(iter(user))):
        Connection(ConnectionSettings(kubeconfig_text=kubeconfig("https://c", **user)))


def test_settings_name_exactly_one_way_in():
    """No way in, or two, is an error that says which ways there are."""
    for settings in (ConnectionSettings(), ConnectionSettings(in_cluster=True, address="https://c")):
        with pytest.raises(SettingsError, match="needs one of"):
            Connection(settings)


def test_no_secret_is_in_a_repr_or_an_error():
    """Tokens occur neither in representations nor in the errors of broken configurations."""
    broken = f'users: [{{name: u, user: {{token: "{SECRET}"'
    settings = ConnectionSettings(kubeconfig_text=broken)
    with pytest.raises(SettingsError) as caught:
        Connection(settings)
    whole = [caught.value, caught.value.__cause__, settings, ConnectionSettings(address="https://c", token=SECRET)]
    connection = Connection(ConnectionSettings(address="https://c", token=SECRET))
    shown = [repr(one) for one in (*whole, connection, connection._access)]
    assert not [text for text in shown if SECRET in text]
    assert caught.value.__suppress_context__


def failed(script: Script, method: str = "GET", **settings: object) -> tuple[Any, list[Asked]]:
    """Send one request and return how it failed, and all that the server was asked."""
    with scripted(script) as server, pytest.raises(ClusterError) as caught:
        server.connection(**settings).request(method, "/", body={})
    return caught.value, server.asked


@pytest.mark.parametrize(
    ("status", "want"),
    [
        ({"headers": {"Retry-After": "7"}}, 7.0),
        ({"headers": {"Retry-After": "-7"}}, None),
        ({"headers": {"Retry-After": "nan"}}, None),
        ({"headers": {"Retry-After": "inf"}}, 3600.0),
        ({"retryAfterSeconds": 10**300}, 3600.0),
        ({"retryAfterSeconds": 10}, 10.0),
        ({}, None),
        ({"headers": {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}}, None),
    ],
)
def test_an_error_answer_tells_how_long_to_wait(status, want):
    """Retry-After comes from the header or the Status; a date that is none of ours is no number of seconds."""
    error, _ = failed(lambda asked, answer: answer.status(429, "TooManyRequests", "busy", **dict(status)))
    assert (error.code, error.reason, str(error), error.retry_after_s) == (429, "TooManyRequests", "busy", want)


def test_an_error_answer_that_is_no_status_is_not_quoted():
    """A proxy's page of HTML is not shown to people."""
    error, _ = failed(lambda asked, answer: answer.json(502, b"<html>secret</html>"))
    assert (error.code, str(error)) == (502, "the API server answered 502")


def test_a_reset_is_a_connection_failure_and_sent_once():
    """What may or may not have landed is told apart from an answer, and not sent again behind the caller's back."""
    error, asked = failed(lambda asked, answer: answer.reset(), "POST")
    assert (type(error), error.timed_out, len(asked)) == (ConnectionFailure, False, 1)


def test_a_hang_is_a_connection_failure_that_says_so():
    """No answer within the time given is a failure, sent once as well."""
    error, asked = failed(lambda asked, answer: answer.hang(), "POST", timeout_s=0.3)
    assert (type(error), error.timed_out, len(asked)) == (ConnectionFailure, True, 1)


def test_a_redirect_is_not_followed():
    """A token is never carried to another server."""
    error, asked = failed(lambda asked, answer: answer.json(302, {}, {"Location": "/elsewhere"}), token=SECRET)
    assert (type(error), error.code, [one.path for one in asked]) == (ApiFailure, 302, ["/"])


def test_a_stream_gives_whole_lines_as_they_come():
    """Lines are put together across packets and given before the stream ends; a cut-off line is dropped."""
    first_read = threading.Event()

    def script(asked, answer):
        answer.begin()
        answer.raw(b'{"a":1}\n{"b"')
        assert first_read.wait(PATIENCE_S)
        answer.raw(b":2}\n\n{half")

    with scripted(script) as server:
        lines = iter(server.connection().stream("/", idle_timeout_s=PATIENCE_S))
        assert next(lines) == b'{"a":1}'
        first_read.set()
        assert list(lines) == [b'{"b":2}']


def test_a_silent_stream_fails():
    """Half a line and then nothing is a failure after the idle time, not an endless wait."""

    def script(asked, answer):
        answer.begin()
        answer.raw(b"{half")
        answer.hang()

    with scripted(script) as server, pytest.raises(ConnectionFailure) as caught:
        list(server.connection().stream("/", idle_timeout_s=0.05))
    assert caught.value.timed_out


def _trickle(answer: Answer) -> None:
    """One byte after the other, for as long as anybody listens."""
    while True:
        answer.raw(b"x")
        answer.wait(0.01)


def test_a_stream_that_trickles_fails():
    """Bytes come all the time, and never a whole line."""

    def script(asked, answer):
        answer.begin()
        _trickle(answer)

    with scripted(script) as server, pytest.raises(ConnectionFailure) as caught:
        list(server.connection().stream("/", idle_timeout_s=0.1))
    assert caught.value.timed_out


@pytest.mark.parametrize("code", [200, 500])
def test_an_answer_that_trickles_fails_when_its_time_is_up(code: int):
    """No single read takes long, and the whole would take for ever."""

    def script(asked, answer):
        answer.raw(f"HTTP/1.1 {code} X\r\nContent-Length: 1000000\r\n\r\n".encode())
        _trickle(answer)

    with scripted(script) as server, pytest.raises(ConnectionFailure) as caught:
        server.connection(timeout_s=0.1).request("GET", "/")
    assert caught.value.timed_out


class TestWithoutEnd:
    """Whoever stands in for an API server sends as much as they like; we take no more than any object or page has."""

    @staticmethod
    def flood(begin: bytes):
        """What never ends, for as long as anybody listens."""

        def script(asked, answer):
            answer.raw(begin)
            while not answer.over:
                answer.raw(b"x" * 65_536)

        return scripted(script)

    @pytest.mark.parametrize("code", [200, 500])
    def test_an_answer_ends(self, code: int, monkeypatch: pytest.MonkeyPatch):
        """Success and failure alike."""
        monkeypatch.setattr(connection, "LARGEST_FAILURE", 200_000)
        begin = f"HTTP/1.1 {code} X\r\nContent-Length: 50000000000\r\n\r\n".encode()
        too_long = pytest.raises(ConnectionFailure, match="longer than 200000 bytes")
        with self.flood(begin) as server, too_long:
            server.connection(timeout_s=PATIENCE_S).request("GET", "/", largest=200_000)

    def test_a_line_ends(self):
        """Though it comes as fast as it can."""
        begin = b"HTTP/1.1 200 X\r\nConnection: close\r\n\r\n"
        too_long = pytest.raises(ConnectionFailure, match="a line of the response is longer than 16777216 bytes")
        with self.flood(begin) as server, too_long:
            list(server.connection().stream("/", idle_timeout_s=PATIENCE_S))

    def test_every_answer_has_a_measure(self):
        """Also where nobody names one."""
        assert inspect.signature(Connection.request).parameters["largest"].default == connection.LARGEST < 2**30


def test_a_web_page_is_no_answer():
    """A proxy between us and the API server wants somebody to sign in, and says 200."""
    page = {"Content-Type": "text/html; charset=utf-8"}
    with scripted(lambda asked, answer: answer.json(200, b"<html>Sign in</html>", page)) as server:
        for read in (
            lambda: server.connection().request("GET", "/"),
            lambda: server.connection().stream("/", idle_timeout_s=1),
        ):
            with pytest.raises(ConnectionFailure, match="the response is a web page"):
                read()


def test_closing_a_stream_wakes_its_reader():
    """A reader that waits for a line ends quietly, also in the middle of a chunk, when another thread closes it."""

    def script(asked, answer):
        answer.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n9\r\n{half")
        answer.hang()

    lines, endings = [], []

    def read(stream):
        try:
            lines.extend(iter(stream))
        except ConnectionFailure as error:
            endings.append(error)

    with scripted(script) as server:
        stream = server.connection().stream("/", idle_timeout_s=PATIENCE_S)
        first = iter(stream)
        assert next(first) == b"{}"
        reader = threading.Thread(target=read, args=(first,), daemon=True)
        reader.start()
        stream.close()
        reader.join(PATIENCE_S)
        assert (reader.is_alive(), lines, endings) == (False, [], [])


def test_the_clocks_are_compared():
    """The Date of an answer tells how far our clock is off."""

    def script(asked, answer):
        answer.close_with(b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 12:00:00 GMT\r\nContent-Length: 0\r\n\r\n")

    with scripted(script) as server:
        connection = Connection(ConnectionSettings(address=server.address), wall_s=lambda: 1_767_268_830.0)
        connection.request("GET", "/")
    assert connection.clock_skew_s == 30.0


def test_a_certificate_that_is_not_trusted_is_told_as_such(tmp_path: Path):
    """Not as a connection that broke: what to mend is in the kubeconfig."""
    tls = serving(*issued(authority(), "server"), tmp_path)
    with (
        scripted(lambda asked, answer: answer.json(200, {}), tls) as server,
        pytest.raises(ConnectionFailure, match="the TLS connection to the API server failed: unable to get"),
    ):
        server.connection().request("GET", "/version")


def test_a_server_whose_certificate_has_expired_is_told_with_the_date(tmp_path: Path):
    tls = serving(*issued(authority(), "server", ends=datetime(2026, 1, 2, 8, 30, tzinfo=UTC)), tmp_path)
    with (
        scripted(lambda asked, answer: answer.json(200, {}), tls) as server,
        pytest.raises(ConnectionFailure, match=r"certificate has expired \(on 2026-01-02 08:30 UTC\)"),
    ):
        server.connection(ca=authority()[0]).request("GET", "/version")


def test_a_ca_that_was_replaced_is_taken_up(tmp_path: Path):
    """From the file that names it: nothing was sent to a server that could not be told from another."""
    tls, ca, path = serving(*issued(authority(), "server"), tmp_path), tmp_path / "ca.crt", tmp_path / "config"
    ca.write_text(authority("former")[0])
    with scripted(lambda asked, answer: answer.json(200, {}), tls) as server:
        document = json.loads(kubeconfig(server.address))
        document["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
        path.write_text(json.dumps(document))
        connection = Connection(ConnectionSettings(kubeconfig_path=str(path)))
        ca.write_text(authority()[0])
        assert connection.request("GET", "/version").status == 200
    assert len(server.asked) == 1
