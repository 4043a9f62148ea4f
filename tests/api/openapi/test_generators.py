"""The whole OpenAPI document, held against what code generators stumble over."""

import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import validate

from scheduler_admin.rest.openapi.rules import REQUIRED
from tests.api.document import read

DOCUMENT = read()
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    operation["operationId"]: (method, operation)
    for methods in DOCUMENT["paths"].values()
    for method, operation in methods.items()
}
PYTHON_ONLY = re.compile(r"\(\?(?![:=!]|<[=!]|<\w+>)|\\[AZz]|[*+?}]\+")
"""Named groups, comments and flags as Python writes them, anchors and possessive repetition that JavaScript lacks."""


def nodes(node: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of the document with its place."""
    if isinstance(node, dict):
        yield place, node
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, each in inner:
        yield from nodes(each, f"{place}/{name}")


def parameters() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every parameter with its operation."""
    for name, (_method, operation) in OPERATIONS.items():
        yield from ((name, each) for each in operation.get("parameters", ()))


def answers() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every answer with its operation and status."""
    for name, (_method, operation) in OPERATIONS.items():
        yield from ((name, status, answer) for status, answer in operation["responses"].items())


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to."""
    while "$ref" in schema:
        schema = SCHEMAS[schema["$ref"].rpartition("/")[2]]
    return schema


def test_the_document_is_valid() -> None:
    """By the specification's own schema, with every default and example that it gives."""
    validate(DOCUMENT)


def test_every_default_is_a_value_that_may_be_sent() -> None:
    """Generated clients send it."""
    wrong = [
        place
        for place, node in nodes(DOCUMENT)
        if "default" in node and ("type" in node or "$ref" in node)
        if not jsonschema.Draft202012Validator({**node, "components": DOCUMENT["components"]}).is_valid(node["default"])
    ]
    assert wrong == []


def test_no_parameter_is_null() -> None:
    """A query and a header hold text."""
    assert [(name, one["name"]) for name, one in parameters() if "null" in one["schema"].get("type", ())] == []


def test_every_pattern_is_one_in_every_language() -> None:
    """JSON schema has JavaScript's, and Python's own would not even be read."""
    patterns = {node["pattern"] for _place, node in nodes(DOCUMENT) if isinstance(node.get("pattern"), str)}
    assert len(patterns) > 5
    assert [one for one in patterns if PYTHON_ONLY.search(one)] == []
    assert all(map(re.compile, patterns))


@pytest.mark.parametrize("pattern", [r"(?P<name>a)", r"\Aa\Z", r"(?i)a", r"a++", r"(?#why)"])
def test_patterns_of_python_alone_are_noticed(pattern: str) -> None:
    """By the test above."""
    assert PYTHON_ONLY.search(pattern)


def kinds(schema: dict[str, Any]) -> set[str]:
    """The types that a schema allows."""
    found = resolved(schema).get("type", "object")
    return {found} if isinstance(found, str) else set(found)


def apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether no value fits both: by its type, or by a member that one requires and the other does not have."""
    if not kinds(one) & kinds(other):
        return True
    one, other = resolved(one), resolved(other)
    return any(
        set(this.get("required", ())) - that.get("properties", {}).keys() and that.get("additionalProperties") is False
        for this, that in ((one, other), (other, one))
    )


def test_what_one_of_several_schemas_fits_fits_no_other() -> None:
    """A client that reads an answer, or an API that reads a request, finds exactly one."""
    unclear = []
    for place, node in nodes(DOCUMENT):
        several = node.get("oneOf")
        if not isinstance(several, list):
            continue
        if name := node.get("discriminator", {}).get("propertyName"):
            values = [resolved(each)["properties"][name]["enum"] for each in several]
            times = Counter(value for each in values for value in each)
            assert set(times) == set(node["discriminator"]["mapping"])
            unclear += [place] if max(times.values()) > 1 else []
        elif not all(apart(one, other) for one, other in combinations(several, 2)):
            unclear.append(place)
    assert unclear == []


def test_every_list_is_sent_in_the_same_form() -> None:
    """A parameter for each value, which is what all generators do, some whatever the document says."""
    lists = {name: one for name, one in parameters() if one["schema"].get("type") == "array"}
    assert {"replace_tree", "draw_fences", "list_decisions"} <= lists.keys()
    assert [
        name for name, one in lists.items() if (one.get("style", "form"), one.get("explode", True)) != ("form", True)
    ] == []
    written = re.compile(r"separated by commas|comma-separated")
    assert [(name, one["name"]) for name, one in parameters() if written.search(one["description"])] == []


def test_what_is_answered_without_if_match_by_428_requires_it() -> None:
    """Of both, one does not stand without the other."""
    asking = {name for name, one in parameters() if one["name"] == "If-Match" and one.get("required")}
    assert asking == {name for name, status, _answer in answers() if status == "428"}
    assert len(asking) > 10


def test_no_answer_to_fields_lacks_what_the_schema_requires() -> None:
    """The members that it may leave out are listed beside what is required."""
    selecting = {name: one["schema"]["items"]["enum"] for name, one in parameters() if one["name"] == "fields"}
    for name, members in selecting.items():
        content = OPERATIONS[name][1]["responses"]["200"]["content"]["application/json"]
        schema = resolved(content["schema"])
        listed = schema["properties"].get("results", {})
        schema = resolved(listed["items"]) if "items" in listed else schema
        assert (name, set(members) & set(schema.get("required", ()))) == (name, set())
    assert sum(REQUIRED in schema for schema in SCHEMAS.values()) > 30


def test_every_body_may_be_sent_in_json() -> None:
    """Generators drop other media types. A file apart, every body is described."""
    bodies = {
        name: one["requestBody"]["content"] for name, (_method, one) in OPERATIONS.items() if "requestBody" in one
    }
    assert [name for name, content in bodies.items() if "application/json" not in content] == []
    texts = {name for name, content in bodies.items() if "application/yaml" in content}
    assert texts == {"replace_tree", "create_tree", "import_draft", "lint_document"}
    for name in texts:
        several = resolved(bodies[name]["application/json"]["schema"])["oneOf"]
        assert any(resolved(each).get("required") == ["text"] for each in several)


def test_every_tag_is_described_and_every_operation_has_one() -> None:
    """The receiver's side has a tag of its own: generators write one file for each."""
    described = [tag["name"] for tag in DOCUMENT["tags"] if tag["description"]]
    own = [tag for _method, one in OPERATIONS.values() for tag in one["tags"]]
    received = [tag for methods in DOCUMENT["webhooks"].values() for one in methods.values() for tag in one["tags"]]
    assert len(described) == len(set(described))
    assert set(described) == {*own, *received}
    assert not {*own} & {*received}


def test_every_answer_names_its_headers() -> None:
    """What is left of the limits; where what was created is; when to try again; the ETag."""
    wanted = {"201": "Location", "429": "Retry-After", "503": "Retry-After", "401": "WWW-Authenticate", "412": "ETag"}
    lacking = [
        (name, status, header)
        for name, status, answer in answers()
        for header in ("RateLimit", "RateLimit-Policy", "X-Request-ID", wanted.get(status, "RateLimit"))
        if header not in answer.get("headers", {})
    ]
    assert lacking == []
    assert {status for _name, status, _answer in answers()} >= set(wanted)
    read_as_text = {name for name, status, answer in answers() if status == "304" and "ETag" not in answer["headers"]}
    assert read_as_text == set()


def test_a_generated_package_is_not_called_as_our_own_client() -> None:
    """Both can be installed: generators name theirs after the title."""
    title = DOCUMENT["info"]["title"]
    assert f"{title} client".lower().replace(" ", "_") == "scheduler_admin_rest_api_client"
    assert find_spec("scheduler_admin_client")
    assert find_spec("scheduler_admin_rest_api_client") is None


def test_the_version_is_that_of_the_api() -> None:
    """Its first number is the one of every address."""
    major = DOCUMENT["info"]["version"].partition(".")[0]
    assert {path.split("/")[2] for path in DOCUMENT["paths"]} == {f"v{major}"}
