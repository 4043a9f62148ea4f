"""The OpenAPI document, and what drf-spectacular can't find out by itself."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.utils.translation import get_language
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.permissions import IsAuthenticated

from scheduler_admin.rest import idempotency, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.media import OWN_FORM
from scheduler_admin.rest.selection import FIELDS, LISTED

PROBLEM = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (400, 401, 404, 429)}
"""What every route may answer."""
CLUSTER = OpenApiParameter("name", OpenApiTypes.STR, OpenApiParameter.PATH, description="Name of the cluster.")
_KEY = {
    "in": "header",
    "name": idempotency.HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": "Yours for this request: sent again with it, it is answered again and not done again.",
}
_UNKEPT = frozenset({"make_token"})
"""Operations whose answers are secrets, which nobody keeps."""
_HAD = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "ETags of answers that you have.",
}
_UNCHANGED = {"description": "Unchanged since the ETag in If-None-Match."}
_ETAG = {"schema": {"type": "string"}, "description": "Changes with the answer."}
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, description="`*`: only where nothing is there yet."
)


def etag(description: str, *statuses: int) -> OpenApiParameter:
    """Return the header ``ETag`` of the answers with these statuses."""
    return OpenApiParameter(
        "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[*statuses], description=description
    )


def if_match(description: str) -> OpenApiParameter:
    """Return the header ``If-Match`` of a request."""
    return OpenApiParameter("If-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, description=description)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its __init_subclass__ is untyped
    """How the OpenAPI document names bearer tokens."""

    target_class = "scheduler_admin.accounts.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """The HTTP bearer scheme."""
        del auto_schema
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token made with `manage.py create_token`, or at `/api/v1/tokens`.",
        }


def describe_all(result: dict[str, Any], **_generator: Any) -> dict[str, Any]:
    """What holds for everything that reads, and for everything that writes, once for all routes."""
    for operations in result["paths"].values():
        for method, operation in operations.items():
            _describe_refusals(operation, "406")
            if method.upper() in idempotency.WRITES:
                _describe_write(operation)
            elif method == "get":
                _describe_read(operation, result["components"]["schemas"])
    _close_bodies(result["components"]["schemas"])
    _forget_columns(result["components"]["schemas"])
    return result


def _close_bodies(schemas: Mapping[str, dict[str, Any]]) -> None:
    """A member that nothing reads is refused; answers may come to have more."""
    for name, schema in schemas.items():
        if name.endswith("Request") and "properties" in schema:
            schema["additionalProperties"] = False


def _forget_columns(schemas: Mapping[str, dict[str, Any]]) -> None:
    """How large a number its column could hold differs from database to database, and tells who reads nothing."""
    for name, schema in schemas.items():
        for told in () if name.endswith("Request") else schema.get("properties", {}).values():
            if told.get("maximum") in _COLUMNS:
                del told["maximum"]
                told.pop("format", None)


_COLUMNS = (2**31 - 1, 2**63 - 1)


def _describe_refusals(operation: dict[str, Any], *codes: str) -> None:
    refused = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for code in codes:
        operation["responses"].setdefault(code, {"content": refused, "description": ""})


def _describe_write(operation: dict[str, Any]) -> None:
    if operation["operationId"] not in _UNKEPT:
        operation.setdefault("parameters", []).append(_KEY)
    _describe_refusals(operation, "409", "413", "422", *(["415"] if "requestBody" in operation else []))


def _describe_read(operation: dict[str, Any], schemas: Mapping[str, Any]) -> None:
    operation.setdefault("parameters", []).append(_HAD)
    if told := operation["responses"]["200"]["content"].get(OWN_FORM):
        operation["parameters"].append(_fields(told["schema"], schemas))
    operation["responses"]["304"] = dict(_UNCHANGED)
    for code in ("200", "304"):
        operation["responses"][code].setdefault("headers", {}).setdefault("ETag", _ETAG)


def _fields(told: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """The parameter ``fields`` of what reads: the members of its answer, or of each of its results."""
    members = _members(told, schemas)
    if "items" in members.get(LISTED, {}):
        members = _members(members[LISTED]["items"], schemas)
    return {
        "in": "query",
        "name": FIELDS,
        "schema": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": sorted(members)}},
        "explode": False,
        "style": "form",
        "description": "The members that are wanted, of each result where there are any: the others are left out, also"
        " those that the schema requires. Without it: all of them.",
    }


def _members(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schemas[schema["$ref"].rpartition("/")[2]]["properties"]
    return found


class _Kept(SchemaGenerator):
    """Makes the document once in a process: that takes a second, and it says the same to everybody."""

    def get_schema(self, *_request: Any, **_options: Any) -> Any:
        """Return the document in the language of the request."""
        return _document(get_language())


@cache
def _document(_language: str | None) -> Any:
    generator: Any = SchemaGenerator
    return generator().get_schema(public=True)


class SchemaView(ApiView, SpectacularJSONAPIView):
    """The OpenAPI document."""

    generator_class = _Kept
    permission_classes = [IsAuthenticated]
