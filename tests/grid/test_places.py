"""Whatever is wrong with a body is refused where it is: every member of every body that the OpenAPI document knows."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from jsonschema import Draft202012Validator

from tests.api.document import read
from tests.grid.addresses import Route, routes
from tests.grid.conftest import World

pytestmark = pytest.mark.django_db
DOCUMENT = read()
WRONG: list[Any] = [{"wrong": 1}, ["wrong"], "\u2603 wrong"]
"""Of which any member can be one or two at most."""
Body = tuple[str, Any]
"""Something wrong, and where in it that is: a JSON pointer."""


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to."""
    while len(found := schema.get("allOf", [schema])) == 1 and "$ref" in found[0]:
        schema = DOCUMENT["components"]["schemas"][found[0]["$ref"].rpartition("/")[2]]
    return schema


def least(schema: dict[str, Any]) -> Any:
    """The least that a schema allows."""
    schema = resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    if "object" in schema["type"]:
        return {name: least(schema["properties"][name]) for name in schema.get("required", ())}
    return [] if "array" in schema["type"] else "root" if "string" in schema["type"] else 1


def misfits(schema: dict[str, Any]) -> Iterator[Body]:
    """Values that are of no type that a schema allows: in its own place, and in each place below it."""
    schema = resolved(schema)
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    members = {name: each for name, each in schema.get("properties", {}).items() if not each.get("readOnly")}
    # An object or a list that is wrong is so in what it holds.
    own = dict if members or "additionalProperties" in schema else list if "items" in schema else ()
    yield from (("", value) for value in WRONG if not isinstance(value, own) and not validator.is_valid(value))
    if "items" in schema:
        yield from ((f"/0{place}", [value]) for place, value in misfits(schema["items"]))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from ((f"/some{place}", {"some": value}) for place, value in misfits(schema["additionalProperties"]))
    if members:
        yield "/wrong", {**least(schema), "wrong": 1}
    for name, member in members.items():
        yield from ((f"/{name}{place}", {**least(schema), name: value}) for place, value in misfits(member))


def bodies(schema: dict[str, Any]) -> Iterator[Body]:
    """All that may be wrong with a body; of one with an act, with each of them."""
    acts = resolved(schema).get("discriminator")
    if acts is None:
        yield from misfits(schema)
        return
    for act, of_act in acts["mapping"].items():
        for place, body in misfits({"$ref": of_act}):
            told = isinstance(body, dict) and place != "/action"
            yield place, {**body, acts["propertyName"]: act} if told else body


def known_as(path: str) -> Route:
    """The address of a path of the document."""
    form = re.sub(r"\{\w+\}", "%", path)
    return next(route for route in routes() if "/" + re.sub(r"%\(\w+\)s", "%", route.form) == form)


def alternatives(schema: Any) -> list[Any]:
    """The schemas of a body, any of which may be sent; acts are told apart by the body itself."""
    found = resolved(schema)
    return [schema] if "discriminator" in found else found.get("oneOf", [schema])


BODIES = {
    f"{method} {path} {number}".removesuffix(" 0"): schema
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if "requestBody" in operation
    for number, schema in enumerate(alternatives(operation["requestBody"]["content"]["application/json"]["schema"]))
}
WRITTEN = {of: schema for of, schema in BODIES.items() if {"properties", "discriminator"} & resolved(schema).keys()}
"""Those with members: of a file the document knows none."""


@pytest.mark.parametrize("operation", WRITTEN)
def test_what_is_wrong_with_a_body_is_told_at_its_place(world: World, operation: str) -> None:
    """By a 400 or 422, with a pointer to the member; nothing of it is an error of ours."""
    method, path = operation.upper().split(" ")[0], operation.split(" ")[1]
    address = world.address(known_as(path), method=method)
    wrong = {}
    for place, body in bodies(WRITTEN[operation]):
        with transaction.atomic():
            response = world.ask("admin", method, address, body, **{"If-Match": "*"})
            transaction.set_rollback(True)
        told = json.loads(response.content) if response.content else {}
        # What is wrong with one of a list may be told of the list.
        places = {each.get("pointer") for each in told.get("errors", ())}
        if response.status_code not in (400, 422) or places.isdisjoint({place, place.removesuffix("/0")}):
            wrong[f"{place}: {json.dumps(body)}"] = response.status_code, told.get("errors", told.get("detail"))
    assert not wrong, json.dumps(wrong, indent=1)
