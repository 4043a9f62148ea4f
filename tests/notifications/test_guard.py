"""Webhooks lead into the Internet, and nowhere else unless the site says so."""

import socket
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from scheduler_admin.core.outbound.address_guard import (
    RefusedError,
    check_url,
    host_and_port,
    may_connect,
    resolve,
)
from scheduler_admin.notifications.delivery.webhook import UndeliveredError, post
from tests.notifications.receiver import Receiver

INSIDE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",  # metadata of most clouds
    "100.100.100.200",  # of Alibaba
    "192.0.0.192",  # of Oracle
    "168.63.129.16",  # of Azure, a public address
    "100.64.0.1",
    "198.18.0.1",
    "203.0.113.7",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fd00:ec2::254",  # metadata of Amazon
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a00:1",  # 10.0.0.1 behind NAT64
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",  # behind a NAT64 of one's own
    "2002:a00:1::1",  # 10.0.0.1 behind 6to4
    "::10.0.0.1",
    "::ffff:0:10.0.0.1",
]
OUTSIDE = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_no_address_of_the_internet_is_not_connected_to(address: str) -> None:
    """However it is written."""
    assert not may_connect(ip_address(address), ())


@pytest.mark.parametrize("address", OUTSIDE)
def test_the_internet_is(address: str) -> None:
    """So the test above can fail."""
    assert may_connect(ip_address(address), ())


def test_networks_that_the_site_names_are_too() -> None:
    """Those alone, also inside an address of another kind."""
    named = [ip_network("10.1.0.0/16"), ip_network("fd12::/64")]
    allowed = [each for each in ("10.1.2.3", "::ffff:10.1.2.3", "fd12::7") if may_connect(ip_address(each), named)]
    refused = [each for each in ("10.2.0.1", "127.0.0.1", "fd12:0:0:1::7") if may_connect(ip_address(each), named)]
    assert (len(allowed), refused) == (3, [])


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.com/", "https"),
        ("file:///etc/passwd", "https"),
        ("//example.com/", "https"),
        ("https:///path", "host"),
        ("https://user:word@example.com/", "no user"),
        ("https://user@example.com/", "no user"),
        ("https://example.com/#part", "fragment"),
        ("https://example.com:99999/", r"Enter a valid URL\."),
        ("https://[::1/", r"Enter a valid URL\."),
        ("https://exa mple.com/", "ASCII"),
        ("https://example.com/\r\nHost: other", "ASCII"),
        ("https://exämple.com/", "ASCII"),
        ("https://example.com/" + "x" * 2_000, "at most 2000 long"),
        ("https://127.0.0.1/", "private network"),
        ("https://[::1]:8443/", "private network"),
        ("https://169.254.169.254/latest/meta-data", "private network"),
    ],
)
def test_an_address_that_can_not_be_is_said_at_once(url: str, why: str) -> None:
    """Before anything is stored."""
    with pytest.raises(RefusedError, match=why):
        check_url(url, ())


def test_without_tls_nothing_is_sent_but_for_who_tries_it_out(settings: Any) -> None:
    """As for the site itself."""
    assert host_and_port("http://example.com/hook") == ("example.com", 80)
    settings.INSECURE_HTTP = False
    assert host_and_port("https://example.com:8443/hook") == ("example.com", 8443)
    with pytest.raises(RefusedError, match="https"):
        host_and_port("http://example.com/hook")


def named(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """A name means these addresses; whenever it is asked for, it is noted."""
    asked = []

    def means(host: str, port: int, *_rest: Any, **_more: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", means)
    return asked


def test_a_name_is_judged_by_what_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several addresses those of the Internet are left."""
    named(monkeypatch, "10.0.0.1", "8.8.8.8", "8.8.8.8")
    assert resolve("mixed.example.com", 443, ()) == [ip_address("8.8.8.8")]
    named(monkeypatch, "10.0.0.1", "127.0.0.1")
    with pytest.raises(RefusedError, match=r"^db\.prod\.svc can’t be resolved, or it is in a private network"):
        resolve("db.prod.svc", 443, ())


def test_whether_a_name_is_known_inside_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody finds out by webhooks what else is there."""

    def said() -> str:
        with pytest.raises(RefusedError) as refused:
            resolve("db.prod.svc", 443, ())
        return str(refused.value)

    named(monkeypatch, "10.0.0.1")
    there = said()

    def unknown(*_rest: Any, **_more: Any) -> list[Any]:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert said() == there


def test_a_name_is_asked_for_once_so_it_can_not_turn_meanwhile(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was judged is what is connected to."""
    asked = named(monkeypatch, "127.0.0.1")
    post(f"http://turning.example.com:{receiver.port}/", b"{}", {})
    assert asked.count("turning.example.com") == 1
    assert receiver.got[0][0]["Host"] == f"turning.example.com:{receiver.port}"


def test_nothing_is_sent_to_this_machine_unless_it_is_allowed(receiver: Receiver, settings: Any) -> None:
    """By a name that anybody can use."""
    settings.NOTIFICATION_NETWORKS = []
    for url in (receiver.url, receiver.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(UndeliveredError, match="private network"):
            post(url, b"{}", {})
    assert receiver.got == []
