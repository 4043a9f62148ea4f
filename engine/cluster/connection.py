"""Requests and streams to one Kubernetes API server, with typed errors and nothing of Kubernetes' object model."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
import urllib3

from engine.cluster.credentials import ConnectionSettings, open_access
from engine.cluster.errors import ConnectionFailure, failure

MERGE_PATCH = "application/merge-patch+json"
JSON = "application/json"

Query = Mapping[str, str | int]


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """One authenticated way to a cluster; safe to share between threads."""

    def __init__(self, settings: ConnectionSettings, wall_s: Callable[[], float] = time.time) -> None:
        """Load the credentials; nothing is sent yet. Raises SettingsError."""
        self.settings = settings
        self._access = open_access(settings)
        self._wall_s = wall_s
        self.clock_skew_s: float | None = None
        """Our clock minus the server's at the last answer, in seconds; None while it has told none."""

    def __repr__(self) -> str:
        return f"Connection({self._access.address})"

    @property
    def address(self) -> str:
        """Where the API server is; no secret."""
        return self._access.address

    @property
    def timeout_s(self) -> float:
        """How long a request may take when the caller does not say, in seconds."""
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
    ) -> Response:
        """Send one request, never repeated. ``body`` is bytes, or anything that JSON can hold.

        Raises ApiFailure for any status but 2xx and ConnectionFailure when no whole answer came.
        """
        data = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        timeout = urllib3.Timeout(total=self.timeout_s if timeout_s is None else timeout_s)
        with _typed_errors():
            answer = self._send(method, path, query, timeout, body=data, content_type=content_type)
            return Response(answer.status, answer.headers, answer.data)

    def stream(self, path: str, *, query: Query | None = None, idle_timeout_s: float) -> "Stream":
        """Open a stream of lines that fails when nothing comes for ``idle_timeout_s``.

        Raises ApiFailure and ConnectionFailure; so does reading the stream.
        """
        timeout = urllib3.Timeout(connect=self.timeout_s, read=idle_timeout_s)
        with _typed_errors():
            return Stream(self._send("GET", path, query, timeout, preload=False))

    def _send(
        self,
        method: str,
        path: str,
        query: Query | None,
        timeout: urllib3.Timeout,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        preload: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": JSON, "User-Agent": "scheduler-admin"}
        if body is not None:
            headers["Content-Type"] = content_type
        if authorization := self._access.authorization():
            headers["Authorization"] = authorization
        url = f"{self._access.address}{path}" + (f"?{urlencode(query)}" if query else "")
        answer = self._access.pool.request(
            method, url, body=body, headers=headers, timeout=timeout, retries=False, preload_content=preload
        )
        self._compare_clocks(answer.headers.get("Date"))
        if not 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's success
            raise failure(answer.status, answer.data, answer.headers.get("Retry-After"))
        return answer

    def _compare_clocks(self, date: str | None) -> None:
        try:
            self.clock_skew_s = self._wall_s() - parsedate_to_datetime(date or "").timestamp()
        except ValueError:
            return


class Stream:
    """The lines of an open answer. ``close`` may be called from any thread and wakes a reader at once."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response
        self._closed = False

    def __iter__(self) -> Iterator[bytes]:
        """Each whole line, without its end. A line that was cut off is dropped: it will be sent again.

        Raises ConnectionFailure when the connection breaks or falls silent; ends quietly once closed.
        """
        rest = b""
        try:
            while chunk := self._read():
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (line for line in lines if line.strip())
        finally:
            self._response.close()

    def _read(self) -> bytes:
        try:
            with _typed_errors():
                return b"" if self._closed else self._response.read1(65_536)
        except (ConnectionFailure, ValueError, AttributeError):
            # The latter two: what reading ends in when another thread has shut the connection down.
            if self._closed:
                return b""
            raise

    def close(self) -> None:
        """Stop reading and drop the connection."""
        self._closed = True
        try:
            self._response.shutdown()
        except (AttributeError, RuntimeError, ValueError, OSError):
            return  # it had ended by itself


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except urllib3.exceptions.NewConnectionError as error:  # which urllib3 counts among the timeouts
        raise ConnectionFailure("nothing answers at its address") from error
    except urllib3.exceptions.TimeoutError as error:
        raise ConnectionFailure("the API server did not answer in time", timed_out=True) from error
    except (urllib3.exceptions.SSLError, ssl.SSLError) as error:
        cause = error.args[0] if error.args else error
        why = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or type(cause).__name__
        raise ConnectionFailure(f"there is no secure connection to the API server, as TLS says: {why}") from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise ConnectionFailure(f"the connection to the API server broke ({type(error).__name__})") from error
