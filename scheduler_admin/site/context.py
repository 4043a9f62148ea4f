"""What every template can use."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.core.words import unit_words
from scheduler_admin.site import tour
from scheduler_admin.site.documents import document_url

FIRST_PAGES = ("clusters", "queues", "pods")
"""Where the home page leads."""


def site(request: HttpRequest) -> dict[str, Any]:
    """Site-wide facts: languages, the words of durations, which page this is, what the user sees."""
    match = request.resolver_match
    page = match.url_name if match else ""
    user = getattr(request, "user", AnonymousUser())
    seen = scope_of(user, "view")
    staff = seen.everything
    return {
        "languages": settings.LANGUAGES,
        "units": unit_words(),
        "page": page,
        "document": document_url(page or ""),
        "staff": staff,
        "notified": staff or bool(seen.tenants),
        "operates": scope_of(user, "operate").everything,
        "introduction": page in FIRST_PAGES and tour.PARAMETER not in request.GET and _introduces(user),
        "tour": tour.place_of(request) if tour.PARAMETER in request.GET and user.is_authenticated else None,
        "edits": staff or bool(scope_of(user, "edit").subtrees),
    }


def _introduces(user: Who) -> bool:
    return isinstance(user, User) and user.introduction_open
