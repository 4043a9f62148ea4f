"""What every template can use."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Site-wide facts."""
    del request
    return {"languages": settings.LANGUAGES}
