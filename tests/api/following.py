"""Streams of events, read as programs do."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rest_framework.test import APIClient

from tests.api.described import check_component
from tests.waiting import PATIENCE_S

EVENTS = "/api/v1/events"


class Told(NamedTuple):
    """One event."""

    number: int
    kind: str
    body: Any


def read(text: str) -> Iterator[Told]:
    """The events of a stream; what has no data is none, as for a browser."""
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            yield Told(int(fields["id"]), fields["event"], json.loads(fields["data"]))


def by_now(client: APIClient, cluster: str = "prod", after: int = 0, **headers: str) -> list[Told]:
    """What there is by now, each as the OpenAPI document describes it."""
    address = f"{EVENTS}?cluster={cluster}&after={after}&timeout_seconds=0"
    answer = client.get(address, headers={"Accept": "text/event-stream", **headers})
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/event-stream"
    found = list(read(answer.getvalue().decode()))
    for one in found:
        check_component("Event", one.body)
    return found


class Following:
    """A stream that is open."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status, self._answer = answer.status, answer
        self.last = 0
        """The last number that it gave out."""

    def block(self) -> str:
        """The next lines up to an empty one; nothing where the stream has ended."""
        lines: list[str] = []
        while line := self._answer.readline().decode():
            if line == "\n":
                break
            lines.append(line)
        text = "".join(lines)
        numbers = [line for line in lines if line.startswith("id: ")]
        self.last = int(numbers[-1].removeprefix("id: ")) if numbers else self.last
        return text

    def next(self) -> Told:
        """The next event, waited for."""
        while text := self.block():
            for one in read(text):
                return one
        raise AssertionError("the stream has ended")


@contextmanager
def following(server: str, client: APIClient, query: str, **headers: str) -> Iterator[Following]:
    """A stream of a real server's, followed with a client's token."""
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=PATIENCE_S)
    token = vars(client)["_credentials"] or client.defaults
    authorization = {"Authorization": token["HTTP_AUTHORIZATION"], "Accept": "text/event-stream"}
    connection.request("GET", f"{EVENTS}?{query}", headers={**authorization, **headers})
    answer = connection.getresponse()
    try:
        yield Following(answer)
    finally:
        answer.close()
        connection.close()
