"""What is typed or sent into the forms of pages: whatever a text holds, it is taken or refused, and nothing breaks."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import pytest
from django.db import transaction
from django.test.html import Element, parse_html

from tests.grid.addresses import routes
from tests.grid.conftest import World

pytestmark = [pytest.mark.django_db, pytest.mark.suite("postgres")]
ODD = {
    "a NUL, which PostgreSQL has no place for": "a\0b",
    "more than any column holds": "x" * 100_000,
    "a number beyond 64 bits": "9" * 40,
}
"""Texts that a form may get, though no browser would let a person type some of them."""
_NOT_TYPED = {"csrfmiddlewaretoken"}


@dataclass(frozen=True)
class Form:
    """A form of a page that writes."""

    address: str
    fields: tuple[tuple[str, str], ...]
    """Their names with the values that the page has for them."""

    def filled(self, name: str, value: str) -> dict[str, str]:
        """Return what is sent where one field has another value."""
        return dict(self.fields) | {name: value}


def elements(below: Element) -> Iterator[Element]:
    """Yield an element and all that is in it."""
    yield below
    for child in below.children:
        if isinstance(child, Element):
            yield from elements(child)


def fields_of(form: Element) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each field."""
    for element in elements(form):
        attributes = dict(element.attributes)
        if element.name in {"input", "select", "textarea", "button"} and attributes.get("name"):
            yield attributes["name"] or "", attributes.get("value") or ""


def forms(page: str, address: str) -> Iterator[Form]:
    """Yield the forms of a page that write."""
    for element in elements(parse_html(page)):
        attributes = dict(element.attributes)
        if element.name == "form" and (attributes.get("method") or "").lower() == "post":
            found = tuple((name, value) for name, value in fields_of(element) if name not in _NOT_TYPED)
            yield Form(attributes.get("action") or address, found)


@pytest.fixture(scope="module")
def all_forms(world: World) -> list[Form]:
    """Every form that an admin finds, each once."""
    pages = [route for route in routes() if route.namespace == "web"]
    answers = {address: world.ask("admin", "GET", address) for address in map(world.address, pages)}
    found = [
        forms(answer.content.decode(), address)
        for address, answer in answers.items()
        if answer.status_code == 200 and "html" in answer["Content-Type"]
    ]
    return list({(form.address, form.fields): form for form in chain.from_iterable(found)}.values())


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_every_field_takes_or_refuses_any_text(world: World, all_forms: list[Form], value: str) -> None:
    """Never an error of ours, and with PostgreSQL as with SQLite."""
    wrong = []
    for form in all_forms:
        for name, _ in form.fields:
            with transaction.atomic():
                try:
                    status = world.ask("admin", "POST", form.address, form.filled(name, value)).status_code
                except Exception as error:  # noqa: BLE001 - whatever it is, a browser would get an error page
                    status = repr(error)[:300]
                transaction.set_rollback(True)
            if not isinstance(status, int) or status >= 500:
                wrong.append((form.address, name, status))
    assert not wrong, "\n".join(map(str, wrong))
