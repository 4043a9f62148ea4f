"""Whose names anybody finds: canaries in everything of both tenants', looked for in every answer."""

from collections.abc import Iterator
from itertools import product

import pytest
from django.http import HttpResponse

from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.queues.models import Draft
from tests.grid.addresses import Route
from tests.grid.answers import PEOPLE
from tests.grid.conftest import World
from tests.grid.names import foreign, said
from tests.grid.rules import GUESSES, READ, names_of, rule_of
from tests.grid.sides import BLUE, MAY_SEE, NOBODYS, RED, SHARED, tree_of
from tests.grid.words import read_by, settled
from tests.runner.suites import sized

pytestmark = pytest.mark.django_db
SIGNED_IN = sized("requests", usual=("tenant",), long=("nobody", "other", "tenant", "editor"))
"""A tenant, and in the long suite all others who sign in; who does not is led there, whatever they ask for."""
GUESSING = sized("requests", usual=("tenant",), long=("anonymous", "nobody", "tenant", "editor"))
WHOLE, REFRESHED = {}, {"HX-Request": "true"}
"""How a page is asked for; the REST API knows no refresh."""


def everywhere(world: World, route: Route) -> Iterator[str]:
    """The route's addresses of everybody's things, in every cluster."""
    things = {
        "cluster": [SHARED, RED.cluster, BLUE.cluster],
        "hierarchy": [tree_of(SHARED), RED.hierarchy, BLUE.hierarchy],
        "queue": [path for side in (RED, BLUE) for path in ("root", side.team, side.queue, side.batch, side.met)],
        "namespace": [RED.namespace, BLUE.namespace],
        "pod": {*Decision.objects.values_list("ask_name", flat=True), *Victim.objects.values_list("name", flat=True)},
        "draft": list(Draft.objects.values_list("pk", flat=True)),
        "decision": list(Decision.objects.values_list("pk", flat=True)),
    }
    named = names_of(route)
    for values in product(*(things.get(thing, [getattr(world.here, thing)]) for thing in named.values())):
        yield world.address(route, dict(zip(named, values, strict=True)))


@pytest.mark.parametrize("route", READ, ids=str)
def test_no_answer_holds_what_its_reader_may_not_see(world: World, route: Route) -> None:
    """Whatever its address names. Long, also as a page's own refresh, which is a part of the whole."""
    found = {}
    page = not route.form.startswith("api/")
    ways = sized("requests", usual=(WHOLE,), long=(WHOLE, REFRESHED) if page else (WHOLE,))
    asked = [*product(everywhere(world, route), SIGNED_IN, ways), (world.address(route), "anonymous", WHOLE)]
    for address, person, headers in asked:
        response = world.ask(person, "GET", address, **headers)
        if names := foreign(response, person, address):
            found[f"{address} as {person}"] = names
    assert found == {}


@pytest.mark.parametrize("route", READ, ids=str)
def test_whose_they_are_finds_them(world: World, route: Route) -> None:
    """The names that the table says are there: so the test above can fail."""
    rule = rule_of(route)
    for person in set(PEOPLE) - {"nobody"}:
        if rule.answers["GET"][person] == 200:
            side = world.blue if person == "other" else world.here
            answer = said(world.ask(person, "GET", world.address(route)))
            missing = [thing for thing in rule.shows if getattr(side, thing).rpartition(".")[2] not in answer]
            assert missing == [], person


def test_no_canary_is_mute(world: World) -> None:
    """Every kind is found by somebody somewhere, but those that no page shows yet."""
    heard = set()
    for route, person in product(READ, ("tenant", "operator")):
        answer = said(world.ask(person, "GET", world.address(route)))
        heard |= {canary for canary in MAY_SEE[person] if canary in answer}
    assert heard == MAY_SEE["operator"]


def guesses(world: World, route: Route) -> Iterator[tuple[str, str]]:
    """Addresses that name one thing of blue's, each with the one that names nothing instead."""
    for parameter, thing in names_of(route).items():
        theirs, nothing = ({parameter: getattr(side, thing)} for side in (world.blue, NOBODYS))
        yield world.address(route, theirs), world.address(route, nothing)
    for word in read_by(route, world):
        for thing in GUESSES[word]:
            theirs, nothing = ({word: getattr(side, thing)} for side in (world.blue, NOBODYS))
            yield world.address(route, **theirs), world.address(route, **nothing)


def told(response: HttpResponse, address: str, as_if: str) -> str:
    """All that an answer says, as if the other address had been asked; without what is random in every answer."""
    return settled(said(response, instead_of=address, put=as_if).replace(BLUE.canary, NOBODYS.canary))


@pytest.mark.parametrize("route", READ, ids=str)
def test_a_good_guess_is_answered_like_nonsense(world: World, route: Route) -> None:
    """What one may not see can't be told from what does not exist: not in addresses, not in any filter."""
    told_apart = []
    for (theirs, nothing), person in product(guesses(world, route), GUESSING):
        guessed, nonsense = (world.ask(person, "GET", address) for address in (theirs, nothing))
        if told(guessed, theirs, nothing) != told(nonsense, nothing, nothing):
            told_apart.append(f"{theirs} as {person}")
    assert told_apart == []
