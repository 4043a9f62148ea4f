"""What is sent into the forms of pages: whatever it is, it is taken or refused, and nothing breaks or is stored."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import Any
from urllib.parse import urlencode

import pytest
from django import forms as django_forms
from django.db import connection, transaction
from django.http import HttpResponse, QueryDict
from django.test.html import Element, parse_html
from django.test.utils import CaptureQueriesContext

from scheduler_admin.core.forms import ActForm, Form
from tests.grid.addresses import Route, routes
from tests.grid.conftest import World
from tests.grid.rules import WRITTEN, rule_of

pytestmark = pytest.mark.django_db
PAGES = [route for route, methods in WRITTEN.items() if route.namespace == "web" and "POST" in methods]
WITHOUT_FIELDS = {
    "web:oidc",  # not set up here
    "web:oidc_callback",
    "web:logout",
    "web:language",  # Django's own view
    "web:draft_discard",
    "web:draft_merge",
    "web:draft_redo",
    "web:draft_undo",
    "web:snapshot_delete",
    "web:comparison_stop",
    "web:close_introduction",
    "web:demo_surge",
    "web:demo_reset",
}
"""Routes that read nothing of what is sent to them: mere buttons."""
CELLS = {
    "web:draft_edit": ("was:max/cpu", "max/cpu", "was:delay", "delay"),
    "web:draft_rules": ("do", "rule.0.0.name", "rule.0.0.value", "rule.0.0.users"),
}
"""Fields that a page reads beside those of its Django form."""
NUMBER = "9" * 40
LONG = "x" * 100_000
ODD = {
    "a NUL, which PostgreSQL has no place for": "a\0b",
    "more than any column holds": LONG,
    "a number beyond 64 bits": NUMBER,
}
"""Texts that a form may get, though no browser would let a person type some of them."""


@dataclass(frozen=True)
class Sent:
    """One form of a page, with what a browser would send of it."""

    route: Route
    act: str
    form: django_forms.BaseForm
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.route} {self.act}".strip()

    @property
    def person(self) -> str:
        """Who sends it."""
        return "anonymous" if self.route.name == "web:login" else "admin"

    @property
    def names(self) -> list[str]:
        """All of its fields."""
        return [*self.form.fields, *self.cells]

    @property
    def plain(self) -> dict[str, str]:
        """What is sent where nothing is odd."""
        body = {name: _plain(field) for name, field in self.form.fields.items()} | dict.fromkeys(self.cells, "1")
        return {**body, **rule_of(self.route).body, **({"act": self.act} if self.act else {})}


def _plain(field: django_forms.Field) -> str:
    """A value that the field takes."""
    if isinstance(field, django_forms.ChoiceField):
        return next((str(value) for value, _label in field.choices if value), "")
    kinds = {django_forms.TimeField: "09:00", django_forms.DateField: "", django_forms.BooleanField: "on"}
    return kinds.get(type(field), "1")


@contextmanager
def bound_forms(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[django_forms.BaseForm]]:
    """Collect the Django forms that are made of what is sent."""
    found: list[django_forms.BaseForm] = []
    begin = django_forms.BaseForm.__init__

    def init(self: django_forms.BaseForm, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        if self.is_bound and isinstance(self.data, QueryDict):
            found.append(self)

    with monkeypatch.context() as patch:
        patch.setattr(django_forms.BaseForm, "__init__", init)
        yield found


def post(world: World, person: str, address: str, body: Mapping[str, Any] | Iterable[tuple[str, str]]) -> HttpResponse:
    """The answer, of which nothing stays; a body that holds a file is sent as browsers send files."""
    browser = world._browser(person)
    with transaction.atomic():
        try:
            if isinstance(body, Mapping) and any(isinstance(value, BytesIO) for value in body.values()):
                return browser.post(address, body)
            kind = "application/x-www-form-urlencoded"
            return browser.generic(
                "POST", address, urlencode(list(body.items() if isinstance(body, Mapping) else body)), kind
            )
        finally:
            transaction.set_rollback(True)


@pytest.fixture(scope="module")
def sent(world: World) -> dict[str, list[Sent]]:
    """Route -> its forms, one for each of its buttons, as its view makes them of what is sent."""
    found: dict[str, list[Sent]] = {}
    with pytest.MonkeyPatch.context() as patch:
        for route in PAGES:
            found[route.name] = list(_forms_of(world, route, patch))
    return found


def _forms_of(world: World, route: Route, patch: pytest.MonkeyPatch) -> Iterator[Sent]:
    person, address = "anonymous" if route.name == "web:login" else "admin", world.address(route, method="POST")
    body, cells = dict(rule_of(route).body), CELLS.get(route.name, ())
    with bound_forms(patch) as first:
        post(world, person, address, body)
    acts = {act for form in first if isinstance(form, ActForm) for act in form.known}
    for act in sorted(acts) or [""]:
        with bound_forms(patch) as made:
            post(world, person, address, body | ({"act": act} if act else {}))
        for form in made:
            if not isinstance(form, ActForm) and form.fields:
                yield Sent(route, act, form, cells)


def test_every_page_reads_what_is_sent_by_a_form(sent: dict[str, list[Sent]]) -> None:
    """A page that takes a POST has a Django form for each of its buttons, or reads nothing."""
    assert {name for name, found in sent.items() if not found} == WITHOUT_FIELDS & sent.keys()


def _too_long(one: Sent, name: str) -> str:
    most = getattr(one.form.fields.get(name), "max_length", None)
    return "x" * (most + 1) if most else LONG


@pytest.mark.parametrize("route", [route for route in PAGES if route.name not in WITHOUT_FIELDS], ids=str)
def test_odd_values_in_all_fields_at_once(
    world: World, sent: dict[str, list[Sent]], route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error of ours; each field that is too long or comes twice is refused as such, and nothing of it is stored."""
    address = world.address(route, method="POST")
    for one in sent[route.name]:
        bodies: dict[str, Any] = {
            "NUL": one.plain | dict.fromkeys(one.names, "a\0b"),
            "long": one.plain | {name: _too_long(one, name) for name in one.names},
            "very long": one.plain | dict.fromkeys(one.names, LONG),
            "missing": {"act": one.act} if one.act else {},
            "repeated": [*one.plain.items(), *((name, one.plain[name]) for name in one.names)],
            "number": one.plain | dict.fromkeys(one.names, NUMBER),
            "text": one.plain | dict.fromkeys(one.names, "soon"),
            "files": one.plain | {name: BytesIO(b"text") for name in one.names},
            "list": one.plain | {f"{name}[]": "1" for name in one.names},
        }
        for kind, body in bodies.items():
            with bound_forms(monkeypatch) as made, CaptureQueriesContext(connection) as queries:
                status = post(world, one.person, address, body).status_code
            assert status < 500, (str(one), kind)
            assert status == 400 or kind != "NUL", str(one)
            refused = {name for form in made if type(form) is type(one.form) for name in form.errors}
            if kind in {"long", "very long"} and isinstance(one.form, Form):
                stored = [query["sql"][:80] for query in queries if "x" * 40 in query["sql"] and _writes(query["sql"])]
                assert not stored, (str(one), kind)
            if not isinstance(one.form, Form) or status == 413:  # Django's own; or the whole was too much
                continue
            if kind in {"long", "very long"}:
                assert _limited(one, kind == "very long") <= refused, (str(one), kind)
            if kind == "repeated":
                assert _single(one) <= refused, str(one)


