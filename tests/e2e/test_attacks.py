"""Attacks on an installation as it is in production: PostgreSQL, and people who sign in at an OpenID provider."""

import json
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from scheduler_admin.demo.environment import BASE
from tests import postgres
from tests.doors.conftest import Provider
from tests.doors.provider import CLIENT, SECRET
from tests.e2e.product import Product
from tests.stores import store
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.suite("postgres")]
ADMINS = "cluster-admins"
_PREPARED = f"""
from scheduler_admin.accounts.doors import add_mapping
add_mapping(group="{ADMINS}", role="admin", tenant=None, actor=None, reason="test")
"""


@pytest.fixture(scope="module")
def database() -> Iterator[tuple[Path, str]]:
    """A PostgreSQL server: its folder and its address."""
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as server:
        yield Path(folder), server


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """An OpenID provider in a process of its own."""
    command = [sys.executable, "-m", "tests.doors.provider"]
    with subprocess.Popen(command, cwd=BASE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield Provider(running.stdout.readline().strip())
        running.terminate()


@pytest.fixture(scope="module")
def site(database: tuple[Path, str], provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The web server of an installation that has both."""
    folder = tmp_path_factory.mktemp("attacked")
    settings = {
        "OIDC_ISSUER": provider.address,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_AUTHORIZATION_ENDPOINT": f"{provider.address}/authorize",
        "OIDC_TOKEN_ENDPOINT": f"{provider.address}/token",
        "OIDC_JWKS_ENDPOINT": f"{provider.address}/keys",
    }
    running = Product(folder, store(folder / "database", database[1]), settings)
    try:
        running.start("web")
        running.manage("shell", "-c", _PREPARED)
        wait_for(lambda: _answers(running), "The web server")
        yield running
    finally:
        running.stop()


@pytest.fixture(autouse=True)
def _nothing_breaks(site: Product) -> Iterator[None]:
    """No attack makes an error that nobody foresaw, nor tells a secret."""
    log = site.place.logs / "web.log"
    before = log.stat().st_size
    yield
    said = log.read_bytes()[before:].decode()
    unforeseen = [
        trace for trace in re.split(r"\n(?=\d{4}-)", said) if "Traceback" in trace and "OperationalError" not in trace
    ]
    assert not unforeseen, unforeseen
    assert SECRET not in said


def _answers(site: Product) -> bool:
    try:
        return requests.get(address(site, "/sign-in/"), timeout=5).ok
    except requests.RequestException:
        return False


def address(site: Product, path: str) -> str:
    """Where something is there."""
    return f"http://127.0.0.1:{site.port}{path}"


def come_back(site: Product, provider: Provider, **claims: Any) -> tuple[requests.Session, requests.Response]:
    """Somebody, of whom the provider says this, signs in there and comes back with a code."""
    provider.put("account", {"sub": "ada", "groups": [ADMINS], **claims})
    browser = requests.Session()
    begun = browser.get(address(site, "/sign-in/elsewhere/"), timeout=PATIENCE_S, allow_redirects=False)
    assert begun.status_code == 302, begun.text
    back = provider.answer(begun.headers["Location"])
    return browser, browser.get(address(site, back), timeout=PATIENCE_S, allow_redirects=False)


def test_an_admin_of_the_provider_is_one_here(site: Product, provider: Provider) -> None:
    """Else the other tests would prove nothing."""
    browser, answer = come_back(site, provider)
    assert answer.status_code == 302
    assert browser.get(address(site, "/clusters/connect/"), timeout=PATIENCE_S).status_code == 200


ODD_CLAIMS: dict[str, dict[str, Any]] = {
    "a NUL in the name": {"preferred_username": "a\0b"},
    "a NUL in the subject": {"sub": "a\0b"},
    "a NUL in the address": {"email": "a\0b@example.org"},
    "a NUL in a group": {"groups": [ADMINS, "a\0b"]},
    "half of a character": {"preferred_username": "\ud800", "sub": "\ud800"},
    "a name of a megabyte": {"preferred_username": "x" * 1_000_000},
    "a subject of a megabyte": {"sub": "x" * 1_000_000},
    "an address of a megabyte": {"email": "x" * 1_000_000 + "@example.org"},
    "a group of a megabyte": {"groups": [ADMINS, "x" * 1_000_000]},
    "a hundred thousand groups": {"groups": [ADMINS, *map(str, range(100_000))]},
    "a subject that is an object": {"sub": {"a": 1}},
    "a name that is a list": {"preferred_username": ["ada"]},
    "groups that are an object": {"groups": {ADMINS: True}},
    "markup in the name": {"preferred_username": "<script>alert(1)</script>"},
}


@pytest.mark.parametrize("claims", ODD_CLAIMS.values(), ids=ODD_CLAIMS)
def test_whatever_the_provider_says_of_somebody(site: Product, provider: Provider, claims: dict[str, Any]) -> None:
    """They are signed in, or read why not."""
    browser, answer = come_back(site, provider, **claims)
    assert answer.status_code == 302
    page = browser.get(address(site, answer.headers["Location"]), timeout=PATIENCE_S)
    assert page.ok
    assert "<script>alert" not in page.text


@pytest.mark.parametrize("path", ["/sign-in/", "/sign-in/elsewhere/back/", "/clusters/connect/", "/api/v1/clusters"])
def test_nobody_uploads_fifty_gigabytes(site: Product, path: str) -> None:
    """The answer comes before any of it has been sent."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE_S) as connection:
        kind = "multipart/form-data; boundary=x"
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nContent-Type: {kind}\r\n"
        connection.sendall(f"{head}Content-Length: 50000000000\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 413"


def test_an_upload_of_a_stranger_is_no_kubeconfig(site: Product, provider: Provider) -> None:
    """Of an admin who names the file that the web server keeps of it, its program does not run."""
    done = site.place.folder / "it-ran"
    program = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [str(done)]}
    kubeconfig = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "x", "user": {"exec": {**program, "interactiveMode": "Never"}}}],
    }
    part = 'Content-Disposition: form-data; name="x"; filename="x"\r\n\r\n'
    body = f"--x\r\n{part}{json.dumps(kubeconfig)}".encode().ljust(900_000)
    browser, _ = come_back(site, provider)
    with socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE_S) as hanging:
        kind = "Content-Type: multipart/form-data; boundary=x"
        head = f"POST /sign-in/ HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n{kind}\r\nContent-Length: 1000000\r\n\r\n"
        hanging.sendall(head.encode() + body)
        page = browser.get(address(site, "/clusters/connect/"), timeout=PATIENCE_S)
        token = browser.cookies["csrftoken"]
        assert page.ok
        for act in ("list", "look", "connect"):
            for number in range(3, 40):
                form = {"kubeconfig": f"/proc/self/fd/{number}", "act": act, "context": "x", "name": "x"}
                sent = {**form, "csrfmiddlewaretoken": token}
                answer = browser.post(address(site, "/clusters/connect/"), sent, timeout=PATIENCE_S)
                assert "is not one of the kubeconfigs that" in answer.text
    assert not done.exists()


