"""Sends requests to one Kubernetes API server and reads its streams, with typed errors and without an object model."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
import urllib3

from engine.cluster.connecting.access import Access, AuthenticatedSession, server_end
from engine.cluster.connecting.credentials import ConnectionSettings, LoadedCredentials, load
from engine.cluster.errors import ApiFailure, ConnectionFailure, SettingsError, failure
from engine.cluster.timing import Clock, sent_at_s

MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
"""The media type of server-side apply; JSON is valid YAML."""
JSON = "application/json"
_UNAUTHORIZED = 401
_EXPIRED = 10
"""OpenSSL's code for a certificate that has expired."""
_CHUNK = 65_536
LARGEST = 256 * 2**20
"""Bytes of an answer: a page of a list is five hundred objects, of which the API server stores at most 1.5 MiB each."""
LARGEST_FAILURE = 2**20
"""Bytes of an error's answer, of which one sentence is kept."""
LONGEST_LINE = 16 * 2**20
"""Bytes of a line of a stream, which is one object."""
_TOO_LATE = "the API server did not respond in time"

Query = Mapping[str, str | int]


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


Send = Callable[[AuthenticatedSession], urllib3.BaseHTTPResponse]


class Connection:
    """An authenticated connection to a cluster; safe to share between threads."""

    def __init__(
        self, settings: ConnectionSettings, wall_s: Callable[[], float] = time.time, clock: Clock | None = None
    ) -> None:
        """Load the credentials; nothing is sent yet. Raises SettingsError."""
        self.settings = settings
        self._clock = clock or Clock()
        self._access = Access(partial(load, settings), self._clock)
        self._wall_s = wall_s
        self.clock_skew_s: float | None = None
        """Our clock minus the server's at the last answer, in seconds; None while no answer had a date."""

    def __repr__(self) -> str:
        return f"Connection({self._access.address})"

    @property
    def address(self) -> str:
        """Return the address of the API server, which is no secret."""
        return self._access.address

    @property
    def credentials(self) -> LoadedCredentials:
        """Return the credentials that are used now."""
        return self._access.credentials

    @property
    def moved(self) -> bool:
        """Return whether the credentials now lead to another address; then nothing is sent with them any more."""
        return self._access.moved

    @property
    def ended_at(self) -> datetime | None:
        """Return when the credentials expired, if they have and no program renews them."""
        return self._access.ended_at

    def sign_in_anew(self) -> None:
        """Load the credentials again though they were not rejected, as they lead to another address; see ``moved``."""
        with suppress(SettingsError):
            self._access.reload(self.timeout_s)

    @property
    def timeout_s(self) -> float:
        """Return how long a request may take by default, in seconds."""
        return self.settings.timeout_s

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content_type: str = JSON,
        timeout_s: float | None = None,
        largest: int = LARGEST,
    ) -> Response:
        """Send one request, signing in included. ``body`` is bytes, or anything that JSON can hold.

        ``largest``: the most bytes that the answer may have: an impostor of an API server may send without end.

        Repeated only when it was rejected for its credentials, so had no effect, and there are new ones. Raises
        ApiFailure for any status but 2xx and ConnectionFailure when no whole answer arrived.
        """
        data = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        until_s = self._clock.steady_s() + (self.timeout_s if timeout_s is None else timeout_s)

        def send(session: AuthenticatedSession) -> urllib3.BaseHTTPResponse:
            timeout = urllib3.Timeout(total=self._left_s(until_s))
            return self._send(session, method, path, query, timeout, body=data, content_type=content_type)

        with _typed_errors(self.address):
            answer = self._signed(send, until_s)
            return Response(answer.status, answer.headers, self._whole(answer, until_s, largest))

    def stream(self, path: str, *, query: Query | None = None, idle_timeout_s: float) -> "ResponseStream":
        """Open a stream of lines that fails when no whole line arrives for ``idle_timeout_s``.

        Raises ApiFailure and ConnectionFailure; so does reading the stream.
        """
        until_s = self._clock.steady_s() + self.timeout_s

        def send(session: AuthenticatedSession) -> urllib3.BaseHTTPResponse:
            timeout = urllib3.Timeout(connect=self._left_s(until_s), read=idle_timeout_s)
            return self._send(session, "GET", path, query, timeout)

        with _typed_errors(self.address):
            return ResponseStream(self._signed(send, until_s), idle_timeout_s, self._clock)

    def _signed(self, send: Send, until_s: float) -> urllib3.BaseHTTPResponse:
        """Send with credentials; send again with new ones where these, or the CA they trust, have been replaced."""
        session = self._access.session(self._left_s(until_s))
        try:
            answer = send(session)
        except urllib3.exceptions.SSLError as error:
            # Nothing was sent: the server could not be verified. Its CA may have been replaced.
            untrusted = isinstance(error.args[0] if error.args else None, ssl.SSLCertVerificationError)
            renewed = self._access.renew(session, self._left_s(until_s)) if untrusted else None
            if renewed is None:
                raise
            answer = send(renewed)
        else:
            if answer.status == _UNAUTHORIZED and (renewed := self._access.renew(session, self._left_s(until_s))):
                answer.close()
                answer = send(renewed)
        if not 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's success
            raise self._failure(answer, until_s)
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            answer.close()
            raise ConnectionFailure("the response is a web page, possibly from a proxy that requires a login")
        return answer

    def _whole(self, answer: urllib3.BaseHTTPResponse, until_s: float, largest: int) -> bytes:
        """Read a whole answer by its deadline: an answer that trickles in never exceeds the timeout of single reads."""
        parts, length = [], 0
        while part := answer.read1(_CHUNK):
            parts.append(part)
            length += len(part)
            if length > largest:
                answer.close()
                raise ConnectionFailure(f"the response is longer than {largest} bytes")
            if self._clock.steady_s() > until_s:
                answer.close()
                raise ConnectionFailure(_TOO_LATE, timed_out=True)
        return b"".join(parts)

    def _failure(self, answer: urllib3.BaseHTTPResponse, until_s: float) -> ApiFailure:
        error = failure(answer.status, self._whole(answer, until_s, LARGEST_FAILURE), answer.headers.get("Retry-After"))
        ended = self.ended_at if error.code == _UNAUTHORIZED else None
        if ended is None:
            return error
        return ApiFailure(error.code, error.reason, f"the {self.credentials.kind} ended on {ended:%Y-%m-%d %H:%M} UTC")

    def _send(
        self,
        session: AuthenticatedSession,
        method: str,
        path: str,
        query: Query | None,
        timeout: urllib3.Timeout,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": JSON, "User-Agent": "scheduler-admin"}
        if body is not None:
            headers["Content-Type"] = content_type
        if session.credentials.authorization:
            headers["Authorization"] = session.credentials.authorization
        url = f"{session.credentials.address}{path}" + (f"?{urlencode(query)}" if query else "")
        answer = session.pool.request(
            method, url, body=body, headers=headers, timeout=timeout, retries=False, preload_content=False
        )
        self._compare_clocks(answer.headers.get("Date"))
        return answer

    def _left_s(self, until_s: float) -> float:
        left_s = until_s - self._clock.steady_s()
        if left_s <= 0:
            raise ConnectionFailure("the time limit was reached before the request was sent", timed_out=True)
        return left_s

    def _compare_clocks(self, date: str | None) -> None:
        if (sent_s := sent_at_s(date)) is not None:
            self.clock_skew_s = self._wall_s() - sent_s


class ResponseStream:
    """The lines of an open answer. ``close`` may be called from any thread and wakes a reader at once."""

    def __init__(self, response: urllib3.BaseHTTPResponse, idle_timeout_s: float, clock: Clock) -> None:
        self._response = response
        self._idle_timeout_s, self._clock = idle_timeout_s, clock
        self._closed = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield each whole line, without its end. A line that was cut off is dropped: it will be sent again.

        Raises ConnectionFailure when the connection breaks or falls silent, or a line has no end; ends quietly once
        closed.
        """
        remainder, whole_s = b"", self._clock.steady_s()
        try:
            while chunk := self._read():
                *lines, remainder = (remainder + chunk).split(b"\n")
                yield from (line for line in lines if line.strip())
                if len(remainder) > LONGEST_LINE:
                    raise ConnectionFailure(f"a line of the response is longer than {LONGEST_LINE} bytes")
                now_s = self._clock.steady_s()
                whole_s = now_s if lines else whole_s
                if now_s - whole_s > self._idle_timeout_s:  # bytes arrive, but too slowly for a whole line
                    raise ConnectionFailure(_TOO_LATE, timed_out=True)
        finally:
            self._response.close()

    def _read(self) -> bytes:
        try:
            return b"" if self._closed else self._response.read1(_CHUNK)
        except Exception:
            # ValueError and AttributeError, too, are raised where another thread has shut the connection down.
            if self._closed:
                return b""
            with _typed_errors():
                raise

    def close(self) -> None:
        """Stop reading and drop the connection."""
        self._closed = True
        try:
            self._response.shutdown()
        except (AttributeError, RuntimeError, ValueError, OSError):
            return  # it had ended already


@contextmanager
def _typed_errors(address: str = "") -> Iterator[None]:
    try:
        yield
    except SettingsError as error:
        raise ConnectionFailure(str(error).rstrip(".")) from error
    except urllib3.exceptions.NewConnectionError as error:  # which urllib3 counts among the timeouts
        raise ConnectionFailure("no server responds at this address") from error
    except urllib3.exceptions.TimeoutError as error:
        raise ConnectionFailure(_TOO_LATE, timed_out=True) from error
    except (urllib3.exceptions.SSLError, ssl.SSLError) as error:
        cause = error.args[0] if error.args else error
        why = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or type(cause).__name__
        ended = server_end(address) if address and getattr(cause, "verify_code", 0) == _EXPIRED else None
        when = f" (on {ended:%Y-%m-%d %H:%M} UTC)" if ended else ""
        raise ConnectionFailure(f"the TLS connection to the API server failed: {why}{when}") from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise ConnectionFailure(f"the connection to the API server broke ({type(error).__name__})") from error
