"""docs/api.md and the OpenAPI document name the same: operations, parameters, members and their values."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest

from tests.api.described import components, json_schema
from tests.api.document import Document, read
from tests.api.rest.test_docs import EXAMPLES, TEXT
from tests.documentation.documents import prose

NO_NAMES = {"childtemplate", "scheduler_admin_client", "share_basis", "share_resource"}
"""What stands in code, but is of queues.yaml, a folder, or a CSV file of pages."""
_VALUES = ("enum", "const")


def names(node: Any) -> Iterator[str]:
    """Yield every name that a document has: keys, parameters, and the values that something can have."""
    if isinstance(node, dict):
        yield from node
        if isinstance(name := node.get("name"), str):
            yield name
        for key in _VALUES:
            yield from map(str, node[key] if isinstance(node.get(key), list) else [node.get(key)])
        for value in node.values():
            yield from names(value)
    elif isinstance(node, list):
        for value in node:
            yield from names(value)


def operation(method: str, path: str) -> dict[str, Any]:
    """Return the operation of a request; in its path, capitals and ``...`` are for what differs."""
    parts = [".+" if part == "..." else "[^/]+" if part.isupper() else re.escape(part) for part in path.split("/")]
    for template, operations in read()["paths"].items():
        described = re.sub(r"\{\w+\}", "[^/]+", template)
        if method.lower() in operations and (re.fullmatch(described, path) or re.fullmatch("/".join(parts), template)):
            found: dict[str, Any] = operations[method.lower()]
            return found
    raise AssertionError(f"{method} {path} is not in the OpenAPI document")


def answered(described: dict[str, Any], code: str) -> Any:
    """Return the schema of the first response whose code begins so."""
    response = next(value for key, value in described["responses"].items() if key.startswith(code))
    return next(iter(response["content"].values()))["schema"]


def partly(schema: Any) -> Any:
    """Return a schema that what has only some of its members fits too."""
    if isinstance(schema, dict):
        return {key: partly(value) for key, value in schema.items() if key != "required" or not isinstance(value, list)}
    return [partly(each) for each in schema] if isinstance(schema, list) else schema


def errors(schema: Any, body: Any) -> list[str]:
    """Return what of a body a schema does not have; members may be left out."""
    wanted = {**partly(json_schema(schema)), "components": partly(components())}
    return [error.message for error in jsonschema.Draft202012Validator(wanted).iter_errors(body)]


@pytest.mark.parametrize(("command", "answer"), [each for each in EXAMPLES if "/openapi.json" not in each[0]])
def test_examples_are_of_the_document(command: str, answer: str) -> None:
    """Their parameters and headers are described, and so is every member of the answer. The document omits itself."""
    words = shlex.split(command.replace("\\\n", ""))
    address = urlsplit(words[-1].removeprefix("$SITE"))
    described = operation(words[words.index("-X") + 1] if "-X" in words else "GET", address.path)
    sent = {words[at + 1].split(":")[0] for at, word in enumerate(words) if word == "-H"}
    wanted = {("header", name) for name in sent - {"Authorization", "Content-Type", "Accept"}}
    wanted |= {("query", name) for name in parse_qs(address.query, keep_blank_values=True)}
    assert wanted <= {(each["in"], each["name"]) for each in described.get("parameters", ())}
    if answer:
        body = json.loads(answer)
        assert errors(answered(described, str(body["status"]) if "title" in body else "2"), body) == []


def test_a_member_that_the_document_does_not_have_is_found() -> None:
    schema = answered(operation("PUT", "/api/v1/hierarchies/NAME/tree"), "2")
    assert errors(schema, {"changed": True}) == []
    assert errors(schema, {"diff": []}) == ["Additional properties are not allowed ('diff' was unexpected)"]


def test_every_block_of_code_can_be_read() -> None:
    blocks = re.findall(r"^```json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 30
    assert [type(json.loads(block)) for block in blocks]


def test_members_and_parameters_are_those_of_the_document() -> None:
    """Those in tables, by their heads, and all with an underscore in sentences."""
    known = {*names(read()), *NO_NAMES}
    tables = re.findall(r"^\| (?:[a-z ]*)(?:member|parameter)[^|]* \|.*\n\| ---.*\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    first = [line.split("|")[1] for rows in tables for line in rows.splitlines()]
    listed = {name.partition("=")[0] for cell in first for name in re.findall(r"`([\w.=]+)`", cell)}
    written = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)(?:=\w+)?`", prose(TEXT)))
    assert len(listed) > 50
    assert len(written) > 50
    assert {name for name in listed | written if not set(name.split(".")) <= known} == set()


def test_requests_in_tables_are_those_of_the_document() -> None:
    found = re.findall(r"^\| (?:`(?:GET|POST|PUT|PATCH|DELETE) [^|]*)", TEXT, re.MULTILINE)
    requests = re.findall(r"`(GET|POST|PUT|PATCH|DELETE) ([^`?]+)[^`]*`", " ".join(found))
    assert len(requests) > 15
    for method, path in requests:
        assert operation(method, path)


def test_names_are_found_in_values_and_keys_alike() -> None:
    document: Document = {"a": [{"name": "b", "enum": ["c", 1]}], "d": {"const": "e"}}
    assert {"a", "b", "c", "1", "d", "e"} <= set(names(document))
