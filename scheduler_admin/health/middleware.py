"""Answers probes, and Prometheus, before any other middleware."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import resolve

PROBES = frozenset({"/livez", "/readyz", "/version"})
_PATHS = PROBES | {"/metrics/requests"}


def probes(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that calls the views of probes at once.

    Probes, and Prometheus, come to a pod's own address, by HTTP. So they get no redirect to HTTPS, and their host name
    is not checked.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info in _PATHS:
            answer: HttpResponse = resolve(request.path_info).func(request)
            return answer
        return get_response(request)

    return middleware
