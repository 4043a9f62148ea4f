"""Signing in as people do, and going on when what they signed in with has ended or was replaced."""

import json
import re
import sys
import threading
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.connecting import access, credentials, plugins
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings, load
from engine.cluster.errors import ApiFailure, ConnectionFailure, SettingsError
from tests.cluster.certificates import authority, issued, jwt
from tests.cluster.doubles import Answer, Asked, ManualClock, Scripted, scripted
from tests.cluster.test_connection import kubeconfig
from tests.waiting import PATIENCE_S

V1 = "client.authentication.k8s.io/v1"
SECRET = "s3cr3t-token"
SETTINGS = Path(__file__).parents[2] / "scheduler_admin" / "settings.py"


def program(folder: Path, body: str) -> dict[str, Any]:
    """A credential plugin as a kubeconfig names it: a Python program in the kubeconfig's folder."""
    path = folder / "sign-in"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
    path.chmod(0o700)
    return {"exec": {"apiVersion": V1, "command": "./sign-in", "interactiveMode": "Never"}}


def grants(**status: Any) -> str:
    """The body of a program that grants this."""
    return f"print({json.dumps(json.dumps({'apiVersion': V1, 'kind': 'ExecCredential', 'status': status}))})"


def config(folder: Path, address: str = "https://c", **user: Any) -> ConnectionSettings:
    """Settings with a kubeconfig of one user in a file."""
    path = folder / "config"
    path.write_text(kubeconfig(address, **user))
    return ConnectionSettings(kubeconfig_path=str(path), timeout_s=PATIENCE_S)


def accepting(*tokens: str) -> Any:
    """A script that knows these tokens."""

    def script(asked: Asked, answer: Answer) -> None:
        if asked.headers.get("Authorization") in {f"Bearer {token}" for token in tokens}:
            answer.json(200, {"said": asked.body})
        else:
            answer.status(401, "Unauthorized", "Unauthorized")

    return script


def sent(server: Scripted) -> list[str]:
    return [one.headers.get("Authorization", "").removeprefix("Bearer ") for one in server.asked]


# What kubeconfigs say


def test_a_token_file_is_found_beside_its_kubeconfig(tmp_path: Path):
    (tmp_path / "token").write_text("abc\n")
    found = load(config(tmp_path, tokenFile="token"))
    assert (found.kind, found.authorization) == ("token-file", "Bearer abc")


def test_a_client_certificate_tells_when_it_ends(tmp_path: Path):
    ends = datetime(2030, 1, 2, tzinfo=UTC)
    certificate, key = issued(authority(), "ada", ends=ends)
    data = {"client-certificate-data": certificate, "client-key-data": key}
    embedded = {name: b64encode(pem.encode()).decode() for name, pem in data.items()}
    found = load(config(tmp_path, **embedded))
    assert (found.kind, found.ends_at, found.certificate) == ("client-certificate", ends, certificate)


def test_a_token_that_is_a_jwt_tells_when_it_ends():
    ends = datetime(2030, 1, 2, tzinfo=UTC)
    assert load(ConnectionSettings(address="https://c", token=jwt(ends))).ends_at == ends
    assert load(ConnectionSettings(address="https://c", token="a.b.c")).ends_at is None


@pytest.mark.parametrize(
    ("user", "want"),
    [
        ({"auth-provider": {"name": "oidc"}}, "auth-provider, which is not supported"),
        ({"token": SECRET, "as": "root"}, "uses as, which is not supported"),
        ({"token": f"{SECRET}\r\nX: y"}, "contains invalid characters"),
        ({"client-certificate-data": "%%%"}, "client-certificate-data .* is not base64"),
        ({"client-certificate-data": "QUJD", "client-key-data": "QUJD"}, "cannot be used"),
        ({"client-certificate": "none.pem"}, "none.pem cannot be read: No such file"),
        ({"tokenFile": "none"}, "none cannot be read: No such file"),
        ({"exec": {"apiVersion": V1, "command": "true", "env": [{SECRET: SECRET}]}}, "cannot be loaded: KeyError"),
    ],
)
def test_what_can_not_be_used_is_said_without_quoting_it(tmp_path: Path, user: dict[str, Any], want: str):
    with pytest.raises(SettingsError, match=want) as caught:
        Connection(config(tmp_path, **user))
    assert SECRET not in str(caught.value)


