"""What holds for every request: a strict Content-Security-Policy (only our own files), no shared cache, no NUL."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest

Answer = Callable[[HttpRequest], HttpResponse]

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)


def content_security_policy(get_response: Answer) -> Answer:
    """Middleware that adds the policy."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response

    return middleware


def theirs_alone(get_response: Answer) -> Answer:
    """Middleware that keeps answers out of shared caches, where a view or a static file does not say otherwise."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Cache-Control", "private, no-cache")
        return response

    return middleware


def no_nul(get_response: Answer) -> Answer:
    """Middleware that turns away addresses with a NUL, which no name has and PostgreSQL does not take.

    The API judges its own: it answers in problem details.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        strange = "\0" in request.path or "%00" in request.META.get("QUERY_STRING", "")
        if strange and not request.path.startswith("/api/"):
            return HttpResponseBadRequest()
        return get_response(request)

    return middleware


class NoNulInForms:
    """Middleware that turns away forms with a NUL, after that of CSRF, which reads them; the API takes no forms."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer as ever."""
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        """Answer in place of the view where a name or a value of the form has one."""
        if request.path.startswith("/api/"):
            return None
        sent = request.POST.lists()  # by hand: of every page, before its view is known
        strange = any("\0" in text for name, values in sent for text in (name, *values))
        return HttpResponseBadRequest() if strange else None
