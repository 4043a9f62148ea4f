"""Which words after the ``?`` a route reads: the others change nothing, and need not be tried as everybody."""

import re

from tests.grid.addresses import Route
from tests.grid.conftest import World
from tests.grid.names import said
from tests.grid.rules import GUESSES
from tests.grid.sides import NOBODYS

OPENING = ("folded", "open", "expanded", "below")
"""Words that say how a page is laid out: one that names nothing changes nothing."""
_FOUND: dict[str, list[str]] = {}


def read_by(route: Route, world: World) -> list[str]:
    """Return the words of GUESSES that change what somebody who sees everything is answered."""
    if route.name not in _FOUND:
        plain = world.address(route)
        before = _answer(world, plain, plain)
        _FOUND[route.name] = [word for word in GUESSES if _answer(world, _tried(world, route, word), plain) != before]
    return _FOUND[route.name]


def _tried(world: World, route: Route, word: str) -> str:
    thing = GUESSES[word][0]
    return world.address(route, **{word: getattr(world.here if word in OPENING else NOBODYS, thing)})


def _answer(world: World, address: str, plain: str) -> str:
    return settled(said(world.ask("operator", "GET", address), instead_of=address, put=plain))


def settled(text: str) -> str:
    """Return an answer without what is random in every answer."""
    return re.sub(r"\b[A-Za-z0-9]{32,64}\b|'Content-Length': '\d+'", "", text)
