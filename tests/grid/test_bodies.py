"""How large a request may be: what is too large is refused before anything of it is read, at every address."""

from io import BytesIO
from typing import Any

import pytest

from scheduler_admin.journal.services.snapshots import MOST_BYTES
from scheduler_admin.site.allowances import LARGEST_BODY
from tests.grid.addresses import routes
from tests.grid.conftest import World

pytestmark = pytest.mark.django_db
TAKES_FILES = {"web:import", "web:snapshots"}
REFUSED = (413, False)
REFUSALS = {REFUSED, (405, False)}
"""The latter by probes, which are answered before everything else, and take no form at all."""


class Body(BytesIO):
    """Knows whether anybody read it."""

    touched = False

    def read(self, *_size: Any) -> bytes:
        """Note it, and be at the end."""
        self.touched = True
        return b""

    readline = read


def told(world: World, person: str, address: str, size: object) -> tuple[int, bool]:
    """How a form of so many bytes is answered, which a browser announces, and whether anything of it was read."""
    body = Body()
    form = {"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": str(size), "wsgi.input": body}
    return world.forge(person, "POST", address, **form).status_code, body.touched


@pytest.mark.parametrize("person", ["anonymous", "tenant", "admin"])
def test_nobody_sends_gigabytes_anywhere(world: World, person: str) -> None:
    """Nothing of it is read, nor kept in a file; whether there is such a thing is not told."""
    answers = {route.name: told(world, person, world.address(route), 50_000_000_000) for route in routes()}
    assert {name: answer for name, answer in answers.items() if answer not in REFUSALS} == {}


@pytest.mark.parametrize(("person", "takes"), [("anonymous", set()), ("admin", TAKES_FILES)])
def test_a_page_takes_a_megabyte_unless_it_takes_files(world: World, person: str, takes: set[str]) -> None:
    """And those only from who is signed in."""
    pages = [route for route in routes() if not route.form.startswith("api/")]
    answers = {route.name: told(world, person, world.address(route), LARGEST_BODY + 1) for route in pages}
    assert {name for name, answer in answers.items() if answer not in REFUSALS} == takes


@pytest.mark.parametrize("name", sorted(TAKES_FILES))
def test_of_files_there_is_an_end_too(world: World, name: str) -> None:
    """With a form beside them."""
    (route,) = (route for route in routes() if route.name == name)
    assert told(world, "admin", world.address(route), MOST_BYTES + LARGEST_BODY + 1) == REFUSED


@pytest.mark.parametrize("said", ["", "-1", "x", "1e9", "\u0661"])
def test_what_does_not_say_how_large_it_is_is_empty(world: World, said: str) -> None:
    """As one in chunks: of it nothing is read."""
    assert told(world, "anonymous", "/sign-in/", said)[0] == 403  # no token of CSRF
