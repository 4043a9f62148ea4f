"""Parts of what views say of themselves in the OpenAPI document."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from scheduler_admin.rest import problems

PROBLEM = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (400, 401, 404, 429)}
"""What every route may answer."""
CLUSTER = OpenApiParameter("name", OpenApiTypes.STR, OpenApiParameter.PATH, description="Name of the cluster.")
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, description="`*` to write only if nothing exists yet."
)


def etag(description: str, *statuses: int) -> OpenApiParameter:
    """Return the header ``ETag`` of the answers with these statuses."""
    return OpenApiParameter(
        "ETag", OpenApiTypes.STR, OpenApiParameter.HEADER, response=[*statuses], description=description
    )


def if_match(description: str) -> OpenApiParameter:
    """Return the header ``If-Match`` of a request."""
    return OpenApiParameter("If-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, description=description)
