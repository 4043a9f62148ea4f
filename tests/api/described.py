"""What is sent, held against the schemas of the OpenAPI document."""

from functools import cache
from typing import Any

import jsonschema

from scheduler_admin.rest.openapi.rules import REQUIRED
from tests.api.document import read


def json_schema(node: Any) -> Any:
    """OpenAPI 3.1's schema, which is JSON schema, and no key but those that it names is allowed."""
    if isinstance(node, list):
        return [json_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: json_schema(value) for key, value in node.items()}
    if "object" in (plain.get("type") or ()) and isinstance(plain.get("properties"), dict):
        plain["additionalProperties"] = False
    if REQUIRED in plain:  # no request here selects members
        plain["required"] = plain[REQUIRED]
    return plain


@cache
def components() -> Any:
    """The document's components as JSON schema."""
    return json_schema(read()["components"])


def check_component(name: str, body: Any) -> None:
    """Hold something against a schema of the document's components."""
    wanted = {"$ref": f"#/components/schemas/{name}", "components": components()}
    jsonschema.Draft202012Validator(wanted).validate(body)
