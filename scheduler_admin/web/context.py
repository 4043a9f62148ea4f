"""What every template can use."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.web.words import unit_words


def site(request: HttpRequest) -> dict[str, Any]:
    """Site-wide facts: languages, the words of durations, which page this is, whether the user sees everything."""
    match = request.resolver_match
    user = getattr(request, "user", None)
    return {
        "languages": settings.LANGUAGES,
        "units": unit_words(),
        "page": match.url_name if match else "",
        "staff": user is not None and user.is_authenticated and scope_of(user, "view").everything,
    }