# Programs that sign in


def test_a_program_gives_a_token(tmp_path: Path):
    """It is told that nobody sits there, and gets the variables that the kubeconfig sets for it."""
    body = (
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO']); assert info['spec'] == {'interactive': False}\n"
        "assert sys.stdin.read() == ''\n"
        f"print(json.dumps({{'apiVersion': '{V1}', 'kind': 'ExecCredential',"
        " 'status': {'token': os.environ['WHO'] + sys.argv[1]}}))"
    )
    user = program(tmp_path, body)
    user["exec"] |= {"env": [{"name": "WHO", "value": "ada"}], "args": ["-1"]}
    found = load(config(tmp_path, **user))
    assert (found.kind, found.authorization, found.renews) == ("program", "Bearer ada-1", True)


def test_a_program_gives_a_client_certificate(tmp_path: Path):
    ends = datetime(2030, 1, 2, tzinfo=UTC)
    certificate, key = issued(authority(), "ada", ends=ends)
    user = program(tmp_path, grants(clientCertificateData=certificate, clientKeyData=key))
    found = Connection(config(tmp_path, **user)).credentials
    assert (found.certificate, found.ends_at) == (certificate, ends)


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("print('s3cr3t-token', file=sys.stderr); sys.exit(3)", "failed with exit code 3"),
        ("print('s3cr3t-token')", "returned no ExecCredential"),
        (grants(), "returned no ExecCredential"),
        (grants(clientCertificateData="x"), "returned no ExecCredential"),
        (grants(token="a").replace("/v1", "/v1beta1"), "returned no ExecCredential"),
        ("time.sleep(60)", "did not finish within 0.5 seconds"),
        ("os.fork() and os._exit(0); time.sleep(60)", "did not finish within 0.5 seconds"),
        ("[print('x' * 100_000) for _ in iter(int, 1)]", "printed too much output"),
    ],
    ids=[
        "fails",
        "no json",
        "nothing",
        "no key",
        "another version",
        "hangs",
        "leaves a child that hangs",
        "has no end",
    ],
)
def test_a_program_that_does_not_sign_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, want: str):
    """Is told by a sentence that quotes nothing of what it said, in bounded time."""
    monkeypatch.setattr(plugins, "LIMIT_S", 0.5 if "sleep" in body else 10)
    with pytest.raises(SettingsError, match=want) as caught:
        load(config(tmp_path, **program(tmp_path, body)))
    assert SECRET not in str(caught.value)


def test_a_program_that_wants_a_terminal_is_refused(tmp_path: Path):
    user = program(tmp_path, grants(token="a"))
    user["exec"]["interactiveMode"] = "Always"
    with pytest.raises(SettingsError, match="needs an interactive terminal"):
        load(config(tmp_path, **user))


# Going on


def test_a_token_that_was_replaced_in_its_kubeconfig_is_taken_up(tmp_path: Path):
    """The refused request, also one that writes, is sent once more: it has done nothing."""
    with scripted(accepting("new")) as server:
        connection = Connection(config(tmp_path, server.address, token="old"))
        config(tmp_path, server.address, token="new")
        assert connection.request("POST", "/x", body={"a": 1}).body == b'{"said": {"a": 1}}'
        assert connection.request("GET", "/y").status == 200
    assert sent(server) == ["old", "new", "new"]


def test_a_stream_takes_up_new_credentials_too(tmp_path: Path):
    with scripted(accepting("new")) as server:
        connection = Connection(config(tmp_path, server.address, token="old"))
        config(tmp_path, server.address, token="new")
        connection.stream("/x", idle_timeout_s=PATIENCE_S).close()
    assert sent(server) == ["old", "new"]


def test_a_token_that_is_simply_wrong_is_sent_once(tmp_path: Path):
    """There is nothing new to try it with."""
    with scripted(accepting()) as server:
        connection = Connection(config(tmp_path, server.address, token="old"))
        with pytest.raises(ApiFailure, match="Unauthorized"):
            connection.request("GET", "/")
    assert sent(server) == ["old"]


