"""What holds for every operation of the OpenAPI document, whatever its view says of itself."""

from collections.abc import Mapping
from typing import Any

from scheduler_admin.rest import idempotency
from scheduler_admin.rest.media import OWN_FORM
from scheduler_admin.rest.openapi.headers import HEADERS, describe_headers, reference
from scheduler_admin.rest.openapi.parts import describe_refusals
from scheduler_admin.rest.openapi.plain_schemas import operations, simplify
from scheduler_admin.rest.openapi.tags import TAGS
from scheduler_admin.rest.selection import FIELDS, LISTED
from scheduler_admin.rest.streams.events import MEDIA_TYPE as EVENT_STREAM

REQUIRED = "x-required-without-fields"
"""The members that an answer always has, unless the request selects some with ``fields``."""
_KEY = {
    "in": "header",
    "name": idempotency.HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": "Key of your choice; a request that is sent again with the same key gets the first response.",
}
_UNKEPT = frozenset({"create_token"})
"""Operations whose answers are secrets, which nobody keeps."""
_HAD = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "ETags of responses that you already have.",
}
_UNCHANGED = {"description": "Unchanged since the ETag in `If-None-Match`."}
_COLUMNS = (2**31 - 1, 2**63 - 1)


def describe_all(result: dict[str, Any], **_generator: Any) -> dict[str, Any]:
    """Return the document with what holds for everything that reads, and for everything that writes."""
    schemas = result["components"]["schemas"]
    result["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    result["components"]["headers"] = {name: dict(header) for name, header in HEADERS.items()}
    for methods in result["paths"].values():
        for method, operation in methods.items():
            describe_refusals(operation, "406", "503")
            if method.upper() in idempotency.WRITES:
                _describe_write(operation, schemas)
            elif EVENT_STREAM in operation["responses"]["200"]["content"]:
                _describe_stream(operation)
            else:
                _describe_read(operation, schemas)
    simplify(result)
    _close_bodies(schemas)
    _forget_columns(schemas)
    _let_fields_be_selected(result)
    for operation in operations(result):
        describe_headers(operation)
    return result


def _close_bodies(schemas: Mapping[str, dict[str, Any]]) -> None:
    """A member that nothing reads is refused; answers may come to have more."""
    for name, schema in schemas.items():
        if name.endswith("Request") and "properties" in schema:
            schema["additionalProperties"] = False


def _forget_columns(schemas: Mapping[str, dict[str, Any]]) -> None:
    """How large a number its column could hold differs from database to database, and tells who reads nothing."""
    for name, schema in schemas.items():
        for described in () if name.endswith("Request") else schema.get("properties", {}).values():
            if described.get("maximum") in _COLUMNS:
                del described["maximum"]
                described.pop("format", None)


def _describe_write(operation: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    if body := operation.get("requestBody"):
        named = body["content"][OWN_FORM]["schema"].get("$ref", "").rpartition("/")[2]
        schema = schemas.get(named, {})
        body["required"] = "properties" not in schema or bool(schema.get("required"))
    if operation["operationId"] not in _UNKEPT:
        operation.setdefault("parameters", []).append(_KEY)
    describe_refusals(operation, "409", "413", "422", *(["415"] if "requestBody" in operation else []))


def _describe_stream(operation: dict[str, Any]) -> None:
    """A stream is a text. The ``data`` of each of its events is an object."""
    stream = operation["responses"]["200"]["content"][EVENT_STREAM]
    events = {"type": "array", "items": stream["schema"], "description": "The `data` of each event."}
    stream["schema"] = {"type": "string", "contentMediaType": EVENT_STREAM, "contentSchema": events}


def _describe_read(operation: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    operation.setdefault("parameters", []).append(_HAD)
    if described := operation["responses"]["200"]["content"].get(OWN_FORM):
        operation["parameters"].append(_fields(_selectable(described["schema"], schemas)))
    operation["responses"]["304"] = dict(_UNCHANGED)
    for code in ("200", "304"):
        operation["responses"][code].setdefault("headers", {}).setdefault("ETag", reference("ETag"))


def _fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameter ``fields`` of what reads."""
    return {
        "in": "query",
        "name": FIELDS,
        "schema": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "enum": sorted(schema["properties"])},
        },
        "style": "form",
        "explode": True,
        "description": "Member to return, of each result if the response is a list; repeat it for several. Default is "
        "all.",
    }


def _let_fields_be_selected(document: Mapping[str, Any]) -> None:
    """Require no member of what ``fields`` selects from, and note which members a whole answer has."""
    schemas = document["components"]["schemas"]
    for operation in operations(document):
        if any(parameter["name"] == FIELDS for parameter in operation.get("parameters", ())):
            schema = _selectable(operation["responses"]["200"]["content"][OWN_FORM]["schema"], schemas)
            if "required" in schema:
                schema[REQUIRED] = schema.pop("required")


def _selectable(described: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer, or of each of its results."""
    schema = _named(described, schemas)
    listed = schema["properties"].get(LISTED, {})
    return _named(listed["items"], schemas) if "items" in listed else schema


def _named(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schemas[schema["$ref"].rpartition("/")[2]]
    return found
