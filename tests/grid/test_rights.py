"""Who gets what: every address × everybody × every method, against the tables in page_rules.py and api_rules.py."""

import os
import subprocess
import sys
from itertools import product
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.urls import reverse

from scheduler_admin.demo.environment import BASE
from tests.grid.addresses import Route, routes
from tests.grid.answers import IN, METHODS, PEOPLE
from tests.grid.conftest import World
from tests.grid.names import foreign
from tests.grid.rules import READ, ROUTES, WRITTEN, lines, names_of, rule_of
from tests.runner.suites import sized

pytestmark = pytest.mark.django_db
TRIED = sized("requests", usual=[method for method in METHODS if method != "HEAD"], long=METHODS)
"""HEAD is answered as GET is, without what it would say."""
ADMIN_SITE = any(route.namespace == "admin" for route in routes())


def told(response: HttpResponse, address: str) -> int | str:
    """The status, or that one has to sign in: then with how to, and the way back."""
    if response.status_code == 401:
        assert response["WWW-Authenticate"] == 'Bearer realm="api"'
        assert response["Content-Type"] == "application/problem+json"
        return IN
    back = f"{reverse('web:login')}?next={quote(address)}"
    return IN if response.headers.get("Location") == back else response.status_code


@pytest.mark.parametrize("route", lines(), ids=str)
def test_everybody_gets_what_the_table_says(world: World, route: Route) -> None:
    """And in it nothing that they may not see, whatever the method; no cache keeps it for somebody else."""
    rule, wrong = rule_of(route), {}
    for person, method in product(PEOPLE, TRIED):
        address = world.address(route, method=method)
        response = world.ask(person, method, address, rule.body)
        found = told(response, address), foreign(response, person, address)
        if found != (rule.expected(route, method, person), []):
            wrong[f"{method} {address} as {person}"] = found
        if method == "GET" and route in READ:
            assert is_ones_own(response, route, person), person
    assert wrong == {}


PROBES = {"livez", "readyz", "version"}


def is_ones_own(response: HttpResponse, route: Route, person: str) -> bool:
    """Whether no cache keeps an answer for somebody else: the API says so of all, pages of what is for one person."""
    if route.namespace != "api" and (response.status_code != 200 or person == "anonymous"):
        return True
    if route.name in PROBES:  # the same for everybody, and kept by no cache at all
        return "no-store" in response["Cache-Control"]
    by = {"Cookie", "Authorization"} if route.namespace == "api" else {"Cookie"}
    told_by = {word.strip() for word in response["Vary"].split(",")}
    return "private" in response["Cache-Control"] and by <= told_by


@pytest.mark.parametrize("route", WRITTEN, ids=str)
def test_another_sites_page_makes_a_browser_do_nothing(world: World, route: Route) -> None:
    """A session alone writes nowhere: it takes the token of a form of ours."""
    for method in WRITTEN[route]:
        assert world.forge("admin", method, world.address(route, method=method)).status_code == 403, method


def test_every_address_has_its_line() -> None:
    """What it does not say cannot be held; a new address is added here, or its tests never run."""
    for route in routes():
        rule_of(route)
        names_of(route)


def test_no_line_of_the_table_is_left_over() -> None:
    """A route that went takes its line with it."""
    known = {route.name for route in routes()}
    assert {name for name in ROUTES if not name.startswith("admin:")} <= known


@pytest.mark.suite("requests")
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
