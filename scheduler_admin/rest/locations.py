"""The URL of what was created, for ``Location`` (RFC 9110, 10.2.2)."""

from typing import Any

from django.urls import reverse
from rest_framework.request import Request


def location(request: Request, name: str, /, **place: Any) -> dict[str, str]:
    """Return the header with the URL of the route with this name."""
    return {"Location": request.build_absolute_uri(reverse(f"api:{name}", kwargs=place))}