def _writes(sql: str) -> bool:
    return sql.lstrip().upper().startswith(("INSERT", "UPDATE"))


def _limited(one: Sent, very: bool) -> set[str]:
    """The fields whose texts have a limit, which what is ``very`` long is beyond."""
    limits = {name: getattr(field, "max_length", None) for name, field in one.form.fields.items()}
    return {name for name, most in limits.items() if most and not (very and most >= len(LONG))}


def _single(one: Sent) -> set[str]:
    """The fields that take one value, and are not sent as files."""
    fields = one.form.fields.items()
    several = (django_forms.FileField, django_forms.MultipleChoiceField)
    return {name for name, field in fields if not isinstance(field, several)}


@pytest.mark.suite("postgres")
@pytest.mark.parametrize("route", [route for route in PAGES if route.name not in WITHOUT_FIELDS], ids=str)
def test_an_odd_value_in_each_field(world: World, sent: dict[str, list[Sent]], route: Route) -> None:
    """Where the other fields are right, so that it comes as far as it can."""
    address, wrong = world.address(route, method="POST"), []
    for one, name in [(each, name) for each in sent[route.name] for name in each.names]:
        others = {key: value for key, value in one.plain.items() if key != name}
        bodies: list[Any] = [
            others,
            [*one.plain.items(), (name, "2")],
            others | {name: BytesIO(b"text")},
            *(others | {name: value} for value in (*ODD.values(), _too_long(one, name), "soon", "")),
        ]
        for number, body in enumerate(bodies):
            try:
                status: object = post(world, one.person, address, body).status_code
            except Exception as error:  # noqa: BLE001 - whatever it is, a browser would get an error page
                status = repr(error)[:300]
            if not isinstance(status, int) or status >= 500:
                wrong.append((str(one), name, number, status))
    assert not wrong, "\n".join(map(str, wrong))


_NOT_TYPED = {"csrfmiddlewaretoken"}


@dataclass(frozen=True)
class Rendered:
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


def rendered(page: str, address: str) -> Iterator[Rendered]:
    """Yield the forms of a page that write."""
    for element in elements(parse_html(page)):
        attributes = dict(element.attributes)
        if element.name == "form" and (attributes.get("method") or "").lower() == "post":
            found = tuple((name, value) for name, value in fields_of(element) if name not in _NOT_TYPED)
            yield Rendered(attributes.get("action") or address, found)


@pytest.fixture(scope="module")
def all_forms(world: World) -> list[Rendered]:
    """Every form that an admin finds, each once."""
    pages = [route for route in routes() if route.namespace == "web"]
    answers = {address: world.ask("admin", "GET", address) for address in map(world.address, pages)}
    found = [
        rendered(answer.content.decode(), address)
        for address, answer in answers.items()
        if answer.status_code == 200 and "html" in answer["Content-Type"]
    ]
    return list({(form.address, form.fields): form for form in chain.from_iterable(found)}.values())


@pytest.mark.suite("postgres")
@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_every_field_takes_or_refuses_any_text(world: World, all_forms: list[Rendered], value: str) -> None:
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
