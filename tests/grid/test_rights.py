"""Who gets what: every address × everybody × every method, against the table in rules.py."""

import os
import subprocess
import sys
from itertools import product

import pytest
from django.http import HttpResponse
from django.urls import reverse

from scheduler_admin.demo.environment import BASE
from tests.grid.addresses import Route, routes
from tests.grid.conftest import World
from tests.grid.names import foreign
from tests.grid.rules import IN, METHODS, PEOPLE, ROUTES, rule_of

pytestmark = pytest.mark.django_db
ADMIN_SITE = any(route.namespace == "admin" for route in routes())


def told(response: HttpResponse) -> int | str:
    """The status, or that one has to sign in."""
    if response.status_code == 401:
        assert response["WWW-Authenticate"] == 'Bearer realm="api"'
        return IN
    to_sign_in = response.headers.get("Location", "").startswith(f"{reverse('web:login')}?next=")
    return IN if response.status_code == 302 and to_sign_in else response.status_code


@pytest.mark.parametrize("route", routes(), ids=str)
def test_everybody_gets_what_the_table_says(world: World, route: Route) -> None:
    """And in it nothing that they may not see, whatever the method."""
    rule, wrong = rule_of(route), {}
    for person, method in product(PEOPLE, METHODS):
        address = world.address(route, method=method)
        response = world.ask(person, method, address, rule.body)
        found = told(response), foreign(response, person, address)
        if found != (rule.expected(route, method, person), []):
            wrong[f"{method} {address} as {person}"] = found
    assert wrong == {}


def test_no_line_of_the_table_is_left_over() -> None:
    """A route that went takes its line with it."""
    known = {route.name for route in routes()}
    assert {name for name in ROUTES if not name.startswith("admin:")} <= known


@pytest.mark.skipif(ADMIN_SITE, reason="this is the run that the test below starts")
def test_the_admin_site_lets_nobody_in_by_role() -> None:
    """The same grid over Django's admin site, which has to be turned on before Django starts."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/grid/test_rights.py",
        "-k",
        "admin",
    ]
    environment = {**os.environ, "ADMIN_SITE": "1"}
    done = subprocess.run(command, cwd=BASE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