def test_credentials_are_loaded_anew_only_every_few_seconds(tmp_path: Path):
    clock, counted = ManualClock(), tmp_path / "runs"
    body = f"open({str(counted)!r}, 'a').write('x')\n" + grants(token="old")
    with scripted(accepting("new")) as server:
        connection = Connection(config(tmp_path, server.address, **program(tmp_path, body)), clock=clock)
        for seconds, runs in ((0, 2), (0, 2), (4, 2), (1.1, 3)):
            clock.now_s += seconds
            with pytest.raises(ApiFailure):
                connection.request("GET", "/")
            assert len(counted.read_text()) == runs


def test_many_threads_that_are_refused_load_once(tmp_path: Path):
    counted = tmp_path / "runs"
    body = f"open({str(counted)!r}, 'a').write('x')\n" + grants(token="old")
    with scripted(accepting("new")) as server:
        connection = Connection(config(tmp_path, server.address, **program(tmp_path, body)))
        program(tmp_path, f"open({str(counted)!r}, 'a').write('x')\n" + grants(token="new"))
        statuses: list[int] = []
        ask = lambda: statuses.append(connection.request("GET", "/").status)  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (statuses, len(counted.read_text())) == ([200] * 8, 2)


def test_what_a_program_gave_is_renewed_before_it_ends(tmp_path: Path):
    """By its own word, without waiting to be refused."""
    clock = ManualClock()
    ends = datetime.fromtimestamp(clock.wall_ms() / 1000, UTC) + timedelta(minutes=5)
    user = program(tmp_path, grants(token="old", expirationTimestamp=ends.isoformat()))
    with scripted(accepting("old", "new")) as server:
        connection = Connection(config(tmp_path, server.address, **user), clock=clock)
        program(tmp_path, grants(token="new"))
        connection.request("GET", "/")
        clock.now_s += 299
        connection.request("GET", "/")
    assert sent(server) == ["old", "new"]


def test_a_request_never_waits_longer_than_it_may_for_a_program(tmp_path: Path):
    """Whoever holds a lease counts on that; what the program gives is there for the next one."""
    clock, gate = ManualClock(), tmp_path / "gate"
    ends = datetime.fromtimestamp(clock.wall_ms() / 1000, UTC)
    with scripted(accepting("new")) as server:
        user = program(tmp_path, grants(token="old", expirationTimestamp=ends.isoformat()))
        connection = Connection(config(tmp_path, server.address, **user), clock=clock)
        waits = f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        program(tmp_path, waits + grants(token="new"))
        with pytest.raises(ConnectionFailure, match="taking longer than one request allows"):
            connection.request("POST", "/", timeout_s=0.1)
        assert server.asked == []
        gate.touch()
        assert connection.request("POST", "/", timeout_s=PATIENCE_S).status == 200


def test_a_program_that_fails_later_is_told_by_the_request(tmp_path: Path):
    user = program(tmp_path, grants(token="old"))
    with scripted(accepting()) as server:
        connection = Connection(config(tmp_path, server.address, **user))
        program(tmp_path, "sys.exit(1)")
        for _ in range(2):
            with pytest.raises(ConnectionFailure, match="failed with exit code 1"):
                connection.request("GET", "/")


def test_a_token_file_is_read_again_every_minute(tmp_path: Path):
    """As kubelets rewrite it while the former token is still good; while it is missing the former one goes on."""
    clock, token = ManualClock(), tmp_path / "token"
    token.write_text("one")
    with scripted(accepting("one", "two")) as server:
        connection = Connection(config(tmp_path, server.address, tokenFile="token"), clock=clock)
        token.write_text("two")
        connection.request("GET", "/")
        clock.now_s += 61
        connection.request("GET", "/")
        token.unlink()
        clock.now_s += 61
        connection.request("GET", "/")
    assert sent(server) == ["one", "two", "two"]