def test_a_provider_that_never_answers_holds_up_one_sign_in(site: Product, provider: Provider) -> None:
    """It ends with a sentence; meanwhile others are answered."""
    provider.put("fault", "silent")
    try:
        with ThreadPoolExecutor() as beside:
            waiting = [beside.submit(come_back, site, provider) for _ in range(4)]
            assert requests.get(address(site, "/sign-in/"), timeout=5).ok
            answers = [one.result()[1] for one in waiting]
    finally:
        provider.put("fault", "")
    assert {answer.status_code for answer in answers} == {302}
    assert {answer.headers["Location"] for answer in answers} == {"/sign-in/"}


def test_a_database_that_is_away(site: Product, provider: Provider, database: tuple[Path, str]) -> None:
    """Whoever comes meanwhile reads that, soon; when it is back everything goes on by itself."""
    browser, _ = come_back(site, provider)
    postgres.stop(database[0])
    try:
        answers = [
            browser.get(address(site, "/clusters/"), timeout=PATIENCE_S),
            browser.get(address(site, "/sign-in/elsewhere/"), timeout=PATIENCE_S),
            requests.get(
                address(site, "/api/v1/clusters"), headers={"Authorization": "Bearer sa_x"}, timeout=PATIENCE_S
            ),
        ]
    finally:
        postgres.start(database[0])
    assert [answer.status_code for answer in answers] == [503] * 3
    assert all("Retry-After" in answer.headers for answer in answers)
    again = "a page is there again"  # one that comes while the database starts is told to come later
    wait_for(lambda: browser.get(address(site, "/clusters/"), timeout=PATIENCE_S).ok, again)
