"""The seeded world, made once for each module and taken back after it."""

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.client import ClientHandler

from tests.grid import world as seeded
from tests.grid.addresses import Route
from tests.grid.answers import READS
from tests.grid.rules import names_of, rule_of
from tests.grid.sides import SECRET, SHARED, Side, tree_of

SIMULATOR = {
    # Nothing listens there: the demo's buttons are offered, and say so.
    "SIMULATOR_URL": "http://127.0.0.1:9",
    "SIMULATOR_CLUSTER": SHARED,
    "SIMULATOR_TOKEN": f"{SECRET}-simulator",
}


@dataclass(frozen=True)
class World:
    """Everybody's things, and a way to ask for them as anybody."""

    red: Side
    blue: Side
    sessions: Mapping[str, str]
    tokens: Mapping[str, str]
    raises: bool = True
    """Whether an error of the product fails the test at once, or is answered as people would see it."""

    @property
    def here(self) -> Side:
        """What addresses name: red's things, in the cluster where both have queues."""
        return replace(self.red, cluster=SHARED, hierarchy=tree_of(SHARED))

    def address(
        self, route: Route, named: Mapping[str, object] | None = None, *, method: str = "GET", **query: object
    ) -> str:
        """The route's address here; ``named``: parameters that name something else; ``query``: further words."""
        rule = rule_of(route)
        values = {parameter: getattr(self.here, thing) for parameter, thing in names_of(route).items()}
        needed = rule.written_with if method in rule.answers and method not in READS else rule.query
        asked = urlencode({word: value.format(**vars(self.here)) for word, value in needed.items()} | query)
        return route.address(values | dict(named or {})) + (f"?{asked}" if asked else "")

    def ask(
        self, person: str, method: str, address: str, body: Mapping[str, str] | None = None, **headers: str
    ) -> HttpResponse:
        """The answer to a person who is signed in: to pages by session, to the API by token."""
        if person in self.sessions and address.startswith("/api/"):
            headers["Authorization"] = f"Bearer {self.tokens[person]}"
            sent, kind = json.dumps(body or {}), "application/json"
        else:
            sent, kind = urlencode(body or {}), "application/x-www-form-urlencoded"
        client = self._browser("" if address.startswith("/api/") else person)
        return client.generic(method, address, "" if method in READS else sent, kind, headers=headers)

    def forge(self, person: str, method: str, address: str, **environ: Any) -> HttpResponse:
        """The answer to a request that another site's page makes a signed-in person's browser send."""
        return self._browser(person, enforce_csrf_checks=True).generic(method, address, **environ)

    def _browser(self, person: str, **settled: bool) -> Client:
        client = Client(raise_request_exception=self.raises, **settled)
        client.handler = _handler(**settled)
        client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions.get(person, "")
        return client


@cache
def _handler(enforce_csrf_checks: bool = False) -> ClientHandler:
    """One for all clients: each would make its own chain of middleware anew, for a tenth of the time that all takes."""
    return ClientHandler(enforce_csrf_checks)


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Two tenants, eight people, at a noon that lasts."""
    with (
        time_machine.travel(seeded.NOW, tick=False),
        override_settings(SECURE_SSL_REDIRECT=False, **SIMULATOR),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        people = seeded.people()
        red, blue = seeded.make(people["admin"])
        seeded.draft(SHARED, people["editor"], f"{red.canary} draft")
        logging.disable(logging.WARNING)  # every 404 and 405 that is asked for here
        yield World(
            red,
            blue,
            sessions={name: seeded.session_of(person) for name, person in people.items()},
            tokens={name: seeded.token_of(person) for name, person in people.items()},
        )
        logging.disable(logging.NOTSET)
        transaction.set_rollback(True)
