"""Headers of answers in the OpenAPI document: each is described once, and named by the answers that carry it."""

from collections.abc import Mapping
from typing import Any

_TEXT = {"type": "string"}
HEADERS: Mapping[str, dict[str, Any]] = {
    "RateLimit-Policy": {
        "description": 'Limit of requests, as in `"minute";q=1200;w=60`: 1,200 requests in 60 seconds. Missing if the '
        "site has no limit.",
        "schema": _TEXT,
    },
    "RateLimit": {
        "description": 'What is left of the limit, as in `"minute";r=1187;t=23`: 1,187 requests in the next 23 '
        "seconds. Missing if the site has no limit.",
        "schema": _TEXT,
    },
    "X-Request-ID": {
        "description": "ID of the request, also in the log of the site; that of the request, if it has one.",
        "schema": _TEXT,
    },
    "Retry-After": {
        "description": "Seconds after which the request can be sent again.",
        "required": True,
        "schema": {"type": "integer", "minimum": 0},
    },
    "Location": {
        "description": "URL of what was created.",
        "required": True,
        "schema": {"type": "string", "format": "uri"},
    },
    "WWW-Authenticate": {
        "description": "How to authenticate, and what was wrong with the token (RFC 6750).",
        "schema": _TEXT,
    },
    "ETag": {"description": "ETag of the response; changes when the response changes.", "schema": _TEXT},
    "Current-ETag": {
        "description": "ETag of what is current, if it exists and you can see it.",
        "schema": _TEXT,
    },
}
"""Name in the components -> the header. ``Current-ETag`` is the header ``ETag`` of a refused change."""
_OF_STATUS: Mapping[str, tuple[str, ...]] = {
    "201": ("Location",),
    "401": ("WWW-Authenticate",),
    "403": ("WWW-Authenticate",),
    "429": ("Retry-After",),
    "503": ("Retry-After",),
}
_ON_ALL = ("RateLimit-Policy", "RateLimit", "X-Request-ID")


def describe_headers(operation: dict[str, Any]) -> None:
    """Name in each answer of an operation the headers that it carries, beside those that the view declares."""
    for status, answer in operation["responses"].items():
        headers = answer.setdefault("headers", {})
        for name in (*_OF_STATUS.get(status, ()), *_ON_ALL):
            headers.setdefault(name, reference(name))
        if status == "412":
            headers.setdefault("ETag", reference("Current-ETag"))


def reference(name: str) -> dict[str, str]:
    """Return a reference to a header of the components."""
    return {"$ref": f"#/components/headers/{name}"}
