"""HTTP as a pipeline needs it: through the environment's proxy, under our name, and with patience for a busy server."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from scheduler_admin_client import __version__

USER_AGENT = f"scheduler-admin-client/{__version__}"
BUSY = frozenset({429, 503})
"""Statuses of a server that will answer later. It has not done what it was asked."""
MOST_REPEATS = 5
MOST_WAIT_S = 120.0
"""All waiting for one request together. A server that asks for more is not waited for."""
_TIMEOUT = urllib3.Timeout(connect=10, read=300)  # a forecast of a large tree takes a while


@dataclass(frozen=True)
class Response:
    """What a server answered."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Transport:
    """Sends requests to one server, and repeats those that are safe to repeat while it is busy."""

    pool: urllib3.PoolManager
    report: Callable[[int, float], None] = lambda _status, _seconds: None
    """Called before each wait, with the status and the seconds."""
    sleep: Callable[[float], None] = time.sleep

    def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, repeatable: bool
    ) -> Response:
        """Send a request and return the last answer. Raises urllib3.exceptions.HTTPError, ValueError."""
        left = MOST_WAIT_S
        for number in range(MOST_REPEATS + 1):
            answer = self._once(method, url, headers, body)
            wait = wait_s(answer.headers.get("Retry-After", ""), number)
            if answer.status not in BUSY or not repeatable or number == MOST_REPEATS or wait > left:
                break
            left -= wait
            self.report(answer.status, wait)
            self.sleep(wait)
        return answer

    def _once(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        sent = {"User-Agent": USER_AGENT, **headers}
        got = self.pool.request(method, url, headers=sent, body=body, redirect=False, retries=False, timeout=_TIMEOUT)
        return Response(got.status, got.data, got.headers)


def wait_s(retry_after: str, number: int, now: datetime | None = None) -> float:
    """Return the seconds to wait before the next try: what the server says, or twice as long after each try."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        date = parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):  # which of them depends on the version of Python
        return float(2**number)
    if date.tzinfo is None:
        return float(2**number)
    return max(0.0, (date - (now or datetime.now(timezone.utc))).total_seconds())


def pool_for(address: str) -> urllib3.PoolManager:
    """Return connections to a server, through the proxy that the environment names for it, if any.

    Raises urllib3.exceptions.HTTPError, ValueError for the address of a proxy that can't be one.
    """
    proxy = proxy_for(address)
    if not proxy:
        return urllib3.PoolManager()
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    headers = urllib3.make_headers(proxy_basic_auth=login) if login else None
    host = parts.netloc.rpartition("@")[2]
    return urllib3.ProxyManager(f"{parts.scheme}://{host}", proxy_headers=headers)


def proxy_for(address: str) -> str:
    """Return the proxy for an address: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, unless NO_PROXY has its host."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all") or ""
    return "" if not found or proxy_bypass(host) else found
