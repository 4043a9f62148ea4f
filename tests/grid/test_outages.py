"""The database goes away in the middle of any request: the response is 503 and says when to try again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection
from django.http import HttpResponse

from scheduler_admin.queues.services.kept_trees import forget_trees
from tests.grid.addresses import Route
from tests.grid.conftest import World
from tests.grid.rules import READ, WRITTEN, rule_of
from tests.runner.suites import sized

pytestmark = pytest.mark.django_db
PERSON = "admin"
PLACES = sized("requests", usual=3, long=1000)
"""In how many places of a request the database goes away: its first query, its last, and some between."""
OWN = ("SAVEPOINT", "RELEASE", "ROLLBACK")
"""Statements of the test's own transaction."""


class Outage:
    """Counts queries, and lets them fail from one of them on."""

    def __init__(self, begins: int | None = None) -> None:
        self.begins = begins
        self.queries = 0

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if not sql.startswith(OWN):
            self.queries += 1
            if self.begins is not None and self.queries > self.begins:
                raise OperationalError("the connection is lost")
        return execute(sql, *rest)


def places(queries: int) -> list[int]:
    """Return after how many queries the database goes away, evenly spread, the first and the last among them."""
    if queries <= PLACES:
        return list(range(queries))
    return sorted({round(step * (queries - 1) / (PLACES - 1)) for step in range(PLACES)})


def asked(world: World, method: str, route: Route, outage: Outage) -> HttpResponse:
    """Return the response of a process that was never asked before."""
    forget_trees()
    cache.clear()
    rule = rule_of(route)
    with connection.execute_wrapper(outage):
        response: Any = world.ask(PERSON, method, world.address(route, method=method), rule.body)
        if response.streaming:
            next(iter(response.streaming_content), b"")
    answered: HttpResponse = response
    return answered


def wrong(world: World, method: str, route: Route) -> Iterator[str]:
    """Yield what is not answered as it should be."""
    counted = Outage()
    asked(world, method, route, counted)
    for begins in places(counted.queries):
        response = asked(world, method, route, Outage(begins))
        again = response.headers.get("Retry-After") if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE else None
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR and again is None:
            yield f"{method} {route}: {response.status_code} after {begins} of {counted.queries} queries"


def test_reads(world: World) -> None:
    """Every route that answers GET."""
    away = replace(world, raises=False)
    assert [line for route in READ for line in wrong(away, "GET", route)] == []


def test_writes(world: World) -> None:
    """Every route that writes."""
    away = replace(world, raises=False)
    asks = [(method, route) for route, methods in WRITTEN.items() for method in sorted(methods)]
    assert [line for method, route in asks for line in wrong(away, method, route)] == []
