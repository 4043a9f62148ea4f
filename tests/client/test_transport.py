"""What a pipeline's network asks of the command line: proxies, patience, and a name in the server's log."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scheduler_admin_client import __version__
from scheduler_admin_client.transport import MOST_REPEATS, MOST_WAIT_S, Transport, pool_for, proxy_for, wait_s
from tests.client.conftest import QUEUES, Run
from tests.client.servers import serving

TREE = json.dumps({"queues": []})
DONE = json.dumps({"changed": True, "revision": 2, "changes": [], "findings": [], "forecasts": []})
SOON = {"Retry-After": "0"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A token and a document; no proxy of this machine's own."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("SCHEDULER_ADMIN_TOKEN", "sa_token")
    monkeypatch.chdir(tmp_path)
    Path("queues.yaml").write_text(QUEUES)


def sent(*answers: tuple[int, dict[str, str], str], repeatable: bool = True) -> tuple[int, list[float], int]:
    """Return the status, the waits and the number of requests of one request that is answered so."""
    waits: list[float] = []
    with serving(*answers) as script:
        transport = Transport(pool_for(script.address), sleep=waits.append)
        answer = transport.request("GET", script.address, headers={}, body=None, repeatable=repeatable)
        return answer.status, waits, len(script.asked)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_when_it_says_so(status: int) -> None:
    assert sent((status, {"Retry-After": "7"}, ""), (200, {}, "")) == (200, [7.0], 2)


def test_without_a_word_of_the_server_each_wait_is_twice_as_long() -> None:
    assert sent((503, {}, "")) == (503, [1.0, 2.0, 4.0, 8.0, 16.0], MOST_REPEATS + 1)


def test_a_server_that_wants_more_than_two_minutes_is_not_waited_for() -> None:
    assert sent((429, {"Retry-After": "121"}, "")) == (429, [], 1)
    assert sent((429, {"Retry-After": "50"}, "")) == (429, [50.0, 50.0], 3)
    assert MOST_WAIT_S == 120


@pytest.mark.parametrize("status", [401, 409, 500, 502])
def test_what_is_no_matter_of_time_is_not_asked_again(status: int) -> None:
    assert sent((status, SOON, "")) == (status, [], 1)


def test_a_request_that_is_not_safe_to_repeat_is_sent_once() -> None:
    assert sent((503, SOON, ""), repeatable=False) == (503, [], 1)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("90", 90.0), ("Mon, 05 Jan 2026 12:00:09 GMT", 9.0), ("Mon, 05 Jan 2026 11:00:00 GMT", 0.0), ("soon", 8.0)],
)
def test_retry_after_is_seconds_or_a_date(header: str, seconds: float) -> None:
    assert wait_s(header, 3, datetime(2026, 1, 5, 12, tzinfo=UTC)) == seconds


def test_a_tree_is_published_once_however_often_it_is_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server knows a request that comes again by its key."""
    with serving((503, SOON, ""), (503, SOON, ""), (200, {"ETag": '"a"'}, DONE)) as script:
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", script.address)
        said = run("apply", "prod-tree", "queues.yaml", "--reason", "why", "--if-match", "a")
    assert (said.code, said.out) == (0, "prod-tree: revision 2 is now the published tree.\n")
    assert said.err == "The server is busy (status 503). Next try in 0 s.\n" * 2
    assert [one.method for one in script.asked] == ["PUT"] * 3
    assert len({one.headers["Idempotency-Key"] for one in script.asked}) == 1


def test_plans_and_reads_are_repeated_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((429, SOON, ""), (200, {"ETag": '"a"'}, DONE)) as script:
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", script.address)
        assert run("plan", "prod-tree", "queues.yaml").code == 2
        assert "Idempotency-Key" not in script.asked[1].headers
    with serving((429, SOON, ""), (200, {}, TREE)) as script:
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", script.address)
        assert run("export", "prod-tree", "--format", "json").code == 0


def test_a_gateway_whose_server_is_away_is_not_mistaken_for_another_product(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving((502, {}, "<html>Bad Gateway</html>")) as script:
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", script.address)
        said = run("export", "prod-tree")
    assert (said.code, said.err) == (1, f"{script.address} is not available (status 502).\n")


def test_every_request_names_the_client_and_its_version(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((200, {}, TREE)) as script:
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", script.address)
        run("export", "prod-tree", "--format", "json")
    assert script.asked[0].headers["User-Agent"] == f"scheduler-admin-client/{__version__}"


def test_the_proxy_of_the_environment_is_asked_with_its_login(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((200, {}, TREE)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.address.replace("http://", "http://ci:s%40fe@"))
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", "http://queues.example.com")
        assert run("export", "prod-tree", "--format", "json").code == 0
    (asked,) = proxy.asked
    assert asked.target == "http://queues.example.com/api/v1/hierarchies/prod-tree/tree"
    assert asked.headers["Proxy-Authorization"] == "Basic Y2k6c0BmZQ=="


def test_a_proxy_tunnels_https_and_its_password_is_in_no_message(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((403, {}, "")) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.address.replace("http://", "ci:s3cret@"))
        monkeypatch.setenv("SCHEDULER_ADMIN_URL", "https://queues.example.com")
        said = run("export", "prod-tree")
    assert [(one.method, one.target) for one in proxy.asked] == [("CONNECT", "queues.example.com:443")]
    assert (said.code, "403" in said.err, "s3cret" in said.err) == (1, True, False)


@pytest.mark.parametrize(
    ("excluded", "address", "proxy"),
    [
        ("", "https://queues.example.com", "http://proxy:3128"),
        ("example.com", "https://queues.example.com", ""),
        ("queues.example.com:8443", "https://queues.example.com:8443/prefix", ""),
        ("other.com,localhost", "https://queues.example.com", "http://proxy:3128"),
        ("*", "https://queues.example.com", ""),
        ("", "http://queues.example.com", ""),
    ],
)
def test_no_proxy_excludes_hosts(monkeypatch: pytest.MonkeyPatch, excluded: str, address: str, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", excluded)
    assert proxy_for(address) == proxy


@pytest.mark.parametrize("proxy", ["socks5://proxy:1080", "http://[", "http://proxy:port"])
def test_a_proxy_that_can_not_be_used_is_said(run: Run, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("SCHEDULER_ADMIN_URL", "http://queues.example.com")
    said: Any = run("export", "prod-tree")
    assert said.code == 1
    assert "The address of the proxy in the environment is not valid." in said.err
