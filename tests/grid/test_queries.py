"""How many queries an answer takes: as many as queries.json says, however much there is.

After a change that means to: ``QUERIES=write python -m pytest tests/grid/test_queries.py`` rewrites the file; look at
what the diff says, and commit it with the change.
"""

import json
import os
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduler_admin.accounts.models import User
from tests.grid import world as seeded
from tests.grid.addresses import routes
from tests.grid.conftest import World
from tests.grid.rules import PEOPLE, is_read

pytestmark = pytest.mark.django_db
FILE = Path(__file__).with_name("queries.json")
Counts = dict[str, dict[str, int]]
"""Route -> person -> queries of a GET."""


def counted(world: World) -> Counts:
    """One GET of every route by everybody."""
    return {
        route.name: {person: _queries(world, person, world.address(route)) for person in PEOPLE}
        for route in routes()
        if is_read(route)
    }


def _queries(world: World, person: str, address: str) -> int:
    world.ask(person, "GET", "/api/v1/nothing")  # the token's last use is noted, once a minute
    with CaptureQueriesContext(connection) as queries:
        world.ask(person, "GET", address)
    return len(queries)


def test_answers_take_the_queries_that_are_checked_in(world: World) -> None:
    """Neither more nor fewer: what is saved stays saved."""
    found = counted(world)
    if os.environ.get("QUERIES") == "write":
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(FILE.read_text(encoding="utf-8"))


def test_ten_times_as_much_takes_as_many(world: World) -> None:
    """Clusters, revisions, queues, pods, decisions, hours of usage: none of them is read one by one."""
    few = counted(world)
    seeded.grow(User.objects.get(role=User.Role.ADMIN))
    many = counted(world)
    grown = {name: (few[name], many[name]) for name in few if many[name] != few[name]}
    assert grown == {}
