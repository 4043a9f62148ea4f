"""One site's REST API: requests with a token, answers as JSON, errors as sentences."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from uuid import uuid4

import click
import urllib3

from scheduler_admin_client.transport import Transport
from scheduler_admin_client.words import LANGUAGE, _

OK, RULED_OUT, LARGEST_PAGE = range(200, 300), 409, 500
_AWAY = frozenset({502, 503, 504})
"""Statuses of what stands before a server that is not there."""


class Trouble(Exception):  # noqa: N818 - what is told is no fault of the program
    """What kept an order from being carried out, in a sentence."""


class Refused(Trouble):
    """The API's no, with its problem details."""

    def __init__(self, status: int, problem: Mapping[str, Any], etag: str = "") -> None:
        super().__init__(problem["detail"])
        self.status = status
        self.problem = problem
        self.etag = etag

    @property
    def of_document(self) -> bool:
        """Whether it is the document that was sent of which it says what is wrong, rather than the request."""
        errors = self.problem.get("errors", [])
        return bool(errors) and not any("parameter" in error for error in errors)


@dataclass(frozen=True)
class Answer:
    """What the API answered."""

    status: int
    text: str
    etag: str = ""

    @property
    def body(self) -> Any:
        """The JSON in it. Raises Trouble."""
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise Trouble(_("The server at this address is not Scheduler Admin (status %d).") % self.status) from error


@dataclass(frozen=True)
class Site:
    """Where the API is. The token is in no text that is made of it."""

    address: str
    token: str = field(repr=False)
    transport: Transport = field(repr=False)

    def get(self, *path: str, accept: str = "application/json", **query: Any) -> Answer:
        """Read. Raises Refused, Trouble."""
        return self._send("GET", path, query, {"Accept": accept}, None)

    def plan(self, *path: str, body: bytes, headers: Mapping[str, str], **query: Any) -> Answer:
        """Ask what a write would do. Raises Refused, Trouble."""
        return self._send("PUT", path, {**query, "dry_run": "true"}, headers, body)

    def put(self, *path: str, body: bytes, headers: Mapping[str, str], **query: Any) -> Answer:
        """Write, once: its key tells the server which request is sent again. Raises Refused, Trouble."""
        return self._send("PUT", path, query, {"Idempotency-Key": str(uuid4()), **headers}, body)

    def write(self, method: str, *path: str, body: bytes | None = None, etag: str = "", **query: Any) -> Answer:
        """Create, change or delete an object, once, as it was read. Raises Refused, Trouble."""
        headers = {"Idempotency-Key": str(uuid4()), **({"If-Match": etag} if etag else {})}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return self._send(method, path, query, headers, body)

    def pages(self, *path: str, limit: int, **query: str | None) -> Iterator[dict[str, Any]]:
        """The first rows of a list, page after page. Raises Refused, Trouble."""
        while limit > 0:
            asked: dict[str, Any] = {**query, "limit": min(limit, LARGEST_PAGE)}
            page = self.get(*path, **asked).body
            yield from page["results"]
            limit -= len(page["results"])
            if page["next"] is None:
                return
            query["cursor"] = dict(parse_qsl(urlsplit(page["next"]).query))[
                "cursor"
            ]  # never its address: the token is for this site

    def _send(
        self,
        method: str,
        path: tuple[str, ...],
        query: Mapping[str, Any],
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> Answer:
        asked = urlencode({name: value for name, value in query.items() if value is not None}, doseq=True)
        place = "/".join(quote(part, safe="") for part in path)
        url = f"{self.address.rstrip('/')}/api/v1/{place}?{asked}".rstrip("?")
        sent = {
            "Authorization": f"Bearer {self.token}",
            **({"Accept-Language": LANGUAGE} if LANGUAGE else {}),
            **headers,
        }
        repeatable = method == "GET" or "dry_run" in query or "Idempotency-Key" in headers
        try:
            response = self.transport.request(method, url, headers=sent, body=body, repeatable=repeatable)
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            raise Trouble(_("%(site)s cannot be reached: %(why)s.") % self._why(error)) from error
        answer = Answer(response.status, response.body.decode(errors="replace"), response.headers.get("ETag", ""))
        if answer.status in OK:
            return answer
        raise _refused(self.address, answer)

    def _why(self, error: Exception) -> dict[str, str]:
        cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
        return {"site": self.address, "why": str(cause).rpartition(": ")[2]}


def _refused(address: str, answer: Answer) -> Trouble:
    try:
        body = answer.body
    except Trouble:
        if answer.status not in _AWAY:
            raise
        return Trouble(_("%(site)s is not available (status %(status)d).") % {"site": address, "status": answer.status})
    if isinstance(body, dict) and isinstance(body.get("detail"), str):
        return Refused(answer.status, body, answer.etag)
    return Trouble(_("The server at this address is not Scheduler Admin (status %d).") % answer.status)


def pass_site(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the site, which the context knows how to reach, as its first argument."""

    @click.pass_context
    @wraps(command)
    def run(context: click.Context, /, *arguments: Any, **options: Any) -> int:
        return command(context.obj(), *arguments, **options)

    return run
