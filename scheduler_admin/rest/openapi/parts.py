"""Parts of what views say of themselves in the OpenAPI document."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from scheduler_admin.rest import problems

PROBLEM = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (400, 401, 404, 429)}
"""What every route may answer."""
CLUSTER = OpenApiParameter("name", OpenApiTypes.STR, OpenApiParameter.PATH, description="Name of the cluster.")
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="`*` to write only if nothing exists yet, as `POST` does.",
)


def etag(description: str, *statuses: int) -> OpenApiParameter:
    """Return the header ``ETag`` of the answers with these statuses."""
    return OpenApiParameter(
        "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[*statuses], description=description
    )


def if_match(description: str, *, required: bool = True) -> OpenApiParameter:
    """Return the header ``If-Match`` of a request, which is answered by 428 without it where it is required."""
    return OpenApiParameter(
        "If-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, required=required, description=description
    )


def describe_refusals(operation: dict[str, Any], *codes: str) -> None:
    """Add answers that are problems, where the operation does not describe them itself."""
    refused = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for code in codes:
        operation["responses"].setdefault(code, {"content": dict(refused), "description": HTTPStatus(int(code)).phrase})
