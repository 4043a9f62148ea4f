"""How many queries an answer takes: as many as queries.json says, however much there is.

After a change that means to: ``QUERIES=write python -m pytest tests/grid/test_queries.py`` rewrites the file; look at
what the diff says, and commit it with the change.
"""

import json
import os
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection, reset_queries
from django.test.utils import CaptureQueriesContext

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.services.kept_trees import forget_trees
from tests.grid import world as seeded
from tests.grid.answers import PEOPLE
from tests.grid.conftest import World
from tests.grid.rules import GUESSES, READ
from tests.grid.words import read_by
from tests.runner.suites import sized

pytestmark = pytest.mark.django_db
FILTERING = ("tenant", "operator")
WRITTEN = os.environ.get("QUERIES") == "write"
COUNTED = PEOPLE if WRITTEN else sized("requests", usual=(*FILTERING, "admin"), long=PEOPLE)
"""Who is counted: others see as much, or less."""
GROWN = sized("requests", usual=("operator",), long=FILTERING)
"""Who is counted again where there is ten times as much."""
FILE = Path(__file__).with_name("queries.json")
Counts = dict[str, dict[str, int]]
"""Route, or route and a filter that makes a difference -> person -> queries of a GET."""


def counted(world: World, people: Sequence[str] = PEOPLE) -> Counts:
    """One GET of every route by some people, and with every filter by those who see the most."""
    for person in people:
        world.ask(person, "GET", "/api/v1/nothing")  # the token's last use is noted, once a minute
    found = {}
    filtering = [person for person in FILTERING if person in people]
    for route in READ:
        found[route.name] = plain = {person: _asked(world, person, world.address(route))[1] for person in people}
        for word in read_by(route, world):
            address = world.address(route, **{word: getattr(world.here, GUESSES[word][0])})
            asked = {person: _asked(world, person, address) for person in filtering}
            filtered = {person: queries for person, (_, queries) in asked.items()}
            understood = asked["operator"][0] == HTTPStatus.OK
            if understood and any(filtered[person] != plain[person] for person in filtering):
                found[f"{route.name}?{word}"] = filtered
    return found


def _asked(world: World, person: str, address: str) -> tuple[int, int]:
    """The answer's status and the queries that it took in a process that was never asked before."""
    forget_trees()
    cache.clear()
    reset_queries()  # of which so many are kept, and no more
    with CaptureQueriesContext(connection) as queries:
        response = world.ask(person, "GET", address)
    return response.status_code, len(queries)


@pytest.fixture(scope="module")
def few(world: World) -> Counts:
    """The counts of the world as it is made."""
    return counted(world, COUNTED)


def test_answers_take_the_queries_that_are_checked_in(few: Counts) -> None:
    """Neither more nor fewer: what is saved stays saved."""
    if WRITTEN:
        FILE.write_text(json.dumps(few, indent=1) + "\n", encoding="utf-8")
    known: Counts = json.loads(FILE.read_text(encoding="utf-8"))
    assert few == {
        name: {person: queries for person, queries in counts.items() if person in COUNTED}
        for name, counts in known.items()
    }


def test_ten_times_as_much_takes_as_many(world: World, few: Counts) -> None:
    """Clusters, revisions, queues, pods, decisions, hours of usage: none of them is read one by one."""
    seeded.grow(User.objects.get(role=User.Role.ADMIN))
    many = counted(world, GROWN)
    before = {name: {person: counts[person] for person in GROWN} for name, counts in few.items()}
    assert {name: (before.get(name), counts) for name, counts in many.items() if counts != before.get(name)} == {}