def test_credentials_that_lead_elsewhere_are_not_followed(tmp_path: Path):
    """What was read of the one cluster is not mixed with the other: it has to be watched anew."""
    with scripted(accepting()) as server, scripted(accepting("new")) as other:
        connection = Connection(config(tmp_path, server.address, token="old"))
        config(tmp_path, other.address, token="new")
        with pytest.raises(ConnectionFailure, match=f"another API server: {other.address} instead"):
            connection.request("GET", "/")
    assert connection.moved
    assert other.asked == []


def test_a_refusal_says_that_the_credentials_have_ended():
    """And when they did, instead of the server's plain Unauthorized."""
    with scripted(accepting()) as server:
        token = jwt(datetime(2026, 1, 1, 8, 30, tzinfo=UTC))
        connection = Connection(ConnectionSettings(address=server.address, token=token), clock=ManualClock())
        with pytest.raises(ApiFailure, match="the token ended on 2026-01-01 08:30 UTC") as caught:
            connection.request("GET", "/")
    assert caught.value.code == 401


# In a pod


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a pod finds: variables, and a folder with a token and a CA."""
    monkeypatch.setattr(credentials, "POD_FOLDER", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "ca.crt").write_text(authority()[0])
    return tmp_path


def test_a_pod_signs_in_as_its_service_account(pod: Path):
    found = load(ConnectionSettings(in_cluster=True))
    assert (found.address, found.token_file, found.authorization) == (
        "https://[fd00::1]:443", pod / "token", f"Bearer {SECRET}",
    )  # fmt: skip
    assert SECRET not in repr(found)


@pytest.mark.parametrize("missing", ["token", "KUBERNETES_SERVICE_HOST"])
def test_outside_of_a_pod_there_is_no_service_account(pod: Path, monkeypatch: pytest.MonkeyPatch, missing: str):
    monkeypatch.delenv(missing, raising=False)
    (pod / missing).unlink(missing_ok=True)
    with pytest.raises(SettingsError, match="does not run in a pod"):
        load(ConnectionSettings(in_cluster=True))


# On the way


def test_the_proxy_of_a_kubeconfig_is_used(tmp_path: Path):
    """Else that of the environment, but for hosts that it excepts."""
    with scripted(lambda asked, answer: answer.json(200, {})) as proxy:
        text = json.loads(kubeconfig("http://cluster.example", token="a"))
        text["clusters"][0]["cluster"]["proxy-url"] = proxy.address
        Connection(ConnectionSettings(kubeconfig_text=json.dumps(text))).request("GET", "/version")
    assert proxy.asked[0].headers["Host"] == "cluster.example"


def test_the_proxy_of_the_environment_is_used_but_where_it_is_excepted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "10.0.0.1")
    assert access._proxy("https://cluster.example") == "http://proxy.example:3128"
    assert access._proxy("https://10.0.0.1:6443") == ""


def test_what_a_ca_file_says_between_its_certificates_may_be_in_any_language():
    """As curl's bundles do; only the certificates count."""
    ca = f"# Türktrust, 中文\n{authority()[0]}"
    assert Connection(ConnectionSettings(address="https://c", ca=ca)).credentials.ca == ca


def test_a_program_that_signs_in_is_told_no_secret_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of our environment it gets what such programs look for; a setting that we don't know yet is a secret too."""
    ours = re.findall(r"^# ([A-Z_]+) \(", SETTINGS.read_text(), re.MULTILINE)
    assert "SECRET_KEY_FALLBACKS" in ours
    for name in (*ours, "REDIS_PASSWORD", "OF_A_LATER_VERSION", "AWS_PROFILE", "HTTPS_PROXY"):
        monkeypatch.setenv(name, SECRET)
    body = (
        "token = '-'.join(sorted(name for name, value in os.environ.items() if value == '" + SECRET + "'))\n"
        f"print(json.dumps({{'apiVersion': '{V1}', 'kind': 'ExecCredential', 'status': {{'token': token}}}}))"
    )
    assert load(config(tmp_path, **program(tmp_path, body))).authorization == "Bearer AWS_PROFILE-HTTPS_PROXY"


def test_the_password_of_a_proxy_is_in_no_representation(tmp_path: Path):
    loaded = credentials.LoadedCredentials(address="https://c", proxy=f"http://u:{SECRET}@proxy")
    assert SECRET not in repr(loaded)
